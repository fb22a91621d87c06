#ifndef STORE_CHANGE_LOG_H
#define STORE_CHANGE_LOG_H

#include <dirent.h>
#include <limits.h>
#include <stdint.h>

#include "store/change/change.h"

/* Private to store/change/: the opened operation log. */
struct change_log {
    char dir[PATH_MAX - 128]; /* <state>/changes */
    int lock;
    int64_t now_ms;
};

#define CHANGE_INTENT_SUFFIX ".intent"

/* Names of the changes, sorted by time: those under way, or those that are done. */
MUST_CHECK enum err_code change_names(const struct change_log *log, bool intents,
                                      struct dirent ***names, int *n, struct err *e);
void change_names_free(struct dirent **names, int n);
/* Takes the first `done` steps back, newest first. */
MUST_CHECK enum err_code change_steps_back(struct change *c, size_t done, struct err *e);

#endif
