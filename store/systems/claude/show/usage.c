#include "lite/io/file.h"
#include "store/systems/claude/claude.h"
#include "store/systems/common/usage_rows.h"

/* Every answer is recorded in one row for each of its blocks, and each row repeats the usage: the ids of the answer and of its
 * request make one of them. A sub-agent's answers are in its own transcript and, in older versions, also in rows of progress of
 * the session. */

#define MARK "\"usage\""

struct usage_walk {
    const atomic_bool *cancel;
    struct slice agent;
    usage_fn *fn;
    void *arg;
    struct arena arena;
};

static enum err_code hand_over_row(struct slice row, void *arg, struct err *e)
{
    struct usage_walk *w = arg;
    struct usage_record u;
    enum err_code rc = ERR_OK;

    arena_reset(&w->arena);
    if (usage_of_row(row, &w->arena, &u)) {
        u.agent = w->agent;
        u.message = w->agent.n ? SLICE("") : u.message;
        rc = w->arena.failed ? ERR_OK : w->fn(&u, w->arg, e);
    }
    return w->arena.failed ? err_nomem(e) : rc;
}

/* One that is gone, or cannot be read, is not a reason to leave the others. */
static enum err_code walk_agent(struct slice id, const char *path, void *arg, struct err *e)
{
    struct usage_walk *w = arg;

    w->agent = id;
    enum err_code rc = usage_rows_of_file(path, 0, MARK, w->cancel, hand_over_row, w, e);

    return rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE ? ERR_OK : rc;
}

enum err_code claude_usage(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { .cancel = cancel, .fn = fn, .arg = arg };
    unsigned flags = ref->nameless ? FILE_FOLLOW : 0;
    enum err_code rc = usage_rows_of_file(ref->path.p, flags, MARK, cancel, hand_over_row, &w, e);

    (void)st;
    if (!rc)
        rc = claude_each_agent(ref, walk_agent, &w, e);
    arena_fini(&w.arena);
    return rc;
}
