#ifndef STORE_FS_WATCH_H
#define STORE_FS_WATCH_H

#include <stdbool.h>

/* Notices that files of folders appear, grow or vanish: by inotify (watch_linux.c), or else by a thread that looks every
 * second, or less often if a look takes long (watch_portable.c, -DREPRISE_PORTABLE=ON). */
struct fs_watch;

/* NULL if nothing can be watched. */
struct fs_watch *fs_watch_new(void);
void fs_watch_free(struct fs_watch *w); /* may be NULL */
/* Readable after a change. */
int fs_watch_fd(const struct fs_watch *w);
/* Returns false if the folder is gone or unreadable, or nothing more can be watched. `deep`: each folder that appears in
 * it is watched, too. */
bool fs_watch_add(struct fs_watch *w, const char *folder, bool deep);
/* Takes all changes up to now. Returns false if there were none. */
bool fs_watch_read(struct fs_watch *w);

#endif
