#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>

#include "store/journal/change.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

/* Forks of sessions whose rows are out of order. The expected results are those of the vendor's SDK. */

#define ID "5e550000-0000-4000-8000-000000000001"
#define STEM "11110000-0000-4000-8000-00000000000"

struct place {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    struct buf rows;
    char config[4096], state[4096], data[4096], path[4096];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "cfg", p->config);
    folder_path(&p->folder, "state", p->state);
    folder_path(&p->folder, "data", p->data);
    folder_path(&p->folder, "cfg/projects/-p/" ID ".jsonl", p->path);
    folder_dir(&p->folder, "cfg/projects/-p");
    p->env = (struct store_env){ .cwd = p->config,
                                 .claude_config_dir = p->config,
                                 .state_dir = p->state,
                                 .data_dir = p->data,
                                 .now_ms = 1800000000000 };
    assert_int_equal(claude_ops.open(&p->env, p->config, &p->store, NULL), ERR_OK);
    p->ref = (struct session_ref){ .store = p->store,
                                   .id = SLICE(ID),
                                   .path = { p->path, strlen(p->path) } };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    store_close(p->store);
    folder_remove(&p->folder);
    buf_fini(&p->rows);
    free(p);
    return 0;
}

/* Ids and parents are digits; parent 0: none. */
static void row(struct place *p, const char *type, int id, int parent, const char *message)
{
    char up[64] = "null";

    if (parent)
        snprintf(up, sizeof up, "\"" STEM "%d\"", parent);
    assert_int_equal(buf_addf(&p->rows,
                              "{\"type\":\"%s\",\"uuid\":\"" STEM "%d\",\"parentUuid\":%s,"
                              "\"sessionId\":\"" ID
                              "\",\"timestamp\":\"2026-03-01T10:00:0%d.000Z\","
                              "\"message\":%s}\n",
                              type, id, up, id, message),
                     ERR_OK);
}

static void user(struct place *p, int id, int parent)
{
    row(p, "user", id, parent, "{\"role\":\"user\",\"content\":\"asks\"}");
}

static void assistant(struct place *p, int id, int parent)
{
    row(p, "assistant", id, parent, "{\"role\":\"assistant\",\"content\":\"says\"}");
}

/* The old row that a text names after a key: its digit, '-' for none, '?' for one that is not in the copy. */
static char old_of(const char *text, const char *line, const char *key)
{
    char id[40], member[64];
    const char *at = strstr(line, key);

    assert_non_null(at);
    if (at[strlen(key)] != '"')
        return '-';
    snprintf(id, sizeof id, "%.36s", at + strlen(key) + 1);
    snprintf(member, sizeof member, "\"uuid\":\"%s\"", id);
    const char *row_at = strstr(text, member);
    const char *from = row_at ? strstr(row_at, "\"messageUuid\":\"" STEM) : NULL;

    return from ? from[sizeof "\"messageUuid\":\"" STEM - 1] : '?';
}

/* The copy of a fork up to a message (0: whole). */
static void fork_text(struct place *p, int at, struct buf *text)
{
    struct change *c = change_new("fork");
    struct fork_result made;
    char id[40];

    folder_put(&p->folder, "cfg/projects/-p/" ID ".jsonl", buf_slice(&p->rows));
    snprintf(id, sizeof id, STEM "%d", at);
    struct fork_request q = { .at = { id, at ? strlen(id) : 0 } };

    assert_int_equal(claude_ops.fork(p->store, &p->ref, &q, c, &made, NULL), ERR_OK);
    assert_int_equal(file_read_all(AT_FDCWD, made.staged, 0, 1 << 20, text, NULL), ERR_OK);
    assert_non_null(buf_cstr(text));
    change_discard_fork(&made);
    change_free(c);
}

/* Its rows as "row<parent" in their order. */
static void forked(struct place *p, int at, char out[256])
{
    struct buf text = { 0 };

    fork_text(p, at, &text);
    out[0] = '\0';
    for (const char *line = text.p; line && strstr(line, "forkedFrom");
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *old = strstr(line, "\"messageUuid\":\"" STEM);

        snprintf(out + strlen(out), 256 - strlen(out), "%s%c<%c", out[0] ? " " : "",
                 old[sizeof "\"messageUuid\":\"" STEM - 1],
                 old_of(text.p, line, "\"parentUuid\":"));
    }
    buf_fini(&text);
}

static void last_prompt(struct place *p, int leaf, const char *explicit)
{
    assert_int_equal(buf_addf(&p->rows,
                              "{\"type\":\"last-prompt\",\"leafUuid\":\"" STEM "%d\"%s,"
                              "\"sessionId\":\"" ID "\"}\n",
                              leaf, explicit),
                     ERR_OK);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_full_fork_after_a_resume_at_ends_there)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), assistant(p, 2, 1), user(p, 3, 2), assistant(p, 4, 3);
    last_prompt(p, 4, "");
    forked(p, 0, rows);
    assert_string_equal(rows, "1<- 2<1 3<2 4<3");
    last_prompt(p, 2, ",\"explicit\":true");
    forked(p, 0, rows);
    assert_string_equal(rows, "1<- 2<1");
    user(p, 5, 2); /* it continued there */
    forked(p, 0, rows);
    assert_string_equal(rows, "1<- 2<1 3<2 4<3 5<2");
}

CASE(a_branch_that_a_resume_skips_is_skipped_by_the_fork)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), assistant(p, 2, 1), user(p, 3, 2), assistant(p, 4, 3);
    last_prompt(p, 4, "");
    user(p, 5, 2), assistant(p, 6, 5);
    forked(p, 0, rows);
    assert_string_equal(rows, "1<- 2<1 3<2 4<3");
}

CASE(a_row_before_its_parent_is_not_copied)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), assistant(p, 2, 1), user(p, 3, 4), user(p, 4, 2);
    forked(p, 4, rows);
    assert_string_equal(rows, "1<- 2<1 4<2");
}

CASE(a_branch_that_would_become_the_leaf_is_not_copied)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), user(p, 4, 3), assistant(p, 2, 1), user(p, 3, 2);
    forked(p, 3, rows);
    assert_string_equal(rows, "1<- 2<1 3<2");
}

CASE(a_fork_at_a_progress_row_ends_at_the_row_above)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), assistant(p, 2, 1), row(p, "progress", 3, 2, "{}"), user(p, 4, 3);
    forked(p, 3, rows);
    assert_string_equal(rows, "1<- 2<1");
}

CASE(results_of_the_message_keep_their_place)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0);
    row(p, "user", 3, 2,
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"A\","
        "\"content\":\"ok\"}]}");
    row(p, "assistant", 2, 1,
        "{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"A\","
        "\"name\":\"B\",\"input\":{}}]}");
    forked(p, 2, rows);
    assert_string_equal(rows, "1<- 3<2 2<1");
}

CASE(the_first_row_of_a_repeated_id_counts)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), assistant(p, 2, 1), user(p, 3, 2), assistant(p, 2, 3), user(p, 4, 2);
    forked(p, 3, rows);
    assert_string_equal(rows, "1<- 2<1 3<2");
}

CASE(progress_rows_in_a_cycle_lead_to_no_row)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), row(p, "progress", 2, 3, "{}"), row(p, "progress", 3, 2, "{}"), user(p, 4, 3);
    forked(p, 0, rows);
    assert_string_equal(rows, "1<- 4<?");
}

CASE(a_row_below_a_progress_cycle_follows_the_first_row_met_twice)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), assistant(p, 2, 1);
    row(p, "progress", 2, 3, "{}"), row(p, "progress", 3, 4, "{}"), row(p, "progress", 4, 2, "{}");
    row(p, "progress", 8, 2, "{}");
    user(p, 5, 2), user(p, 6, 3), user(p, 7, 4), user(p, 9, 8);
    forked(p, 0, rows);
    assert_string_equal(rows, "1<- 2<1 5<2 6<? 7<? 9<2");
}

static void queued(struct place *p, const char *type, int id, int parent, int source)
{
    assert_int_equal(buf_addf(&p->rows,
                              "{\"type\":\"%s\",\"uuid\":\"" STEM "%d\",\"parentUuid\":\"" STEM
                              "%d\",\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"x\","
                              "\"source_uuid\":\"" STEM "%d\"}}\n",
                              type, id, parent, source),
                     ERR_OK);
}

CASE(only_an_attachment_carries_a_queued_command)
{
    struct place *p = *state;
    char rows[256];

    user(p, 1, 0), assistant(p, 2, 1);
    queued(p, "system", 3, 2, 9), queued(p, "attachment", 4, 3, 9), user(p, 5, 4);
    forked(p, 9, rows);
    assert_string_equal(rows, "1<- 2<1 3<2 4<3");
}

CASE(rows_that_the_vendor_ignores_are_not_copied)
{
    struct place *p = *state;
    struct buf text = { 0 };

#define OWN(type, rest) "{\"type\":\"" type "\",\"sessionId\":\"" ID "\"," rest "}\n"
    user(p, 1, 0);
    assert_int_equal(
        buf_add(&p->rows, SLICE(OWN("atis-latch", "\"atis\":\"fine\"")
                                    OWN("atis-latch", "\"atis\":\"two words\"")
                                        OWN("atis-latch", "\"atis\":\"\\u00e9\"")
                                            OWN("derived-from", "\"v\":1,\"sessions\":[]")
                                                OWN("user", "\"uuid\":null,\"forkedFrom\":{"
                                                            "\"sessionId\":\"of-no-message\"}"))),
        ERR_OK);
    fork_text(p, 0, &text);
    assert_non_null(strstr(text.p, "\"atis\":\"fine\""));
    assert_null(strstr(text.p, "two words"));
    assert_null(strstr(text.p, "u00e9"));
    assert_non_null(strstr(text.p, "\"derived-from\""));
    assert_null(strstr(text.p, "of-no-message"));
    buf_fini(&text);
}
