/* The whole process `reprise list --all` on a repository of committed checkpoints against `git ls-tree -r`, which names
 * their files and reads none of them.
 *
 *   bench_entire REPRISE EMPTY_DIR CHECKPOINTS [ROUNDS]     one in five has two sessions
 */
#include <string.h>

#include "bench.h"
#include "run.h"

enum { TRANSCRIPT_ROWS = 40 };

struct making {
    FILE *git; /* git fast-import */
    size_t sessions;
};

static void put_file(FILE *git, const char *path, const char *text)
{
    fprintf(git, "M 100644 inline %s\ndata %zu\n%s\n", path, strlen(text), text);
}

static void put_session(struct making *m, const char *folder, const char *id, size_t number)
{
    char path[128], text[1024];
    static char rows[TRANSCRIPT_ROWS * 256];
    size_t n = 0;

    for (int i = 0; i < TRANSCRIPT_ROWS; i++)
        n += (size_t)snprintf(
            rows + n, sizeof rows - n,
            "{\"type\":\"user\",\"uuid\":\"u%zu-%d\",\"sessionId\":\"s%zu\",\"message\":"
            "{\"role\":\"user\",\"content\":\"What of %d in %zu?\"}}\n",
            m->sessions, i, m->sessions, i, m->sessions);
    snprintf(path, sizeof path, "%s/%zu/full.jsonl", folder, number);
    put_file(m->git, path, rows);
    snprintf(path, sizeof path, "%s/%zu/prompt.txt", folder, number);
    snprintf(text, sizeof text, "What of it, number %zu?", m->sessions);
    put_file(m->git, path, text);
    snprintf(path, sizeof path, "%s/%zu/metadata.json", folder, number);
    snprintf(
        text, sizeof text,
        "{\n  \"checkpoint_id\": \"%s\",\n  \"session_id\": \"5e550000-0000-4000-8000-%012zx\",\n"
        "  \"strategy\": \"manual-commit\",\n  \"created_at\": \"2026-02-09T10:%02zu:%02zu.5Z\",\n"
        "  \"branch\": \"main\",\n  \"checkpoints_count\": 1,\n  \"files_touched\": [\n"
        "    \"src/a%zu.c\"\n  ],\n  \"agent\": \"Claude Code\"\n}\n",
        id, m->sessions, m->sessions / 60 % 60, m->sessions % 60, m->sessions);
    put_file(m->git, path, text);
    m->sessions++;
}

static void put_checkpoint(struct making *m, size_t i)
{
    char id[16], folder[32], path[64], text[2048];
    size_t sessions = i % 5 == 0 ? 2 : 1, n;

    snprintf(id, sizeof id, "%02zx%010zx", i % 256, i);
    snprintf(folder, sizeof folder, "%.2s/%s", id, id + 2);
    for (size_t k = 0; k < sessions; k++)
        put_session(m, folder, id, k);
    n = (size_t)snprintf(
        text, sizeof text,
        "{\n  \"checkpoint_id\": \"%s\",\n  \"strategy\": \"manual-commit\",\n"
        "  \"checkpoints_count\": 1,\n  \"files_touched\": [],\n  \"sessions\": [\n",
        id);
    for (size_t k = 0; k < sessions; k++)
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "    {\n      \"metadata\": \"/%s/%zu/metadata.json\",\n"
            "      \"transcript\": \"/%s/%zu/full.jsonl\",\n      \"context\": \"\",\n"
            "      \"content_hash\": \"\",\n      \"prompt\": \"/%s/%zu/prompt.txt\"\n    }%s\n",
            folder, k, folder, k, folder, k, k + 1 < sessions ? "," : "");
    snprintf(text + n, sizeof text - n, "  ]\n}\n");
    snprintf(path, sizeof path, "%s/metadata.json", folder);
    put_file(m->git, path, text);
}

static size_t make(const char *dir, size_t checkpoints)
{
    char command[4096];
    struct making m = { 0 };

    snprintf(command, sizeof command,
             "git init -q --bare '%s' && git -C '%s' fast-import --quiet && git -C '%s' gc -q", dir,
             dir, dir);
    m.git = popen(command, "w");
    bench_need(m.git != NULL, "git fast-import");
    fputs("commit refs/heads/entire/checkpoints/v1\ncommitter A <a@example.invalid> 1770631200 "
          "+0000\n"
          "data 1\nx\n",
          m.git);
    for (size_t i = 0; i < checkpoints; i++)
        put_checkpoint(&m, i);
    bench_need(pclose(m.git) == 0, "git");
    return m.sessions;
}

int main(int argc, char **argv)
{
    struct bench_time ours = { 0 }, git = { 0 };
    char store[4200];

    if (argc < 4) {
        fputs("usage: bench_entire REPRISE EMPTY_DIR CHECKPOINTS [ROUNDS]\n", stderr);
        return 2;
    }
    size_t sessions = make(argv[2], (size_t)atol(argv[3]));

    snprintf(store, sizeof store, "entire:%s", argv[2]);
    const char *list[] = { argv[1], "list", "--all", "--json", "--store", store, NULL };
    const char *names[] = { "git", "-C", argv[2], "ls-tree", "-r", "entire/checkpoints/v1", NULL };
    struct run r = { .argv = list, .config = argv[2] };
    struct run base = { .argv = names, .discard = true };

    for (int round = argc > 4 ? atoi(argv[4]) : 5; round > 0; round--) {
        run_program(&base);
        bench_keep_best(&git, base.wall, base.cpu);
        run_program(&r);
        bench_keep_best(&ours, r.wall, r.cpu);
    }
    printf("entire: %s checkpoints, %zu sessions, best of the rounds\n", argv[3], sessions);
    printf("  git ls-tree -r           %8.1f ms\n", git.wall * 1e3);
    printf("  list --all               %8.1f ms (bar 500)  %.2fx git\n", ours.wall * 1e3,
           ours.wall / git.wall);
    printf("  peak memory              %8.1f MB (bar 64)\n", (double)r.peak_kb / 1024);
    if (r.values != sessions)
        printf("  %zu sessions came, not %zu\n", r.values, sessions);
    return r.values != sessions;
}
