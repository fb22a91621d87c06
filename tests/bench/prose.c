#include "prose.h"

#include <stdlib.h>
#include <string.h>

enum { POOL = 1 << 20, PIECE = 64 };

const char *prose_word(struct rng *d)
{
    static const char *const words[] = {
        "the",     "file",    "error",    "function", "return",  "value",   "session", "build",
        "test",    "config",  "server",   "client",   "update",  "module",  "index",   "parser",
        "string",  "buffer",  "token",    "commit",   "branch",  "merge",   "render",  "window",
        "cursor",  "prompt",  "message",  "rewind",   "resume",  "storage", "fix",     "add",
        "remove",  "handle",  "timeout",  "retry",    "cache",   "query",   "schema",  "deploy",
        "network", "socket",  "thread",   "mutex",    "pointer", "memory",  "signal",  "header",
        "payload", "encode",  "decode",   "linker",   "symbol",  "object",  "library", "version",
        "release", "license", "pipeline", "coverage", "format",  "latency", "profile", "transcript",
    };

    return words[rng_roll(d, sizeof words / sizeof *words)];
}

/* Writes one piece, never more than PIECE bytes. */
static size_t piece(struct rng *d, char *out)
{
    static const char *const odd[] = { "\xc3\xa9t\xc3\xa9 ", "\xe6\x97\xa5\xe6\x9c\xac ",
                                       "\xe2\x9c\x93 ",      "\xf0\x9f\x9a\x80 ",
                                       "\\u001b[31m",        "\\\\path\\\\ " };
    unsigned kind = rng_roll(d, 100);
    int n;

    if (kind < 78)
        n = snprintf(out, PIECE, "%s ", prose_word(d));
    else if (kind < 88)
        n = snprintf(out, PIECE, "\\n    ");
    else if (kind < 92)
        n = snprintf(out, PIECE, "\\\"%s\\\": %u, ", prose_word(d), rng_roll(d, 9999));
    else if (kind < 94)
        n = snprintf(out, PIECE, "src/%s.c:%u: ", prose_word(d), rng_roll(d, 999));
    else if (kind < 96)
        n = snprintf(out, PIECE, "\\tif (x) { ");
    else if (kind < 98)
        n = snprintf(out, PIECE, "%016llx ", (unsigned long long)rng_next(d));
    else
        n = snprintf(out, PIECE, "%s", odd[rng_roll(d, sizeof odd / sizeof *odd)]);
    return (size_t)n;
}

struct prose *prose_new(struct rng *d)
{
    struct prose *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->text = malloc(POOL);
    p->cut = malloc(POOL * sizeof *p->cut);
    if (!p->text || !p->cut) {
        prose_free(p);
        return NULL;
    }
    while (p->n < POOL - PIECE) {
        p->cut[p->cuts++] = p->n;
        p->n += piece(d, p->text + p->n);
    }
    p->cut[p->cuts++] = p->n;
    return p;
}

void prose_free(struct prose *p)
{
    if (!p)
        return;
    free(p->text);
    free(p->cut);
    free(p);
}

/* The first cut at or after an offset. */
static size_t cut_behind(const struct prose *p, size_t place)
{
    size_t low = 0, high = p->cuts - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (p->cut[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return p->cut[low];
}

void prose_write(const struct prose *p, struct rng *d, size_t n, FILE *out)
{
    while (n > 0) {
        size_t from = p->cut[rng_roll(d, (unsigned)p->cuts - 1)];
        size_t to = cut_behind(p, from + n < p->n ? from + n : p->n);

        fwrite(p->text + from, 1, to - from, out);
        n -= to - from < n ? to - from : n;
    }
}

const char *prose_role(size_t i)
{
    return i % 8 == 0 ? "user" : i % 2 ? "assistant" : "tool";
}

void prose_message(const struct prose *p, struct rng *d, const char *role, FILE *out)
{
    static const struct {
        const char *role;
        double median, sigma;
    } speech[] = { { "user", 160, 0.8 }, { "assistant", 800, 0.9 }, { "tool", 2000, 1.5 } };
    enum { LEAST = 8, MOST = 400000 };

    for (size_t i = 0; i < sizeof speech / sizeof *speech; i++) {
        if (strcmp(speech[i].role, role) != 0)
            continue;
        double n = rng_size(d, speech[i].median, speech[i].sigma);

        prose_write(p, d, n < LEAST ? LEAST : n > MOST ? MOST : (size_t)n, out);
    }
}
