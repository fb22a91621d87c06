#include "store/redact/given_command.h"

#include <string.h>
#include <strings.h>

#include "lite/base/cleanup.h"
#include "store/redact/given_piped.h"
#include "store/redact/given_printed.h"
#include "store/redact/given_value.h"
#include "store/redact/token_form.h"

/* A program that takes a password after a flag of one letter. */
struct command {
    const char *name;
    char flag;
    bool spaced, joined; /* -p WORD, -pWORD */
    char after;          /* only what follows this is secret: USER:PASSWORD */
};

/* Sorted by their first letters. */
static const struct command commands[] = {
    { "7z", 'p', false, true, 0 },
    { "7za", 'p', false, true, 0 },
    { "az", 'p', true, false, 0 },
    { "bcp", 'P', true, true, 0 },
    { "beeline", 'p', true, false, 0 },
    { "certutil", 'p', true, false, 0 },
    { "codecov", 't', true, false, 0 },
    { "cqlsh", 'p', true, false, 0 },
    { "crackmapexec", 'p', true, false, 0 },
    { "curl", 'U', true, true, ':' },
    { "curl", 'b', true, true, '=' },
    { "curl", 'u', true, true, ':' },
    { "doctl", 't', true, false, 0 },
    { "evil-winrm", 'p', true, false, 0 },
    { "http", 'a', true, false, ':' },
    { "https", 'a', true, false, ':' },
    { "influx", 't', true, false, 0 },
    { "ipmitool", 'P', true, false, 0 },
    { "isql", 'P', true, true, 0 },
    { "ldapadd", 'w', true, false, 0 },
    { "ldapdelete", 'w', true, false, 0 },
    { "ldapmodify", 'w', true, false, 0 },
    { "ldappasswd", 'w', true, false, 0 },
    { "ldapsearch", 'w', true, false, 0 },
    { "ldapwhoami", 'w', true, false, 0 },
    { "lftp", 'u', true, false, ',' },
    { "login", 'p', true, true, 0 },
    { "mariadb", 'p', false, true, 0 },
    { "mariadb-dump", 'p', false, true, 0 },
    { "mongo", 'p', true, false, 0 },
    { "mongodump", 'p', true, false, 0 },
    { "mongoexport", 'p', true, false, 0 },
    { "mongoimport", 'p', true, false, 0 },
    { "mongorestore", 'p', true, false, 0 },
    { "mongosh", 'p', true, false, 0 },
    { "mosquitto_pub", 'P', true, false, 0 },
    { "mosquitto_sub", 'P', true, false, 0 },
    { "mycli", 'p', true, true, 0 },
    { "mysql", 'p', false, true, 0 },
    { "mysqladmin", 'p', false, true, 0 },
    { "mysqldump", 'p', false, true, 0 },
    { "mysqlimport", 'p', false, true, 0 },
    { "mysqlsh", 'p', false, true, 0 },
    { "ncftp", 'p', true, false, 0 },
    { "ncftpget", 'p', true, false, 0 },
    { "ncftpput", 'p', true, false, 0 },
    { "nuget", 'p', true, false, 0 },
    { "openssl", 'k', true, false, 0 },
    { "osql", 'P', true, true, 0 },
    { "psexec", 'p', true, false, 0 },
    { "rar", 'p', false, true, 0 },
    { "rdesktop", 'p', true, false, 0 },
    { "redis-cli", 'a', true, false, 0 },
    { "rpcclient", 'U', true, false, '%' },
    { "security", 'w', true, false, 0 },
    { "smbclient", 'U', true, false, '%' },
    { "smbmap", 'p', true, false, 0 },
    { "snmpget", 'A', true, false, 0 },
    { "snmpget", 'X', true, false, 0 },
    { "snmpget", 'c', true, false, 0 },
    { "snmpset", 'A', true, false, 0 },
    { "snmpset", 'X', true, false, 0 },
    { "snmpset", 'c', true, false, 0 },
    { "snmpwalk", 'A', true, false, 0 },
    { "snmpwalk", 'X', true, false, 0 },
    { "snmpwalk", 'c', true, false, 0 },
    { "sqlcmd", 'P', true, true, 0 },
    { "ssh-keygen", 'N', true, false, 0 },
    { "ssh-keygen", 'P', true, false, 0 },
    { "sshpass", 'p', true, true, 0 },
    { "tsql", 'P', true, false, 0 },
    { "twine", 'p', true, false, 0 },
    { "unrar", 'p', false, true, 0 },
    { "unzip", 'P', true, false, 0 },
    { "useradd", 'p', true, false, 0 },
    { "usermod", 'p', true, false, 0 },
    { "winexe", 'U', true, false, '%' },
    { "xh", 'a', true, false, ':' },
    { "zip", 'P', true, false, 0 },
};

/* A program that takes one after a flag of a word: /p:WORD, /rp WORD, -id=WORD. */
static const struct long_flag {
    const char *name, *flag;
} long_flags[] = {
    { "cmdkey", "/pass" }, { "openssl", "-passin" }, { "openssl", "-passout" },
    { "schtasks", "/rp" }, { "sdl-freerdp", "/p" },  { "sdl-freerdp3", "/p" },
    { "sfreerdp", "/p" },  { "signtool", "/p" },     { "vault", "-id" },
    { "wfreerdp", "/p" },  { "wlfreerdp", "/p" },    { "wlfreerdp3", "/p" },
    { "xfreerdp", "/p" },  { "xfreerdp3", "/p" },
};

/* A program that takes a password as a word of its own. */
enum {
    ARGUMENT_LAST,
    ARGUMENT_SHARE = 253, /* the word after the name of a share of Windows */
    ARGUMENT_HOST, /* the word after the first one that has a dot, as the name of a host has */
    ARGUMENT_WITH, /* the first word that has `after` */
};
static const struct argument {
    const char *words;  /* the program and its command; "http-basic." is the beginning of a word */
    unsigned nth;       /* which word after them, options not counted */
    char after, before; /* only what is between these is secret: USER/PASSWORD@HOST */
    bool prose;         /* sentences have these words, too */
} arguments[] = {
    { "ACL SETUSER", ARGUMENT_WITH, '>', 0, false },
    { "AUTH default", 1, 0, 0, false },
    { "ConvertTo-SecureString", 1, 0, 0, false },
    { "GetNPUsers.py", ARGUMENT_WITH, ':', 0, false },
    { "GetUserSPNs.py", ARGUMENT_WITH, ':', 0, false },
    { "NickServ IDENTIFY", 1, 0, 0, false },
    { "NickServ identify", 1, 0, 0, false },
    { "ansible-vault encrypt_string", 1, 0, 0, false },
    { "atexec.py", ARGUMENT_WITH, ':', '@', false },
    { "bundle config", ARGUMENT_HOST, 0, 0, false },
    { "bw login", 2, 0, 0, true },
    { "bw unlock", 1, 0, 0, false },
    { "caddy hash-password", 0, 0, 0, false },
    { "cargo login", 1, 0, 0, true },
    { "cloudflared service install", 1, 0, 0, false },
    { "composer config bearer.", 1, 0, 0, false },
    { "composer config bitbucket-oauth.", 2, 0, 0, false },
    { "composer config github-oauth.", 1, 0, 0, false },
    { "composer config gitlab-oauth.", 1, 0, 0, false },
    { "composer config gitlab-token.", 1, 0, 0, false },
    { "composer config http-basic.", 2, 0, 0, false },
    { "crypto isakmp key", 1, 0, 0, false },
    { "dcomexec.py", ARGUMENT_WITH, ':', '@', false },
    { "drush user:password", 2, 0, 0, false },
    { "expdp", 1, '/', '@', false },
    { "getTGT.py", ARGUMENT_WITH, ':', 0, false },
    { "grafana-cli admin reset-admin-password", 1, 0, 0, false },
    { "htpasswd -b", 0, 0, 0, false },
    { "impacket-GetNPUsers", ARGUMENT_WITH, ':', 0, false },
    { "impacket-GetUserSPNs", ARGUMENT_WITH, ':', 0, false },
    { "impacket-atexec", ARGUMENT_WITH, ':', '@', false },
    { "impacket-dcomexec", ARGUMENT_WITH, ':', '@', false },
    { "impacket-getTGT", ARGUMENT_WITH, ':', 0, false },
    { "impacket-mssqlclient", ARGUMENT_WITH, ':', '@', false },
    { "impacket-psexec", ARGUMENT_WITH, ':', '@', false },
    { "impacket-secretsdump", ARGUMENT_WITH, ':', '@', false },
    { "impacket-smbclient", ARGUMENT_WITH, ':', '@', false },
    { "impacket-smbexec", ARGUMENT_WITH, ':', '@', false },
    { "impacket-wmiexec", ARGUMENT_WITH, ':', '@', false },
    { "impdp", 1, '/', '@', false },
    { "key-string", 1, 0, 0, true },
    { "mc alias set", 4, 0, 0, false },
    { "mkpasswd", 0, 0, 0, true },
    { "mosquitto_passwd -b", 0, 0, 0, false },
    { "mssqlclient.py", ARGUMENT_WITH, ':', '@', false },
    { "net use", ARGUMENT_SHARE, 0, 0, false },
    { "net user", 2, 0, 0, true },
    { "ngrok authtoken", 1, 0, 0, false },
    { "openssl passwd", 0, 0, 0, true },
    { "poetry config http-basic.", 2, 0, 0, false },
    { "poetry config pypi-token.", 1, 0, 0, false },
    { "psexec.py", ARGUMENT_WITH, ':', '@', false },
    { "pulumi config set --secret", 2, 0, 0, false },
    { "rabbitmqctl add_user", 2, 0, 0, false },
    { "rabbitmqctl authenticate_user", 2, 0, 0, false },
    { "rabbitmqctl change_password", 2, 0, 0, false },
    { "radius-server host", 0, 0, 0, false },
    { "radius-server key", 1, 0, 0, false },
    { "rclone obscure", 1, 0, 0, false },
    { "rman target", 1, '/', '@', false },
    { "root-authentication plain-text-password-value", 1, 0, 0, false },
    { "rootpw", 0, 0, 0, true },
    { "secretsdump.py", ARGUMENT_WITH, ':', '@', false },
    { "smbclient.py", ARGUMENT_WITH, ':', '@', false },
    { "smbexec.py", ARGUMENT_WITH, ':', '@', false },
    { "snmp-server community", 1, 0, 0, false },
    { "snyk auth", 1, 0, 0, false },
    { "sp_addlinkedsrvlogin", 5, 0, 0, false },
    { "sp_addlogin", 2, 0, 0, false },
    { "sp_addremotelogin", 3, 0, 0, false },
    { "sp_password", 2, 0, 0, false },
    { "sqlldr", 1, '/', '@', false },
    { "sqlplus", 1, '/', '@', false },
    { "ssh", ARGUMENT_WITH, ':', 0, true },
    { "tacacs-server key", 1, 0, 0, false },
    { "vercel env add", ARGUMENT_LAST, 0, 0, true },
    { "wmiexec.py", ARGUMENT_WITH, ':', '@', false },
    { "wpa_passphrase", 2, 0, 0, false },
};

bool command_is_boundary(char c)
{
    switch (c) {
    case '"':
    case '\'':
    case '`':
    case ';':
    case '|':
    case '&':
    case '(':
    case '/':
    case '$':
    case '[':
    case '=':
    case ',': return true;
    default: return (unsigned char)c <= ' ';
    }
}

void command_line_separate(struct command_line *line, char separator)
{
    const struct command_line old = *line;

    *line = (struct command_line){ .echo = separator == '|' ? old.echo : 0 };
    if (separator != '\n') {
        line->below = old.below;
        line->below_at = old.below_at;
        line->argument = old.argument; /* of sed, behind its own marks */
        line->argument_end = old.argument_end;
    }
}

static bool has_digit_or_mark(struct slice word)
{
    for (size_t i = 0; i < word.n; i++)
        if (letters_have(LETTERS_DIGIT, word.p[i]) || strchr("!#$%^&*@?+", word.p[i]))
            return true;
    return false;
}

static bool is_option(struct slice word)
{
    return word.p[0] == '-' || (word.p[0] == '/' && word.n > 1 && word.p[1] > '9');
}

/* Where the words after a program and its command begin, or 0. */
static size_t after_words(struct slice text, size_t at, struct slice words)
{
    for (bool first = true; words.n; first = false) {
        const char *blank = memchr(words.p, ' ', words.n);
        struct slice word = { words.p, blank ? (size_t)(blank - words.p) : words.n };
        struct given next = first ? given_read(text, at, true) : given_read_word(text, at);
        struct slice found = { text.p + next.at, next.n };

        for (int i = 0; i < 4 && !first && word.p[0] != '-' && found.n && found.p[0] == '-'; i++) {
            next = given_read_word(text, next.at + next.n); /* composer config --global NAME */
            found = (struct slice){ text.p + next.at, next.n };
        }

        if (word.p[0] == '-' && word.n == 2 /* -b, -nbB */
                ? found.n < 2 || found.p[0] != '-' || !memchr(found.p, 'b', found.n)
                : word.p[word.n - 1] == '.'
                      ? found.n < word.n || memcmp(found.p, word.p, word.n) != 0
                      : !slice_eq(found, word))
            return 0;
        at = next.at + next.n;
        words.p += word.n + (blank != NULL);
        words.n -= word.n + (blank != NULL);
    }
    return at;
}

/* Behind the name of a share, whose backslashes may be escaped to any depth, or 0. */
static size_t after_share(struct slice text, size_t at)
{
    for (size_t i = at; i + 2 < text.n && i - at < 200 && text.p[i] != '\n'; i++) {
        if (text.p[i] != '\\' || given_depth(text, i) < 2)
            continue;
        while (i < text.n && (unsigned char)text.p[i] > ' ')
            i++;
        return i;
    }
    return 0;
}

/* The word of that number, options not counted. */
static struct given nth_word(struct slice text, size_t at, const struct argument *a)
{
    const bool any = a->nth >= ARGUMENT_SHARE;
    struct given v = { .n = 0 };

    for (unsigned n = 0, looked = 0; (a->nth == ARGUMENT_LAST || n < a->nth) && looked < 16;
         looked++) {
        const struct given next = given_read_word(text, at);
        const struct slice word = { text.p + next.at, next.n };

        if (next.n == 0 && !next.quoted)
            return a->nth ? (struct given){ .n = 0 } : v;
        at = next.at + next.n + next.quoted;
        if (!next.quoted && is_option(word))
            continue;
        v = next;
        n++;
        if (any && a->nth == ARGUMENT_HOST   ? memchr(word.p, '.', word.n) != NULL
            : any && a->nth == ARGUMENT_WITH ? word.n && memchr(word.p, a->after, word.n)
                                             : any)
            return a->nth == ARGUMENT_HOST ? given_read_word(text, at) : v;
    }
    return v;
}

/* A word that is not what the program takes a password for: ssh HOST:PORT, bundle config build.x --with-y. */
static bool is_other_argument(const struct argument *a, struct slice value, struct slice word)
{
    if (a->nth == ARGUMENT_HOST)
        return value.p[0] == '-' || given_is_path(value);
    if (strcmp(a->words, "ssh") == 0)
        return !memchr(word.p, '@', word.n) || memchr(value.p, '/', value.n) || value.n < 6 ||
               letters_run(value, 0, LETTERS_DIGIT | LETTERS_DOT | LETTERS_MARKS, value.n) ==
                   value.n;
    if (strcmp(a->words, "vercel env add") == 0) /* the name alone, or NAME < FILE */
        return secret_name_is_constant(value) || memchr(value.p, '.', value.n);
    return word.p[0] == '@' || (word.p[0] == '*' && word.n == 1); /* a name of SQL; "asks" */
}

/* Looks ahead for the argument that is a password. */
static void note_argument(struct command_line *line, struct slice text, size_t at,
                          const struct argument *a)
{
    at = after_words(text, at, slice_of(a->words));
    if (at && a->nth == ARGUMENT_SHARE)
        at = after_share(text, at);
    if (!at)
        return;
    const struct given v = nth_word(text, at, a);
    const struct slice word = { text.p + v.at, v.n };
    struct slice value = word;
    const char *after = a->after && v.n ? memchr(value.p, a->after, value.n) : NULL;

    if (a->nth == ARGUMENT_HOST && v.n)
        after = memchr(value.p, ':', value.n);
    if (after)
        value = (struct slice){ after + 1, (size_t)(value.p + value.n - after - 1) };
    const char *before = a->before && value.n ? memchr(value.p, a->before, value.n) : NULL;

    if (before)
        value.n = (size_t)(before - value.p);
    if (value.n == 0 || (a->after && !after) || given_is_placeholder(value) ||
        is_other_argument(a, value, word) || (a->prose && !v.quoted && !has_digit_or_mark(value)))
        return;
    line->argument = (size_t)(value.p - text.p);
    line->argument_end = line->argument + value.n;
}

/* expect "assword:" and send -- "w0rd\\r"; without the question a word that looks like a password. */
static void note_sent(struct command_line *line, struct slice text, size_t at, size_t after)
{
    const size_t near = at < 120 ? at : 120;
    const bool asked = slice_find(text.p + at - near, near, "assword", 7) &&
                       slice_find(text.p + at - near, near, "expect", 6);
    struct given v = given_read_word(text, after);

    while (!v.quoted && v.n && text.p[v.at] == '-')
        v = given_read_word(text, v.at + v.n);
    const size_t whole = v.n;

    while (v.quoted && v.n > 1 && text.p[v.at + v.n - 2] == '\\')
        v.n -= 2;
    const struct slice word = { text.p + v.at, v.n };

    if (!asked && (v.n == whole || v.n < 6 || !given_has_digit(word) || given_is_path(word) ||
                   memchr(word.p, ' ', word.n)))
        return;
    line->argument = v.at;
    line->argument_end = v.quoted ? v.at + v.n : 0;
}

/* sed s/DB_PASSWORD/w0rd/: the name is what the password takes the place of. */
static void note_substituted(struct command_line *line, struct slice text, size_t at)
{
    enum { SCRIPT_MOST = 300 };

    for (size_t i = at; i + 2 < text.n && i - at < SCRIPT_MOST && text.p[i] != '\n'; i++) {
        if (text.p[i] != 's' || !given_is_any(text.p[i + 1], "/|#,:@!~%") ||
            !given_is_any(text.p[i - 1], " \"';"))
            continue;
        const char mark = text.p[i + 1];
        const char *name = text.p + i + 2, *end = memchr(name, mark, text.n - i - 2);
        const char *value = end ? end + 1 : name;
        const char *stop = end ? memchr(value, mark, (size_t)(text.p + text.n - value)) : NULL;

        if (!stop || stop - name > SCRIPT_MOST)
            return;
        while (end > name && given_is_any(end[-1], "@}])>%$"))
            end--;
        const struct slice word = { value, (size_t)(stop - value) };

        if (secret_name_kind(given_name_ending_at(text, (size_t)(end - text.p))) >= NAME_TOKEN &&
            secret_name_kind(word) < NAME_LIKELY && !memchr(value, '=', word.n) &&
            (given_has_digit(word) || !given_is_plain(word)) && !given_is_placeholder(word)) {
            line->argument = (size_t)(value - text.p);
            line->argument_end = line->argument + word.n;
            return;
        }
        i = (size_t)(stop - text.p);
    }
}

void command_line_note(struct command_line *line, struct slice text, size_t at)
{
    const struct slice word = { text.p + at, letters_run(text, at, LETTERS_URL, 32) };

    if (slice_eq(word, SLICE("echo")) || slice_eq(word, SLICE("printf")) ||
        slice_eq(word, SLICE("yes")))
        line->echo = at + word.n;
    if (slice_eq(word, SLICE("cat")) &&
        slice_starts((struct slice){ text.p + at, text.n - at }, "cat <<<"))
        line->echo = at + 7; /* cat <<< WORD */
    if (slice_eq(word, SLICE("send")))
        note_sent(line, text, at, at + word.n);
    if (slice_eq(word, SLICE("sed")))
        note_substituted(line, text, at + word.n);
    if (word.n < 2)
        return;
    printed_note(line, text, at);
    for (size_t i = first_with_front(commands, sizeof *commands, COUNT_OF(commands), word.p);
         i < COUNT_OF(commands) && compare_front(commands[i].name, word.p) == 0; i++)
        if (slice_eq(word, slice_of(commands[i].name)) &&
            (at + word.n >= text.n || text.p[at + word.n] != ':')) { /* not "https:" */
            line->command = (unsigned)i + 1;
            break;
        }
    for (size_t i = first_with_front(long_flags, sizeof *long_flags, COUNT_OF(long_flags), word.p);
         i < COUNT_OF(long_flags) && compare_front(long_flags[i].name, word.p) == 0; i++)
        if (slice_eq(word, slice_of(long_flags[i].name))) {
            line->long_flag = (unsigned)i + 1;
            break;
        }
    for (size_t i = first_with_front(arguments, sizeof *arguments, COUNT_OF(arguments), word.p);
         i < COUNT_OF(arguments) && compare_front(arguments[i].words, word.p) == 0; i++)
        note_argument(line, text, at, &arguments[i]);
}

static enum err_code add_password(struct secret_list *list, struct given v)
{
    return redact_list_add(list, "password", v.at, v.n);
}

static enum err_code find_long_flag(const struct command_line *line, struct slice text, size_t at,
                                    struct secret_list *list)
{
    const bool in_quotes = at && (text.p[at - 1] == '"' || text.p[at - 1] == '\'');
    static const char *const places[] = { "env:", "file:", "fd:", "stdin" };
    const char *name = long_flags[line->long_flag - 1].name;
    size_t from = 0, n = 0;

    for (size_t i = line->long_flag - 1;
         !from && i < COUNT_OF(long_flags) && strcmp(long_flags[i].name, name) == 0; i++) {
        const size_t end = at + strlen(long_flags[i].flag);

        if (end < text.n && strncasecmp(text.p + at, long_flags[i].flag, end - at) == 0 &&
            strchr(" :=\"", text.p[end]))
            from = end;
    }
    if (!from)
        return ERR_OK;
    while (from < text.n && n < 12 && strchr(" :=,\"", text.p[from]) &&
           (text.p[from] != '"' || text.p[from - 1] != ' '))
        from++, n++;
    struct given v = given_read(text, from, true);

    /* "/p:two words": up to the quote that opened before the flag. */
    if (in_quotes && !v.quoted)
        while (v.at + v.n < text.n && v.n < 80 && text.p[v.at + v.n] != text.p[at - 1] &&
               text.p[v.at + v.n] != '\n' && text.p[v.at + v.n] != '\\')
            v.n++;
    /* openssl -passin env:NAME says where the password is. */
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (slice_starts((struct slice){ text.p + v.at, text.n - v.at }, places[i]))
            return ERR_OK;
    return v.n && !given_is_placeholder((struct slice){ text.p + v.at, v.n }) &&
                   (v.quoted || !given_is_any(text.p[v.at], "})]/-"))
               ? add_password(list, v)
               : ERR_OK;
}

/* -p WORD, -pWORD, -u USER:PASSWORD; also as words of a list: "-p", "WORD". */
static enum err_code find_flag(const struct command_line *line, struct slice text, size_t at,
                               struct secret_list *list)
{
    if (!line->command || at + 2 >= text.n)
        return ERR_OK;
    const char *name = commands[line->command - 1].name;

    for (unsigned i = line->command - 1;
         i < sizeof commands / sizeof *commands && strcmp(commands[i].name, name) == 0; i++) {
        const struct command *c = &commands[i];
        size_t from = at + 2;

        if (c->flag != text.p[at + 1])
            continue;
        bool spaced = command_is_boundary(text.p[from]) && text.p[from] != '$';

        if (spaced ? !c->spaced && text.p[from] != '\'' && text.p[from] != '"' : !c->joined)
            continue;
        if (spaced && c->spaced)
            while (from < text.n && from - at < 12 &&
                   (strchr(" \t,=", text.p[from]) ||
                    (text.p[from] == '"' && from + 1 < text.n && strchr(",]", text.p[from + 1]))))
                from++;
        struct given v = given_read(text, from, c->after == ',');
        const char *cut = c->after && v.n ? memchr(text.p + v.at, c->after, v.n) : NULL;

        if (c->after && !cut)
            return ERR_OK;
        if (cut) {
            size_t user = (size_t)(cut + 1 - (text.p + v.at));

            v.at += user;
            v.n -= user;
        }
        struct slice value = { text.p + v.at, v.n };

        return v.n == 0 || value.p[0] == '-' ||
                       (given_is_placeholder(value) && value.p[0] != ':') ||
                       (strcmp(c->name, "login") == 0 && v.n < 12 &&
                        letters_run(value, 0, LETTERS_DIGIT | LETTERS_MARKS, v.n) == v.n)
                   ? ERR_OK
                   : add_password(list, v);
    }
    return ERR_OK;
}

/* curl --user USER:PASSWORD, gh secret set NAME --body WORD, -b WORD, -b"WORD" */
static enum err_code find_user(const struct command_line *line, struct slice text, size_t at,
                               struct secret_list *list)
{
    static const char *const flags[] = { "--user", "--proxy-user", "--auth" };
    static const char *const values[] = { "--value", "--body", "-b" };
    const struct slice rest = { text.p + at, text.n - at };

    for (size_t i = 0; line->reads_secret && i < sizeof values / sizeof *values; i++) {
        size_t from = at + strlen(values[i]);

        if (!slice_starts(rest, values[i]) || from >= text.n || !strchr(" =\"'\\", text.p[from]))
            continue;
        struct given v =
            given_read(text, from + (text.p[from] == ' ' || text.p[from] == '='), false);

        return v.n && !given_is_placeholder((struct slice){ text.p + v.at, v.n })
                   ? add_password(list, v)
                   : ERR_OK;
    }
    for (size_t i = 0; line->command && commands[line->command - 1].after == ':' &&
                       i < sizeof flags / sizeof *flags;
         i++) {
        size_t from = at + strlen(flags[i]);

        if (!slice_starts(rest, flags[i]) || from >= text.n || !strchr(" =", text.p[from]))
            continue;
        struct given v = given_read(text, from + 1, false);
        const char *colon = v.n ? memchr(text.p + v.at, ':', v.n) : NULL;
        size_t user = colon ? (size_t)(colon + 1 - (text.p + v.at)) : 0;

        v.at += user;
        v.n -= user;
        return user && v.n && text.p[v.at] != '$' ? add_password(list, v) : ERR_OK;
    }
    return ERR_OK;
}

enum err_code command_find(struct command_line *line, struct slice text, size_t at,
                           struct secret_list *list)
{
    size_t before = list->n;

    if (line->argument == at && line->argument_end > at) {
        struct given v = { at, line->argument_end - at, false };

        line->argument_end = 0;
        return add_password(list, v);
    }
    if (line->long_flag && (text.p[at] == '-' || text.p[at] == '/'))
        TRY(find_long_flag(line, text, at, list));
    if (list->n > before)
        return ERR_OK;
    if (text.p[at] == '-' && text.n - at > 2 && text.p[at + 1] != '-' && !line->reads_secret)
        return find_flag(line, text, at, list);
    if (text.p[at] == '-')
        TRY(find_user(line, text, at, list));
    return list->n == before ? piped_find(line, text, at, list) : ERR_OK;
}
