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

/* "correct horse battery staple": words of letters up to the end of a line or of the quotes. A word of a sentence, or one
 * that says how a secret is, makes it a sentence. */
static struct given read_words(struct slice text, struct given v, size_t *words)
{
    static const char prose[] =
        " must is the a an should be to your you not will can has are of for and or if with in was "
        "it its this that as at by on from may required needed used stored wrong empty missing "
        "invalid optional expired never always only set unset asked entered protected found given ";
    size_t n = 0, from = 0;

    for (*words = 1; v.at + n < text.n && n < 220 && !given_is_any(text.p[v.at + n], "\n\r\\\"'`");
         n++)
        if (!given_is_alpha(text.p[v.at + n])) {
            const bool ends = text.p[v.at + n] == '.' && given_is_line_end(text, v.at + n + 1);

            if (ends)
                break;
            if (text.p[v.at + n] != ' ' ||
                given_is_word_of((struct slice){ text.p + v.at + from, n - from }, prose))
                return (struct given){ v.at, 0, false };
            ++*words;
            from = n + 1;
        }
    return given_is_word_of((struct slice){ text.p + v.at + from, n - from }, prose)
               ? (struct given){ v.at, 0, false }
               : (struct given){ v.at, n, true };
}

struct given given_read_phrase(struct slice text, struct slice name, enum name_kind kind,
                               bool colon, struct given v)
{
    const bool phrase = slice_find_folded(name.p, name.n, "phrase", 6) != NULL;
    size_t words, from = (size_t)(name.p - text.p);

    if (name.n && name.p[0] == 'n' && from && text.p[from - 1] == '\\')
        from++; /* behind an escaped end of a line */
    if (!(colon || phrase) ||
        (kind != NAME_LIKELY && kind != NAME_PASSWORD &&
         !(name.n < 8 && slice_find_folded(name.p, name.n, "secret", 6))) ||
        (kind > NAME_LIKELY && !phrase && !given_is_line_start(text, from)))
        return v;
    const struct given all = read_words(text, v, &words);
    const struct slice value = { text.p + all.at, all.n };

    return all.n && (kind == NAME_LIKELY ? given_is_seed_phrase(value)
                                         : words > (phrase && !colon ? 3 : 1) && words < 9 &&
                                               !given_is_placeholder(value))
               ? all
               : v;
}

struct given given_read_word(struct slice text, size_t at)
{
    const size_t word = at;

    at += at < text.n && text.p[at] == ',';
    while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\t'))
        at++;
    if (at >= text.n || at == word || strchr("\n\r;|&)`", text.p[at]) ||
        (text.p[at] == '\\' && at + 1 < text.n && strchr("\nn", text.p[at + 1])))
        return (struct given){ at, 0, false };
    at += text.n - at > 1 && text.p[at] == 'N' && text.p[at + 1] == '\''; /* N'word' of SQL */
    return given_read(text, at, true);
}
