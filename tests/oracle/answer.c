#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/api/store.h"
#include "store/systems/claude/claude.h"

/* Serves the comparison with the vendor's SDK: many sessions in one process.
 *   usage: answer CONFIG_DIR < requests
 * A request is a line: session, agent or -, 1 for system messages else 0, limit or -, offset. The reply is a line: a
 * JSON array, or "error: ..." */

struct printing {
    bool first;
};

static enum err_code print(struct slice json, void *arg, struct err *e)
{
    struct printing *p = arg;

    (void)e;
    if (!p->first)
        putchar(',');
    p->first = false;
    fwrite(json.p, 1, json.n, stdout);
    return ERR_OK;
}

static void answer(const struct store *st, struct session_ref *ref, const char *agent, bool system,
                   const char *limit, const char *offset)
{
    struct message_query q = { .session = ref->id, .system_messages = system, .as_sdk = true };
    struct printing p = { true };
    struct err e;

    if (strcmp(agent, "-") != 0)
        q.agent = slice_of(agent);
    q.has_limit = strcmp(limit, "-") != 0;
    q.limit = q.has_limit ? strtoll(limit, NULL, 10) : 0;
    q.offset = strtoll(offset, NULL, 10);
    putchar('[');
    if (st->ops->messages(st, ref, &q, print, &p, &e)) {
        char line[512];

        err_format(&e, line, sizeof line);
        printf("error: %s", line);
    }
    puts("]");
}

int main(int argc, char **argv)
{
    struct store_env env = { .home = "/nonexistent", .cwd = "/", .claude_config_dir = argv[1] };
    struct scope scope = { .all = true };
    struct store *st;
    char line[4096];

    if (argc != 2 || claude_ops.open(&env, argv[1], &st, NULL))
        return 2;
    env.claude_keep_precompact = getenv("CLAUDE_CODE_DISABLE_PRECOMPACT_SKIP");
    while (fgets(line, sizeof line, stdin)) {
        const char *word[5];
        size_t n = 0;
        struct arena a = { 0 };
        struct session_ref ref;

        for (char *w = strtok(line, " \n"); w && n < 5; w = strtok(NULL, " \n"))
            word[n++] = w;
        if (n == 5 && st->ops->find(st, &scope, slice_of(word[0]), &a, &ref, NULL) == ERR_OK)
            answer(st, &ref, word[1], *word[2] == '1', word[3], word[4]);
        else
            puts("error: not found");
        fflush(stdout);
        arena_fini(&a);
    }
    store_close(st);
    return 0;
}
