#include "store/rewind/record/records.h"

#include <string.h>

/* Both lists are in the order of their ids, which are made under one lock and never decrease, and are merged. The time
 * is that at which a program began: one that had to wait for another one has the later id with the earlier time. */
struct merge {
    struct rewind_records rewinds;
    size_t next; /* the next of the records */
    const struct shown *shown;
    history_fn *fn;
    void *arg;
    enum err_code rc;
    struct err *e;
};

/* Appends "3 restored" to a list; 0 is left out. */
static const char *add_count(struct arena *a, const char *list, size_t n, const char *done)
{
    return list && n ? arena_format(a, "%s%s%zu %s", list, *list ? ", " : "", n, done) : list;
}

static enum err_code hand_over_rewind(struct merge *m, const struct rewind_record *r)
{
    struct arena *a = &m->rewinds.arena;
    const char *session = arena_format(a, "%s:%s", r->system, r->session);
    const char *files = add_count(a, "", r->restored, "restored");

    files = add_count(a, files, r->created, "created");
    files = add_count(a, files, r->deleted, "deleted");
    const char *text =
        files
            ? arena_format(a, "%s%s%s", *files ? files : "no files",
                           rewind_conversation_moves(r->how) ? ", conversation too" : "",
                           r->interrupted ? ", interrupted"
                           : r->cut_short ? ", incomplete: the session continued, files not changed"
                                          : "")
            : NULL;

    if (!session || !text)
        return err_nomem(m->e);
    const struct history_entry x = { .id = r->id,
                                     .kind = "rewind",
                                     .text = text,
                                     .undoes = r->undoes,
                                     .title = r->title,
                                     .dir = r->project,
                                     .at_ms = r->at_ms,
                                     .session = &session,
                                     .sessions_n = 1,
                                     .undone = r->undone,
                                     .rewind = true,
                                     .elsewhere = origin_of_rewind(m->shown, r) != ORIGIN_SHOWN };

    return m->fn(&x, m->arg, m->e);
}

static void hand_over_rewinds_after(struct merge *m, const char *id)
{
    while (!m->rc && m->next < m->rewinds.n && strcmp(m->rewinds.record[m->next].id, id) > 0)
        m->rc = hand_over_rewind(m, &m->rewinds.record[m->next++]);
}

static bool hand_over_change(const struct change *c, bool undone, void *arg)
{
    struct merge *m = arg;
    const struct history_entry x = { .id = c->id,
                                     .kind = c->kind,
                                     .text = c->text,
                                     .undoes = c->undoes,
                                     .command = c->command,
                                     .title = c->sessions_n ? c->origin[0].title : NULL,
                                     .dir = c->sessions_n ? c->origin[0].dir : NULL,
                                     .at_ms = c->at_ms,
                                     .session = (const char *const *)c->sessions,
                                     .sessions_n = c->sessions_n,
                                     .undone = undone,
                                     .by_agent = change_is_agents(c),
                                     .elsewhere = !origin_shows_change(m->shown, c),
                                     .spans = origin_spans_directories(c) };

    hand_over_rewinds_after(m, c->id);
    if (!m->rc)
        m->rc = m->fn(&x, m->arg, m->e);
    return !m->rc;
}

enum err_code history_each(const struct store_env *env, const struct shown *shown, history_fn *fn,
                           void *arg, struct err *e)
{
    struct merge m = { .shown = shown, .fn = fn, .arg = arg, .e = e };

    struct change_log *log = NULL;

    TRY(rewind_records_read_newest(env, SIZE_MAX, NULL, &m.rewinds, e));
    enum err_code rc = change_log_read(env, &log, e);

    if (!rc)
        rc = change_list(log, hand_over_change, &m, e);
    change_log_close(log);
    if (!rc) {
        hand_over_rewinds_after(&m, "");
        rc = m.rc;
    }

    rewind_records_fini(&m.rewinds);
    return rc;
}
