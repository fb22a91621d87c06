#ifndef TESTS_SWEEPS_POWERCUT_H
#define TESTS_SWEEPS_POWERCUT_H

#include <stdbool.h>

/* What a power cut would take: everything that was written since the last fsync of its file, and every name that
 * was made, changed or removed since the last fsync of its directory. A rename happens as one thing, and becomes
 * durable with the directory it leads into. This is harsher than file systems are, as it should be.
 *
 * Each call is told of before it is made (powercut_dirty, powercut_name) and, where it failed, taken back. */
enum name_change { NAME_MADE, NAME_DIR_MADE, NAME_GONE, NAME_DIR_GONE, NAME_MOVED, NAME_EXCHANGED };

void powercut_dirty(int fd);  /* before bytes or the size change */
void powercut_synced(int fd); /* after an fsync, of a file or a directory */
/* Where from only: MADE and GONE. */
void powercut_name(enum name_change what, int from_dir, const char *from, int to_dir,
                   const char *to);
void powercut_name_failed(void); /* the last one did not happen */

/* The power goes. zeros: files keep their length, and what was not synced reads as NULs. */
void powercut_now(bool zeros);

#endif
