#include <fcntl.h>
#include <string.h>

#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/metadata.h"

/* What `info` shows about a Go session beyond its row: the agent's counts, the reason why it
 * stopped, the stream whose path hooks receive, and the memory of the project (goat.md B1, B5). */

enum { MEMORY_MAX = 64 << 10 };

static const struct named_field {
    enum goat_field field;
    const char *key, *label;
} fields[] = {
    { GOAT_TURNS, "turnCount", "turns" },        { GOAT_TOKENS, "totalTokens", "tokens" },
    { GOAT_COST, "totalCostUsd", "cost (USD)" }, { GOAT_EXIT, "exitReason", "exit reason" },
    { GOAT_HASH, "projectHash", NULL },          { GOAT_FORK_POINT, "forkPoint", "forked at" },
    { GOAT_MESSAGES, "recordedMessages", NULL },
};

static enum err_code add_memory_file(const char *path, struct session_facts *out, bool *found,
                                     struct err *e)
{
    struct buf text = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, MEMORY_MAX, &text, NULL);

    *found = rc == ERR_OK;
    rc = rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    if (!rc && *found)
        rc = session_facts_text(out, "memoryPath", "memory", slice_of(path), e);
    if (!rc && *found)
        rc = session_facts_text(out, "memorySummary", NULL, buf_slice(&text), e);
    buf_fini(&text);
    return rc;
}

/* PROJECT/memory/summary.md, beside sessions/; the shipped package has one for each session. */
static enum err_code add_memory(const struct session_ref *ref, struct session_facts *out,
                                struct err *e)
{
    struct arena *a = &out->arena;
    const char *dir = goat_path(ref, "", a), *own, *project, *end;
    bool found = false;
    enum err_code rc;

    if (!dir || !(own = arena_format(a, "%s/session-memory/summary.md", dir)))
        return err_nomem(e);
    rc = add_memory_file(own, out, &found, e);
    end = strrchr(dir, '/');
    end = end ? memrchr(dir, '/', (size_t)(end - dir)) : NULL;
    if (rc || found || !end) /* two levels up: out of sessions/ */
        return rc;
    project = arena_format(a, "%.*s/memory/summary.md", (int)(end - dir), dir);
    return project ? add_memory_file(project, out, &found, e) : err_nomem(e);
}

enum err_code goat_facts(const struct store *st, const struct session_ref *ref,
                         struct session_facts *out, struct err *e)
{
    struct session_facts facts = { .n = 0 };
    struct goat_document d;
    enum err_code rc = goat_document_open(ref, &d, e);

    (void)st;
    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !rc; i++) {
        struct slice raw = d.m.raw[fields[i].field];
        bool number = json_type(raw) == JSON_NUMBER;
        const struct session_fact fact = {
            .key = fields[i].key,
            .label = fields[i].label,
            .text = number ? raw : d.m.text[fields[i].field],
            .json = number ? raw : SLICE(""),
        };

        rc = session_facts_add(&facts, &fact, e);
    }
    goat_document_close(&d);
    if (!rc) {
        /* The path is known before the file exists, because hooks receive it when a session
         * starts. */
        const char *path = goat_path(ref, GOAT_TRANSCRIPT_LOG, &facts.arena);
        rc = path ? session_facts_text(&facts, "transcriptPath", "SDK stream", slice_of(path), e)
                  : err_nomem(e);
    }
    if (!rc)
        rc = add_memory(ref, &facts, e);
    if (rc)
        session_facts_fini(&facts);
    else
        *out = facts;
    return rc;
}
