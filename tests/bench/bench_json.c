/* Prints how fast json_valid validates the rows of a transcript, beside the rate of counting its newlines with memchr,
 * which is the limit for anything that looks at every byte.
 *   usage: bench_json [FILE]     without FILE: 64 MB of generated rows */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "lite/json/json.h"

enum { ROUNDS = 5, MADE_BYTES = 64 << 20 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Adds a row as agents write it: a few short keys, and a tool result with a line end every 40 bytes and an occasional
 * quote. Sizes follow a small generator, so that every run measures the same bytes. */
static enum err_code add_row(struct buf *b, uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    unsigned lines = 1u << (*seed >> 33) % 9;
    enum err_code rc =
        buf_addf(b,
                 "{\"parentUuid\":\"%016llx\",\"isSidechain\":false,\"type\":\"user\","
                 "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                 "\"is_error\":false,\"content\":\"",
                 (unsigned long long)*seed);

    for (unsigned i = 0; !rc && i < lines; i++)
        rc =
            buf_addf(b, "%6u\\tint answer(void) { return %s; }\\n", i, i % 8 ? "42" : "\\\"42\\\"");
    return rc ? rc
              : buf_addf(
                    b,
                    "\"}]},\"uuid\":\"%016llx\",\"timestamp\":\"2026-03-01T10:00:02.000Z\","
                    "\"usage\":{\"input_tokens\":4,\"output_tokens\":312,\"cache\":[1,2,3]}}\n",
                    (unsigned long long)(*seed ^ 0x5bd1e995));
}

static enum err_code make_rows(struct buf *b)
{
    uint64_t seed = 1;
    enum err_code rc = ERR_OK;

    while (!rc && b->n < MADE_BYTES)
        rc = add_row(b, &seed);
    return rc;
}

static size_t count_lines(struct slice text)
{
    struct slice line;
    size_t n = 0;

    for (bool torn; slice_line(&text, &line, &torn);)
        n++;
    return n;
}

static size_t count_valid(struct slice text)
{
    struct slice line;
    size_t n = 0;

    for (bool torn; slice_line(&text, &line, &torn);)
        n += json_valid(line);
    return n;
}

static double best(size_t (*count)(struct slice), struct slice text, size_t *answer)
{
    double least = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        double start = now();

        *answer = count(text);
        double took = now() - start;

        if (took < least)
            least = took;
    }
    return least;
}

int main(int argc, char **argv)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    enum err_code rc = argc > 1
                           ? file_read_all(AT_FDCWD, argv[1], FILE_FOLLOW, (size_t)1 << 32, &b, &e)
                           : make_rows(&b);

    if (rc) {
        fprintf(stderr, "bench_json: %s: %s\n", e.path, e.text);
        return 1;
    }
    size_t lines, valid;
    double limit = best(count_lines, buf_slice(&b), &lines);
    double ours = best(count_valid, buf_slice(&b), &valid);

    printf("%zu bytes, %zu lines, %zu valid\n", b.n, lines, valid);
    printf("newlines   %6.2f GB/s\njson_valid %6.2f GB/s (newlines included), ratio %.2f\n",
           (double)b.n / limit / 1e9, (double)b.n / ours / 1e9, ours / limit);
    buf_fini(&b);
    return 0;
}
