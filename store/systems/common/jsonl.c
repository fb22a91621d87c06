#include "store/systems/common/jsonl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/document.h"
#include "store/systems/common/log_head.h"
#include "store/systems/common/lost_path.h"
#include "store/systems/common/row_table.h"

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

void jsonl_store_close(struct store *st)
{
    struct jsonl_store *s = (struct jsonl_store *)st;

    jsonl_store_fini(s);
    free(s);
}

enum err_code jsonl_store_open(const struct store_ops *ops, const struct jsonl_format *format,
                               const struct store_env *env, const char *named, const char *inside,
                               struct store **out, struct err *e)
{
    struct jsonl_store *s = calloc(1, format->size ? format->size : sizeof *s);
    char *path = named ? config_dir_absolute(env, named) : jsonl_usual_path(format, env);
    enum err_code rc = ERR_OK;

    if (!s || !path) {
        bool homeless = s && !named && !env->home;

        free(s);
        free(path);
        return homeless ? err_set(e, ERR_NOT_FOUND, ops->name, "open store: HOME is not set")
                        : err_nomem(e);
    }
    *s = (struct jsonl_store){ .base = { .ops = ops, .env = env, .path = path }, .format = format };
    s->folder = config_dir_join(path, inside);
    s->pool = window_pool_new();
    if (!s->folder || !s->pool)
        rc = err_nomem(e);
    if (!rc)
        rc = config_dir_require(format->needs_folder ? s->folder : path, e);
    if (rc)
        ops->close(&s->base);
    else
        *out = &s->base;
    return rc;
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

bool jsonl_is_uuid(struct slice id)
{
    for (size_t i = 0; i < id.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? id.p[i] != '-' : !memchr("0123456789abcdef", id.p[i], 16))
            return false;
    }
    return id.n == 36;
}

bool jsonl_id_of_name(const char *name, jsonl_is_id_fn *is_id, struct slice *id)
{
    size_t n = strlen(name);

    if (n <= SUFFIX || strcmp(name + n - SUFFIX, JSONL_SUFFIX) != 0)
        return false;
    *id = (struct slice){ name, n - SUFFIX };
    return is_id(*id);
}

enum err_code jsonl_each_log(const struct store *st, const struct scope *scope, const char *folder,
                             jsonl_is_id_fn *is_id, session_ref_fn *fn, void *arg, struct err *e)
{
    struct session_ref ref = { .store = st, .folder = SLICE("") };
    struct buf path = { 0 };
    struct stat sb;
    bool more = true;
    const struct dirent *entry = NULL;
    enum err_code rc = ERR_OK;
    DIR *dir = opendir(folder);

    while (dir && !rc && more && (errno = 0, entry = readdir(dir))) {
        if (!jsonl_id_of_name(entry->d_name, is_id, &ref.id) ||
            fstatat(dirfd(dir), entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(sb.st_mode))
            continue;
        path.n = 0;
        rc = buf_addf(&path, "%s/%s", folder, entry->d_name);
        ref.path = (struct slice){ rc ? NULL : buf_cstr(&path), path.n };
        ref.file = file_id_of(&sb);
        if (ref.path.p)
            more = fn(&ref, arg);
        else
            rc = ERR_NOMEM;
    }
    if (!entry && errno)
        session_scope_left_out(scope, folder);
    if (dir)
        closedir(dir);
    buf_fini(&path);
    return rc ? err_nomem(e) : ERR_OK;
}

static bool jsonl_pass_over(const struct session_ref *ref, void *arg)
{
    (void)ref, (void)arg;
    return true;
}

enum err_code jsonl_unreadable(const struct store *st, const struct scope *scope, unreadable_fn *fn,
                               void *arg, struct err *e)
{
    struct scope reports = *scope;

    reports.left_out = fn;
    reports.left_out_arg = arg;
    return st->ops->enumerate(st, &reports, jsonl_pass_over, NULL, e);
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

enum err_code jsonl_subagent_at(const struct store *st, const struct session_ref *ref,
                                const char *folder, jsonl_is_id_fn *is_id, struct slice agent,
                                struct arena *a, struct session_ref *out, struct err *e)
{
    enum err_code rc = ERR_NOT_FOUND;

    if (a->failed)
        return err_nomem(e);
    if (folder && is_id(agent))
        rc = jsonl_ref_at(st, arena_format(a, "%s/%.*s" JSONL_SUFFIX, folder, SLICE_ARG(agent)),
                          agent, a, out, e);
    return rc == ERR_NOT_FOUND
               ? err_set(e, rc, ref->path.p,
                         "read sub-agent %.*s: no such sub-agent; see reprise subagents",
                         (int)(agent.n < 64 ? agent.n : 64), agent.p)
               : rc;
}

static bool jsonl_is_in_scope(const struct jsonl_store *s, const struct scope *scope)
{
    return !s->format->in_scope || s->format->in_scope(&s->base, scope);
}

enum err_code jsonl_enumerate(const struct store *st, const struct scope *scope, session_ref_fn *fn,
                              void *arg, struct err *e)
{
    const struct jsonl_store *s = jsonl_of(st);

    return jsonl_is_in_scope(s, scope)
               ? jsonl_each_log(st, scope, s->folder, s->format->is_id, fn, arg, e)
               : ERR_OK;
}

enum err_code jsonl_find(const struct store *st, const struct scope *scope, struct slice id,
                         struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct jsonl_store *s = jsonl_of(st);

    if (!s->format->is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not %s", s->format->id_name);
    if (!jsonl_is_in_scope(s, scope))
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

/* ---- the conversation ---- */

/* A conversation that is being loaded. */
struct loading {
    const struct jsonl_format *format;
    const char *path;
    bool empty; /* the session has no log */
    struct logfile log;
    bool all; /* also lines that are not part of the conversation */
};

static enum err_code jsonl_add_line(struct loading *l, size_t line, struct transcript *t,
                                    struct err *e)
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
    enum err_code rc = l->format->rows ? row_table_judge(l->format, &l->log, line, &m, &keep, e)
                                       : l->format->judge(&l->log, line, &m, &keep, e);

    if (rc || !keep || (torn && m.flags == MESSAGE_BROKEN))
        return rc;
    t->broken += (m.flags & MESSAGE_BROKEN) != 0;
    t->message[t->n++] = m;
    return ERR_OK;
}

static enum err_code jsonl_build_transcript(struct loading *l, struct transcript **out,
                                            struct err *e)
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

    /* Without a choice, all lines are shown. */
    AUTO_FREE bool *shown = NULL;
    enum err_code rc = ERR_OK;

    if (l->format->choose && !l->all) {
        shown = calloc(ix->n + 1, sizeof *shown);
        rc = shown ? l->format->choose(&l->log, shown, e) : err_nomem(e);
    }

    for (size_t i = 0; i < l->log.index.n && !rc; i++)
        if (!shown || shown[i])
            rc = jsonl_add_line(l, i, t, e);

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
    struct loading l = { .format = format,
                         .path = ref->path.p,
                         .empty = format->has_log && !format->has_log(ref),
                         .log = { .file.fd = -1 },
                         .all = all };
    struct logfile *log = &l.log;
    enum err_code rc = ERR_OK;

    if (!l.empty)
        rc = tail ? logfile_open_tail(log, l.path, 0, format->keys, tail, e)
                  : logfile_open(log, l.path, 0, format->keys, cancel, e);
    if (!rc)
        rc = jsonl_build_transcript(&l, out, e);
    if (!rc && tail && !l.empty)
        (*out)->partial = log->index.n ? log->index.line[0].offset > 0 : log->file.id.size > 0;
    if (!rc && !(*out)->partial && !all)
        lost_path_count(format, log, *out);
    logfile_close(log);
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code jsonl_load_bytes(const struct jsonl_format *format, const struct session_ref *ref,
                               struct buf *bytes, const atomic_bool *cancel,
                               struct transcript **out, struct err *e)
{
    struct loading l = { format, ref->path.p, false, { .file.fd = -1 }, false };
    struct fs_memory_file f;

    TRY(fs_memory_file_open(&f, buf_slice(bytes), e));
    enum err_code rc = logfile_open(&l.log, f.path, FILE_FOLLOW, format->keys, cancel, e);

    if (!rc) {
        l.log.path = ref->path.p;
        rc = jsonl_build_transcript(&l, out, e);
        logfile_close(&l.log);
    }
    fs_memory_file_close(&f);
    if (rc)
        return err_wrap(e, rc, "load the conversation");
    (*out)->id = ref->file; /* the file that is watched for changes */
    (*out)->bytes = *bytes;
    *bytes = (struct buf){ 0 };
    return ERR_OK;
}

static enum err_code jsonl_load_document(const struct store *st, const struct session_ref *ref,
                                         const atomic_bool *cancel, struct transcript **out,
                                         struct err *e)
{
    const struct jsonl_format *format = jsonl_of(st)->format;
    CLEANUP(document_rows_fini) struct document_rows rows = { .whole = false };
    enum err_code rc = document_rows_read(ref->path.p, format->document, DOCUMENT_MOST, &rows, e);

    return rc ? err_wrap(e, rc, "load the conversation")
              : jsonl_load_bytes(format, ref, &rows.lines, cancel, out, e);
}

enum err_code jsonl_load(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    if (jsonl_of(st)->format->document)
        return jsonl_load_document(st, ref, cancel, out, e);
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

    if (jsonl_of(st)->format->document)
        return jsonl_load_document(st, ref, cancel, out, e);
    size_t want = bytes ? bytes : 1, most = want < SIZE_MAX / GROWS ? want * GROWS : want;

    for (;;) {
        struct transcript *t;

        TRY(load_bytes(st, ref, false, want, cancel, &t, e));
        if (t->n || !t->partial || want >= most) {
            *out = t;
            return ERR_OK;
        }
        transcript_free(t);
        want = want > most / 4 ? most : want * 4;
    }
}

static enum err_code check_log(const struct store *st, const struct session_ref *ref,
                               struct slice session, const atomic_bool *cancel, finding_fn *fn,
                               void *arg, struct err *e)
{
    static const struct index_keys none = { .type = NULL };
    CLEANUP(logfile_close) struct logfile log = { .file.fd = -1 };

    TRY(logfile_open(&log, ref->path.p, 0, &none, cancel, e));
    TRY(log_damage_report(&log, st->ops->log_rules, session, fn, arg, e));
    return log_head_check(st, &log, session, fn, arg, e);
}

/* A packed log and an older one that is a document have no lines of rows. */
static bool jsonl_has_lines(const struct session_ref *ref)
{
    return ref->path.n > SUFFIX &&
           memcmp(ref->path.p + ref->path.n - SUFFIX, JSONL_SUFFIX, SUFFIX) == 0;
}

enum err_code jsonl_check(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    const struct store_ops *ops = st->ops;
    const struct jsonl_format *format = jsonl_of(st)->format;
    struct arena a = { 0 };
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = ERR_OK;

    if (jsonl_has_lines(ref) && (!format->has_log || format->has_log(ref)))
        rc = check_log(st, ref, ref->id, cancel, fn, arg, e);
    if (!rc && ops->subagents)
        rc = ops->subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++) {
        struct session_ref agent;
        struct err why = { 0 };

        rc = ops->subagent(st, ref, ids[i], &a, &agent, &why);
        if (!rc && jsonl_has_lines(&agent) && !slice_eq(agent.path, ref->path))
            rc = check_log(st, &agent, ref->id, cancel, fn, arg, &why);
        if (rc && rc != ERR_NOMEM && rc != ERR_CANCELLED)
            rc = ERR_OK; /* it was removed meanwhile, or the list of the sessions reports it */
        else if (rc && e)
            *e = why;
    }
    arena_fini(&a);
    return rc;
}

enum err_code jsonl_check_name(const char *folder, const char *name, finding_fn *fn, void *arg,
                               struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct finding f = { .kind = FINDING_UNREADABLE,
                               .path = arena_format(&a, "%s/%s", folder, name),
                               .why = "its name cannot be a session's id" };

    return f.path ? fn(&f, arg, e) : err_nomem(e);
}

enum err_code jsonl_check_report(const struct jsonl_check *k, enum finding_kind kind,
                                 const char *path, const char *why, struct err *e)
{
    const struct finding f = { .kind = kind, .session = k->ref->id, .path = path, .why = why };

    return path && why ? k->fn(&f, k->arg, e) : err_nomem(e);
}

enum err_code jsonl_check_line(const struct jsonl_check *k, enum finding_kind kind, size_t line,
                               const char *why, struct err *e)
{
    const struct finding f = { .kind = kind,
                               .session = k->ref->id,
                               .path = k->ref->path.p,
                               .line = (int64_t)line + 1,
                               .offset = k->log->index.line[line].offset,
                               .why = why,
                               .fixable = kind == FINDING_TORN_TAIL };

    return why ? k->fn(&f, k->arg, e) : err_nomem(e);
}

enum err_code jsonl_check_id(struct jsonl_check *k, size_t line, const char *why, struct err *e)
{
    struct id128 id = k->log->index.line[line].id;
    uint32_t number;

    if (k->log->index.line[line].state != LINE_OK || id128_none(id))
        return ERR_OK;
    if (idset_has(&k->ids, id))
        return jsonl_check_line(k, FINDING_DUPLICATE_ID, line, why, e);
    return idset_add(&k->ids, id, &number) ? err_nomem(e) : ERR_OK;
}

enum { PIECE = 256 * 1024 };

struct jsonl_fork jsonl_fork_to(const struct logfile *log, size_t line)
{
    const struct index *ix = &log->index;
    bool last = line + 1 == ix->n;

    return (struct jsonl_fork){ .log = log,
                                .end = last ? log->file.id.size : ix->line[line + 1].offset,
                                .newline = last && ix->torn_tail };
}

enum err_code jsonl_fork_each(const struct jsonl_fork *f, jsonl_piece_fn *fn, void *arg,
                              struct err *e)
{
    AUTO_BUF piece = { 0 };

    for (int64_t at = 0; at < f->end; at += PIECE) {
        size_t want = f->end - at < PIECE ? (size_t)(f->end - at) : PIECE;

        TRY(file_read_part(&f->log->file, at, want, &piece, e));
        if (piece.n < want)
            return err_set(e, ERR_STALE, f->log->path, "fork: the log became shorter");
        TRY(logfile_check(f->log, e));
        TRY(fn(buf_slice(&piece), arg, e));
    }
    if (f->newline)
        TRY(fn(SLICE("\n"), arg, e));
    return ERR_OK;
}

enum err_code jsonl_fork_write(const struct jsonl_fork *f, const char *dir, const char *name,
                               struct err *e)
{
    struct disk_new to;

    TRY(disk_new_open(dir, 0644, &to, e));
    enum err_code rc = jsonl_fork_each(f, disk_new_write, &to, e);

    if (!rc)
        return disk_new_publish(&to, name, e);
    disk_new_discard(&to);
    return rc;
}
