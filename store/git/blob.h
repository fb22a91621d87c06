#ifndef STORE_GIT_BLOB_H
#define STORE_GIT_BLOB_H

#include "store/fs/span.h"

/* A blob of a git repository as bytes that can be read at any place: unpacked into a file without a name, which goes
 * when the span is closed. objects: the repository's folder of objects; hex: the whole id, 40 digits. ERR_FORMAT: it is
 * missing, no blob, or its bytes are not what its id says. */
MUST_CHECK enum err_code blob_open(const char *objects, const char *hex, struct span *out,
                                   struct err *e);

#endif
