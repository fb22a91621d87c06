#include "tests/test.h"

#include <stdlib.h>

#include "store/api/transcript.h"
#include "store/journal/change.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

/* Boundaries that no client should write: every reader of a session survives them, and the end of the file gives the
 * same leaf as the whole of it. REPRISE_ROUNDS=n tries n random sessions. */

static const struct store_env env = { .home = "/nowhere", .now_ms = 1772359202000 };
static const struct claude system_of_test = { .base = { .ops = &claude_ops, .env = &env } };

static uint32_t next_random(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* A JSON value that may name a row: mostly one of the first `rows`, the next ones or a missing one. */
static const char *random_id(uint32_t *seed, unsigned rows, char out[32])
{
    static const char *const odd[] = { "null", "7", "\"\"", "[]", "{}", "true", "\"gone\"" };
    uint32_t pick = next_random(seed, 12);

    if (pick < sizeof odd / sizeof *odd)
        snprintf(out, 32, "%s", odd[pick]);
    else
        snprintf(out, 32, "\"r%u\"", next_random(seed, rows + 2));
    return out;
}

static void add_random_boundary(struct transcript_writer *t, uint32_t *seed, const char *id,
                                const char *parent)
{
    char a[32], b[32], c[32], rest[512];
    static const char *const team[] = { "", "\"teamName\":\"red\",", "\"isSidechain\":true," };
    static const char *const form[] = {
        "\"preservedMessages\":{\"anchorUuid\":%s,\"uuids\":[%s,%s]}",
        "\"preservedSegment\":{\"anchorUuid\":%s,\"headUuid\":%s,\"tailUuid\":%s}",
        "\"preservedMessages\":{\"uuids\":%s},\"preservedSegment\":[%s,%s]",
        "\"x\":[%s,%s,%s]",
    };
    size_t n = (size_t)snprintf(rest, sizeof rest,
                                "%s\"subtype\":\"compact_boundary\",\"logicalParentUuid\":%s,"
                                "\"compactMetadata\":{\"durationMs\":0,",
                                team[next_random(seed, 3)], random_id(seed, t->rows, a));

    n += (size_t)snprintf(rest + n, sizeof rest - n, form[next_random(seed, 4)],
                          random_id(seed, t->rows, a), random_id(seed, t->rows, b),
                          random_id(seed, t->rows, c));
    snprintf(rest + n, sizeof rest - n, "}");
    transcript_writer_row(t, "system", id, parent, rest);
}

static void add_random_row(struct transcript_writer *t, uint32_t *seed)
{
    char id[32], parent[32] = "", rest[256], tool[32], quoted[32];
    unsigned number = t->rows;

    snprintf(id, sizeof id, "r%u", next_random(seed, 16) ? number : next_random(seed, number + 1));
    if (number && next_random(seed, 10))
        snprintf(parent, sizeof parent, "r%u",
                 next_random(seed, 4) ? number - 1 : next_random(seed, number + 2));
    snprintf(tool, sizeof tool, "t%u", next_random(seed, 4));
    switch (next_random(seed, 9)) {
    case 0: transcript_writer_row(t, "progress", id, parent, ""); break;
    case 1: transcript_writer_row(t, "user", id, parent, "\"isSidechain\":true"); break;
    case 2:
    case 3: add_random_boundary(t, seed, id, parent); break;
    case 4:
        snprintf(rest, sizeof rest,
                 "\"message\":{\"id\":\"m%u\",\"role\":\"assistant\",\"content\":[{\"type\":"
                 "\"tool_use\",\"id\":\"%s\",\"name\":\"T\",\"input\":{}}]}",
                 next_random(seed, 3), tool);
        transcript_writer_row(t, "assistant", id, parent, rest);
        break;
    case 5:
        snprintf(rest, sizeof rest,
                 "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                 "\"tool_use_id\":\"%s\",\"content\":\"r\"}]},\"sourceToolAssistantUUID\":%s",
                 tool, random_id(seed, number, quoted));
        transcript_writer_row(t, "user", id, parent, rest);
        break;
    case 6:
        snprintf(rest, sizeof rest, "{\"type\":\"last-prompt\",\"leafUuid\":%s,\"explicit\":%s}\n",
                 random_id(seed, number, quoted), next_random(seed, 2) ? "true" : "false");
        transcript_writer_raw(t, rest);
        break;
    case 7: transcript_writer_assistant(t, id, parent); break;
    default: transcript_writer_user(t, id, parent); break;
    }
}

static enum err_code ignore_message(struct slice json, void *arg, struct err *e)
{
    (void)json;
    (void)arg;
    (void)e;
    return ERR_OK;
}

static void ok_or_nothing(enum err_code rc)
{
    assert_true(rc == ERR_OK || rc == ERR_NOT_FOUND || rc == ERR_UNSUPPORTED);
}

static void same_leaf_from_the_end(const struct session_ref *ref)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    struct claude_resume_point point;
    struct arena a = { 0 };
    struct claude_log log;
    struct slice id = { NULL, 0 };
    uint32_t leaf;
    bool cleared;

    assert_int_equal(claude_resume_point_of(ref->path.p, &a, &point, NULL), ERR_OK);
    assert_int_equal(claude_log_open(&log, ref->path.p, &want, NULL), ERR_OK);
    assert_int_equal(claude_resume_leaf(&log, &leaf, &cleared, NULL), ERR_OK);
    if (leaf != CHAIN_NONE)
        assert_int_equal(claude_node_uuid(&log, leaf, &a, &id, NULL), ERR_OK);
    assert_int_equal(point.leaf.n, id.n);
    assert_true(slice_eq(point.leaf, id));
    claude_log_close(&log);
    arena_fini(&a);
}

/* Reads the session in every way. */
static void read_it(struct transcript_writer *t, const char *at)
{
    const struct store *st = &system_of_test.base;
    struct session_ref ref = transcript_writer_ref(t);
    struct message_query q = { .system_messages = true };
    struct change *c = change_new("fork");
    struct fork_request request = { .title = SLICE("copy") };
    struct fork_result copy;
    struct transcript *read;
    struct restore bundle;
    struct branch_list branches;

    assert_int_equal(claude_messages(st, &ref, &q, ignore_message, NULL, NULL), ERR_OK);
    q.as_sdk = true;
    assert_int_equal(claude_messages(st, &ref, &q, ignore_message, NULL, NULL), ERR_OK);
    assert_int_equal(claude_load(st, &ref, NULL, &read, NULL), ERR_OK);
    transcript_free(read);
    assert_int_equal(claude_branches(st, &ref, NULL, &branches, NULL), ERR_OK);
    for (size_t i = 0; i < branches.n; i++) {
        assert_int_equal(claude_load_branch(st, &ref, branches.branch[i].leaf, NULL, &read, NULL),
                         ERR_OK);
        transcript_free(read);
    }
    branch_list_fini(&branches);
    enum err_code rc = claude_restore(st, &ref, SLICE(""), &bundle, NULL);

    ok_or_nothing(rc);
    if (!rc)
        restore_fini(&bundle);
    rc = claude_restore(st, &ref, slice_of(at), &bundle, NULL);
    ok_or_nothing(rc);
    if (!rc)
        restore_fini(&bundle);
    assert_non_null(c);
    rc = claude_fork(st, &ref, &request, c, &copy, NULL);
    ok_or_nothing(rc);
    if (!rc)
        change_discard_fork(&copy);
    change_free(c);
    c = change_new("resume");
    assert_non_null(c);
    ok_or_nothing(claude_resume_at(st, &ref, slice_of(at), c, NULL));
    change_free(c);
    same_leaf_from_the_end(&ref);
}

TEST(a_boundary_that_leaves_out_the_last_row_of_the_conversation)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_assistant(&t, "r0", "");
    transcript_writer_row(&t, "progress", "r1", "r0", "");
    transcript_writer_row(&t, "user", "r2", "r1", "\"isSidechain\":true");
    transcript_writer_row(&t, "system", "r3", "",
                          "\"teamName\":\"red\",\"subtype\":\"compact_boundary\","
                          "\"compactMetadata\":{\"durationMs\":0,\"preservedMessages\":{"
                          "\"anchorUuid\":\"r4\",\"uuids\":[\"r1\",\"r2\"]}}");
    read_it(&t, "r0");
    transcript_writer_end(&t);
}

TEST(random_boundaries)
{
    const char *rounds = getenv("REPRISE_ROUNDS");
    uint32_t seed = 1;

    for (long i = rounds ? atol(rounds) : 150; i > 0; i--) {
        struct transcript_writer t;
        char at[32];

        transcript_writer_begin(&t);
        for (uint32_t n = 2 + next_random(&seed, 12); n > 0; n--)
            add_random_row(&t, &seed);
        snprintf(at, sizeof at, "r%u", next_random(&seed, t.rows + 1));
        read_it(&t, at);
        transcript_writer_end(&t);
    }
}
