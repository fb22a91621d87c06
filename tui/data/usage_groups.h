#ifndef TUI_DATA_USAGE_GROUPS_H
#define TUI_DATA_USAGE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "store/query/usage.h"

/* The answers of many sessions, each counted once, and their sums in groups. */

struct config;

/* The key of the groups, in the order of the words of `usage --by`. */
enum usage_by { BY_DAY, BY_WEEK, BY_MONTH, BY_SESSION, BY_MODEL, BY_PROJECT, BY_AGENT };
enum { USAGE_BYS = BY_AGENT + 1 };

struct usage_group {
    struct slice key; /* empty: not known */
    uint32_t session; /* with BY_SESSION */
    struct usage_sum sum;
};

/* A session that was read; texts in the arena. */
struct counted_session {
    struct session_ref ref;
    struct slice title, project;
};

struct usage_groups {
    struct arena arena;
    struct usage_set set;
    struct counted_session *session; /* in the arena */
    size_t sessions;
    size_t unread; /* sessions that could not be read */
    /* As they were made last. */
    struct slice_set keys;
    struct usage_group *group; /* owned */
    size_t groups, cap;
    struct usage_sum all;
};

/* Which answers are counted, and how. */
struct usage_grouping {
    const struct config *config; /* prices; NULL: only costs that are recorded */
    enum usage_by by;
    int64_t since_ms, before_ms; /* since <= time < before; TIME_NONE: open */
    /* Only those of the group `within` by another key; NULL: all. */
    const struct usage_group *within;
    enum usage_by within_by;
};

/* row: NULL if its title and project are not needed. */
MUST_CHECK enum err_code usage_groups_add(struct usage_groups *g, const struct session_ref *ref,
                                          const struct session_row *row,
                                          const struct usage_list *list, struct err *e);
/* Sums up, once all sessions are added and the set is finished. Groups without tokens and costs are left out, because
 * programs record their own errors as answers. Days, weeks and months are in order, sessions have the newest answer
 * first, others the most tokens. */
MUST_CHECK enum err_code usage_groups_make(struct usage_groups *g, const struct usage_grouping *how,
                                           struct err *e);
void usage_groups_fini(struct usage_groups *g);
void usage_groups_free(struct usage_groups *g); /* NULL is fine */

#endif
