#include "store/systems/codex/rollout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/codex/codex.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"

/* The conversation of a thread may be spread over many logs, since a fork or a revert begins a new
 * log that continues another one up to a byte. These functions make one text of them:
 *
 *   folders -> names -> one of the copies of each log
 *   path -> text, unpacked -> the log that it continues -> ... -> all texts, the oldest first
 *
 * The order of sorting matters: the last copy of a log is normally used, and the last log of a
 * thread is its newest. The byte counts in the unpacked text and has to follow the end of a line;
 * if it does not, the text was rewritten, and the two parts do not belong together. A small packed
 * log may unpack to gigabytes, so size and memory are limited. The agent's own index of threads is
 * not used here. */

enum {
    UUID = 36,
    STAMP = sizeof "rollout-2026-11-22T16-17-25-" - 1,
    DEPTH = 3,            /* year, month, day */
    CHAIN_MAX = 64,       /* forks of forks */
    TEXT_MAX = 512 << 20, /* bytes of all logs of one thread, if they have to be joined */
    WINDOW_LOG_MAX = 27,  /* limit of the memory for reading an archive: 128 MiB */
    /* A small archive may unpack to gigabytes. Logs of sessions shrink to a tenth; this many bytes are unpacked for each
     * packed one, and as many as UNPACKED_LEAST of any archive. */
    UNPACKED_RATIO = 100,
    UNPACKED_LEAST = 32 << 20,
    FIRST_LINE_MAX = 16 << 20,
    COPY_PIECE = 256 << 10,
};

/* ---- names ---- */

bool codex_is_id(struct slice id)
{
    return jsonl_is_uuid(id);
}

static bool cut_suffix(struct slice *name, const char *suffix)
{
    size_t n = strlen(suffix);

    if (name->n < n || memcmp(name->p + name->n - n, suffix, n) != 0)
        return false;
    name->n -= n;
    return true;
}

bool rollout_name(struct slice name, struct rollout *out)
{
    out->packed = cut_suffix(&name, ".zst");
    if (!cut_suffix(&name, JSONL_SUFFIX) || !slice_starts(name, "rollout-") ||
        name.n < STAMP + UUID)
        return false;
    out->thread = out->id = (struct slice){ name.p + STAMP, UUID };
    if (name.n == STAMP + UUID + 1 + UUID && name.p[STAMP + UUID] == '_')
        out->id = (struct slice){ name.p + STAMP + UUID + 1, UUID };
    else if (name.n != STAMP + UUID)
        return false;
    return name.p[STAMP - 1] == '-' && codex_is_id(out->thread) && codex_is_id(out->id);
}

/* ---- the folders ---- */

struct walk {
    struct rollouts *out;
    unreadable_fn *fn; /* only folders that cannot be read are looked for; NULL: rollouts */
    void *arg;
    struct folder_places seen;
    bool archived;
};

static void add_rollout(struct walk *w, int dir, const char *folder, const char *name)
{
    struct rollout x = { .archived = w->archived };
    struct stat sb;
    struct rollout *list;
    struct arena *a = &w->out->arena;

    if (!rollout_name(slice_of(name), &x) || fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(sb.st_mode))
        return;
    list = arena_grow(a, w->out->rollout, w->out->n, sizeof *list);
    const char *path = list ? arena_format(a, "%s/%s", folder, name) : NULL;

    if (!path)
        return;
    x.path = slice_of(path);
    rollout_name(slice_of(path + strlen(folder) + 1), &x);
    x.file = file_id_of(&sb);
    w->out->rollout = list;
    list[w->out->n++] = x;
}

/* A folder that does not exist has no rollouts; another failure may have hidden some. */
static void report_folder(const struct walk *w, const char *folder)
{
    struct err why;

    if (errno != ENOENT && errno != ENOTDIR && w->fn && err_sys(&why, folder, "read the folder"))
        w->fn(&why, w->arg);
}

static void walk_folder(struct walk *w, int at, const char *name, const char *folder, int depth)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool first = true, leaf = w->archived || depth == DEPTH;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        report_folder(w, folder);
        if (fd >= 0)
            close(fd);
        return;
    }
    if (folder_places_add(&w->seen, fd, &first))
        w->out->arena.failed = true;
    if (first && w->fn && faccessat(fd, ".", X_OK, AT_EACCESS) != 0)
        report_folder(w, folder);
    /* Links come last, so that a folder is listed by its own name. */
    for (int links = 0; first && links <= !leaf; links++, rewinddir(dir)) {
        while (errno = 0, (entry = readdir(dir))) {
            if (leaf && !w->fn)
                add_rollout(w, fd, folder, entry->d_name);
            else if (!leaf && (entry->d_type == DT_LNK) == links && *entry->d_name &&
                     entry->d_name[strspn(entry->d_name, "0123456789")] == '\0') {
                const char *inner = arena_format(&w->out->arena, "%s/%s", folder, entry->d_name);

                if (inner)
                    walk_folder(w, fd, entry->d_name, inner, depth + 1);
            }
        }
        if (errno && !links)
            report_folder(w, folder);
    }
    closedir(dir);
}

static int codex_compare_slices(struct slice a, struct slice b)
{
    return memcmp(a.p, b.p, UUID);
}

/* A file that is neither archived nor packed comes last. */
static int compare_rollouts(const void *a, const void *b)
{
    const struct rollout *x = a, *y = b;
    int by_thread = codex_compare_slices(x->thread, y->thread),
        by_id = codex_compare_slices(x->id, y->id);

    if (by_thread || by_id)
        return by_thread ? by_thread : by_id;
    if (x->archived != y->archived)
        return x->archived ? -1 : 1;
    if (x->packed != y->packed)
        return x->packed ? -1 : 1;
    return strcmp(x->path.p, y->path.p);
}

/* Copies that were cut off, or in which nothing was said, have no row after the first. */
static bool codex_has_second_row(const struct rollout *x)
{
    struct buf text = { 0 };
    struct file f;

    if (x->packed)
        return x->file.size > 0;
    if (file_open(AT_FDCWD, x->path.p, 0, &f, NULL))
        return false;
    enum err_code rc = file_read_part(&f, 0, COPY_PIECE, &text, NULL);
    const char *end = !rc && text.n ? memchr(text.p, '\n', text.n) : NULL;
    const size_t after = end ? (size_t)(end - text.p) + 1 : text.n;
    bool more = end ? after < text.n : f.id.size > COPY_PIECE;

    file_close(&f);
    buf_fini(&text);
    return more;
}

static void codex_walk_store(struct walk *w, const char *store)
{
    const char *sessions = arena_format(&w->out->arena, "%s/sessions", store);
    const char *archived = arena_format(&w->out->arena, "%s/archived_sessions", store);

    if (sessions && archived) {
        walk_folder(w, AT_FDCWD, sessions, sessions, 0);
        w->archived = true;
        walk_folder(w, AT_FDCWD, archived, archived, 0);
    }
    folder_places_fini(&w->seen);
}

enum err_code rollouts_report(const char *store, unreadable_fn *fn, void *arg, struct err *e)
{
    struct rollouts none = { .n = 0 };
    struct walk w = { .out = &none, .fn = fn, .arg = arg };

    codex_walk_store(&w, store);
    const bool failed = none.arena.failed;

    rollouts_fini(&none);
    return failed ? err_nomem(e) : ERR_OK;
}

enum err_code rollouts_read(const char *store, struct rollouts *out, struct err *e)
{
    struct rollouts found = { .n = 0 };
    struct walk w = { .out = &found };

    codex_walk_store(&w, store);
    if (found.arena.failed) {
        rollouts_fini(&found);
        return err_nomem(e);
    }
    if (found.n)
        qsort(found.rollout, found.n, sizeof *found.rollout, compare_rollouts);

    /* The last of several copies is used, unless only an earlier one has a conversation. */
    size_t n = 0;

    for (size_t i = 0, end; i < found.n; i = end) {
        size_t used;

        for (end = i + 1; end < found.n && slice_eq(found.rollout[i].id, found.rollout[end].id) &&
                          slice_eq(found.rollout[i].thread, found.rollout[end].thread);)
            end++;
        for (used = end - 1; used > i && !codex_has_second_row(&found.rollout[used]);)
            used--;
        if (used == i && end - i > 1 && !codex_has_second_row(&found.rollout[i]))
            used = end - 1;
        found.rollout[n++] = found.rollout[used];
    }
    found.n = n;

    *out = found;
    return ERR_OK;
}

void rollouts_fini(struct rollouts *r)
{
    arena_fini(&r->arena);
    *r = (struct rollouts){ .n = 0 };
}

const struct rollout *rollouts_find(const struct rollouts *r, struct slice id)
{
    for (size_t i = r->n; i > 0; i--)
        if (slice_eq(r->rollout[i - 1].id, id))
            return &r->rollout[i - 1];
    return NULL;
}

const struct rollout *rollouts_newest(const struct rollouts *r, struct slice thread)
{
    for (size_t i = r->n; i > 0; i--)
        if (slice_eq(r->rollout[i - 1].thread, thread))
            return &r->rollout[i - 1];
    return NULL;
}

int64_t rollout_born_ms(struct slice id)
{
    static const char digits[] = "0123456789abcdef";
    int64_t ms = 0;

    for (size_t i = 0; i < 13 && i < id.n; i++) {
        const char *digit = id.p[i] && id.p[i] != '-' ? strchr(digits, id.p[i]) : NULL;

        if (digit)
            ms = ms * 16 + (digit - digits);
    }
    return ms;
}

/* ---- the text ---- */

/* An archive that is being read. */
struct unpacking {
    ZSTD_DStream *stream;
    struct file file;
    char *in;
    int64_t at;
    size_t max;
    size_t left; /* input that the current frame still needs; 0: between frames */
    bool whole;
};

static enum err_code unpack_piece(struct unpacking *u, ZSTD_inBuffer *in, struct buf *out)
{
    size_t room = ZSTD_DStreamOutSize();

    while (in->pos < in->size && out->n < u->max) {
        if (buf_reserve(out, room))
            return ERR_NOMEM;
        ZSTD_outBuffer to = { out->p + out->n, u->max - out->n < room ? u->max - out->n : room, 0 };

        u->left = ZSTD_decompressStream(u->stream, &to, in);
        if (ZSTD_isError(u->left))
            return ZSTD_getErrorCode(u->left) == ZSTD_error_frameParameter_windowTooLarge
                       ? ERR_UNSUPPORTED
                       : ERR_FORMAT;
        out->n += to.pos;
    }
    return ERR_OK;
}

/* Reads the archive up to its end, its first damage or the limit. */
static enum err_code codex_unpack(struct unpacking *u, struct buf *out, struct err *e)
{
    size_t step = ZSTD_DStreamInSize(), got = step;
    enum err_code rc = ERR_OK;

    while (!rc && got == step && out->n < u->max) {
        TRY(file_read(&u->file, u->at, u->in, step, &got, e));
        u->at += (int64_t)got;
        rc = unpack_piece(u, &(ZSTD_inBuffer){ u->in, got, 0 }, out);
    }
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc == ERR_UNSUPPORTED)
        return err_set(e, rc, "", "unpack the log: its archive needs more than %d MB of memory",
                       1 << (WINDOW_LOG_MAX - 20));
    u->whole = !rc && u->left == 0 && u->at >= u->file.id.size && out->n < u->max;
    return ERR_OK;
}

static enum err_code read_packed(const struct file *f, size_t max, struct buf *out, bool *whole,
                                 struct err *e)
{
    size_t packed = f->id.size < 0 ? 0 : (size_t)f->id.size;
    size_t most = UNPACKED_LEAST + (packed < TEXT_MAX ? packed : TEXT_MAX) * UNPACKED_RATIO;
    struct unpacking u = { .stream = ZSTD_createDStream(),
                           .file = *f,
                           .in = malloc(ZSTD_DStreamInSize()),
                           .max = out->n + (max < most ? max : most) };
    bool ready =
        u.stream && u.in &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(u.stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
    enum err_code rc = ready ? codex_unpack(&u, out, e) : err_nomem(e);

    if (!rc && most < max && out->n == u.max)
        rc = err_set(e, ERR_UNSUPPORTED, "",
                     "unpack the log: it is more than %d times as large as its archive",
                     UNPACKED_RATIO);
    *whole = u.whole;
    ZSTD_freeDStream(u.stream);
    free(u.in);
    return rc;
}

static enum err_code read_plain(const struct file *f, size_t max, struct buf *out, bool *whole,
                                struct err *e)
{
    size_t size = f->id.size < 0 ? 0 : (size_t)f->id.size, want = size < max ? size : max, got = 0;

    if (buf_reserve(out, want + 1))
        return err_nomem(e);
    TRY(file_read(f, 0, out->p + out->n, want, &got, e));
    out->n += got;
    *whole = want == size;
    return ERR_OK;
}

enum err_code rollout_text(const char *path, size_t max, struct buf *out, bool *whole,
                           struct err *e)
{
    struct file f;

    TRY(file_open(AT_FDCWD, path, 0, &f, e));
    struct slice name = slice_of(path);
    enum err_code rc = cut_suffix(&name, ".zst") ? read_packed(&f, max, out, whole, e)
                                                 : read_plain(&f, max, out, whole, e);

    file_close(&f);
    return err_at(e, rc, path);
}

/* ---- what it continues ---- */

void rollout_base_of(struct slice base, struct arena *a, struct rollout_base *out)
{
    struct slice end;

    *out = (struct rollout_base){ .end = 0 };
    if (json_type(base) != JSON_OBJECT)
        return;
    if (!json_get_text(base, "thread_id", a, &out->id))
        out->id = SLICE("?"); /* it continues something that cannot be found */
    if (!json_get(base, "end_byte_offset", &end) || !json_int(end, &out->end))
        out->end = -1;
}

void rollout_base_read(struct slice first_line, struct arena *a, struct rollout_base *out)
{
    struct slice base;

    json_at(first_line, "payload.history_base", &base);
    rollout_base_of(base, a, out);
}

/* The logs of a thread from the newest to the oldest, each with the number of bytes to use. */
struct chain {
    const char *store;
    struct rollouts all;
    bool searched;
    bool done; /* logs of the same thread are used to their ends */
    struct arena arena;
    struct buf text[CHAIN_MAX];
    struct slice id[CHAIN_MAX]; /* the id of the log that this one continues */
    size_t n, total;
};

static struct slice codex_first_line(struct slice text)
{
    const char *end = memchr(text.p, '\n', text.n);

    return (struct slice){ text.p, end ? (size_t)(end - text.p) : text.n };
}

/* Reads one log of the chain; `end` < 0: all of it is used. */
static enum err_code read_link(struct chain *c, const char *path, int64_t end, struct err *e)
{
    struct buf *text = &c->text[c->n];
    size_t most = end < 0 ? TEXT_MAX - c->total : (size_t)end;
    bool whole = false;

    if (end > (int64_t)(TEXT_MAX - c->total))
        return err_set(e, ERR_UNSUPPORTED, path, "open session: it is too large");
    c->n++;
    TRY(rollout_text(path, most, text, &whole, e));
    if (end < 0 && !whole && text->n >= most)
        return err_set(e, ERR_UNSUPPORTED, path, "open session: it is too large");
    if (end >= 0 && ((uint64_t)end > text->n || (end > 0 && text->p[end - 1] != '\n')))
        return err_set(e, ERR_FORMAT, path,
                       "open session: the part that it continues no longer exists");
    c->total += text->n;
    return ERR_OK;
}

static bool is_same_thread(const char *path, const struct rollout *base)
{
    const char *name = strrchr(path, '/');
    struct rollout x;

    return rollout_name(slice_of(name ? name + 1 : path), &x) && slice_eq(x.thread, base->thread);
}

static enum err_code read_chain(struct chain *c, const char *path, struct err *e)
{
    struct rollout_base base = { .end = -1 };

    for (;;) {
        enum err_code rc = read_link(c, path, base.end, e);
        const struct rollout *next = NULL;

        if (rc)
            return rc;
        rollout_base_read(codex_first_line(buf_slice(&c->text[c->n - 1])), &c->arena, &base);
        if (!base.id.n)
            return ERR_OK;
        c->id[c->n - 1] = base.id;
        if (c->n == CHAIN_MAX || base.end < 0)
            return err_set(e, ERR_FORMAT, path, "open session: what it continues cannot be found");

        /* The log that it continues; a log is not read twice. */
        for (size_t i = 0; i + 1 < c->n; i++)
            if (slice_eq(c->id[i], base.id))
                return err_set(e, ERR_FORMAT, path,
                               "open session: the log that it continues refers to itself");
        if (!c->searched) {
            TRY(rollouts_read(c->store, &c->all, e));
            c->searched = true;
        }
        next = rollouts_find(&c->all, base.id);
        if (!next)
            return err_set(e, ERR_FORMAT, path,
                           "open session: the log that it continues is missing: %.*s",
                           (int)(base.id.n < UUID ? base.id.n : UUID), base.id.p);

        if (c->done && is_same_thread(path, next))
            base.end = -1;
        path = next->path.p;
    }
}

static enum err_code compose(const char *store, const char *path, bool done, struct buf *out,
                             struct err *e)
{
    struct chain *c = calloc(1, sizeof *c);

    if (!c)
        return err_nomem(e);
    c->store = store;
    c->done = done;
    enum err_code rc = read_chain(c, path, e);

    if (!rc && c->arena.failed)
        rc = err_nomem(e);
    if (!rc && c->n == 1) { /* usual for an archive: nothing is copied */
        *out = c->text[0];
        c->text[0] = (struct buf){ 0 };
    }
    for (size_t i = c->n; i > 1 && !rc; i--)
        rc = buf_add(out, buf_slice(&c->text[i - 1])) ? err_nomem(e) : ERR_OK;
    if (!rc && c->n > 1)
        rc = buf_add(out, buf_slice(&c->text[0])) ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < c->n; i++)
        buf_fini(&c->text[i]);
    rollouts_fini(&c->all);
    arena_fini(&c->arena);
    free(c);
    return rc;
}

enum err_code rollout_compose(const char *store, const char *path, struct buf *out, struct err *e)
{
    return compose(store, path, false, out, e);
}

enum err_code rollout_compose_done(const char *store, const char *path, struct buf *out,
                                   struct err *e)
{
    return compose(store, path, true, out, e);
}
