#ifndef STORE_SYSTEMS_COMMON_SQLITE_SQLITE_FOLDER_H
#define STORE_SYSTEMS_COMMON_SQLITE_SQLITE_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"

/* Reads the files of old versions of an agent, of which sqlite_format.fill makes the rows of the agent's later
 * database. */

/* Ids of sessions or of parts of them (sqlite_store_is_id), sorted. */
struct folder_ids {
    struct slice *of; /* in an arena */
    size_t n;
};

/* The ids in the names in a folder that end like this ("" : all names). A folder that cannot be read has none; NULL as
 * the folder: out of memory. */
MUST_CHECK enum err_code sqlite_folder_ids(const char *folder, const char *end, struct arena *a,
                                           struct folder_ids *out, struct err *e);

/* Replaces the text by that of a file, or, if the file has more than 2 * most bytes, by its first and last `most`
 * bytes, cut at line ends. The text is empty if the file cannot be read; NULL as the path: out of memory. */
MUST_CHECK enum err_code sqlite_folder_text(const char *path, size_t most, struct buf *text,
                                            int64_t *modified_ms, struct err *e);

#endif
