#ifndef STORE_DEMO_ENTIRE_H
#define STORE_DEMO_ENTIRE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"

/* git's library takes its time to start: that can go on beside the rest of the demo. Begin, and end when the sessions are
 * written. */
struct demo_git_start {
    pthread_t starting;
    bool started;
};
void demo_git_start_begin(struct demo_git_start *l);
void demo_git_start_join(struct demo_git_start *l);

/* Sessions of Entire's in the git repository of a project: what lies in its work tree becomes a commit, on it two sessions of
 * two agents that share a committed checkpoint, and of one of them two turns more on a shadow branch. dir is the project's
 * directory, absolute, with all of its files but those of these sessions. */
MUST_CHECK enum err_code demo_entire(const char *dir, int64_t now_ms, struct err *e);

#endif
