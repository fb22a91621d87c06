#ifndef STORE_SYSTEMS_GOAT_MEMBERS_H
#define STORE_SYSTEMS_GOAT_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/slice.h"

/* Members of an object as Go's encoding/json finds them: the exact name first, then any spelling of it (goat.md B9);
 * of several the last. value[i] belongs to name[i], empty where there is none. */
void goat_members(struct slice object, const char *const name[], size_t n, struct slice value[]);
/* The same, and in one pass over the bytes those of the object that is name[within]: inside[i] has the name name[i]. The
 * object is valid JSON. */
void goat_members_both(struct slice object, const char *const name[], size_t n,
                       struct slice value[], size_t within, struct slice inside[]);

/* Does a key (with its quotes) say this name, in any spelling? */
bool goat_key_is(struct slice key, const char *name);

#endif
