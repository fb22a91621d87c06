#include "tui/config/shell.h"

#include <stdbool.h>
#include <string.h>

#include "tui/text/clean.h"

static bool is_plain_word(struct slice word)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+:,./-=";

    if (word.n == 0 || word.p[0] == '=' || word.p[0] == '%') /* zsh expands =word, fish %self */
        return false;
    for (size_t i = 0; i < word.n; i++)
        if (!memchr(chars, word.p[i], sizeof chars - 1))
            return false;
    return true;
}

/* Command substitution removes newlines at the end of a word, so these follow it in quotes. The format of printf escapes
 * everything that it, or the history expansion of an interactive shell, could read. */
static enum err_code quote_escaped(struct buf *out, struct slice word)
{
    size_t n = word.n;
    enum err_code rc = buf_add(out, SLICE("\"$(printf '"));

    while (n && word.p[n - 1] == '\n')
        n--;
    for (size_t i = 0; rc == ERR_OK && i < n; i++) {
        unsigned char c = (unsigned char)word.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '/' || c == '.' || c == '_' || c == ' ' || (c == '-' && i > 0);

        rc = plain ? buf_add_byte(out, (char)c) : buf_addf(out, "\\%03o", c);
    }
    if (rc == ERR_OK)
        rc = buf_add(out, n < word.n ? SLICE("')\"'") : SLICE("')\""));
    if (rc == ERR_OK && n < word.n)
        rc = buf_add(out, (struct slice){ word.p + n, word.n - n });
    return rc == ERR_OK && n < word.n ? buf_add_byte(out, '\'') : rc;
}

/* Quotes and backslashes are outside the quotes, because fish reads \' and \\ inside them as escapes. No two quotes
 * follow each other: with RC_QUOTES zsh reads them as one. */
static enum err_code quote_simple(struct buf *out, struct slice word)
{
    bool open = false;
    enum err_code rc = word.n ? ERR_OK : buf_add(out, SLICE("''"));

    for (size_t i = 0; rc == ERR_OK && i < word.n; i++) {
        bool bare = word.p[i] == '\'' || word.p[i] == '\\';

        if (bare == open) {
            rc = buf_add_byte(out, '\'');
            open = !open;
        }
        if (rc == ERR_OK && bare)
            rc = buf_add_byte(out, '\\');
        if (rc == ERR_OK)
            rc = buf_add_byte(out, word.p[i]);
    }
    return rc == ERR_OK && open ? buf_add_byte(out, '\'') : rc;
}

enum err_code shell_quote(struct buf *out, struct slice word)
{
    size_t before = out->n;
    bool clean = false;

    if (is_plain_word(word))
        return buf_add(out, word);

    /* A terminal may show the word otherwise than it is. */
    struct buf shown = { 0 };
    enum err_code rc = clean_add(&shown, word);

    clean = rc == ERR_OK && slice_eq(word, buf_slice(&shown));
    buf_fini(&shown);

    if (rc == ERR_OK)
        rc = clean ? quote_simple(out, word) : quote_escaped(out, word);
    if (rc)
        out->n = before;
    return rc;
}

/* The rest of the line, and the quotes that it is in. */
struct reader {
    struct slice rest;
    char quote; /* ' or " or 0 */
    const struct shell_value *values;
    size_t n;
};

static bool shell_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char next_byte(struct reader *r)
{
    r->rest.n--;
    return *r->rest.p++;
}

/* The value of a "{name}" at the front, which is skipped; NULL if there is no such name. */
static const struct slice *shell_read_value(struct reader *r)
{
    for (size_t i = 0; i < r->n; i++) {
        size_t len = strlen(r->values[i].name);

        if (r->rest.n >= len + 2 && r->rest.p[0] == '{' && r->rest.p[len + 1] == '}' &&
            memcmp(r->rest.p + 1, r->values[i].name, len) == 0) {
            r->rest.p += len + 2;
            r->rest.n -= len + 2;
            return &r->values[i].value;
        }
    }
    return NULL;
}

static enum err_code read_piece(struct reader *r, struct buf *word)
{
    const struct slice *value = r->quote == '\'' ? NULL : shell_read_value(r);

    if (value)
        return buf_add(word, *value);
    char c = next_byte(r);

    if (r->quote && c == r->quote) {
        r->quote = 0;
        return ERR_OK;
    }
    if (!r->quote && (c == '\'' || c == '"')) {
        r->quote = c;
        return ERR_OK;
    }
    if (c == '\\' && r->quote != '\'' && r->rest.n)
        c = next_byte(r);
    return buf_add_byte(word, c);
}

enum err_code shell_split(struct slice line, const struct shell_value *values, size_t n,
                          struct arena *a, char ***argv, struct err *e)
{
    struct reader r = { .rest = line, .values = values, .n = n };
    struct buf word = { 0 };
    size_t words = 0;
    bool found = true;
    /* Every word except the last takes at least two bytes of the line. */
    char **list = arena_zalloc(a, (line.n / 2 + 2) * sizeof *list);
    enum err_code rc = list ? ERR_OK : ERR_NOMEM;

    while (rc == ERR_OK && found) {
        /* Read one word into the buffer. */
        word.n = 0;
        while (r.rest.n && shell_blank(r.rest.p[0]))
            next_byte(&r);
        found = r.rest.n > 0;
        while (rc == ERR_OK && r.rest.n && (r.quote || !shell_blank(r.rest.p[0])))
            rc = read_piece(&r, &word);
        if (!rc)
            rc = r.quote ? ERR_USAGE : ERR_OK;

        if (rc == ERR_OK && found) {
            list[words] = (char *)arena_copy(a, buf_slice(&word)).p;
            rc = list[words++] ? ERR_OK : ERR_NOMEM;
        }
    }
    buf_fini(&word);
    if (rc)
        return rc == ERR_USAGE ? err_set(e, rc, "", "read command: a quote is not closed")
                               : err_nomem(e);
    if (words == 0)
        return err_set(e, ERR_USAGE, "", "read command: the command is empty");
    *argv = list;
    return ERR_OK;
}
