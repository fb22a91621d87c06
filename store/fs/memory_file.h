#ifndef STORE_FS_MEMORY_FILE_H
#define STORE_FS_MEMORY_FILE_H

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/kernel.h"

/* A file without a name, through which code that reads files (such as a system its transcripts) can read bytes in
 * memory. If the kernel has such files, nothing reaches a disk. */
struct memory_file {
    int fd;                /* -1: closed */
    char path[FS_FD_PATH]; /* valid while it is open */
};

MUST_CHECK enum err_code memory_file_open(struct memory_file *f, struct slice bytes, struct err *e);
void memory_file_close(struct memory_file *f);

#endif
