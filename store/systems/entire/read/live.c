#include "store/proc/live.h"

#include <stdlib.h>

#include "lite/base/time.h"
#include "store/systems/common/configdir.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

/* Is a turn under way? The agent's own registry knows best; the state of the session says so too, but it stays as it is
 * when the agent dies, so after an hour (Entire's own doctor calls that stuck) it is not believed. */

enum { BELIEVED_MS = 60 * 60 * 1000 };

static enum err_code query_agent_registry(const struct store_env *env, struct slice id,
                                          struct live *out, struct err *e)
{
    struct live_table table;
    char *config;
    enum err_code rc;

    *out = (struct live){ .state = LIVE_QUIET };
    if (configdir_default(env, &config, NULL))
        return ERR_OK;
    rc = live_read(config, &table, e);
    if (!rc) {
        *out = live_of(&table, id);
        live_fini(&table);
    }
    free(config);
    return rc;
}

enum err_code entire_live(const struct store *st, const struct session_ref *ref, struct live *out,
                          struct err *e)
{
    const struct catalog_session *s;
    struct catalog *c;
    struct live live;
    enum err_code rc = entire_session(st, ref->id, &c, &s, e);

    if (rc)
        return rc;
    rc = query_agent_registry(st->env, entire_agent_id(ref->id), &live, e);
    if (!rc && live.state == LIVE_QUIET && s->state && s->state->phase == PHASE_ACTIVE &&
        s->state->interaction_ms != TIME_NONE &&
        s->state->interaction_ms > st->env->now_ms - BELIEVED_MS)
        live = (struct live){ .state = LIVE_UNKNOWN,
                              .busy = true,
                              .why = "its state says that a turn is under way" };
    if (!rc)
        *out = live;
    catalog_close(entire_of(st)->cache, c);
    return rc;
}
