#ifndef STORE_PROC_OPEN_FILES_H
#define STORE_PROC_OPEN_FILES_H

/* Who has a file open, where no lease can show it (store/log/lease.h): fuser(1) is asked. Its answer is evidence and no
 * proof, since a program may open the file right after it: enough to call a session running or quiet, never to cut it. */
enum open_files {
    OPEN_FILES_UNKNOWN, /* there is no fuser, it does not see this process, or the file is another user's */
    OPEN_FILES_OURS, /* no other process has it open */
    OPEN_FILES_OTHERS,
};

/* `fd` is this process's descriptor of the file: an answer without this process is not believed. The path is absolute. */
enum open_files open_files_ask(int fd, const char *path);

#endif
