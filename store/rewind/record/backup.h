#ifndef STORE_REWIND_RECORD_BACKUP_H
#define STORE_REWIND_RECORD_BACKUP_H

#include "store/fs/span.h"
#include "store/rewind/plan/rewind.h"

/* What a record keeps, for a person who wants the bytes themselves: also where an undo cannot put them back. */
struct rewind_backup {
    const char *path;
    enum rewind_action did; /* RESTORE, CREATE or DELETE */
    bool conflict;          /* it was not done */
    bool undone;            /* it was taken back */
    bool has_bytes;         /* there was a file before */
    int64_t size;
    bool written; /* to the old file, after the rewind: its source has these bytes, too, */
    int64_t now;  /* and so many in all */
    uint32_t mode;
    struct rewind_source source;
};

struct rewind_backup_list {
    struct arena arena; /* owns everything */
    const char *id;
    const char *project; /* NULL: it had none */
    struct rewind_backup *file;
    size_t n;
};

/* The files of the record whose id begins so. ERR_NOT_FOUND: there is none; ERR_USAGE: there are several. */
MUST_CHECK enum err_code rewind_backup_read(const struct store_env *env, const char *id,
                                            struct rewind_backup_list *out, struct err *e);
void rewind_backup_fini(struct rewind_backup_list *list);
/* The file of this path: absolute, or relative to the project, or to cwd. NULL: the record has none. */
const struct rewind_backup *rewind_backup_find(const struct rewind_backup_list *list,
                                               const char *path, const char *cwd);
/* Opens its bytes; span_close them. ERR_NOT_FOUND: there was no file before. */
MUST_CHECK enum err_code rewind_backup_open(const struct rewind_backup *file, struct span *out,
                                            struct err *e);

#endif
