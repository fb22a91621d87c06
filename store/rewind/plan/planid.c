#include "store/rewind/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "store/fs/span.h"

/* Half of the digits are of a SHA-256 over everything. The other half are sums over the files: with
 * a number v for the present and the wanted content at a path, and a number x for the path,
 *
 *   S[k] = sum of v * x^k   for k = 0 .. 3, modulo a prime.
 *
 * The differences D[k] of two such rows are sums over only the files that changed. If it was one,
 * D[1] / D[0] is its x; if it was two, their x are the roots of a quadratic that four differences
 * determine: as in a code that corrects two errors. */
enum { SUMS = 4, SUM_DIGITS = 8, PRIME = 2147483647 };

struct sums {
    uint64_t s[SUMS];
};

/* ---- arithmetic modulo the prime ---- */

static uint64_t minus(uint64_t a, uint64_t b)
{
    return (a + PRIME - b) % PRIME;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return a * b % PRIME; /* both have 31 bits */
}

/* By Fermat: a^(p-2). */
static uint64_t inverse(uint64_t a)
{
    uint64_t r = 1;

    for (uint64_t k = PRIME - 2; k; k >>= 1, a = times(a, a))
        if (k & 1)
            r = times(r, a);
    return r;
}

/* ---- making ---- */

/* The number of a path; never 0. */
static uint64_t path_fingerprint(const char *path)
{
    uint64_t h = 14695981039346656037U; /* FNV-1a */

    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 1099511628211U;
    return h % (PRIME - 1) + 1;
}

static void planid_hash_text(struct digest *c, const char *text)
{
    digest_add(c, (struct slice){ text, strlen(text) + 1 });
}

/* Hashes the present and the wanted content, not the action, which options change. */
static bool hash_file(struct digest *one, const struct rewind_entry *x, struct sums *sums)
{
    uint8_t hash[SHA256_BYTES];
    char facts[96];

    snprintf(facts, sizeof facts, "%d %o %d %o", x->seen.exists, (unsigned)x->seen.mode,
             (int)x->target->want, x->target->has_mode ? (unsigned)x->target->mode : 0);
    digest_begin(one, DIGEST_SHA256);
    planid_hash_text(one, x->target->path);
    planid_hash_text(one, facts);
    digest_add(one, (struct slice){ (const char *)x->seen.sha256, SHA256_BYTES });
    digest_add(one, (struct slice){ (const char *)x->wanted, SHA256_BYTES });
    if (!digest_end(one, hash))
        return false;
    uint64_t at = path_fingerprint(x->target->path), v = 0;

    for (size_t i = 0; i < 8; i++)
        v = v << 8 | hash[i];
    v %= PRIME;
    for (size_t k = 0; k < SUMS; k++, v = times(v, at))
        sums->s[k] = (sums->s[k] + v) % PRIME;
    return true;
}

/* Hashes the counts and the steps: a conversation that was continued since makes another plan. */
static void hash_conversation(struct digest *c, const struct rewind_conversation *conversation)
{
    char facts[96];

    if (!conversation->change)
        return;
    snprintf(facts, sizeof facts, "%d %zu %zu", (int)conversation->how, conversation->kept,
             conversation->dropped);
    planid_hash_text(c, facts);
    for (size_t i = 0; i < conversation->change->n; i++) {
        const struct step *s = &conversation->change->step[i];

        planid_hash_text(c, s->path);
        digest_add(c, s->old);
        digest_add(c, s->bytes);
    }
}

enum err_code planid_make(struct rewind_preview *p, struct err *e)
{
    CLEANUP(digest_fini) struct digest all = { 0 }, one = { 0 };
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_BYTES * 2 + 1];
    struct sums sums = { 0 };

    /* The hash of the whole plan, and the sums that show which of its files changed. */
    bool ok = true;

    digest_begin(&all, DIGEST_SHA256);
    for (size_t i = 0; i < p->n && ok; i++) {
        const struct rewind_entry *x = &p->entry[i];
        char facts[128];

        planid_hash_text(&all, x->target->path);
        snprintf(facts, sizeof facts, "%d %d %d %o %d %o", (int)x->action, (int)x->rule,
                 x->seen.exists, (unsigned)x->seen.mode, (int)x->target->want,
                 x->target->has_mode ? (unsigned)x->target->mode : 0);
        planid_hash_text(&all, facts);
        digest_add(&all, (struct slice){ (const char *)x->seen.sha256, SHA256_BYTES });
        digest_add(&all, (struct slice){ (const char *)x->wanted, SHA256_BYTES });

        ok = hash_file(&one, &p->entry[i], &sums);
    }
    if (ok)
        hash_conversation(&all, &p->plan->conversation);
    if (!ok || !digest_end(&all, hash))
        return digest_error(e);

    hasher_hex(hash, hex);
    snprintf(p->id, sizeof p->id, "%.32s%08x%08x%08x%08x", hex, (unsigned)sums.s[0],
             (unsigned)sums.s[1], (unsigned)sums.s[2], (unsigned)sums.s[3]);
    return ERR_OK;
}

/* ---- comparing ---- */

static bool sums_of(const char *id, struct sums *sums)
{
    if (strlen(id) != SHA256_BYTES * 2 || strspn(id, "0123456789abcdef") != SHA256_BYTES * 2)
        return false;
    for (size_t k = 0; k < SUMS; k++) {
        char digits[SUM_DIGITS + 1] = "";

        memcpy(digits, id + SHA256_BYTES + k * SUM_DIGITS, SUM_DIGITS);
        sums->s[k] = strtoul(digits, NULL, 16) % PRIME;
    }
    return true;
}

/* d: the differences. */
static bool differences(const struct rewind_preview *p, const char *id, struct sums *d)
{
    struct sums then, now;

    if (!sums_of(id, &then) || !sums_of(p->id, &now))
        return false;
    for (size_t k = 0; k < SUMS; k++)
        d->s[k] = minus(now.s[k], then.s[k]);
    return true;
}

bool planid_same_files(const struct rewind_preview *p, const char *id)
{
    struct sums d;

    return differences(p, id, &d) && !(d.s[0] | d.s[1] | d.s[2] | d.s[3]);
}

size_t planid_changed(const struct rewind_preview *p, const char *id,
                      size_t entry[PLANID_CHANGED_MAX])
{
    struct sums sums;
    const uint64_t *d = sums.s;

    if (!differences(p, id, &sums))
        return 0;
    for (size_t i = 0; i < p->n; i++) {
        const uint64_t x = path_fingerprint(p->entry[i].target->path);

        /* one alone */
        if (d[0] && d[1] == times(x, d[0]) && d[2] == times(x, d[1]) && d[3] == times(x, d[2])) {
            entry[0] = i;
            return 1;
        }
    }
    uint64_t det = minus(times(d[0], d[2]), times(d[1], d[1]));

    if (!det)
        return 0;
    uint64_t a = times(minus(times(d[0], d[3]), times(d[1], d[2])), inverse(det));
    uint64_t b = times(minus(times(d[1], d[3]), times(d[2], d[2])), inverse(det));

    /* Those whose x solves x^2 - a x + b = 0. */
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        uint64_t x = path_fingerprint(p->entry[i].target->path);

        if ((minus(times(x, x), times(a, x)) + b) % PRIME != 0)
            continue;
        if (n == PLANID_CHANGED_MAX)
            return 0;
        entry[n++] = i;
    }
    return n == PLANID_CHANGED_MAX ? n : 0;
}
