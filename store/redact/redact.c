#include "store/redact/redact.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"

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

/* The entropy of a run, in bits per letter. */
static double entropy_of(struct slice run)
{
    size_t count[256] = { 0 };
    double bits = 0;

    for (size_t i = 0; i < run.n; i++)
        count[(unsigned char)run.p[i]]++;
    for (size_t i = 0; i < 256; i++)
        if (count[i]) {
            double p = (double)count[i] / (double)run.n;

            bits -= p * log2(p);
        }
    return bits;
}

/* ---- letters ---- */

enum letters {
    HEX = 1 << 0,    /* 0-9 a-f */
    DIGIT = 1 << 1,  /* 0-9 */
    UPPER = 1 << 2,  /* A-Z 0-9 */
    WORD = 1 << 3,   /* A-Z a-z 0-9 */
    LOW = 1 << 4,    /* _ */
    DASH = 1 << 5,   /* - */
    DOT = 1 << 6,    /* . */
    BASE64 = 1 << 7, /* + / = */
    COLON = 1 << 8,  /* : */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_letter(char c, unsigned of)
{
    if (is_word(c))
        return of & WORD || (of & UPPER && (is_digit(c) || (c >= 'A' && c <= 'Z'))) ||
               (of & HEX && (is_digit(c) || (c >= 'a' && c <= 'f'))) || (of & DIGIT && is_digit(c));
    return (c == '_' && of & LOW) || (c == '-' && of & DASH) || (c == '.' && of & DOT) ||
           (c == ':' && of & COLON) || ((c == '+' || c == '/' || c == '=') && of & BASE64);
}

/* ---- tokens with a known prefix ---- */

struct rule {
    const char *front; /* followed by min to max letters */
    unsigned letters;
    uint16_t min, max;
    const char *kind;
};

enum { ANY = 4096 };

/* clang-format off */
static const struct rule rules[] = {
    { "A3T", UPPER, 17, 17, "aws access key" },
    { "ABIA", UPPER, 16, 16, "aws access key" },
    { "ACCA", UPPER, 16, 16, "aws access key" },
    { "AKIA", UPPER, 16, 16, "aws access key" },
    { "ASIA", UPPER, 16, 16, "aws access key" },
    { "AGE-SECRET-KEY-1", UPPER, 58, 58, "age key" },
    { "AIza", WORD | LOW | DASH, 35, 35, "google key" },
    { "ATATT3", WORD | LOW | DASH | BASE64, 60, ANY, "atlassian token" },
    { "BBDC-", WORD | BASE64, 40, 60, "bitbucket token" },
    { "CFPAT-", WORD | LOW | DASH, 43, 43, "contentful token" },
    { "EAAA", WORD | LOW | DASH, 56, ANY, "square or facebook token" },
    { "EZAK", WORD, 54, 54, "easypost key" },
    { "EZTK", WORD, 54, 54, "easypost key" },
    { "FLWSECK", WORD | LOW | DASH, 12, 80, "flutterwave key" },
    { "GOCSPX-", WORD | LOW | DASH, 28, 28, "google client secret" },
    { "GR1348941", WORD | LOW | DASH, 20, 20, "gitlab token" },
    { "LTAI", WORD, 20, 20, "alibaba key" },
    { "NRAK-", UPPER, 27, 27, "new relic key" },
    { "NRII-", WORD | DASH, 32, 32, "new relic key" },
    { "PMAK-", HEX | DASH, 59, 59, "postman key" },
    { "SG.", WORD | LOW | DASH | DOT, 60, 70, "sendgrid key" },
    { "SK", HEX, 32, 32, "twilio key" },
    { "bkua_", HEX, 40, 40, "buildkite token" },
    { "cio", WORD, 32, 32, "crates.io token" },
    { "ctp_us_", WORD, 20, ANY, "cloudsmith token" },
    { "dapi", HEX, 32, 32, "databricks token" },
    { "doo_v1_", HEX, 64, 64, "digitalocean token" },
    { "dop_v1_", HEX, 64, 64, "digitalocean token" },
    { "dor_v1_", HEX, 64, 64, "digitalocean token" },
    { "dp.pt.", WORD, 40, 44, "doppler token" },
    { "dp.st.", WORD | DOT | LOW | DASH, 40, 80, "doppler token" },
    { "dt0c01.", UPPER | DOT, 80, 100, "dynatrace token" },
    { "duffel_live_", WORD | LOW | DASH | BASE64, 43, 43, "duffel token" },
    { "figd_", WORD | LOW | DASH, 36, 60, "figma token" },
    { "fio-u-", WORD | LOW | DASH | BASE64, 64, 64, "frame.io token" },
    { "fo1_", WORD | LOW | DASH, 40, ANY, "fly token" },
    { "gho_", WORD, 36, 36, "github token" },
    { "ghp_", WORD, 36, 36, "github token" },
    { "ghr_", WORD, 36, 80, "github token" },
    { "ghs_", WORD, 36, 36, "github token" },
    { "ghu_", WORD, 36, 36, "github token" },
    { "github_pat_", WORD | LOW, 70, 90, "github token" },
    { "glagent-", WORD | LOW | DASH, 50, 50, "gitlab token" },
    { "glc_", WORD | BASE64, 32, ANY, "grafana token" },
    { "glcbt-", WORD | LOW | DASH, 20, 40, "gitlab token" },
    { "gldt-", WORD | LOW | DASH, 20, 64, "gitlab token" },
    { "glft-", WORD | LOW | DASH, 20, 64, "gitlab token" },
    { "glimt-", WORD | LOW | DASH, 25, 25, "gitlab token" },
    { "glpat-", WORD | LOW | DASH | DOT, 20, 64, "gitlab token" },
    { "glptt-", HEX, 40, 40, "gitlab token" },
    { "glrt-", WORD | LOW | DASH | DOT, 20, 64, "gitlab token" },
    { "glsa_", WORD | LOW, 41, 41, "grafana token" },
    { "gloas-", WORD | LOW | DASH, 64, 64, "gitlab secret" },
    { "gsk_", WORD, 52, 52, "groq key" },
    { "hf_", WORD, 34, 40, "hugging face token" },
    { "hvb.", WORD | LOW | DASH, 80, ANY, "vault token" },
    { "hvs.", WORD | LOW | DASH, 24, ANY, "vault token" },
    { "key-", HEX, 32, 32, "mailgun key" },
    { "lin_api_", WORD, 40, 40, "linear key" },
    { "lin_oauth_", WORD, 40, 64, "linear token" },
    { "live_", WORD | LOW | DASH, 35, 35, "gocardless token" },
    { "nfp_", WORD, 36, 40, "netlify token" },
    { "npm_", WORD, 36, 36, "npm token" },
    { "ntn_", WORD, 40, 50, "notion token" },
    { "oy2", WORD, 43, 43, "nuget key" },
    { "ops_eyJ", WORD | BASE64, 200, ANY, "1password token" },
    { "p8e-", WORD, 32, 32, "adobe secret" },
    { "phc_", WORD, 40, 50, "posthog key" },
    { "phx_", WORD, 40, 50, "posthog key" },
    { "pnu_", WORD, 36, 36, "prefect token" },
    { "pplx-", WORD, 48, 48, "perplexity key" },
    { "pscale_pw_", WORD | LOW | DASH | DOT, 32, 64, "planetscale password" },
    { "pscale_tkn_", WORD | LOW | DASH | DOT, 32, 64, "planetscale token" },
    { "pul-", HEX, 40, 40, "pulumi token" },
    { "pypi-AgE", WORD | LOW | DASH, 50, ANY, "pypi token" },
    { "r8_", WORD, 37, 37, "replicate token" },
    { "rdme_", WORD, 70, 70, "readme key" },
    { "rk_live_", WORD, 10, 99, "stripe key" },
    { "rk_test_", WORD, 10, 99, "stripe key" },
    { "rubygems_", HEX, 48, 48, "rubygems key" },
    { "sbp_", HEX, 40, 40, "supabase token" },
    { "secret_", WORD, 43, 43, "notion token" },
    { "shpat_", HEX, 32, 32, "shopify token" },
    { "shpca_", HEX, 32, 32, "shopify token" },
    { "shppa_", HEX, 32, 32, "shopify token" },
    { "shpss_", HEX, 32, 32, "shopify secret" },
    { "sk-", WORD | LOW | DASH, 32, ANY, "key of a model provider" },
    { "sk_live_", WORD, 10, 99, "stripe key" },
    { "sk_test_", WORD, 10, 99, "stripe key" },
    { "sntrys_", WORD | LOW | BASE64, 60, ANY, "sentry token" },
    { "sntryu_", HEX, 64, 64, "sentry token" },
    { "sq0atp-", WORD | LOW | DASH, 22, 22, "square token" },
    { "sq0csp-", WORD | LOW | DASH, 43, 43, "square secret" },
    { "tfp_", WORD | LOW | DASH | DOT, 59, 59, "typeform token" },
    { "tskey-", WORD | DASH, 20, 80, "tailscale key" },
    { "vercel_", WORD | LOW, 24, 60, "vercel token" },
    { "whsec_", WORD | BASE64, 24, 64, "webhook secret" },
    { "xapp-", WORD | DASH, 20, ANY, "slack token" },
    { "xoxa-", WORD | DASH, 20, ANY, "slack token" },
    { "xoxb-", WORD | DASH, 20, ANY, "slack token" },
    { "xoxe", WORD | DASH | DOT, 30, ANY, "slack token" },
    { "xoxo-", WORD | DASH, 20, ANY, "slack token" },
    { "xoxp-", WORD | DASH, 20, ANY, "slack token" },
    { "xoxr-", WORD | DASH, 20, ANY, "slack token" },
    { "xoxs-", WORD | DASH, 20, ANY, "slack token" },
    { "ya29.", WORD | LOW | DASH, 20, ANY, "google token" },
    /* addresses that are secrets themselves */
    { "https://hooks.slack.com/services/", WORD | BASE64, 40, 60, "slack webhook" },
    { "https://hooks.slack.com/workflows/", WORD | BASE64, 40, 70, "slack webhook" },
    { "https://discord.com/api/webhooks/", WORD | LOW | DASH | BASE64, 60, 100, "discord webhook" },
    { "https://discordapp.com/api/webhooks/", WORD | LOW | DASH | BASE64, 60, 100, "discord webhook" },
};
/* clang-format on */

static size_t letter_run(struct slice text, size_t at, unsigned letters)
{
    size_t n = 0;

    while (at + n < text.n && is_letter(text.p[at + n], letters))
        n++;
    return n;
}

static size_t match(struct slice text, size_t at, const struct rule *r)
{
    size_t front = strlen(r->front);

    if (text.n - at < front + r->min || memcmp(text.p + at, r->front, front) != 0)
        return 0;
    size_t n = letter_run(text, at + front, r->letters);

    return n >= r->min && n <= r->max ? front + n : 0;
}

static enum err_code find_prefixed(struct slice text, size_t at, struct secret_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t n = rules[i].front[0] == text.p[at] ? match(text, at, &rules[i]) : 0;

        if (n)
            return redact_list_add(list, rules[i].kind, at, n);
    }
    return ERR_OK;
}

/* ---- other forms ---- */

/* Three parts of base64url, the first two of which are JSON objects. */
static size_t match_jwt(struct slice text, size_t at)
{
    size_t n = 0, parts = 0;

    for (; parts < 3; parts++) {
        size_t part = letter_run(text, at + n, WORD | LOW | DASH);

        if (part < 10 || (parts < 2 && memcmp(text.p + at + n, "eyJ", 3) != 0))
            break;
        n += part;
        if (parts < 2 && (at + n >= text.n || text.p[at + n++] != '.'))
            break;
    }
    return parts == 3 ? n : 0;
}

/* A Telegram bot: 8 to 10 digits, a colon, and 35 letters that start with AA. */
static size_t match_bot(struct slice text, size_t at)
{
    size_t n = letter_run(text, at, DIGIT);

    if (n < 8 || n > 10 || text.n - at < n + 36 || memcmp(text.p + at + n, ":AA", 3) != 0)
        return 0;
    return letter_run(text, at + n + 1, WORD | LOW | DASH) == 35 ? n + 36 : 0;
}

/* From BEGIN to END, or to the end of the text if that was cut off. */
static size_t match_pem(struct slice text, size_t at)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ", key[] = "PRIVATE KEY";
    struct slice rest = { text.p + at, text.n - at };

    if (!slice_starts(rest, begin))
        return 0;
    size_t head = rest.n < 80 ? rest.n : 80;

    if (!slice_find(rest.p, head, key, sizeof key - 1))
        return 0;
    const char *stop = slice_find(rest.p, rest.n, end, sizeof end - 1);
    const char *line =
        stop ? memmem(stop + 9, (size_t)(rest.p + rest.n - stop - 9), "-----", 5) : NULL;

    return line ? (size_t)(line + 5 - rest.p) : rest.n;
}

/* scheme://user:PASSWORD@ */
static enum err_code find_credentials(struct slice text, size_t at, struct secret_list *list)
{
    size_t from = at + 3, i = from;
    const char *end = text.n > from ? text.p + text.n : NULL;

    if (!end || text.p[at] != ':' || text.p[at + 1] != '/' || text.p[at + 2] != '/')
        return ERR_OK;
    while (i < text.n && (is_letter(text.p[i], WORD | LOW | DASH | DOT) || text.p[i] == '%'))
        i++;
    if (i >= text.n || text.p[i] != ':')
        return ERR_OK;
    size_t first = ++i;

    while (i < text.n && (unsigned char)text.p[i] > ' ' && !strchr("@/\"'`<>\\$", text.p[i]))
        i++;
    return i < text.n && text.p[i] == '@' && i - first >= 3
               ? redact_list_add(list, "password in an address", first, i - first)
               : ERR_OK;
}

/* ---- values with a telling name ---- */

static bool same_word(const char *p, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]) != word[i])
            return false;
    return true;
}

/* Returns true if a suspicious word ends here, as in "DB_PASSWORD" and "clientSecret". */
static bool names_secret(struct slice text, size_t end)
{
    static const char *const words[] = {
        "password",  "passwd",      "secret",      "token",      "apikey",
        "api_key",   "api-key",     "access_key",  "accesskey",  "secret_key",
        "secretkey", "private_key", "privatekey",  "credential", "passphrase",
        "auth_key",  "authkey",     "account_key", "accountkey", "encryption_key"
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);

        if (end >= n && same_word(text.p + end - n, words[i], n))
            return true;
    }
    return false;
}

enum { VALUE_MIN = 10, VALUE_MAX = 200 };

static size_t skip_any(struct slice text, size_t at, const char *of)
{
    while (at < text.n && text.p[at] && strchr(of, text.p[at]))
        at++;
    return at;
}

/* A secret has both letters and digits and is not too regular, unlike words, numbers and paths. */
static bool is_value(struct slice value)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < value.n; i++) {
        digit = digit || is_digit(value.p[i]);
        letter = letter || (is_word(value.p[i]) && !is_digit(value.p[i]));
    }
    return digit && letter && entropy_of(value) > 2.5;
}

/* Returns true if such a name and value are a secret and its name. */
bool redact_is_given(struct slice name, struct slice value)
{
    return value.n >= VALUE_MIN && value.n <= VALUE_MAX && names_secret(name, name.n) &&
           letter_run(value, 0, WORD | LOW | DASH | DOT | BASE64) == value.n && is_value(value);
}

/* Called at the '=' or ':' after a name. */
static enum err_code find_given(struct slice text, size_t at, struct secret_list *list)
{
    size_t end = at;

    while (end && text.p[end - 1] && strchr(" \t\"'", text.p[end - 1]))
        end--;
    if (!names_secret(text, end))
        return ERR_OK;
    size_t from = skip_any(text, skip_any(text, at, ":=>"), " \t\"'`");
    size_t n = letter_run(text, from, WORD | LOW | DASH | DOT | BASE64);

    return n >= VALUE_MIN && n <= VALUE_MAX && is_value((struct slice){ text.p + from, n })
               ? redact_list_add(list, "value of a secret name", from, n)
               : ERR_OK;
}

/* "Bearer abc" and "Basic abc", in headers and in commands that send them. */
static enum err_code find_header(struct slice text, size_t at, struct secret_list *list)
{
    static const char *const words[] = { "bearer ", "basic ", "token " };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t w = strlen(words[i]);

        if (text.n - at < w + 16 || !same_word(text.p + at, words[i], w))
            continue;
        size_t n = letter_run(text, at + w, WORD | LOW | DASH | DOT | BASE64);

        if (n >= 16 && is_value((struct slice){ text.p + at + w, n }))
            return redact_list_add(list, "authorization header", at + w, n);
    }
    return ERR_OK;
}

/* ---- all kinds ---- */

static enum err_code look_at_byte(struct slice text, size_t at, struct secret_list *list)
{
    char c = text.p[at];
    bool begins = at == 0 || !(is_word(text.p[at - 1]) || text.p[at - 1] == '_');
    size_t before = list->n, n = 0;
    enum err_code rc = ERR_OK;

    if (c == '=' || c == ':') {
        rc = find_given(text, at, list);
        if (!rc && c == ':')
            rc = find_credentials(text, at, list);
        return rc;
    }
    if (c == '-' && (n = match_pem(text, at)))
        return redact_list_add(list, "private key", at, n);
    if (!begins || !is_word(c))
        return ERR_OK;
    rc = find_prefixed(text, at, list);
    if (rc || list->n > before)
        return rc;
    if (c == 'e' && (n = match_jwt(text, at)))
        return redact_list_add(list, "web token", at, n);
    if (is_digit(c) && (n = match_bot(text, at)))
        return redact_list_add(list, "telegram token", at, n);
    return strchr("BbTt", c) ? find_header(text, at, list) : ERR_OK;
}

enum err_code redact_find(struct slice text, struct secret_list *list)
{
    enum err_code rc = ERR_OK;

    for (size_t at = 0; at < text.n && !rc; at++)
        rc = look_at_byte(text, at, list);
    return rc;
}

const char redact_random[] = "random letters";

/* A run of n letters has at most log2(n) bits a letter, so shorter ones, which Entire measures too, are never
 * random. */
enum { RUN_MIN = 23 };
static const double entropy_max = 4.5; /* bits per letter */

static bool in_run(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '+' || c == '_' || c == '=' || c == '-';
}

static enum err_code find_random(struct slice text, struct secret_list *list)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0, n; i < text.n && !rc; i += n ? n : 1) {
        for (n = 0; i + n < text.n && in_run(text.p[i + n]);)
            n++;
        if (n >= RUN_MIN && entropy_of((struct slice){ text.p + i, n }) > entropy_max)
            rc = redact_list_add(list, redact_random, i, n);
    }
    return rc;
}

static int compare_secret_offset(const void *x, const void *y)
{
    const struct secret *a = x, *b = y;

    return (a->at > b->at) - (a->at < b->at);
}

enum err_code redact_find_all(struct slice text, struct secret_list *list)
{
    enum err_code rc = find_random(text, list);

    if (!rc)
        rc = redact_find(text, list);
    if (!rc && list->n > 1)
        qsort(list->secret, list->n, sizeof *list->secret, compare_secret_offset);
    return rc;
}
