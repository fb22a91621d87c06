#include "store/redact/given_value.h"

#include <string.h>

#include "lite/base/cleanup.h"
#include "store/redact/token_form.h"

/* A password has no form of its own. It is found by the name beside it, in any language of programs or of people, and
 * most names of this kind have harmless values, too. The search begins at the operator, which is rarer than letters, and
 * reads in both directions:
 *
 *     DB_PASSWORD    =      "w0rd"
 *     <- the name    at     the value ->    then the value is judged by the kind of the name
 *
 * The stronger the name, the less the value has to prove: a password may be any literal, a mere key has to be random. A
 * value without quotes may be an expression, so it needs more. Every operator of a session is looked at, so the search
 * for a name has limits (NAME_MOST and the others). Code is not parsed, because it comes cut, escaped several times, and
 * in languages that are not known. */

static const char kind_password[] = "password";
static const char kind_given[] = "value of a secret name";

enum { NAME_MOST = 64, PHRASE_MOST = 48, GAP_MOST = 24, TAG_MOST = 160 };

/* ---- the name before an operator ---- */

struct naming {
    struct slice name;
    enum name_kind kind;
    size_t at;      /* where the name begins */
    bool in_quotes; /* "name": or ["name"] = */
};

/* A name in text that was escaped begins after the letters of the escape: \n, \u001b, \x1b, %3D and ESC[32m. */
static size_t escape_letters(struct slice text, size_t at, size_t n)
{
    const char before = at ? text.p[at - 1] : 0;

    if (!given_is_any(before, "[;\\%"))
        return 0;
    const size_t digits = letters_run(text, at, LETTERS_DIGIT, n);

    if ((before == '[' || before == ';') && digits < n && text.p[at + digits] == 'm')
        return digits + 1;
    for (size_t k = 1; k < n && k <= 5; k++)
        if (letters_have(LETTERS_WORD, text.p[at + k]) &&
            token_may_begin((struct slice){ text.p, at + k }, at + k) &&
            (before == '\\' || before == '%'))
            return k;
    return 0;
}

struct slice given_name_ending_at(struct slice text, size_t end)
{
    size_t n = 0;

    while (n < end && n < NAME_MOST && given_is_name_letter(text.p[end - n - 1]))
        n++;
    const struct slice name = { text.p + end - n, n };
    const size_t escape = escape_letters(text, end - n, n);
    const struct slice rest = { name.p + escape, n - escape };

    return escape && secret_name_kind(rest) >= secret_name_kind(name) ? rest : name;
}

/* The name in an attribute or member before: <add key="Password" value=, - name: PASSWORD\n value:, {"name":"x","value": */
static struct slice given_value_name_beside(struct slice text, size_t at)
{
    static const char *const words[] = { "name", "key", "Name", "Key", "variable", "id" };
    size_t from = at > TAG_MOST ? at - TAG_MOST : 0;

    for (size_t i = at; i > from + 4; i--) {
        if (given_is_any(text.p[i], "<{") && i < at)
            from = i;
        if (!given_is_any(text.p[i], "=:"))
            continue;
        size_t end = i;
        while (end > from && given_is_any(text.p[end - 1], "\"'\\ "))
            end--;
        struct slice word = given_name_ending_at(text, end);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (slice_eq(word, slice_of(words[k]))) {
                size_t to = i + 1;
                while (to < at && given_is_any(text.p[to], "\"'\\ "))
                    to++;
                size_t n = letters_run(text, to, LETTERS_URL | LETTERS_DOT, NAME_MOST);
                return (struct slice){ text.p + to, n };
            }
    }
    return (struct slice){ .n = 0 };
}

/* variable "db_password" { default = */
static struct slice variable_before(struct slice text, size_t at)
{
    const size_t from = at > TAG_MOST ? at - TAG_MOST : 0;
    static const char word[] = "variable ";

    for (size_t i = at; i-- > from && text.p[i] != '}';)
        if (slice_starts((struct slice){ text.p + i, at - i }, word)) {
            i += sizeof word - 1;
            while (i < at && given_is_any(text.p[i], "\"\\"))
                i++;
            return (struct slice){ text.p + i, letters_run(text, i, LETTERS_URL, NAME_MOST) };
        }
    return (struct slice){ .n = 0 };
}

/* A member that is named for what it is: the name beside it says more. */
static struct slice name_of_member(struct slice text, size_t at, struct slice name)
{
    return given_is_word_of(name, " value val ") ? given_value_name_beside(text, at)
           : slice_eq(name, SLICE("default"))    ? variable_before(text, at)
                                                 : name;
}

/* The tag before the one that opens at a place: <data name="password"><value>, <key>password</key><string>. A value may
 * have the name itself, as <string name="password"> does. */
static struct slice name_of_outer_element(struct slice text, size_t at)
{
    size_t end = at, from;

    while (end && given_is_any(text.p[end - 1], " \t\r\n"))
        end--;
    const char *close = memchr(text.p + at, '>', text.n - at < TAG_MOST ? text.n - at : TAG_MOST);
    const struct slice own =
        close ? given_value_name_beside(text, (size_t)(close - text.p)) : (struct slice){ .n = 0 };

    if (own.n || !end || text.p[end - 1] != '>')
        return own;
    for (from = end - 1; from && end - from < TAG_MOST && text.p[from] != '<'; from--)
        ;
    if (!slice_starts((struct slice){ text.p + from, end - from }, "</key>"))
        return given_value_name_beside(text, end - 1);
    return given_name_ending_at(text, from);
}

/* <password>, <ns:password type="x">, <string name="password"> */
static struct slice name_of_element(struct slice text, size_t at)
{
    size_t from = at;

    while (from > 0 && at - from < TAG_MOST && !given_is_any(text.p[from - 1], "<>\n"))
        from--;
    if (from == 0 || text.p[from - 1] != '<' || text.p[from] == '/')
        return (struct slice){ .n = 0 };
    size_t n = letters_run(text, from, LETTERS_URL | LETTERS_DOT | LETTERS_MARKS, NAME_MOST);
    struct slice name = { text.p + from, n };

    if (n && memchr(name.p, '@', n)) /* <pwd@example.org> */
        return (struct slice){ .n = 0 };
    if (secret_name_kind(name) > NAME_LIKELY)
        return name;
    return given_is_word_of(name, " value string ") ? name_of_outer_element(text, from - 1)
                                                    : given_value_name_beside(text, at);
}

static struct naming read_naming(struct slice text, size_t at)
{
    struct naming out = { .kind = NAME_PLAIN };
    size_t end = at, gap = 0;

    if (text.p[at] == '>') {
        out.name = name_of_element(text, at);
        out.kind = secret_name_kind(out.name);
        out.in_quotes = true;
        return out;
    }
    for (; end && gap < GAP_MOST && given_is_any(text.p[end - 1], " \t\"'`]\\*:|?"); gap++, end--)
        out.in_quotes = out.in_quotes || given_is_any(text.p[end - 1], "\"'`");
    if (text.p[at] == ',' && !out.in_quotes)
        return out;
    const size_t foreign = given_is_any(text.p[at], ":=\xef") ? secret_name_foreign(text, end) : 0;

    if (foreign) {
        out.at = end - foreign;
        out.name = (struct slice){ text.p + out.at, foreign };
        out.kind = NAME_PASSWORD;
        return out;
    }

    /* AWS Secret Access Key [None]: */
    const char *shown = gap && text.p[end] == ']' && text.p[at] == ':'
                            ? memrchr(text.p + (end < 40 ? 0 : end - 40), '[', end < 40 ? end : 40)
                            : NULL;

    if (shown && shown > text.p && shown[-1] == ' ')
        end = (size_t)(shown - 1 - text.p);
    out.name = given_name_ending_at(text, end);
    if (out.name.n == 0)
        return out;
    out.at = end - out.name.n;
    out.name = name_of_member(text, out.at, out.name);
    out.kind = secret_name_kind(out.name);
    if (out.kind == NAME_PLAIN && out.in_quotes && slice_has(out.name, "."))
        out.kind = given_kind_around(text, out.at);
    if (out.kind > NAME_LIKELY || out.at == 0)
        return out;
    /* "API key:", "Client Secret =" and "datadog api key =" */
    size_t words = 0, from = out.at, two = out.at;

    while (from && end - from < PHRASE_MOST &&
           (given_is_blank(text.p[from - 1]) || given_is_name_letter(text.p[from - 1]))) {
        from--;
        if (given_is_blank(text.p[from]) && from && !given_is_blank(text.p[from - 1]))
            words++;
        if (words < 2)
            two = from;
    }
    if (from == out.at)
        return out;
    enum name_kind kind = secret_name_kind((struct slice){ text.p + two, end - two });

    if (kind > out.kind)
        out.kind = kind;
    if (out.kind == NAME_PLAIN &&
        secret_name_kind((struct slice){ text.p + from, end - from }) == NAME_SERVICE)
        out.kind = NAME_SERVICE;
    return out;
}

/* ---- words without quotes ---- */

/* process.env.PASSWORD, self->token, tokens[i] */
bool given_is_reference(struct slice text, struct given v)
{
    struct slice value = { text.p + v.at, v.n };
    char next = v.at + v.n < text.n ? text.p[v.at + v.n] : 0;

    if (next == '(' || next == '[' || memchr(value.p, '(', value.n) ||
        memchr(value.p, '[', value.n) || slice_has(value, "->") || slice_has(value, "::"))
        return true;
    const char *dot = memchr(value.p, '.', value.n);

    return dot && dot > value.p && given_is_alpha(value.p[0]) && dot + 1 < value.p + value.n &&
           given_is_alpha(dot[1]) &&
           letters_run(value, 0, LETTERS_WORD | LETTERS_LOW | LETTERS_DOT, value.n) == value.n &&
           !token_is_random(value);
}

bool given_is_line_end(struct slice text, size_t at)
{
    while (at < text.n && given_is_blank(text.p[at]))
        at++;
    return at >= text.n || given_is_any(text.p[at], "\r\n#") ||
           (text.p[at] == '"' && (at + 1 == text.n || given_is_any(text.p[at + 1], "},]\r\n"))) ||
           (text.p[at] == '\\' && at + 1 < text.n && given_is_any(text.p[at + 1], "nr\\\""));
}

bool given_is_line_start(struct slice text, size_t at)
{
    bool quoted = false;

    for (; at && given_is_any(text.p[at - 1], " \t-\"'"); at--)
        quoted = quoted || text.p[at - 1] == '"';
    return at == 0 || given_is_any(text.p[at - 1], "\n$>#%") ||  /* or behind a prompt */
           (quoted && given_is_any(text.p[at - 1], "\\:,[{")) || /* or in JSON */
           (at >= 2 && text.p[at - 2] == '\\' && text.p[at - 1] == 'n');
}

/* after: where the value begins; direct: without blanks around the operator. */
static bool is_bare_secret(struct slice text, const struct naming *name, char op, bool direct,
                           struct given v)
{
    struct slice value = { text.p + v.at, v.n };
    bool constant = secret_name_is_constant(name->name);
    size_t letters = 0, digits = 0;
    char next = v.at + v.n < text.n ? text.p[v.at + v.n] : '\n';

    if (given_is_any(value.n ? value.p[0] : 0, "[{(") || given_is_hole(value) ||
        (given_is_word_of(name->name, " pwd oldpwd ") && given_is_path(value)))
        return false;
    if (!(constant && direct && op == '=' && name->kind > NAME_CODE) && given_is_placeholder(value))
        return false;
    if (name->kind <= NAME_CODE)
        return given_is_secret(name->kind, value) && next != '(';
    if (given_is_path(value) || (direct && op == ':' && given_is_place_in_file(name->name, value)))
        return false;
    if (constant && direct && op == '=')
        return true;
    bool whole_line = given_is_line_start(text, name->at) && given_is_line_end(text, v.at + v.n);

    if (given_is_reference(text, v) &&
        !(op == ':' && whole_line && !memchr(value.p, '(', value.n) && next != '('))
        return false;
    for (size_t i = 0; i < value.n; i++) {
        letters += given_is_alpha(value.p[i]) || value.p[i] == '_';
        digits += value.p[i] >= '0' && value.p[i] <= '9';
    }
    if (letters < value.n) /* with digits or marks */
        return digits == value.n
                   ? direct || (name->kind == NAME_PASSWORD && value.n > 3) || value.n > 7
                   : digits > 0 || value.n > 5 || direct;
    if (direct && op == '=')
        return next != ')' && next != ',' &&
               !given_is_word_of(value, " password passwd pwd token secret user ");
    return value.n > 2 && whole_line && !given_is_variable(value) &&
           (op == ':' || name->kind == NAME_PASSWORD);
}

static bool is_header_name(struct slice name, bool *cookie)
{
    static const char words[] =
        " authorization proxy-authorization x-authorization http_authorization ";

    *cookie = given_is_word_of(name, " cookie set-cookie cookie2 ");
    return *cookie || given_is_word_of(name, words);
}

/* base64 of "user:password", in the configuration of container registries and of npm */
static bool is_basic_auth(struct slice name, struct slice value)
{
    bool small = false, capital = false;

    for (size_t i = 0; i < value.n && i < 64; i++) {
        small = small || (value.p[i] >= 'a' && value.p[i] <= 'z');
        capital = capital || (value.p[i] >= 'A' && value.p[i] <= 'Z');
    }
    return given_is_word_of(name, " auth _auth ") && value.n >= 8 && small && capital &&
           letters_run(value, 0, LETTERS_WORD | LETTERS_BASE64, value.n) == value.n;
}

enum err_code given_add(struct secret_list *list, enum name_kind kind, struct given v)
{
    return redact_list_add(list, kind == NAME_PASSWORD ? kind_password : kind_given, v.at, v.n);
}

/* getenv("PASSWORD") or "w0rd": the value that is used if there is no other. */
static struct given read_default(struct slice text, size_t at)
{
    static const char *const words[] = { " or ", " || ", " ?? ", " ?: " };

    for (size_t i = at; i + 4 < text.n && i - at < 80 && text.p[i] != '\n'; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (slice_starts((struct slice){ text.p + i, text.n - i }, words[k]))
                return given_read(text, i + strlen(words[k]), false);
    return (struct given){ at, 0, false };
}

/* An operator between a name and a value: =, :, =>, ==, ",", "(", "|" or the end of an element's tag. */
struct operator
{
    char first;
    bool compares, arrow; /* ==, !=; => */
    size_t gap;           /* blanks behind it */
    size_t after;         /* where the value begins */
};

static struct operator read_operator(struct slice text, size_t at)
{
    /* A wide colon has three bytes. */
    struct operator op = { .first = text.p[at], .after = text.p[at] == '\xef' ? at + 2 : at };
    const char *letters = op.first == '>' ? ">" : given_is_any(op.first, ",(") ? ",(" : ":=>|?!";

    for (; op.after < text.n && op.after - at < 4 && given_is_any(text.p[op.after], letters);
         op.after++) {
        op.compares = op.compares || (op.after > at && text.p[op.after] == '=' &&
                                      given_is_any(text.p[op.after - 1], "=!"));
        op.arrow = op.arrow || text.p[op.after] == '>';
    }
    if (at && text.p[at - 1] == '!')
        op.compares = true;
    for (; op.after < text.n && op.gap < GAP_MOST &&
           (given_is_blank(text.p[op.after]) || (op.first == '>' && text.p[op.after] == '\n'));
         op.gap++)
        op.after++;
    if (op.after < text.n && text.p[op.after] == '*') /* **Password:** value */
        while (op.after < text.n && given_is_any(text.p[op.after], "* "))
            op.after++;
    if (op.after + 1 < text.n && given_is_any(text.p[op.after], "brfu@LN") &&
        given_is_any(text.p[op.after + 1], "\"'"))
        op.after++;
    return op;
}

/* In an address: the code that a service gives to the address it returns to, and the signature that opens it. */
static enum name_kind kind_of_parameter(struct naming name)
{
    if (slice_eq(name.name, SLICE("code")))
        return NAME_SERVICE;
    return given_is_word_of(name.name, " sig signature x-amz-signature x-goog-signature hmac ")
               ? NAME_TOKEN
               : name.kind;
}

/* password = "old" -> "new", as terraform shows a change: what follows a secret is one. */
static enum err_code find_changed(struct slice text, size_t at, struct secret_list *list)
{
    const struct secret *newest = list->n ? &list->secret[list->n - 1] : NULL;

    if (!newest || at < 5 || text.n - at < 4 ||
        !slice_starts((struct slice){ text.p + at - 3, text.n - at + 3 }, "\" -> ") ||
        newest->at + newest->n + given_depth(text, newest->at + newest->n) != at - 3)
        return ERR_OK;
    const struct given v = given_read(text, at + 2, false);

    return given_is_placeholder((struct slice){ text.p + v.at, v.n })
               ? ERR_OK
               : redact_list_add(list, newest->kind, v.at, v.n);
}

static bool ends_cell(struct slice text, size_t at)
{
    const size_t end = at;

    while (at < text.n && text.p[at] == ' ')
        at++;
    return at > end && at < text.n && text.p[at] == '|';
}

/* Whether a value is on the next line, of which `at` is moved to the first word: "|", ">-" of YAML, "<<EOT" of HCL. */
static bool is_on_next_line(struct slice text, size_t *at)
{
    size_t i = *at;

    if (i >= text.n || !given_is_any(text.p[i], "|><"))
        return false;
    if (text.p[i] == '<')
        i += letters_run(text, i + 2, LETTERS_WORD | LETTERS_LOW | LETTERS_DASH, 24) + 2;
    else
        while (++i < text.n && given_is_any(text.p[i], "+-123456789"))
            ;
    if (i >= text.n || text.p[i] != '\n' || (text.p[*at] == '<' && text.p[*at + 1] != '<'))
        return false;
    while (i < text.n && given_is_any(text.p[i], "\n \t"))
        i++;
    *at = i;
    return true;
}

/* A line of which `at` is the first word: a password of a few words, rather than a sentence. */
static struct given given_read_line(struct slice text, size_t at)
{
    const char *end = memchr(text.p + at, '\n', text.n - at);
    size_t n = end ? (size_t)(end - (text.p + at)) : text.n - at, blanks = 0;
    struct slice line = { text.p + at, n };

    for (size_t i = 0; i < n; i++)
        blanks += given_is_blank(text.p[at + i]);
    return blanks && (blanks > 3 || !given_has_digit(line)) ? (struct given){ at, 0, true }
                                                            : (struct given){ at, n, true };
}

/* The value behind an operator, also between three quotes, in the braces of ODBC, and on the next line. */
static struct given read_behind(struct slice text, struct naming name, size_t at, bool literal)
{
    const size_t quotes = at;

    if (name.kind > NAME_CODE && is_on_next_line(text, &at))
        return given_read_line(text, at);
    if (text.n - at > 2 && given_is_any(text.p[at], "\"'") && text.p[at + 1] == text.p[at] &&
        text.p[at + 2] == text.p[at])
        return given_read(text, quotes + 2, literal);
    if (text.p[at] == '{' && name.at && text.p[name.at - 1] == ';') {
        const char *end = memchr(text.p + at, '}', text.n - at < 200 ? text.n - at : 200);

        if (end)
            return (struct given){ at + 1, (size_t)(end - (text.p + at + 1)), true };
    }
    return given_read(text, at, literal);
}

static enum err_code add_header(struct slice text, size_t at, bool cookie, struct secret_list *list)
{
    const struct given v = given_read_header(text, at, cookie);

    return v.n > 2 && !given_is_placeholder((struct slice){ text.p + v.at, v.n })
               ? redact_list_add(list, cookie ? "cookie" : "authorization header", v.at, v.n)
               : ERR_OK;
}

static enum err_code find_at_operator(struct slice text, size_t at, struct secret_list *list)
{
    struct naming name = read_naming(text, at);
    const char c = text.p[at];
    bool cookie;

    if (c == '=' && name.at && given_is_any(text.p[name.at - 1], "?&;"))
        name.kind = kind_of_parameter(name);
    if (name.kind == NAME_PLAIN && !slice_has(name.name, "BUNDLE_"))
        return ERR_OK;
    const struct operator op = read_operator(text, at);

    if (op.after >= text.n)
        return ERR_OK;
    if (c == ':' && is_header_name(name.name, &cookie))
        return add_header(text, op.after, cookie, list);
    if (given_is_any(c, "=:") && slice_has(name.name, "BUNDLE_") && slice_has(name.name, "__"))
        name.kind = NAME_PASSWORD; /* of a source of gems: BUNDLE_GEMS__EXAMPLE__COM */
    bool direct = op.gap == 0 && at && !given_is_blank(text.p[at - 1]) && c != '>';
    const bool environment = c == '=' && direct && secret_name_is_constant(name.name);
    struct given v = read_behind(text, name, op.after, environment);
    struct slice value = { text.p + v.at, v.n };

    if (v.n == 0)
        return ERR_OK;
    if (is_basic_auth(name.name, value))
        return given_add(list, NAME_TOKEN, v);
    v = given_read_code(text, name.kind, v);
    if (!v.quoted && (c == ':' || c == '='))
        v = given_read_phrase(text, name.name, name.kind, c == ':' && op.gap, v);
    if (v.quoted && v.n > value.n)
        return given_add(list, name.kind, v);
    value = (struct slice){ text.p + v.at, v.n };
    if (v.quoted && environment && name.kind == NAME_TOKEN) /* SECRET_KEY="a b c" */
        name.kind = NAME_PASSWORD;
    if (v.quoted)
        return given_is_secret(name.kind, value) ? given_add(list, name.kind, v) : ERR_OK;
    const size_t least = name.kind == NAME_PASSWORD ? 6 : 12;

    if (c == '|' && name.kind > NAME_CODE && op.gap) /* | password | w0rd | */
        return given_has_digit(value) && value.n >= least && !given_is_plain(value) &&
                       ends_cell(text, v.at + v.n)
                   ? given_add(list, name.kind, v)
                   : ERR_OK;
    if (c == '(' || c == ',' || c == '|' || op.compares || op.arrow)
        return (c == '>' ? given_is_secret(name.kind, value)
                         : (c != '(' && given_is_tokenish(value, 14, name.kind != NAME_LIKELY)) ||
                               (op.arrow && name.kind > NAME_CODE && given_is_mixed_word(value) &&
                                !given_is_reference(text, v)))
                   ? given_add(list, name.kind, v)
                   : ERR_OK;
    if (is_bare_secret(text, &name, c, direct, v))
        return given_add(list, name.kind, v);
    if (name.kind > NAME_CODE && slice_starts(value, "$(echo")) /* $(echo BASE64 | base64 -d) */
        return given_add(list, name.kind, given_read(text, v.at + 7, false));
    v = name.kind > NAME_CODE ? read_default(text, v.at) : v;
    value = (struct slice){ text.p + v.at, v.n };
    return v.quoted && given_is_secret(name.kind, value) ? given_add(list, name.kind, v) : ERR_OK;
}

enum err_code given_find(struct slice text, size_t at, struct secret_list *list)
{
    if (given_is_blank(text.p[at]))
        return given_find_beside(text, at, list);
    if (text.p[at] == '\n')
        return given_find_below(text, at, list);
    size_t before = list->n;

    if (text.p[at] == '>')
        TRY(find_changed(text, at, list));
    if (text.p[at] == '(')
        TRY(given_find_in_call(text, at, list));
    if (text.p[at] != '/' && list->n == before)
        TRY(find_at_operator(text, at, list));
    return list->n == before && given_is_any(text.p[at], ":/") ? given_find_pair(text, at, list)
                                                               : ERR_OK;
}
