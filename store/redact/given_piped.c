#include "store/redact/given_piped.h"

#include <string.h>
#include <strings.h>

#include "lite/base/cleanup.h"
#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

/* Sorted by their first letters. A program that also reads other things has `mixed`: then only a word with a digit is a
 * password. */
static const struct sink {
    const char *words;
    bool mixed;
} sinks[] = {
    { "--passphrase-fd", false },
    { "--password-stdin", false },
    { "--stdin-password", false },
    { "--with-token", false },
    { "-pass stdin", false },
    { "-passin stdin", false },
    { "SecureString", false },
    { "adcli join", false },
    { "ansible-vault encrypt_string", false },
    { "argon2 ", false },
    { "base64", true },
    { "bw login", false },
    { "bw unlock", false },
    { "chpasswd", false },
    { "create secret", false },
    { "cryptsetup", false },
    { "doveadm pw", false },
    { "fly secrets", false },
    { "flyctl secrets", false },
    { "htpasswd -i", false },
    { "keyctl padd", false },
    { "kinit", false },
    { "lpass add", false },
    { "mkpasswd", false },
    { "mysql_config_editor set", false },
    { "net ads join", false },
    { "nmcli --ask", true },
    { "npm login", true },
    { "op signin", false },
    { "openssl passwd -stdin", false },
    { "pass insert", false },
    { "passwd ", false },
    { "passwd --stdin", false },
    { "password_stdin", false },
    { "pdbedit ", false },
    { "pkexec", true },
    { "rclone obscure", false },
    { "realm join", false },
    { "restic ", true },
    { "secret create", false },
    { "secret put", false },
    { "secret set", false },
    { "secret-tool store", false },
    { "secrets create", false },
    { "secrets put", false },
    { "secrets versions add", false },
    { "smbpasswd", false },
    { "snapcraft login", true },
    { "sops encrypt", true },
    { "ssh-add", true },
    { "su ", true },
    { "sudo --stdin", false },
    { "sudo -S", false },
    { "systemd-creds encrypt", false },
    { "vault kv put", false },
    { "vault write", false },
    { "vercel env add", false },
    { "vncpasswd", false },
};

/* echo WORD | docker login --password-stdin, echo WORD | sudo -S, echo USER:WORD | chpasswd */
enum err_code piped_find(struct command_line *line, struct slice text, size_t at,
                         struct secret_list *list)
{
    const struct slice rest = { text.p + at, text.n - at };
    const bool here = line->reads_secret && slice_starts(rest, "<<<");
    const struct sink *sink = NULL;

    for (size_t i = rest.n < 3 ? COUNT_OF(sinks)
                               : first_with_front(sinks, sizeof *sinks, COUNT_OF(sinks), rest.p);
         i < COUNT_OF(sinks) && !sink && compare_front(sinks[i].words, rest.p) == 0; i++)
        if (slice_starts(rest, sinks[i].words))
            sink = &sinks[i];
    const bool mixed = sink && sink->mixed && !line->reads_secret;
    size_t from = here ? at + 3 : line->echo, end = here ? text.n : at;

    if (mixed ? from == 0 : !sink && !line->reads_secret)
        return ERR_OK;
    line->reads_secret = !mixed;
    if (from == 0)
        return ERR_OK;
    while (from < end && strchr(" -ne", text.p[from]) &&
           (text.p[from] == ' ' || text.p[from] == '-' || text.p[from - 1] == '-'))
        from++;
    struct given v = given_read(text, from, false);

    if (v.n && memchr(text.p + v.at, '%', v.n)) { /* printf '%s\n' WORD */
        size_t next = v.at + v.n;

        while (next < end && (unsigned char)text.p[next] > ' ')
            next++;
        v = given_read_word(text, next);
    }
    const char *colon = v.n && (slice_starts(rest, "chpasswd") || slice_starts(rest, "base64"))
                            ? memchr(text.p + v.at, ':', v.n)
                            : NULL;

    if (colon) {
        v.n -= (size_t)(colon + 1 - (text.p + v.at));
        v.at = (size_t)(colon + 1 - text.p);
    }
    const struct slice value = { text.p + v.at, v.n };

    if (mixed && (v.n < 6 || !given_has_digit(value) || given_is_path(value) ||
                  memchr(value.p, ' ', value.n) || (slice_starts(rest, "base64") && !colon)))
        return ERR_OK;
    line->echo = 0;
    line->reads_secret = false;
    return v.n && v.at + v.n <= end && !given_is_placeholder(value)
               ? redact_list_add(list, "password", v.at, v.n)
               : ERR_OK;
}

/* The part of the line before a place, of at most 200 bytes. */
static struct slice piped_line_before(struct slice text, size_t at)
{
    size_t from = at;

    while (from && at - from < 200 && text.p[from - 1] != '\n')
        from--;
    return (struct slice){ text.p + from, at - from };
}

/* ::add-mask::WORD of GitHub, ##vso[task.setsecret]WORD and ##vso[task.setvariable ...;issecret=true]WORD of Azure */
static enum err_code piped_find_masked(struct slice text, size_t at, struct secret_list *list)
{
    static const char mask[] = "::add-mask::";
    size_t from = at + 1, n = 0;

    if (text.p[at] == ':') {
        if (!slice_starts((struct slice){ text.p + at, text.n - at }, mask))
            return ERR_OK;
        from = at + sizeof mask - 1;
    } else {
        const struct slice before = piped_line_before(text, at);
        const char *bracket = before.n ? memrchr(before.p, '[', before.n) : NULL;
        const struct slice told = { bracket,
                                    bracket ? (size_t)(before.p + before.n - bracket) : 0 };

        if (!bracket || bracket - before.p < 2 || !memchr(before.p, '#', before.n) ||
            !(slice_starts(told, "[task.setsecret") || slice_starts(told, "[add-mask") ||
              slice_find_folded(told.p, told.n, "issecret=true", 13)))
            return ERR_OK;
    }
    while (from + n < text.n && n < 400 && (unsigned char)text.p[from + n] >= ' ' &&
           !given_is_any(text.p[from + n], "\"'`\\"))
        n++;
    while (n && text.p[from + n - 1] == ' ')
        n--;
    const struct slice value = { text.p + from, n };

    return n > 2 && value.p[0] != ' ' && value.p[0] != '$' && !given_is_placeholder(value)
               ? redact_list_add(list, "masked value", from, n)
               : ERR_OK;
}

static enum err_code piped_find_channel(struct slice text, size_t at, struct secret_list *list)
{
    const size_t from = at + 3;

    if (text.n - at < 16 || text.p[at + 1] != 't' || text.p[at + 2] != '/')
        return ERR_OK;
    /* Only the name of a host is before it. */
    size_t host = at;

    while (host && at - host < 120 && letters_have(LETTERS_URL | LETTERS_DOT, text.p[host - 1]))
        host--;
    if (host == at || host < 7 || memcmp(text.p + host - 3, "://", 3) != 0)
        return ERR_OK;
    const struct slice token = { text.p + from, letters_run(text, from, LETTERS_URL, 128) };
    const size_t prefix = letters_run(token, 0, LETTERS_WORD, token.n);
    const bool named = prefix == 2 && token.n >= 16 && token.p[2] == '-' &&
                       letters_run(token, 3, LETTERS_HEX, token.n) == 8;
    const bool plain = prefix == token.n && token.n >= 20 && given_has_digit(token) &&
                       letters_run(token, 0, LETTERS_DIGIT, token.n) < token.n;

    return named || plain ? redact_list_add(list, "token in an address", from, token.n) : ERR_OK;
}

/* The password before %40 in an encoded address: %3A%2F%2FUSER%3AWORD%40 */
static enum err_code find_encoded_credentials(struct slice text, size_t at,
                                              struct secret_list *list)
{
    const struct slice before = piped_line_before(text, at);
    size_t n = 0;

    while (n < before.n && letters_have(LETTERS_URL | LETTERS_DOT, text.p[at - n - 1]))
        n++;
    const struct slice value = { text.p + at - n + 2, n > 2 ? n - 2 : 0 };

    return value.n && n < before.n && strncasecmp(value.p - 3, "%3A", 3) == 0 &&
                   slice_find_folded(before.p, before.n - n, "%3a%2f%2f", 9) &&
                   !given_is_placeholder(value)
               ? redact_list_add(list, "password in an address", (size_t)(value.p - text.p),
                                 value.n)
               : ERR_OK;
}

static enum err_code piped_find_encoded(struct slice text, size_t at, struct secret_list *list)
{
    if (text.n - at > 2 && text.p[at + 1] == '4' && text.p[at + 2] == '0')
        return find_encoded_credentials(text, at, list);
    if (text.n - at < 7 || text.p[at + 1] != '3' || (text.p[at + 2] | 0x20) != 'd')
        return ERR_OK;
    struct slice name = { text.p + at, 0 };

    while (name.p > text.p && name.n < 40 && letters_have(LETTERS_URL, name.p[-1])) {
        name.p--;
        name.n++;
    }
    /* The name may be behind another escape, as in %26password%3D. */
    if (name.n > 2 && name.p > text.p && name.p[-1] == '%') {
        name.p += 2;
        name.n -= 2;
    }
    const struct slice value = { text.p + at + 3,
                                 letters_run(text, at + 3, LETTERS_URL | LETTERS_DOT, 200) };
    const enum name_kind kind = name.n ? secret_name_kind(name) : NAME_PLAIN;

    return kind >= NAME_TOKEN && value.n > 3 && given_is_secret(kind, value)
               ? redact_list_add(list, "password", (size_t)(value.p - text.p), value.n)
               : ERR_OK;
}

enum err_code piped_find_marked(struct slice text, size_t at, struct secret_list *list)
{
    switch (text.p[at]) {
    case '/': return piped_find_channel(text, at, list);
    case '%': return piped_find_encoded(text, at, list);
    default: return piped_find_masked(text, at, list);
    }
}
