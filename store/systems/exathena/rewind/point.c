#include "store/systems/exathena/rewind/point.h"

#include "lite/base/time.h"
#include "store/log/logfile.h"
#include "store/systems/exathena/read/event.h"

enum { PREFIX_SHORTEST = 4 };

struct seeking {
    struct logfile log;
    struct slice id;
    struct arena *a;
    struct point found;
    bool exact, any, several;
};

static bool is_id_prefix(struct slice text, struct slice with)
{
    return with.n >= PREFIX_SHORTEST && text.n > with.n && memcmp(text.p, with.p, with.n) == 0;
}

static enum err_code set_found(struct seeking *s, size_t line, const struct event *ev)
{
    const struct index_line *l = &s->log.index.line[line];

    s->found.id = arena_copy(s->a, ev->id);
    s->found.line = line;
    s->found.offset = l->offset;
    s->found.end =
        line + 1 < s->log.index.n ? s->log.index.line[line + 1].offset : s->log.file.id.size;
    if (!time_parse(ev->ts, &s->found.time_ms))
        s->found.time_ms = TIME_NONE;
    return s->found.id.p ? ERR_OK : ERR_NOMEM;
}

static enum err_code match_line(struct seeking *s, size_t line, struct arena *scratch,
                                struct err *e)
{
    struct slice row;
    struct event ev;
    enum err_code rc = logfile_row(&s->log, line, &row, e);

    arena_reset(scratch);
    if (rc || !event_read(row, scratch, &ev))
        return rc;
    if (slice_eq(ev.id, s->id)) {
        s->exact = true;
        rc = set_found(s, line, &ev);
    } else if (is_id_prefix(ev.id, s->id)) {
        s->several |= s->any && !slice_eq(ev.id, s->found.id);
        if (!s->any)
            rc = set_found(s, line, &ev);
        s->any = true;
    }
    return rc ? err_nomem(e) : ERR_OK;
}

static void count_lines_before(struct seeking *s)
{
    struct point *p = &s->found;

    p->blank = -1;
    p->size = s->log.file.id.size;
    for (size_t i = 0; i < s->log.index.n; i++) {
        bool blank = s->log.index.line[i].length == 0;

        p->total += !blank;
        p->before += !blank && i < p->line;
        if (blank && i < p->line && p->blank < 0)
            p->blank = s->log.index.line[i].offset;
    }
}

enum err_code exathena_point(const struct session_ref *ref, struct slice id, struct arena *a,
                             struct point *out, struct err *e)
{
    struct seeking s = { .id = id, .a = a };
    struct arena scratch = { 0 };
    enum err_code rc = logfile_open(&s.log, ref->path.p, 0, &exathena_keys, NULL, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && !s.exact && i < s.log.index.n; i++)
        if (s.log.index.line[i].length)
            rc = match_line(&s, i, &scratch, e);
    count_lines_before(&s);
    logfile_close(&s.log);
    arena_fini(&scratch);
    if (rc)
        return rc;
    if (!s.exact && s.several)
        return err_set(e, ERR_USAGE, ref->path.p, "ambiguous: several events begin with %.*s",
                       SLICE_ARG(id));
    if (!s.exact && !s.any)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no event %.*s", (int)(id.n > 64 ? 64 : id.n),
                       id.p);
    *out = s.found;
    return ERR_OK;
}
