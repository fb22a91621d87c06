#ifndef TESTS_SUPPORT_REWIND_LAST_STATE_H
#define TESTS_SUPPORT_REWIND_LAST_STATE_H

#include <sys/stat.h>

#include "store/rewind/plan/rewind.h"

/* The session left the file in its present state: no other program changed it. */
static inline void set_last_state(struct rewind_target *t)
{
    struct stat st;

    t->has_last = true;
    t->last_absent = lstat(t->path, &st) != 0;
    t->last = (struct rewind_source){ .file = t->last_absent ? NULL : t->path };
}

#endif
