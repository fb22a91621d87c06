#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/rewind/plan/former.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"
#include "store/systems/gemini/gemini.h"

/* The first edit of a file after a point records the state of the file at the point, unless
 * something else could have changed it in between, such as a shell command or a person. */

enum { PRESENT_MAX = 16 << 20 };

/* ---- the points ---- */

static size_t gemini_files_between(const struct gemini_history *h, size_t from, size_t to)
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

enum err_code gemini_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { .n = 0 };
    struct gemini_history h;
    enum err_code rc = gemini_history_read(st, ref, &h, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < h.chat.n; i++)
        if (gemini_kind_of(h.chat.message[i].raw, &h.arena) == GEMINI_PROMPT) {
            const struct gemini_message *m = &h.chat.message[i];
            struct arena *a = &list.arena;
            struct checkpoint *grown = arena_grow(a, list.checkpoint, list.n, sizeof *grown);
            struct checkpoint p = { .id = arena_copy(a, m->id), .kind = CHECKPOINT_TURN };

            p.time_ms = json_time_at(m->raw, "timestamp", a);
            p.message = p.id;
            p.prompt = arena_copy(a, gemini_text(m->raw, a));
            if (grown) {
                list.checkpoint = grown;
                grown[list.n++] = p;
            }
        }

    /* The files of a turn are those that were edited before the next prompt, so all prompts have to be known. */
    for (size_t i = 0; i < list.n; i++) {
        size_t from = gemini_history_place(&h, list.checkpoint[i].id);
        size_t to = i + 1 < list.n ? gemini_history_place(&h, list.checkpoint[i + 1].id) : SIZE_MAX;

        list.checkpoint[i].files = gemini_files_between(&h, from, to);
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

static bool gemini_has_crlf(struct slice text)
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

/* The file as the session left it: after its last edit, or as the program's own rewind left it. All of these texts are
 * in the log, so nothing of a person's is lost. */
static void gemini_set_last(struct planning *p, const char *path, struct rewind_target *t,
                            bool *crlf)
{
    struct slice present = buf_slice(&p->present);

    for (size_t i = p->h.edits; i > 0; i--) {
        const struct gemini_edit *x = &p->h.edit[i - 1];

        if (strcmp(x->path, path) != 0 || !x->known)
            continue;
        bool same = p->exists && slice_eq(x->after, present);

        *crlf = p->exists && !same && gemini_has_crlf(present) &&
                slice_eq(with_crlf(x->after, &p->plan.arena), present);
        /* The present file may also be what the program's own rewind made of it after this edit. */
        const bool reverted =
            !same && !*crlf && gemini_history_rewound(&p->h, x, x->at, SIZE_MAX) &&
            (x->is_new ? !p->exists : p->exists && source_same_text(present, x->before));

        if (same || *crlf || reverted) {
            t->has_last = true;
            t->last_absent = !p->exists;
            t->last.bytes =
                p->present.n ? arena_copy(&p->plan.arena, buf_slice(&p->present)) : SLICE("");

            return;
        }
        if (!t->has_last)
            t->last.bytes = arena_copy(&p->plan.arena, x->after);
        t->has_last = true;
    }
}

/* The last edit of the file. */
static bool is_last(const struct planning *p, size_t i)
{
    for (size_t k = i + 1; k < p->h.edits; k++)
        if (strcmp(p->h.edit[k].path, p->h.edit[i].path) == 0)
            return false;
    return true;
}

static bool gemini_is_first(const struct planning *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (p->h.edit[k].at >= p->from && strcmp(p->h.edit[k].path, p->h.edit[i].path) == 0)
            return false;
    return true;
}

/* The edit of the same file before this one; NULL: none. */
static const struct gemini_edit *edit_before(const struct planning *p, const struct gemini_edit *x)
{
    for (const struct gemini_edit *k = x; k > p->h.edit; k--)
        if (strcmp(k[-1].path, x->path) == 0)
            return &k[-1];
    return NULL;
}

static bool gemini_prompt_between(struct planning *p, size_t from, size_t to)
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

    return !(earlier && earlier->known && source_same_text(earlier->after, x->before)) &&
           gemini_prompt_between(p, p->from + 1, x->at);
}

/* The text is one that an earlier edit had found, so the program's own rewind can have given it back. */
static bool is_former(const struct planning *p, const struct gemini_edit *x)
{
    for (const struct gemini_edit *k = edit_before(p, x); k; k = edit_before(p, k))
        if (k->known && k->is_new == x->is_new && source_same_text(k->before, x->before))
            return true;
    return false;
}

enum line_ends { ENDS_RECORDED, ENDS_LF, ENDS_CRLF, ENDS_UNKNOWN };

/* The reason why the file may have been changed between the point and this edit, its first one
 * since; NULL: no sign of a change. */
static const char *gemini_doubt(struct planning *p, const struct gemini_edit *x,
                                enum line_ends ends)
{
    const struct gemini_edit *earlier = edit_before(p, x);

    if (earlier && earlier->known && !x->is_new && source_same_text(earlier->after, x->before))
        return NULL;
    if (ends == ENDS_CRLF) /* the program writes CRLF everywhere if there is one */
        return "its line ends are not recorded, and may have been mixed";
    if (ends == ENDS_UNKNOWN)
        return "its line ends are not recorded";
    if (gemini_history_shell_before(&p->h, p->from, x))
        return "a shell command may have changed it before the session's edit";
    if (earlier && gemini_history_rewound(&p->h, earlier, earlier->at, p->from) && is_former(p, x))
        return NULL;
    return earlier && earlier->known && gemini_prompt_between(p, p->from + 1, x->at)
               ? "it was changed at an unknown time before the session's edit"
               : NULL;
}

/* The line ends of the file when it was edited, if the recorded text has only line feeds: the program
 * keeps them, so the next exact text or the present file shows them. */
static enum line_ends ends_of(const struct planning *p, const struct gemini_edit *x, bool present)
{
    const struct gemini_edit *end = p->h.edit + p->h.edits;

    if (x->is_exact || x->is_new || !memchr(x->before.p, '\n', x->before.n))
        return ENDS_RECORDED;
    for (const struct gemini_edit *k = x + 1; k < end; k++)
        if (strcmp(k->path, x->path) == 0 && k->known && (k->is_exact || k->is_new))
            return k->is_new ? ENDS_UNKNOWN : gemini_has_crlf(k->before) ? ENDS_CRLF : ENDS_LF;
    return present ? ENDS_CRLF : p->exists ? ENDS_LF : ENDS_UNKNOWN;
}

static void gemini_set_wanted(struct planning *p, const struct gemini_edit *x, bool present,
                              struct rewind_target *t)
{
    struct arena *a = &p->plan.arena;
    enum line_ends ends = ends_of(p, x, present);

    t->want = x->is_new ? REWIND_ABSENT : REWIND_BYTES;
    t->doubt = gemini_doubt(p, x, ends);
    if (!t->doubt && !x->is_new && gemini_history_chmod(&p->h, p->from, x->path))
        t->doubt = "a command changed its permissions, and the former ones are not recorded";
    t->is_late = !t->doubt && is_late(p, x);
    t->found_ms = x->time_ms;
    const struct gemini_edit *earlier = edit_before(p, x);

    t->is_first = !earlier;
    t->is_text = ends == ENDS_CRLF || ends == ENDS_UNKNOWN;
    if (!x->is_new)
        t->source.bytes = ends == ENDS_CRLF ? with_crlf(x->before, a) : arena_copy(a, x->before);
    /* A text that is what an edit of the session had left was encoded so in the file. */
    const bool own = earlier && earlier->known && slice_eq(earlier->after, x->before);

    if (slice_has(x->before, "\xef\xbf\xbd") && !own) {
        t->want = REWIND_UNKNOWN;
        t->why = "the log has its text, but the file was not UTF-8";
        t->is_text = true;
    }
}

/* What an edit before the point left, if the program's own rewind then reverted it. */
static void set_left(struct planning *p, const struct gemini_edit *x, bool present,
                     struct rewind_target *t)
{
    const struct gemini_edit end = { .path = x->path, .at = SIZE_MAX };
    enum line_ends ends = ends_of(p, x, present);

    if (gemini_history_rewound(&p->h, x, x->at, p->from)) {
        t->why = "the program's own rewind reverted it, before the chosen message or after it";
        return;
    }
    t->want = REWIND_BYTES;
    t->found_ms = x->time_ms;
    if (ends == ENDS_CRLF || ends == ENDS_UNKNOWN)
        t->doubt = "its line ends are not recorded";
    else if (gemini_history_shell_before(&p->h, x->at, &end))
        t->doubt = "a shell command may have changed it before the program's own rewind";
    t->source.bytes = ends == ENDS_CRLF ? with_crlf(x->after, &p->plan.arena)
                                        : arena_copy(&p->plan.arena, x->after);
}

/* The edit before the point whose result the program's own rewind reverted after the point. */
static const struct gemini_edit *reverted_edit(const struct planning *p,
                                               const struct gemini_edit *x)
{
    const struct gemini_edit *earlier = edit_before(p, x);

    return earlier && earlier->known && !source_same_text(earlier->after, x->before) &&
                   gemini_history_rewound(&p->h, earlier, p->from, x->at) && is_former(p, x)
               ? earlier
               : NULL;
}

/* A file that no edit since the point changed, but perhaps the program's own rewind. */
static enum err_code add_untouched(struct planning *p, const struct gemini_edit *x, struct err *e)
{
    struct rewind_target t = { .path = x->path, .want = REWIND_UNKNOWN };
    bool crlf = false;

    read_present(p, x->path);
    gemini_set_last(p, x->path, &t, &crlf);
    if (crlf || (p->exists && slice_eq(x->after, buf_slice(&p->present))))
        return ERR_OK;
    set_left(p, x, crlf, &t);
    return p->plan.arena.failed ? err_nomem(e) : rewind_plan_add(&p->plan, &t, e);
}

static enum err_code gemini_add_notes(struct planning *p, struct err *e)
{
    TRY(rewind_plan_note(
        &p->plan, "reconstructed from the recorded edits (Gemini keeps no copies of files)", e));
    if (gemini_history_shell(&p->h, p->from, SIZE_MAX))
        TRY(rewind_plan_note(&p->plan, "commands ran since: what they changed is not recorded", e));
    return rewind_plan_note_modes(&p->plan, e);
}

static enum err_code gemini_fill_plan(struct planning *p, const struct session_ref *ref,
                                      const struct gemini_message *point, struct err *e)
{
    const struct store_env *env = ref->store->env;
    const char *root = p->h.cwd;
    struct rewind_plan *plan = &p->plan;

    plan->system = gemini_ops.name;
    plan->session = arena_copy(&plan->arena, ref->id).p;
    plan->point = arena_copy(&plan->arena, point->id).p;
    plan->point_ms = json_time_at(point->raw, "timestamp", &plan->arena);
    struct former former = { .ref = ref, .now = root };

    for (size_t i = 0; p->h.cwd && i < p->h.edits; i++) {
        const char *path = former_path(&former, p->h.edit[i].path, &p->h.arena);

        p->h.edit[i].path =
            path ? path_real_below(p->h.cwd, path, plan->point_ms, &p->h.arena) : NULL;
        if (!p->h.edit[i].path)
            return err_nomem(e);
    }
    for (size_t i = 0; i < p->h.shells; i++)
        if (former_is_in(&former, p->h.shell[i].command, &p->h.arena))
            p->h.shell[i].command = SLICE(""); /* its paths are not those of today */
    TRY(former_note(&former, plan, e));
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

    TRY(gemini_history_read(st, ref, &p.h, e));

    /* The prompt at the point. */
    struct point_search search = { .id = point };
    struct arena scratch = { 0 };

    for (size_t i = 0; i < p.h.chat.n; i++)
        if (gemini_kind_of(p.h.chat.message[i].raw, &scratch) == GEMINI_PROMPT)
            point_search_offer(&search, p.h.chat.message[i].id, i);
    arena_fini(&scratch);
    enum err_code rc = point_search_result(&search, ref, e);

    m = rc ? NULL : &p.h.chat.message[search.at];
    if (!rc)
        rc = gemini_fill_plan(&p, ref, m, e);

    /* A file that was edited since the point is one target, however often it was edited. An older edit counts only if
     * the program's own rewind may have reverted it since. */
    for (size_t i = 0; !rc && i < p.h.edits; i++)
        if (p.h.edit[i].at >= p.from && gemini_is_first(&p, i)) {
            const struct gemini_edit *x = &p.h.edit[i];
            struct arena *a = &p.plan.arena;
            struct rewind_target t = { .path = x->path, .want = REWIND_UNKNOWN };
            bool crlf = false;

            read_present(&p, x->path);
            gemini_set_last(&p, x->path, &t, &crlf);
            if (x->known && reverted_edit(&p, x))
                set_left(&p, reverted_edit(&p, x), crlf, &t);
            else if (x->known)
                gemini_set_wanted(&p, x, crlf, &t);
            else
                t.why = "the log does not record what the edit found";
            rc = a->failed ? err_nomem(e) : rewind_plan_add(&p.plan, &t, e);
        } else if (p.h.edit[i].at < p.from && p.h.edit[i].known && is_last(&p, i) &&
                   gemini_history_rewound(&p.h, &p.h.edit[i], p.from, SIZE_MAX))
            rc = add_untouched(&p, &p.h.edit[i], e);
    if (!rc)
        rc = gemini_add_notes(&p, e);
    buf_fini(&p.present);
    gemini_history_fini(&p.h);
    if (rc)
        rewind_plan_fini(&p.plan);
    else
        *out = p.plan;
    return rc;
}
