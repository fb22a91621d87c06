#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/systems/common/usage_rows.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/metadata.h"

/* The stream of the SDK (goat.md B3) has the tokens of each answer in one row, which has no time,
 * and whose only unique id is the row's own. The metadata has the cost of the whole session and the
 * time of its last change, which is used for all records. */

struct goat_usage_walk {
    struct slice model; /* of the session, for rows that name none */
    int64_t time_ms;
    bool has_cost; /* the session's own record has the cost of all answers */
    usage_fn *fn;
    void *arg;
    struct arena arena;
};

static enum err_code hand_over_row(struct slice row, void *arg, struct err *e)
{
    struct goat_usage_walk *w = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&w->arena);
    if (usage_of_row(row, &w->arena, &u)) {
        u.answer = u.message;
        u.time_ms = u.time_ms == TIME_NONE ? w->time_ms : u.time_ms;
        u.model = u.model.n ? u.model : w->model;
        u.cost = w->has_cost ? 0 : u.cost;
        rc = w->arena.failed ? ERR_OK : w->fn(&u, w->arg, e);
    }
    return w->arena.failed ? err_nomem(e) : rc;
}

static enum err_code hand_over_cost(struct goat_usage_walk *w, struct slice cost, struct err *e)
{
    struct usage_record u = usage_record_empty();
    char text[40];

    if (json_type(cost) != JSON_NUMBER || cost.n >= sizeof text)
        return ERR_OK;
    memcpy(text, cost.p, cost.n);
    text[cost.n] = '\0';
    u.cost = strtod(text, NULL);
    u.time_ms = w->time_ms;
    u.model = w->model;
    w->has_cost = isfinite(u.cost) && u.cost > 0;
    return w->has_cost ? w->fn(&u, w->arg, e) : ERR_OK;
}

enum err_code goat_usage(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct goat_usage_walk w = { .fn = fn, .arg = arg, .time_ms = session_modified_ms(&ref->file) };
    struct goat_metadata m;
    struct arena a = { 0 };
    const char *stream = goat_path(ref, GOAT_TRANSCRIPT_LOG, &a);
    enum err_code rc = stream ? goat_metadata_of(ref, &a, &m) : ERR_NOMEM;

    (void)st;
    if (rc)
        err_nomem(e);
    if (!rc && !m.why) {
        w.model = m.text[GOAT_MODEL];
        w.time_ms = m.updated_ns ? m.updated_ns / 1000000 : w.time_ms;
        rc = hand_over_cost(&w, m.raw[GOAT_COST], e);
    }
    if (!rc)
        rc = usage_rows_of_file(stream, 0, "\"usage\"", cancel, hand_over_row, &w, e);
    arena_fini(&w.arena);
    arena_fini(&a);
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}
