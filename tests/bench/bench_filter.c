/* How long a keystroke takes with many sessions: bench_filter [SESSIONS]
 *
 * Types words letter by letter into the filter, and times for comparison the least that any fuzzy filter must do, a
 * plain subsequence test of the same letters over the same titles. Prints the best of five of both and their ratio.
 * Results are counted so that nothing is optimised away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/api/store.h"
#include "tui/filter/filter.h"
#include "words.h"

enum { TEXT = 512, TIMES = 5 };

struct corpus {
    struct session_row *row;
    char *texts;
    uint32_t *order;
    size_t n;
};

static struct slice sentence(char *out, size_t count, unsigned *seed)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        *seed = *seed * 1103515245u + 12345u;
        const char *w = words[(*seed >> 16) % (sizeof words / sizeof *words)];

        n += (size_t)snprintf(out + n, TEXT / 2 - n, "%s%s", i ? " " : "", w);
    }
    return (struct slice){ out, n };
}

static void make_corpus(struct corpus *c, size_t n)
{
    static const struct store_ops ops = { .name = "claude" };
    static const struct store store = { .ops = &ops };
    unsigned seed = 1;

    c->n = n;
    c->row = calloc(n, sizeof *c->row);
    c->texts = malloc(n * TEXT);
    c->order = malloc(n * sizeof *c->order);
    if (!c->row || !c->texts || !c->order)
        exit(1);
    for (size_t i = 0; i < n; i++) {
        char *text = c->texts + i * TEXT;

        c->row[i].ref.store = &store;
        c->row[i].ref.id = SLICE("0a1b2c3d-0000-4000-8000-000000000000");
        c->row[i].summary = sentence(text, 7, &seed);
        c->row[i].first_prompt = sentence(text + TEXT / 2, 20, &seed);
        c->row[i].git_branch = SLICE("main");
        c->row[i].cwd = SLICE("/home/user/src/shop");
        c->order[i] = (uint32_t)i;
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static size_t plain_pass(const struct corpus *c, struct slice letters)
{
    size_t found = 0;

    for (size_t i = 0; i < c->n; i++) {
        struct slice title = c->row[i].summary;
        const char *p = title.p, *end = title.p + title.n;
        size_t k = 0;

        for (; p && k < letters.n; k++) {
            p = memchr(p, letters.p[k], (size_t)(end - p));
            p = p ? p + 1 : NULL;
        }
        found += p != NULL;
    }
    return found;
}

struct times {
    double ours, plain;
    size_t hits, plain_hits;
};

/* Times one keystroke; the query without its last letter has been run before. */
static void measure(struct filter *f, const struct corpus *c, struct slice text, struct times *t)
{
    struct slice before = { text.p, text.n - 1 };

    *t = (struct times){ 1e9, 1e9, 0, 0 };
    for (int i = 0; i < TIMES; i++) {
        filter_invalidate(f);
        if (!filter_run(f, before, c->order, c->n, NULL, 0, true))
            exit(1);
        double a = now();

        if (!filter_run(f, text, c->order, c->n, NULL, 0, true))
            exit(1);
        double b = now();

        t->hits = f->hits;
        t->plain_hits = plain_pass(c, text);
        double d = now();

        t->ours = b - a < t->ours ? b - a : t->ours;
        t->plain = d - b < t->plain ? d - b : t->plain;
    }
}

static void type_word(struct filter *f, const struct corpus *c, const char *word)
{
    for (size_t n = 1; n <= strlen(word); n++) {
        struct times t;

        measure(f, c, (struct slice){ word, n }, &t);
        printf("%-14.*s %8zu hits %8.2f ms   plain %8zu %8.2f ms   ratio %5.2f\n", (int)n, word,
               t.hits, t.ours, t.plain_hits, t.plain, t.ours / t.plain);
    }
}

int main(int argc, char **argv)
{
    struct corpus c;
    struct filter f = { 0 };

    make_corpus(&c, argc > 1 ? strtoul(argv[1], NULL, 10) : 100000);
    double a = now();

    if (!filter_reserve(&f, c.n))
        return 1;
    for (size_t i = 0; i < c.n; i++)
        if (!filter_set(&f, (uint32_t)i, &c.row[i]))
            return 1;
    printf("filter: %zu sessions folded in %.0f ms\n", c.n, now() - a);
    type_word(&f, &c, "payret");
    type_word(&f, &c, "e s");
    type_word(&f, &c, "webhok");
    type_word(&f, &c, "!fix");
    filter_fini(&f);
    free(c.row);
    free(c.texts);
    free(c.order);
    return 0;
}
