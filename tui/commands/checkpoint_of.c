#include "lite/base/time.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* `reprise checkpoint-of`: from a commit to the checkpoints, sessions and prompts behind it, and from a checkpoint to
 * the commits that name it. */

enum { COMMIT_COLUMNS = 10, TEXT_COLUMNS = 60 };

static void write_origins_text(const struct checkpoint_origins *all, int64_t now_ms, struct out *o)
{
    struct slice line;
    bool torn;

    for (size_t i = 0; i < all->n; i++) {
        const struct checkpoint_origin *x = &all->origin[i];
        char age[HUMAN_AGE];

        out_addf(o, "checkpoint %.*s\n", SLICE_ARG(x->id));
        for (size_t k = 0; k < x->parts; k++) {
            struct slice text = x->part[k].session;

            out_addf(o, "  %-9s ", "session");
            out_line(o, "", text);

            /* Only the first line of a prompt is written, because prompts may be pages long. */
            struct slice prompt = x->part[k].prompt;

            if (slice_line(&prompt, &line, &torn)) {
                out_addf(o, "  %-9s ", "prompt");
                session_line_cut(line, o->columns > TEXT_COLUMNS ? o->columns - 12 : TEXT_COLUMNS,
                                 o);
                out_addf(o, "\n");
            }
        }
        if (x->parts == 0)
            out_addf(o, "  its metadata is not in this repository\n");
        for (size_t k = 0; k < x->commits; k++) {
            human_age(now_ms, x->commit[k].time_ms, age);
            out_addf(o, "  %-9s %.*s  %s  ", "commit", COMMIT_COLUMNS, x->commit[k].id.p, age);
            session_line_cut(x->commit[k].subject, TEXT_COLUMNS, o);
            out_addf(o, "\n");
        }
    }
}

enum err_code checkpoint_of_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    bool tried = false;

    TRY(sessions_open(in, false, &s, e));
    enum err_code rc = ERR_NOT_FOUND;

    for (size_t i = 0; i < s.n && rc == ERR_NOT_FOUND; i++)
        if (s.store[i]->ops->origins) {
            struct checkpoint_origins found = { .n = 0 };

            tried = true;
            rc = s.store[i]->ops->origins(s.store[i], slice_of(in->argv[0]), &found, e);
            if (!rc && in->out.wants_json) {
                out_open(&in->out, NULL, '[');
                for (size_t k = 0; k < found.n; k++)
                    checkpoint_origin_json(out_json(&in->out), &found.origin[k]);
                out_end(&in->out, ']');
            } else if (!rc)
                write_origins_text(&found, in->world->env.now_ms, &in->out);
            if (!rc)
                checkpoint_origins_fini(&found);
        }
    if (!tried)
        rc = err_set(e, ERR_NOT_FOUND, in->argv[0],
                     "find a checkpoint: no repository with sessions of Entire here");
    sessions_close(&s);
    return rc;
}
