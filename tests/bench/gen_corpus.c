/* A deterministic corpus of transcripts as Claude Code writes them: the same arguments give the same
 * bytes and mtimes.
 *
 *   gen_corpus DIR SESSIONS [MEDIAN_BYTES [SEED]]   DIR/projects/<project>/<uuid>.jsonl, 20 projects
 *   gen_corpus --live DIR ...                       the same, but each file is written when its last row says, as an agent
 *                                                   does; else its times were set later, which its change time shows
 *   gen_corpus --one FILE BYTES [SEED]              one large transcript
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "prose.h"
#include "rng.h"

enum { PROJECTS = 20, UUID_TEXT = 37, TIME_TEXT = 32 };

static const double SIGMA = 1.6;                     /* of session sizes; a few are very large */
static const uint64_t FIRST_MS = 1760000000000u;     /* October 2025 */
static const uint64_t SPREAD_MS = 90u * 86400000ull; /* sessions began within 90 days */
static const double SMALLEST = 2e3, LARGEST = 2e7;

struct session {
    const struct prose *prose;
    struct rng rng;
    FILE *out;
    uint64_t size; /* wanted */
    uint64_t ms;   /* of the next row */
    uint64_t last_ms;
    bool old; /* key order of 2025: the envelope comes before the message */
    char id[UUID_TEXT], last[UUID_TEXT], cwd[64];
    unsigned long long call; /* of the last row, without a result; 0: none */
};

static void uuid(struct rng *d, char out[UUID_TEXT])
{
    unsigned long long a = rng_next(d), b = rng_next(d);

    snprintf(out, UUID_TEXT, "%08llx-%04llx-4%03llx-%04llx-%012llx", a >> 32, a >> 16 & 0xffff,
             a & 0xfff, 0x8000 | (b >> 48 & 0x3fff), b & 0xffffffffffff);
}

static void time_text(uint64_t ms, char out[TIME_TEXT])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    size_t n;

    gmtime_r(&seconds, &tm);
    n = strftime(out, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, TIME_TEXT - n, ".%03uZ", (unsigned)(ms % 1000));
}

static void envelope(const struct session *s)
{
    fprintf(s->out,
            "\"userType\":\"external\",\"entrypoint\":\"cli\",\"cwd\":\"%s\",\"sessionId\":\"%s\","
            "\"version\":\"2.1.330\",\"gitBranch\":\"main\"",
            s->cwd, s->id);
}

static size_t human_size(struct session *s, double median, double sigma, size_t most)
{
    double n = rng_size(&s->rng, median, sigma);

    return n < 8 ? 8 : n > (double)most ? most : (size_t)n;
}

static void text(struct session *s, double median, double sigma, size_t most)
{
    prose_write(s->prose, &s->rng, human_size(s, median, sigma, most), s->out);
}

static void user_prompt(struct session *s)
{
    fputs("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"", s->out);
    text(s, 160, 0.8, 4000);
    fputs("\"}", s->out);
}

static void tool_result(struct session *s)
{
    fprintf(s->out,
            "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":\""
            "toolu_%012llx\",\"type\":\"tool_result\",\"content\":\"",
            s->call);
    s->call = 0;
    text(s, 2000, 1.5, 400000);
    fputs("\"}]},\"toolUseResult\":{\"interrupted\":false,\"isImage\":false}", s->out);
}

static void assistant(struct session *s, bool tool)
{
    fprintf(
        s->out,
        "\"type\":\"assistant\",\"message\":{\"model\":\"claude-opus-4-5\",\"id\":\"msg_%016llx\","
        "\"type\":\"message\",\"role\":\"assistant\",\"content\":[",
        (unsigned long long)rng_next(&s->rng));
    if (tool)
        fprintf(s->out,
                "{\"type\":\"tool_use\",\"id\":\"toolu_%012llx\",\"name\":\"Edit\",\"input\":{"
                "\"file_path\":\"%s/src/%s.c\",\"content\":\"",
                s->call = rng_next(&s->rng) >> 16 | 1, s->cwd, prose_word(&s->rng));
    else
        fputs("{\"type\":\"text\",\"text\":\"", s->out);
    text(s, tool ? 900 : 600, 0.9, 20000);
    fprintf(s->out,
            "\"}%s],\"stop_reason\":%s,\"stop_sequence\":null,\"usage\":{\"input_tokens\":4,"
            "\"cache_creation_input_tokens\":812,\"cache_read_input_tokens\":15320,"
            "\"output_tokens\":211,\"service_tier\":\"standard\"}},\"requestId\":\"req_011\"",
            tool ? "}" : "", tool ? "\"tool_use\"" : "\"end_turn\"");
}

static void snapshot(struct session *s, const char *when)
{
    fprintf(s->out,
            "{\"type\":\"file-history-snapshot\",\"messageId\":\"%s\",\"snapshot\":{\"messageId\":"
            "\"%s\","
            "\"trackedFileBackups\":{\"src/%s.c\":{\"backupFileName\":\"%016llx@v1\",\"version\":1,"
            "\"backupTime\":\"%s\"}},\"timestamp\":\"%s\"},\"isSnapshotUpdate\":false}\n",
            s->last, s->last, prose_word(&s->rng), (unsigned long long)rng_next(&s->rng), when,
            when);
}

static void row(struct session *s, bool first)
{
    unsigned kind = first ? 10 : rng_roll(&s->rng, 100);
    char when[TIME_TEXT];

    time_text(s->ms, when);
    s->last_ms = s->ms;
    s->ms += 500 + rng_roll(&s->rng, 60000);
    if (kind < 6) {
        snapshot(s, when);
        return;
    }
    fprintf(s->out, first ? "{\"parentUuid\":null," : "{\"parentUuid\":\"%s\",", s->last);
    fputs("\"isSidechain\":false,", s->out);
    if (s->old) {
        envelope(s);
        fputc(',', s->out);
    }
    if (s->call)
        tool_result(s);
    else if (kind < 20)
        user_prompt(s);
    else
        assistant(s, kind >= 52);
    uuid(&s->rng, s->last);
    fprintf(s->out, ",\"uuid\":\"%s\",\"timestamp\":\"%s\"", s->last, when);
    if (!s->old) {
        fputc(',', s->out);
        envelope(s);
    }
    fputs("}\n", s->out);
}

static void metadata(struct session *s)
{
    struct rng *d = &s->rng;

    if (rng_roll(d, 3) == 0)
        fprintf(s->out,
                "{\"type\":\"custom-title\",\"customTitle\":\"%s%s %s\",\"sessionId\":\"%s\"}\n",
                rng_roll(d, 2) ? ""
                               : "\xe6\x94\xaf\xe6\x89\x95\xe3\x81\x84\xe3\x81\xae\xe4\xbf\xae ",
                prose_word(d), prose_word(d), s->id);
    fprintf(s->out,
            "{\"type\":\"last-prompt\",\"lastPrompt\":\"%s the %s\",\"leafUuid\":\"%s\","
            "\"sessionId\":\"%s\"}\n",
            prose_word(d), prose_word(d), s->last, s->id);
}

static void fail(const char *what)
{
    fprintf(stderr, "gen_corpus: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t write_rows(struct session *s, const char *path)
{
    s->out = fopen(path, "wb");
    if (!s->out)
        fail(path);
    for (bool first = true; first || (uint64_t)ftell(s->out) < s->size; first = false)
        row(s, first);
    metadata(s);
    return (uint64_t)ftell(s->out);
}

/* Writes the rows twice: once to know how long the session took. */
static uint64_t write_live(struct session *s, const char *path)
{
    struct session rehearsal = *s;
    struct timespec now;

    write_rows(&rehearsal, path);
    if (fclose(rehearsal.out) != 0)
        fail(path);
    clock_gettime(CLOCK_REALTIME, &now);
    /* the time of the last row, which is up to a minute before that of the next one */
    s->ms += (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 - rehearsal.last_ms;
    const uint64_t n = write_rows(s, path);

    if (fclose(s->out) != 0)
        fail(path);
    return n;
}

static uint64_t write_session(struct session *s, const char *path)
{
    struct timespec times[2];
    uint64_t n = write_rows(s, path);

    times[0] = times[1] =
        (struct timespec){ (time_t)(s->ms / 1000), (long)(s->ms % 1000) * 1000000 };
    if (fclose(s->out) != 0 || utimensat(AT_FDCWD, path, times, 0) != 0)
        fail(path);
    return n;
}

static struct session session_of(const struct prose *prose, uint64_t seed)
{
    struct session s = { .prose = prose, .rng = rng_of(seed) };

    uuid(&s.rng, s.id);
    snprintf(s.cwd, sizeof s.cwd, "/home/dev/project-%02u", rng_roll(&s.rng, PROJECTS));
    s.ms = FIRST_MS + rng_next(&s.rng) % SPREAD_MS;
    s.old = rng_roll(&s.rng, 2);
    return s;
}

static void make_dir(const char *path)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        fail(path);
}

static uint64_t write_corpus(const struct prose *prose, const char *dir, unsigned sessions,
                             double median, uint64_t seed, bool live)
{
    char path[4096];
    uint64_t total = 0;

    make_dir(dir);
    snprintf(path, sizeof path, "%s/projects", dir);
    make_dir(path);
    for (unsigned i = 0; i < PROJECTS; i++) {
        snprintf(path, sizeof path, "%s/projects/-home-dev-project-%02u", dir, i);
        make_dir(path);
    }
    for (unsigned i = 0; i < sessions; i++) {
        struct session s = session_of(prose, seed * 1000003 + i);
        double size = rng_size(&s.rng, median, SIGMA);

        s.size = (uint64_t)(size < SMALLEST ? SMALLEST : size > LARGEST ? LARGEST : size);
        snprintf(path, sizeof path, "%s/projects/-home-dev-%s/%s.jsonl", dir,
                 strrchr(s.cwd, '/') + 1, s.id);
        total += live ? write_live(&s, path) : write_session(&s, path);
    }
    return total;
}

static const char *argument(int argc, char **argv, int i, const char *otherwise)
{
    return i < argc ? argv[i] : otherwise;
}

int main(int argc, char **argv)
{
    bool one = argc > 1 && strcmp(argv[1], "--one") == 0;
    bool live = argc > 1 && strcmp(argv[1], "--live") == 0;

    if (live) {
        argv++;
        argc--;
    }

    if (argc < (one ? 4 : 3)) {
        fputs("usage: gen_corpus [--live] DIR SESSIONS [MEDIAN_BYTES [SEED]]\n"
              "       gen_corpus --one FILE BYTES [SEED]\n",
              stderr);
        return 2;
    }
    uint64_t seed = strtoull(argument(argc, argv, 4, "1"), NULL, 10), bytes;
    struct rng rng = rng_of(seed);
    struct prose *prose = prose_new(&rng);

    if (!prose)
        fail("prose");
    if (one) {
        struct session s = session_of(prose, seed);

        s.size = (uint64_t)strtod(argv[3], NULL);
        bytes = write_session(&s, argv[2]);
    } else {
        bytes = write_corpus(prose, argv[1], (unsigned)strtoul(argv[2], NULL, 10),
                             strtod(argument(argc, argv, 3, "90000"), NULL), seed, live);
    }
    printf("%s: %llu bytes\n", argument(argc, argv, one ? 2 : 1, ""), (unsigned long long)bytes);
    prose_free(prose);
    return 0;
}
