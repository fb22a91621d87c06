#include <string.h>

#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

enum { READ_MOST = 4096 };

size_t given_depth(struct slice text, size_t at)
{
    size_t n = 0;

    while (at + n < text.n && n < 64 && text.p[at + n] == '\\')
        n++;
    return n;
}

/* A quote closes if it is escaped as often as the one that opened, and not more: each level of JSON in JSON doubles the
 * backslashes and adds one. */
static struct given read_quoted(struct slice text, size_t at, size_t depth)
{
    char quote = text.p[at + depth];
    size_t from = at + depth + 1, run = 0;

    for (size_t i = from; i < text.n && i - from < READ_MOST; i++) {
        char c = text.p[i];

        if (c == quote &&
            (run <= depth ? depth || run == 0 : (run - depth) % (2 * (depth + 1)) == 0))
            return (struct given){ from, i - from - (depth < run ? depth : run), true };
        if (c == '\n')
            return (struct given){ from, i - from, true };
        run = c == '\\' ? run + 1 : 0;
    }
    return (struct given){ from, text.n - from < READ_MOST ? text.n - from : READ_MOST, true };
}

struct given given_read(struct slice text, size_t at, bool literal)
{
    size_t depth = given_depth(text, at), n = 0;

    if (at + depth < text.n && given_is_any(text.p[at + depth], "\"'`"))
        return read_quoted(text, at, depth);
    for (; at + n < text.n && n < READ_MOST; n++) {
        char c = text.p[at + n];

        if ((unsigned char)c <= ' ' || given_is_any(c, "\"'`") ||
            (!literal && given_is_any(c, "<,;&|)")))
            break;
        if (c == '\\' && at + n + 1 < text.n && given_is_any(text.p[at + n + 1], "nrt\\\"'"))
            break;
        if (c == '\\' && slice_starts((struct slice){ text.p + at + n, text.n - at - n }, "\\u00"))
            break; /* a quote, a bracket or a control */
    }
    while (n && given_is_any(text.p[at + n - 1], literal ? ";," : "]}.:?!"))
        n--;
    return (struct given){ at, n, false };
}

struct given given_read_header(struct slice text, size_t at, bool cookie)
{
    size_t depth = given_depth(text, at), scheme = 0, n = 0, blanks = 0;
    bool equals = false;

    if (at + depth < text.n && given_is_any(text.p[at + depth], "\"'`"))
        at += depth + 1;
    for (bool inner = false; at + n < text.n && n < READ_MOST; n++) {
        char c = text.p[at + n];

        blanks += c == ' ';
        equals = equals || c == '=';
        if (!cookie && blanks > 1 && !equals) /* prose */
            return (struct given){ at, 0, true };
        if (given_is_any(c, "\"'`") &&
            (inner || (n && text.p[at + n - 1] == '='))) /* Digest username="x" */
            inner = !inner;
        else if (!c || given_is_any(c, "\"'`\r\n") ||
                 (c == '\\' && at + n + 1 < text.n && given_is_any(text.p[at + n + 1], "nr\\\"'")))
            break;
    }
    while (!cookie && scheme < n && letters_have(LETTERS_URL, text.p[at + scheme]))
        scheme++;
    if (!cookie && scheme + 1 < n && text.p[at + scheme] == ' ')
        return (struct given){ at + scheme + 1, n - scheme - 1, true };
    return (struct given){ at, n, true };
}
