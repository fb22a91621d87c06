#ifndef STORE_JOURNAL_CHANGE_RECORD_H
#define STORE_JOURNAL_CHANGE_RECORD_H

#include "lite/base/err.h"
#include "store/journal/change.h"

/* A change as a directory: `record` is one JSON document; bytes of a step that are longer than a few KiB lie
 * beside it as <n>.bytes, <n>.old, <n>.opposite. Texts and paths are any bytes and are written %XX-encoded, so
 * that nothing is lost to JSON's idea of text. */

/* Writes all of it into an existing directory, durably; `record` last. */
MUST_CHECK enum err_code change_record_write(const char *dir, const struct change *c,
                                             struct err *e);
/* ERR_NOT_FOUND: there is no record (it was never finished). ERR_FORMAT: it is damaged, or newer than we are. */
MUST_CHECK enum err_code change_record_read(const char *dir, struct change **out, struct err *e);

#endif
