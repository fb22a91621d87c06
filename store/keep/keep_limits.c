#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/keep/keep_internal.h"

enum { KEEP_DAY_MS = 86400000, KEEP_JUMP_DAYS = 45, KEEP_CLOCK_STEP_MS = 3600000 };

/* ---- limits ---- */

static int keep_oldest_first(const void *a, const void *b)
{
    const struct keep_session *x = *(struct keep_session *const *)a,
                              *y = *(struct keep_session *const *)b;

    return (x->kept_ms > y->kept_ms) - (x->kept_ms < y->kept_ms);
}

/* Returns true if another kept session has the copy, too: one with the same id in another folder. */
static bool keep_is_needed(const struct keep *k, const struct keep_session *s,
                           const struct keep_file *f)
{
    const struct keep_manifest *m = &k->manifest;

    for (const struct keep_session *x = m->session; x < m->session + m->n; x++)
        for (size_t i = 0; x != s && x->id && strcmp(x->id, s->id) == 0 && i < x->n; i++)
            if (strcmp(x->file[i].path, f->path) == 0)
                return true;
    return false;
}

static enum err_code keep_forget(struct keep *k, struct keep_session *s, struct err *e)
{
    for (size_t i = s->n; i-- > 0;) {
        AUTO_ARENA a = { 0 };
        const char *copy = keep_path_of(k->env, s->file[i].path, &a);

        NEED(copy);
        if (s->file[i].kind == KEEP_FILE && !keep_is_needed(k, s, &s->file[i]))
            TRY(copy_remove(copy, e));
        else if (s->file[i].kind == KEEP_DIR && rmdir(copy) && errno != ENOENT &&
                 errno != ENOTEMPTY && errno != EEXIST)
            return err_sys(e, copy, "keep: remove an old copy");
    }
    k->bytes -= keep_session_bytes(s);
    k->changed = true;
    free(s->file);
    *s = (struct keep_session){ .n = 0 };
    return ERR_OK;
}

/* Sets *doubtful if the clock may be wrong: it has jumped ahead since less than a day. All copies would be old, which are
 * often the only ones. <data>/kept/clock has the time of the last run and that of the run after a jump, or 0. */
static enum err_code keep_check_clock(const struct keep *k, bool *doubtful, struct err *e)
{
    const int64_t now = k->env->now_ms;
    int64_t last = now, jumped = 0;
    AUTO_BUF text = { 0 };
    char path[PATH_MAX], line[64];

    TRY(env_data_path(k->env, "kept/clock", path, e));
    const enum err_code rc = file_read_all(AT_FDCWD, path, 0, sizeof line, &text, NULL);
    const bool known = !rc && buf_cstr(&text) &&
                       sscanf(text.p, "%" SCNd64 " %" SCNd64, &last, &jumped) == 2 && last > 0;

    if (!known) {
        last = now;
        jumped = 0;
    }
    if (now - last > KEEP_JUMP_DAYS * (int64_t)KEEP_DAY_MS)
        jumped = now;
    else if (now < last - KEEP_DAY_MS) /* it has gone back */
        jumped = 0;
    *doubtful = jumped && now - jumped < KEEP_DAY_MS;
    if (k->dry || (known && now >= last && now - last < KEEP_CLOCK_STEP_MS))
        return ERR_OK;
    snprintf(line, sizeof line, "%" PRId64 " %" PRId64 "\n", now, jumped);
    return disk_replace_file(k->dir, "clock", slice_of(line), 0600, e);
}

/* Returns true if the store itself is away, as on a disk that is not mounted. Then nothing says that its sessions were
 * removed. The place of a mount remains as an empty directory. */
static bool keep_store_is_away(const char *store)
{
    AUTO_DIR *d = opendir(store);
    const struct dirent *x;

    while (d && (x = readdir(d)))
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
            return false;
    return true;
}

enum err_code keep_prune(struct keep *k, size_t *removed, struct err *e)
{
    struct keep_manifest *m = &k->manifest;
    AUTO_FREE struct keep_session **gone = NULL;
    struct stat st;
    size_t n = 0, kept = 0;
    int64_t bytes = k->bytes;
    enum err_code rc = ERR_OK;
    bool doubtful = false;

    *removed = 0;
    if (k->limits.days)
        TRY(keep_check_clock(k, &doubtful, e));
    NEED(gone = calloc(m->n + 1, sizeof *gone));
    for (size_t i = 0; i < m->n; i++)
        if (lstat(m->session[i].path, &st) && errno == ENOENT &&
            !keep_store_is_away(m->session[i].store))
            gone[n++] = &m->session[i];

    /* The oldest sessions are removed first, and only until the limits are met. */
    qsort(gone, n, sizeof *gone, keep_oldest_first);
    for (size_t i = 0; i < n && !rc; i++) {
        const bool old = k->limits.days && !doubtful &&
                         gone[i]->kept_ms + k->limits.days * KEEP_DAY_MS < k->env->now_ms;
        const bool many = k->limits.sessions && (int64_t)(m->n - *removed) > k->limits.sessions;

        if (!old && !many && !(k->limits.bytes && bytes > k->limits.bytes))
            continue;
        bytes -= keep_session_bytes(gone[i]);
        if (!k->dry)
            rc = keep_forget(k, gone[i], e);
        *removed += !rc;
    }

    /* keep_forget() leaves empty entries, because `gone` points to the list while it runs. They go whatever happened, as
     * the list is written down afterwards. */
    for (size_t i = 0; i < m->n; i++)
        if (m->session[i].path)
            m->session[kept++] = m->session[i];
    m->n = kept;
    keep_manifest_sort(m);
    k->known = m->n;
    return rc;
}

/* ---- are the copies whole? ---- */

static enum err_code keep_verify_session(struct keep *k, const struct keep_session *s,
                                         finding_fn *fn, void *arg, struct err *e)
{
    for (size_t i = 0; i < s->n; i++) {
        AUTO_ARENA a = { 0 };
        const char *copy = keep_path_of(k->env, s->file[i].path, &a);
        struct keep_file now;
        struct finding f = { .kind = FINDING_CHECKSUM, .session = slice_of(s->id), .path = copy };

        NEED(copy);
        if (s->file[i].kind != KEEP_FILE)
            continue;
        if (keep_hash(k, copy, &now, NULL))
            f.why = "the kept copy cannot be read";
        else if (memcmp(now.sha256, s->file[i].sha256, SHA256_BYTES) != 0)
            f.why = "the kept copy no longer has the bytes that were copied";
        if (f.why)
            TRY(fn(&f, arg, e));
    }
    return ERR_OK;
}

enum err_code keep_verify(const struct store_env *env, finding_fn *fn, void *arg, struct err *e)
{
    CLEANUP(keep_close_at) struct keep *k = NULL;
    const struct keep_limits none = { 0 };

    if (!env->data_dir)
        return ERR_OK;
    TRY(keep_open(env, &none, true, &k, e));
    for (size_t i = 0; i < k->manifest.n; i++) {
        AUTO_ARENA a = { 0 };
        const char *copy = keep_path_of(env, k->manifest.session[i].path, &a);
        struct stat st;

        NEED(copy);
        if (lstat(copy, &st) == 0) /* else its copy was deleted */
            TRY(keep_verify_session(k, &k->manifest.session[i], fn, arg, e));
    }
    return ERR_OK;
}
