#ifndef STORE_SYSTEMS_COMMON_DOCUMENT_H
#define STORE_SYSTEMS_COMMON_DOCUMENT_H

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/api/store.h"

/* An agent that writes each session as one JSON document, anew each time, with the conversation as a list in it. The
 * elements of the list become rows in memory, one line each, which are read like those of a log. */
struct document_format {
    const char *list; /* the member with the conversation */
    /* The first row is an object with the other members of the document that are texts, numbers or truth values. */
    bool members;
    /* Optional, NULL-terminated: an element is as many rows, each with a first member "part" that has its name. For
     * elements that contain a prompt and its answer. */
    const char *const *parts;
};

enum { DOCUMENT_MOST = 256 << 20 };

struct document_rows {
    struct buf lines;
    bool whole;   /* the document was read completely, and is valid */
    bool damaged; /* a part of the document is not an element */
    bool torn;    /* the end of the document is missing */
    bool has_end; /* the last element is among the rows, unless the document is damaged */
};

/* Reads at most `most` bytes from the beginning of a document and as many from its end. Elements of a document that is
 * longer, or damaged, are recognized by the indentation of JSON.stringify(document, null, 2). */
MUST_CHECK enum err_code document_rows_read(const char *path, const struct document_format *format,
                                            size_t most, struct document_rows *out, struct err *e);
void document_rows_fini(struct document_rows *r);
/* The member `check` of an agent with one_document: whether the document is valid. */
store_check_fn document_check;

#endif
