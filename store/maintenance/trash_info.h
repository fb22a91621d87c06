#ifndef STORE_MAINTENANCE_TRASH_INFO_H
#define STORE_MAINTENANCE_TRASH_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/finding.h"

/* What the trash contains, and the document `info` that describes one batch of it. */

/* A ref that was deleted with a session. */
struct trash_ref {
    struct owned_ref was;
    const char *kept; /* the present name of its commit, in the same repository */
};

struct trash_item {
    const char *trash_id; /* "<batch>.<n>" */
    const char *system, *store, *session, *title;
    const char *path; /* the former path of the transcript */
    const char *dir;  /* the directory that the session is about; NULL if unknown */
    int64_t deleted_ms;
    int64_t bytes; /* of all files in all parts */
    int64_t files;
    const char **part, **from; /* the present and the former path of each part */
    size_t parts;
    struct trash_ref *ref;
    size_t refs;
    const char *stays; /* of an item just deleted: what was not deleted, and why; or NULL */
};

struct trash_list {
    struct arena arena; /* owns everything */
    struct trash_item *item;
    size_t n;
};

void trash_list_fini(struct trash_list *list);

/* The path of part k of item n, in the arena; NULL if out of memory. If the session's id is a plain word, the name
 * contains it, for people who look into the directory, and because longer names are faster: ext4 searches a directory
 * block entry by entry, and with fewer entries in a block a thousand moves take a quarter less time. */
char *trash_part_path(struct arena *a, const char *dir, size_t n, size_t k, const char *session);

/* Prints the document of a batch. Texts are %XX-encoded (store/journal/record.h), because a path need not be text. */
MUST_CHECK enum err_code trash_info_print(const struct trash_list *list, struct buf *out,
                                          struct err *e);
/* Adds the items of the batch in a directory to the list. ERR_FORMAT: its document is damaged, and nothing was
 * added. */
MUST_CHECK enum err_code trash_info_read(const char *dir, const char *batch, struct trash_list *out,
                                         struct err *e);

#endif
