#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "lite/io/window.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* Which sessions there are: the *.jsonl directly in sessions/, or in a root of its own, nothing below it (formats/exathena.md A4). An empty
 * file is a session that was rewound to its begin. */

enum { SUFFIX = sizeof EXATHENA_SUFFIX - 1 };

static bool within(const char *project, struct slice dir)
{
    size_t n = strlen(project);

    if (n == 1)
        return true; /* the root directory */
    return dir.n >= n && memcmp(dir.p, project, n) == 0 && (dir.n == n || dir.p[n] == '/');
}

bool exathena_in_scope(const struct exathena *x, const struct scope *scope)
{
    char real[PATH_MAX];
    const char *project = realpath(x->project, real) ? real : x->project;

    if (scope->all || within(project, scope->project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (within(project, scope->tree[i]))
            return true;
    return false;
}

bool exathena_name_id(const char *name, struct slice *id)
{
    size_t n = strlen(name);

    if (n <= SUFFIX || strcmp(name + n - SUFFIX, EXATHENA_SUFFIX) != 0)
        return false;
    *id = (struct slice){ name, n - SUFFIX };
    return exathena_is_id(*id);
}

static enum err_code visit_log(const struct exathena *x, int dir, const char *name,
                               struct buf *path, session_ref_fn *fn, void *arg, bool *more)
{
    struct session_ref ref = { .store = &x->base, .folder = SLICE("") };
    struct stat sb;

    if (!exathena_name_id(name, &ref.id) || fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(sb.st_mode))
        return ERR_OK;
    path->n = 0;
    if (buf_addf(path, "%s/", x->sessions) || buf_add(path, slice_of(name)) ||
        !(ref.path.p = buf_cstr(path)))
        return ERR_NOMEM;
    ref.path.n = path->n;
    ref.file = file_id_of(&sb);
    *more = fn(&ref, arg);
    return ERR_OK;
}

enum err_code exathena_enumerate(const struct store *st, const struct scope *scope,
                                 session_ref_fn *fn, void *arg, struct err *e)
{
    const struct exathena *x = exathena_of(st);
    struct buf path = { 0 };
    struct dirent *entry;
    enum err_code rc = ERR_OK;
    bool more = true;
    DIR *dir = exathena_in_scope(x, scope) ? opendir(x->sessions) : NULL;

    if (!dir)
        return ERR_OK;
    while (!rc && more && (entry = readdir(dir)))
        rc = visit_log(x, dirfd(dir), entry->d_name, &path, fn, arg, &more);
    closedir(dir);
    buf_fini(&path);
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- one of them ---- */

static enum err_code fill_ref(const struct store *st, const char *path, struct slice id,
                              struct arena *a, struct session_ref *ref, struct err *e)
{
    struct stat sb;

    if (!path)
        return err_nomem(e);
    if (stat(path, &sb) != 0 || !S_ISREG(sb.st_mode))
        return err_set(e, ERR_NOT_FOUND, path, "find session: no such session");
    *ref = (struct session_ref){ .store = st,
                                 .id = arena_copy(a, id),
                                 .path = slice_of(path),
                                 .folder = SLICE(""),
                                 .file = file_id_of(&sb) };
    return ref->id.p ? ERR_OK : err_nomem(e);
}

enum err_code exathena_find(const struct store *st, const struct scope *scope, struct slice id,
                            struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct exathena *x = exathena_of(st);

    if (!exathena_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not an ExAthena session id");
    if (!exathena_in_scope(x, scope))
        return err_set(e, ERR_NOT_FOUND, x->sessions, "find session: of another project");
    return fill_ref(st, arena_format(a, "%s/%.*s" EXATHENA_SUFFIX, x->sessions, SLICE_ARG(id)), id,
                    a, ref, e);
}

static bool is_in(const char *dir, struct slice path, size_t name_at)
{
    size_t n = strlen(dir);

    return name_at == n + 1 && memcmp(path.p, dir, n) == 0;
}

/* Logs lie in a directory named sessions, wherever that is, or in the root that was named: nothing else tells one from any
 * other JSONL. */
enum err_code exathena_at_path(const struct store *st, struct slice path, struct arena *a,
                               struct session_ref *ref, struct err *e)
{
    static const char folder[] = "/sessions/";
    const char *name = memrchr(path.p, '/', path.n), *file = path.p;
    size_t at = name ? (size_t)(name + 1 - path.p) : 0, n = sizeof folder - 1;
    struct slice id;

    if (!is_in(exathena_of(st)->sessions, path, at) &&
        (at < n || memcmp(path.p + at - n, folder, n) != 0))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    if (path.n - at <= SUFFIX || memcmp(path.p + path.n - SUFFIX, EXATHENA_SUFFIX, SUFFIX) != 0)
        file = arena_format(a, "%.*s" EXATHENA_SUFFIX, SLICE_ARG(path));
    if (!file)
        return err_nomem(e);
    if (!exathena_name_id(file + at, &id))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    return fill_ref(st, file, id, a, ref, e);
}

/* The lite read of one session: its begin tells the first prompt and when it was made, its end the last prompt, the
 * last activity and whether somebody waits for an answer. */

struct reading {
    const struct exathena *x;
    struct session_row *row;
    struct window *w;
    struct arena *a;
    bool ended; /* who had the last word is known */
    bool ok;    /* false: out of memory */
};

/* A look before a parse: most lines are no prompts. */
static bool may_be_prompt(struct slice line)
{
    return slice_has(line, "\"user");
}

static bool read_event_line(struct reading *r, struct slice line, struct event *ev)
{
    return line.n && event_read(line, r->a, ev);
}

static bool is_prompt_event(struct reading *r, const struct event *ev, struct slice *text)
{
    if (!slice_eq(ev->role, SLICE("user")))
        return false;
    r->ok &= event_said(ev, r->a, text);
    return text->n > 0;
}

/* False when the window has no prompt that ends in it. */
static bool read_head(struct reading *r)
{
    struct slice rest = r->w->head, line, text;
    struct event ev;
    bool torn, cut = r->w->file.id.size > (int64_t)r->w->head.n;

    while (r->ok && slice_line(&rest, &line, &torn)) {
        bool dated = r->row->created_ms != TIME_NONE;

        if ((torn && cut) || (dated && !may_be_prompt(line)) || !read_event_line(r, line, &ev))
            continue;
        if (!dated && !time_parse(ev.ts, &r->row->created_ms))
            r->row->created_ms = TIME_NONE;
        if (is_prompt_event(r, &ev, &text)) {
            r->row->first_prompt = text;
            return true;
        }
    }
    return false;
}

/* Who had the last word: a person and a tool wait for an answer. */
static void note_end(struct reading *r, const struct event *ev)
{
    if (slice_eq(ev->role, SLICE("user")) || slice_eq(ev->role, SLICE("tool")))
        r->row->flags |= SESSION_INTERRUPTED;
}

/* False when the window has no prompt. */
static bool read_tail_events(struct reading *r)
{
    struct slice rest = r->w->tail, line, text;
    struct event ev;
    bool torn;

    while (r->ok && slice_last_line(&rest, &line, &torn)) {
        bool dated = r->row->activity_ms != TIME_NONE;

        if ((dated && r->ended && !may_be_prompt(line)) || !read_event_line(r, line, &ev))
            continue;
        if (!dated && !time_parse(ev.ts, &r->row->activity_ms))
            r->row->activity_ms = TIME_NONE;
        if (!r->ended && ev.role.n)
            note_end(r, &ev);
        r->ended |= ev.role.n > 0;
        if (is_prompt_event(r, &ev, &text)) {
            r->row->last_prompt = text;
            return true;
        }
    }
    return false;
}

static void read_windows(struct reading *r)
{
    struct session_row *row = r->row;

    if (!read_head(r) && r->ok && !window_widen(r->w, NULL))
        read_head(r);
    if (!read_tail_events(r) && r->ok && !r->w->wide && !window_widen(r->w, NULL))
        read_tail_events(r);
    row->summary = row->first_prompt.n ? row->first_prompt : row->last_prompt;
    if (!row->summary.n)
        row->summary = row->ref.id;
    row->cwd = r->x->homeless ? SLICE("") : slice_of(r->x->project);
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    row->flags |= (r->w->torn_tail ? SESSION_TORN : 0U) | (r->w->shrank ? SESSION_CHANGED : 0U) |
                  (window_shows_damage(r->w) ? SESSION_DAMAGED : 0U);
    row->can = CAN_RESUME | CAN_FORK | CAN_REWIND | CAN_DELETE;
}

static void keep_event_text(struct reading *r, struct slice *text)
{
    *text = text->n ? arena_copy(&r->row->arena, *text) : SLICE("");
    r->ok &= text->p != NULL;
}

static void keep_event_texts(struct reading *r)
{
    struct session_row *row = r->row;
    struct slice *const texts[] = { &row->ref.id,      &row->ref.path,     &row->ref.folder,
                                    &row->summary,     &row->cwd,          &row->first_prompt,
                                    &row->last_prompt, &row->custom_title, &row->git_branch,
                                    &row->tag,         &row->model,        &row->agent_name,
                                    &row->parent_id };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        keep_event_text(r, texts[i]);
}

enum err_code exathena_describe(const struct store *st, const struct scope *scope,
                                const struct session_ref *ref, struct session_row *row,
                                struct err *e)
{
    struct reading r = { .x = exathena_of(st), .row = row, .ok = true };
    struct scratch *scratch;
    enum err_code rc = window_pool_acquire(r.x->scratch, &scratch, e);

    (void)scope;
    if (rc)
        return rc;
    r.w = &scratch->window;
    r.a = &scratch->arena;
    session_row_reset(row);
    row->ref = *ref;
    rc = window_open(r.w, AT_FDCWD, ref->path.p, WINDOW_BRIEF, e);
    if (!rc) {
        row->ref.file = r.w->file.id;
        read_windows(&r);
    } else if (rc != ERR_NOMEM && rc != ERR_NOT_FOUND) {
        row->hidden = HIDDEN_UNREADABLE;
        rc = ERR_OK;
    }
    if (!rc)
        keep_event_texts(&r);
    if (!rc && !r.ok)
        rc = err_nomem(e);
    window_pool_release(r.x->scratch, scratch);
    return rc;
}
