#include "store/rewind/diff/linediff.h"

#include <git2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "store/git/gitlib.h"

enum { BINARY_LOOK = 8000 }; /* as git and GNU diff: a NUL near the front */

static bool is_binary(struct slice s)
{
    return s.n && memchr(s.p, '\0', s.n < BINARY_LOOK ? s.n : BINARY_LOOK);
}

static enum err_code failed(struct err *e)
{
    const git_error *why = git_error_last();

    return err_set(e, ERR_NOMEM, NULL, "compare: %s",
                   why && why->message ? why->message : "out of memory");
}

static enum err_code no_libgit2(struct err *e)
{
    return err_nomem(e);
}

static enum err_code patch_make(struct slice before, struct slice after, unsigned context,
                                git_patch **out, struct err *e)
{
    git_diff_options o;

    if (git_diff_options_init(&o, GIT_DIFF_OPTIONS_VERSION))
        return failed(e);
    o.context_lines = context;
    o.flags = GIT_DIFF_FORCE_TEXT;
    return git_patch_from_buffers(out, before.p ? before.p : "", before.n, NULL,
                                  after.p ? after.p : "", after.n, NULL, &o)
               ? failed(e)
               : ERR_OK;
}

enum err_code linediff_count(struct slice before, struct slice after, unsigned *insertions,
                             unsigned *deletions, bool *binary, struct err *e)
{
    git_patch *patch = NULL;
    size_t added = 0, removed = 0;

    *insertions = *deletions = 0;
    *binary = is_binary(before) || is_binary(after);
    if (!gitlib_ready())
        return no_libgit2(e);
    enum err_code rc = patch_make(before, after, 0, &patch, e);

    if (!rc && git_patch_line_stats(NULL, &added, &removed, patch))
        rc = failed(e);
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

/* libgit2 says "no newline at the end" by a line of its own behind the one it means. */
static void take_line(struct linediff *d, const git_diff_line *l)
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

static enum err_code take_hunk(struct linediff *d, git_patch *patch, size_t h, struct err *e)
{
    const git_diff_hunk *hunk;
    const git_diff_line *line;
    size_t n;

    if (git_patch_get_hunk(&hunk, &n, patch, h))
        return failed(e);
    struct linediff_hunk *out = &d->hunk[d->hunks++];

    *out = (struct linediff_hunk){ .old_start = (unsigned)hunk->old_start,
                                   .old_lines = (unsigned)hunk->old_lines,
                                   .new_start = (unsigned)hunk->new_start,
                                   .new_lines = (unsigned)hunk->new_lines,
                                   .first = d->lines };
    for (size_t i = 0; i < n; i++) {
        if (git_patch_get_line_in_hunk(&line, patch, h, i))
            return failed(e);
        take_line(d, line);
    }
    out->n = d->lines - out->first;
    return ERR_OK;
}

static enum err_code take_patch(struct linediff *d, git_patch *patch, struct err *e)
{
    size_t hunks = git_patch_num_hunks(patch), lines = lines_of(patch), added, removed;
    enum err_code rc = ERR_OK;

    d->hunk = arena_zalloc(&d->arena, sizeof *d->hunk * (hunks + 1));
    d->line = arena_zalloc(&d->arena, sizeof *d->line * (lines + 1));
    if (!d->hunk || !d->line)
        return err_nomem(e);
    for (size_t h = 0; h < hunks && !rc; h++)
        rc = take_hunk(d, patch, h, e);
    if (!rc && git_patch_line_stats(NULL, &added, &removed, patch))
        rc = failed(e);
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

    if (!d.binary && !gitlib_ready())
        return no_libgit2(e);
    if (!d.binary) {
        rc = patch_make(before, after, context, &patch, e);
        if (!rc)
            rc = take_patch(&d, patch, e);
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

/* Where line `number` (from 1) of the text begins; its end for the line behind the last. */
static const char *line_start(struct slice text, unsigned number)
{
    const char *p = text.p, *end = text.p + text.n;

    while (--number > 0 && p && p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));

        p = nl ? nl + 1 : end;
    }
    return p;
}

static enum err_code add_new_side(const struct linediff *d, const struct linediff_hunk *h,
                                  struct buf *out)
{
    enum err_code rc = ERR_OK;

    for (size_t i = h->first; i < h->first + h->n && !rc; i++) {
        const struct linediff_line *l = &d->line[i];

        if (l->sign == '-')
            continue;
        rc = buf_add(out, l->text);
        if (!rc && !l->no_newline)
            rc = buf_add_byte(out, '\n');
    }
    return rc;
}

/* Bytes are copied up to each chosen hunk, then its new side, then on behind its old side. A hunk that only adds
 * names the line before it as its start. */
static enum err_code pick(const struct linediff *d, struct slice before, const bool *chosen,
                          struct buf *out)
{
    const char *from = before.p, *end = before.p + before.n;
    enum err_code rc = ERR_OK;

    for (size_t h = 0; h < d->hunks && !rc; h++) {
        const struct linediff_hunk *hunk = &d->hunk[h];
        unsigned start = hunk->old_lines ? hunk->old_start : hunk->old_start + 1;

        if (!chosen[h])
            continue;
        const char *to = line_start(before, start);

        rc = buf_add(out, (struct slice){ from, (size_t)(to - from) });
        if (!rc)
            rc = add_new_side(d, hunk, out);
        from = line_start(before, start + hunk->old_lines);
    }
    return rc ? rc : buf_add(out, (struct slice){ from, (size_t)(end - from) });
}

enum err_code linediff_apply_hunks(const struct linediff *d, struct slice before,
                                   const bool *chosen, struct arena *a, struct slice *out,
                                   struct err *e)
{
    struct buf bytes = { 0 };
    struct slice old = before.p ? before : SLICE("");
    enum err_code rc = pick(d, old, chosen, &bytes);
    struct slice copy = { NULL, 0 };

    if (!rc)
        copy = arena_copy(a, buf_slice(&bytes));
    buf_fini(&bytes);
    if (!copy.p)
        return err_nomem(e);
    *out = copy;
    return ERR_OK;
}
