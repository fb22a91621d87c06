#include "store/systems/common/jsonl.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "store/fs/memory_file.h"
#include "store/systems/common/config_dir.h"

enum { SUFFIX = sizeof JSONL_SUFFIX - 1 };

static const struct jsonl_store *jsonl_of(const struct store *st)
{
    return (const struct jsonl_store *)st;
}

void jsonl_store_fini(struct jsonl_store *s)
{
    free(s->base.path);
    free(s->folder);
    window_pool_free(s->pool);
}

char *jsonl_usual_path(const struct jsonl_format *format, const struct store_env *env)
{
    return format->usual ? format->usual(env)
                         : config_dir_usual(env, format->variable, format->home);
}

enum err_code jsonl_agent_variable(const struct store *st, const char **name, const char **value,
                                   struct err *e)
{
    const struct jsonl_format *format = jsonl_of(st)->format;

    (void)e;
    config_dir_variable(st, jsonl_usual_path(format, st->env), format->variable, name, value);
    return ERR_OK;
}

/* ---- the files of a folder ---- */

bool jsonl_id_of_name(const char *name, jsonl_is_id_fn *is_id, struct slice *id)
{
    size_t n = strlen(name);

    if (n <= SUFFIX || strcmp(name + n - SUFFIX, JSONL_SUFFIX) != 0)
        return false;
    *id = (struct slice){ name, n - SUFFIX };
    return is_id(*id);
}

/* The folder that is being read. */
struct reading {
    const struct store *store;
    const char *folder;
    jsonl_is_id_fn *is_id;
    session_ref_fn *fn;
    void *arg;
    struct buf path;
    bool more;
};

static enum err_code visit_file(struct reading *r, int dir, const char *name)
{
    struct session_ref ref = { .store = r->store, .folder = SLICE("") };
    struct stat sb;

    if (!jsonl_id_of_name(name, r->is_id, &ref.id) ||
        fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(sb.st_mode))
        return ERR_OK;
    r->path.n = 0;
    if (buf_addf(&r->path, "%s/", r->folder) || buf_add(&r->path, slice_of(name)) ||
        !(ref.path.p = buf_cstr(&r->path)))
        return ERR_NOMEM;
    ref.path.n = r->path.n;
    ref.file = file_id_of(&sb);
    r->more = r->fn(&ref, r->arg);
    return ERR_OK;
}

enum err_code jsonl_each_log(const struct store *st, const char *folder, jsonl_is_id_fn *is_id,
                             session_ref_fn *fn, void *arg, struct err *e)
{
    struct reading r = { st, folder, is_id, fn, arg, { 0 }, true };
    struct dirent *entry;
    enum err_code rc = ERR_OK;
    DIR *dir = opendir(folder);

    if (!dir)
        return ERR_OK;
    while (!rc && r.more && (entry = readdir(dir)))
        rc = visit_file(&r, dirfd(dir), entry->d_name);
    closedir(dir);
    buf_fini(&r.path);
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code jsonl_ref_at(const struct store *st, const char *path, struct slice id,
                           struct arena *a, struct session_ref *ref, struct err *e)
{
    struct stat sb;

    if (!path)
        return err_nomem(e);
    if (stat(path, &sb) != 0 || !S_ISREG(sb.st_mode))
        return err_set(e, ERR_NOT_FOUND, path, "find session: no such session");
    *ref = (struct session_ref){ .store = st,
                                 .id = arena_copy(a, id),
                                 .path = arena_copy(a, slice_of(path)),
                                 .folder = SLICE(""),
                                 .file = file_id_of(&sb) };
    return ref->id.p && ref->path.p ? ERR_OK : err_nomem(e);
}

static bool is_in_scope(const struct jsonl_store *s, const struct scope *scope)
{
    return !s->format->in_scope || s->format->in_scope(&s->base, scope);
}

enum err_code jsonl_enumerate(const struct store *st, const struct scope *scope, session_ref_fn *fn,
                              void *arg, struct err *e)
{
    const struct jsonl_store *s = jsonl_of(st);

    return is_in_scope(s, scope) ? jsonl_each_log(st, s->folder, s->format->is_id, fn, arg, e)
                                 : ERR_OK;
}

enum err_code jsonl_find(const struct store *st, const struct scope *scope, struct slice id,
                         struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct jsonl_store *s = jsonl_of(st);

    if (!s->format->is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not %s", s->format->id_name);
    if (!is_in_scope(s, scope))
        return err_set(e, ERR_NOT_FOUND, s->folder, "find session: it belongs to another project");
    return jsonl_ref_at(st, arena_format(a, "%s/%.*s" JSONL_SUFFIX, s->folder, SLICE_ARG(id)), id,
                        a, ref, e);
}

struct finding_id {
    struct slice id;
    struct arena *arena;
    struct session_ref *ref;
    bool found, failed;
};

static bool compare_ref(const struct session_ref *ref, void *arg)
{
    struct finding_id *f = arg;

    if (!slice_eq(ref->id, f->id))
        return true;
    f->found = true;
    f->failed = !session_ref_copy(f->arena, ref, f->ref);
    return false;
}

enum err_code jsonl_find_listed(const struct store *st, store_enumerate_fn *enumerate,
                                const struct scope *scope, struct slice id, struct arena *a,
                                struct session_ref *ref, struct err *e)
{
    const struct jsonl_store *s = jsonl_of(st);
    struct finding_id f = { .id = id, .arena = a, .ref = ref };

    if (!s->format->is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not %s", s->format->id_name);
    enum err_code rc = enumerate(st, scope, compare_ref, &f, e);

    if (rc || f.failed)
        return err_nomem(e);
    return f.found ? ERR_OK : err_set(e, ERR_NOT_FOUND, s->folder, "find session: no such session");
}

/* ---- the row of a list ---- */

struct describing {
    const struct jsonl_format *format;
    struct session_row *row;
    struct window *w;
    struct arena *a;
    bool ended;          /* the last message was found */
    bool on_path;        /* a row was found */
    struct slice before; /* the id of its parent */
    enum err_code rc;
};

static bool may_be_prompt(const struct describing *d, struct slice line)
{
    return slice_has(line, d->format->prompt_needle);
}

/* A copy, because a window that is widened is read again. */
static void keep_first(struct describing *d, struct slice *field, struct slice value)
{
    if (field->n || !value.n)
        return;
    *field = arena_copy(d->a, value);
    if (!field->p)
        d->rc = ERR_NOMEM;
}

static bool read_row(struct describing *d, struct slice line, struct jsonl_row_facts *said)
{
    *said = (struct jsonl_row_facts){ .time_ms = TIME_NONE };
    enum err_code rc = line.n ? d->format->read(line, d->a, said) : ERR_FORMAT;

    if (rc == ERR_NOMEM)
        d->rc = rc;
    return !rc;
}

typedef bool next_line_fn(struct slice *rest, struct slice *line, bool *torn);

/* Adds the neighbouring rows of a prompt that consists of several rows: those after it, or with slice_last_line those
 * before it. */
static void join_pieces(struct describing *d, struct slice rest, next_line_fn *next,
                        struct slice *prompt)
{
    struct jsonl_row_facts said;
    struct slice line;
    bool torn;

    while (prompt->n && d->format->in_pieces && !d->rc && next(&rest, &line, &torn) &&
           may_be_prompt(d, line) && read_row(d, line, &said) && said.prompt.n) {
        bool before = next == slice_last_line;
        const struct slice both[] = { before ? said.prompt : *prompt,
                                      before ? *prompt : said.prompt };
        const char *joined = arena_concat(d->a, both, 2);

        if (joined)
            *prompt = slice_of(joined);
        else
            d->rc = ERR_NOMEM;
    }
}

/* Looks for the first prompt and the first time. Returns false if the head has no prompt. */
static bool read_head(struct describing *d)
{
    struct slice rest = d->w->head, line;
    struct jsonl_row_facts said;
    bool torn, cut = d->w->file.id.size > (int64_t)d->w->head.n;

    while (!d->rc && slice_line(&rest, &line, &torn)) {
        bool dated = d->row->created_ms != TIME_NONE;

        if ((torn && cut) || (dated && !may_be_prompt(d, line)) || !read_row(d, line, &said))
            continue;
        if (!dated)
            d->row->created_ms = said.time_ms;
        keep_first(d, &d->row->cwd, said.cwd);
        keep_first(d, &d->row->parent_id, said.parent);
        d->row->first_prompt = said.prompt;
        join_pieces(d, rest, slice_line, &d->row->first_prompt);
        if (said.prompt.n)
            return true;
    }
    return false;
}

/* Goes up from the last row. Returns true if the row is not above it. */
static bool is_left(struct describing *d, const struct jsonl_row_facts *said)
{
    if (!d->format->branches || !said->entry.n)
        return false;
    if (d->on_path && !slice_eq(said->entry, d->before))
        return true;
    d->on_path = true;
    d->before = said->after;
    return false;
}

/* Looks backwards for the last message, the newest time from there on and the last prompt. Returns
 * false if the tail has no prompt. */
static bool read_tail(struct describing *d)
{
    struct slice rest = d->w->tail, line;
    struct jsonl_row_facts said;
    bool torn;

    d->on_path = false;
    while (!d->rc && slice_last_line(&rest, &line, &torn)) {
        bool needed = !d->ended || d->format->branches || may_be_prompt(d, line);

        if (!needed || !read_row(d, line, &said) || is_left(d, &said))
            continue;
        if (!d->ended && d->row->activity_ms == TIME_NONE)
            d->row->activity_ms = said.time_ms;
        if (!d->ended && said.speaks && said.waits)
            d->row->flags |= SESSION_INTERRUPTED;
        d->ended |= said.speaks;
        keep_first(d, &d->row->cwd, said.cwd);
        keep_first(d, &d->row->git_branch, said.git_branch);
        keep_first(d, &d->row->model, said.model);
        d->row->last_prompt = said.prompt;
        join_pieces(d, rest, slice_last_line, &d->row->last_prompt);
        if (said.prompt.n)
            return true;
    }
    return false;
}

/* Looks backwards for the last title. */
static bool read_title(struct describing *d, struct slice rest)
{
    struct jsonl_row_facts said;
    struct slice line;
    bool torn;

    while (!d->rc && slice_last_line(&rest, &line, &torn)) {
        if (!slice_has(line, d->format->title_needle) || !read_row(d, line, &said) || !said.names)
            continue;
        keep_first(d, &d->row->custom_title, said.title);
        return true;
    }
    return false;
}

static void read_titles(struct describing *d)
{
    struct window *w = d->w;

    if (!d->format->title_needle || read_title(d, w->tail) || d->rc)
        return;
    if (!w->wide && !window_widen(w, NULL) && read_title(d, w->tail))
        return;
    if (!d->rc && w->head.p != w->tail.p)
        read_title(d, w->head);
}

static void read_windows(struct describing *d)
{
    struct window *w = d->w;

    d->row->ref.file = w->file.id;
    read_titles(d);
    if (!read_head(d) && !d->rc && !window_widen(w, NULL))
        read_head(d);
    if (!read_tail(d) && !d->rc && !w->wide && !window_widen(w, NULL))
        read_tail(d);
    d->row->flags |= (w->torn_tail ? SESSION_TORN : 0U) | (w->shrank ? SESSION_CHANGED : 0U) |
                     (window_shows_damage(w) ? SESSION_DAMAGED : 0U);
}

static enum err_code read_log(struct describing *d, struct err *e)
{
    enum err_code rc = window_open(d->w, AT_FDCWD, d->row->ref.path.p, WINDOW_BRIEF, e);

    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        return rc;
    if (rc)
        d->row->hidden = HIDDEN_UNREADABLE;
    else
        read_windows(d);
    return d->rc ? err_nomem(e) : ERR_OK;
}

static void set_defaults(struct session_row *row)
{
    row->modified_ms = session_modified_ms(&row->ref.file);
    row->flags |= row->parent_id.n ? SESSION_FORK : 0U;
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    if (!row->summary.n)
        row->summary = row->custom_title.n   ? row->custom_title
                       : row->first_prompt.n ? row->first_prompt
                       : row->last_prompt.n  ? row->last_prompt
                                             : row->ref.id;
}

static bool has_log(const struct jsonl_format *format, const struct session_ref *ref)
{
    return !format->has_log || format->has_log(ref);
}

enum err_code jsonl_describe(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, struct session_row *row, struct err *e)
{
    const struct jsonl_store *s = jsonl_of(st);
    struct describing d = { .format = s->format, .row = row };
    struct scratch *scratch;
    enum err_code rc = window_pool_acquire(s->pool, &scratch, e);

    if (rc)
        return rc;
    d.w = &scratch->window;
    d.a = &scratch->arena;
    session_row_reset(row);
    row->ref = *ref;
    if (has_log(s->format, ref))
        rc = read_log(&d, e);
    if (!rc && s->format->complete)
        rc = s->format->complete(st, scope, row, d.a, e);
    row->ref.preread = (struct slice){ NULL, 0 };
    if (!rc)
        set_defaults(row);
    if (!rc && !session_row_keep(row))
        rc = err_nomem(e);
    window_pool_release(s->pool, scratch);
    return rc;
}

/* ---- the conversation ---- */

/* A conversation that is being loaded. */
struct loading {
    const struct jsonl_format *format;
    const char *path;
    bool empty; /* the session has no log */
    struct logfile log;
    bool all; /* also lines that are not part of the conversation */
};

static enum err_code add_line(struct loading *l, size_t line, struct transcript *t, struct err *e)
{
    const struct index *index = &l->log.index;
    const struct index_line *ix = &index->line[line];
    bool torn = index->torn_tail && line + 1 == index->n, keep = true;
    struct message m = { .offset = ix->offset,
                         .length = ix->length,
                         .line = (uint32_t)line,
                         .time_ms = ix->time_ms,
                         .id = ix->id };

    if (ix->state == LINE_BLANK)
        return ERR_OK;
    enum err_code rc = l->format->judge(&l->log, line, &m, &keep, e);

    if (rc || !keep || (torn && m.flags == MESSAGE_BROKEN))
        return rc;
    t->broken += (m.flags & MESSAGE_BROKEN) != 0;
    t->message[t->n++] = m;
    return ERR_OK;
}

/* The lines of the conversation; NULL: all of them, or out of memory. */
static enum err_code choose_lines(struct loading *l, bool **shown, struct err *e)
{
    *shown = NULL;
    if (!l->format->choose || l->all)
        return ERR_OK;
    *shown = calloc(l->log.index.n + 1, sizeof **shown);
    return *shown ? l->format->choose(&l->log, *shown, e) : err_nomem(e);
}

static enum err_code add_lines(struct loading *l, struct transcript *t, struct err *e)
{
    bool *shown;
    enum err_code rc = choose_lines(l, &shown, e);

    for (size_t i = 0; i < l->log.index.n && !rc; i++)
        if (!shown || shown[i])
            rc = add_line(l, i, t, e);
    free(shown);
    return rc;
}

static enum err_code build_transcript(struct loading *l, struct transcript **out, struct err *e)
{
    const struct index *ix = &l->log.index;
    struct transcript *t = calloc(1, sizeof *t);

    if (!t || !(t->path = strdup(l->path)) ||
        !(t->message = malloc((ix->n + 1) * sizeof *t->message))) {
        transcript_free(t);
        return err_nomem(e);
    }
    if (!l->empty)
        t->id = l->log.file.id;
    t->size = t->id.size;
    t->lines = ix->n;
    transcript_set_end(t, ix);
    enum err_code rc = add_lines(l, t, e);

    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc;
}

/* tail 0: the whole file. */
static enum err_code load_bytes(const struct store *st, const struct session_ref *ref, bool all,
                                size_t tail, const atomic_bool *cancel, struct transcript **out,
                                struct err *e)
{
    const struct jsonl_format *format = jsonl_of(st)->format;
    struct loading l = { format, ref->path.p, !has_log(format, ref), { .file.fd = -1 }, all };
    struct logfile *log = &l.log;
    enum err_code rc = ERR_OK;

    if (!l.empty)
        rc = tail ? logfile_open_tail(log, l.path, 0, format->keys, tail, e)
                  : logfile_open(log, l.path, 0, format->keys, cancel, e);
    if (!rc)
        rc = build_transcript(&l, out, e);
    if (!rc && tail && !l.empty)
        (*out)->partial = log->index.n ? log->index.line[0].offset > 0 : log->file.id.size > 0;
    if (log->file.fd >= 0)
        logfile_close(log);
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code jsonl_load_bytes(const struct jsonl_format *format, const struct session_ref *ref,
                               struct buf *bytes, const atomic_bool *cancel,
                               struct transcript **out, struct err *e)
{
    struct loading l = { format, ref->path.p, false, { .file.fd = -1 }, false };
    struct memory_file f;
    enum err_code rc = memory_file_open(&f, buf_slice(bytes), e);

    if (rc)
        return rc;
    rc = logfile_open(&l.log, f.path, FILE_FOLLOW, format->keys, cancel, e);
    if (!rc) {
        l.log.path = ref->path.p;
        rc = build_transcript(&l, out, e);
        logfile_close(&l.log);
    }
    memory_file_close(&f);
    if (rc)
        return err_wrap(e, rc, "load the conversation");
    (*out)->id = ref->file; /* of the file that is watched for changes */
    (*out)->bytes = *bytes;
    *bytes = (struct buf){ 0 };
    return ERR_OK;
}

enum err_code jsonl_load(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    return load_bytes(st, ref, false, 0, cancel, out, e);
}

enum err_code jsonl_load_all(const struct store *st, const struct session_ref *ref,
                             const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    return load_bytes(st, ref, true, 0, cancel, out, e);
}

enum err_code jsonl_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    enum { GROWS = 16 };
    size_t want = bytes ? bytes : 1, most = want < SIZE_MAX / GROWS ? want * GROWS : want;

    for (;;) {
        struct transcript *t;
        enum err_code rc = load_bytes(st, ref, false, want, cancel, &t, e);

        if (rc)
            return rc;
        if (t->n || !t->partial || want >= most) {
            *out = t;
            return ERR_OK;
        }
        transcript_free(t);
        want = want > most / 4 ? most : want * 4;
    }
}
