#include "store/journal/record_index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/arena.h"
#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/fs/span.h"
#include "store/journal/record.h"

/* So many records are read without writing the index: a command that meets fewer is quick, and writes nothing. */
enum { UNREAD_MOST = 64, INDEX_MOST = 1 << 30 };

/* Times of files tick in steps, so a file that was written just now may be written again with the same time. */
enum { SETTLED_S = 2 };

static const char index_name[] = "index";
static const char head[] = "reprise-index 1 ";

/* ---- reading ---- */

static bool record_index_next_part(struct slice *text, char end, struct slice *out)
{
    const char *p = text->n ? memchr(text->p, end, text->n) : NULL;

    if (!p)
        return false;
    *out = (struct slice){ text->p, (size_t)(p - text->p) };
    *text = (struct slice){ p + 1, text->n - out->n - 1 };
    return true;
}

static bool record_index_is_whole(struct slice hex, struct slice rest)
{
    struct hasher h = { 0 };
    uint8_t hash[SHA256_BYTES];
    char right[SHA256_BYTES * 2 + 1];
    bool same = hasher_bytes(&h, rest, hash, NULL) == ERR_OK;

    hasher_fini(&h);
    if (same)
        hasher_hex(hash, right);
    return same && slice_eq(hex, slice_of(right));
}

static void record_index_read_lines(struct record_index *ix)
{
    struct slice text = buf_slice(&ix->old), first, line;
    const size_t n = sizeof head - 1;
    size_t cap = 0;

    if (!record_index_next_part(&text, '\n', &first) || first.n <= n ||
        memcmp(first.p, head, n) != 0 ||
        !record_index_is_whole((struct slice){ first.p + n, first.n - n }, text))
        return;
    while (record_index_next_part(&text, '\n', &line)) {
        struct record_index_line x;

        if (!array_reserve(ix->line, cap, ix->n + 1))
            return;
        if (record_index_next_part(&line, '\t', &x.name) &&
            record_index_next_part(&line, '\t', &x.stamp)) {
            x.text = line;
            ix->line[ix->n++] = x;
        }
    }
}

void record_index_open(struct record_index *ix, const char *dir, const char *const *part,
                       size_t parts)
{
    struct buf path = { 0 };

    *ix = (struct record_index){
        .dir = dir, .part = part, .parts = parts, .user = geteuid(), .opened_s = time(NULL)
    };
    if (!buf_addf(&path, "%s/%s", dir, index_name) && buf_cstr(&path) &&
        !disk_check_own(path.p, NULL) &&
        !file_read_all(AT_FDCWD, path.p, 0, INDEX_MOST, &ix->old, NULL))
        record_index_read_lines(ix);
    buf_fini(&path);
}

/* ---- the state of a record ---- */

static void record_index_mix(uint64_t *state, uint64_t n)
{
    *state = (*state ^ n) * UINT64_C(0x9e3779b97f4a7c15);
    *state ^= *state >> 29;
}

/* Returns false if it cannot be relied on: it is another user's or changed just now. */
static bool record_index_add_state(int at, const char *name, const struct record_index *ix,
                                   uint64_t *state)
{
    struct stat st;

    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW)) {
        record_index_mix(state, 0);
        return true;
    }
    record_index_mix(state, st.st_ino);
    record_index_mix(state, (uint64_t)st.st_size);
    record_index_mix(state,
                     (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec);
    record_index_mix(state,
                     (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec);
    return st.st_uid == ix->user && !(st.st_mode & 0022) &&
           st.st_ctim.tv_sec + SETTLED_S < ix->opened_s;
}

/* The newest line is the first. */
static int record_index_compare_name(const void *key, const void *line)
{
    return slice_compare(((const struct record_index_line *)line)->name,
                         *(const struct slice *)key);
}

static void record_index_add_line(struct record_index *ix, const struct record_index_line *x)
{
    ix->failed = ix->failed || buf_add(&ix->now, x->name) || buf_add_byte(&ix->now, '\t') ||
                 buf_add(&ix->now, x->stamp) || buf_add_byte(&ix->now, '\t') ||
                 buf_add(&ix->now, x->text) || buf_add_byte(&ix->now, '\n');
}

bool record_index_find(struct record_index *ix, const char *name, char stamp[RECORD_STAMP],
                       struct slice *text)
{
    const struct slice wanted = slice_of(name);
    const struct record_index_line *line =
        ix->n ? bsearch(&wanted, ix->line, ix->n, sizeof *line, record_index_compare_name) : NULL;

    snprintf(ix->oldest, sizeof ix->oldest, "%s", name);

    /* The stamp is "" if nothing may be kept of the record. */
    uint64_t state = 1;
    char path[PATH_MAX];
    bool good = snprintf(path, sizeof path, "%s/%s", ix->dir, name) < (int)sizeof path;
    int at = good ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

    good = at >= 0 && record_index_add_state(at, ".", ix, &state);
    for (size_t i = 0; i < ix->parts && good; i++)
        good = record_index_add_state(at, ix->part[i], ix, &state);
    if (at >= 0)
        close(at);
    stamp[0] = '\0';
    if (good)
        snprintf(stamp, RECORD_STAMP, "%016llx", (unsigned long long)state);

    if (!stamp[0] || !line || !slice_eq(line->stamp, slice_of(stamp)))
        return false;
    record_index_add_line(ix, line);
    *text = line->text;
    return true;
}

/* ---- writing ---- */

void record_index_add(struct record_index *ix, const char *name, const char stamp[RECORD_STAMP],
                      struct slice text)
{
    const struct record_index_line x = { slice_of(name), slice_of(stamp), text };

    if (!stamp[0])
        return;
    record_index_add_line(ix, &x);
    ix->unread++;
}

void record_index_close(struct record_index *ix)
{
    if (ix->unread > UNREAD_MOST) {
        /* Too many records had to be read: the index is written again. */
        struct hasher h = { 0 };
        uint8_t hash[SHA256_BYTES];
        char hex[SHA256_BYTES * 2 + 1];
        struct buf all = { 0 };

        /* A walk that ended early saw nothing of the older records. */
        for (size_t i = 0; i < ix->n; i++)
            if (slice_compare(ix->line[i].name, slice_of(ix->oldest)) < 0)
                record_index_add_line(ix, &ix->line[i]);

        if (!ix->failed && !hasher_bytes(&h, buf_slice(&ix->now), hash, NULL)) {
            hasher_hex(hash, hex);
            if (!buf_addf(&all, "%s%s\n", head, hex) && !buf_add(&all, buf_slice(&ix->now)) &&
                disk_new_sweep(ix->dir))
                (void)!disk_replace_file(ix->dir, index_name, buf_slice(&all), 0600, NULL);
        }
        hasher_fini(&h);
        buf_fini(&all);
    }
    buf_fini(&ix->old);
    buf_fini(&ix->now);
    free(ix->line);
    *ix = (struct record_index){ .n = 0 };
}

/* ---- fields ---- */

enum err_code record_field_add_text(struct buf *b, const char *text, struct buf *scratch)
{
    if (text) {
        TRY(record_percent_encode(slice_of(text), scratch));
        TRY(buf_add_byte(b, '='));
        TRY(buf_add(b, buf_slice(scratch)));
    }
    return buf_add_byte(b, '\t');
}

enum err_code record_field_add_int(struct buf *b, int64_t n)
{
    return buf_addf(b, "%lld\t", (long long)n);
}

bool record_field_text(struct slice *text, struct arena *a, const char **out)
{
    struct slice field, bytes = { NULL, 0 };

    if (!record_index_next_part(text, '\t', &field) || (field.n && field.p[0] != '='))
        return false;
    if (field.n) {
        bytes = arena_copy(a, (struct slice){ field.p + 1, field.n - 1 });
        if (!bytes.p ||
            (memchr(bytes.p, '%', bytes.n) && !record_percent_decode(bytes.p, a, &bytes)))
            return false;
    }
    *out = bytes.p;
    return true;
}

bool record_field_int(struct slice *text, int64_t *out)
{
    struct slice field;
    int64_t n = 0;

    if (!record_index_next_part(text, '\t', &field))
        return false;
    bool minus = field.n && field.p[0] == '-';

    for (size_t i = minus; i < field.n; i++) {
        if (field.p[i] < '0' || field.p[i] > '9' || n > (INT64_MAX - 9) / 10)
            return false;
        n = n * 10 + (field.p[i] - '0');
    }
    *out = minus ? -n : n;
    return field.n > (size_t)minus;
}
