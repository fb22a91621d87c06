#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/gemini/history.h"

/* The first edit of a file after a point records the state of the file at the point, unless
 * something else could have changed it in between, such as a shell command or a person. */

enum { PRESENT_MAX = 16 << 20 };

/* ---- the points ---- */

static size_t files_between(const struct gemini_history *h, size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = 0; i < h->edits; i++) {
        bool again = false;

        if (h->edit[i].at < from || h->edit[i].at >= to)
            continue;
        for (size_t k = 0; k < i; k++)
            again |= h->edit[k].at >= from && strcmp(h->edit[k].path, h->edit[i].path) == 0;
        n += !again;
    }
    return n;
}

static void read_time(struct slice raw, struct arena *a, int64_t *ms)
{
    struct slice text;

    if (!json_get_text(raw, "timestamp", a, &text) || !time_parse(text, ms))
        *ms = TIME_NONE;
}

static void add_point(struct checkpoint_list *list, const struct gemini_message *m)
{
    struct arena *a = &list->arena;
    struct checkpoint *grown = arena_grow(a, list->checkpoint, list->n, sizeof *grown);
    struct checkpoint p = { .id = arena_copy(a, m->id), .kind = CHECKPOINT_TURN };

    read_time(m->raw, a, &p.time_ms);
    p.message = p.id;
    p.prompt = arena_copy(a, gemini_text(m->raw, a));
    if (!grown)
        return;
    list->checkpoint = grown;
    grown[list->n++] = p;
}

enum err_code gemini_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { .n = 0 };
    struct gemini_history h;
    enum err_code rc = gemini_history_read(st, ref, &h, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < h.chat.n; i++)
        if (gemini_kind_of(h.chat.message[i].raw, &h.arena) == GEMINI_PROMPT)
            add_point(&list, &h.chat.message[i]);
    for (size_t i = 0; i < list.n; i++) {
        size_t from = gemini_history_place(&h, list.checkpoint[i].id);
        size_t to = i + 1 < list.n ? gemini_history_place(&h, list.checkpoint[i + 1].id) : SIZE_MAX;

        list.checkpoint[i].files = files_between(&h, from, to);
        list.checkpoint[i].shell = gemini_history_shell(&h, from, to);
    }
    if (list.arena.failed || h.arena.failed)
        rc = err_nomem(e);
    gemini_history_fini(&h);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}

/* ---- the plan ---- */

struct planning {
    struct gemini_history h;
    struct rewind_plan plan;
    size_t from; /* the place of the point */
    struct buf present;
    bool exists;
};

static bool has_crlf(struct slice text)
{
    return slice_find(text.p, text.n, "\r\n", 2) != NULL;
}

/* The program works on texts with line feeds, but writes the line ends of the file. */
static struct slice with_crlf(struct slice text, struct arena *a)
{
    char *out = arena_alloc(a, text.n * 2 + 1);
    size_t n = 0;

    if (!out)
        return text;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' && (i == 0 || text.p[i - 1] != '\r'))
            out[n++] = '\r';
        out[n++] = text.p[i];
    }
    return (struct slice){ out, n };
}

static bool read_present(struct planning *p, const char *path)
{
    p->present.n = 0;
    p->exists = file_read_all(AT_FDCWD, path, 0, PRESENT_MAX, &p->present, NULL) == ERR_OK;
    return p->exists;
}

/* The file as the session left it: after its last edit, or after an earlier one that the program's own rewind returned
 * to. All of these texts are in the log, so nothing of a person's is lost. */
static void set_last(struct planning *p, const char *path, struct rewind_target *t, bool *crlf)
{
    struct slice present = buf_slice(&p->present);

    for (size_t i = p->h.edits; i > 0; i--) {
        const struct gemini_edit *x = &p->h.edit[i - 1];

        if (strcmp(x->path, path) != 0 || !x->known)
            continue;
        bool same = p->exists && slice_eq(x->after, present);

        *crlf = p->exists && !same && has_crlf(present) && !has_crlf(x->after) &&
                slice_eq(with_crlf(x->after, &p->plan.arena), present);
        if (!t->has_last || same || *crlf)
            t->last.bytes =
                *crlf ? with_crlf(x->after, &p->plan.arena) : arena_copy(&p->plan.arena, x->after);
        t->has_last = true;
        if (same || *crlf)
            return;
    }
}

static bool is_first(const struct planning *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (p->h.edit[k].at >= p->from && strcmp(p->h.edit[k].path, p->h.edit[i].path) == 0)
            return false;
    return true;
}

/* Compares texts whatever their line ends are. */
static bool is_same_text(struct slice x, struct slice y)
{
    size_t i = 0, k = 0;

    for (;; i++, k++) {
        while (i < x.n && x.p[i] == '\r')
            i++;
        while (k < y.n && y.p[k] == '\r')
            k++;
        if (i == x.n || k == y.n || x.p[i] != y.p[k])
            return i == x.n && k == y.n;
    }
}

/* The edit of the same file before this one; NULL: none. */
static const struct gemini_edit *edit_before(const struct planning *p, const struct gemini_edit *x)
{
    for (const struct gemini_edit *k = x; k > p->h.edit; k--)
        if (strcmp(k[-1].path, x->path) == 0)
            return &k[-1];
    return NULL;
}

static bool prompt_between(struct planning *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (gemini_kind_of(p->h.chat.ever[i].raw, &p->plan.arena) == GEMINI_PROMPT)
            return true;
    return false;
}

/* The edit is of a later turn, and no earlier one left what it found. */
static bool is_late(struct planning *p, const struct gemini_edit *x)
{
    const struct gemini_edit *earlier = edit_before(p, x);

    return !(earlier && earlier->known && is_same_text(earlier->after, x->before)) &&
           prompt_between(p, p->from + 1, x->at);
}

/* The reason why the file may have been changed between the point and this edit, its first one
 * since; NULL: no sign of a change. */
static const char *doubt(struct planning *p, const struct gemini_edit *x, bool crlf)
{
    const struct gemini_edit *earlier = edit_before(p, x);

    if (earlier && earlier->known && !x->is_new && is_same_text(earlier->after, x->before))
        return NULL;
    if (crlf) /* the program writes CRLF everywhere if there is one */
        return "its line ends are not recorded, and may have been mixed";
    if (gemini_history_shell_before(&p->h, p->from, x))
        return "a shell command may have changed it before the session's edit";
    return earlier && earlier->known && prompt_between(p, p->from + 1, x->at)
               ? "it was changed before the session's edit, and when is not recorded"
               : NULL;
}

/* Returns whether the file had CRLF when it was edited, if the recorded text has only line feeds:
 * the program keeps the line ends, so the next exact text or the present file shows them. */
static bool had_crlf(const struct planning *p, const struct gemini_edit *x, bool present)
{
    const struct gemini_edit *end = p->h.edit + p->h.edits;

    if (x->is_exact)
        return false; /* its text is that of the file */
    for (const struct gemini_edit *k = x + 1; k < end; k++)
        if (strcmp(k->path, x->path) == 0 && k->known && k->is_exact)
            return !k->is_new && has_crlf(k->before);
    return present;
}

static enum err_code add_file(struct planning *p, const struct gemini_edit *x, struct err *e)
{
    struct arena *a = &p->plan.arena;
    struct rewind_target t = { .path = x->path, .want = REWIND_UNKNOWN };
    bool crlf = false;

    read_present(p, x->path);
    set_last(p, x->path, &t, &crlf);
    if (!x->known)
        t.why = "the log does not record what the edit found";
    else if (slice_find(x->before.p, x->before.n, "\xef\xbf\xbd", 3))
        t.why = "the log has its text, but the file was not UTF-8";
    else {
        t.want = x->is_new ? REWIND_ABSENT : REWIND_BYTES;
        crlf = !x->is_new && had_crlf(p, x, crlf);
        t.doubt = doubt(p, x, crlf);
        t.is_late = !t.doubt && is_late(p, x);
        t.found_ms = x->time_ms;
        t.is_first = !edit_before(p, x);
        if (!x->is_new)
            t.source.bytes = crlf ? with_crlf(x->before, a) : arena_copy(a, x->before);
    }
    return a->failed ? err_nomem(e) : rewind_plan_add(&p->plan, &t, e);
}

static enum err_code add_notes(struct planning *p, struct err *e)
{
    enum err_code rc = rewind_plan_note(
        &p->plan, "inferred: each file as the first edit since the chosen message found it", e);

    if (!rc && gemini_history_shell(&p->h, p->from, SIZE_MAX))
        rc = rewind_plan_note(&p->plan, "commands ran since: what they changed is not recorded", e);
    return rc ? rc : rewind_plan_note_modes(&p->plan, e);
}

static enum err_code find_point(const struct gemini_history *h, const struct session_ref *ref,
                                struct slice id, const struct gemini_message **out, struct err *e)
{
    struct point_search search = { .id = id };
    struct arena a = { 0 };

    for (size_t i = 0; i < h->chat.n; i++)
        if (gemini_kind_of(h->chat.message[i].raw, &a) == GEMINI_PROMPT)
            point_search_offer(&search, h->chat.message[i].id, i);
    arena_fini(&a);
    enum err_code rc = point_search_result(&search, ref, e);

    *out = rc ? NULL : &h->chat.message[search.at];
    return rc;
}

static enum err_code fill_plan(struct planning *p, const struct session_ref *ref,
                               const struct gemini_message *point, struct err *e)
{
    const struct store_env *env = ref->store->env;
    const char *root = p->h.cwd;
    struct rewind_plan *plan = &p->plan;

    plan->system = gemini_ops.name;
    plan->session = arena_copy(&plan->arena, ref->id).p;
    plan->point = arena_copy(&plan->arena, point->id).p;
    read_time(point->raw, &plan->arena, &plan->point_ms);
    for (size_t i = 0; p->h.cwd && i < p->h.edits; i++) {
        p->h.edit[i].path = path_real_below(p->h.cwd, p->h.edit[i].path, &p->h.arena);
        if (!p->h.edit[i].path)
            return err_nomem(e);
    }
    if (root && rewind_root_is_above(env, root))
        root = NULL;
    p->from = gemini_history_place(&p->h, point->id);
    enum err_code rc = rewind_plan_root(env, plan, root, e);

    return rc || (plan->session && plan->point) ? rc : err_nomem(e);
}

enum err_code gemini_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    struct planning p = { .from = 0 };
    const struct gemini_message *m;
    enum err_code rc = gemini_history_read(st, ref, &p.h, e);

    if (rc)
        return rc;
    rc = find_point(&p.h, ref, point, &m, e);
    if (!rc)
        rc = fill_plan(&p, ref, m, e);
    for (size_t i = 0; !rc && i < p.h.edits; i++)
        if (p.h.edit[i].at >= p.from && is_first(&p, i))
            rc = add_file(&p, &p.h.edit[i], e);
    if (!rc)
        rc = add_notes(&p, e);
    buf_fini(&p.present);
    gemini_history_fini(&p.h);
    if (rc)
        rewind_plan_fini(&p.plan);
    else
        *out = p.plan;
    return rc;
}
