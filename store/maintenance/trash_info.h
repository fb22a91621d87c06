#ifndef STORE_MAINTENANCE_TRASH_INFO_H
#define STORE_MAINTENANCE_TRASH_INFO_H

#include "lite/base/buf.h"
#include "store/maintenance/trash.h"

/* Where part k of item n lies, in the arena; NULL without memory. The session's id, where it is a plain word, stands in
 * the name for those who look into the directory; besides, ext4 searches a block of a directory entry by entry, and
 * long names are few in one: a thousand get there in a quarter less time. */
char *trash_part_path(struct arena *a, const char *dir, size_t n, size_t k, const char *session);

/* Private to store/maintenance/: the document beside the parts of a batch. Texts are %XX-encoded bytes
 * (store/journal/record.h): a path need not be text. */
MUST_CHECK enum err_code trash_info_print(const struct trash_list *list, struct buf *out,
                                          struct err *e);
/* Adds the items of a batch to the list. ERR_FORMAT, with nothing added, when the document is damaged. */
MUST_CHECK enum err_code trash_info_parse(struct slice text, const char *dir, const char *batch,
                                          struct trash_list *out, struct err *e);

#endif
