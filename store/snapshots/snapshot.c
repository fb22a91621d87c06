#include "store/snapshots/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/fs/span.h"
#include "store/git/gitfiles.h"
#include "store/snapshots/snapshot_walk.h"

enum {
    KEY_HEX = 32,
    LOG_MAX = 256 << 20,
    LOCK_NAP_MS = 5,
    FILE_BYTES = 8 << 20,
    FILES = 500000,
};
#define SNAPSHOT_BYTES ((int64_t)1 << 30)

static const char *const kind_words[SNAPSHOT_KINDS] = { "prompt", "end", "interrupt" };

/* ---- the project ---- */

/* Finds the directory whose files belong together: the work tree around cwd, if it is this user's, else cwd itself. */
static enum err_code find_snapshot_project(const struct store_env *env, const char *cwd,
                                           struct arena *a, const char **root, struct err *e)
{
    const char *real = path_real(cwd, a);
    const char *home = env->home ? path_real(env->home, a) : "/";
    struct stat st;

    NEED(real && home);
    *root = real;
    for (size_t n = strlen(real); n > 1;) {
        char git[PATH_MAX];

        /* No directory has a longer path; a damaged log names one of megabytes. */
        if (n + sizeof "/.git" <= sizeof git) {
            snprintf(git, sizeof git, "%.*s/.git", (int)n, real);
            if (lstat(git, &st) == 0 && st.st_uid == geteuid()) {
                NEED(*root = arena_format(a, "%.*s", (int)n, real));
                break;
            }
        }
        while (n > 1 && real[n - 1] != '/')
            n--;
        n -= n > 1;
    }
    if (path_under(slice_of("/"), slice_of(*root)) || path_under(slice_of(home), slice_of(*root)))
        return err_set(e, ERR_UNSUPPORTED, *root,
                       "snapshot: this is not the directory of a project");
    return ERR_OK;
}

static enum err_code project_dir(const struct store_env *env, const char *root, struct arena *a,
                                 const char **dir, struct err *e)
{
    char hex[SHA256_BYTES * 2 + 1];
    uint8_t sha256[SHA256_BYTES];
    CLEANUP(hasher_fini) struct hasher h = { 0 };

    if (!env->state_dir)
        return err_set(e, ERR_NOT_FOUND, NULL,
                       "snapshot: there is no home, so no place for copies");
    TRY(hasher_bytes(&h, slice_of(root), sha256, e));
    hasher_hex(sha256, hex);
    NEED(*dir = arena_format(a, "%s/" SNAPSHOT_COPIES "/%.*s", env->state_dir, KEY_HEX, hex));
    return ERR_OK;
}

enum err_code snapshot_dir_of(const struct store_env *env, const char *cwd, struct arena *a,
                              const char **dir, struct err *e)
{
    const char *root;

    TRY(find_snapshot_project(env, cwd, a, &root, e));
    return project_dir(env, root, a, dir, e);
}

void snapshot_prompt_hash(struct slice prompt, char hex[SNAPSHOT_PROMPT_HEX + 1])
{
    CLEANUP(hasher_fini) struct hasher h = { 0 };
    char all[SHA256_BYTES * 2 + 1];
    uint8_t sha256[SHA256_BYTES];

    while (prompt.n && memchr(" \t\r\n", prompt.p[0], 4))
        prompt = (struct slice){ prompt.p + 1, prompt.n - 1 };
    while (prompt.n && memchr(" \t\r\n", prompt.p[prompt.n - 1], 4))
        prompt.n--;
    hex[0] = '\0';
    if (!prompt.n || hasher_bytes(&h, prompt, sha256, NULL))
        return;
    hasher_hex(sha256, all);
    snprintf(hex, SNAPSHOT_PROMPT_HEX + 1, "%.*s", SNAPSHOT_PROMPT_HEX, all);
}

/* ---- the log ---- */

static bool read_line(struct snapshot_log *log, struct slice line, struct snapshot *s)
{
    struct arena *a = &log->arena;
    struct slice kind, value;
    int64_t version;

    if (!json_valid(line) || !json_get(line, "v", &value) || !json_int(value, &version) ||
        version != 1 || !json_get_text(line, "kind", a, &kind) || !json_get(line, "time", &value) ||
        !json_int(value, &s->time_ms) || !json_get_text(line, "agent", a, &s->agent) ||
        !json_get_text(line, "session", a, &s->session))
        return false;
    for (s->kind = 0; s->kind < SNAPSHOT_KINDS; s->kind++)
        if (slice_eq(kind, slice_of(kind_words[s->kind])))
            break;
    json_get_text(line, "turn", a, &s->turn);
    json_get_text(line, "prompt", a, &s->prompt);
    json_get_text(line, "why", a, &s->why);
    json_get_text(line, "notes", a, &s->notes);
    if (!json_get_text(line, "tree", a, &s->tree) || s->tree.n != SNAPSHOT_HEX)
        s->tree = (struct slice){ NULL, 0 };
    s->line = line;
    return s->kind < SNAPSHOT_KINDS;
}

/* Reads the log of a store; log->dir is set. */
enum err_code snapshot_log_read_dir(struct snapshot_log *log, struct err *e)
{
    AUTO_BUF text = { 0 };
    const char *path = arena_format(&log->arena, "%s/log", log->dir);
    struct slice rest, line;
    bool torn;

    NEED(path);
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, LOG_MAX, &text, e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    TRY(rc);
    const struct slice all = arena_copy(&log->arena, buf_slice(&text));

    NEED(all.p);
    for (rest = all; slice_line(&rest, &line, &torn);) {
        struct snapshot s = { .time_ms = 0 };
        struct snapshot *list = arena_grow(&log->arena, log->snapshot, log->n, sizeof *list);

        NEED(list);
        log->snapshot = list;
        if (!torn && read_line(log, line, &s))
            log->snapshot[log->n++] = s;
        else
            log->newer |= !torn && json_valid(line);
    }
    return log->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code snapshot_log_read(const struct store_env *env, const char *cwd,
                                struct snapshot_log *out, struct err *e)
{
    CLEANUP(snapshot_log_fini) struct snapshot_log log = { .n = 0 };

    *out = (struct snapshot_log){ .n = 0 };
    if (find_snapshot_project(env, cwd, &log.arena, &log.root, NULL) ||
        project_dir(env, log.root, &log.arena, &log.dir, NULL))
        return ERR_OK;
    TRY(snapshot_log_read_dir(&log, e));
    HAND_OVER(out, log);
    return ERR_OK;
}

void snapshot_log_fini(struct snapshot_log *log)
{
    arena_fini(&log->arena);
    *log = (struct snapshot_log){ .n = 0 };
}

static struct slice hex_of(const uint8_t oid[SNAPSHOT_OID], char hex[SNAPSHOT_HEX + 1])
{
    bool any = false;

    for (int i = 0; i < SNAPSHOT_OID; i++) {
        snprintf(hex + (size_t)i * 2, 3, "%02x", oid[i]);
        any |= oid[i] != 0;
    }
    return (struct slice){ hex, any ? SNAPSHOT_HEX : 0 };
}

/* A line that was cut by a crash is ended first, so that this one stands alone. */
static enum err_code append_log(const char *dir, const struct snapshot_request *req,
                                int64_t time_ms, const uint8_t tree[SNAPSHOT_OID],
                                const uint8_t notes[SNAPSHOT_OID], size_t skipped, const char *why,
                                struct err *e)
{
    char hex[SNAPSHOT_HEX + 1], prompt[SNAPSHOT_PROMPT_HEX + 1], last = '\n';
    AUTO_ARENA a = { 0 };
    AUTO_BUF line = { 0 };
    const char *path;
    struct jsonout j;
    struct stat st;

    NEED(path = arena_format(&a, "%s/log", dir));
    AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 || fstat(fd, &st))
        return err_sys(e, path, "snapshot: open the log");
    if (st.st_size && pread(fd, &last, 1, st.st_size - 1) != 1)
        return err_sys(e, path, "snapshot: read the log");
    NEED(last == '\n' || !buf_add_byte(&line, '\n'));
    jsonout_init(&j, &line);
    jsonout_open(&j, '{');
    jsonout_int_member(&j, "v", 1);
    jsonout_int_member(&j, "time", time_ms);
    jsonout_member(&j, "kind", slice_of(kind_words[req->kind]));
    jsonout_member(&j, "agent", slice_of(req->agent));
    jsonout_member(&j, "session", req->session);
    jsonout_member(&j, "turn", req->turn);
    snapshot_prompt_hash(req->prompt, prompt);
    jsonout_member(&j, "prompt", slice_of(prompt));
    if (!why) {
        jsonout_member(&j, "tree", hex_of(tree, hex));
        jsonout_member(&j, "notes", hex_of(notes, hex));
        jsonout_int_member(&j, "skipped", (int64_t)skipped);
    } else {
        jsonout_member(&j, "why", slice_of(why));
    }
    jsonout_close(&j, '}');
    NEED(!j.rc && !buf_add_byte(&line, '\n'));
    TRY(disk_write(fd, buf_slice(&line), NULL, path, e));
    TRY(disk_sync(fd, path, e));

    /* A log that was empty may be new, so its name has to become durable, too. */
    return st.st_size ? ERR_OK : disk_sync_dir(dir, e);
}

/* ---- taking one ---- */

enum err_code snapshot_lock(const char *path, const char *wanted, int64_t deadline_ms, int *fd,
                            struct err *e)
{
    const struct timespec nap = { .tv_nsec = LOCK_NAP_MS * 1000000L };
    AUTO_FD told = -1;
    enum err_code rc = ERR_OK;

    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0)
        return err_sys(e, path, "snapshot: take the lock");
    while (!rc && flock(*fd, LOCK_EX | LOCK_NB)) {
        if (wanted && told < 0) /* if that fails, it waits for the whole pruning */
            told = open(wanted, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (errno != EWOULDBLOCK && errno != EINTR)
            rc = err_sys(e, path, "snapshot: take the lock");
        else if (time_coarse_ms() > deadline_ms)
            rc = err_set(e, ERR_CANCELLED, path, "snapshot: another one was under way");
        else
            nanosleep(&nap, NULL);
    }
    if (told >= 0)
        unlink(wanted);
    return rc;
}

/* The state of a file, 0 if it does not exist. */
static int64_t state_of(struct arena *a, const char *dir, const char *name)
{
    const char *path = arena_format(a, "%s/%s", dir, name);
    struct stat st;

    return !path || stat(path, &st) ? 0 : time_ns(st.st_mtim) ^ (int64_t)st.st_ino;
}

/* Notes the state of the files outside of the tree that decide what git ignores and tracks. The index of a linked work tree
 * is in a directory of its own, and the rest in that of the repository. */
static void note_rules(const struct store_env *env, struct snapshot_walk *w)
{
    static const char *const at_common[] = { "info/exclude", "config" };
    static const char *const at_home[] = { ".gitconfig", ".config/git/config",
                                           ".config/git/ignore" };
    char git[PATH_MAX], common[PATH_MAX];
    AUTO_ARENA a = { 0 };
    uint64_t sum = 1;

    if (gitfiles_follow(w->root, ".git", "gitdir: ", git) &&
        (size_t)snprintf(git, sizeof git, "%s/.git", w->root) >= sizeof git)
        git[0] = '\0';
    if (gitfiles_follow(git, "commondir", "", common))
        snprintf(common, sizeof common, "%s", git);
    w->no_repository = !state_of(&a, common, "objects");
    w->now.git_index_ns = state_of(&a, git, "index");
    for (size_t i = 0; i < COUNT_OF(at_common); i++)
        sum = sum * 31 + (uint64_t)state_of(&a, common, at_common[i]);
    for (size_t i = 0; env->home && i < COUNT_OF(at_home); i++)
        sum = sum * 31 + (uint64_t)state_of(&a, env->home, at_home[i]);
    w->now.rules_ns = (int64_t)sum;
    w->fresh = w->old->rules_ns != w->now.rules_ns;
    w->tracked_changed = w->old->git_index_ns != w->now.git_index_ns;
}

/* Goes on with a snapshot that was given up. The files that it has read are looked at again only when all others are read,
 * too: in a large project, that alone may take all the time of each attempt. */
static enum err_code read_the_rest(struct snapshot_walk *w, struct snapshot_index *old,
                                   struct err *e)
{
    w->only_new = true;
    TRY(snapshot_walk_run(w, e));
    w->only_new = false;
    snapshot_index_fini(old);
    *old = w->now;
    w->now =
        (struct snapshot_index){ .git_index_ns = old->git_index_ns, .rules_ns = old->rules_ns };
    return ERR_OK;
}

static enum err_code take_locked(const struct store_env *env, const struct snapshot_request *req,
                                 const char *root, const char *dir, int64_t deadline_ms,
                                 struct err *e)
{
    CLEANUP(snapshot_index_fini) struct snapshot_index old = { .n = 0 }, last = { .n = 0 };
    CLEANUP(snapshot_walk_fini)
    struct snapshot_walk w = {
        .root = root,
        .borrow = { .env = env },
        .old = &old,
        .last = &last,
        .deadline_ms = deadline_ms,
        .limits = { .file_bytes = FILE_BYTES, .bytes = SNAPSHOT_BYTES, .files = FILES },
    };
    AUTO_ARENA a = { 0 };
    const char *path = arena_format(&a, "%s/files", dir);
    const char *last_path = arena_format(&a, "%s/files.last", dir);

    NEED(path && last_path);
    TRY(snapshot_index_read(path, &old, e));
    if (!old.complete)
        TRY(snapshot_index_read(last_path, &last, e));
    w.pack.repo = dir;
    note_rules(env, &w);
    const int64_t rules_ns = old.rules_ns, git_index_ns = old.git_index_ns;
    enum err_code rc = old.complete || !old.n ? ERR_OK : read_the_rest(&w, &old, e);

    if (!rc)
        rc = snapshot_walk_run(&w, e);
    if (!rc)
        rc = snapshot_walk_trees(&w, e);
    const char *why = rc == ERR_CANCELLED ? "it took too long" : NULL;

    if (rc && !why)
        return rc;
    w.now.complete = !why;
    /* A snapshot that was given up is kept as a beginning, so that the next one gets further. It asks the rules
     * again, because not all names were asked. */
    if (why) {
        w.now.rules_ns = rules_ns;
        w.now.git_index_ns = git_index_ns;
        if (w.dirty && old.complete && rename(path, last_path))
            return err_sys(e, path, "snapshot: keep the list of files");
    }
    if (w.dirty || (!why && (!old.complete || w.fresh || w.tracked_changed))) {
        TRY(snapshot_pack_finish(&w.pack, e));
        TRY(snapshot_index_write(&w.now, dir, "files", e));
        if (!why && !old.complete && unlink(last_path) && errno != ENOENT)
            return err_sys(e, last_path, "snapshot: remove the old list of files");
    }
    TRY(append_log(dir, req, env_now_ms(env), w.now.n ? w.now.entry[0].oid : NULL, w.now.notes,
                   w.skipped, why, e));
    return rc;
}

enum err_code snapshot_take(const struct store_env *env, const struct snapshot_request *req,
                            struct err *e)
{
    int64_t deadline_ms =
        time_coarse_ms() + (req->limit_ms > 0 ? req->limit_ms : SNAPSHOT_LIMIT_MS);
    AUTO_ARENA a = { 0 };
    AUTO_FD lock = -1;
    const char *root, *dir, *copies, *path;
    struct stat st;

    TRY(find_snapshot_project(env, req->cwd, &a, &root, e));
    TRY(project_dir(env, root, &a, &dir, e));
    NEED(copies = arena_format(&a, "%s/" SNAPSHOT_COPIES, env->state_dir));
    NEED(path = arena_format(&a, "%s/root", dir));
    TRY(disk_private_dir(env->state_dir, e));
    TRY(disk_own_dir(env->state_dir, copies, e));
    TRY(disk_own_dir(copies, dir, e));
    if (lstat(path, &st))
        TRY(disk_replace_file(dir, "root", slice_of(root), 0600, e));
    const char *wanted = arena_format(&a, "%s/" SNAPSHOT_WANTED, dir);

    NEED(wanted && (path = arena_format(&a, "%s/lock", dir)));
    enum err_code rc = snapshot_lock(path, wanted, deadline_ms, &lock, e);

    /* The line in the log explains why this turn has no snapshot. */
    if (rc == ERR_CANCELLED)
        TRY(append_log(dir, req, env_now_ms(env), NULL, NULL, 0, "another one was under way", e));
    TRY(rc);
    TRY(snapshot_repository_make(dir, e));
    return take_locked(env, req, root, dir, deadline_ms, e);
}
