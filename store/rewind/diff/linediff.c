#include "store/rewind/diff/linediff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "store/git/gitfiles.h"
#include "store/git/libgit2.h"
#include "store/rewind/plan/source.h"

/* Hunks that a person selects are written into a file, so a diff must be exact to the byte. Bytes
 * outside of the chosen hunks are copied as they are, and a line of a hunk keeps everything but its
 * newline, which is added again unless `no_newline` is set. Files too large for the memory are only
 * counted:
 *
 *     | equal front, skipped | middle: compared, or all of it replaced | equal back, skipped |
 *
 * The borders of the middle are at starts of lines and must not cross, so the search from the back
 * ends where the one from the front did. Whether a file is binary is decided here and not by the
 * library, and only by its first bytes, except before a merge, where every byte matters. Renames
 * and blanks are not treated specially, because a rewind restores bytes. */

enum { BINARY_LOOK = 8000 }; /* as git and GNU diff: a NUL near the front */

static bool is_binary(struct slice s)
{
    return s.n && memchr(s.p, '\0', s.n < BINARY_LOOK ? s.n : BINARY_LOOK);
}

static enum err_code linediff_failed(struct err *e)
{
    const git_error *why = git_error_last();

    return err_set(e, ERR_NOMEM, NULL, "compare: %s",
                   why && why->message ? why->message : ERR_NOMEM_TEXT);
}

static enum err_code patch_make(struct slice before, struct slice after, unsigned context,
                                git_patch **out, struct err *e)
{
    git_diff_options o;

    if (git_diff_options_init(&o, GIT_DIFF_OPTIONS_VERSION))
        return linediff_failed(e);
    o.context_lines = context;
    o.flags = GIT_DIFF_FORCE_TEXT;
    return git_patch_from_buffers(out, before.p ? before.p : "", before.n, NULL,
                                  after.p ? after.p : "", after.n, NULL, &o)
               ? linediff_failed(e)
               : ERR_OK;
}

enum err_code linediff_count(struct slice before, struct slice after, unsigned *insertions,
                             unsigned *deletions, bool *binary, struct err *e)
{
    git_patch *patch = NULL;
    size_t added = 0, removed = 0;

    *insertions = *deletions = 0;
    *binary = is_binary(before) || is_binary(after);
    TRY(gitlib_ready(e));
    enum err_code rc = patch_make(before, after, 0, &patch, e);

    if (!rc && git_patch_line_stats(NULL, &added, &removed, patch))
        rc = linediff_failed(e);
    git_patch_free(patch);
    if (!rc) {
        *insertions = (unsigned)added;
        *deletions = (unsigned)removed;
    }
    return rc;
}

/* ---- lines and hunks ---- */

static size_t lines_of(git_patch *patch)
{
    size_t n = 0, hunks = git_patch_num_hunks(patch);

    for (size_t h = 0; h < hunks; h++) {
        int lines = git_patch_num_lines_in_hunk(patch, h);

        n += lines > 0 ? (size_t)lines : 0;
    }
    return n;
}

/* libgit2 reports "no newline at the end" by an extra line after the one it refers to. */
static void linediff_add_line(struct linediff *d, const git_diff_line *l)
{
    struct slice text = { l->content, l->content_len };

    if (l->origin != '+' && l->origin != '-' && l->origin != ' ') {
        if (d->lines)
            d->line[d->lines - 1].no_newline = true;
        return;
    }
    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    d->line[d->lines++] =
        (struct linediff_line){ .sign = l->origin,
                                .text = text,
                                .old_line = l->old_lineno > 0 ? (unsigned)l->old_lineno : 0,
                                .new_line = l->new_lineno > 0 ? (unsigned)l->new_lineno : 0 };
}

static enum err_code linediff_add_hunk(struct linediff *d, git_patch *patch, size_t h,
                                       struct err *e)
{
    const git_diff_hunk *hunk;
    const git_diff_line *line;
    size_t n;

    if (git_patch_get_hunk(&hunk, &n, patch, h))
        return linediff_failed(e);
    struct linediff_hunk *out = &d->hunk[d->hunks++];

    *out = (struct linediff_hunk){ .old_start = (unsigned)hunk->old_start,
                                   .old_lines = (unsigned)hunk->old_lines,
                                   .new_start = (unsigned)hunk->new_start,
                                   .new_lines = (unsigned)hunk->new_lines,
                                   .first = d->lines };
    for (size_t i = 0; i < n; i++) {
        if (git_patch_get_line_in_hunk(&line, patch, h, i))
            return linediff_failed(e);
        linediff_add_line(d, line);
    }
    out->n = d->lines - out->first;
    return ERR_OK;
}

static enum err_code linediff_add_patch(struct linediff *d, git_patch *patch, struct err *e)
{
    size_t hunks = git_patch_num_hunks(patch), lines = lines_of(patch), added, removed;
    enum err_code rc = ERR_OK;

    d->hunk = arena_zalloc(&d->arena, sizeof *d->hunk * (hunks + 1));
    d->line = arena_zalloc(&d->arena, sizeof *d->line * (lines + 1));
    if (!d->hunk || !d->line)
        return err_nomem(e);
    for (size_t h = 0; h < hunks && !rc; h++)
        rc = linediff_add_hunk(d, patch, h, e);
    if (!rc && git_patch_line_stats(NULL, &added, &removed, patch))
        rc = linediff_failed(e);
    if (!rc) {
        d->insertions = (unsigned)added;
        d->deletions = (unsigned)removed;
    }
    return rc;
}

enum err_code linediff_make(struct slice before, struct slice after, unsigned context,
                            struct linediff *out, struct err *e)
{
    struct linediff d = { .binary = is_binary(before) || is_binary(after) };
    git_patch *patch = NULL;
    enum err_code rc = ERR_OK;

    if (!d.binary) {
        TRY(gitlib_ready(e));
        rc = patch_make(before, after, context, &patch, e);
        if (!rc)
            rc = linediff_add_patch(&d, patch, e);
        git_patch_free(patch);
    }
    if (rc)
        linediff_fini(&d);
    else
        *out = d;
    return rc;
}

void linediff_fini(struct linediff *d)
{
    arena_fini(&d->arena);
    *d = (struct linediff){ 0 };
}

/* ---- picking hunks ---- */

/* Returns the beginning of line `number` (from 1) of the text, or the end of the text for the line after the last. */
static const char *linediff_line_start(struct slice text, unsigned number)
{
    const char *p = text.p, *end = text.p + text.n;

    while (--number > 0 && p && p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));

        p = nl ? nl + 1 : end;
    }
    return p;
}

enum err_code linediff_apply_hunks(const struct linediff *d, struct slice before,
                                   const bool *chosen, struct arena *a, struct slice *out,
                                   struct err *e)
{
    struct buf bytes = { 0 };
    struct slice old = before.p ? before : SLICE("");

    /* Copies bytes up to each chosen hunk, then its new side, and continues after its old side. A
     * hunk that only adds names the line before it as its start. */
    const char *from = old.p, *end = old.p + old.n;
    enum err_code rc = ERR_OK;

    for (size_t h = 0; h < d->hunks && !rc; h++) {
        const struct linediff_hunk *hunk = &d->hunk[h];
        unsigned start = hunk->old_lines ? hunk->old_start : hunk->old_start + 1;

        if (!chosen[h])
            continue;
        const char *to = linediff_line_start(old, start);

        rc = buf_add(&bytes, (struct slice){ from, (size_t)(to - from) });
        for (size_t i = hunk->first; i < hunk->first + hunk->n && !rc; i++) {
            const struct linediff_line *l = &d->line[i];

            if (l->sign == '-')
                continue;
            rc = buf_add(&bytes, l->text);
            if (!rc && !l->no_newline)
                rc = buf_add_byte(&bytes, '\n');
        }
        from = linediff_line_start(old, start + hunk->old_lines);
    }
    rc = rc ? rc : buf_add(&bytes, (struct slice){ from, (size_t)(end - from) });

    struct slice copy = { NULL, 0 };

    if (!rc)
        copy = arena_copy(a, buf_slice(&bytes));
    buf_fini(&bytes);
    if (!copy.p)
        return err_nomem(e);
    *out = copy;
    return ERR_OK;
}

static bool linediff_is_text(struct slice s)
{
    return s.n == 0 || !memchr(s.p, '\0', s.n);
}

static git_merge_file_input input(struct slice s)
{
    return (git_merge_file_input){ .version = GIT_MERGE_FILE_INPUT_VERSION,
                                   .ptr = s.n ? s.p : "",
                                   .size = s.n };
}

enum err_code linediff_merge(struct slice ancestor, struct slice ours, struct slice theirs,
                             struct arena *a, struct slice *out, bool *clean, struct err *e)
{
    git_merge_file_input base = input(ancestor), mine = input(ours), other = input(theirs);
    const git_merge_file_options how = { .version = GIT_MERGE_FILE_OPTIONS_VERSION };
    git_merge_file_result result = { 0 };

    *clean = false;
    if (!linediff_is_text(ancestor) || !linediff_is_text(ours) || !linediff_is_text(theirs))
        return ERR_OK;
    TRY(gitlib_ready(e));
    int failed = git_merge_file(&result, &base, &mine, &other, &how);
    enum err_code rc = failed ? err_nomem(e) : ERR_OK;

    if (!rc && result.automergeable) {
        *out = arena_copy(a, (struct slice){ result.len ? result.ptr : "", result.len });
        *clean = true;
        rc = out->p ? ERR_OK : err_nomem(e);
    }
    git_merge_file_result_free(&result);
    return rc;
}

enum { PIECE = 1 << 18 };

struct pair {
    const struct span *side[2];
    char *piece[2];
    int64_t begin;  /* the beginning of the middle, in both; at the start of a line */
    int64_t end[2]; /* the end of the middle; at the start of a line, or of nothing */
};

static int64_t linediff_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static enum err_code linediff_read_both(struct pair *p, int64_t first, int64_t second, size_t n,
                                        struct err *e)
{
    TRY(span_read(p->side[0], first, p->piece[0], n, e));
    return span_read(p->side[1], second, p->piece[1], n, e);
}

static size_t equal_front(const struct pair *p, size_t n)
{
    size_t i = 0;

    if (memcmp(p->piece[0], p->piece[1], n) == 0)
        return n;
    while (p->piece[0][i] == p->piece[1][i])
        i++;
    return i;
}

static size_t equal_back(const struct pair *p, size_t n)
{
    size_t i = 0;

    if (memcmp(p->piece[0], p->piece[1], n) == 0)
        return n;
    while (p->piece[0][n - 1 - i] == p->piece[1][n - 1 - i])
        i++;
    return i;
}

/* The whole lines that both begin with. */
static enum err_code linediff_skip_front(struct pair *p, struct err *e)
{
    int64_t both = linediff_smaller(p->side[0]->n, p->side[1]->n), at = 0;
    size_t n, same;

    do {
        n = (size_t)linediff_smaller(both - at, PIECE);
        TRY(linediff_read_both(p, at, at, n, e));
        same = equal_front(p, n);
        const char *newline = same ? memrchr(p->piece[0], '\n', same) : NULL;

        if (newline)
            p->begin = at + (newline - p->piece[0]) + 1;
        at += (int64_t)same;
    } while (n && same == n);
    return ERR_OK;
}

static enum err_code starts_line(struct pair *p, int side, int64_t at, bool *yes, struct err *e)
{
    char before = '\n';
    enum err_code rc = at > p->begin ? span_read(p->side[side], at - 1, &before, 1, e) : ERR_OK;

    *yes = before == '\n';
    return rc;
}

/* Forward from where both are equal to the start of the next line. */
static enum err_code to_line_start(struct pair *p, struct err *e)
{
    bool first, second;
    enum err_code rc = starts_line(p, 0, p->end[0], &first, e);

    if (!rc)
        rc = starts_line(p, 1, p->end[1], &second, e);
    if (rc || (first && second))
        return rc;
    for (;;) {
        size_t n = (size_t)linediff_smaller(p->side[0]->n - p->end[0], PIECE);

        if (n == 0)
            return ERR_OK;
        TRY(span_read(p->side[0], p->end[0], p->piece[0], n, e));
        const char *newline = memchr(p->piece[0], '\n', n);
        int64_t step = newline ? newline - p->piece[0] + 1 : (int64_t)n;

        p->end[0] += step;
        p->end[1] += step;
        if (newline)
            return ERR_OK;
    }
}

/* The whole lines that both end with. */
static enum err_code skip_back(struct pair *p, struct err *e)
{
    size_t n, same;

    p->end[0] = p->side[0]->n;
    p->end[1] = p->side[1]->n;
    do {
        n = (size_t)linediff_smaller(linediff_smaller(p->end[0], p->end[1]) - p->begin, PIECE);
        enum err_code rc =
            linediff_read_both(p, p->end[0] - (int64_t)n, p->end[1] - (int64_t)n, n, e);

        if (rc)
            return rc;
        same = equal_back(p, n);
        p->end[0] -= (int64_t)same;
        p->end[1] -= (int64_t)same;
    } while (n && same == n);
    return to_line_start(p, e);
}

static enum err_code look_binary(const struct span *s, bool *binary, struct err *e)
{
    char front[BINARY_LOOK];
    size_t n = (size_t)linediff_smaller(s->n, BINARY_LOOK);

    TRY(span_read(s, 0, front, n, e));
    *binary |= memchr(front, '\0', n) != NULL;
    return ERR_OK;
}

static enum err_code linediff_count_lines(struct pair *p, int side, unsigned *lines, struct err *e)
{
    char last = '\n';

    *lines = 0;
    for (int64_t at = p->begin; at < p->end[side];) {
        size_t n = (size_t)linediff_smaller(p->end[side] - at, PIECE);

        TRY(span_read(p->side[side], at, p->piece[0], n, e));
        for (const char *c = p->piece[0], *end = c + n; (c = memchr(c, '\n', (size_t)(end - c)));)
            *lines += 1, c++;
        last = p->piece[0][n - 1];
        at += (int64_t)n;
    }
    *lines += last != '\n';
    return ERR_OK;
}

static enum err_code read_middle(const struct pair *p, int side, struct buf *out, struct err *e)
{
    size_t n = (size_t)(p->end[side] - p->begin);

    if (buf_reserve(out, n + 1))
        return err_nomem(e);
    out->n = n;
    return span_read(p->side[side], p->begin, out->p, n, e);
}

static enum err_code count_middle(struct pair *p, unsigned *insertions, unsigned *deletions,
                                  struct err *e)
{
    struct buf text[2] = { 0 };
    bool binary;

    if (p->end[0] - p->begin > SOURCE_CONTENT_HELD_MAX ||
        p->end[1] - p->begin > SOURCE_CONTENT_HELD_MAX) {
        enum err_code rc = linediff_count_lines(p, 0, deletions, e);

        return rc ? rc : linediff_count_lines(p, 1, insertions, e);
    }
    enum err_code rc = read_middle(p, 0, &text[0], e);

    if (!rc)
        rc = read_middle(p, 1, &text[1], e);
    if (!rc)
        rc = linediff_count(buf_slice(&text[0]), buf_slice(&text[1]), insertions, deletions,
                            &binary, e);
    buf_fini(&text[0]);
    buf_fini(&text[1]);
    return rc;
}

enum err_code linediff_count_spans(const struct span *before, const struct span *after,
                                   unsigned *insertions, unsigned *deletions, bool *binary,
                                   struct err *e)
{
    struct pair p = { .side = { before, after }, .piece = { malloc(PIECE), malloc(PIECE) } };
    enum err_code rc = p.piece[0] && p.piece[1] ? ERR_OK : err_nomem(e);

    *binary = false;
    if (!rc)
        rc = look_binary(before, binary, e);
    if (!rc)
        rc = look_binary(after, binary, e);
    if (!rc)
        rc = linediff_skip_front(&p, e);
    if (!rc)
        rc = skip_back(&p, e);
    if (!rc)
        rc = count_middle(&p, insertions, deletions, e);
    free(p.piece[0]);
    free(p.piece[1]);
    return rc;
}
