/* The line index against the least that any reader must do (read the file, find its newlines) and against
 * a JSON library that parses every line. All of them run in turn over the same file, with the same read
 * buffer; the results must agree.
 *
 *   bench_index FILE [ROUNDS]
 */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <string.h>

#include "bench.h"
#include "lite/scan/index.h"
#include "lite/scan/index_internal.h"
#include "lite/scan/key_scan.h"

struct found {
    size_t lines, ok, ids;
    uint64_t ids_sum; /* over the ids, in any order */
    double bytes_a_line;
};

static const char *const kinds[] = {
    "user", "assistant", "system", "attachment", "progress", NULL
};
static const char *const marks[] = { "isSidechain", "isMeta", "teamName", NULL };
static const struct index_keys keys = { .type = "type",
                                        .id = "uuid",
                                        .parent = "parentUuid",
                                        .time = "timestamp",
                                        .kinds = kinds,
                                        .marks = marks };

/* Hands every line to fn; lines longer than the buffer grow it. */
static void each_line(const struct file *f, void (*fn)(struct slice line, void *arg), void *arg)
{
    size_t cap = INDEX_READ_BYTES, have = 0, got;
    char *bytes = malloc(cap);
    int64_t offset = 0;

    bench_need(bytes != NULL, "memory");
    while (!file_read(f, offset, bytes + have, cap - have, &got, NULL) && got) {
        struct slice rest = { bytes, have + got }, line;
        bool torn;

        offset += (int64_t)got;
        have = 0;
        while (slice_line(&rest, &line, &torn)) {
            if (!torn) {
                fn(line, arg);
                continue;
            }
            memmove(bytes, line.p, line.n);
            have = line.n;
        }
        if (have == cap)
            bench_need((bytes = realloc(bytes, cap *= 2)) != NULL, "memory");
    }
    free(bytes);
}

static void count_line(struct slice line, void *arg)
{
    struct found *found = arg;

    (void)line;
    found->lines++;
}

static void parse_line(struct slice line, void *arg)
{
    struct found *found = arg;
    cJSON *row = cJSON_ParseWithLength(line.p, line.n);
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(row, "uuid");

    found->lines++;
    found->ok += cJSON_IsObject(row) ? 1 : 0;
    if (cJSON_IsString(id)) {
        struct id128 v = id128_of(slice_of(id->valuestring));

        found->ids++;
        found->ids_sum += v.hi ^ v.lo;
    }
    cJSON_Delete(row);
}

static struct found newlines(const struct file *f)
{
    struct found found = { 0 };

    each_line(f, count_line, &found);
    return found;
}

static struct found cjson(const struct file *f)
{
    struct found found = { 0 };

    each_line(f, parse_line, &found);
    return found;
}

static struct found indexed(const struct file *f, unsigned flags)
{
    struct found found = { 0 };
    struct index ix = { 0 };

    bench_need(index_build(&ix, f, &keys, flags, NULL, NULL) == ERR_OK, "index");
    found.lines = ix.n;
    for (size_t i = 0; i < ix.n; i++) {
        found.ok += ix.line[i].state == LINE_OK;
        found.ids += !id128_none(ix.line[i].id);
        found.ids_sum += ix.line[i].id.hi ^ ix.line[i].id.lo;
    }
    found.bytes_a_line = (double)(ix.cap * sizeof *ix.line) / (double)(ix.n ? ix.n : 1);
    index_fini(&ix);
    return found;
}

static struct found ours(const struct file *f)
{
    return indexed(f, 0);
}

static struct found exact(const struct file *f)
{
    return indexed(f, INDEX_VALIDATE);
}

enum { NEWLINES, OURS, EXACT, CJSON, WAYS };

static const struct {
    const char *name;
    struct found (*run)(const struct file *f);
} ways[WAYS] = { { "read and find newlines", newlines },
                 { "index", ours },
                 { "index, exact", exact },
                 { "cJSON, line by line", cjson } };

static bool agree(const struct found found[WAYS])
{
    for (int i = OURS; i < CJSON; i++)
        if (found[i].lines != found[NEWLINES].lines || found[i].ok != found[CJSON].ok ||
            found[i].ids != found[CJSON].ids || found[i].ids_sum != found[CJSON].ids_sum)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct bench_time best[WAYS] = { 0 };
    struct found found[WAYS];
    struct file f;

    if (argc < 2) {
        fputs("usage: bench_index FILE [ROUNDS]\n", stderr);
        return 2;
    }
    bench_need(file_open(AT_FDCWD, argv[1], 0, &f, NULL) == ERR_OK, argv[1]);
    for (int round = argc > 2 ? atoi(argv[2]) : 3; round > 0; round--) {
        for (int i = 0; i < WAYS; i++) {
            double wall = bench_now(), cpu = bench_cpu();

            found[i] = ways[i].run(&f);
            bench_keep_best(&best[i], bench_now() - wall, bench_cpu() - cpu);
        }
    }
    printf("index: %s, %.2f GB, %zu lines, %.1f bytes of index a line; best of the rounds\n",
           argv[1], (double)f.id.size / 1e9, found[OURS].lines, found[OURS].bytes_a_line);
    for (int i = 0; i < WAYS; i++)
        printf("  %-24s %7.2f GB/s (cpu %7.2f)  %6.2fx the newlines  %6.2fx faster than cJSON\n",
               ways[i].name, (double)f.id.size / 1e9 / best[i].wall,
               (double)f.id.size / 1e9 / best[i].cpu, best[i].wall / best[NEWLINES].wall,
               best[CJSON].wall / best[i].wall);
    file_close(&f);
    if (!agree(found)) {
        puts("  the answers differ");
        return 1;
    }
    return 0;
}
