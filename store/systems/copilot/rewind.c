#include <string.h>

#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/common/inferred.h"
#include "store/systems/copilot/copilot.h"

/* Points are the prompts of the conversation. When the program rewinds only the conversation, it
 * keeps the snapshots of the removed turns, which did change files: these turns have no points, but
 * their states are used. */

/* ---- the prompts ---- */

struct prompt {
    struct slice id, text;
    int64_t time_ms;
    bool edits;    /* its turn changed files with a tool ... */
    bool commands; /* ... or ran a command of the shell ... */
    bool wrote;    /* ... or requested one that may have changed files */
    bool ended;    /* it ends with an answer that does not call a tool */
};

struct edited {
    const char *path;
    size_t prompt;
};

struct command {
    struct slice text;
    size_t prompt;
};

struct prompts {
    struct arena arena;
    struct prompt *prompt;
    size_t n;
    struct edited *edited; /* files that tools changed */
    size_t edited_n;
    struct command *command; /* those that may have changed files */
    size_t commands;
    struct slice cwd;
};

static void copilot_add_prompt(struct prompts *p, struct slice row)
{
    struct arena *a = &p->arena;
    struct prompt *list = arena_grow(a, p->prompt, p->n, sizeof *list);
    struct prompt x = { .id = json_copy_at(row, "id", a),
                        .text = json_copy_at(row, "data.content", a) };

    x.time_ms = json_time_at(row, "timestamp", a);
    if (!list || !x.id.n)
        return;
    p->prompt = list;
    list[p->n++] = x;
}

static void copilot_read_result(struct prompts *p, struct slice row)
{
    struct arena *a = &p->arena;
    struct slice list, key, edit;
    struct json_iter it;

    p->prompt[p->n - 1].commands |= json_at(row, "data.shellExecution", &list);
    p->prompt[p->n - 1].ended = false;
    if (!json_at(row, "data.fileEdits", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &edit)) {
        struct edited *grown = arena_grow(a, p->edited, p->edited_n, sizeof *grown);
        struct slice path = json_copy_at(edit, "path", a);

        p->prompt[p->n - 1].edits = true;
        if (!grown || !path.n || path.p[0] != '/' || memchr(path.p, '\0', path.n))
            continue;
        p->edited = grown;
        grown[p->edited_n++] = (struct edited){ path_normalize("", path.p, a), p->n - 1 };
    }
}

/* The program was killed if no answer followed the results of these calls. */
static void copilot_read_answer(struct prompts *p, struct slice row)
{
    struct prompt *x = &p->prompt[p->n - 1];
    struct slice list, key, call;
    struct json_iter it;

    x->ended = true;
    if (!json_at(row, "data.toolRequests", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &call)) {
        x->ended = false;
        struct slice text = json_text_at(call, "arguments.command", &p->arena);

        struct slice name = json_text_at(call, "name", &p->arena);

        if ((slice_has(name, "bash") || slice_has(name, "shell")) && !inferred_only_reads(text)) {
            struct command *more = arena_grow(&p->arena, p->command, p->commands, sizeof *more);

            x->wrote = true;
            if (!more)
                continue;
            p->command = more;
            more[p->commands++] = (struct command){ arena_copy(&p->arena, text), p->n - 1 };
        }
    }
}

static enum err_code copilot_read_prompts(const struct session_ref *ref, struct prompts *p,
                                          struct err *e)
{
    struct transcript *t;
    struct buf row = { 0 };
    enum err_code rc = copilot_load(ref->store, ref, NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->n && !rc; i++) {
        uint8_t kind = t->message[i].kind;

        if (kind != MESSAGE_USER && kind != MESSAGE_TOOL && kind != MESSAGE_ASSISTANT)
            continue;

        /* Results and answers before the first prompt belong to no turn. */
        rc = transcript_read(t, i, &row, e);
        if (!rc && kind == MESSAGE_USER)
            copilot_add_prompt(p, buf_slice(&row));
        else if (!rc && p->n && kind == MESSAGE_TOOL)
            copilot_read_result(p, buf_slice(&row));
        else if (!rc && p->n)
            copilot_read_answer(p, buf_slice(&row));
    }
    buf_fini(&row);
    transcript_free(t);
    if (!rc && p->arena.failed)
        rc = err_nomem(e);
    return rc;
}

/* ---- which snapshots follow a prompt ---- */

static size_t position(const struct prompts *p, struct slice event)
{
    for (size_t i = 0; i < p->n; i++)
        if (slice_eq(p->prompt[i].id, event))
            return i;
    return p->n;
}

/* The snapshot of a removed turn is ordered by its time. */
static bool copilot_follows(const struct prompts *p, size_t at, const struct copilot_snapshot *s)
{
    size_t i = position(p, s->event);

    return i < p->n ? i >= at : s->time_ms >= p->prompt[at].time_ms;
}

static const struct copilot_snapshot *copilot_snapshot_of(const struct copilot_snapshots *s,
                                                          struct slice event)
{
    for (size_t i = 0; i < s->n; i++)
        if (slice_eq(s->snapshot[i].event, event))
            return &s->snapshot[i];
    return NULL;
}

/* Returns true if the turn changed files but has no snapshot. A turn without changes has no
 * snapshot either, but a killed turn does not show whether its commands changed files. */
static bool is_lost(const struct copilot_snapshots *s, const struct prompt *p)
{
    return (p->edits || (p->wrote && !p->ended)) && !copilot_snapshot_of(s, p->id);
}

static const char *not_recorded = "Copilot kept no copies of the files of this turn (a fork has "
                                  "none of the turns before it)";

enum err_code copilot_checkpoints(const struct store *st, const struct session_ref *ref,
                                  struct checkpoint_list *out, struct err *e)
{
    struct prompts p = { .n = 0 };
    struct copilot_snapshots s = { .n = 0 };
    struct checkpoint_list list = { .n = 0 };
    enum err_code rc = copilot_read_prompts(ref, &p, e);

    (void)st;
    if (!rc)
        rc = copilot_snapshots_read(ref, &s, e);

    /* The list becomes the owner of the prompts' texts. */
    list.arena = p.arena;
    if (!rc && !(list.checkpoint = arena_zalloc(&list.arena, (p.n + 1) * sizeof *list.checkpoint)))
        rc = err_nomem(e);
    for (size_t i = 0; !rc && i < p.n; i++) {
        const struct copilot_snapshot *of = copilot_snapshot_of(&s, p.prompt[i].id);

        list.checkpoint[list.n++] =
            (struct checkpoint){ .id = p.prompt[i].id,
                                 .message = p.prompt[i].id,
                                 .prompt = p.prompt[i].text,
                                 .time_ms = p.prompt[i].time_ms,
                                 .kind = CHECKPOINT_TURN,
                                 .files = of ? of->n : 0,
                                 .why = s.why                       ? s.why
                                        : is_lost(&s, &p.prompt[i]) ? not_recorded
                                                                    : NULL };
    }
    copilot_snapshots_fini(&s);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}

/* ---- the plan ---- */

static bool is_planned(const struct rewind_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->target[i].path, path) == 0)
            return true;
    return false;
}

static const struct copilot_state *last_state(const struct copilot_snapshots *s, const char *path)
{
    for (size_t i = s->n; i > 0; i--)
        for (size_t k = 0; k < s->snapshot[i - 1].n; k++)
            if (strcmp(s->snapshot[i - 1].file[k].path, path) == 0)
                return &s->snapshot[i - 1].file[k].after;
    return NULL;
}

/* A turn that was killed, or that a fork inherited, has no snapshot: the state that a later turn
 * found may be its work. */
static bool is_later(const struct prompts *p, size_t at, const struct copilot_snapshots *s,
                     const struct copilot_snapshot *of, const char *path)
{
    size_t end = position(p, of->event);

    for (size_t i = 0; end == p->n && i < p->n; i++)
        if (p->prompt[i].time_ms > of->time_ms)
            end = i;
    for (size_t i = at; i < end; i++)
        if (is_lost(s, &p->prompt[i]) && (p->prompt[i].commands || p->prompt[i].wrote))
            return true;
    for (size_t i = 0; i < p->edited_n; i++)
        if (p->edited[i].prompt >= at && p->edited[i].prompt < end &&
            strcmp(p->edited[i].path, path) == 0 &&
            !copilot_snapshot_of(s, p->prompt[p->edited[i].prompt].id))
            return true;
    return false;
}

/* The state of the file after the newest snapshot before this one that names it; NULL: none does. */
static const struct copilot_state *state_before(const struct copilot_snapshots *s,
                                                const struct copilot_snapshot *of, const char *path)
{
    for (const struct copilot_snapshot *x = of; x > s->snapshot; x--)
        for (size_t k = 0; k < x[-1].n; k++)
            if (strcmp(x[-1].file[k].path, path) == 0)
                return &x[-1].file[k].after;
    return NULL;
}

static enum err_code copilot_add_file(struct rewind_plan *plan, const struct copilot_snapshots *s,
                                      const struct copilot_snapshot *of,
                                      const struct copilot_file *f, bool later, struct err *e)
{
    struct rewind_target t = { .path = f->path };
    const struct copilot_state *last = last_state(s, f->path);

    if (is_planned(plan, f->path))
        return ERR_OK;
    enum { TYPE = 0170000, REGULAR = 0100000 };

    t.want = REWIND_UNKNOWN;
    if (f->before.was == COPILOT_ABSENT) {
        t.want = REWIND_ABSENT;
    } else if (f->before.was == COPILOT_UNKNOWN) {
        t.why = "Copilot did not capture it";
    } else if (f->before.mode && (f->before.mode & TYPE) && (f->before.mode & TYPE) != REGULAR) {
        t.why = "it was not a regular file";
    } else if (!f->before.backup) {
        t.why = "Copilot kept no copy of it";
    } else {
        t.want = REWIND_BYTES;
        t.source = (struct rewind_source){ .file = f->before.backup, .sha256 = f->before.hash };
        t.has_mode = f->before.mode != 0;
        t.mode = f->before.mode & 07777;
    }

    if (later) {
        t.want = REWIND_UNKNOWN;
        t.why = "an earlier turn may have changed it, and Copilot kept no copies of that turn";
    }
    if (t.want != REWIND_UNKNOWN && !slice_eq(of->event, slice_of(plan->point))) {
        /* A snapshot of a later turn has what the file was then. */
        const struct copilot_state *left = state_before(s, of, f->path);

        t.found_ms = of->time_ms;
        t.is_first = !left;
        if (!left || left->was == COPILOT_UNKNOWN)
            t.is_late = true;
        else if (left->was != f->before.was ||
                 (left->was != COPILOT_ABSENT && strcmp(left->hash, f->before.hash) != 0))
            t.doubt = "it was changed at an unknown time before Copilot saved it";
    }
    if (last && last->was != COPILOT_UNKNOWN) {
        t.has_last = true;
        t.last_absent = last->was == COPILOT_ABSENT;
        t.last.sha256 = last->hash;
    }
    return rewind_plan_add(plan, &t, e);
}

static enum err_code copilot_add_notes(struct rewind_plan *plan, const struct prompts *p, size_t at,
                                       const struct copilot_snapshots *s, struct err *e)
{
    bool missing = false, commands = false;
    enum err_code rc = ERR_OK;

    for (size_t i = at; i < p->n; i++) {
        missing |= is_lost(s, &p->prompt[i]);
        commands |= p->prompt[i].commands;
    }
    if (missing)
        rc = rewind_plan_note(plan,
                              "Copilot kept no copies of the files of a turn since; its changes "
                              "cannot be rewound",
                              e);
    if (!rc && commands)
        rc = rewind_plan_note(
            plan, "commands ran since: permissions that they alone changed are not recorded", e);
    return rc;
}

/* A file has one path, even if tools reached it through links below the directory. */
static bool copilot_name_files(struct copilot_snapshots *s, struct prompts *p, const char *root,
                               int64_t point_ms)
{
    bool ok = true;

    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->snapshot[i].n && ok; k++) {
            const char **path = &s->snapshot[i].file[k].path;

            ok = (*path = path_real_below(root, *path, point_ms, &s->arena)) != NULL;
        }
    for (size_t i = 0; i < p->edited_n && ok; i++)
        ok = (p->edited[i].path = path_real_below(root, p->edited[i].path, point_ms, &p->arena)) !=
             NULL;
    return ok;
}

/* A mere chmod is not captured, so a later snapshot need not have the mode of the point. */
static bool may_chmod(const struct rewind_plan *plan, const struct prompts *p, size_t at,
                      const struct copilot_snapshot *of, const char *path)
{
    size_t end = position(p, of->event);

    for (size_t i = 0; i < p->commands && plan->root; i++)
        if (p->command[i].prompt >= at && p->command[i].prompt < end &&
            inferred_may_chmod(p->command[i].text, plan->root, path))
            return true;
    return false;
}

static enum err_code copilot_add_files(struct rewind_plan *plan, const struct prompts *p, size_t at,
                                       const struct copilot_snapshots *s, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct copilot_snapshot *x = &s->snapshot[i];

        for (size_t k = 0; k < x->n && !rc && copilot_follows(p, at, x); k++) {
            const char *path = x->file[k].path;
            size_t n = plan->n;

            rc = copilot_add_file(plan, s, x, &x->file[k], is_later(p, at, s, x, path), e);
            if (plan->n > n && may_chmod(plan, p, at, x, path)) {
                struct rewind_target *t = &plan->target[n];

                if (t->want == REWIND_BYTES && !t->doubt)
                    t->doubt =
                        "a command changed its permissions, and the former ones are not recorded";
            }
        }
    }
    if (!rc) {
        /* Adds the files that tools changed in turns without a snapshot. */
        for (size_t i = 0; i < p->edited_n && !rc; i++) {
            const struct edited *x = &p->edited[i];
            struct rewind_target t = { .path = x->path,
                                       .want = REWIND_UNKNOWN,
                                       .why = "Copilot kept no copy of it" };

            if (x->prompt >= at && !copilot_snapshot_of(s, p->prompt[x->prompt].id) &&
                !is_planned(plan, x->path))
                rc = rewind_plan_add(plan, &t, e);
        }
    }
    return rc ? rc : copilot_add_notes(plan, p, at, s, e);
}

static enum err_code copilot_fill_plan(struct rewind_plan *plan, const struct session_ref *ref,
                                       const struct prompt *point, struct err *e)
{
    struct scope all = { .all = true };
    struct session_row *row = session_row_new();
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &all, ref, row, e) : err_nomem(e);
    const char *cwd = NULL;

    plan->system = copilot_ops.name;
    plan->session = arena_copy(&plan->arena, ref->id).p;
    plan->point = arena_copy(&plan->arena, point->id).p;
    plan->point_ms = point->time_ms;
    if (!rc && row->cwd.n && !memchr(row->cwd.p, '\0', row->cwd.n))
        cwd = arena_copy(&plan->arena, row->cwd).p;
    if (cwd && (cwd[0] != '/' || rewind_root_is_above(ref->store->env, cwd)))
        cwd = NULL; /* only the session names it */
    if (!rc)
        rc = rewind_plan_root(ref->store->env, plan, cwd, e);
    session_row_free(row);
    return rc || (plan->session && plan->point) ? rc : err_nomem(e);
}

enum err_code copilot_plan(const struct store *st, const struct session_ref *ref,
                           struct slice point, struct rewind_plan *out, struct err *e)
{
    struct prompts p = { .n = 0 };
    struct copilot_snapshots s = { .n = 0 };
    struct rewind_plan plan = { 0 };
    struct point_search search = { .id = point };
    enum err_code rc = copilot_read_prompts(ref, &p, e);

    (void)st;
    for (size_t i = 0; i < p.n; i++)
        point_search_offer(&search, p.prompt[i].id, i);
    if (!rc)
        rc = point_search_result(&search, ref, e);
    if (!rc)
        rc = copilot_snapshots_read(ref, &s, e);
    if (!rc && s.why)
        rc = err_set(e, ERR_FORMAT, ref->path.p, "rewind: %s", s.why);
    if (!rc)
        rc = copilot_fill_plan(&plan, ref, &p.prompt[search.at], e);
    if (!rc && plan.root && !copilot_name_files(&s, &p, plan.root, plan.point_ms))
        rc = err_nomem(e);
    if (!rc)
        rc = copilot_add_files(&plan, &p, search.at, &s, e);
    copilot_snapshots_fini(&s);
    arena_fini(&p.arena);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}
