#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/common/inferred.h"
#include "store/systems/gemini/gemini.h"

/* Each edit of a tool is recorded with the whole text before and after. From a point on, the first edit of a file says what
 * the file was, if nothing else could have changed it in between: a command of the shell could. The program's own rewind
 * drops turns that were done all the same, so their edits count where they stand in the file. */

enum { READ_MAX = 256 << 20, PRESENT_MAX = 16 << 20 };

struct edit {
    const char *path; /* absolute, lexically clean */
    struct slice before, after;
    bool is_new, known; /* not known: the record has no whole text */
    size_t at;          /* number of its message among all that were ever written */
};

struct history {
    struct gemini_chat chat;
    struct arena arena;
    struct edit *edit;
    size_t edits;
    size_t *shell; /* messages with a command that may change files */
    size_t shells;
    const char *cwd; /* NULL: not known */
};

static struct slice text_at(struct slice object, const char *path, struct arena *a)
{
    struct slice value, text = { NULL, 0 };

    if (json_at(object, path, &value) && json_type(value) == JSON_STRING &&
        !json_text(value, a, &text))
        a->failed = true;
    return text;
}

/* ---- what the session did ---- */

static const char *clean_path(const struct history *h, struct slice path, struct arena *a)
{
    if (!path.n || memchr(path.p, '\0', path.n) || (path.p[0] != '/' && !h->cwd))
        return NULL;
    path = arena_copy(a, path);
    return path.p ? path_normalize(h->cwd ? h->cwd : "", path.p, a) : NULL;
}

static void add_shell(struct history *h, size_t at)
{
    size_t *list = arena_grow(&h->arena, h->shell, h->shells, sizeof *list);

    if (!list)
        return;
    h->shell = list;
    list[h->shells++] = at;
}

static void add_edit(struct history *h, struct slice display, size_t at)
{
    struct arena *a = &h->arena;
    struct slice before, after;
    struct edit x = { .path = clean_path(h, text_at(display, "filePath", a), a), .at = at };
    struct edit *list = x.path ? arena_grow(a, h->edit, h->edits, sizeof *list) : NULL;

    if (!list)
        return;
    x.is_new = json_get_true(display, "isNewFile");
    x.known = json_get(display, "newContent", &after) && json_type(after) == JSON_STRING &&
              (x.is_new ||
               (json_get(display, "originalContent", &before) && json_type(before) == JSON_STRING));
    if (x.known) {
        x.after = text_at(display, "newContent", a);
        x.before = text_at(display, "originalContent", a);
    }
    h->edit = list;
    list[h->edits++] = x;
}

static void take_call(struct history *h, struct slice call, size_t at)
{
    struct arena scratch = { 0 };
    struct slice name = text_at(call, "name", &scratch), display;
    bool done = slice_eq(text_at(call, "status", &scratch), SLICE("success"));

    if (slice_eq(name, SLICE("run_shell_command"))) {
        if (!inferred_only_reads(text_at(call, "args.command", &scratch)))
            add_shell(h, at);
    } else if (done && json_get(call, "resultDisplay", &display) &&
               json_type(display) == JSON_OBJECT) {
        add_edit(h, display, at);
    }
    arena_fini(&scratch);
}

static void take_message(struct history *h, size_t at)
{
    struct slice list, key, call;
    struct json_iter it;

    if (!json_get(h->chat.ever[at].raw, "toolCalls", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &call))
        take_call(h, call, at);
}

static void history_fini(struct history *h)
{
    gemini_chat_fini(&h->chat);
    arena_fini(&h->arena);
}

static enum err_code history_read(const struct session_ref *ref, struct history *h, struct err *e)
{
    enum err_code rc;

    *h = (struct history){ .edits = 0 };
    rc = gemini_chat_read(ref->path.p, READ_MAX, &h->chat, e);
    if (rc)
        return rc;
    struct slice cwd = gemini_project(ref->path.p, &h->arena);

    h->cwd = cwd.n ? cwd.p : NULL;
    for (size_t i = 0; i < h->chat.ever_n; i++)
        take_message(h, i);
    if (h->arena.failed) {
        history_fini(h);
        return err_nomem(e);
    }
    return ERR_OK;
}

/* ---- the points ---- */

/* The number of a message among all that were ever written. */
static size_t place_of(const struct history *h, struct slice id)
{
    size_t i = 0;

    while (i < h->chat.ever_n && !slice_eq(h->chat.ever[i].id, id))
        i++;
    return i;
}

static size_t files_between(const struct history *h, size_t from, size_t to)
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

static bool shell_between(const struct history *h, size_t from, size_t to)
{
    for (size_t i = 0; i < h->shells; i++)
        if (h->shell[i] >= from && h->shell[i] < to)
            return true;
    return false;
}

static void add_point(struct checkpoint_list *list, const struct gemini_message *m)
{
    struct arena *a = &list->arena;
    struct checkpoint *grown = arena_grow(a, list->checkpoint, list->n, sizeof *grown);
    struct checkpoint p = { .id = arena_copy(a, m->id), .kind = CHECKPOINT_TURN };

    if (!time_parse(text_at(m->raw, "timestamp", a), &p.time_ms))
        p.time_ms = TIME_NONE;
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
    struct history h;
    enum err_code rc = history_read(ref, &h, e);

    (void)st;
    if (rc)
        return rc;
    for (size_t i = 0; i < h.chat.n; i++)
        if (gemini_kind_of(h.chat.message[i].raw, &h.arena) == GEMINI_PROMPT)
            add_point(&list, &h.chat.message[i]);
    for (size_t i = 0; i < list.n; i++) {
        size_t from = place_of(&h, list.checkpoint[i].id);
        size_t to = i + 1 < list.n ? place_of(&h, list.checkpoint[i + 1].id) : SIZE_MAX;

        list.checkpoint[i].files = files_between(&h, from, to);
        list.checkpoint[i].shell = shell_between(&h, from, to);
    }
    if (list.arena.failed || h.arena.failed)
        rc = err_nomem(e);
    history_fini(&h);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}

/* ---- the plan ---- */

struct planning {
    struct history h;
    struct rewind_plan plan;
    size_t from; /* the place of the point */
    struct buf present;
    bool exists;
};

static bool has_crlf(struct slice text)
{
    return slice_find(text.p, text.n, "\r\n", 2) != NULL;
}

/* The program works on texts with line feeds and writes the line ends of the file. */
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
        const struct edit *x = &p->h.edit[i - 1];

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

/* An edit before the point left the file as the first one since found it: no command changed it in between. */
static bool is_linked(const struct planning *p, size_t i)
{
    for (size_t k = i; k > 0; k--)
        if (strcmp(p->h.edit[k - 1].path, p->h.edit[i].path) == 0)
            return p->h.edit[k - 1].known && !p->h.edit[i].is_new &&
                   slice_eq(p->h.edit[k - 1].after, p->h.edit[i].before);
    return false;
}

static enum err_code add_file(struct planning *p, size_t i, struct err *e)
{
    const struct edit *x = &p->h.edit[i];
    struct rewind_target t = { .path = x->path, .want = REWIND_UNKNOWN };
    bool crlf = false;

    if (!x->known) {
        t.why = "the log does not record what the edit found";
        return rewind_plan_add(&p->plan, &t, e);
    }
    read_present(p, x->path);
    set_last(p, x->path, &t, &crlf);
    if (shell_between(&p->h, p->from, x->at + 1) && !is_linked(p, i))
        t.has_last = false; /* a command may have changed it before */
    t.want = x->is_new ? REWIND_ABSENT : REWIND_BYTES;
    if (!x->is_new)
        t.source.bytes =
            crlf ? with_crlf(x->before, &p->plan.arena) : arena_copy(&p->plan.arena, x->before);
    return p->plan.arena.failed ? err_nomem(e) : rewind_plan_add(&p->plan, &t, e);
}

static enum err_code add_notes(struct planning *p, struct err *e)
{
    enum err_code rc = rewind_plan_note(
        &p->plan, "inferred: each file as the first edit since the chosen message found it", e);

    if (!rc && shell_between(&p->h, p->from, SIZE_MAX))
        rc = rewind_plan_note(&p->plan, "commands ran since: what they changed is not recorded", e);
    return rc;
}

static enum err_code find_point(const struct history *h, const struct session_ref *ref,
                                struct slice id, const struct gemini_message **out, struct err *e)
{
    struct point_search search = { .id = id };
    struct arena a = { 0 };

    for (size_t i = 0; i < h->chat.n; i++)
        if (gemini_kind_of(h->chat.message[i].raw, &a) == GEMINI_PROMPT)
            jsonl_point_offer(&search, h->chat.message[i].id, i);
    arena_fini(&a);
    enum err_code rc = jsonl_point_found(&search, ref, e);

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
    if (!time_parse(text_at(point->raw, "timestamp", &plan->arena), &plan->point_ms))
        plan->point_ms = TIME_NONE;
    if (root && rewind_root_is_above(env, root))
        root = NULL;
    p->from = place_of(&p->h, point->id);
    enum err_code rc = rewind_plan_root(env, plan, root, e);

    return rc || (plan->session && plan->point) ? rc : err_nomem(e);
}

enum err_code gemini_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    struct planning p = { .from = 0 };
    const struct gemini_message *m;
    enum err_code rc = history_read(ref, &p.h, e);

    (void)st;
    if (rc)
        return rc;
    rc = find_point(&p.h, ref, point, &m, e);
    if (!rc)
        rc = fill_plan(&p, ref, m, e);
    for (size_t i = 0; !rc && i < p.h.edits; i++)
        if (p.h.edit[i].at >= p.from && is_first(&p, i))
            rc = add_file(&p, i, e);
    if (!rc)
        rc = add_notes(&p, e);
    buf_fini(&p.present);
    history_fini(&p.h);
    if (rc)
        rewind_plan_fini(&p.plan);
    else
        *out = p.plan;
    return rc;
}
