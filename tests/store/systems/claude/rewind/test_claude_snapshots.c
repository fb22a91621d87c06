#include "tests/test.h"

#include "lite/json/json.h"
#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"

static const struct store_env env = { .home = "/nowhere" };
static const struct store somewhere = { .ops = &claude_ops, .env = &env };

/* Prompts p1 to p3 with the answers a1 to a3. */
static struct transcript_writer three_turns(void)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "p1", "");
    transcript_writer_assistant(&t, "a1", "p1");
    transcript_writer_user(&t, "p2", "a1");
    transcript_writer_assistant(&t, "a2", "p2");
    transcript_writer_user(&t, "p3", "a2");
    transcript_writer_assistant(&t, "a3", "p3");
    return t;
}

/* A snapshot row of message `of` for the prompt `id`. */
static void snapshot(struct transcript_writer *t, const char *of, const char *id, const char *files,
                     bool update)
{
    char row[512];

    snprintf(row, sizeof row,
             "{\"type\":\"file-history-snapshot\",\"messageId\":\"%s\",\"snapshot\":{\"messageId\":"
             "\"%s\",\"trackedFileBackups\":{%s}},\"isSnapshotUpdate\":%s}\n",
             of, id, files, update ? "true" : "false");
    transcript_writer_raw(t, row);
}

static void delta(struct transcript_writer *t, const char *of, const char *id, const char *path,
                  const char *backup)
{
    char row[512];

    snprintf(row, sizeof row,
             "{\"type\":\"file-history-delta\",\"messageId\":\"%s\",\"snapshotMessageId\":\"%s\","
             "\"trackingPath\":\"%s\",\"backup\":%s,\"timestamp\":\"T\"}\n",
             of, id, path, backup);
    transcript_writer_raw(t, row);
}

/* "id{files} id{files}" */
static void history_is(struct transcript_writer *t, const char *want)
{
    struct session_ref ref = transcript_writer_ref(t);
    struct restore r;
    struct buf got = { 0 };

    assert_int_equal(claude_restore(&somewhere, &ref, (struct slice){ NULL, 0 }, &r, NULL), ERR_OK);
    for (size_t i = 0; i < r.file_history; i++) {
        struct arena a = { 0 };
        struct slice id = SLICE("?"), files = SLICE("?");

        assert_true(json_valid(r.file_history_json[i]));
        json_get_text(r.file_history_json[i], "messageId", &a, &id);
        json_get(r.file_history_json[i], "trackedFileBackups", &files);
        assert_int_equal(
            buf_addf(&got, "%s%.*s%.*s", i ? " " : "", SLICE_ARG(id), SLICE_ARG(files)), ERR_OK);
        arena_fini(&a);
    }
    assert_string_equal(buf_cstr(&got), want);
    buf_fini(&got);
    restore_fini(&r);
    transcript_writer_end(t);
}

TEST(snapshots_come_in_the_order_of_the_conversation)
{
    struct transcript_writer t = three_turns();

    snapshot(&t, "p3", "p3", "\"f\":3", false);
    snapshot(&t, "p1", "p1", "\"f\":1", false);
    history_is(&t, "p1{\"f\":1} p3{\"f\":3}");
}

TEST(an_update_replaces_its_snapshot)
{
    struct transcript_writer t = three_turns();

    snapshot(&t, "p1", "p1", "", false);
    snapshot(&t, "p2", "p2", "\"f\":2", false);
    snapshot(&t, "a1", "p1", "\"f\":1", true);
    history_is(&t, "p1{\"f\":1} p2{\"f\":2}");
}

TEST(an_update_without_a_snapshot_counts_as_one)
{
    struct transcript_writer t = three_turns();

    snapshot(&t, "a1", "p1", "\"f\":1", true);
    history_is(&t, "p1{\"f\":1}");
}

TEST(deltas_are_merged_into_their_snapshot)
{
    struct transcript_writer t = three_turns();

    snapshot(&t, "p1", "p1", "\"f\":1,\"g\":1", false);
    snapshot(&t, "p2", "p2", "", false);
    delta(&t, "a1", "p1", "\\u0066", "{\"v\":2}");
    delta(&t, "a1", "p1", "h", "null");
    history_is(&t, "p1{\"f\":{\"v\":2},\"g\":1,\"h\":null} p2{}");
}

TEST(a_lost_snapshot_is_derived_from_the_previous_one)
{
    struct transcript_writer t = three_turns();

    snapshot(&t, "p1", "p1", "\"f\":1", false);
    delta(&t, "a2", "p2", "g", "2");
    history_is(&t, "p1{\"f\":1} p2{\"f\":1,\"g\":2}");

    t = three_turns();
    delta(&t, "a2", "p2", "g", "2");
    history_is(&t, "p2{\"g\":2}");

    t = three_turns();
    transcript_writer_raw(
        &t, "{\"type\":\"file-history-delta\",\"messageId\":\"a2\",\"snapshotMessageId\":\"p2\","
            "\"trackingPath\":\"g\",\"backup\":2}\n");
    history_is(&t, "p2{\"g\":2}");
}

TEST(the_later_of_two_rows_of_a_message_counts)
{
    struct transcript_writer t = three_turns();

    snapshot(&t, "p1", "p1", "\"f\":1", false);
    snapshot(&t, "p1", "p1", "\"f\":2", false);
    history_is(&t, "p1{\"f\":2}");
}

TEST(rows_of_a_dead_branch_do_not_count)
{
    struct transcript_writer t = three_turns();

    snapshot(&t, "p3", "p3", "\"f\":3", false);
    delta(&t, "a3", "p3", "g", "3");
    snapshot(&t, "nobody", "p1", "\"f\":0", false);
    transcript_writer_user(&t, "p4", "a2");
    snapshot(&t, "p4", "p4", "\"f\":4", false);
    history_is(&t, "p4{\"f\":4}");
}

TEST(rows_without_content_are_skipped)
{
    struct transcript_writer t = three_turns();

    transcript_writer_raw(
        &t, "{\"type\":\"file-history-snapshot\",\"messageId\":\"p1\",\"snapshot\":7}\n"
            "{\"type\":\"file-history-snapshot\",\"messageId\":7}\n"
            "{\"type\":\"file-history-delta\",\"messageId\":\"a1\"}\n");
    snapshot(&t, "p2", "p2", "\"f\":2", false);
    transcript_writer_raw(
        &t, "{\"type\":\"file-history-delta\",\"messageId\":\"a2\",\"snapshotMessageId\":\"p2\","
            "\"trackingPath\":7,\"backup\":1}\n");
    history_is(&t, "p2{\"f\":2}");
}

TEST(only_the_newest_hundred_are_loaded)
{
    struct transcript_writer t;
    struct restore r;
    struct slice value;
    char id[16], before[16] = "";

    transcript_writer_begin(&t);
    for (int i = 0; i < 112; i++) {
        snprintf(id, sizeof id, "p%d", i);
        transcript_writer_user(&t, id, before);
        snapshot(&t, id, id, "", false);
        memcpy(before, id, sizeof id);
    }
    struct session_ref ref = transcript_writer_ref(&t);

    assert_int_equal(claude_restore(&somewhere, &ref, (struct slice){ NULL, 0 }, &r, NULL), ERR_OK);
    assert_int_equal(r.file_history, 100);
    assert_true(json_get(r.file_history_json[0], "messageId", &value));
    assert_true(json_string_is(value, "p12"));
    restore_fini(&r);
    transcript_writer_end(&t);
}
