#ifndef STORE_SYSTEMS_GOAT_WRITE_DOCUMENT_H
#define STORE_SYSTEMS_GOAT_WRITE_DOCUMENT_H

#include "store/journal/step.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/write/metaedit.h"

/* A session's metadata.json, open to be changed. */
struct goat_document {
    struct arena arena;
    struct buf bytes; /* as it lies on the disk */
    const char *path;
    struct goat_metadata m;
};

/* ERR_FORMAT when it cannot be used. On failure nothing is left open. */
MUST_CHECK enum err_code goat_document_open(const struct session_ref *ref, struct goat_document *d,
                                            struct err *e);
void goat_document_close(struct goat_document *d);
/* The step that puts the changed document in its place; it borrows from d. */
MUST_CHECK enum err_code goat_document_step(const struct session_ref *ref, struct goat_document *d,
                                            const struct goat_edit edit[], size_t n,
                                            struct step *step, struct err *e);
/* What is locked while a session is written to: beside the log, as hosts do. NULL without memory. */
const char *goat_lock_path(const struct session_ref *ref, struct arena *a);

#endif
