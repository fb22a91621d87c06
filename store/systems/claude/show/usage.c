#include "lite/io/file.h"
#include "store/systems/claude/claude.h"
#include "store/systems/common/usage_rows.h"

/* Every answer is recorded in one row for each of its blocks, and each row repeats the usage. The ids of the answer and
 * of its request identify them as one. A sub-agent's answers are in its own transcript and, in older versions, also in
 * rows of progress of the session. */

static enum err_code walk_agent(struct slice id, const char *path, void *arg, struct err *e)
{
    return usage_walk_file(arg, path, 0, id, e);
}

enum err_code claude_usage(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_walk w = { usage_of_row, "\"usage\"", cancel, fn, arg };
    enum err_code rc =
        usage_walk_file(&w, ref->path.p, ref->nameless ? FILE_FOLLOW : 0, SLICE(""), e);

    (void)st;
    return rc ? rc : claude_each_agent(ref, walk_agent, &w, e);
}
