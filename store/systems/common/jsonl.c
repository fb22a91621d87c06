#include "store/systems/common/jsonl.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"

enum { SUFFIX = sizeof JSONL_SUFFIX - 1 };

/* ---- the files of a folder ---- */

bool jsonl_name_id(const struct jsonl_folder *f, const char *name, struct slice *id)
{
    size_t n = strlen(name);

    if (n <= SUFFIX || strcmp(name + n - SUFFIX, JSONL_SUFFIX) != 0)
        return false;
    *id = (struct slice){ name, n - SUFFIX };
    return f->is_id(*id);
}

static enum err_code visit_file(const struct jsonl_folder *f, int dir, const char *name,
                                struct buf *path, session_ref_fn *fn, void *arg, bool *more)
{
    struct session_ref ref = { .store = f->store, .folder = SLICE("") };
    struct stat sb;

    if (!jsonl_name_id(f, name, &ref.id) || fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(sb.st_mode))
        return ERR_OK;
    path->n = 0;
    if (buf_addf(path, "%s/", f->path) || buf_add(path, slice_of(name)) ||
        !(ref.path.p = buf_cstr(path)))
        return ERR_NOMEM;
    ref.path.n = path->n;
    ref.file = file_id_of(&sb);
    *more = fn(&ref, arg);
    return ERR_OK;
}

enum err_code jsonl_enumerate(const struct jsonl_folder *f, session_ref_fn *fn, void *arg,
                              struct err *e)
{
    struct buf path = { 0 };
    struct dirent *entry;
    enum err_code rc = ERR_OK;
    bool more = true;
    DIR *dir = opendir(f->path);

    if (!dir)
        return ERR_OK;
    while (!rc && more && (entry = readdir(dir)))
        rc = visit_file(f, dirfd(dir), entry->d_name, &path, fn, arg, &more);
    closedir(dir);
    buf_fini(&path);
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

enum err_code jsonl_find(const struct jsonl_folder *f, struct slice id, struct arena *a,
                         struct session_ref *ref, struct err *e)
{
    const char *path = arena_format(a, "%s/%.*s" JSONL_SUFFIX, f->path, SLICE_ARG(id));

    return jsonl_ref_at(f->store, path, id, a, ref, e);
}

/* ---- the row of a list ---- */

struct describing {
    const struct jsonl_format *format;
    struct session_row *row;
    struct window *w;
    struct arena *a;
    bool ended; /* the last message was found */
    enum err_code rc;
};

static bool may_be_prompt(const struct describing *d, struct slice line)
{
    return slice_has(line, d->format->prompt_mark);
}

static bool read_row(struct describing *d, struct slice line, struct jsonl_said *said)
{
    *said = (struct jsonl_said){ .time_ms = TIME_NONE };
    enum err_code rc = line.n ? d->format->read(line, d->a, said) : ERR_FORMAT;

    if (rc == ERR_NOMEM)
        d->rc = rc;
    return !rc;
}

/* Looks for the first prompt and the first time. Returns false if the head has no prompt. */
static bool read_head(struct describing *d)
{
    struct slice rest = d->w->head, line;
    struct jsonl_said said;
    bool torn, cut = d->w->file.id.size > (int64_t)d->w->head.n;

    while (!d->rc && slice_line(&rest, &line, &torn)) {
        bool dated = d->row->created_ms != TIME_NONE;

        if ((torn && cut) || (dated && !may_be_prompt(d, line)) || !read_row(d, line, &said))
            continue;
        if (!dated)
            d->row->created_ms = said.time_ms;
        d->row->first_prompt = said.prompt;
        if (said.prompt.n)
            return true;
    }
    return false;
}

/* Looks backwards for the last time, the last message and the last prompt. Returns false if the
 * tail has no prompt. */
static bool read_tail(struct describing *d)
{
    struct slice rest = d->w->tail, line;
    struct jsonl_said said;
    bool torn;

    while (!d->rc && slice_last_line(&rest, &line, &torn)) {
        bool dated = d->row->activity_ms != TIME_NONE;

        if ((dated && d->ended && !may_be_prompt(d, line)) || !read_row(d, line, &said))
            continue;
        if (!dated)
            d->row->activity_ms = said.time_ms;
        if (!d->ended && said.speaks && said.waits)
            d->row->flags |= SESSION_INTERRUPTED;
        d->ended |= said.speaks;
        d->row->last_prompt = said.prompt;
        if (said.prompt.n)
            return true;
    }
    return false;
}

static void read_windows(struct describing *d)
{
    struct session_row *row = d->row;

    if (!read_head(d) && !d->rc && !window_widen(d->w, NULL))
        read_head(d);
    if (!read_tail(d) && !d->rc && !d->w->wide && !window_widen(d->w, NULL))
        read_tail(d);
    row->summary = row->first_prompt.n ? row->first_prompt : row->last_prompt;
    if (!row->summary.n)
        row->summary = row->ref.id;
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    row->flags |= (d->w->torn_tail ? SESSION_TORN : 0U) | (d->w->shrank ? SESSION_CHANGED : 0U) |
                  (window_shows_damage(d->w) ? SESSION_DAMAGED : 0U);
}

enum err_code jsonl_describe(struct window_pool *pool, const struct session_ref *ref,
                             const struct jsonl_format *format, struct session_row *row,
                             struct err *e)
{
    struct describing d = { .format = format, .row = row };
    struct scratch *scratch;
    enum err_code rc = window_pool_acquire(pool, &scratch, e);

    if (rc)
        return rc;
    d.w = &scratch->window;
    d.a = &scratch->arena;
    session_row_reset(row);
    row->ref = *ref;
    rc = window_open(d.w, AT_FDCWD, ref->path.p, WINDOW_BRIEF, e);
    if (!rc) {
        row->ref.file = d.w->file.id;
        read_windows(&d);
    } else if (rc != ERR_NOMEM && rc != ERR_NOT_FOUND) {
        row->hidden = HIDDEN_UNREADABLE;
        rc = ERR_OK;
    }
    if (!rc && (d.rc || !session_row_keep(row)))
        rc = err_nomem(e);
    window_pool_release(pool, scratch);
    return rc;
}

/* ---- the conversation ---- */

static enum err_code add_line(const struct jsonl_log *l, struct logfile *log, size_t line,
                              struct transcript *t, struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    bool torn = log->index.torn_tail && line + 1 == log->index.n, keep = true;
    struct message m = { .offset = ix->offset,
                         .length = ix->length,
                         .line = (uint32_t)line,
                         .time_ms = ix->time_ms,
                         .id = ix->id };

    if (ix->state == LINE_BLANK)
        return ERR_OK;
    enum err_code rc = l->judge(log, line, &m, &keep, e);

    if (rc || !keep || (torn && m.flags == MESSAGE_BROKEN))
        return rc;
    t->broken += (m.flags & MESSAGE_BROKEN) != 0;
    t->message[t->n++] = m;
    return ERR_OK;
}

static enum err_code build_transcript(const struct jsonl_log *l, struct logfile *log,
                                      struct transcript **out, struct err *e)
{
    const struct index *ix = &log->index;
    struct transcript *t = calloc(1, sizeof *t);
    enum err_code rc = ERR_OK;

    if (!t || !(t->path = strdup(l->path)) ||
        !(t->message = malloc((ix->n + 1) * sizeof *t->message))) {
        transcript_free(t);
        return err_nomem(e);
    }
    if (!l->empty)
        t->id = log->file.id;
    t->size = t->id.size;
    t->lines = ix->n;
    transcript_set_end(t, ix);
    for (size_t i = 0; i < ix->n && !rc; i++)
        rc = add_line(l, log, i, t, e);
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc;
}

/* tail 0: the whole file. */
static enum err_code load_bytes(const struct jsonl_log *l, size_t tail, const atomic_bool *cancel,
                                struct transcript **out, struct err *e)
{
    struct logfile log = { .file.fd = -1 };
    enum err_code rc = ERR_OK;

    if (!l->empty)
        rc = tail ? logfile_open_tail(&log, l->path, 0, l->keys, tail, e)
                  : logfile_open(&log, l->path, 0, l->keys, cancel, e);
    if (!rc)
        rc = build_transcript(l, &log, out, e);
    if (!rc && tail && !l->empty)
        (*out)->partial = log.index.n ? log.index.line[0].offset > 0 : log.file.id.size > 0;
    if (log.file.fd >= 0)
        logfile_close(&log);
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code jsonl_load(const struct jsonl_log *l, const atomic_bool *cancel,
                         struct transcript **out, struct err *e)
{
    return load_bytes(l, 0, cancel, out, e);
}

enum err_code jsonl_tail(const struct jsonl_log *l, size_t bytes, struct transcript **out,
                         struct err *e)
{
    enum { GROWS = 16 };
    size_t want = bytes ? bytes : 1, most = want < SIZE_MAX / GROWS ? want * GROWS : want;

    for (;;) {
        struct transcript *t;
        enum err_code rc = load_bytes(l, want, NULL, &t, e);

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

enum err_code jsonl_each_row(const char *path, const struct index_keys *keys,
                             const atomic_bool *cancel, jsonl_row_fn *fn, void *arg, struct err *e)
{
    struct logfile log;
    struct slice row;
    bool stop = false;
    enum err_code rc = logfile_open(&log, path, 0, keys, cancel, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && !stop && i < log.index.n; i++) {
        if (log.index.line[i].state == LINE_BLANK)
            continue;
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, path, "read messages");
        if (!rc)
            rc = logfile_row(&log, i, &row, e);
        if (!rc)
            rc = fn(row, arg, &stop, e);
    }
    logfile_close(&log);
    return rc;
}

struct jsonl_page jsonl_page_of(const struct message_query *q, json_fn *fn, void *arg)
{
    return (struct jsonl_page){ .skip = q->offset,
                                .left = q->has_limit && q->limit > 0 ? q->limit : -1,
                                .fn = fn,
                                .arg = arg };
}

enum err_code jsonl_page_put(struct jsonl_page *p, struct slice json, struct err *e)
{
    if (p->skip > 0) {
        p->skip--;
        return ERR_OK;
    }
    if (p->left == 0) {
        p->full = true;
        return ERR_CANCELLED;
    }
    p->left -= p->left > 0;
    return p->fn(json, p->arg, e);
}
