#include <string.h>

#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

/* Judging a value without the text around it: whether it stands for another one, and what its letters look like. */

bool given_is_word_of(struct slice word, const char *list)
{
    char padded[32] = " ";

    if (word.n == 0 || word.n > sizeof padded - 3)
        return false;
    for (size_t i = 0; i < word.n; i++)
        padded[i + 1] = (char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] + 32 : word.p[i]);
    padded[word.n + 1] = ' ';
    return strstr(list, padded) != NULL;
}

static bool has_folded(struct slice text, const char *part)
{
    return slice_find_folded(text.p, text.n, part, strlen(part)) != NULL;
}

bool given_is_plain(struct slice value)
{
    for (size_t i = 0; i < value.n; i++)
        if (!given_is_alpha(value.p[i]) && !given_is_any(value.p[i], "_ .-?!:,()'"))
            return false;
    return true;
}

bool given_is_hole(struct slice v)
{
    size_t same = 1;

    if (v.n == 0 || has_folded(v, "REDACTED"))
        return true;
    while (same < v.n && v.p[same] == v.p[0])
        same++;
    if (same == v.n && (v.n > 2 || !letters_have(LETTERS_WORD, v.p[0])) &&
        !letters_have(LETTERS_DIGIT, v.p[0]))
        return true;
    if (v.p[0] == '$')
        return v.n < 2 || v.p[1] == '{' || v.p[1] == '(' || given_is_alpha(v.p[1]) || v.p[1] == '_';
    return v.p[0] == '<' || slice_starts(v, "{{") || slice_starts(v, "%(") ||
           (v.p[0] == '{' && v.p[v.n - 1] == '}') ||
           (v.p[0] == '%' && v.n > 1 && v.p[v.n - 1] == '%');
}

bool given_is_placeholder(struct slice v)
{
    static const char words[] = " none null nil true false undefined string str bool boolean int "
                                "integer number float bytes byte object any void "
                                "optional required empty missing invalid expired default value "
                                "text input self this args yes no on off todo "
                                "redacted hidden masked unset n/a secretstr char varchar password "
                                "passwd token secret key auto inherit files compat ";

    if (given_is_hole(v) || given_is_word_of(v, words) || v.p[0] == '#' ||
        (v.p[0] == '%' && v.n < 4) || (v.p[0] == ':' && given_is_alpha(v.n > 1 ? v.p[1] : 0)))
        return true;
    /* "Enter your password", "password-field" */
    return given_is_plain(v) &&
           (has_folded(v, "passw") || has_folded(v, "token") || has_folded(v, "secret") ||
            has_folded(v, "api key") || has_folded(v, "your-") || has_folded(v, "your_"));
}

bool given_has_digit(struct slice v)
{
    for (size_t i = 0; i < v.n; i++)
        if (letters_have(LETTERS_DIGIT, v.p[i]))
            return true;
    return false;
}

static bool is_uuid(struct slice v)
{
    return v.n == 36 && v.p[8] == '-' && v.p[13] == '-' && v.p[18] == '-' && v.p[23] == '-';
}

bool given_is_path(struct slice v)
{
    return (v.p[0] == '/' && v.n > 1 &&
            !(v.n > 30 && token_is_random(v) && !memchr(v.p, '.', v.n))) ||
           slice_starts(v, "./") || slice_starts(v, "../") || slice_starts(v, "~/") ||
           slice_has(v, "://") ||
           (v.n > 2 && given_is_alpha(v.p[0]) && v.p[1] == ':' && given_is_any(v.p[2], "\\/"));
}

bool given_is_mixed_word(struct slice v)
{
    size_t changes, digits = letters_count_digits(v, &changes);
    bool marked = false;

    for (size_t i = 0; i < v.n; i++)
        marked = marked || given_is_any(v.p[i], "!#$%^&*@?+");
    return v.n > 7 && digits && changes && (marked || changes > 2);
}

bool given_is_tokenish(struct slice v, size_t least, bool service)
{
    size_t run = letters_run(v, 0, LETTERS_URL | LETTERS_DOT | LETTERS_BASE64 | LETTERS_MARKS, 512),
           changes, digits;

    if (v.n < least || run < (v.n < 512 ? v.n : 512) || given_is_path(v) ||
        (is_uuid(v) && !service))
        return false;
    digits = letters_count_digits((struct slice){ v.p, run }, &changes);
    if (service && changes > 3 && v.n >= 20)
        return true;
    /* digits that are not at the end alone, as in "server2024" */
    if (service && digits && letters_run(v, 0, LETTERS_WORD, run) == run && v.n >= 14 &&
        memchr("0123456789", v.p[v.n - 1], 10) == NULL)
        return true;
    return (digits == v.n && v.n >= 15) || token_is_random((struct slice){ v.p, run });
}

/* "482193", "k3jd-92la-0sdf" */
static bool is_code(struct slice v)
{
    size_t changes, digits = letters_count_digits(v, &changes);

    if (digits == v.n)
        return v.n >= 4 && v.n <= 12;
    if (v.n == 7 && digits == 6 && v.p[3] == ' ')
        return true;
    return digits > 1 && v.n >= 7 && v.n < 80 &&
           letters_run(v, 0, LETTERS_WORD | LETTERS_DASH, v.n) == v.n;
}

bool given_is_seed_phrase(struct slice v)
{
    size_t words = 0, n = 0;

    for (size_t i = 0; i <= v.n; i++)
        if (i < v.n && v.p[i] >= 'a' && v.p[i] <= 'z')
            n++;
        else if (n < 3 || n > 8 || (i < v.n && v.p[i] != ' '))
            return false;
        else {
            words++;
            n = 0;
        }
    return words >= 12 && words <= 24;
}

/* Those that a salt has, and lists and code have not. */
static size_t count_marks(struct slice v)
{
    size_t marks = 0;

    for (size_t i = 0; i < v.n; i++)
        marks += given_is_any(v.p[i], "!#$%^&*@?+~|<>");
    return marks;
}

bool given_is_secret(enum name_kind kind, struct slice v)
{
    if (kind == NAME_PLAIN || given_is_placeholder(v))
        return false;
    if (kind == NAME_SERVICE)
        return given_is_tokenish(v, 14, true);
    if (kind == NAME_LIKELY)
        return given_is_tokenish(v, 14, false) || given_is_seed_phrase(v) ||
               (given_is_salt(v) && count_marks(v) > 4);
    if (kind == NAME_CODE)
        return is_code(v) || given_is_tokenish(v, 14, false) || given_is_seed_phrase(v);
    if (given_is_path(v))
        return false;
    return kind == NAME_PASSWORD || !memchr(v.p, ' ', v.n) || given_is_salt(v);
}
