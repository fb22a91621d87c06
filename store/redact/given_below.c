#include <string.h>

#include "lite/base/cleanup.h"
#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

/* Values on the lines below the one that names them. */

/* What the line that ends at a place asks for: "Password:", "The password is below:", "Recovery codes". */
static enum name_kind kind_of_heading(struct slice text, size_t end, bool *certain)
{
    size_t from, n = 0;

    while (end && given_is_any(text.p[end - 1], " \t*`_:.\r"))
        n += text.p[--end] == ':';
    if (end == 0 || !letters_have(LETTERS_WORD, text.p[end - 1]))
        return NAME_PLAIN;
    for (from = end; from && end - from < 80 && text.p[from - 1] != '\n'; from--)
        ;
    struct slice line = { text.p + from, end - from };
    bool below = slice_find_folded(line.p, line.n, "below", 5) ||
                 slice_find_folded(line.p, line.n, "following", 9) ||
                 slice_find_folded(line.p, line.n, "next line", 9);

    *certain = n || below;
    if (line.n == 0 || line.n > 79 || memchr(line.p, '=', line.n) || memchr(line.p, '(', line.n) ||
        (!*certain && memchr(line.p, '/', line.n)))
        return NAME_PLAIN;
    if (below)
        return secret_name_kind(line);
    enum name_kind kind = secret_name_kind(given_name_ending_at(text, end));

    if (kind >= NAME_CODE)
        return kind;
    struct slice last = given_word_before(text, end),
                 before = given_word_before(text, (size_t)(last.p - text.p));

    return before.p >= line.p
               ? secret_name_kind((struct slice){ before.p, (size_t)(text.p + end - before.p) })
               : NAME_PLAIN;
}

/* The only word of the line that begins at a place, without what marks it as an item of a list or as code. */
static struct given read_line_word(struct slice text, size_t at)
{
    size_t digits;

    while (at < text.n && given_is_any(text.p[at], " \t-*`"))
        at++;
    digits = letters_run(text, at, LETTERS_DIGIT, 3);
    if (digits && at + digits + 1 < text.n && given_is_any(text.p[at + digits], ".)") &&
        text.p[at + digits + 1] == ' ')
        at += digits + 2;
    const struct given v = given_read(text, at, true);
    size_t end = v.at + v.n;

    if (v.quoted || (end < text.n && text.p[end] == '`'))
        end++;
    return v.n && v.n < 80 && given_is_line_end(text, end) ? v : (struct given){ at, 0, false };
}

/* The nth field of the line that begins at a place, without blanks and quotes; fields: how many the line has. */
struct given given_read_field(struct slice text, size_t at, char separator, size_t nth,
                              size_t *fields)
{
    struct given v = { at, 0, false };

    *fields = 1;
    for (size_t from = at, i = at;; i++) {
        bool end = i >= text.n || text.p[i] == '\n' || i - at > 400;

        if (!end && text.p[i] != separator)
            continue;
        if (*fields == nth + 1)
            v = (struct given){ from, i - from, false };
        if (end)
            break;
        from = i + 1;
        ++*fields;
    }
    while (v.n && given_is_any(text.p[v.at], " \t\"'`")) {
        v.at++;
        v.n--;
    }
    while (v.n && given_is_any(text.p[v.at + v.n - 1], " \t\r\"'`"))
        v.n--;
    return v;
}

/* The separator of a line that ends at a place and holds the names of columns and nothing else, or 0. */
static char column_separator(struct slice text, size_t begin, size_t end)
{
    char separator = 0;

    for (size_t i = begin; i < end; i++) {
        char c = text.p[i];

        if (letters_have(LETTERS_URL, c) || c == ' ' || c == '"')
            continue;
        if ((separator && c != separator) || !given_is_any(c, ",;\t|"))
            return 0;
        separator = c;
    }
    return separator;
}

/* The rows of a table, the names of whose columns end at a place: "user,password" and "bob,w0rd". */
static enum err_code find_in_column(struct slice text, size_t at, struct secret_list *list)
{
    enum { VAIN_MOST = 16 }; /* rows without a secret */
    size_t begin = at, fields = 1, nth = 0, n;
    enum name_kind kind = NAME_PLAIN;

    while (begin && at - begin < 200 && text.p[begin - 1] != '\n')
        begin--;
    const char separator = column_separator(text, begin, at);

    for (; separator && nth < fields; nth++) {
        struct given name = given_read_field(text, begin, separator, nth, &fields);

        kind = secret_name_kind((struct slice){ text.p + name.at, name.n });
        if (kind == NAME_PASSWORD || kind == NAME_CODE)
            break;
    }
    for (size_t line = at + 1, vain = 0;
         separator && nth < fields && line < text.n && vain < VAIN_MOST;) {
        struct given v = given_read_field(text, line, separator, nth, &n);
        const char *end = memchr(text.p + line, '\n', text.n - line);
        struct slice value = { text.p + v.at, v.n };

        if (n != fields)
            break;
        if (given_has_digit(value) && v.n < 80 && !memchr(value.p, ' ', v.n) &&
            !memchr(value.p, '(', v.n) && given_is_secret(kind, value)) {
            TRY(given_add(list, kind, v));
            vain = 0;
        } else
            vain++;
        line = end ? (size_t)(end + 1 - text.p) : text.n;
    }
    return ERR_OK;
}

/* The name of a column that begins at a place, up to two blanks. */
static struct slice aligned_name(struct slice text, size_t from, size_t end)
{
    size_t n = 0;

    while (from + n < end && letters_have(LETTERS_URL, text.p[from + n]))
        n++;
    return (struct slice){ text.p + from, n };
}

/* The rows below a name of a column, whose values begin where it does. The row of a table of variables has the name of
 * its value in front. */
static enum err_code find_under(struct slice text, size_t at, size_t column, struct slice name,
                                struct secret_list *list)
{
    enum { ROWS_MOST = 64 };
    const bool value = given_is_word_of(name, " value ");
    const enum name_kind of_column = secret_name_kind(name);

    if (!value && of_column < NAME_TOKEN)
        return ERR_OK;
    for (size_t line = at + 1, rows = 0; line < text.n && rows < ROWS_MOST; rows++) {
        const char *stop = memchr(text.p + line, '\n', text.n - line);
        const size_t end = stop ? (size_t)(stop - text.p) : text.n, from = line + column;

        if (end == line)
            break;
        const enum name_kind kind =
            value ? secret_name_kind(aligned_name(text, line, end)) : of_column;

        line = end + 1;
        if (from >= end || kind < NAME_TOKEN || (column && text.p[from - 1] != ' '))
            continue;
        const struct given v = given_read(text, from, true);
        const struct slice word = { text.p + v.at, v.n };

        if (v.n > 3 && given_has_digit(word) && !memchr(word.p, '(', word.n) &&
            given_is_secret(kind, word))
            TRY(given_add(list, kind, v));
    }
    return ERR_OK;
}

/* A line that ends at a place and holds the names of columns with two blanks between them. */
static enum err_code find_in_aligned(struct slice text, size_t at, struct secret_list *list)
{
    enum { HEAD_MOST = 300 };
    size_t begin = at, columns = 0;

    while (begin && at - begin < HEAD_MOST && text.p[begin - 1] != '\n')
        begin--;
    if (!slice_find(text.p + begin, at - begin, "  ", 2))
        return ERR_OK;
    for (size_t i = begin; i < at; columns++) {
        const struct slice name = aligned_name(text, i, at);

        if (!name.n)
            return ERR_OK;
        if (columns || slice_find(name.p, (size_t)(text.p + at - name.p), "  ", 2))
            TRY(find_under(text, at, i - begin, name, list));
        for (i += name.n; i < at && text.p[i] == ' '; i++)
            ;
    }
    return ERR_OK;
}

enum err_code given_find_below(struct slice text, size_t at, struct secret_list *list)
{
    bool certain;
    enum name_kind kind = kind_of_heading(text, at, &certain);
    size_t blank = 0, found = 0;

    TRY(find_in_column(text, at, list));
    TRY(find_in_aligned(text, at, list));

    if (kind < NAME_CODE || kind == NAME_TOKEN)
        return ERR_OK;
    for (size_t line = at + 1; line < text.n && found < 24;) {
        const char *end = memchr(text.p + line, '\n', text.n - line);
        size_t next = end ? (size_t)(end + 1 - text.p) : text.n;
        struct given v = read_line_word(text, line);
        struct slice value = { text.p + v.at, v.n };
        bool fence = slice_starts((struct slice){ text.p + line, text.n - line }, "```");

        line = next;
        if (fence || v.at + 1 >= next) {
            if (++blank > 2 || found)
                break;
            continue;
        }
        bool secret = kind == NAME_CODE
                          ? given_is_secret(kind, value)
                          : v.n > 5 && !given_is_placeholder(value) && !given_is_path(value) &&
                                !given_is_reference(text, v) &&
                                (given_is_mixed_word(value) || (certain && given_has_digit(value)));

        if (!secret)
            break;
        TRY(given_add(list, kind, v));
        found++;
        if (kind != NAME_CODE)
            break;
    }
    return ERR_OK;
}
