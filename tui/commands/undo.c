#include "tui/commands/command.h"
#include "tui/commands/rewind_answer.h"

/* Going back to what a rewind kept needs no consent: it was given for that rewind. What was edited by hand since is
 * held back all the same. */
enum err_code undo_run(struct invocation *in, struct err *e)
{
    const struct rewind_options options = { .allow_outside = true, .allow_sensitive = true };
    struct rewind_plan plan;
    size_t recovered;
    enum err_code rc = rewind_recover(&in->world->env, &recovered, e);

    if (!rc)
        rc = rewind_undo_plan(&in->world->env, in->argc ? in->argv[0] : NULL, &plan, e);
    if (rc)
        return rc;
    rc = rewind_carry_out(in, &plan, &options, !option_given(&in->options, OPTION_DRY_RUN), false,
                          e);
    rewind_plan_fini(&plan);
    return rc;
}
