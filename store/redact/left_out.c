#include "store/redact/left_out.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "store/redact/given_value.h"

/* What colours a text, as a terminal gets it or as it is written in JSON and in programs: ESC[0;32m, \u001b[K, \033[m.
 * A bracket is at `at`; returns where the sequence begins and ends, or an empty range. */
static struct slice colour_around(struct slice text, size_t at)
{
    static const char *const escapes[] = { "u001b", "u001B", "x1b", "x1B", "033", "e" };
    size_t from = at, to = at + 1;

    if (at && text.p[at - 1] == '\x1b')
        from--;
    for (size_t i = 0; i < COUNT_OF(escapes) && from == at; i++) {
        const size_t n = strlen(escapes[i]);

        if (at > n && text.p[at - n - 1] == '\\' && memcmp(text.p + at - n, escapes[i], n) == 0)
            from -= n + 1;
    }
    while (from < at && from && text.p[from] == '\\' && text.p[from - 1] == '\\')
        from--;
    while (to < text.n && to - at < 32 && given_is_any(text.p[to], "0123456789;:"))
        to++;
    return from < at && to < text.n && given_is_any(text.p[to], "mK")
               ? (struct slice){ text.p + from, to + 1 - from }
               : (struct slice){ text.p + at, 0 };
}

static struct slice next_colour(struct slice text, size_t from)
{
    for (const char *p = text.p + from;
         (p = slice_find(p, (size_t)(text.p + text.n - p), "[", 1)) != NULL; p++) {
        const struct slice colour = colour_around(text, (size_t)(p - text.p));

        if (colour.n && colour.p >= text.p + from)
            return colour;
    }
    return (struct slice){ text.p + text.n, 0 };
}

/* How many letters of a set follow; at least so many, or 0. */
static size_t left_out_run(struct slice text, size_t at, const char *set, size_t least, size_t most)
{
    size_t n = 0;

    while (at + n < text.n && n < most && given_is_any(text.p[at + n], set))
        n++;
    return n >= least ? n : 0;
}

static bool left_out_is_at(struct slice text, size_t at, const char *set)
{
    return at < text.n && given_is_any(text.p[at], set);
}

/* How long the time stamp or the number is with which a program begins the line at a place: "2026-11-20T10:22:31.5Z ",
 * "[10:22:31] ", "    12\t" of cat -n. */
static size_t prefix_of_line(struct slice text, size_t at)
{
    static const char digits[] = "0123456789";
    const size_t blanks = left_out_run(text, at, " ", 0, 8), number = at + blanks;
    const size_t digits_n = left_out_run(text, number, digits, 1, 7), behind = number + digits_n;
    size_t i = at;

    if (digits_n && left_out_is_at(text, behind, "\t"))
        return behind + 1 - at;
    if (digits_n && slice_starts((struct slice){ text.p + behind, text.n - behind }, "\u2192"))
        return behind + 3 - at;
    i += left_out_is_at(text, i, "[");
    const size_t date = left_out_run(text, i, "0123456789-/", 8, 10);

    if (date && left_out_is_at(text, i + date, "T "))
        i += date + 1;
    if (left_out_run(text, i, digits, 2, 2) == 0 || !left_out_is_at(text, i + 2, ":") ||
        left_out_run(text, i + 3, digits, 2, 2) == 0 || !left_out_is_at(text, i + 5, ":") ||
        left_out_run(text, i + 6, digits, 2, 2) == 0)
        return 0;
    i += 8;
    if (left_out_is_at(text, i, ".,"))
        i += 1 + left_out_run(text, i + 1, digits, 1, 9);
    i += left_out_run(text, i, "Z", 0, 1);
    i += left_out_is_at(text, i, "+-") ? 1 + left_out_run(text, i + 1, "0123456789:", 4, 5) : 0;
    i += left_out_is_at(text, i, "]");
    return left_out_is_at(text, i, " \t") ? i + 1 - at : left_out_is_at(text, i, "\n") ? i - at : 0;
}

/* The start of the next line, behind which another one may be, or the end. */
static size_t line_after(struct slice text, size_t at)
{
    const char *end = memchr(text.p + at, '\n', text.n - at);

    return end ? (size_t)(end + 1 - text.p) : text.n;
}

/* A program that begins lines so begins most of them so. */
static bool has_prefixes(struct slice text)
{
    enum { LINES = 24 };
    size_t lines = 0, prefixes = 0;

    for (size_t at = 0; at < text.n && lines < LINES; at = line_after(text, at)) {
        prefixes += prefix_of_line(text, at) > 0;
        lines++;
    }
    return prefixes * 2 > lines;
}

static struct slice next_prefix(struct slice text, size_t from)
{
    size_t at = from && text.p[from - 1] != '\n' ? line_after(text, from) : from, n = 0;

    while (at < text.n && (n = prefix_of_line(text, at)) == 0)
        at = line_after(text, at);
    return (struct slice){ text.p + at, n };
}

void bare_text_fini(struct bare_text *bare)
{
    buf_fini(&bare->text);
    free(bare->left_out);
}

enum err_code bare_text_make(struct slice text, struct bare_text *bare)
{
    const struct slice none = { text.p + text.n, 0 };
    size_t from = 0;

    bare->prefixes = has_prefixes(text);
    struct slice colour = next_colour(text, 0),
                 prefix = bare->prefixes ? next_prefix(text, 0) : none;

    while (colour.n || prefix.n) {
        const struct slice next = colour.n && colour.p < prefix.p ? colour : prefix;
        const size_t at = (size_t)(next.p - text.p);

        bare->colours = bare->colours || next.p == colour.p;
        if (!array_reserve(bare->left_out, bare->cap, bare->n + 1))
            return ERR_NOMEM;
        TRY(buf_add(&bare->text, (struct slice){ text.p + from, at - from }));
        from = at + next.n;
        bare->left_out[bare->n++] = (struct left_out){ bare->text.n, from - bare->text.n };
        if (colour.n && colour.p < text.p + from)
            colour = next_colour(text, from);
        if (prefix.n && prefix.p < text.p + from)
            prefix = next_prefix(text, from);
    }
    return bare->n ? buf_add(&bare->text, (struct slice){ text.p + from, text.n - from }) : ERR_OK;
}
