#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/append_journal.h"
#include "store/log/lease.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/metadata.h"

/* A new session as the shipped package writes it: its directory and its metadata (goat.md B5),
 * which comes last, so that no program sees an incomplete session. An id that exists is refused;
 * the host would overwrite it. The dialect is that of the store's other sessions. */

enum { DIRECTORY_MODE = 0755, FILE_MODE = 0644 };

const char *goat_base_for(enum goat_path_kind place, const char *path, const char *cwd,
                          struct arena *a)
{
    /* /Users/foo/bar becomes Users-foo-bar. */
    while (*cwd == '/')
        cwd++;
    char *project = arena_format(a, "%s", *cwd ? cwd : "root");

    if (!project)
        return NULL;
    for (char *p = project; *p; p++)
        if (*p == '/')
            *p = '-';
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
    AUTO_ARENA a = { 0 };
    AUTO_FREE char *full = NULL;

    TRY(config_dir_named(env, path, &full, e));

    const char *dir = path ? full : goat_base_for(GOAT_CONFIG, full, env->cwd, &a);

    return dir ? disk_make_dir(dir, DIRECTORY_MODE, e) : err_nomem(e);
}

/* ---- the metadata ---- */

static enum err_code add_text_edit(struct goat_edit edit[], size_t *n, enum goat_field field,
                                   struct slice text, struct arena *a)
{
    AUTO_BUF value = { 0 };
    struct slice kept = { NULL, 0 };

    if (text.n || field == GOAT_MODEL)
        TRY(go_json_text(&value, text));
    if (value.n && !(kept = arena_copy(a, buf_slice(&value))).p)
        return ERR_NOMEM;
    edit[(*n)++] = (struct goat_edit){ field, kept, NULL };
    return ERR_OK;
}

/* The form of the store's sessions, which a new one takes. */
struct manner {
    enum goat_dialect dialect;
    struct slice hash; /* the hash of the project, as a JSON value; in the arena */
    const char *base;  /* where the new session belongs */
    struct arena *a;
    int64_t newest_ns;
    bool near; /* found in a session of the same base */
    bool failed;
};

static void goat_look_at_session(struct manner *m, int dirfd, const char *name, bool near)
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
            goat_look_at_session(m, dirfd(dir), d->d_name, near);
    if (dir)
        closedir(dir);
    return !m->failed;
}

static enum err_code first_metadata(const struct host_create *req, struct slice id, int64_t now_ms,
                                    const struct manner *m, struct buf *out)
{
    const struct goat_metadata nothing = { .object = SLICE("{}"), .dialect = m->dialect };
    struct goat_edit edit[GOAT_FIELDS];
    AUTO_BUF now = { 0 };
    size_t n = 0;

    TRY(go_json_time(&now, now_ms * 1000000));
    TRY(add_text_edit(edit, &n, GOAT_ID, id, m->a));
    TRY(add_text_edit(edit, &n, GOAT_CWD, req->cwd, m->a));
    TRY(add_text_edit(edit, &n, GOAT_MODEL, req->model, m->a));
    TRY(add_text_edit(edit, &n, GOAT_PARENT, req->parent, m->a));
    TRY(add_text_edit(edit, &n, GOAT_TITLE, req->title, m->a));
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
    return goat_metadata_edit(&nothing, edit, n, m->a, out);
}

/* ---- the directory ---- */

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
    return n ? err_set(e, ERR_STALE, dir, "create: a file or directory already exists there")
             : ERR_OK;
}

static enum err_code make_session(const char *base, const char *dir, struct slice metadata,
                                  struct err *e)
{
    TRY(disk_make_dir(base, DIRECTORY_MODE, e));
    if (mkdir(dir, DIRECTORY_MODE))
        TRY(errno == EEXIST ? require_empty(dir, e) : err_sys(e, dir, "create"));
    /* The directory's name is synced first, so that nothing can fail once the metadata exists. */
    enum err_code rc = disk_sync_dir(base, e);

    if (!rc) {
        /* A crash leaves an empty directory, or one with a temporary file of ours if the file
         * system has no unnamed files. The session exists only once its metadata has a name, and
         * an id is used once. */
        disk_new_sweep(dir);
        rc = disk_create_file(dir, GOAT_METADATA, metadata, FILE_MODE, e);
    }
    if (rc && rmdir(dir))
        errno = 0; /* the earlier failure is reported */
    return rc;
}

enum err_code goat_create(const struct store *st, const struct host_create *req, struct arena *a,
                          struct host_created *out, struct err *e)
{
    const struct goat *g = goat_of(st);
    char drawn[HOST_ID];
    AUTO_BUF metadata = { 0 };
    struct host_created made = { .id = req->id };

    host_generate_id(drawn);
    if (!made.id.n)
        made.id = (struct slice){ drawn, HOST_ID - 1 };
    if (!goat_is_id(made.id))
        return err_set(e, ERR_USAGE, "", "create: not a Go session id");
    if (req->dialect.n && goat_dialect_named(req->dialect) == GOAT_DIALECTS)
        return err_set(e, ERR_USAGE, "--dialect",
                       "create: the dialect must be shipped, spec or doc");
    made.id = arena_copy(a, made.id);
    const char *cwd = arena_copy(a, req->cwd).p;
    const char *base = cwd ? goat_base_for(g->place, st->path, cwd, a) : NULL;

    struct manner m = { .dialect = GOAT_SHIPPED, .base = base, .a = a, .newest_ns = INT64_MIN };

    NEED(base && made.id.p);
    NEED(made.path.p = arena_format(a, "%s/%s", base, made.id.p));
    made.path.n = strlen(made.path.p);

    /* A new session looks like the newest one there is, preferably of the same directory. */
    goat_each_base(g, look_at_base, &m);
    if (req->dialect.n)
        m.dialect = goat_dialect_named(req->dialect);
    if (!goat_key(m.dialect, GOAT_PARENT) && req->parent.n)
        made.unsaved |= HOST_PARENT;
    NEED(!m.failed && !first_metadata(req, made.id, env_now_ms(st->env), &m, &metadata));
    TRY(host_id_is_new(st, made.id, a, "create", e));
    TRY(make_session(base, made.path.p, buf_slice(&metadata), e));
    *out = made;
    return ERR_OK;
}

/* Rows of a host, in the dialect of the session (entry.c). Hosts hold their lock only while they
 * write, and so do we; the log itself is only ever appended to, because a running host keeps it
 * open (goat.md B5). */

struct appending {
    const struct store_env *env;
    const struct session_ref *ref;
    struct arena *a;
    bool flat, stream;
    struct slice now; /* as a JSON value */
};

/* An entry has raw JSON values, so a drawn id is quoted. */
static bool draw_entry_uuid(struct goat_entry *entry, struct arena *a)
{
    char id[HOST_ID];

    host_generate_id(id);
    const char *text = arena_format(a, "\"%s\"", id);

    entry->uuid = (struct slice){ text, text ? HOST_ID + 1 : 0 };
    return text != NULL;
}

static enum err_code write_host_row(struct slice row, struct append_rows_item *made,
                                    struct buf *out, void *arg, struct err *e)
{
    struct appending *w = arg;
    bool stream = w->stream;
    struct goat_entry entry;
    size_t before = out->n;

    goat_entry_read(row, &entry);
    TRY(goat_hostrow_check(&entry, stream, e));
    struct slice time = json_type(entry.timestamp) == JSON_STRING ? entry.timestamp : w->now;

    made->drawn = json_type(entry.uuid) != JSON_STRING || json_string_is(entry.uuid, "");
    if (made->drawn)
        NEED(draw_entry_uuid(&entry, w->a));
    if ((stream ? goat_hostrow_event(row, &entry, w->ref->id, out)
                : goat_hostrow_message(row, &entry, w->flat, time, out)) ||
        !json_text(entry.uuid, w->a, &made->id) || !(made->id = arena_copy(w->a, made->id)).p)
        return err_nomem(e);
    return out->n - before > GOAT_LINE_MAX
               ? err_set(
                     e, ERR_USAGE, "",
                     "append: the row is longer than 10 MiB: the agent could no longer load the "
                     "session")
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

static enum err_code goat_write_rows(struct appending *w, struct append_rows *rows,
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

/* ---- a row and the metadata together ---- */

/* Counts the messages: the number in the metadata is not trusted (goat.md B1). */
static enum err_code goat_count_messages(const struct appending *w, int64_t *count, struct err *e)
{
    struct session_ref ref = *w->ref;
    const char *path = goat_path(w->ref, GOAT_MESSAGES_LOG, w->a);
    CLEANUP(goat_log_close) struct goat_log log = { .none = true };

    NEED(path);
    ref.path = slice_of(path);
    *count = 0;
    TRY(goat_log_open(&log, &ref, NULL, e));
    for (size_t i = 0; i < log.file.index.n; i++) {
        enum goat_line_kind kind;
        enum message_kind message;

        TRY(goat_log_kind(&log.file, i, &kind, &message, e));
        *count += kind == GOAT_LINE_MESSAGE;
    }
    return ERR_OK;
}

static enum err_code goat_write_counts(struct appending *w, struct err *e)
{
    const char *dir = goat_path(w->ref, "", w->a), *text;
    CLEANUP(goat_document_close) struct goat_document d = { .path = NULL };
    int64_t count;

    TRY(goat_count_messages(w, &count, e));
    TRY(goat_document_open(w->ref, &d, e));
    NEED(dir);
    NEED(text = arena_format(w->a, "%" PRId64, count));

    /* Both are skipped in a dialect that has no such members. */
    const struct goat_edit edit[] = { { GOAT_MESSAGES, slice_of(text), NULL },
                                      { GOAT_UPDATED, w->now, NULL } };

    return goat_document_write(dir, &d, edit, 2, w->a, e);
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
        rc = goat_write_rows(&w, &rows, out, e);
    if (!rc && req->save && !req->transcript) {
        /* The row is in the log first: if this fails or is killed, the counts are old, as they are after every plain
         * append. */
        const char *lock = goat_lock_path(w.ref, w.a);
        int held = -1;

        rc = lock ? log_lock_acquire(lock, &held, e) : err_nomem(e);
        if (!rc)
            rc = goat_write_counts(&w, e);
        log_lock_release(held);
    }
    buf_fini(&rows.lines);
    buf_fini(&now);
    return rc;
}

/* A row that a host appends later: its id and its time are those of the call. */

enum err_code goat_host_row(const struct store *st, struct slice row, bool transcript,
                            struct arena *a, struct slice *complete, struct slice *id,
                            struct err *e)
{
    struct goat_entry entry;
    struct json_edit lacking[2];
    AUTO_BUF now = { 0 };
    AUTO_BUF out = { 0 };
    size_t n = 0;

    goat_entry_read(row, &entry);
    TRY(goat_hostrow_check(&entry, transcript, e));

    /* Only what the row lacks is added; all else keeps its bytes. */
    if (json_type(entry.uuid) != JSON_STRING || json_string_is(entry.uuid, "")) {
        NEED(draw_entry_uuid(&entry, a));
        lacking[n++] = (struct json_edit){ .name = "uuid", .value = entry.uuid };
    }
    if (!transcript && json_type(entry.timestamp) != JSON_STRING) {
        NEED(!go_json_time(&now, env_now_ms(st->env) * 1000000));
        lacking[n++] = (struct json_edit){ .name = "timestamp", .value = buf_slice(&now) };
    }
    NEED(!(n ? json_edit(&out, row, lacking, n) : buf_add(&out, row)));
    NEED(json_text(entry.uuid, a, id) && (*id = arena_copy(a, *id)).p);
    NEED((*complete = arena_copy(a, buf_slice(&out))).p);
    return ERR_OK;
}
