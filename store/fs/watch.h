#ifndef STORE_FS_WATCH_H
#define STORE_FS_WATCH_H

#include <stdbool.h>

/* Watches folders for files that appear, grow or vanish: with inotify (watch_linux.c), or else with a thread that looks
 * every second, or less often if that takes long (watch_portable.c, -DREPRISE_PORTABLE=ON). */
struct fs_watch;

/* NULL if nothing can be watched. */
struct fs_watch *fs_watch_new(void);
void fs_watch_free(struct fs_watch *w); /* may be NULL */
/* A descriptor that is readable after a change. */
int fs_watch_fd(const struct fs_watch *w);
/* Returns false if the folder is gone or unreadable, or nothing more can be watched. `deep`: each folder that appears
 * in it is watched too. */
bool fs_watch_add(struct fs_watch *w, const char *folder, bool deep);
/* Consumes all changes so far. Returns false if there were no changes. */
bool fs_watch_read(struct fs_watch *w);

#endif
