#include "store/rewind/record/host_work.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/env.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/fs/span.h"
#include "store/log/append.h"
#include "store/log/lease.h"

enum {
    RECORD_MAX = 64 << 20, /* more than compaction ever leaves */
    COMPACT_FROM = 1 << 20,
    HEX = SHA256_BYTES * 2,
    FILE_MODE = 0600
};

/* The record of a session: the newest state of each path. */
struct work {
    char dir[PATH_MAX], name[HEX + sizeof ".jsonl"];
    struct buf text;
    struct slice_set paths;
    struct slice *sha256; /* by the number of the path, empty: there is no file; in the arena */
    struct arena a;
};

static void work_fini(struct work *w)
{
    buf_fini(&w->text);
    slice_set_fini(&w->paths);
    arena_fini(&w->a);
    w->sha256 = NULL;
}

/* A session is named by its system and its id, which may be any text. */
static enum err_code name_record(const struct store_env *env, const char *system,
                                 struct slice session, struct work *w, struct err *e)
{
    struct hasher h = { 0 };
    uint8_t sha256[SHA256_BYTES];
    const char *text = arena_format(&w->a, "%s:%.*s", system, SLICE_ARG(session));
    enum err_code rc = env_state_path(env, HOST_WORK_DIR, w->dir, e);

    if (!rc)
        rc = text ? hasher_bytes(&h, slice_of(text), sha256, e) : err_nomem(e);
    hasher_fini(&h);
    if (rc)
        return rc;
    hasher_hex(sha256, w->name);
    memcpy(w->name + HEX, ".jsonl", sizeof ".jsonl");
    return ERR_OK;
}

static enum err_code note_state(struct work *w, struct slice path, struct slice sha256)
{
    uint32_t number;
    size_t known = w->paths.n;
    struct slice *more;

    if (slice_set_add(&w->paths, path, &number))
        return ERR_NOMEM;
    if (number == known) {
        more = arena_grow(&w->a, w->sha256, known, sizeof *more);
        if (!more)
            return ERR_NOMEM;
        w->sha256 = more;
    }
    w->sha256[number] = sha256;
    return ERR_OK;
}

/* Lines that are not ours, and a torn one, are ignored. */
static enum err_code host_work_read_record(struct work *w, struct err *e)
{
    char path[PATH_MAX + 80];
    struct slice rest, line, name, sha256;
    bool torn;

    snprintf(path, sizeof path, "%s/%s", w->dir, w->name);
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, RECORD_MAX, &w->text, e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    rest = buf_slice(&w->text);
    while (!rc && slice_line(&rest, &line, &torn)) {
        if (torn || !json_valid(line) || !json_get_text(line, "path", &w->a, &name) ||
            !json_get_text(line, "sha256", &w->a, &sha256) || (sha256.n && sha256.n != HEX))
            continue;
        name = arena_copy(&w->a, name);
        sha256 = arena_copy(&w->a, sha256);
        if (!name.p || !sha256.p || note_state(w, name, sha256))
            rc = err_nomem(e);
    }
    return rc;
}

/* ---- writing ---- */

/* hex: "" if there is no file. */
static enum err_code hash_present(const char *path, struct hasher *h, char hex[HEX + 1],
                                  struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    struct span span;
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    hex[0] = '\0';
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? ERR_OK : err_sys(e, path, "end of the turn");
    enum err_code rc = ERR_OK;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        rc = err_set(e, ERR_UNSAFE, path, "end of the turn: not a regular file");
    if (!rc)
        rc = span_of_file(fd, path, &span, e);
    if (!rc)
        rc = hasher_span(h, &span, -1, NULL, sha256, e);
    if (!rc)
        hasher_hex(sha256, hex);
    close(fd);
    return rc;
}

static enum err_code host_work_add_line(struct slice path, struct slice hex, struct buf *lines)
{
    struct jsonout j;

    jsonout_init(&j, lines);
    jsonout_open(&j, '{');
    jsonout_member(&j, "path", path);
    jsonout_key(&j, "sha256");
    jsonout_text(&j, hex);
    jsonout_close(&j, '}');
    return j.rc || buf_add_byte(lines, '\n') ? ERR_NOMEM : ERR_OK;
}

/* Under a lock, because a line that another host adds between the reading and the writing of a compaction would be lost.
 * The lines are durable before that. */
static enum err_code write_lines(struct work *w, struct slice lines, struct err *e)
{
    char path[PATH_MAX + 80];
    int lock;

    snprintf(path, sizeof path, "%s/.lock", w->dir);
    enum err_code rc = log_lock_acquire(path, &lock, e);

    snprintf(path, sizeof path, "%s/%s", w->dir, w->name);

    if (rc)
        return err_wrap(e, rc, "end of the turn");
    rc = w->text.p ? ERR_OK : disk_create_file(w->dir, w->name, SLICE(""), FILE_MODE, e);
    if (!rc || rc == ERR_STALE)
        rc = log_append(path, lines, 0, NULL, e);
    /* The newest state of each path is written alone if older ones are most of the record, after the temporary files of
     * a writer that was killed are removed. Nothing depends on it, so it may fail. */
    if (!rc && w->text.n + lines.n >= COMPACT_FROM) {
        AUTO_BUF newest = { 0 };

        work_fini(w); /* others may have added lines since it was read */
        enum err_code unread = host_work_read_record(w, NULL);

        for (size_t i = 0; i < w->paths.n && !unread; i++)
            unread = host_work_add_line(w->paths.text[i], w->sha256[i], &newest);
        if (!unread && newest.n < w->text.n / 2 && disk_new_sweep(w->dir))
            (void)!disk_replace_file(w->dir, w->name, buf_slice(&newest), FILE_MODE, NULL);
    }
    log_lock_release(lock);
    return rc;
}

enum err_code host_work_record(const struct session_ref *ref, const char *const *file, size_t n,
                               struct err *e)
{
    const struct store_env *env = ref->store->env;
    AUTO_BUF lines = { 0 };
    char hex[HEX + 1];
    CLEANUP(work_fini) struct work w = { .name = "" };

    TRY(name_record(env, store_format(ref->store->ops), ref->id, &w, e));
    TRY(disk_own_dir(env->state_dir, w.dir, e));
    TRY(host_work_read_record(&w, e));

    struct hasher h = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        const char *path = file[i][0] == '/' ? path_normalize(env->cwd, file[i], &w.a) : NULL;

        if (file[i][0] != '/')
            rc = err_set(e, ERR_UNSAFE, file[i], "end of the turn: the path is not absolute");
        else
            rc = path ? hash_present(path, &h, hex, e) : err_nomem(e);
        if (rc)
            break;
        uint32_t number = slice_set_find(&w.paths, slice_of(path));

        /* Only a state that is not recorded yet gets a line, even if the file is named twice. */
        if ((number == SLICE_SET_NONE || !slice_eq(w.sha256[number], slice_of(hex))) &&
            (host_work_add_line(slice_of(path), slice_of(hex), &lines) ||
             note_state(&w, arena_copy(&w.a, slice_of(path)), arena_copy(&w.a, slice_of(hex)))))
            rc = err_nomem(e);
    }
    hasher_fini(&h);
    if (rc)
        return rc;

    if (lines.n)
        TRY(write_lines(&w, buf_slice(&lines), e));
    return ERR_OK;
}

/* ---- reading ---- */

enum err_code host_work_add(const struct store_env *env, struct rewind_plan *plan, struct err *e)
{
    struct work w = { .name = "" };
    enum err_code rc = ERR_OK;

    if (plan->n == 0 || !plan->ref || !env->state_dir)
        return ERR_OK;
    rc = name_record(env, store_format(plan->ref->store->ops), plan->ref->id, &w, e);
    if (!rc && host_work_read_record(&w, NULL) == ERR_NOMEM)
        rc = err_nomem(
            e); /* a record that cannot be read tells nothing, and files are held back for that */
    for (size_t i = 0; i < plan->n && w.paths.n && !rc; i++) {
        struct rewind_target *t = &plan->target[i];
        uint32_t number = slice_set_find(&w.paths, slice_of(t->path));

        if (number == SLICE_SET_NONE)
            continue;
        t->work_sha256 = arena_copy(&plan->arena, w.sha256[number]).p;
        if (!t->work_sha256)
            rc = err_nomem(e);
    }
    work_fini(&w);
    return rc;
}
