#include "store/grep/grep_session.h"

#include <ctype.h>
#include <string.h>

bool grep_plain_is_written(char c)
{
    return c >= ' ' && c < 0x7f && !strchr("\"\\/<>&'", c);
}

bool grep_plain_has_foreign_case(char c)
{
    return strchr("ksKS", c) != NULL;
}

struct plain_runs {
    const char *p, *end;
    bool ignores_case;
    char run[256];
    size_t n;
    struct buf *best;
    enum err_code rc;
};

static void end_run(struct plain_runs *r)
{
    size_t from = 0;

    while (r->ignores_case && from < r->n && grep_plain_has_foreign_case(r->run[from]))
        from++;
    while (r->ignores_case && r->n > from && grep_plain_has_foreign_case(r->run[r->n - 1]))
        r->n--;
    if (r->n - from > r->best->n) {
        r->best->n = 0;
        r->rc = buf_add(r->best, (struct slice){ r->run + from, r->n - from });
    }
    r->n = 0;
}

static void add_to_run(struct plain_runs *r, char c)
{
    if (!grep_plain_is_written(c) || r->n == sizeof r->run)
        end_run(r);
    if (grep_plain_is_written(c))
        r->run[r->n++] = c;
}

/* The previous character may be missing from a match, so the run ends before it. */
static void drop_optional(struct plain_runs *r)
{
    if (r->n)
        r->n--;
    end_run(r);
}

/* p points after the opening bracket. Returns the position after the closing one, or NULL. */
static const char *skip_class(const char *p, const char *end)
{
    if (p < end && *p == '^')
        p++;
    for (const char *first = p; p < end; p++) {
        if (*p == '\\' && p + 1 < end) {
            p++;
        } else if (*p == '[' && p + 1 < end && strchr(":.=", p[1])) {
            const char close[] = { p[1], ']' };
            const char *found = memmem(p + 2, (size_t)(end - p - 2), close, 2);

            p = found ? found + 1 : p;
        } else if (*p == ']' && p != first) {
            return p + 1;
        }
    }
    return NULL;
}

/* p points after the opening parenthesis. Returns the position after the closing one, or NULL, also for everything that
 * begins with ? or *, except a non-capturing group. */
static const char *skip_group(const char *p, const char *end)
{
    unsigned depth = 1;
    bool special = p < end && (*p == '?' || *p == '*') && !(end - p > 1 && p[1] == ':');

    while (!special && p && p < end) {
        char c = *p++;

        if (c == '\\' && p < end && *p != 'Q')
            p++;
        else if (c == '\\')
            return NULL;
        else if (c == '[')
            p = skip_class(p, end);
        else if (c == '(' && p < end && (*p == '?' || *p == '*') && !(end - p > 1 && p[1] == ':'))
            return NULL;
        else if (c == '(')
            depth++;
        else if (c == ')' && --depth == 0)
            return p;
    }
    return NULL;
}

/* Reads one element. Returns false if the pattern cannot be analysed. */
static bool read_element(struct plain_runs *r)
{
    char c = *r->p++;

    switch (c) {
    case '|': return false;
    case '(':
        end_run(r);
        r->p = skip_group(r->p, r->end);
        return r->p != NULL;
    case '[':
        end_run(r);
        r->p = skip_class(r->p, r->end);
        return r->p != NULL;
    case '*':
    case '?': drop_optional(r); return true;
    case '{':
        drop_optional(r);
        r->p = memchr(r->p, '}', (size_t)(r->end - r->p));
        if (!r->p)
            return false;
        r->p++;
        return true;
    case '.':
    case '^':
    case '$':
    /* The character before a plus occurs at least once, so it stays in its run. */
    case '+': end_run(r); return true;
    case '\\':
        /* Text that \Q quotes is not analysed. */
        if (r->p == r->end || *r->p == 'Q')
            return false;
        c = *r->p++;
        if (!isalnum((unsigned char)c)) {
            add_to_run(r, c);
            return true;
        }
        end_run(r);
        return strchr("bBdDwWsSnrtAzZ", c) != NULL;
    default: add_to_run(r, c); return true;
    }
}

enum err_code grep_plain_find(struct slice pattern, bool fixed, bool ignores_case, struct buf *best)
{
    struct plain_runs r = { pattern.p, pattern.p + pattern.n, ignores_case, .best = best };
    bool known = true;

    while (known && !r.rc && r.p < r.end) {
        if (fixed)
            add_to_run(&r, *r.p++);
        else
            known = read_element(&r);
    }
    end_run(&r);
    if (!known)
        best->n = 0;
    return r.rc;
}
