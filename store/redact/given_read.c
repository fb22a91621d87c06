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
    if (given_is_word_of((struct slice){ text.p + v.at, v.n }, " files compat "))
        return v; /* passwd: files systemd */
    const struct given all = read_words(text, v, &words);
    const struct slice value = { text.p + all.at, all.n };

    return all.n && (kind == NAME_LIKELY ? given_is_seed_phrase(value)
                                         : words > (phrase && !colon ? 3 : 1) && words < 9 &&
                                               !given_is_placeholder(value))
               ? all
               : v;
}

struct given given_read_code(struct slice text, enum name_kind kind, struct given v)
{
    if (kind == NAME_CODE && v.n == 3 && !v.quoted &&
        letters_run(text, v.at, LETTERS_DIGIT, 4) == 3 && text.n - v.at > 6 &&
        text.p[v.at + 3] == ' ' && letters_run(text, v.at + 4, LETTERS_DIGIT, 4) == 3)
        v.n = 7;
    return v;
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

/* As programs make the salts of a configuration: letters of all kinds, and perhaps blanks. */
bool given_is_salt(struct slice v)
{
    size_t marks = 0;

    for (size_t i = 0; i < v.n; i++)
        marks += !given_is_alpha(v.p[i]) && !given_is_blank(v.p[i]);
    return v.n >= 32 && v.n <= 128 && marks > v.n / 3;
}

/* The words of a name in camelCase can be spoken, or are short for others. */
bool given_is_variable(struct slice v)
{
    static const char shorts[] =
        " cfg ctx db dst env md msg my nt pw pwd pswd src ssh str tmp txt usr xyz ";
    size_t humps = 0, capitals = 0;
    bool spoken = true;

    for (size_t i = 0, from = 0; i <= v.n; i++) {
        const bool capital = i < v.n && v.p[i] >= 'A' && v.p[i] <= 'Z';

        if (i < v.n && v.p[i] == '_')
            return true;
        capitals += capital;
        if (i < v.n && !(capital && i > from && v.p[i - 1] >= 'a'))
            continue;
        struct slice hump = { v.p + from, i - from };
        bool vowel = given_is_word_of(hump, shorts);

        for (size_t k = 0; k < hump.n; k++)
            vowel = vowel || given_is_any(hump.p[k], "aeiouyAEIOUY");
        spoken = spoken && vowel;
        humps++;
        from = i;
    }
    return capitals && spoken && v.n >= 3 * humps;
}

bool given_is_place_in_file(struct slice name, struct slice value)
{
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
    const size_t line = letters_run(value, 0, LETTERS_DIGIT, value.n);

    return dot && name.p + name.n - dot <= 6 && line && line <= 6 &&
           (line == value.n || value.p[line] == ':');
}

enum name_kind given_kind_around(struct slice text, size_t at)
{
    enum { AROUND_MOST = 320 };
    size_t i = at, first = at < AROUND_MOST ? 0 : at - AROUND_MOST;

    while (i > first && !given_is_any(text.p[i - 1], "{}"))
        i--;
    if (i == first || text.p[--i] != '{')
        return NAME_PLAIN;
    while (i > first && given_is_any(text.p[i - 1], " \t\n:\"'\\"))
        i--;
    const enum name_kind kind = secret_name_kind(given_name_ending_at(text, i));

    return kind > NAME_LIKELY ? kind : NAME_PLAIN;
}
