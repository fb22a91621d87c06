#ifndef STORE_MAINTENANCE_SESSION_INFO_H
#define STORE_MAINTENANCE_SESSION_INFO_H

#include "lite/base/arena.h"
#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/maintenance/doctor.h"

/* Everything that is recorded about one session, as `info` shows it. The whole session is read, unless it is on a server
 * and has more than 100,000 rows. */
struct session_info {
    struct arena arena;
    struct session_ref ref;
    struct session_row *row;       /* owned */
    struct transcript *transcript; /* owned; NULL if the session no longer has a conversation */
    struct err missing;            /* why it has none */
    int64_t messages;              /* -1: they were not read */
    struct checkpoint_list checkpoints; /* empty if the system has no checkpoints */
    struct session_facts more;          /* what only this system records */
    struct slice *subagents;
    size_t subagent_count;
    struct finding_list damage; /* damaged lines, if the system has log_rules or one_document */
    double cost;                /* in US dollars, as the agent recorded it; NAN: not recorded */
};

/* The ref must outlive the result. ERR_NOT_FOUND: no listing shows the session. */
MUST_CHECK enum err_code session_info_read(const struct session_ref *ref, const struct scope *scope,
                                           struct session_info *out, struct err *e);
void session_info_fini(struct session_info *info);
/* The members of the object that `info --json` prints. */
void session_info_json_members(const struct session_info *info, struct jsonout *j);

#endif
