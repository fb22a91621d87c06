#include "store/redact/redact.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "store/redact/given_command.h"
#include "store/redact/given_piped.h"
#include "store/redact/given_printed.h"
#include "store/redact/given_value.h"
#include "store/redact/left_out.h"
#include "store/redact/token_form.h"

/* Looks at each byte of a text once, and goes on behind what it found. Each look is bounded, or remembers how far it
 * looked in vain, so that the time is linear in the text. */

void redact_list_fini(struct secret_list *list)
{
    free(list->secret);
    *list = (struct secret_list){ .n = 0 };
}

enum err_code redact_list_add(struct secret_list *list, const char *kind, size_t at, size_t n)
{
    if (!array_reserve(list->secret, list->cap, list->n + 1))
        return ERR_NOMEM;
    list->secret[list->n++] = (struct secret){ kind, at, n };
    return ERR_OK;
}

static int compare_secret_offset(const void *x, const void *y)
{
    const struct secret *a = x, *b = y;

    return (a->at > b->at) - (a->at < b->at);
}

void redact_list_sort(struct secret_list *list)
{
    if (list->n > 1)
        qsort(list->secret, list->n, sizeof *list->secret, compare_secret_offset);
}

struct scan {
    struct slice text;
    struct secret_list *list;
    size_t from;   /* the end of the newest secret */
    size_t mark;   /* the newest character after which a word can begin inside one */
    size_t no_jwt; /* parts of a web token that begin before this are not one */
    struct command_line line;
    bool exact; /* only forms */
};

static enum err_code add_found(struct scan *s, const char *kind, size_t at, size_t n)
{
    return redact_list_add(s->list, kind, at, n);
}

static struct slice redact_rest_of(const struct scan *s, size_t at)
{
    return (struct slice){ s->text.p + at, s->text.n - at };
}

/* ---- keys and web tokens ---- */

/* From BEGIN to END, or to the end of the text if that was cut off. */
static size_t match_pem(struct scan *s, size_t at)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ", key[] = "PRIVATE KEY";
    struct slice rest = redact_rest_of(s, at);

    if (!slice_starts(rest, begin) ||
        !slice_find(rest.p, rest.n < 80 ? rest.n : 80, key, sizeof key - 1))
        return 0;
    const char *stop = slice_find(rest.p, rest.n, end, sizeof end - 1);
    const char *line =
        stop ? memmem(stop + 9, (size_t)(rest.p + rest.n - stop - 9), "-----", 5) : NULL;

    return line ? (size_t)(line + 5 - rest.p) : rest.n;
}

/* The private part of a key file of PuTTY. */
static size_t match_putty(struct scan *s, size_t at)
{
    static const char begin[] = "Private-Lines:", end[] = "Private-MAC:";
    struct slice rest = redact_rest_of(s, at);

    if (!slice_starts(rest, begin))
        return 0;
    const char *stop = slice_find(rest.p, rest.n, end, sizeof end - 1);

    return stop ? (size_t)(stop - rest.p) : rest.n;
}

/* Two or three parts of base64url, the first two of which are JSON objects; of five, if it is encrypted. */
static size_t match_jwt(struct scan *s, size_t at)
{
    struct slice text = s->text;
    size_t n = 0, parts = 0;

    if (at < s->no_jwt || !token_may_begin(text, at) || redact_rest_of(s, at).n < 40 ||
        text.p[at + 1] != 'y')
        return 0;
    for (; parts < 5; parts++) {
        size_t part = letters_run(text, at + n, LETTERS_URL, text.n);

        if (parts == 0 && (part < 17 || at + part + 10 > text.n || text.p[at + part] != '.')) {
            s->no_jwt = at + part;
            return 0;
        }
        if (part < 10)
            break;
        n += part;
        if (at + n + 1 >= text.n || text.p[at + n] != '.' ||
            !letters_have(LETTERS_URL, text.p[at + n + 1]))
            return parts ? n : 0;
        n++;
    }
    return parts > 1 ? n - (parts < 5) : 0;
}

/* The token of a Discord bot: an id in base64, a time, and a signature. */
static size_t match_bot(const struct scan *s, size_t at)
{
    static const struct {
        size_t least, most;
    } part[] = { { 23, 28 }, { 6, 7 }, { 27, 45 } };
    size_t n = 0;

    if (!token_may_begin(s->text, at))
        return 0;
    for (size_t i = 0; i < 3; i++) {
        size_t run = letters_run(s->text, at + n, LETTERS_URL, 64);

        if (run < part[i].least || run > part[i].most ||
            (i < 2 && (at + n + run >= s->text.n || s->text.p[at + n + run] != '.')))
            return 0;
        n += run + (i < 2);
    }
    return n;
}

/* Hashes of passwords: $6$salt$hash, $2y$10$..., $argon2id$v=19$..., {SSHA}... */
static size_t match_crypt(const struct scan *s, size_t at)
{
    static const char *const kinds[] = { "$1$",     "$2a$",     "$2b$",   "$2y$",   "$5$",
                                         "$6$",     "$7$",      "$y$",    "$apr1$", "$argon2",
                                         "$pbkdf2", "$scrypt$", "$sha1$", "{SSHA",  "{SHA}",
                                         "{SMD5}",  "{CRYPT}",  "{PBKDF2" };
    struct slice rest = redact_rest_of(s, at);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (slice_starts(rest, kinds[i])) {
            size_t n = 0;

            while (n < rest.n && n < 512 &&
                   (letters_have(LETTERS_WORD | LETTERS_DOT | LETTERS_BASE64 | LETTERS_DASH,
                                 rest.p[n]) ||
                    strchr("$,{}", rest.p[n])))
                n++;
            return n >= 20 ? n : 0;
        }
    return 0;
}

/* ---- addresses and headers ---- */

/* scheme://user:PASSWORD@host and scheme://TOKEN@host */
static enum err_code find_credentials(struct scan *s, size_t at)
{
    struct slice text = s->text;
    size_t from = at + 3, colon = 0, end = 0, i;

    if (at == 0 || !letters_have(LETTERS_WORD, text.p[at - 1]))
        return ERR_OK;
    for (i = from; i < text.n && i - from < 300; i++) {
        char c = text.p[i];

        if ((unsigned char)c <= ' ' || strchr("\"'`<>\\", c))
            break;
        if (c == ':' && !colon)
            colon = i;
        if (c == '@')
            end = i;
        if ((c == '/' || c == '?' || c == '#') &&
            (end || !colon || letters_run(text, colon + 1, LETTERS_DIGIT, 6) == i - colon - 1))
            break;
    }
    if (!end)
        return ERR_OK;
    if (colon && colon + 1 == end) { /* TOKEN:@host */
        end = colon;
        colon = 0;
    }
    struct slice secret = colon && colon < end
                              ? (struct slice){ text.p + colon + 1, end - colon - 1 }
                              : (struct slice){ text.p + from, end - from };

    if (secret.n == 0 || (given_is_placeholder(secret) && secret.n != 6 && secret.n != 8) ||
        secret.p[0] == '$' || secret.p[0] == '{' || secret.p[0] == '<' || secret.p[0] == '*')
        return ERR_OK;
    if (colon && colon < end)
        return add_found(s, "password in an address", (size_t)(secret.p - text.p), secret.n);
    return secret.n >= 16 && token_is_random(secret)
               ? add_found(s, "token in an address", from, secret.n)
               : ERR_OK;
}

/* jdbc:oracle:thin:USER/PASSWORD@HOST */
static enum err_code find_oracle(struct scan *s, size_t at)
{
    const struct slice text = s->text;
    const size_t near = at < 12 ? at : 12;
    const char *slash = NULL, *end = NULL;

    if (!slice_find(text.p + at - near, near, "oracle:", 7))
        return ERR_OK;
    for (size_t i = at + 1; i < text.n && i - at < 200 && (unsigned char)text.p[i] > ' ' &&
                            !given_is_any(text.p[i], "\"'`\\");
         i++) {
        const char *p = text.p + i;

        if (*p == '/' && !slash && p > text.p + at + 1)
            slash = p;
        if (*p == '@' && slash)
            end = p;
        if (*p == '/' && end)
            break;
    }
    if (!end)
        return ERR_OK;
    const struct slice password = { slash + 1, (size_t)(end - slash - 1) };

    return password.n && !given_is_placeholder(password)
               ? add_found(s, "password in an address", (size_t)(password.p - text.p), password.n)
               : ERR_OK;
}

static bool same_word(const char *p, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]) != word[i])
            return false;
    return true;
}

/* "Bearer abc" and "Basic abc", in headers and in commands that send them. */
static enum err_code find_header(struct scan *s, size_t at)
{
    static const char *const words[] = {
        "bearer ", "basic ", "token ", "ssws ", "apikey ", "token="
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i][0] != (s->text.p[at] | 0x20))
            continue;
        size_t w = strlen(words[i]), from = at + w;

        if (s->text.n - at < w + 8 || !same_word(s->text.p + at, words[i], w))
            continue;
        while (from < s->text.n && from - at < 24 && s->text.p[from] == '"')
            from++;
        size_t n = letters_run(s->text, from,
                               LETTERS_URL | LETTERS_DOT | LETTERS_BASE64 | LETTERS_MARKS, 512);
        struct slice value = { s->text.p + from, n };

        if (n >= 12 && token_is_random(value))
            return add_found(s, "authorization header", from,
                             n + letters_run(s->text, from + n,
                                             LETTERS_URL | LETTERS_DOT | LETTERS_BASE64,
                                             s->text.n));
    }
    return ERR_OK;
}

/* A line of ~/.pgpass: HOST:PORT:DATABASE:USER:PASSWORD. The host has a dot, or the port is one of PostgreSQL, of its
 * poolers or of CockroachDB. alone: nothing else is before it. */
static enum err_code find_pgpass(struct scan *s, size_t at, bool alone)
{
    static const char ports[] = " 5432 5433 5434 5435 5436 6432 6543 15432 25432 26257 54320 54321 "
                                "54322 55432 ";
    size_t field = 0, begin[5] = { at }, i = at;

    for (; i < s->text.n && i - at < 300 && (unsigned char)s->text.p[i] > ' ' &&
           !strchr("\"'\\", s->text.p[i]);
         i++)
        if (s->text.p[i] == ':' && field < 4)
            begin[++field] = i + 1;
    size_t port = field == 4 ? begin[2] - begin[1] - 1 : 0;
    bool dotted = field == 4 && (memchr(s->text.p + at, '.', begin[1] - at) ||
                                 s->text.p[at] == '*' || s->text.p[at] == 'l');
    bool any = port == 1 && s->text.p[begin[1]] == '*';
    bool known = port > 3 && given_is_word_of((struct slice){ s->text.p + begin[1], port }, ports);

    return ((dotted && alone) || known) &&
                   (any ||
                    (port > 2 && letters_run(s->text, begin[1], LETTERS_DIGIT, port) == port)) &&
                   i > begin[4] && begin[3] - begin[2] > 1 && begin[4] - begin[3] > 1 &&
                   !given_is_placeholder((struct slice){ s->text.p + begin[4], i - begin[4] })
               ? add_found(s, "password", begin[4], i - begin[4])
               : ERR_OK;
}

/* ---- all of them ---- */

static enum err_code look_at_word(struct scan *s, size_t at)
{
    char c = s->text.p[at];
    bool line = at == 0 || s->text.p[at - 1] == '\n' ||
                (at > 1 && s->text.p[at - 2] == '\\' && s->text.p[at - 1] == 'n');
    size_t before = s->list->n;
    enum err_code rc = ERR_OK;

    if (at == 0 || command_is_boundary(s->text.p[at - 1]) || line)
        command_line_note(&s->line, s->text, at);
    if (line || (at && given_is_any(s->text.p[at - 1], "\"'+ \t")))
        rc = find_pgpass(s, at, line || s->text.p[at - 1] == '"');
    if (!rc && s->list->n == before && given_is_any(c, "BbTtSsAa") && token_may_begin(s->text, at))
        rc = find_header(s, at);
    return !rc && s->list->n == before ? command_find(&s->line, s->text, at, s->list) : rc;
}

/* Returns true if no word begins at a place and only a token's distinctive part can. Most bytes of a text are so. */
static inline bool is_inside_word(const struct scan *s, size_t at)
{
    enum { MARK_MOST = 16 }; /* how far token_may_begin looks back */

    return at && letters_have(LETTERS_WORD, s->text.p[at]) &&
           letters_have(LETTERS_WORD, s->text.p[at - 1]) && at - s->mark > MARK_MOST;
}

static bool may_end_name(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '=' || c == ':' || c == '>' || c == ',' ||
           c == '|' || c == '(' || c == '/';
}

static enum err_code look_at_byte(struct scan *s, size_t at)
{
    struct slice text = s->text;
    char c = text.p[at];
    struct token_found found;
    size_t n = 0, before = s->list->n;
    enum err_code rc = ERR_OK;

    if (c == '\\' || c == '%' || c == '[')
        s->mark = at;
    if (s->line.below && !s->exact && (c == '\n' || c == '\\')) {
        rc = printed_find_below(&s->line, text, at, s->list);
        if (text.n - at > 1 && (c == '\n' || given_is_any(text.p[at + 1], "n\\")))
            s->line.below = BELOW_NOTHING;
        if (rc || s->list->n > before)
            return rc;
    }
    if (c == '\n' || c == ';' || c == '|' || (c == '&' && at && text.p[at - 1] == '&'))
        command_line_separate(&s->line, c);
    found =
        token_may_be_at(text, at) ? token_find(text, at, s->from) : (struct token_found){ .n = 0 };
    if (found.n)
        return add_found(s, found.kind, found.at, found.n);
    if (c == '-' && (n = match_pem(s, at)))
        return add_found(s, "private key", at, n);
    if (c == 'P' && (n = match_putty(s, at)))
        return add_found(s, "private key", at, n);
    if (is_inside_word(s, at))
        return ERR_OK;
    if (c == 'e' && (n = match_jwt(s, at)))
        return add_found(s, "web token", at, n);
    if ((c == 'M' || c == 'N' || c == 'O') && (n = match_bot(s, at)))
        return add_found(s, "discord token", at, n);
    if ((c == '$' || c == '{') && (n = match_crypt(s, at)))
        return add_found(s, "hash of a password", at, n);
    if (s->exact)
        return ERR_OK;
    if (c == ':' && text.n - at > 4 && text.p[at + 1] == '/' && text.p[at + 2] == '/')
        rc = find_credentials(s, at);
    else if (c == ':' && at > 10 && (text.p[at - 1] == 'n' || text.p[at - 1] == 'i') &&
             (rc = find_oracle(s, at), s->list->n > before))
        return rc;
    else if (given_is_any(c, ":]/%") &&
             (rc = piped_find_marked(text, at, s->list), rc || s->list->n > before))
        return rc;
    else if (may_end_name(c) || (c == '\xef' && slice_starts(redact_rest_of(s, at), "：")))
        rc = given_find(text, at, s->list);
    if (!rc && s->list->n == before &&
        ((s->line.argument_end && at == s->line.argument) || c == '<' ||
         ((c == '-' || (c == '/' && s->line.long_flag)) &&
          (at == 0 || command_is_boundary(text.p[at - 1])))))
        rc = command_find(&s->line, text, at, s->list);
    else if (!rc && c == '*' && (at == 0 || text.p[at - 1] == '\n'))
        rc = find_pgpass(s, at, true);
    else if (!rc && s->list->n == before && letters_have(LETTERS_WORD, c) &&
             (at == 0 || !letters_have(LETTERS_WORD | LETTERS_LOW, text.p[at - 1]) ||
              token_may_begin(text, at)))
        rc = look_at_word(s, at);
    return rc;
}

static enum err_code scan_text(struct slice text, bool exact, struct secret_list *list)
{
    struct scan s = { .text = text, .list = list, .exact = exact };
    enum err_code rc = ERR_OK;

    for (size_t at = 0; at < text.n && !rc;) {
        size_t before = list->n;

        if (text.p[at] == '\0' ||
            (is_inside_word(&s, at) && text.p[at] != 'P' && !token_may_be_at(text, at))) {
            at++;
            continue;
        }
        rc = look_at_byte(&s, at++);
        if (rc || list->n == before)
            continue;
        struct secret *newest = &list->secret[list->n - 1];
        const struct token_found form = token_find(text, newest->at, s.from);

        if (form.n && form.at == newest->at)
            newest->kind = form.kind; /* its form says more than the name beside it */
        s.from = newest->at + newest->n;
        if (s.from > at)
            at = s.mark = s.from;
    }
    return rc;
}

enum err_code redact_find(struct slice text, struct secret_list *list)
{
    return scan_text(text, false, list);
}

enum err_code redact_find_exact(struct slice text, struct secret_list *list)
{
    return scan_text(text, true, list);
}

/* A line that ends with a newline, or with an escaped one in JSON. */
static bool next_line(struct slice *rest, struct slice *line)
{
    size_t n = 0, end = rest->n;

    while (n < end && rest->p[n] != '\n' &&
           !(rest->p[n] == '\\' && n + 1 < end && rest->p[n + 1] == 'n'))
        n++;
    *line = (struct slice){ rest->p, n };
    while (line->n && line->p[line->n - 1] == '\\')
        line->n--;
    n += n < end && rest->p[n] == '\\' ? 2 : n < end;
    *rest = (struct slice){ rest->p + n, end - n };
    return n > 0;
}

/* The members of data: and stringData: of Kubernetes' secrets in YAML. */
static enum err_code find_kubernetes(struct slice text, struct secret_list *list)
{
    struct slice rest = text, line;
    size_t data = 0, indent;
    bool inside = false;
    enum err_code rc = ERR_OK;

    while (!rc && next_line(&rest, &line)) {
        for (indent = 0; indent < line.n && line.p[indent] == ' '; indent++)
            ;
        struct slice body = { line.p + indent, line.n - indent };
        const char *colon = body.n ? memchr(body.p, ':', body.n) : NULL;

        inside = inside && indent > data;
        if (inside && colon && colon + 2 < line.p + line.n && colon[1] == ' ') {
            struct given v = given_read(text, (size_t)(colon + 2 - text.p), true);

            if (v.n && !given_is_placeholder((struct slice){ text.p + v.at, v.n }))
                rc = redact_list_add(list, "kubernetes secret", v.at, v.n);
        }
        if (slice_eq(body, SLICE("data:")) || slice_eq(body, SLICE("stringData:"))) {
            inside = true;
            data = indent;
        }
    }
    return rc;
}

static enum err_code find_in_text(struct slice text, struct secret_list *list)
{
    TRY(redact_find_random(text, list));
    if (slice_has(text, "kind: Secret"))
        TRY(find_kubernetes(text, list));
    return redact_find(text, list);
}

/* Adds what was found in a text without its colours and prefixes, where it is in the text itself. */
static enum err_code add_found_bare(const struct bare_text *bare, struct secret_list *found,
                                    struct secret_list *list)
{
    redact_list_sort(found);
    for (size_t i = 0, first = 0, last; i < found->n; i++) {
        const struct secret *s = &found->secret[i];

        if (!s->n)
            continue;
        while (first < bare->n && bare->left_out[first].at <= s->at)
            first++;
        for (last = first; last < bare->n && bare->left_out[last].at < s->at + s->n; last++)
            ;
        const size_t at = s->at + (first ? bare->left_out[first - 1].bytes : 0);
        const size_t end = s->at + s->n + (last ? bare->left_out[last - 1].bytes : 0);

        TRY(redact_list_add(list, s->kind, at, end - at));
    }
    return ERR_OK;
}

enum err_code redact_find_all(struct slice text, struct secret_list *list)
{
    CLEANUP(bare_text_fini) struct bare_text bare = { .n = 0 };
    CLEANUP(redact_list_fini) struct secret_list found = { .n = 0 };

    TRY(bare_text_make(text, &bare));
    if (bare.colours || !bare.n)
        TRY(find_in_text(text, list));
    if (bare.n) {
        TRY(find_in_text(buf_slice(&bare.text), &found));
        TRY(add_found_bare(&bare, &found, list));
    }
    redact_list_sort(list);
    return ERR_OK;
}
