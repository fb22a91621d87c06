#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/append_journal.h"
#include "store/log/lease.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/entry.h"
#include "store/systems/goat/metadata.h"

/* A new session as the shipped package writes it: its directory and its metadata (goat.md B5),
 * which comes last, so that no program sees an incomplete session. An id that exists is refused;
 * the host would overwrite it. The dialect is that of the store's other sessions. */

enum { DIRECTORY_MODE = 0755, FILE_MODE = 0644 };

/* /Users/foo/bar becomes Users-foo-bar. */
static const char *project_name(const char *cwd, struct arena *a)
{
    char *name;

    while (*cwd == '/')
        cwd++;
    name = arena_format(a, "%s", *cwd ? cwd : "root");
    for (char *p = name; p && *p; p++)
        if (*p == '/')
            *p = '-';
    return name;
}

const char *goat_base_for(enum goat_path_kind place, const char *path, const char *cwd,
                          struct arena *a)
{
    const char *project = project_name(cwd, a);

    if (!project)
        return NULL;
    switch (place) {
    case GOAT_CONFIG: return arena_format(a, "%s/projects/%s/sessions", path, project);
    case GOAT_PROJECTS: return arena_format(a, "%s/%s/sessions", path, project);
    case GOAT_PROJECT: return arena_format(a, "%s/sessions", path);
    case GOAT_SESSIONS: break;
    }
    return arena_format(a, "%s", path);
}

enum err_code goat_make(const struct store_env *env, const char *path, struct err *e)
{
    struct arena a = { 0 };
    char *full = NULL;
    enum err_code rc = config_dir_named(env, path, &full, e);

    if (!rc) {
        const char *dir = path ? full : goat_base_for(GOAT_CONFIG, full, env->cwd, &a);

        rc = dir ? disk_make_dir(dir, DIRECTORY_MODE, e) : err_nomem(e);
    }
    free(full);
    arena_fini(&a);
    return rc;
}

/* ---- the metadata ---- */

static enum err_code add_text_edit(struct goat_edit edit[], size_t *n, enum goat_field field,
                                   struct slice text, struct arena *a)
{
    struct buf value = { 0 };
    enum err_code rc = text.n || field == GOAT_MODEL ? go_json_text(&value, text) : ERR_OK;
    struct slice kept = { NULL, 0 };

    if (!rc && value.n) {
        kept = arena_copy(a, buf_slice(&value));
        rc = kept.p ? ERR_OK : ERR_NOMEM;
    }
    buf_fini(&value);
    edit[(*n)++] = (struct goat_edit){ field, kept, NULL };
    return rc;
}

/* The form of the store's sessions, which a new one takes. */
struct manner {
    enum goat_dialect dialect;
    struct slice hash; /* of the project, as a JSON value; in the arena */
    const char *base;  /* where the new session belongs */
    struct arena *a;
    int64_t newest_ns;
    bool near; /* found in a session of the same base */
    bool failed;
};

static void look_at_session(struct manner *m, int dirfd, const char *name, bool near)
{
    char path[NAME_MAX + sizeof GOAT_METADATA + 1];
    struct goat_metadata found;
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", name, GOAT_METADATA);
    if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) ||
        (m->near == near && time_ns(st.st_mtim) <= m->newest_ns))
        return;
    if (goat_metadata_read(dirfd, path, m->a, &found)) {
        m->failed = true;
    } else if (!found.why) {
        m->newest_ns = time_ns(st.st_mtim);
        m->dialect = found.dialect;
        m->near = near;
        if (found.raw[GOAT_HASH].n && near)
            m->hash = arena_copy(m->a, found.raw[GOAT_HASH]);
        m->failed |= found.raw[GOAT_HASH].n && near && !m->hash.p;
    }
}

/* Reads the form of the newest session; one of the same project is preferred. */
static bool look_at_base(const char *sessions, struct slice folder, void *arg)
{
    struct manner *m = arg;
    bool near = strcmp(sessions, m->base) == 0;
    DIR *dir = m->near && !near ? NULL : opendir(sessions);
    const struct dirent *d;

    (void)folder;
    while (dir && (d = readdir(dir)))
        if (goat_is_id(slice_of(d->d_name)))
            look_at_session(m, dirfd(dir), d->d_name, near);
    if (dir)
        closedir(dir);
    return !m->failed;
}

static enum err_code first_metadata(const struct host_create *req, struct slice id, int64_t now_ms,
                                    const struct manner *m, struct buf *out)
{
    const struct goat_metadata nothing = { .object = SLICE("{}"), .dialect = m->dialect };
    struct goat_edit edit[GOAT_FIELDS];
    struct buf now = { 0 };
    size_t n = 0;
    enum err_code rc = go_json_time(&now, now_ms * 1000000);

    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_ID, id, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_CWD, req->cwd, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_MODEL, req->model, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_PARENT, req->parent, m->a);
    if (!rc)
        rc = add_text_edit(edit, &n, GOAT_TITLE, req->title, m->a);
    if (!rc)
        edit[n - 1].key = "leaf_title"; /* the key that a rename writes, in every dialect */
    edit[n++] = (struct goat_edit){ GOAT_HASH, m->hash, NULL };
    edit[n++] = (struct goat_edit){ GOAT_CREATED, buf_slice(&now), NULL };
    edit[n++] = (struct goat_edit){ GOAT_UPDATED, buf_slice(&now), NULL };
    edit[n++] = (struct goat_edit){ GOAT_MESSAGES, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_TURNS, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_TOKENS, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ GOAT_COST, SLICE("0"), NULL };
    edit[n++] = (struct goat_edit){ .field = GOAT_EXIT };
    edit[n++] = (struct goat_edit){ .field = GOAT_AGENT };
    if (!rc)
        rc = goat_metadata_edit(&nothing, edit, n, m->a, out);
    buf_fini(&now);
    return rc;
}

/* ---- the directory ---- */

static enum err_code check_new(const struct store *st, struct slice id, struct arena *a,
                               struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_ref ref;
    enum err_code rc = goat_find(st, &everywhere, id, a, &ref, e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    return rc ? rc : err_set(e, ERR_STALE, ref.path.p, "create: a session with this id exists");
}

/* A crash leaves an empty directory, or one with a temporary file of ours if the file system has no
 * unnamed files. The session exists only once its metadata has a name, and an id is used once. */
static enum err_code put_metadata(const char *dir, struct slice metadata, struct err *e)
{
    disk_new_sweep(dir);
    return disk_create_file(dir, GOAT_METADATA, metadata, FILE_MODE, e);
}

/* Returns true for anything except temporary files of ours. */
static int is_other(const struct dirent *d)
{
    return d->d_name[0] != '.' || (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
                                   !disk_is_temp(d->d_name));
}

static enum err_code require_empty(const char *dir, struct err *e)
{
    struct dirent **names;
    int n = scandir(dir, &names, is_other, NULL);

    if (n < 0)
        return err_sys(e, dir, "create");
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return n ? err_set(e, ERR_STALE, dir, "create: something is there already") : ERR_OK;
}

static enum err_code make_session(const char *base, const char *dir, struct slice metadata,
                                  struct err *e)
{
    enum err_code rc = disk_make_dir(base, DIRECTORY_MODE, e);

    if (rc)
        return rc;
    if (mkdir(dir, DIRECTORY_MODE))
        rc = errno == EEXIST ? require_empty(dir, e) : err_sys(e, dir, "create");
    if (rc)
        return rc;
    /* The directory's name is synced first: once the metadata is there, nothing can fail any
     * more. */
    rc = disk_sync_dir(base, e);
    if (!rc)
        rc = put_metadata(dir, metadata, e);
    if (!rc)
        return ERR_OK;
    if (rmdir(dir))
        errno = 0; /* the earlier failure is reported */
    return rc;
}

enum err_code goat_create(const struct store *st, const struct host_create *req, struct arena *a,
                          struct host_created *out, struct err *e)
{
    const struct goat *g = goat_of(st);
    char drawn[HOST_ID];
    struct buf metadata = { 0 };
    struct host_created made = { .id = req->id };

    host_generate_id(drawn);
    if (!made.id.n)
        made.id = (struct slice){ drawn, HOST_ID - 1 };
    if (!goat_is_id(made.id))
        return err_set(e, ERR_USAGE, "", "create: not a Go session id");
    made.id = arena_copy(a, made.id);
    const char *cwd = arena_copy(a, req->cwd).p;
    const char *base = cwd ? goat_base_for(g->place, st->path, cwd, a) : NULL;

    struct manner m = { .dialect = GOAT_SHIPPED, .base = base, .a = a, .newest_ns = INT64_MIN };

    made.path.p = base && made.id.p ? arena_format(a, "%s/%s", base, made.id.p) : NULL;
    if (made.path.p)
        goat_each_base(g, look_at_base, &m);
    if (!goat_key(m.dialect, GOAT_PARENT) && req->parent.n)
        made.unsaved |= HOST_PARENT;
    if (!made.path.p || m.failed ||
        first_metadata(req, made.id, env_now_ms(st->env), &m, &metadata)) {
        buf_fini(&metadata);
        return err_nomem(e);
    }
    made.path.n = strlen(made.path.p);
    enum err_code rc = check_new(st, made.id, a, e);

    if (!rc)
        rc = make_session(base, made.path.p, buf_slice(&metadata), e);
    buf_fini(&metadata);
    if (!rc)
        *out = made;
    return rc;
}

/* Rows of a host, in the dialect of the session (entry.h). Hosts hold their lock only while they
 * write, and so do we; the log itself is only ever appended to, because a running host keeps it
 * open (goat.md B5). */

struct appending {
    const struct store_env *env;
    const struct session_ref *ref;
    struct arena *a;
    bool flat, stream;
    struct slice now; /* as a JSON value */
};

static enum err_code draw_id(struct appending *w, struct slice *raw)
{
    char id[HOST_ID];
    char *text;

    host_generate_id(id);
    text = arena_format(w->a, "\"%s\"", id);
    *raw = (struct slice){ text, text ? HOST_ID + 1 : 0 };
    return text ? ERR_OK : ERR_NOMEM;
}

static enum err_code write_host_row(struct slice row, struct append_rows_item *made,
                                    struct buf *out, void *arg, struct err *e)
{
    struct appending *w = arg;
    bool stream = w->stream;
    struct goat_entry entry;
    size_t before = out->n;
    enum err_code rc = ERR_OK;

    goat_entry_read(row, &entry);
    rc = goat_hostrow_check(&entry, stream, e);
    if (rc)
        return rc;
    struct slice time = json_type(entry.timestamp) == JSON_STRING ? entry.timestamp : w->now;

    made->drawn = json_type(entry.uuid) != JSON_STRING || json_string_is(entry.uuid, "");
    if (made->drawn)
        rc = draw_id(w, &entry.uuid);
    if (!rc)
        rc = stream ? goat_hostrow_event(row, &entry, w->ref->id, out)
                    : goat_hostrow_message(row, &entry, w->flat, time, out);
    if (rc || !json_text(entry.uuid, w->a, &made->id) || !(made->id = arena_copy(w->a, made->id)).p)
        return err_nomem(e);
    return out->n - before > GOAT_LINE_MAX
               ? err_set(e, ERR_USAGE, "",
                         "append: a row of more than 10 MiB: the agent could not load the "
                         "session any more")
               : ERR_OK;
}

/* Makes the log if it does not exist. */
static enum err_code make_log(const char *path, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);

    if (fd < 0)
        return errno == ELOOP ? err_set(e, ERR_UNSAFE, path, "append: it is a link")
                              : err_sys(e, path, "append");
    close(fd);
    return ERR_OK;
}

static enum err_code write_rows(struct appending *w, struct append_rows *rows,
                                struct host_appended *out, struct err *e)
{
    const char *name = w->stream ? GOAT_TRANSCRIPT_LOG : GOAT_MESSAGES_LOG;
    const char *path = goat_path(w->ref, name, w->a), *dir = goat_path(w->ref, "", w->a);
    const char *lock = path ? arena_format(w->a, "%s" GOAT_LOCK_SUFFIX, path) : NULL;
    int held = -1;

    if (!lock || !dir)
        return err_nomem(e);
    enum err_code rc = log_lock_acquire(lock, &held, e);

    if (!rc && access(path, F_OK) && !(rc = make_log(path, e)))
        rc = disk_sync_dir(dir, e);
    if (!rc)
        rc = append_rows_write(w->env, path, rows, w->a, out, e);
    log_lock_release(held);
    return rc;
}

enum err_code goat_append(const struct store *st, const struct session_ref *ref,
                          const struct host_append *req, struct arena *a, struct host_appended *out,
                          struct err *e)
{
    struct appending w = { .env = st->env, .ref = ref, .a = a, .stream = req->transcript };
    struct append_rows rows = { .n = 0 };
    struct goat_document d;
    struct buf now = { 0 };
    enum err_code rc = goat_document_open(ref, &d, e);

    if (rc)
        return rc;
    w.flat = goat_dialects[d.m.dialect].flat;
    goat_document_close(&d);
    if (go_json_time(&now, env_now_ms(st->env) * 1000000))
        rc = err_nomem(e);
    w.now = buf_slice(&now);
    if (!rc)
        rc = append_rows_make(&rows, req, write_host_row, &w, a, e);
    if (!rc)
        rc = write_rows(&w, &rows, out, e);
    buf_fini(&rows.lines);
    buf_fini(&now);
    return rc;
}

/* A host's update of the metadata: read, changed and replaced under the lock, at once. */

/* The names of `reprise set`, and the keys of the formats. */
static const struct setting_name {
    const char *name;
    enum goat_field field;
    const char *anyway; /* the key if the dialect has no name for it; NULL: refused there */
} settings[] = {
    { "title", GOAT_TITLE, "leaf_title" },
    { "leaf_title", GOAT_TITLE, "leaf_title" },
    { "model", GOAT_MODEL, NULL },
    { "cwd", GOAT_CWD, NULL },
    { "parent", GOAT_PARENT, "parent_session_id" },
    { "parent_id", GOAT_PARENT, NULL },
    { "parent_session_id", GOAT_PARENT, NULL },
    { "exitReason", GOAT_EXIT, NULL },
    { "exit_reason", GOAT_EXIT, NULL },
    { "agentName", GOAT_AGENT, NULL },
    { "agent_name", GOAT_AGENT, NULL },
    { "project_hash", GOAT_HASH, NULL },
    { "messageCount", GOAT_MESSAGES, NULL },
    { "message_count", GOAT_MESSAGES, NULL },
    { "turnCount", GOAT_TURNS, NULL },
    { "turn_count", GOAT_TURNS, NULL },
    { "totalTokens", GOAT_TOKENS, NULL },
    { "total_tokens", GOAT_TOKENS, NULL },
    { "totalCostUsd", GOAT_COST, NULL },
    { "total_cost_usd", GOAT_COST, NULL },
};

/* A number as Go reads it into a float64: a larger one would hide the whole session. */
static bool read_float(struct slice value, struct arena *a, double *out)
{
    struct slice text = arena_copy(a, value);

    if (!text.p || json_type(value) != JSON_NUMBER || !json_valid(value))
        return false;
    *out = strtod(text.p, NULL);
    return isfinite(*out);
}

static enum err_code write_number(struct slice value, bool whole, struct arena *a, struct buf *out)
{
    double size;
    int64_t n;

    if (!whole && read_float(value, a, &size))
        return go_json_float(out, size);
    if (whole && json_type(value) == JSON_NUMBER && json_valid(value) && json_int(value, &n))
        return buf_addf(out, "%" PRId64, n);
    return ERR_USAGE;
}

static enum err_code take_number(const struct host_setting *s, bool whole, struct arena *a,
                                 struct goat_edit *edit, struct err *e)
{
    struct buf text = { 0 };
    enum err_code rc = write_number(s->value.n ? s->value : SLICE("0"), whole, a, &text);

    if (rc == ERR_USAGE)
        return err_set(e, ERR_USAGE, "", "set: %.*s is a %s", SLICE_ARG(s->key),
                       whole ? "whole number" : "number");
    if (!rc && !(edit->value = arena_copy(a, buf_slice(&text))).p)
        rc = ERR_NOMEM;
    buf_fini(&text);
    return rc ? err_nomem(e) : ERR_OK;
}

static enum err_code take_text(const struct host_setting *s, struct arena *a,
                               struct goat_edit *edit, struct err *e)
{
    struct buf value = { 0 };
    enum err_code rc = s->value.n ? go_json_text(&value, s->value) : ERR_OK;

    if (!rc && value.n) {
        edit->value = arena_copy(a, buf_slice(&value));
        rc = edit->value.p ? ERR_OK : ERR_NOMEM;
    }
    buf_fini(&value);
    return rc ? err_nomem(e) : ERR_OK;
}

static enum err_code edit_of_setting(const struct goat_document *d, const struct host_setting *s,
                                     struct arena *a, struct goat_edit *edit, struct err *e)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        enum goat_field field = settings[i].field;
        enum goat_form form = goat_form(field);

        if (!slice_eq(s->key, slice_of(settings[i].name)))
            continue;
        *edit = (struct goat_edit){ .field = field };
        if (!goat_key(d->m.dialect, field))
            edit->key = settings[i].anyway;
        if (!goat_key(d->m.dialect, field) && !edit->key)
            break;
        return form == GOAT_TEXT ? take_text(s, a, edit, e)
                                 : take_number(s, form == GOAT_INT, a, edit, e);
    }
    return err_set(e, ERR_USAGE, "", "set: sessions of the %s dialect have no setting %.*s",
                   goat_dialects[d->m.dialect].name, SLICE_ARG(s->key));
}

static enum err_code write_document(const char *dir, const struct goat_document *d,
                                    const struct goat_edit edit[], size_t n, struct arena *a,
                                    struct err *e)
{
    struct buf now = { 0 };
    struct stat st;

    if (stat(d->path, &st))
        return err_sys(e, d->path, "set");
    disk_new_sweep(dir); /* temporary files that a crash left */
    enum err_code rc = goat_metadata_edit(&d->m, edit, n, a, &now);

    rc = rc ? err_nomem(e)
            : disk_replace_file(dir, GOAT_METADATA, buf_slice(&now), st.st_mode & 07777, e);
    buf_fini(&now);
    return rc;
}

static enum err_code set_all(const struct store *st, const struct session_ref *ref,
                             const struct host_setting *setting, size_t n, struct arena *a,
                             struct err *e)
{
    struct goat_document d;
    struct goat_edit *edit = arena_zalloc(a, (n + 1) * sizeof *edit);
    struct buf now = { 0 };
    const char *dir = goat_path(ref, "", a);
    enum err_code rc = goat_document_open(ref, &d, e);

    if (rc)
        return rc;
    if (!edit || !dir || go_json_time(&now, env_now_ms(st->env) * 1000000))
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = edit_of_setting(&d, &setting[i], a, &edit[i], e);
    if (!rc) { /* skipped if the dialect has no such time */
        edit[n] = (struct goat_edit){ GOAT_UPDATED, buf_slice(&now), NULL };
        rc = write_document(dir, &d, edit, n + 1, a, e);
    }
    buf_fini(&now);
    goat_document_close(&d);
    return rc;
}

enum err_code goat_set(const struct store *st, const struct session_ref *ref,
                       const struct host_setting *setting, size_t n, struct err *e)
{
    struct arena a = { 0 };
    int held = -1;
    const char *lock = goat_lock_path(ref, &a);
    enum err_code rc = lock ? log_lock_acquire(lock, &held, e) : err_nomem(e);

    if (!rc)
        rc = set_all(st, ref, setting, n, &a, e);
    log_lock_release(held);
    arena_fini(&a);
    return rc;
}
