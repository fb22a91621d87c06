#include <string.h>

#include "lite/base/cleanup.h"
#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

/* Where a bracket opens: rows of INSERT, then the calls of the table, by the index of the argument. */

enum { GAP_MOST = 24, CALL_MOST = 1024 };

/* Calls that take a password in quotes: auth=("user", "w0rd"), server.login('user', 'w0rd'). */
static const struct {
    const char *name; /* in small letters, without what joins words */
    unsigned nth;     /* which argument, from 0 */
    bool types;       /* only if a password is spoken of in the same line */
    bool after_sid;   /* only behind the id of an account of Twilio */
} calls[] = {
    { "auth", 1, false, false },
    { "basicauth", 1, false, false },
    { "basicauthentication", 1, false, false },
    { "bcrypt", 0, false, false },
    { "bcrypt.hash", 0, false, false },
    { "client", 1, false, true },
    { "cookieparser", 0, false, false },
    { "createhmac", 1, false, false },
    { "createsuperuser", 2, false, false },
    { "createuser", 2, false, false },
    { "crypt", 0, false, false },
    { "fill", 0, true, false },
    { "getconnection", 2, false, false },
    { "hashpw", 0, false, false },
    { "hmac.new", 0, false, false },
    { "httpbasicauth", 1, false, false },
    { "httpdigestauth", 1, false, false },
    { "jwt.decode", 1, false, false },
    { "jwt.encode", 1, false, false },
    { "jwt.sign", 1, false, false },
    { "jwt.verify", 1, false, false },
    { "login", 1, false, false },
    { "mysqlconnect", 2, false, false },
    { "mysqli", 2, false, false },
    { "mysqliconnect", 2, false, false },
    { "networkcredential", 1, false, false },
    { "passwordauthentication", 1, false, false },
    { "passwordhash", 0, false, false },
    { "pdo", 2, false, false },
    { "pgpsymdecrypt", 1, false, false },
    { "pgpsymencrypt", 1, false, false },
    { "plainauth", 2, false, false },
    { "sendkeys", 0, true, false },
    { "sequelize", 2, false, false },
    { "setbasicauth", 1, false, false },
    { "setpassword", 0, false, false },
    { "settext", 0, true, false },
    { "setvalue", 0, true, false },
    { "twilio", 1, false, true },
    { "type", 0, true, false },
    { "typetext", 0, true, false },
    { "usernamepasswordauthenticationtoken", 1, false, false },
    { "usernamepasswordcredentials", 1, false, false },
};

/* INSERT INTO users (name, password) VALUES ('bob', 'w0rd') */
static enum err_code find_inserted(struct slice text, size_t at, struct secret_list *list)
{
    enum { ROW_MOST = 4096 };
    size_t from = at, fields, columns, nth = 0;
    const char *close = memchr(text.p + at, ')', text.n - at < ROW_MOST ? text.n - at : ROW_MOST);

    while (from && at - from < 400 && text.p[from - 1] != '(')
        from--;
    const char *end = memchr(text.p + from, ')', at - from);

    if (!end || !close || from == 0)
        return ERR_OK;
    const struct slice names = { text.p, (size_t)(end - text.p) };
    const struct slice values = { text.p, (size_t)(close - text.p) };
    struct given v = given_read_field(names, from, ',', 0, &columns);

    while (secret_name_kind((struct slice){ text.p + v.at, v.n }) != NAME_PASSWORD)
        if (++nth < columns)
            v = given_read_field(names, from, ',', nth, &fields);
        else
            return ERR_OK;
    v = given_read_field(values, at + 1, ',', nth, &fields);
    return fields == columns && given_is_secret(NAME_PASSWORD, (struct slice){ text.p + v.at, v.n })
               ? given_add(list, NAME_PASSWORD, v)
               : ERR_OK;
}

/* The index of a call by its name, whose last part may be enough: "conn.set_password". */
static size_t call_of(struct slice name)
{
    char folded[40];
    size_t n = 0, k = 0;

    for (size_t i = 0; i < name.n && n < sizeof folded - 1; i++)
        if (name.p[i] != '_')
            folded[n++] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] + 32 : name.p[i]);
    folded[n] = '\0';
    for (const char *part = folded; part; part = part[0] ? strchr(part + 1, '.') : NULL) {
        part += part[0] == '.';
        for (k = 0; k < COUNT_OF(calls); k++)
            if (calls[k].name[0] == part[0] && strcmp(calls[k].name, part) == 0)
                return k;
    }
    return k;
}

/* Where the next argument begins, which may be several lines below, or 0. */
static size_t argument_after(struct slice text, size_t i)
{
    size_t depth = 0;

    for (; i < text.n && (depth || !given_is_any(text.p[i], ",)\n")); i++) {
        depth += given_is_any(text.p[i], "([{");
        depth -= depth && given_is_any(text.p[i], ")]}");
    }
    if (i >= text.n || text.p[i++] != ',')
        return 0;
    while (i < text.n && given_is_any(text.p[i], " \t\n"))
        i++;
    return i;
}

enum err_code given_find_in_call(struct slice text, size_t at, struct secret_list *list)
{
    size_t end = at, i = at + 1;

    while (end && at - end < GAP_MOST && given_is_any(text.p[end - 1], " =("))
        end--;
    struct slice name = given_name_ending_at(text, end);
    if (given_is_word_of(name, " values "))
        return find_inserted(text, at, list);
    const size_t call = name.n ? call_of(name) : COUNT_OF(calls);

    if (call == COUNT_OF(calls))
        return ERR_OK;
    const bool plain = strcmp(calls[call].name, "auth") == 0; /* many libraries have one */
    /* Calls without an end, each in the one before, are looked through no further than this. */
    const struct slice near = { text.p, text.n - at < CALL_MOST ? text.n : at + CALL_MOST };
    unsigned argument = 0;
    size_t begin = i;
    struct given v = { .n = 0 };

    while (i < near.n && given_is_any(text.p[i], " \t\n"))
        i++;
    for (;; argument++) {
        const bool marked = i + 1 < text.n && given_is_any(text.p[i], "bfru") &&
                            given_is_any(text.p[i + 1], "\"'"); /* b"word" of Python */

        begin = i + marked;
        v = given_read(near, begin, false);
        if (argument == calls[call].nth || i - at > 400)
            break;
        if (calls[call].after_sid &&
            (v.n != 34 || !slice_starts((struct slice){ text.p + v.at, v.n }, "AC") ||
             letters_run(text, v.at + 2, LETTERS_HEX, 32) < 32))
            return ERR_OK;
        if (v.quoted)
            i = v.at + v.n + 1 + given_depth(text, v.at + v.n);
        i = argument_after(near, i);
        if (i == 0)
            break;
    }
    if (v.quoted) /* to its end */
        v = given_read(text, begin, false);
    struct slice value = { text.p + v.at, v.n };

    if (!v.quoted || !v.n || given_is_placeholder(value))
        return ERR_OK;
    if (calls[call].types && !given_is_word_before(text, at, "passw"))
        return ERR_OK;
    return (plain ? argument < 2 && (text.p[end] == '=' || given_has_digit(value))
                  : argument == calls[call].nth)
               ? given_add(list, NAME_PASSWORD, v)
               : ERR_OK;
}
