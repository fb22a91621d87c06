#include "store/log/log_find.h"

#include <fcntl.h>
#include <stdlib.h>

#include "lite/base/slice.h"
#include "lite/json/json.h"

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
        enum err_code rc = file_read(f, at, bytes, (size_t)(end - at), &got, e);

        if (rc)
            return rc;
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

/* Sets *is to whether it is the row's own id and the row is whole. */
static enum err_code is_id_of_row(struct id_search *s, int64_t offset, struct id128 id, bool *is,
                                  struct err *e)
{
    int64_t begin;
    enum err_code rc = log_find_line(s->f, offset, &s->line, &begin, e);
    struct slice row = buf_slice(&s->line), text;

    while (row.n && (unsigned char)row.p[0] <= ' ') {
        row.p++;
        row.n--;
    }
    *is = !rc && json_type(row) == JSON_OBJECT && json_valid(row) &&
          json_get_text(row, "uuid", &s->scratch, &text) && id128_eq(id128_of(text), id);
    return rc;
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
    if (number != IDSET_NONE && !s->there[number])
        rc = is_id_of_row(s, offset, s->ids->id[number], &is, e);
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
