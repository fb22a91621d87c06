#include "tests/support/grown_logs.h"

#include "tests/test.h"

#include <ctype.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LOGS_MOST = 32 };

static struct grown {
    char name[512];
    size_t old;       /* its length in the old tree */
    struct slice row; /* what the operation appends; malloc'ed */
} logs[LOGS_MOST];
static size_t log_count;

static struct grown *log_of(const char *name)
{
    for (size_t i = 0; i < log_count; i++)
        if (strcmp(logs[i].name, name) == 0)
            return &logs[i];
    return NULL;
}

static struct slice without_blanks(struct slice s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n'))
        s = (struct slice){ s.p + 1, s.n - 1 };
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\n'))
        s.n--;
    return s;
}

static struct slice read_behind(const char *path, size_t from)
{
    FILE *in = fopen(path, "rb");
    struct buf out = { 0 };
    char piece[4096];
    size_t n;

    assert_non_null(in);
    assert_int_equal(fseek(in, (long)from, SEEK_SET), 0);
    while ((n = fread(piece, 1, sizeof piece, in)) > 0)
        assert_int_equal(buf_add(&out, (struct slice){ piece, n }), ERR_OK);
    fclose(in);
    return buf_slice(&out);
}

static void each_log(const char *dir, void (*fn)(const char *name, const FTSENT *x))
{
    char copy[4096];
    char *roots[] = { copy, NULL };
    FTSENT *x;

    snprintf(copy, sizeof copy, "%s", dir);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    assert_non_null(fts);
    while ((x = fts_read(fts))) {
        const char *end = strrchr(x->fts_name, '.');

        if (x->fts_info == FTS_F && end && strcmp(end, ".jsonl") == 0)
            fn(x->fts_path + strlen(dir), x);
    }
    fts_close(fts);
}

static void begin_one(const char *name, const FTSENT *x)
{
    assert_true(log_count < LOGS_MOST);
    struct grown *log = &logs[log_count++];

    *log = (struct grown){ .old = (size_t)x->fts_statp->st_size };
    assert_true(strlen(name) < sizeof log->name);
    strcpy(log->name, name);
}

void grown_logs_begin(const char *dir)
{
    while (log_count)
        free((void *)logs[--log_count].row.p);
    if (!HAS_LEASES)
        each_log(dir, begin_one);
}

static void learn_one(const char *name, const FTSENT *x)
{
    struct grown *log = log_of(name);

    if (log && (size_t)x->fts_statp->st_size > log->old)
        log->row = read_behind(x->fts_accpath, log->old);
}

void grown_logs_learn(const char *dir)
{
    if (!HAS_LEASES)
        each_log(dir, learn_one);
}

/* Ids and times, which are texts, are drawn anew in each run. */
static bool begins_with(struct slice s, struct slice row)
{
    bool text = false;

    for (size_t i = 0; i < row.n; i++) {
        bool drawn =
            text && i < s.n && isxdigit((unsigned char)s.p[i]) && isxdigit((unsigned char)row.p[i]);

        if (i >= s.n || (s.p[i] != row.p[i] && !drawn))
            return false;
        text = text != (s.p[i] == '"');
    }
    return row.n > 0;
}

/* Sets *last to the row if it is the last one, else to nothing. Returns false if there is anything but the row and a
 * line that contradicts it, in turn; a recovery that was broken too may have contradicted it twice. */
static bool row_in_force(struct slice s, struct slice row, struct slice *last)
{
    struct slice no = { NULL, 0 };

    *last = no;
    for (s = without_blanks(s); s.n; s = without_blanks(s)) {
        bool is_row = begins_with(s, row), again = begins_with(s, no);
        const char *end = memchr(s.p, '\n', s.n);
        size_t line = end ? (size_t)(end - s.p) : s.n, n = is_row ? row.n : line;

        if (is_row ? last->n > 0 : last->n == 0 && !again)
            return false;
        *last = (struct slice){ s.p, is_row ? n : 0 };
        if (!is_row)
            no = (struct slice){ s.p, n };
        s = (struct slice){ s.p + n, s.n - n };
    }
    return true;
}

bool grown_logs_settle(const char *name, struct buf *bytes)
{
    const struct grown *log = log_of(name);
    struct slice last;

    if (!log || bytes->n <= log->old)
        return false;
    struct slice behind = { bytes->p + log->old, bytes->n - log->old };

    if (!row_in_force(behind, without_blanks(log->row), &last))
        return true;
    memmove(bytes->p + log->old, last.p ? last.p : "", last.n);
    bytes->n = log->old + last.n;
    return true;
}
