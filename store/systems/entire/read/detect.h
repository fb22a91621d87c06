#ifndef STORE_SYSTEMS_ENTIRE_READ_DETECT_H
#define STORE_SYSTEMS_ENTIRE_READ_DETECT_H

#include <stdbool.h>

/* Could there be anything of Entire's in a repository that holds this directory? Told by names in git directories from
 * here upwards, without libgit2: starting that takes ten milliseconds, which nobody should wait for who has nothing of
 * Entire's. False is certain; true is to be looked into. */
bool detect_above(const char *dir);

#endif
