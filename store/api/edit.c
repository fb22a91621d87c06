#include "store/api/edit.h"

#include <limits.h>
#include <string.h>

#include "lite/base/digest.h"

enum err_code edit_replace_text(struct slice base, struct slice old_text, struct slice new_text,
                                bool all, uint64_t *spent, struct buf *out, bool *done)
{
    const char *end = base.n ? base.p + base.n : NULL;
    const char *hit = slice_find(base.p, base.n, old_text.p, old_text.n);
    uint64_t hits = 0, before = spent ? *spent : 0, size;
    enum err_code rc = ERR_OK;

    out->n = 0;
    for (const char *next = old_text.n ? hit : NULL; next && (all || !hits); hits++)
        next = slice_find(next + old_text.n, (size_t)(end - next) - old_text.n, old_text.p,
                          old_text.n);
    size = base.n + hits * new_text.n - hits * old_text.n;
    *done = hits && size <= EDIT_TEXT_MAX && size <= EDIT_TEXTS_MAX - before;
    if (!*done)
        return ERR_OK;
    if (spent)
        *spent += size;
    for (; hits && !rc; hits--) {
        rc = buf_add(out, (struct slice){ base.p, (size_t)(hit - base.p) });
        if (!rc)
            rc = buf_add(out, new_text);
        base = (struct slice){ hit + old_text.n, (size_t)(end - hit) - old_text.n };
        hit = slice_find(base.p, base.n, old_text.p, old_text.n);
    }
    return rc ? rc : buf_add(out, base);
}

enum err_code edit_replace(struct slice base, const struct edit_replacement *r, struct buf *out,
                           bool *done)
{
    struct slice old = r->old_text;
    const char *end = base.n ? base.p + base.n : NULL;
    const char *hit = slice_find(base.p, base.n, old.p, old.n);

    *done = !old.n;
    out->n = 0;
    if (!old.n)
        return buf_add(out, base) || buf_add(out, r->new_text) ? ERR_NOMEM : ERR_OK;
    if (!hit || (!r->all && slice_find(hit + 1, (size_t)(end - hit) - 1, old.p, old.n)))
        return ERR_OK;
    return edit_replace_text(base, old, r->new_text, r->all, NULL, out, done);
}

static bool is_under(const char *path, const char *root)
{
    size_t n = strlen(root);

    return strncmp(path, root, n) == 0 &&
           (path[n] == '\0' || path[n] == '/' || strcmp(root, "/") == 0);
}

bool edit_wanted(const struct edit_query *q, const struct edit *edit)
{
    bool moves = edit->kind == EDIT_RENAME || edit->kind == EDIT_DELETE;

    for (size_t i = 0; i < q->paths; i++)
        if (is_under(edit->path, q->path[i]) || (moves && is_under(q->path[i], edit->path)) ||
            (edit->to && (is_under(edit->to, q->path[i]) || is_under(q->path[i], edit->to))))
            return true;
    return q->paths == 0;
}

/* Writers of JSON differ in which other characters they escape. */
static bool edit_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._-,:; @%=()[]{}~!#$^", c));
}

/* Returns the longest part of the last name of a path that every JSON writer leaves unchanged, so that a file without
 * these bytes cannot name the path. Empty if there is no such part. Borrows from the path. */
static struct slice edit_literal(const char *path)
{
    const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;
    struct slice best = { p, 0 };

    while (*p) {
        size_t n = 0;

        while (edit_is_plain(p[n]))
            n++;
        if (n > best.n)
            best = (struct slice){ p, n };
        p += n ? n : 1;
    }
    return best;
}

static bool edit_has_name(const char *path, struct slice bytes)
{
    struct slice name = edit_literal(path);

    return !name.n || slice_find(bytes.p, bytes.n, name.p, name.n);
}

/* A command that moves a directory names it, and not the files below it. */
static bool may_move_above(const char *path, struct slice bytes)
{
    char dir[PATH_MAX];
    size_t n = strlen(path);

    if (n >= sizeof dir || !slice_has(bytes, "mv "))
        return false;
    memcpy(dir, path, n + 1);
    for (char *slash = strrchr(dir, '/'); slash && slash > dir; slash = strrchr(dir, '/')) {
        *slash = '\0';
        if (edit_has_name(dir, bytes))
            return true;
    }
    return false;
}

bool edit_may_name(const struct edit_query *q, struct slice bytes)
{
    if (!q->files_only)
        return true;
    for (size_t i = 0; i < q->paths; i++)
        if (edit_has_name(q->path[i], bytes) || may_move_above(q->path[i], bytes))
            return true;
    return q->paths == 0;
}

/* ---- copies of calls ---- */

static const char mark_word[] = "reprise_";
enum { MARK_HASH = EDIT_MARK - sizeof mark_word };

static const char *find_call_mark(struct slice call)
{
    const char *word = slice_find(call.p, call.n, mark_word, sizeof mark_word - 1);

    return word && call.p + call.n - word == EDIT_MARK - 1 ? word : NULL;
}

bool edit_is_marked(struct slice call)
{
    return find_call_mark(call) != NULL;
}

struct slice edit_call_name(struct slice call)
{
    const char *mark = find_call_mark(call);

    return mark ? (struct slice){ mark, EDIT_MARK - 1 } : call;
}

bool edit_mark(struct slice session, struct slice call, char out[EDIT_MARK])
{
    const char *mark = find_call_mark(call);
    uint8_t sum[DIGEST_MOST];
    struct digest d = { .state = NULL };

    if (mark) {
        memcpy(out, mark, EDIT_MARK - 1);
        out[EDIT_MARK - 1] = '\0';
        return true;
    }
    if (!call.n)
        return false;
    digest_begin(&d, DIGEST_SHA256);
    digest_add(&d, session);
    digest_add(&d, (struct slice){ "", 1 });
    digest_add(&d, call);
    const bool done = digest_end(&d, sum);

    digest_fini(&d);
    if (!done)
        return false;
    memcpy(out, mark_word, sizeof mark_word - 1);
    digest_hex(sum, MARK_HASH / 2, out + sizeof mark_word - 1);
    return true;
}
