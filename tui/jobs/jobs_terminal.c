#include <stdio.h>
#include <string.h>

#include "store/proc/process.h"
#include "tui/config/config.h"
#include "tui/jobs/jobs.h"

/* The terminal of a running agent: which one it is, the pane of tmux that has it, and how to get there. */

enum { TMUX_MS = 2000, TMUX_BYTES = 1 << 20 };

static enum err_code run_tmux(const struct job_context *d, const char *const argv[],
                              struct buf *out, struct err *e)
{
    return spawn_read(
        &(struct spawn){
            .argv = argv, .dir = d->present_dir, .timeout_ms = TMUX_MS, .max = TMUX_BYTES },
        out, e);
}

/* The next word of a line of tmux. */
static struct slice next_word(struct slice *line)
{
    const char *blank = line->n ? memchr(line->p, ' ', line->n) : NULL;
    size_t n = blank ? (size_t)(blank - line->p) : line->n, taken = n + (blank != NULL);
    struct slice word = { line->p, n };

    *line = (struct slice){ line->p + taken, line->n - taken };
    return word;
}

/* Asks tmux for its panes and their terminals. Without tmux, or if it does not answer, there is no pane. */
static void find_pane(const struct job_context *d, struct agent_terminal *t)
{
    static const char *const argv[] = {
        "tmux",
        "list-panes",
        "-a",
        "-F",
        "#{pane_tty} #{pane_id} #{session_name}:#{window_index}.#{pane_index}",
        NULL
    };
    struct buf text = { 0 };
    struct slice rest, line;
    bool torn;

    if (run_tmux(d, argv, &text, NULL))
        return;
    rest = buf_slice(&text);
    while (slice_line(&rest, &line, &torn))
        if (slice_eq(next_word(&line), slice_of(t->name))) {
            struct slice pane = next_word(&line);

            snprintf(t->pane, sizeof t->pane, "%.*s", SLICE_ARG(pane));
            snprintf(t->place, sizeof t->place, "%.*s", SLICE_ARG(line));
        }
    buf_fini(&text);
}

enum err_code jobs_terminal(const struct job_context *d, const struct effect *q,
                            const struct reply *r, struct err *e)
{
    struct msg m = { .kind = MSG_TERMINAL };
    struct agent_terminal *t = &m.u.terminal;
    struct proc_info process;

    if (q->text.n) {
        const char *const argv[] = { "tmux", "switch-client", "-t", q->text.p, NULL };
        struct buf said = { 0 };
        enum err_code rc = run_tmux(d, argv, &said, e);

        buf_fini(&said);
        if (rc)
            return rc;
        t->shown = true;
    } else if (proc_info((pid_t)q->n, &process)) {
        snprintf(t->name, sizeof t->name, "%s", process.terminal);
        if (t->name[0] && d->settings->in_tmux)
            find_pane(d, t);
    }
    jobs_post(r, q, m);
    return ERR_OK;
}
