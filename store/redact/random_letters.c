#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "store/redact/redact.h"
#include "store/redact/token_form.h"

/* Runs of letters that are too random to be words, names or paths. */

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

const char redact_random[] = "random letters";

/* A run of n letters has at most log2(n) bits a letter, so shorter ones, which Entire measures too, are never
 * random. */
enum { RUN_MIN = 23, RUN_MOST = 4096 };
static const double entropy_max = 4.5; /* bits per letter */

static bool in_run(char c)
{
    return letters_have(LETTERS_URL | LETTERS_BASE64, c);
}

/* Public keys, checksums and what follows them, and names that agents give. */
static bool is_public(struct slice text, size_t at)
{
    static const char *const fronts[] = { "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNr",
                                          "sha512-",     "sha384-",     "sha256-",      "sha1-",
                                          "toolu_",      "msg_",        "req_",         "call_",
                                          "chatcmpl-",   "resp_",       "srvtoolu_" };
    static const char *const befores[] = { ";base64,", "SHA256:", "sha256:", "sha512:" };
    struct slice run = { text.p + at, text.n - at };

    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (slice_starts(run, fronts[i]))
            return true;
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++) {
        size_t n = strlen(befores[i]);

        if (at >= n && memcmp(text.p + at - n, befores[i], n) == 0)
            return true;
    }
    return false;
}

static bool is_path_part(struct slice part)
{
    size_t small = 0;

    while (small < part.n && ((part.p[small] >= 'a' && part.p[small] <= 'z') ||
                              part.p[small] == '-' || part.p[small] == '_'))
        small++;
    return part.n >= 3 &&
           (small == part.n || letters_run(part, 0, LETTERS_HEX | LETTERS_DASH, part.n) == part.n);
}

/* The parts of a path are judged one by one; those of base64 are no words. */
static bool is_random_run(struct slice run)
{
    bool path = false;
    size_t at = 0;

    for (size_t i = 0; i <= run.n; i++)
        if (i == run.n || run.p[i] == '/' || run.p[i] == '=') {
            struct slice part = { run.p + at, i - at };

            path = path || is_path_part(part);
            if (part.n >= RUN_MIN && part.n < run.n && token_is_random(part) &&
                entropy_of(part) > entropy_max)
                return true;
            at = i + 1;
        }
    return !path && token_is_random(run) && entropy_of(run) > entropy_max;
}

/* Certificates and public keys are public. */
static bool in_public_block(struct slice text, size_t at, size_t *until)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ";
    struct slice rest = { text.p + at, text.n - at };

    if (!slice_starts(rest, begin) || slice_find(rest.p, rest.n < 60 ? rest.n : 60, "PRIVATE", 7))
        return false;
    const char *stop = slice_find(rest.p, rest.n, end, sizeof end - 1);

    *until = stop ? (size_t)(stop + 9 - text.p) : text.n;
    return true;
}

enum err_code redact_find_random(struct slice text, struct secret_list *list)
{
    enum err_code rc = ERR_OK;
    size_t until;

    for (size_t i = 0, n; i < text.n && !rc; i += n ? n : 1) {
        for (n = 0; i + n < text.n && in_run(text.p[i + n]);)
            n++;
        if (n >= 5 && in_public_block(text, i, &until))
            n = until - i;
        else if (n >= RUN_MIN && !is_public(text, i) &&
                 is_random_run((struct slice){ text.p + i, n < RUN_MOST ? n : RUN_MOST }))
            rc = redact_list_add(list, redact_random, i, n);
    }
    return rc;
}

size_t letters_count_digits(struct slice v, size_t *changes)
{
    size_t digits = 0;

    *changes = 0;
    for (size_t i = 0; i < v.n; i++) {
        bool digit = letters_have(LETTERS_DIGIT, v.p[i]), word = letters_have(LETTERS_WORD, v.p[i]);

        digits += digit;
        *changes += i && word && letters_have(LETTERS_WORD, v.p[i - 1]) &&
                    digit != letters_have(LETTERS_DIGIT, v.p[i - 1]);
    }
    return digits;
}
