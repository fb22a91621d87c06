#include "store/redact/secret_name.h"

#include <string.h>

/* Words are separated by blanks and marks. */

static const char passwords[] =
    " password passwords passwd pass pwd passphrase passcode passwort pw psk userpass ";
static const char tokens[] =
    " secret secrets token credential credentials cred creds apikey bearer jwt pat authtoken "
    "accesstoken apitoken secretkey accesskey privatekey authkey connectionstring ";
/* "key" after one of these is a secret. */
static const char of_keys[] =
    " api access secret private auth account encryption signing master storage shared license "
    "service hmac jwt deploy session cipher aes webhook app application client subscription "
    "host admin sas token crypt decryption site ssh server rsa user write read root pre wallet ";
static const char likely[] =
    " key keys auth authorization authentication cookie cookies session sid sig signature salt "
    "webhook dsn access license tokens otp seed mnemonic nonce xauth ";
/* The end of a name that is about a secret. */
static const char about[] = " file files path dir folder url uri name names length len size count "
                            "type types field label hint policy min max limit "
                            "expires expiry expiration ttl age at ids index format pattern regex "
                            "prefix env var stdin prompt required enabled valid "
                            "error errors message msg title placeholder status provider source "
                            "command cmd manager service store reset change "
                            "changed strength rotation version algorithm endpoint link page usage "
                            "used budget total per rate price cost ref arn "
                            "template class input form schema column table test tests mode scope "
                            "scopes kind id hash digest fingerprint exists "
                            "present missing set validator encoder policy_id handler helper utils "
                            "util position offset start end line ";
/* The beginning of such a name. */
static const char asks[] =
    " is has no needs need requires require show hide toggle forgot validate check verify count "
    "num "
    "max min total input output prompt completion cached cache reasoning next page public primary "
    "foreign partition sort idempotency hash hashed remaining used ";
/* Whatever else they say, the value is not secret. */
static const char harmless[] =
    " sha sha1 sha256 sha512 md5 commit checksum digest etag revision rev version build "
    "integrity uuid guid tree blob parent ";
static const char services[] =
    " adafruit adobe airtable algolia alibaba asana atlassian confluence jira beamer bitbucket "
    "bittrex meraki cloudflare "
    "codecov cohere coinbase confluent contentful datadog dnkey discord droneci dropbox etsy "
    "facebook fastly finicity "
    "finnhub flickr freshbooks gitter gocardless heroku hubspot intercom jfrog artifactory bintray "
    "xray kraken kucoin "
    "launchdarkly linear linkedin lob looker mailchimp mailchimpsdk mailgun mapbox mattermost "
    "messagebird netlify newrelic nytimes "
    "okta plaid privateai rapidapi sendbird sendgrid sentry snyk sonar squarespace sumo sumologic "
    "telegram telegr travis "
    "twitch twitter twilio typeform yandex zendesk contribsys openai anthropic pagerduty opsgenie "
    "shodan virustotal snykkey snyktoken snykapikey sonarlogin sonartoken "
    "amplitude mixpanel segment braintree paypal razorpay auth0 clearbit cloudinary giphy tmdb "
    "openweather pusher "
    "pinterest spotify strava trello wakatime zapier zoho mistral deepseek elevenlabs deepgram "
    "assemblyai bugsnag rollbar "
    "honeycomb logdna loggly papertrail circleci buildkite semaphore vercel linode vultr hetzner "
    "scaleway fullstory "
    "mandrill postmark sparkpost vonage nexmo plivo bandwidth moesif ipstack mapquest ";

enum { WORD_MOST = 24, WORDS_MOST = 12 };

struct words {
    char word[WORDS_MOST][WORD_MOST + 1]; /* the last ones, in small letters */
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
        bool digit = c >= '0' && c <= '9';
        bool starts = is_capital(c) && i > 0 &&
                      (is_small(name.p[i - 1]) ||
                       (is_capital(name.p[i - 1]) && i + 1 < name.n && is_small(name.p[i + 1])));

        if (n && (starts || !(is_capital(c) || is_small(c) || digit))) {
            while (n > 1 && w->word[w->n][n - 1] >= '0' && w->word[w->n][n - 1] <= '9')
                n--;
            w->word[w->n][n] = '\0';
            if (++w->n == WORDS_MOST) {
                memmove(w->word[0], w->word[1], (WORDS_MOST - 1) * sizeof w->word[0]);
                w->n--;
            }
            n = 0;
        }
        if ((is_capital(c) || is_small(c) || digit) && n < WORD_MOST)
            w->word[w->n][n++] = (char)(is_capital(c) ? c + 32 : c);
    }
}

static bool is_among(const char *word, const char *list)
{
    size_t n = strlen(word);

    for (const char *at = list; n && (at = strstr(at, word)) != NULL; at++)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

static bool ends_word(const char *word, const char *end)
{
    size_t n = strlen(word), m = strlen(end);

    return n > m && strcmp(word + n - m, end) == 0;
}

/* Words that are written together: "dbpassword", "clientsecret", "passwordhash". */
static enum name_kind glued_kind(const char *word)
{
    static const char *const ends[] = { "password", "passwd", "passphrase", "pwd" };
    static const char *const token_ends[] = { "secret",     "token",       "apikey",
                                              "credential", "credentials", "secretkey",
                                              "accesskey",  "privatekey",  "authkey",
                                              "accountkey", "masterkey",   "signingkey" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_word(word, ends[i]))
            return NAME_PASSWORD;
    if (ends_word(word, "pass") &&
        !is_among(word, " bypass compass encompass surpass trespass getpass overpass "))
        return NAME_PASSWORD;
    for (size_t i = 0; i < sizeof token_ends / sizeof *token_ends; i++)
        if (ends_word(word, token_ends[i]))
            return NAME_TOKEN;
    return strncmp(word, "password", 8) == 0 || strncmp(word, "passwd", 6) == 0 ||
                   strncmp(word, "apikey", 6) == 0 || strncmp(word, "token", 5) == 0
               ? NAME_LIKELY
               : NAME_PLAIN;
}

static enum name_kind word_kind(const struct words *w, size_t i)
{
    static const char *const pairs[][2] = { { "new", "relic" },
                                            { "linked", "in" },
                                            { "message", "bird" } };
    const char *word = w->word[i];

    if (!word[0] || !word[1])
        return NAME_PLAIN;
    if (is_among(word, passwords))
        return NAME_PASSWORD;
    if (is_among(word, tokens))
        return NAME_TOKEN;
    if ((strcmp(word, "key") == 0 || strcmp(word, "keys") == 0) && i &&
        is_among(w->word[i - 1], of_keys))
        return NAME_TOKEN;
    if (is_among(word, likely))
        return NAME_LIKELY;
    enum name_kind kind = glued_kind(word);

    if (kind)
        return kind;
    if (is_among(word, services))
        return NAME_SERVICE;
    for (size_t k = 0; i && k < sizeof pairs / sizeof *pairs; k++)
        if (strcmp(w->word[i - 1], pairs[k][0]) == 0 && strcmp(word, pairs[k][1]) == 0)
            return NAME_SERVICE;
    return NAME_PLAIN;
}

enum name_kind secret_name_kind(struct slice name)
{
    struct words w;
    enum name_kind best = NAME_PLAIN;
    bool service = false;

    split_words(name, &w);
    for (size_t i = 0; i < w.n; i++) {
        enum name_kind kind = word_kind(&w, i);

        if (is_among(w.word[i], harmless))
            return NAME_PLAIN;
        service = service || kind == NAME_SERVICE;
        if (kind > best)
            best = kind;
    }
    if (service && best == NAME_LIKELY)
        return NAME_SERVICE;
    if (w.n < 2)
        return best;
    const char *last = w.word[w.n - 1], *before = w.word[w.n - 2];

    if (strcmp(last, "id") == 0 && best < NAME_TOKEN)
        return best == NAME_SERVICE || is_among(before, " key client app application consumer ")
                   ? NAME_SERVICE
                   : NAME_PLAIN;
    if (best > NAME_LIKELY && (is_among(last, about) || is_among(w.word[0], asks)))
        return NAME_LIKELY;
    if (best == NAME_LIKELY && is_among(w.word[0], asks))
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
