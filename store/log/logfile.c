#include "store/log/logfile.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "lite/json/json.h"

/* For smaller files a thread does not pay off. Two halves would be enough if the second thread
 * started at once and had a core to itself; with more pieces than threads, no thread waits for one
 * that started late, and with small pieces, none waits long for the last one. If a line is longer
 * than the last number, the file is not cut there. */
enum {
    WORTH_IT = 512 * 1024,
    PIECE_BYTES = 512 * 1024,
    PIECES = 32,
    LOOK_FIRST = 4 * 1024,
    LOOK_FOR_END = 1024 * 1024,
};

struct piece {
    int64_t from, to;
    struct index index;
    enum err_code rc;
    struct err e;
};

struct work {
    const struct file *file;
    const struct index_keys *keys;
    const atomic_bool *stop;
    unsigned flags;
    struct piece piece[PIECES];
    size_t n;
    atomic_size_t taken;
};

static void *index_pieces(void *arg)
{
    struct work *w = arg;
    size_t i;

    while ((i = atomic_fetch_add(&w->taken, 1)) < w->n) {
        struct piece *p = &w->piece[i];
        struct file view = *w->file; /* shares the descriptor, may end earlier */

        view.id.size = p->to;
        p->index.end = p->from;
        p->rc = index_build(&p->index, &view, w->keys, w->flags | INDEX_PART, w->stop, &p->e);
    }
    return NULL;
}

/* Finds the beginning of a line shortly after a position; 0 if not found. */
static int64_t line_behind(const struct file *f, int64_t from, char *room)
{
    size_t seen = 0, got = 0;

    for (size_t want = LOOK_FIRST; want <= LOOK_FOR_END; want *= 8) {
        if (file_read(f, from + (int64_t)seen, room, want - seen, &got, NULL))
            return 0;
        const char *nl = memchr(room, '\n', got);

        if (nl)
            return from + (int64_t)seen + (nl - room) + 1;
        seen += got;
    }
    return 0;
}

/* Room for the lines of all pieces. */
static enum err_code reserve_lines(const struct work *w, struct index *ix, struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        n += w->piece[i].index.n;
    TRY(index_check_count(n, w->file->id.size, e));
    ix->cap = n ? n : 1;
    ix->line = n > SIZE_MAX / sizeof *ix->line ? NULL : malloc(ix->cap * sizeof *ix->line);
    return ix->line ? ERR_OK : err_nomem(e);
}

/* If a file was truncated while it was read, a piece does not end where the next one begins. */
static enum err_code join_pieces(struct work *w, struct index *ix, struct err *e)
{
    enum err_code rc = reserve_lines(w, ix, e);

    for (size_t i = 0; i < w->n && !rc; i++) {
        struct piece *p = &w->piece[i];

        rc = p->rc;
        if (rc && e)
            *e = p->e;
        else if (!rc && i + 1 < w->n && p->index.end != p->to)
            rc = err_set(e, ERR_STALE, "", "index lines: the file became shorter");
        else if (!rc) {
            if (p->index.n)
                memcpy(ix->line + ix->n, p->index.line, p->index.n * sizeof *ix->line);
            ix->n += p->index.n;
            ix->end = p->index.end;
            ix->torn_tail = p->index.torn_tail;
            ix->broken += p->index.broken;
        }
    }
    return rc;
}

enum err_code logfile_index_build(struct index *ix, const struct file *f,
                                  const struct index_keys *keys, unsigned flags,
                                  const atomic_bool *stop, struct err *e)
{
    struct work *w = calloc(1, sizeof *w);
    struct index whole = { 0 };
    pthread_t thread;

    if (!w)
        return err_nomem(e);
    w->file = f;
    w->keys = keys;
    w->stop = stop;
    w->flags = flags;

    /* One piece at least: the whole file. */
    int64_t size = w->file->id.size, from = 0;
    int64_t want = size >= WORTH_IT ? size / PIECE_BYTES + 1 : 1;
    char *room = want > 1 ? malloc(LOOK_FOR_END) : NULL;

    if (want > PIECES)
        want = PIECES;
    for (int64_t i = 1; room && i < want; i++) {
        int64_t at = size / want * i;
        int64_t to = at > from ? line_behind(w->file, at, room) : 0;

        if (to == 0 || to >= size)
            continue;
        w->piece[w->n++] = (struct piece){ .from = from, .to = to };
        from = to;
    }
    w->piece[w->n++] = (struct piece){ .from = from, .to = size };
    free(room);

    if (w->n == 1) {
        free(w);
        return index_build(ix, f, keys, flags, stop, e);
    }

    /* Both threads take pieces until all are taken, so one thread alone does the same work. */
    bool helped = pthread_create(&thread, NULL, index_pieces, w) == 0;

    index_pieces(w);
    if (helped)
        pthread_join(thread, NULL);
    enum err_code rc = join_pieces(w, &whole, e);

    for (size_t i = 0; i < w->n; i++)
        index_fini(&w->piece[i].index);
    free(w);
    if (rc)
        index_fini(&whole);
    else
        *ix = whole;
    return rc;
}

/* A row that begins this close after the last one read is assumed to be the next step of a walk. */
enum { NEAR = 64 * 1024, READ_AHEAD = 512 * 1024 };

static enum err_code logfile_open_file(struct logfile *log, const char *path, unsigned flags,
                                       struct err *e)
{
    struct file f;

    TRY(file_open(AT_FDCWD, path, flags, &f, e));
    *log = (struct logfile){ .file = f, .path = path };
    log->end_n = (uint64_t)f.id.size < sizeof log->end ? (size_t)f.id.size : sizeof log->end;
    enum err_code rc =
        file_read(&f, f.id.size - (int64_t)log->end_n, log->end, log->end_n, &log->end_n, e);

    if (rc)
        logfile_close(log);
    return rc;
}

enum err_code logfile_check(const struct logfile *log, struct err *e)
{
    const struct file_id *was = &log->file.id;
    char end[sizeof log->end];
    struct stat st;
    size_t got;

    if (fstat(log->file.fd, &st))
        return err_sys(e, log->path, "examine the file");
    const struct file_id is = file_id_of(&st);

    if (is.size == was->size && is.mtime_ns == was->mtime_ns && is.ctime_ns == was->ctime_ns)
        return ERR_OK;
    TRY(file_read(&log->file, was->size - (int64_t)log->end_n, end, log->end_n, &got, e));
    if (is.size < was->size || got < log->end_n || memcmp(end, log->end, got) != 0)
        return err_set(e, ERR_STALE, log->path, "read rows: the file was rewritten meanwhile");
    return ERR_OK;
}

enum err_code logfile_open(struct logfile *log, const char *path, unsigned flags,
                           const struct index_keys *keys, const atomic_bool *stop, struct err *e)
{
    TRY(logfile_open_file(log, path, flags, e));
    enum err_code rc = logfile_index_build(&log->index, &log->file, keys, INDEX_VALIDATE, stop, e);

    if (!rc)
        rc = logfile_check(log, e);
    if (rc)
        logfile_close(log);
    return rc;
}

/* Reads [at, at + n) into the buffer; fewer bytes at the end of the file. */
static enum err_code fill_buffer(struct logfile *log, int64_t at, size_t n, struct err *e)
{
    size_t got;

    log->bytes.n = 0;
    enum err_code rc = buf_reserve(&log->bytes, n);

    if (rc)
        return err_set(e, rc, log->path, "read %zu bytes", n);
    rc = file_read(&log->file, at, log->bytes.p, n, &got, e);
    if (!rc)
        rc = logfile_check(log, e);
    if (rc)
        return rc;
    log->bytes.n = got;
    log->at = at;
    return ERR_OK;
}

enum err_code logfile_open_tail(struct logfile *log, const char *path, unsigned flags,
                                const struct index_keys *keys, size_t bytes, struct err *e)
{
    enum err_code rc = logfile_open_file(log, path, flags, e);

    if (rc)
        return rc;
    int64_t size = log->file.id.size;
    /* One more byte than requested shows whether a line begins exactly where the window does. */
    int64_t from = (uint64_t)size > bytes ? size - (int64_t)bytes - 1 : 0;

    rc = fill_buffer(log, from, (size_t)(size - from), e);
    if (rc)
        goto fail;
    struct slice window = buf_slice(&log->bytes), part;
    bool torn = false;

    if (from > 0 && slice_line(&window, &part, &torn))
        from += (int64_t)part.n + !torn;
    rc = index_bytes(&log->index, window, from, keys, INDEX_VALIDATE, e);
    if (rc)
        goto fail;
    return ERR_OK;
fail:
    logfile_close(log);
    return rc;
}

static bool buffer_holds(const struct logfile *log, int64_t at, size_t n)
{
    return at >= log->at && at + (int64_t)n <= log->at + (int64_t)log->bytes.n;
}

enum err_code logfile_row(struct logfile *log, size_t line, struct slice *row, struct err *e)
{
    const struct index_line *l = &log->index.line[line];

    if (!buffer_holds(log, l->offset, l->length)) {
        int64_t end = log->at + (int64_t)log->bytes.n, row_end = l->offset + (int64_t)l->length;
        bool walking = row_end > end && l->offset <= end + NEAR;
        bool back = log->bytes.n && l->offset < log->at && row_end + NEAR >= log->at;
        size_t want = walking && l->length < READ_AHEAD ? READ_AHEAD : l->length;
        int64_t from = l->offset;

        if (back && l->length < READ_AHEAD) {
            from = row_end > READ_AHEAD ? row_end - READ_AHEAD : 0;
            want = (size_t)(row_end - from);
        }
        TRY(fill_buffer(log, from, want, e));
        if (!buffer_holds(log, l->offset, l->length))
            return err_set(e, ERR_STALE, log->path, "read line %zu: the file became shorter", line);
    }
    /* An empty line may come before anything was read. */
    *row = log->bytes.p ? (struct slice){ log->bytes.p + (l->offset - log->at), l->length }
                        : SLICE("");
    return ERR_OK;
}

void logfile_close(struct logfile *log)
{
    file_close(&log->file);
    index_fini(&log->index);
    buf_fini(&log->bytes);
    *log = (struct logfile){ .file.fd = -1 };
}

enum { PIECE = 1024 * 1024, LINE_STEP = 64 * 1024 };

/* Positions in [at, at + n) of a piece that was read with what follows it. */
static enum err_code seek_piece(struct slice bytes, size_t n, int64_t at, struct slice part,
                                log_find_fn *fn, void *arg, bool *enough, struct err *e)
{
    const char *p = bytes.p, *end = bytes.p + bytes.n, *found;
    enum err_code rc = ERR_OK;

    while (!rc && (found = slice_find(p, (size_t)(end - p), part.p, part.n)) &&
           (size_t)(found - bytes.p) < n) {
        rc = fn(arg, (struct slice){ found, (size_t)(end - found) }, at + (found - bytes.p), enough,
                e);
        p = found + 1;
    }
    return rc;
}

enum err_code log_find_backward(const struct file *f, int64_t end, struct slice part,
                                log_find_fn *fn, void *arg, struct err *e)
{
    assert(part.n && part.n <= LOG_FIND_PATTERN_MAX);
    char *bytes = malloc(PIECE + LOG_FIND_REST);
    bool enough = false;
    enum err_code rc = bytes ? ERR_OK : err_nomem(e);

    while (!rc && end > 0 && !enough) {
        int64_t at = end > PIECE ? end - PIECE : 0;
        size_t n = (size_t)(end - at), got;

        rc = file_read(f, at, bytes, n + LOG_FIND_REST, &got, e);
        if (!rc)
            rc = seek_piece((struct slice){ bytes, got }, n, at, part, fn, arg, &enough, e);
        end = at;
    }
    free(bytes);
    return rc;
}

static enum err_code line_begin(const struct file *f, int64_t offset, char *bytes, int64_t *begin,
                                struct err *e)
{
    for (int64_t end = offset; end > 0;) {
        int64_t at = end > LINE_STEP ? end - LINE_STEP : 0;
        size_t got;

        TRY(file_read(f, at, bytes, (size_t)(end - at), &got, e));
        const char *newline = memrchr(bytes, '\n', got);

        if (newline) {
            *begin = at + (newline - bytes) + 1;
            return ERR_OK;
        }
        end = at;
    }
    *begin = 0;
    return ERR_OK;
}

enum err_code log_find_line(const struct file *f, int64_t offset, struct buf *line, int64_t *begin,
                            struct err *e)
{
    char *bytes = malloc(LINE_STEP);
    size_t got = LINE_STEP;
    const char *newline = NULL;

    line->n = 0;
    enum err_code rc = bytes ? line_begin(f, offset, bytes, begin, e) : err_nomem(e);

    for (int64_t at = *begin; !rc && !newline && got == LINE_STEP; at += LINE_STEP) {
        rc = file_read(f, at, bytes, LINE_STEP, &got, e);
        newline = rc ? NULL : memchr(bytes, '\n', got);
        if (!rc &&
            buf_add(line, (struct slice){ bytes, newline ? (size_t)(newline - bytes) : got }))
            rc = err_nomem(e);
    }
    free(bytes);
    return rc;
}

/* ---- ids ---- */

#define KEY "\"uuid\""

struct id_search {
    const struct file *f;
    const struct idset *ids;
    bool *there;
    size_t missing;
    struct buf line;
    struct arena scratch;
};

static bool is_line_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Reads the id after the key. Returns false if it does not end within `rest`. */
static bool id_behind(struct slice rest, struct arena *a, struct id128 *id)
{
    enum { UUID = 36 };
    size_t i = sizeof KEY - 1;
    struct slice text;

    while (i < rest.n && is_line_blank(rest.p[i]))
        i++;
    if (i == rest.n || rest.p[i++] != ':')
        return false;
    while (i < rest.n && is_line_blank(rest.p[i]))
        i++;
    if (i == rest.n || rest.p[i] != '"')
        return false;
    if (rest.n - i > UUID + 1 && rest.p[i + UUID + 1] == '"' && id128_uuid(rest.p + i + 1, id))
        return true;
    if (!json_text((struct slice){ rest.p + i, rest.n - i }, a, &text))
        return false;
    *id = id128_of(text);
    return true;
}

static enum err_code check_id_row(void *arg, struct slice rest, int64_t offset, bool *enough,
                                  struct err *e)
{
    struct id_search *s = arg;
    struct id128 id;
    uint32_t number = IDSET_NONE;
    bool is = false;
    enum err_code rc = ERR_OK;

    if (id_behind(rest, &s->scratch, &id))
        number = idset_find(s->ids, id);
    if (number != IDSET_NONE && !s->there[number]) {
        /* The id must be the row's own, and the row whole. */
        int64_t begin;
        rc = log_find_line(s->f, offset, &s->line, &begin, e);
        struct slice row = buf_slice(&s->line), text;

        while (row.n && (unsigned char)row.p[0] <= ' ') {
            row.p++;
            row.n--;
        }
        is = !rc && json_type(row) == JSON_OBJECT && json_valid(row) &&
             json_get_text(row, "uuid", &s->scratch, &text) &&
             id128_eq(id128_of(text), s->ids->id[number]);
    }
    if (is) {
        s->there[number] = true;
        s->missing--;
    }
    if (!rc && s->scratch.failed)
        rc = err_nomem(e);
    if (s->scratch.newest)
        arena_reset(&s->scratch);
    *enough = s->missing == 0;
    return rc;
}

/* Sets there[number of the id] if the log contains it. */
static enum err_code seek_ids(const char *path, unsigned flags, const struct idset *ids,
                              bool there[], struct err *e)
{
    struct id_search s = { .ids = ids, .there = there, .missing = ids->n };
    struct file f;

    if (!ids->n)
        return ERR_OK;
    enum err_code rc = file_open(AT_FDCWD, path, flags, &f, e);

    if (rc)
        return rc;
    s.f = &f;
    rc = log_find_backward(&f, f.id.size, SLICE(KEY), check_id_row, &s, e);
    file_close(&f);
    buf_fini(&s.line);
    arena_fini(&s.scratch);
    return err_at(e, rc, path);
}

enum err_code log_find_repeated(const char *path, unsigned flags, const struct slice id[], size_t n,
                                bool repeated[], struct err *e)
{
    struct idset ids = { 0 };
    uint32_t *number = calloc(n + 1, sizeof *number);
    bool *there = calloc(n + 1, sizeof *there);
    enum err_code rc = number && there ? ERR_OK : ERR_NOMEM;

    for (size_t i = 0; i < n && !rc; i++) {
        size_t before = ids.n;

        number[i] = IDSET_NONE;
        if (id[i].n)
            rc = idset_add(&ids, id128_of(id[i]), &number[i]);
        repeated[i] = id[i].n && ids.n == before;
    }
    rc = rc ? err_nomem(e) : seek_ids(path, flags, &ids, there, e);
    for (size_t i = 0; i < n && !rc; i++)
        repeated[i] |= number[i] != IDSET_NONE && there[number[i]];
    free(number);
    free(there);
    idset_fini(&ids);
    return rc;
}
