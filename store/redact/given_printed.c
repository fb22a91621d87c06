#include "store/redact/given_printed.h"

#include <string.h>
#include <strings.h>

#include "lite/base/cleanup.h"
#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

static const char printed_kind[] = "output of a command";

enum { LINE_MOST = 400, BELOW_MOST = 64 };

/* Sorted by their first letters. Options may stand between the words. */
static const struct printer {
    const char *words, *needs; /* a part of the rest of the line; NULL: none */
} printers[] = {
    { "Get-Secret", "-AsPlainText" },
    { "apg", NULL },
    { "aws codeartifact get-authorization-token", NULL },
    { "aws ecr get-login-password", NULL },
    { "aws rds generate-db-auth-token", NULL },
    { "aws secretsmanager get-secret-value", NULL },
    { "aws ssm get-parameter", "--with-decryption" },
    { "az account get-access-token", NULL },
    { "az keyvault secret show", NULL },
    { "bw get password", NULL },
    { "bw get totp", NULL },
    { "cat", "/run/secrets/" },
    { "cat", ".vault-token" },
    { "chezmoi secret", NULL },
    { "dialog", "--passwordbox" },
    { "doppler secrets get", "--plain" },
    { "gcloud auth application-default print-access-token", NULL },
    { "gcloud auth print-access-token", NULL },
    { "gcloud auth print-identity-token", NULL },
    { "gcloud secrets versions access", NULL },
    { "gh auth token", NULL },
    { "gopass cat", NULL },
    { "gopass show", NULL },
    { "gpg --gen-random", NULL },
    { "gum input", "--password" },
    { "head", "/dev/urandom" },
    { "heroku auth:token", NULL },
    { "heroku config:get", NULL },
    { "infisical secrets get", NULL },
    { "kdialog", "--password" },
    { "keyring get", NULL },
    { "kubectl create token", NULL },
    { "kubectl get secret", "base64" },
    { "kubectl get secret", "jsonpath" },
    { "lpass show", "--password" },
    { "makepasswd", NULL },
    { "mix phx.gen.secret", NULL },
    { "node -e", "randomBytes" },
    { "oc whoami -t", NULL },
    { "op get item", "--field" },
    { "op item get", "--field" },
    { "op read", NULL },
    { "openssl rand", NULL },
    { "pass show", NULL },
    { "passage show", NULL },
    { "php artisan key:generate", "--show" },
    { "pulumi config get", NULL },
    { "pwgen", NULL },
    { "pwmake", NULL },
    { "python -c", "secrets.token" },
    { "python3 -c", "secrets.token" },
    { "rails secret", NULL },
    { "rake secret", NULL },
    { "ruby -e", "SecureRandom" },
    { "secret-tool lookup", NULL },
    { "security find-generic-password", "-w" },
    { "security find-internet-password", "-w" },
    { "sops", "--extract" },
    { "ssh-askpass", NULL },
    { "systemd-ask-password", NULL },
    { "terraform output", "-raw" },
    { "tr -dc", "/dev/urandom" },
    { "vault kv get", "-field" },
    { "vault print token", NULL },
    { "vault read", "-field" },
    { "wg genkey", NULL },
    { "wg genpsk", NULL },
    { "whiptail", "--passwordbox" },
    { "xkcdpass", NULL },
};

/* How long the end of a line at a place is, which may be escaped to any depth; 0: none. */
static size_t line_break(struct slice text, size_t at)
{
    const size_t depth = given_depth(text, at);

    if (at >= text.n || depth == 0)
        return at < text.n && text.p[at] == '\n';
    return at + depth < text.n && text.p[at + depth] == 'n' ? depth + 1 : 0;
}

static struct slice rest_of_line(struct slice text, size_t at)
{
    size_t n = 0;

    while (at + n < text.n && n < LINE_MOST && !line_break(text, at + n))
        n++;
    return (struct slice){ text.p + at, n };
}

static bool has_part(struct slice line, const char *part)
{
    return slice_find(line.p, line.n, part, strlen(part)) != NULL;
}

static bool is_word_at(struct slice line, size_t at, struct slice word)
{
    return line.n - at >= word.n && memcmp(line.p + at, word.p, word.n) == 0;
}

/* Behind options, and behind their values if these are not the word that is looked for. */
static size_t after_options(struct slice line, size_t at, struct slice word)
{
    while (at + 1 < line.n && line.p[at] == '-') {
        for (int i = 0; i < 2 && (i == 0 || (!is_word_at(line, at, word) && line.p[at] != '-'));
             i++) {
            while (at < line.n && !given_is_any(line.p[at], " \t\",'"))
                at++;
            while (at < line.n && given_is_any(line.p[at], " \t\",'"))
                at++;
            if (at >= line.n)
                return at;
        }
    }
    return at;
}

/* Where the words end in the line, or 0. */
static size_t after_printer(struct slice line, const char *words)
{
    size_t at = 0;

    for (bool first = true; *words; first = false) {
        const size_t n = strcspn(words, " ");

        while (!first && at < line.n && given_is_any(line.p[at], " \t\",'"))
            at++;
        if (!first && words[0] != '-')
            at = after_options(line, at, (struct slice){ words, n });
        if (at > line.n || !is_word_at(line, at, (struct slice){ words, n }) ||
            (line.n - at > n &&
             letters_have(LETTERS_URL | LETTERS_DOT | LETTERS_MARKS, line.p[at + n])))
            return 0;
        at += n;
        words += n + (words[n] == ' ');
    }
    return at;
}

/* What is written to a file, to the clipboard or into a variable is not printed. */
static bool is_kept_back(struct slice before, struct slice rest)
{
    static const char filters[] =
        " base64 head tail tr cut sed awk gawk grep jq yq xxd tee fold rev "
        "xargs cat od sort shuf openssl python3 python perl ";

    /* rg "pass show" */
    if (before.n && given_is_any(before.p[before.n - 1], "\"'") &&
        (has_part(before, "grep ") || has_part(before, "rg ") || has_part(before, "git ") ||
         has_part(before, "sed ") || has_part(before, "ag ")))
        return true;
    if ((has_part(before, "$(") || has_part(before, "`")) && !has_part(before, "echo "))
        return true;
    for (size_t i = 0; i < rest.n; i++) {
        size_t next = i + 1;

        if (given_is_any(rest.p[i], ";)&") && !(i && rest.p[i - 1] == '>'))
            break;
        if (rest.p[i] == '>' && !(next < rest.n && rest.p[next] == '&') &&
            !(i && given_is_any(rest.p[i - 1], "2-=")))
            return true;
        if (rest.p[i] != '|' || next >= rest.n || rest.p[next] == '|')
            continue;
        while (next < rest.n && rest.p[next] == ' ')
            next++;
        const struct slice program = { rest.p + next, letters_run(rest, next, LETTERS_URL, 31) };

        if (!given_is_word_of(program, filters))
            return true;
    }
    return false;
}

/* echo $DB_PASSWORD, printenv API_TOKEN, cat password.txt */
static bool prints_named(struct slice rest)
{
    const bool echo = slice_starts(rest, "echo "), env = slice_starts(rest, "printenv ");

    if (!echo && !env && !slice_starts(rest, "cat "))
        return false;
    size_t at = (size_t)((const char *)memchr(rest.p, ' ', rest.n) - rest.p) + 1;

    while (at < rest.n && given_is_any(rest.p[at], "\"'\\"))
        at++;
    if (echo && (at >= rest.n || rest.p[at] != '$'))
        return false;
    at += echo;
    at += echo && at < rest.n && rest.p[at] == '{';
    size_t n = letters_run(rest, at,
                           echo || env ? LETTERS_WORD | LETTERS_LOW
                                       : LETTERS_URL | LETTERS_DOT | LETTERS_BASE64 | LETTERS_MARKS,
                           200);
    struct slice name = { rest.p + at, n };
    const char *slash = echo || env ? NULL : memrchr(name.p, '/', name.n);

    if (at + n < rest.n && !given_is_any(rest.p[at + n], "\"'}\\;|& \r"))
        return false;
    if (slash) {
        name.n -= (size_t)(slash + 1 - name.p);
        name.p = slash + 1;
    }
    if (name.n > 4 && memcmp(name.p + name.n - 4, ".txt", 4) == 0)
        name.n -= 4;
    const bool file = !echo && !env;

    if (name.n < 2 || given_is_word_of(name, " passwd .pgpass .htpasswd sasl_passwd "))
        return false;
    return secret_name_kind(name) >= NAME_TOKEN && (!file || !memchr(name.p + 1, '.', name.n - 1));
}

/* restic --password-command 'echo w0rd', BORG_PASSCOMMAND="printf w0rd" */
static void note_password_command(struct command_line *line, struct slice text, size_t at)
{
    const size_t n = letters_run(text, at, LETTERS_WORD, 8);
    size_t from = at;

    if (!slice_eq((struct slice){ text.p + at, n }, SLICE("echo")) &&
        !slice_eq((struct slice){ text.p + at, n }, SLICE("printf")))
        return;
    while (from && at - from < 8 && given_is_any(text.p[from - 1], " =:,\"'\\"))
        from--;
    const struct slice name = given_name_ending_at(text, from);

    if (name.n < 11 || strncasecmp(name.p + name.n - 7, "command", 7) != 0 ||
        !slice_find_folded(name.p, name.n, "pass", 4))
        return;
    const struct given v = given_read_word(text, at + n);

    line->argument = v.at;
    line->argument_end =
        v.n && !given_is_placeholder((struct slice){ text.p + v.at, v.n }) ? v.at + v.n : 0;
}

void printed_note(struct command_line *line, struct slice text, size_t at)
{
    const char c = text.p[at];
    bool prints = false, named = false;
    struct slice rest = { .n = 0 };

    note_password_command(line, text, at);
    if (line->below || text.n - at < 3)
        return;
    if (c == 'c' || c == 's') {
        const struct slice word = { text.p + at, letters_run(text, at, LETTERS_URL, 16) };

        if (slice_eq(word, SLICE("chpasswd")) || slice_eq(word, SLICE("sasl_passwd"))) {
            /* cat << EOF | chpasswd, cat /etc/postfix/sasl_passwd */
            size_t from = at;

            rest = rest_of_line(text, at);
            while (from && at - from < 120 && text.p[from - 1] != '\n')
                from--;
            const struct slice all = { text.p + from, (size_t)(rest.p + rest.n - (text.p + from)) };

            if ((has_part(all, "<<") && !has_part(all, "<<<")) || (c == 's' && rest.n == word.n))
                line->below = BELOW_USERS;
            line->below_at = at;
            return;
        }
    }
    for (size_t i = first_with_front(printers, sizeof *printers, COUNT_OF(printers), text.p + at);
         i < COUNT_OF(printers) && !prints && compare_front(printers[i].words, text.p + at) == 0;
         i++) {
        if (!rest.n)
            rest = rest_of_line(text, at);
        prints = after_printer(rest, printers[i].words) &&
                 (!printers[i].needs || has_part(rest, printers[i].needs));
    }
    if (!prints && (c == 'e' || c == 'p' || c == 'c') && given_is_any(text.p[at + 1], "cra")) {
        rest = rest.n ? rest : rest_of_line(text, at);
        named = prints_named(rest);
    }
    if (!prints && !named)
        return;
    size_t from = at;

    while (from && at - from < 80 && text.p[from - 1] != '\n')
        from--;
    if (is_kept_back((struct slice){ text.p + from, at - from }, rest))
        return;
    line->below = BELOW_SECRET;
    line->below_at = at;
}

/* ---- what is below ---- */

/* The only word of a line, or nothing. */
static struct given only_word(struct slice text, size_t at, size_t end)
{
    while (at < end && given_is_any(text.p[at], " \t"))
        at++;
    /* The quotes of JSON close behind it. */
    const char *quote = end > at ? memchr(text.p + at + 1, '"', end - at - 1) : NULL;

    if (quote && slice_is_of((struct slice){ quote, (size_t)(text.p + end - quote) }, "\\\"}]), "))
        end = (size_t)(quote - text.p);
    while (end > at && given_is_any(text.p[end - 1], " \t\r\"'\\"))
        end--;
    for (size_t i = at; i < end; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == '"')
            return (struct given){ at, 0, false };
    return (struct given){ at, end - at, false };
}

/* A passphrase: three words or more of small letters. */
static bool is_passphrase(struct slice line)
{
    size_t words = 1, n = 0;

    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] >= 'a' && line.p[i] <= 'z')
            n++;
        else if (line.p[i] != ' ' || n < 3)
            return false;
        else {
            words++;
            n = 0;
        }
    return n > 2 && words > 2 && words < 13;
}

/* certain: nothing but the secret was printed. */
static bool is_printed_secret(struct slice word, bool certain)
{
    if (word.n < 4 || word.n > 4000 || given_is_any(word.p[word.n - 1], ":") ||
        given_is_placeholder(word))
        return false;
    if (certain)
        return !given_is_any(word.p[0], "$#%>-<{}[]");
    return given_has_digit(word) && !given_is_path(word) && !memchr(word.p, '(', word.n) &&
           (given_is_mixed_word(word) || given_is_tokenish(word, 12, false));
}

static enum err_code add_user(struct slice text, size_t at, size_t end, struct secret_list *list,
                              bool *is_user)
{
    struct slice line = { text.p + at, end - at };
    const char *blank = memrchr(line.p, ' ', line.n), *tab = memrchr(line.p, '\t', line.n);
    const char *from = tab > blank ? tab : blank;

    if (from)
        line = (struct slice){ from + 1, (size_t)(line.p + line.n - from - 1) };
    while (line.n && given_is_any(line.p[line.n - 1], "\r\"'\\"))
        line.n--;
    const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
    const struct slice value = { colon ? colon + 1 : line.p,
                                 colon ? (size_t)(line.p + line.n - colon - 1) : 0 };

    *is_user = value.n && colon > line.p && !given_is_placeholder(value) && value.p[0] != '/';
    return *is_user ? redact_list_add(list, "password", (size_t)(value.p - text.p), value.n)
                    : ERR_OK;
}

enum err_code printed_find_below(const struct command_line *line, struct slice text, size_t at,
                                 struct secret_list *list)
{
    const size_t before = line->below_at;
    size_t prompt = before;

    while (prompt && given_is_blank(text.p[prompt - 1]))
        prompt--;
    const bool certain = before == 0 || (prompt && given_is_any(text.p[prompt - 1], "$#%>")) ||
                         (prompt > 2 && memcmp(text.p + prompt - 3, "\u276f", 3) == 0);

    for (size_t n = 0, found = 0; n < BELOW_MOST; n++) {
        const size_t skip = line_break(text, at), from = at + skip;
        const size_t end = from + rest_of_line(text, from).n;
        const struct given v = only_word(text, from, end);
        bool is_secret = false;

        if (!skip || from >= text.n)
            break;
        if (line->below == BELOW_USERS) {
            TRY(add_user(text, from, end, list, &is_secret));
        } else if (is_printed_secret((struct slice){ text.p + v.at, v.n }, certain) && found < 4) {
            TRY(redact_list_add(list, printed_kind, v.at, v.n));
            is_secret = true;
        } else if (certain && n == 0 && is_passphrase((struct slice){ text.p + from, end - from }))
            TRY(redact_list_add(list, printed_kind, from, end - from));
        found += is_secret;
        if (!is_secret && (found || n > 0 || line->below == BELOW_SECRET))
            break;
        at = end;
    }
    return ERR_OK;
}

bool printed_by(struct slice command, bool *alone)
{
    struct command_line line = { .below = BELOW_NOTHING };

    for (size_t i = 0; i + 2 < command.n && !line.below; i++)
        if (letters_have(LETTERS_WORD, command.p[i]) &&
            (i == 0 || command_is_boundary(command.p[i - 1])))
            printed_note(&line, command, i);
    if (line.below != BELOW_SECRET)
        return false;
    const struct slice before = { command.p, line.below_at };
    const struct slice rest = rest_of_line(command, line.below_at);

    *alone = !has_part(before, "&&") && !has_part(before, ";") && !has_part(before, "\n") &&
             !has_part(rest, "&&") && !has_part(rest, ";") &&
             line.below_at + rest.n + 2 >= command.n;
    return true;
}

enum err_code printed_find(struct slice text, struct slice output, bool alone,
                           struct secret_list *list)
{
    size_t at = (size_t)(output.p - text.p);
    const struct slice upto = { text.p, at + output.n };

    for (bool first = true; at < upto.n;) {
        const struct slice line = rest_of_line(upto, at);
        const struct given v = only_word(upto, at, at + line.n);

        if (is_printed_secret((struct slice){ text.p + v.at, v.n }, alone))
            TRY(redact_list_add(list, printed_kind, v.at, v.n));
        else if (alone && first && is_passphrase(line))
            TRY(redact_list_add(list, printed_kind, at, line.n));
        first = (first && line.n == 0) || slice_eq(line, SLICE("Output:"));
        at += line.n;
        at += at < upto.n ? line_break(upto, at) : 1;
    }
    return ERR_OK;
}
