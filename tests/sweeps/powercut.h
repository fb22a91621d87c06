#ifndef TESTS_SWEEPS_POWERCUT_H
#define TESTS_SWEEPS_POWERCUT_H

#include <stdbool.h>

/* The effect of a power cut: everything written since the last fsync of its file is lost, and every name created,
 * changed or removed since the last fsync of its directory. A rename is atomic and becomes durable with the directory
 * it leads into. This is harsher than real file systems, on purpose.
 *
 * Each call is announced before it is made (powercut_dirty, powercut_name) and withdrawn if it failed. */
enum name_change { NAME_MADE, NAME_DIR_MADE, NAME_GONE, NAME_DIR_GONE, NAME_MOVED, NAME_EXCHANGED };

void powercut_dirty(int fd);  /* before the bytes or the size change */
void powercut_synced(int fd); /* after an fsync, of a file or a directory */
/* Where only `from` is used: MADE and GONE. */
void powercut_name(enum name_change what, int from_dir, const char *from, int to_dir,
                   const char *to);
void powercut_name_failed(void); /* the last call failed */

/* Cuts the power. zeros: files keep their length, and unsynced bytes read as NULs. */
void powercut_now(bool zeros);

#endif
