#ifndef STORE_FS_MEMORY_FILE_H
#define STORE_FS_MEMORY_FILE_H

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/kernel.h"

/* A file without a name, for bytes that are in memory and code that reads a file (a system of its own transcripts). Where
 * the kernel has such files, nothing of it reaches a disk. */
struct memory_file {
    int fd;                /* -1: closed */
    char path[FS_FD_PATH]; /* as long as it is open */
};

MUST_CHECK enum err_code memory_file_open(struct memory_file *f, struct slice bytes, struct err *e);
void memory_file_close(struct memory_file *f);

#endif
