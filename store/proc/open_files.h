#ifndef STORE_PROC_OPEN_FILES_H
#define STORE_PROC_OPEN_FILES_H

/* Determines with fuser(1) who has a file open, where leases are not available (store/log/lease.h). The answer is only
 * a hint, because a program may open the file right afterwards. It is good enough to show a session as running or
 * quiet, but not to truncate it. */
enum open_files {
    /* fuser is missing or does not see this process, or the file belongs to another user */
    OPEN_FILES_UNKNOWN,
    OPEN_FILES_OURS, /* no other process has it open */
    OPEN_FILES_OTHERS,
};

/* `fd` is this process's descriptor of the file: an answer that does not include this process is rejected. The path is
 * absolute. */
enum open_files open_files_ask(int fd, const char *path);

#endif
