#ifndef STORE_REWIND_RECORD_BACKUP_H
#define STORE_REWIND_RECORD_BACKUP_H

#include "store/fs/span.h"
#include "store/rewind/plan/rewind.h"

/* The backups of a record, for a person who wants the bytes themselves, even if an undo cannot restore them. */
struct rewind_backup {
    const char *path;
    enum rewind_action did; /* RESTORE, CREATE or DELETE */
    bool conflict;          /* it was not done */
    bool undone;            /* it was undone */
    bool has_bytes;         /* there was a file before */
    int64_t size;
    bool written; /* the old file was written to after the rewind; the source includes that, */
    int64_t now;  /* and has this many bytes in all */
    uint32_t mode;
    struct rewind_source source;
};

struct rewind_backup_list {
    struct arena arena; /* owns everything */
    const char *id;
    const char *project; /* NULL if it had none */
    struct rewind_backup *file;
    size_t n;
};

/* Reads the files of the record whose id begins with `id`. ERR_NOT_FOUND: no such record; ERR_USAGE: several. */
MUST_CHECK enum err_code rewind_backup_read(const struct store_env *env, const char *id,
                                            struct rewind_backup_list *out, struct err *e);
void rewind_backup_fini(struct rewind_backup_list *list);
/* Finds a file by its path: absolute, or relative to the project or to cwd. NULL if the record has no such file. */
const struct rewind_backup *rewind_backup_find(const struct rewind_backup_list *list,
                                               const char *path, const char *cwd);
/* Opens its bytes; the caller closes them with span_close. ERR_NOT_FOUND: there was no file before. */
MUST_CHECK enum err_code rewind_backup_open(const struct rewind_backup *file, struct span *out,
                                            struct err *e);

#endif
