#include <string.h>

#include "lite/base/cleanup.h"
#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

/* Where only a blank separates a name from its value, the text may be a command, a
 * setting or a sentence, and nearly every pair of words has that form. One sign is not enough here:
 * an ordinary word is believed only in quotes, after a flag, or in a known form such as a login
 * line. Otherwise a value needs a digit or must look as if a machine had chosen it.
 *
 *     WORD "as the password" -> CODE "is your code" -> name WORD -> mail relay -> "login:" user WORD
 *
 * The first finder that adds something ends the search at a place. These functions run at the
 * blanks of every text, so each refuses the common case with its cheapest test before it reads a
 * value. Sentences are not analysed: a password of letters alone in prose is missed, which is
 * better than a text in which every second word is replaced. */

enum { NAME_MOST = 64, GAP_MOST = 24 };

struct slice given_word_before(struct slice text, size_t at)
{
    size_t end = at;

    while (end && given_is_blank(text.p[end - 1]))
        end--;
    size_t n = 0;
    while (n < end && n < 32 && (unsigned char)text.p[end - n - 1] > ' ')
        n++;
    return (struct slice){ text.p + end - n, n };
}

/* A name with its value behind it: --password WORD, ENV DB_PASSWORD WORD, PASSWORD 'word', login NAME password WORD,
 * the password of the server is w0rd. */
struct beside {
    struct slice name, before; /* and the word before it */
    enum name_kind kind;
    bool is; /* "is", "was" or another verb is between them */
    struct given value;
};

bool given_is_word_before(struct slice text, size_t at, const char *word)
{
    size_t from = at;

    while (from && at - from < 64 && text.p[from - 1] != '\n')
        from--;
    return slice_find_folded(text.p + from, at - from, word, strlen(word)) != NULL;
}

/* Where the value begins after "is", "of the server is", "for user 'x' =", "has been changed to", or 0. */
static size_t after_verb(struct slice text, size_t at)
{
    static const char *const verbs[] = { "is ", "was ", "is: ", "to ", "= ", "- ", "\u2192 " };
    struct slice rest = { text.p + at, text.n - at };
    size_t first = 0;

    for (size_t i = 0; i < rest.n && i < 64 && !given_is_any(rest.p[i], "\n,;"); i++) {
        if (rest.p[i] == ':' && first && i + 2 < rest.n && rest.p[i + 1] == ' ' &&
            !given_is_any(rest.p[i + 2], "\"'`"))
            return at + i + 2;
        if (i && rest.p[i - 1] != ' ')
            continue;
        size_t n = letters_run(rest, i, LETTERS_WORD, 16), verb = 0;

        for (size_t k = 0; k < sizeof verbs / sizeof *verbs && !verb; k++)
            if (slice_starts((struct slice){ rest.p + i, rest.n - i }, verbs[k]))
                verb = at + i + strlen(verbs[k]);
        if (verb) {
            struct given v = given_read(text, verb, false);

            first = first > 1 ? first : verb;
            if (v.quoted || given_has_digit((struct slice){ text.p + v.at, v.n }))
                return verb;
        } else if (i == 0) {
            if (!given_is_word_of((struct slice){ rest.p, n }, " for of on has "))
                return 0;
            first = 1;
        }
    }
    return first > 1 ? first : 0;
}

static bool read_beside(struct slice text, size_t at, struct beside *b)
{
    size_t after = at;

    const bool has = at > 2 && text.p[at - 1] == 's' && given_is_any(text.p[at - 2], "'`");

    b->name = given_name_ending_at(text, has ? at - 2 : at); /* the password's w0rd */
    if (b->name.n == 0 || b->name.p[0] == '$')
        return false;
    b->before = given_word_before(text, (size_t)(b->name.p - text.p));

    /* In JSON: {"command":"setx NAME w0rd"} and \nsetx NAME w0rd; a line that is escaped ends before the name, too. */
    const size_t n = b->before.n;

    if (n > 1 && b->before.p[n - 2] == '\\' && given_is_any(b->before.p[n - 1], "nr"))
        b->before = (struct slice){ b->before.p + n, 0 };
    for (size_t i = n > 2 ? n - 2 : 0; b->before.n && i-- > 0;)
        if (given_is_any(b->before.p[i], "\"\\")) {
            i += b->before.p[i] == '\\' && given_is_any(b->before.p[i + 1], "nrt") ? 2 : 1;
            b->before = (struct slice){ b->before.p + i, n - i };
            break;
        }
    b->kind = b->name.n == 2 && given_is_word_of(b->name, " by ") &&
                      given_is_word_before(text, at, "identified ")
                  ? NAME_PASSWORD
                  : secret_name_kind(b->name);

    /* "recovery code k3jd-92la", "api key is ..." */
    struct slice two = { b->before.p, (size_t)(text.p + at - b->before.p) };

    if (b->kind < NAME_CODE && b->name.n < 7 && given_is_any(b->name.p[b->name.n - 1], "ySsEeY") &&
        given_is_word_of(b->name, " key keys code codes phrase ") &&
        letters_run(b->before, 0, LETTERS_URL, NAME_MOST) == b->before.n)
        b->kind = secret_name_kind(two);

    /* the command of Redis */
    if (slice_eq(b->name, SLICE("AUTH")) && given_is_line_start(text, at - 4))
        b->kind = NAME_PASSWORD;
    if (b->kind < NAME_SERVICE)
        return false;
    while (after < text.n && after - at < GAP_MOST && given_is_blank(text.p[after]))
        after++;
    size_t verb = after_verb(text, after);

    b->is = verb != 0 || has;
    if (verb)
        after = verb;
    b->value = given_read(text, after, false);
    if (b->value.n == 1 && given_is_any(text.p[after], "0578") && after + 2 < text.n)
        b->value = given_read(text, after + 2, false); /* how a router keeps it */
    b->value = given_read_code(text, b->kind, b->value);
    if (b->is && !b->value.quoted)
        b->value = given_read_phrase(text, b->name, b->kind, false, b->value);
    struct slice value = { text.p + b->value.at, b->value.n };

    return value.n && !given_is_placeholder(value) && !given_is_path(value) &&
           (value.p[0] != '-' || b->value.quoted);
}

/* The line above one of netrc's begins with the host or the user. */
static bool is_below_login(struct slice text, size_t at)
{
    size_t end = at;

    while (end && given_is_blank(text.p[end - 1]))
        end--;
    end -=
        end > 1 && text.p[end - 1] == 'n' && text.p[end - 2] == '\\'; /* an escaped end of a line */
    for (size_t from = end ? end - 1 : 0, n = 0; from && n < 100; n++) {
        from--;
        const struct slice line = { text.p + from, end - from };

        if ((slice_starts(line, "login ") || slice_starts(line, "machine ") ||
             slice_starts(line, "account ")) &&
            given_is_line_start(text, from))
            return true;
        if (line.p[0] == '\n' || (n && line.p[0] == '\\' && line.p[1] == 'n'))
            return false;
    }
    return false;
}

static bool is_secret_beside(struct slice text, size_t at, const struct beside *b)
{
    static const char sets[] = " define #define env arg setenv set export -x -gx -ux -xg -xu "
                               "config fastcgi_param add_header --env -e let setx env:set ";
    static const char of_npm[] = " _authtoken _auth _password ";
    static const char prose[] = " flag option options argument parameter is to and or for with in "
                                "on from if the a an value file as at by of can "
                                "will must may should when are was be has not which that ";
    struct slice value = { text.p + b->value.at, b->value.n };
    bool constant = secret_name_is_constant(b->name), password = b->kind == NAME_PASSWORD;
    bool digit = value.n > 3 && given_has_digit(value);

    if (b->kind < NAME_CODE) /* "My OpenAI key is ..." */
        return b->is && given_is_tokenish(value, 14, true);
    if (b->kind == NAME_CODE)
        return (b->is || given_is_word_of(b->name, " code codes ")) &&
               given_is_secret(NAME_CODE, value);
    if (b->kind == NAME_TOKEN && given_is_tokenish(value, 20, true))
        return true;

    /* The value of an option is the next word, unless that is a word of a sentence. */
    if (b->name.p[0] == '-' && !b->is)
        return b->value.quoted || (!given_is_word_of(value, prose) &&
                                   !(given_is_plain(value) && secret_name_is_constant(value)));
    if (b->value.quoted)
        return password || constant;
    if (given_is_reference(text, b->value) || given_is_any(value.p[0], "=:|([{<>&+*/,"))
        return false;
    if (b->is)
        return digit && (password || value.n > 7 || given_is_mixed_word(value));
    if (given_is_word_of(b->before, sets) || given_is_word_of(b->name, of_npm))
        return constant || digit;
    if (given_is_word_of(b->before, " enable ")) /* the settings of a router */
        return digit;
    struct slice login = b->before, key = given_word_before(text, (size_t)(login.p - text.p));

    return password &&
           (given_is_mixed_word(value) ||
            given_is_word_of(key, " login account user machine connect port ") ||
            (digit && given_is_word_of(key, " username ")) ||
            (digit && secret_name_kind(b->before) == NAME_PASSWORD) ||
            (digit && value.n > 5 && given_is_word_of(b->before, " and with ") &&
             (given_is_word_before(text, at, "user") || given_is_word_before(text, at, "log"))) ||
            ((digit || is_below_login(text, at - b->name.n)) &&
             given_is_line_start(text, at - b->name.n) &&
             given_is_line_end(text, b->value.at + b->value.n)));
}

/* "Use w0rd as the password": the value comes before the name. */
static enum err_code find_as(struct slice text, size_t at, struct secret_list *list)
{
    static const char fillers[] = " the a your my its our new admin root db database ";
    size_t i = at + 4, n = 0;

    for (size_t words = 0; words < 4; words++) {
        n = letters_run(text, i, LETTERS_WORD, 24);
        struct slice word = { text.p + i, n };

        if (!given_is_word_of(word, fillers))
            break;
        i += n + 1;
    }
    if (n == 0 || i >= text.n || secret_name_kind((struct slice){ text.p + i, n }) != NAME_PASSWORD)
        return ERR_OK;
    struct slice word = given_word_before(text, at), rest = { text.p + i + n, text.n - i - n };

    if (rest.n > 1 && rest.p[0] == ' ' && given_is_alpha(rest.p[1]) &&
        !slice_starts(rest, " for ") && !slice_starts(rest, " of ") &&
        !slice_starts(rest, " and ") && !slice_starts(rest, " on ") && !slice_starts(rest, " in "))
        return ERR_OK;
    while (word.n && given_is_any(word.p[word.n - 1], "\"'`"))
        word.n--;
    while (word.n && given_is_any(word.p[0], "\"'`")) {
        word.p++;
        word.n--;
    }
    return word.n > 5 && given_has_digit(word) && !given_is_placeholder(word)
               ? given_add(list, NAME_PASSWORD,
                           (struct given){ (size_t)(word.p - text.p), word.n, false })
               : ERR_OK;
}

/* A user and a password with a slash or a colon between them, in a line about logging in: "Log in with bob / w0rd". */
enum err_code given_find_pair(struct slice text, size_t at, struct secret_list *list)
{
    static const char *const words[] = { "login",      "log in",        "sign in", "creds",
                                         "credential", "basic auth",    "account", "user/pass",
                                         "user:pass",  "username/pass", "wifi",    "wi-fi" };
    size_t left = at, from = at + 1;
    bool said = false;

    while (left && text.p[left - 1] == ' ' && at - left < 2)
        left--;
    while (from < text.n && text.p[from] == ' ' && from - at < 3)
        from++;
    const struct slice user = given_word_before(text, left);

    /* Most slashes are inside of paths and of encoded data, whose words are long: nothing is read for them. */
    if (user.n < 2 || user.n > 31 || memchr(user.p, '/', user.n) || memchr(user.p, ':', user.n))
        return ERR_OK;
    const struct given v = given_read(text, from, false);
    const struct slice value = { text.p + v.at, v.n };
    const char next = v.at + v.n < text.n ? text.p[v.at + v.n] : '\n';
    size_t changes, digits = letters_count_digits(value, &changes);

    if (v.n < (changes > 1 ? 5 : 6) || !digits || !changes || given_is_any(next, "/:") ||
        memchr(value.p, '/', v.n) || memchr(value.p, ':', v.n) || memchr(value.p, '.', v.n) ||
        (text.p[at] == ':' && given_is_any(text.p[at + 1], " /")) || given_is_placeholder(value))
        return ERR_OK;
    for (size_t i = 0; !said && i < COUNT_OF(words); i++)
        said = given_is_word_before(text, (size_t)(user.p - text.p), words[i]);
    return said ? given_add(list, NAME_PASSWORD, v) : ERR_OK;
}

/* [smtp.example.com]:587 USER:PASSWORD, in a map of a mail server */
static enum err_code find_relay(struct slice text, size_t at, struct secret_list *list)
{
    size_t from = at, next = at;

    while (from && at - from < 6 && letters_have(LETTERS_DIGIT, text.p[from - 1]))
        from--;
    if (from == at || from < 3 || text.p[from - 1] != ':' || text.p[from - 2] != ']')
        return ERR_OK;
    while (next < text.n && next - at < GAP_MOST && given_is_blank(text.p[next]))
        next++;
    struct given v = given_read(text, next, true);
    const char *colon = v.n ? memchr(text.p + v.at, ':', v.n) : NULL;

    if (!colon || colon == text.p + v.at)
        return ERR_OK;
    v.n -= (size_t)(colon + 1 - (text.p + v.at));
    v.at = (size_t)(colon + 1 - text.p);
    return v.n && !given_is_placeholder((struct slice){ text.p + v.at, v.n })
               ? given_add(list, NAME_PASSWORD, v)
               : ERR_OK;
}

/* "login: admin w0rd", "log in with bob w0rd": a user and a password behind a word about logging in, and nothing else. */
static enum err_code find_login(struct slice text, size_t at, struct secret_list *list)
{
    size_t n = 0;
    bool digit = false;

    for (; at + 1 + n < text.n && n < 64 && (unsigned char)text.p[at + 1 + n] > ' '; n++)
        digit = digit || letters_have(LETTERS_DIGIT, text.p[at + 1 + n]);
    if (n < 6 || !digit) /* as nearly all words */
        return ERR_OK;
    const struct given v = given_read(text, at + 1, false);
    const struct slice value = { text.p + v.at, v.n };

    if (v.n < 6 || !given_has_digit(value))
        return ERR_OK;
    static const char logins[] = " login logins creds credentials credential ";
    static const char *const spoken[] = { "log in with ", "login with ", "sign in with ",
                                          "log in as ", "login as " };
    const struct slice user = given_word_before(text, at);
    const size_t from = (size_t)(user.p - text.p);
    const struct slice before = given_word_before(text, from);
    const bool colon = before.n && before.p[before.n - 1] == ':';

    n = 0;
    while (n + colon < before.n && given_is_alpha(before.p[before.n - colon - n - 1]))
        n++;
    struct slice word = { before.p + before.n - colon - n, n };

    if (word.n < before.n - colon && word.n && word.p[0] == 'n' && word.p[-1] == '\\') {
        word.p++; /* an escaped end of a line */
        word.n--;
    }
    bool said = false;

    if (user.n < 2 || user.n > 31 || word.n < 2 || !given_is_alpha(user.p[0]) ||
        letters_run(user, 0, LETTERS_URL | LETTERS_DOT | LETTERS_MARKS, user.n) < user.n ||
        user.p[user.n - 1] == ':')
        return ERR_OK;
    said = given_is_word_of(word, logins) &&
           (colon || given_is_line_start(text, (size_t)(word.p - text.p)));
    for (size_t i = 0; !said && i < COUNT_OF(spoken); i++) {
        n = strlen(spoken[i]);
        said = from >= n && slice_find_folded(text.p + from - n, n, spoken[i], n);
    }
    if (!said)
        return ERR_OK;
    size_t changes, digits = letters_count_digits(value, &changes);

    return digits && changes && value.p[0] != '(' &&
                   (colon || given_is_mixed_word(value) || v.n > 7) &&
                   !memchr(value.p, '.', value.n) && !memchr(value.p, '/', value.n) &&
                   !memchr(value.p, ':', value.n) && !memchr(value.p, '-', value.n) &&
                   (given_is_line_end(text, v.at + v.n) ||
                    given_is_any(text.p[v.at + v.n], ",;.)\"'`")) &&
                   !given_is_placeholder(value)
               ? given_add(list, NAME_PASSWORD, v)
               : ERR_OK;
}

/* "482193 is your login code", "G-482193 is your verification code" */
static enum err_code find_your_code(struct slice text, size_t at, struct secret_list *list)
{
    struct slice word = given_word_before(text, at), rest = { text.p + at, text.n - at };

    if (slice_starts(word, "G-")) {
        word.p += 2;
        word.n -= 2;
    }
    size_t end = 9;

    /* Words up to the one that says what it is. */
    while (end < rest.n && end < 64 && (given_is_alpha(rest.p[end]) || rest.p[end] == ' '))
        end++;
    const struct slice said = { rest.p, end < rest.n ? end : rest.n };
    return word.n >= 4 && letters_run(word, 0, LETTERS_DIGIT, 9) == word.n &&
                   (slice_has(said, " code") || slice_has(said, " OTP") || slice_has(said, " PIN"))
               ? redact_list_add(list, "value of a secret name", (size_t)(word.p - text.p), word.n)
               : ERR_OK;
}

/* A line of a cookie jar, whose last field is the value: host, TRUE, path, TRUE, time, name, value. A tab is at `at`. */
static enum err_code find_in_cookie_jar(struct slice text, size_t at, struct secret_list *list)
{
    const struct slice name = given_word_before(text, at);
    const struct slice time = given_word_before(text, (size_t)(name.p - text.p));
    const struct slice secure = given_word_before(text, (size_t)(time.p - text.p));
    const struct given v = given_read(text, at + 1, true);

    return name.n && time.n && letters_run(time, 0, LETTERS_DIGIT, time.n) == time.n &&
                   given_is_word_of(secure, " true false ") && v.n > 3 &&
                   given_is_line_end(text, v.at + v.n)
               ? redact_list_add(list, "cookie", v.at, v.n)
               : ERR_OK;
}

enum err_code given_find_beside(struct slice text, size_t at, struct secret_list *list)
{
    const size_t before = list->n;
    struct beside b;

    if (slice_starts((struct slice){ text.p + at, text.n - at }, " is your "))
        return find_your_code(text, at, list);
    if (text.p[at] == '\t')
        TRY(find_in_cookie_jar(text, at, list));
    if (list->n > before)
        return ERR_OK;

    if (slice_starts((struct slice){ text.p + at, text.n - at }, " as "))
        return find_as(text, at, list);
    if (!at || !given_is_name_letter(text.p[at - 1]))
        return ERR_OK;
    if (read_beside(text, at, &b) && is_secret_beside(text, at, &b))
        TRY(given_add(list, b.kind, b.value));
    if (list->n > before)
        return ERR_OK;
    TRY(find_relay(text, at, list));
    return list->n > before ? ERR_OK : find_login(text, at, list);
}
