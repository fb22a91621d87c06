#include "store/redact/secret_name.h"

#include <stdbool.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/redact/token_form.h"

/* What a word of a name says. */
enum {
    IS_PASSWORD = 1 << 0,
    IS_TOKEN = 1 << 1,
    OF_KEY = 1 << 2, /* "key" after it is a secret */
    LIKELY = 1 << 3,
    ABOUT = 1 << 4,    /* the end of a name that is about a secret */
    ASKS = 1 << 5,     /* the beginning of such a name */
    HARMLESS = 1 << 6, /* whatever else the name says, the value is not secret */
    SERVICE = 1 << 7,
    IS_CODE = 1 << 8,
    OF_CODE = 1 << 9, /* "code" after it is a secret */
};

enum { WORD_MOST = 24, WORDS_MOST = 12 };

/* clang-format off */
const struct secret_word secret_words[] = {
    { "2fa", OF_CODE }, { "access", OF_KEY | LIKELY | OF_CODE }, { "accesskey", IS_TOKEN }, { "accesstoken", IS_TOKEN }, { "account", OF_KEY },
    { "adafruit", SERVICE }, { "admin", OF_KEY }, { "adobe", SERVICE }, { "aes", OF_KEY }, { "age", ABOUT },
    { "airtable", SERVICE }, { "algolia", SERVICE }, { "algorithm", ABOUT }, { "alibaba", SERVICE },
    { "amplitude", SERVICE }, { "anthropic", SERVICE }, { "api", OF_KEY }, { "apikey", IS_TOKEN },
    { "apitoken", IS_TOKEN }, { "app", OF_KEY }, { "application", OF_KEY }, { "arn", ABOUT },
    { "artifactory", SERVICE }, { "asana", SERVICE }, { "assemblyai", SERVICE }, { "at", ABOUT },
    { "atlassian", SERVICE }, { "auth", OF_KEY | LIKELY }, { "auth0", SERVICE }, { "authentication", LIKELY | OF_CODE },
    { "authkey", IS_TOKEN }, { "authorization", LIKELY }, { "authtoken", IS_TOKEN }, { "backup", OF_CODE }, { "bandwidth", SERVICE },
    { "beamer", SERVICE }, { "bearer", IS_TOKEN }, { "bindpw", IS_PASSWORD }, { "bintray", SERVICE }, { "bitbucket", SERVICE },
    { "bittrex", SERVICE }, { "blob", HARMLESS }, { "braintree", SERVICE }, { "budget", ABOUT }, { "bugsnag", SERVICE },
    { "build", HARMLESS }, { "buildkite", SERVICE }, { "cache", ASKS }, { "cached", ASKS }, { "change", ABOUT },
    { "changed", ABOUT }, { "check", ASKS }, { "checksum", HARMLESS }, { "cipher", OF_KEY }, { "circleci", SERVICE },
    { "class", ABOUT }, { "clearbit", SERVICE }, { "client", OF_KEY }, { "cloudflare", SERVICE },
    { "cloudinary", SERVICE }, { "cmd", ABOUT }, { "codecov", SERVICE }, { "cohere", SERVICE }, { "coinbase", SERVICE },
    { "column", ABOUT }, { "command", ABOUT }, { "commit", HARMLESS }, { "completion", ASKS },
    { "confluence", SERVICE }, { "confluent", SERVICE }, { "connectionstring", IS_TOKEN }, { "contentful", SERVICE },
    { "contrasena", IS_PASSWORD }, { "contribsys", SERVICE }, { "cookie", LIKELY }, { "cookies", LIKELY }, { "cost", ABOUT },
    { "count", ABOUT | ASKS }, { "cred", IS_TOKEN }, { "credential", IS_TOKEN }, { "credentials", IS_TOKEN },
    { "creds", IS_TOKEN }, { "crypt", OF_KEY }, { "cvc", IS_CODE }, { "cvv", IS_CODE }, { "datadog", SERVICE }, { "decryption", OF_KEY },
    { "deepgram", SERVICE }, { "deepseek", SERVICE }, { "deploy", OF_KEY }, { "digest", ABOUT | HARMLESS },
    { "dir", ABOUT }, { "discord", SERVICE }, { "dnkey", SERVICE }, { "droneci", SERVICE }, { "dropbox", SERVICE },
    { "dsn", LIKELY }, { "elevenlabs", SERVICE }, { "enabled", ABOUT }, { "encoder", ABOUT }, { "encryption", OF_KEY },
    { "end", ABOUT }, { "endpoint", ABOUT }, { "env", ABOUT }, { "error", ABOUT }, { "errors", ABOUT },
    { "etag", HARMLESS }, { "etsy", SERVICE }, { "exists", ABOUT }, { "expiration", ABOUT }, { "expires", ABOUT },
    { "expiry", ABOUT }, { "facebook", SERVICE }, { "fastly", SERVICE }, { "fi", OF_KEY }, { "field", ABOUT }, { "file", ABOUT },
    { "files", ABOUT }, { "fingerprint", ABOUT }, { "finicity", SERVICE }, { "finnhub", SERVICE },
    { "flickr", SERVICE }, { "folder", ABOUT }, { "foreign", ASKS }, { "forgot", ASKS }, { "form", ABOUT },
    { "format", ABOUT }, { "freshbooks", SERVICE }, { "fullstory", SERVICE }, { "giphy", SERVICE },
    { "gitter", SERVICE }, { "gocardless", SERVICE }, { "guid", HARMLESS }, { "handler", ABOUT }, { "has", ASKS },
    { "hash", ABOUT | ASKS }, { "hashed", ASKS }, { "helper", ABOUT }, { "heroku", SERVICE }, { "hetzner", SERVICE },
    { "hide", ASKS }, { "hint", ABOUT }, { "hmac", OF_KEY }, { "honeycomb", SERVICE }, { "host", OF_KEY },
    { "hubspot", SERVICE }, { "id", ABOUT }, { "idempotency", ASKS }, { "ids", ABOUT }, { "index", ABOUT },
    { "input", ABOUT | ASKS }, { "instrumentation", OF_KEY }, { "integrity", HARMLESS }, { "intercom", SERVICE }, { "ipstack", SERVICE },
    { "is", ASKS }, { "jfrog", SERVICE }, { "jira", SERVICE }, { "jwt", IS_TOKEN | OF_KEY }, { "kennwort", IS_PASSWORD }, { "key", LIKELY },
    { "keys", LIKELY }, { "kind", ABOUT }, { "kraken", SERVICE }, { "kucoin", SERVICE }, { "label", ABOUT },
    { "launchdarkly", SERVICE }, { "len", ABOUT }, { "length", ABOUT }, { "license", OF_KEY | LIKELY },
    { "limit", ABOUT }, { "line", ABOUT }, { "linear", SERVICE }, { "link", ABOUT }, { "linkedin", SERVICE },
    { "linode", SERVICE }, { "lob", SERVICE }, { "logdna", SERVICE }, { "loggly", SERVICE }, { "looker", SERVICE },
    { "mailchimp", SERVICE }, { "mailchimpsdk", SERVICE }, { "mailgun", SERVICE }, { "manager", ABOUT },
    { "mandrill", SERVICE }, { "mapbox", SERVICE }, { "mapquest", SERVICE }, { "master", OF_KEY },
    { "masterauth", IS_PASSWORD }, { "mattermost", SERVICE }, { "max", ABOUT | ASKS }, { "md5", HARMLESS }, { "meraki", SERVICE },
    { "message", ABOUT }, { "messagebird", SERVICE }, { "mfa", OF_CODE }, { "min", ABOUT | ASKS }, { "missing", ABOUT },
    { "mistral", SERVICE }, { "mixpanel", SERVICE }, { "mnemonic", LIKELY }, { "mode", ABOUT }, { "moesif", SERVICE },
    { "msg", ABOUT }, { "name", ABOUT }, { "names", ABOUT }, { "need", ASKS }, { "needs", ASKS },
    { "netlify", SERVICE }, { "network", OF_KEY }, { "newrelic", SERVICE }, { "nexmo", SERVICE }, { "next", ASKS }, { "no", ASKS },
    { "nonce", LIKELY }, { "num", ASKS }, { "nytimes", SERVICE }, { "offset", ABOUT }, { "okta", SERVICE },
    { "onetime", OF_CODE }, { "openai", SERVICE }, { "openweather", SERVICE }, { "opsgenie", SERVICE }, { "otp", IS_CODE }, { "output", ASKS },
    { "page", ABOUT | ASKS }, { "pagerduty", SERVICE }, { "papertrail", SERVICE }, { "parent", HARMLESS },
    { "partition", ASKS }, { "pass", IS_PASSWORD }, { "passcode", IS_PASSWORD }, { "passe", IS_PASSWORD }, { "passphrase", IS_PASSWORD },
    { "passwd", IS_PASSWORD }, { "password", IS_PASSWORD }, { "passwords", IS_PASSWORD }, { "passwort", IS_PASSWORD },
    { "pat", IS_TOKEN }, { "path", ABOUT }, { "pattern", ABOUT }, { "paypal", SERVICE }, { "per", ABOUT },
    { "phrase", LIKELY }, { "pin", IS_CODE }, { "pincode", IS_CODE }, { "pinterest", SERVICE }, { "placeholder", ABOUT }, { "plaid", SERVICE }, { "plivo", SERVICE }, { "policy", ABOUT },
    { "policy_id", ABOUT }, { "position", ABOUT }, { "postmark", SERVICE }, { "pragma", OF_KEY }, { "pre", OF_KEY }, { "prefix", ABOUT },
    { "present", ABOUT }, { "price", ABOUT }, { "primary", ASKS }, { "private", OF_KEY }, { "privateai", SERVICE },
    { "privatekey", IS_TOKEN }, { "prompt", ABOUT | ASKS }, { "provider", ABOUT }, { "psk", IS_PASSWORD },
    { "pswd", IS_PASSWORD }, { "public", ASKS }, { "puk", IS_CODE }, { "pusher", SERVICE }, { "pw", IS_PASSWORD }, { "pwd", IS_PASSWORD }, { "rapidapi", SERVICE },
    { "rate", ABOUT }, { "razorpay", SERVICE }, { "read", OF_KEY }, { "reasoning", ASKS }, { "recovery", OF_CODE }, { "ref", ABOUT },
    { "regex", ABOUT }, { "remaining", ASKS }, { "require", ASKS }, { "required", ABOUT }, { "requirepass", IS_PASSWORD }, { "requires", ASKS },
    { "reset", ABOUT }, { "rev", HARMLESS }, { "revision", HARMLESS }, { "rollbar", SERVICE }, { "root", OF_KEY },
    { "rootpw", IS_PASSWORD }, { "rotation", ABOUT }, { "rsa", OF_KEY }, { "salt", LIKELY }, { "sas", OF_KEY }, { "scaleway", SERVICE },
    { "schema", ABOUT }, { "scope", ABOUT }, { "scopes", ABOUT }, { "secret", IS_TOKEN | OF_KEY },
    { "secretkey", IS_TOKEN }, { "secrets", IS_TOKEN }, { "security", OF_CODE }, { "seed", LIKELY }, { "segment", SERVICE },
    { "semaphore", SERVICE }, { "sendbird", SERVICE }, { "sendgrid", SERVICE }, { "senha", IS_PASSWORD }, { "sentry", SERVICE },
    { "server", OF_KEY }, { "service", OF_KEY | ABOUT }, { "session", OF_KEY | LIKELY }, { "set", ABOUT },
    { "sha", HARMLESS }, { "sha1", HARMLESS }, { "sha256", HARMLESS }, { "sha512", HARMLESS }, { "shared", OF_KEY },
    { "shodan", SERVICE }, { "show", ASKS }, { "sid", LIKELY }, { "sig", LIKELY }, { "signature", LIKELY },
    { "signing", OF_KEY }, { "site", OF_KEY }, { "size", ABOUT }, { "sms", OF_CODE }, { "snyk", SERVICE }, { "snykapikey", SERVICE },
    { "snykkey", SERVICE }, { "snyktoken", SERVICE }, { "sonar", SERVICE }, { "sonarlogin", SERVICE },
    { "sonartoken", SERVICE }, { "sort", ASKS }, { "source", ABOUT }, { "sparkpost", SERVICE }, { "spotify", SERVICE },
    { "squarespace", SERVICE }, { "ssh", OF_KEY }, { "start", ABOUT }, { "status", ABOUT }, { "stdin", ABOUT },
    { "storage", OF_KEY }, { "store", ABOUT }, { "strava", SERVICE }, { "strength", ABOUT }, { "subscription", OF_KEY },
    { "sumo", SERVICE }, { "sumologic", SERVICE }, { "table", ABOUT }, { "telegr", SERVICE }, { "telegram", SERVICE },
    { "template", ABOUT }, { "test", ABOUT }, { "tests", ABOUT }, { "time", OF_CODE }, { "title", ABOUT }, { "tmdb", SERVICE },
    { "toggle", ASKS }, { "token", IS_TOKEN | OF_KEY }, { "tokens", LIKELY }, { "total", ABOUT | ASKS },
    { "totp", IS_CODE }, { "travis", SERVICE }, { "tree", HARMLESS }, { "trello", SERVICE }, { "ttl", ABOUT }, { "twilio", SERVICE },
    { "twitch", SERVICE }, { "twitter", SERVICE }, { "type", ABOUT }, { "typeform", SERVICE }, { "types", ABOUT },
    { "unlock", OF_CODE }, { "uri", ABOUT }, { "url", ABOUT }, { "usage", ABOUT }, { "used", ABOUT | ASKS }, { "user", OF_KEY },
    { "userpass", IS_PASSWORD }, { "util", ABOUT }, { "utils", ABOUT }, { "uuid", HARMLESS }, { "valid", ABOUT },
    { "validate", ASKS }, { "validator", ABOUT }, { "var", ABOUT }, { "vercel", SERVICE }, { "verification", OF_CODE }, { "verify", ASKS },
    { "version", ABOUT | HARMLESS }, { "virustotal", SERVICE }, { "vonage", SERVICE }, { "vultr", SERVICE },
    { "wachtwoord", IS_PASSWORD }, { "wakatime", SERVICE }, { "wallet", OF_KEY }, { "webhook", OF_KEY | LIKELY }, { "wep", OF_KEY }, { "wifi", OF_KEY }, { "wpa", OF_KEY }, { "write", OF_KEY },
    { "xauth", LIKELY }, { "xray", SERVICE }, { "yandex", SERVICE }, { "zapier", SERVICE }, { "zendesk", SERVICE },
    { "zoho", SERVICE },
};
/* clang-format on */

const size_t secret_words_n = COUNT_OF(secret_words);

/* clang-format off */
const struct front_letters secret_word_fronts[128] = {
    ['2'] = { 0x4000000000, 0x200000000 }, ['a'] = { 0x3d72b800000000, UINT64_MAX }, ['b'] = { 0x24122200000000, 0x10c29a00000000 },
    ['c'] = { 0x44b30200000000, 0x26df33a00000000 }, ['d'] = { 0xc422200000000, 0x1dc8a800000000 }, ['e'] = { 0x114500000000000, 0x4d023a00000000 },
    ['f'] = { 0x24920200000000, UINT64_MAX }, ['g'] = { 0x20820000000000, 0x11020800000000 }, ['h'] = { 0x20a22200000000, 0x1c501600000000 },
    ['i'] = { 0x9401000000000, UINT64_MAX }, ['j'] = { 0x80024000000000, 0x14000000000000 }, ['k'] = { 0x24022000000000, 0x200400a00000000 },
    ['l'] = { 0x822200000000, 0x20e08c00000000 }, ['m'] = { 0x8c27200000000, 0x13d42b200000000 }, ['n'] = { 0x220802200000000, UINT64_MAX },
    ['o'] = { 0x31484000000000, 0x19006000000000 }, ['p'] = { 0xac932200000000, UINT64_MAX }, ['r'] = { 0x8802200000000, 0x45bb0ca00000000 },
    ['s'] = { 0x3be32a00000000, 0x63cf1be00000000 }, ['t'] = { 0x294a22200000000, 0x193ab600000000 }, ['u'] = { 0x3c400000000000, 0x122200000000 },
    ['v'] = { 0x20822200000000, 0x4500000000000 }, ['w'] = { 0x5022200000000, 0x11a4e00000000 }, ['x'] = { 0x4000200000000, 0x20000200000000 },
    ['y'] = { 0x200000000, 0x400000000000 }, ['z'] = { 0x802200000000, 0x1410000000000 },
};
/* clang-format on */

struct words {
    char word[WORDS_MOST][WORD_MOST + 1]; /* the last ones, in small letters */
    unsigned says[WORDS_MOST];            /* what each known word says */
    size_t n;
};

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Splits at marks and before the capitals of camelCase; digits at the end of a word do not count. */
static void split_words(struct slice name, struct words *w)
{
    size_t n = 0;

    w->n = 0;
    for (size_t i = 0; i <= name.n; i++) {
        char c = i < name.n ? name.p[i] : 0;
        const bool inside = is_small(c) || (c >= '0' && c <= '9');

        if (inside) {
            if (n < WORD_MOST)
                w->word[w->n][n++] = c;
            continue;
        }
        bool starts = is_capital(c) && i > 0 &&
                      (is_small(name.p[i - 1]) ||
                       (is_capital(name.p[i - 1]) && i + 1 < name.n && is_small(name.p[i + 1])));

        if (n && (starts || !is_capital(c))) {
            while (n > 1 && w->word[w->n][n - 1] >= '0' && w->word[w->n][n - 1] <= '9')
                n--;
            w->word[w->n][n] = '\0';
            if (++w->n == WORDS_MOST) {
                memmove(w->word[0], w->word[1], (WORDS_MOST - 1) * sizeof w->word[0]);
                w->n--;
            }
            n = 0;
        }
        if (is_capital(c) && n < WORD_MOST)
            w->word[w->n][n++] = (char)(c + 32);
    }
}

/* The last two letters of those that glued_kind looks for: nearly all words end otherwise. */
static bool may_end_glued(const char *last)
{
    switch (last[0]) {
    case 'r':
    case 'w': return last[1] == 'd';
    case 's': return last[1] == 'e' || last[1] == 's';
    case 'e': return last[1] == 't' || last[1] == 'n' || last[1] == 'y';
    case 'a': return last[1] == 'l';
    case 'l': return last[1] == 's';
    default: return false;
    }
}

/* The first letter of those that it looks for there. */
static bool may_begin_glued(char c)
{
    return c == 'p' || c == 'a' || c == 't';
}

static unsigned meaning_of(const char *word)
{
    size_t low = 0, high = secret_words_n;

    if (!word[0] || !word[1] || !front_may_be(secret_word_fronts, word))
        return 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        int order = compare_front(secret_words[middle].word, word);

        if (order == 0)
            order = strcmp(secret_words[middle].word + 2, word + 2);
        if (order == 0)
            return secret_words[middle].says;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* Returns true if a name is one word in small letters without a meaning, as most words of a text are. */
static bool is_plain_word(struct slice name)
{
    char word[WORD_MOST + 1];
    size_t n = 0;

    for (; n < name.n && n < WORD_MOST; n++) {
        word[n] = (char)(n ? name.p[n] : name.p[n] | 0x20);
        if (!is_small(word[n]))
            return false;
    }
    word[n] = '\0';
    return n == name.n && (n < 2 || (!meaning_of(word) && !may_begin_glued(word[0]) &&
                                     !may_end_glued(word + n - 2)));
}

static bool is_among(const char *word, const char *list)
{
    size_t n = strlen(word);

    for (const char *at = list; n && (at = strstr(at, word)) != NULL; at++)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

static bool ends_word(struct slice word, const char *end)
{
    size_t n = strlen(end);

    return word.n > n && memcmp(word.p + word.n - n, end, n) == 0;
}

/* Words that are written together: "dbpassword", "clientsecret", "passwordhash". */
static enum name_kind glued_kind(const char *word)
{
    static const char *const ends[] = { "password", "passwd", "passphrase", "pwd" };
    static const char *const token_ends[] = { "secret",     "token",       "apikey",
                                              "credential", "credentials", "secretkey",
                                              "accesskey",  "privatekey",  "authkey",
                                              "accountkey", "masterkey",   "signingkey" };

    const struct slice whole = slice_of(word);
    const bool may_end = may_end_glued(whole.p + whole.n - 2);

    for (size_t i = 0; may_end && i < sizeof ends / sizeof *ends; i++)
        if (ends_word(whole, ends[i]))
            return NAME_PASSWORD;
    if (may_end && ends_word(whole, "pass") &&
        !is_among(word, " bypass compass encompass surpass trespass getpass overpass "))
        return NAME_PASSWORD;
    for (size_t i = 0; may_end && i < sizeof token_ends / sizeof *token_ends; i++)
        if (ends_word(whole, token_ends[i]))
            return NAME_TOKEN;
    if (!may_begin_glued(word[0]))
        return NAME_PLAIN;
    return strncmp(word, "password", 8) == 0 || strncmp(word, "passwd", 6) == 0 ||
                   strncmp(word, "apikey", 6) == 0 || strncmp(word, "token", 5) == 0
               ? NAME_LIKELY
               : NAME_PLAIN;
}

/* The name of a service that is no word of a language: a key of it is a token. */
static bool is_own_service(const struct words *w, size_t i)
{
    return w->says[i] & SERVICE &&
           !is_among(w->word[i], " bandwidth beamer contrasena discord linear lob looker segment "
                                 "semaphore trello twitch shodan ");
}

static enum name_kind word_kind(const struct words *w, size_t i)
{
    static const char *const pairs[][2] = { { "new", "relic" },
                                            { "linked", "in" },
                                            { "message", "bird" } };
    const char *word = w->word[i];

    if (!word[0] || !word[1])
        return NAME_PLAIN;
    if (w->says[i] & IS_PASSWORD)
        return NAME_PASSWORD;
    if (w->says[i] & IS_TOKEN)
        return NAME_TOKEN;

    /* After a word such as "api", a key is a token; alone it is only likely to be one. */
    if (i && (w->says[i - 1] & OF_KEY || is_own_service(w, i - 1)) &&
        (strcmp(word, "key") == 0 || strcmp(word, "keys") == 0))
        return NAME_TOKEN;
    if (w->says[i] & IS_CODE || (i && w->says[i - 1] & OF_CODE &&
                                 (strcmp(word, "code") == 0 || strcmp(word, "codes") == 0)))
        return NAME_CODE;
    if (w->says[i] & LIKELY)
        return NAME_LIKELY;
    enum name_kind kind = glued_kind(word);

    if (kind)
        return kind;
    if (w->says[i] & SERVICE)
        return NAME_SERVICE;
    for (size_t k = 0; i && k < sizeof pairs / sizeof *pairs; k++)
        if (word[0] == pairs[k][1][0] && strcmp(w->word[i - 1], pairs[k][0]) == 0 &&
            strcmp(word, pairs[k][1]) == 0)
            return NAME_SERVICE;
    return NAME_PLAIN;
}

enum name_kind secret_name_kind(struct slice name)
{
    struct words w;
    enum name_kind best = NAME_PLAIN;
    bool service = false;

    if (is_plain_word(name))
        return NAME_PLAIN;
    split_words(name, &w);
    for (size_t i = 0; i < w.n; i++) {
        w.says[i] = meaning_of(w.word[i]);
        if (w.says[i] & HARMLESS)
            return NAME_PLAIN;
        enum name_kind kind = word_kind(&w, i);

        service = service || kind == NAME_SERVICE;
        if (kind > best)
            best = kind;
    }

    /* A likely word beside the name of a service means a secret of that service. */
    if (service && best == NAME_LIKELY)
        return NAME_SERVICE;
    if (w.n < 2)
        return best;
    const char *last = w.word[w.n - 1], *before = w.word[w.n - 2];

    /* what PHP's composer keeps by host */
    if (w.n == 2 && strcmp(last, "oauth") == 0 && is_among(before, " bitbucket github gitlab "))
        return NAME_CODE;
    bool asking = w.says[0] & ASKS;

    /* An id is no secret, unless it belongs to a service, or to a key, a client or an application. */
    if (strcmp(last, "id") == 0 && best < NAME_TOKEN)
        return best == NAME_SERVICE || is_among(before, " key client app application consumer ")
                   ? NAME_SERVICE
                   : NAME_PLAIN;

    /* A name about a secret, such as its length or whether it is set, makes a secret less certain. */
    if (best > NAME_LIKELY && (w.says[w.n - 1] & ABOUT || asking))
        return NAME_LIKELY;
    if (best == NAME_LIKELY && asking)
        return NAME_PLAIN;
    return best;
}

bool secret_name_is_constant(struct slice name)
{
    bool capital = false;

    for (size_t i = 0; i < name.n; i++) {
        if (is_small(name.p[i]))
            return false;
        capital = capital || is_capital(name.p[i]);
    }
    return capital && name.n > 1;
}

size_t secret_name_foreign(struct slice text, size_t end)
{
    static const char *const words[] = { "contraseña", "hasło",      "heslo",    "lösenord",
                                         "şifre",      "пароль",     "密码",     "密碼",
                                         "口令",       "パスワード", "비밀번호", "κωδικός" };

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        size_t n = strlen(words[i]);

        if (end >= n && memcmp(text.p + end - n + 1, words[i] + 1, n - 1) == 0 &&
            (text.p[end - n] | 0x20) == (words[i][0] | 0x20))
            return n;
    }
    return 0;
}
