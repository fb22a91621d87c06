#ifndef STORE_EXPORT_EXPORT_H
#define STORE_EXPORT_EXPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/redact/redact.h"

/* A session as a document for people who do not have it: Markdown, one page of HTML, plain text, or the rows of its
 * transcript as they are (JSONL). Works through struct store_ops alone, so it serves every system.
 *
 * Rows are read and written one at a time, so memory does not grow with the conversation; only the position of each row
 * is kept. Nothing in a session can become markup of the document: texts are escaped, Markdown of the agent is parsed
 * and written anew with raw HTML as text and links to http, https and mailto only, and characters that have effects or
 * are invisible (controls, bidi overrides, broken UTF-8) are written as signs. */

enum export_format {
    EXPORT_MD,
    EXPORT_HTML,
    EXPORT_TXT,
    EXPORT_JSONL, /* the bytes of the rows; tools and thinking do not apply */
    EXPORT_FORMATS,
};

enum export_tools {
    EXPORT_TOOLS_FOLDED, /* a line each, which can be unfolded in Markdown and HTML */
    EXPORT_TOOLS_NONE,   /* no tools, and no notes of the agent's program */
    EXPORT_TOOLS_FULL,   /* everything, unfolded */
};

/* "md", also the end of a file's name; EXPORT_FORMATS for any other word. */
const char *export_format_name(enum export_format format);
enum export_format export_format_of(const char *name);

/* Texts are borrowed. */
struct export_request {
    enum export_format format;
    enum export_tools tools;
    bool thinking;  /* with the thinking of the agent */
    bool subagents; /* their conversations too, after that of the session */
    bool redact;    /* what looks like a secret (store/redact/redact.h) */
    /* A message is named by its id, the beginning of a UUID, or its number in the document ("#12"). */
    struct slice branch;            /* the last message of another branch; may be empty */
    struct slice from, to;          /* the first and the last message; either may be empty */
    struct id128 leaf, first, last; /* the same three as ids; none: not given */
    const atomic_bool *cancel;      /* may be NULL */
};

/* What was written. */
struct export_summary {
    uint64_t bytes;
    size_t messages;               /* rows; none for a whole JSONL file, which is copied */
    size_t unread;                 /* sub-agents that could not be read, as the document mentions */
    struct redact_counts redacted; /* export_summary_fini frees it */
};

void export_summary_fini(struct export_summary *s);

/* Receives the document piece by piece. A non-zero result ends the export and is returned. */
typedef enum err_code export_write_fn(struct slice bytes, void *arg, struct err *e);

/* Writes the document. *out is complete even after a failure. ERR_NOT_FOUND: no such message or branch. ERR_USAGE: two
 * messages begin with the id, or `to` is before `from`. ERR_CANCELLED: the flag was raised. */
MUST_CHECK enum err_code export_session(const struct session_ref *ref,
                                        const struct export_request *req, export_write_fn *write,
                                        void *arg, struct export_summary *out, struct err *e);

/* Writes the document to a file, which appears only when it is whole. ERR_STALE: the file exists and `replace` is not
 * set. ERR_UNSAFE: it is not a regular file, or it is a part of the session. */
MUST_CHECK enum err_code export_file(const struct session_ref *ref,
                                     const struct export_request *req, const char *path,
                                     bool replace, struct export_summary *out, struct err *e);

/* Writes the document into a directory, which is created if it does not exist, under the name of export_file_name. A
 * name that is taken gets a number, or is replaced if `replace` is set. path: the file. Other errors are those of
 * export_file. */
enum { EXPORT_PATH = 4096 };
MUST_CHECK enum err_code export_into(const struct session_ref *ref,
                                     const struct export_request *req, const char *dir,
                                     bool replace, char path[EXPORT_PATH],
                                     struct export_summary *out, struct err *e);

/* A name for the file: the words of the title that are safe in a name, the beginning of the id, and the format. In the
 * arena; NULL if out of memory. */
char *export_file_name(struct slice title, struct slice id, enum export_format format,
                       struct arena *a);
/* The same for a request. If secrets are to be replaced, words with digits are left out, too, because the place that
 * says that one is a secret may be elsewhere in the session. */
char *export_file_name_for(const struct export_request *req, struct slice title, struct slice id,
                           struct arena *a);

#endif
