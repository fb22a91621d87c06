#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "store/library/library_host.h"

/* Pages of a conversation, the files of sessions, and their tokens. */

/* The uuids of a page, as one text. */
static int page_before(const struct reprise_session *s, const char *before, int64_t limit,
                       const char *want)
{
    const struct reprise_message_query q = { .size = sizeof q,
                                             .limit = limit,
                                             .flags = limit ? REPRISE_MESSAGES_LIMIT : 0,
                                             .before = before };
    struct reprise_texts *texts;
    char got[16] = "";
    int rc = reprise_messages(s, &q, &texts, NULL);

    if (rc)
        return rc;
    for (size_t i = 0; i < reprise_texts_count(texts); i++)
        got[i] = strstr(reprise_texts_at(texts, i, NULL), "\"uuid\":\"")[8];
    assert_string_equal(got, want);
    reprise_texts_free(texts);
    return rc;
}

IN_SCRATCH(messages_are_read_backwards_page_by_page)
{
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");

    for (int i = 0; i < 5; i++)
        assert_int_equal(append_prompt(s, (const char *[]){ "a", "b", "c", "d", "e" }[i], NULL),
                         REPRISE_OK);
    assert_int_equal(page_before(s, "", 2, "de"), REPRISE_OK);
    assert_int_equal(page_before(s, "d", 2, "bc"), REPRISE_OK);
    assert_int_equal(page_before(s, "b", 2, "a"), REPRISE_OK);
    assert_int_equal(page_before(s, "a", 2, ""), REPRISE_OK);
    assert_int_equal(page_before(s, "d", 0, "abc"), REPRISE_OK);
    assert_int_equal(page_before(s, "x", 2, ""), REPRISE_NOT_FOUND);
    assert_int_equal(page_before(s, "d", 1001, ""), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(r);
}

/* The ids of what was added, as one text. */
static void read_on(struct reprise_follow *f, const char *want)
{
    struct reprise_texts *texts;
    char got[16] = "";

    assert_int_equal(reprise_follow_next(f, &texts, NULL), REPRISE_OK);
    for (size_t i = 0; i < reprise_texts_count(texts); i++)
        got[i] = strstr(reprise_texts_at(texts, i, NULL), "\"id\":\"")[6];
    assert_string_equal(got, want);
    reprise_texts_free(texts);
}

IN_SCRATCH(a_conversation_is_read_on)
{
    struct reprise *r = open_store(state, "goat", "s");
    struct reprise_session *s = create(r, "pay-1");
    struct reprise_message_query q = { .size = sizeof q,
                                       .after = "a",
                                       .flags = REPRISE_MESSAGES_PLAIN };
    struct reprise_follow *end, *after;
    struct reprise_texts *texts;

    append_prompt(s, "a", NULL);
    append_prompt(s, "b", NULL);
    assert_int_equal(reprise_follow_open(s, NULL, &end, NULL), REPRISE_OK);
    assert_int_equal(reprise_follow_open(s, &q, &after, NULL), REPRISE_OK);
    read_on(end, "");
    read_on(after, "b");
    append_prompt(s, "c", NULL);
    append_prompt(s, "d", NULL);
    read_on(end, "cd");
    read_on(after, "cd");
    read_on(end, "");

    assert_int_equal(reprise_messages(s, &q, &texts, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(texts), 3);
    assert_non_null(strstr(reprise_texts_at(texts, 0, NULL), "{\"id\":\"b\",\"role\":\"user\","));
    assert_non_null(strstr(reprise_texts_at(texts, 0, NULL), ",\"text\":\"pay\"}"));
    reprise_texts_free(texts);
    q.flags |= REPRISE_MESSAGES_LIMIT;
    q.limit = 1;
    assert_int_equal(reprise_messages(s, &q, &texts, NULL), REPRISE_OK);
    assert_int_equal(reprise_texts_count(texts), 1);
    reprise_texts_free(texts);
    assert_int_equal(reprise_follow_open(s, &q, &after, NULL), REPRISE_USAGE);
    q = (struct reprise_message_query){ .size = sizeof q,
                                        .after = "x",
                                        .flags = REPRISE_MESSAGES_PLAIN };
    assert_int_equal(reprise_follow_open(s, &q, &after, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_messages(s, &q, &texts, NULL), REPRISE_NOT_FOUND);
    q.flags = 0;
    assert_int_equal(reprise_messages(s, &q, &texts, NULL), REPRISE_USAGE);
    reprise_follow_close(end);
    reprise_follow_close(after);
    reprise_session_close(s);
    reprise_close(r);
}

/* ---- blame ---- */

/* clang-format off */
#define ROW_OF(type, uuid, parent, second)                                                         \
    "{\"type\":\"" type "\",\"uuid\":\"" uuid "\",\"parentUuid\":\"" parent "\",\"sessionId\":\"" SID     \
    "\",\"cwd\":\"/srv/app\",\"timestamp\":\"2026-02-09T02:48:" second ".000Z\","
#define WRITE_CALL                                                                                 \
    ROW_OF("assistant", ID(6), ID(1), "29")                                                        \
    "\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"toolu_1\","         \
    "\"name\":\"Write\",\"input\":{\"file_path\":\"%s\",\"content\":\"one\\ntwo\\n\"}}]}}\n"
#define WRITE_RESULT                                                                               \
    ROW_OF("user", ID(7), ID(6), "30")                                                             \
    "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\","  \
    "\"content\":\"done\"}]},\"toolUseResult\":{\"type\":\"create\",\"filePath\":\"%s\","                 \
    "\"content\":\"one\\ntwo\\n\"}}\n"
/* clang-format on */

static void append_write(const struct reprise_session *s, const char *file)
{
    char rows[12000];
    int n = snprintf(rows, sizeof rows,
                     MAIN_ROW("user", ID(1), "null", "Pay by card") WRITE_CALL WRITE_RESULT, file,
                     file);

    assert_int_equal(reprise_append(s, rows, (size_t)n, 0, NULL, NULL), REPRISE_OK);
}

IN_SCRATCH(a_blame_leads_from_a_line_to_its_prompt)
{
    char path[4096];
    const char *file = folder_path(*state, "file", path);
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = create(r, SID);
    struct reprise_lines *lines;

    append_write(s, file);
    scratch_write(state, "file", SLICE("one\nby hand\n"));
    assert_int_equal(reprise_blame(r, file, NULL, &lines, NULL), REPRISE_OK);
    assert_int_equal(reprise_lines_count(lines), 2);
    assert_string_equal(reprise_lines_at(lines, 0)->text, "one");
    assert_string_equal(reprise_lines_at(lines, 0)->session, SID);
    assert_string_equal(reprise_lines_at(lines, 0)->prompt, "Pay by card");
    assert_string_equal(reprise_lines_at(lines, 0)->tool, "Write");
    assert_string_equal(reprise_lines_at(lines, 1)->text, "by hand");
    assert_string_equal(reprise_lines_at(lines, 1)->session, "");
    assert_null(reprise_lines_at(lines, 2));
    reprise_lines_free(lines);
    assert_int_equal(reprise_blame(r, "file", NULL, &lines, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_blame(r, folder_path(*state, "absent", path), NULL, &lines, NULL),
                     REPRISE_NOT_FOUND);
    reprise_session_close(s);
    reprise_close(r);
}

/* ---- files and tokens ---- */

IN_SCRATCH(a_session_tells_its_files_and_a_file_its_sessions)
{
    char path[4096];
    const char *file = folder_path(*state, "file", path);
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = create(r, SID);
    struct reprise_touches *touches;

    append_write(s, file);
    assert_int_equal(reprise_files(s, &touches, NULL), REPRISE_OK);
    assert_int_equal(reprise_touches_count(touches), 1);
    const struct reprise_touch *t = reprise_touches_at(touches, 0);

    assert_string_equal(t->file, file);
    assert_string_equal(t->session, SID);
    assert_string_equal(t->prompt, "Pay by card");
    assert_int_equal(t->did, REPRISE_TOUCH_EDITED);
    assert_int_equal(t->added, 2);
    assert_null(reprise_touches_at(touches, 1));
    reprise_touches_free(touches);
    assert_int_equal(reprise_touched(r, file, NULL, &touches, NULL), REPRISE_OK);
    assert_int_equal(reprise_touches_count(touches), 1);
    assert_string_equal(reprise_touches_at(touches, 0)->session, SID);
    reprise_touches_free(touches);
    assert_int_equal(reprise_touched(r, folder_path(*state, "absent", path), NULL, &touches, NULL),
                     REPRISE_OK);
    assert_int_equal(reprise_touches_count(touches), 0);
    reprise_touches_free(touches);
    assert_int_equal(reprise_touched(r, "file", NULL, &touches, NULL), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(r);
}

static void check_usage(struct reprise_usage *usage)
{
    assert_int_equal(reprise_usage_count(usage), 2);
    assert_string_equal(reprise_usage_at(usage, 0)->model, "large");
    assert_int_equal(reprise_usage_at(usage, 0)->input, 300);
    assert_int_equal(reprise_usage_at(usage, 0)->output, 20);
    assert_int_equal(reprise_usage_at(usage, 0)->cache_read, 7);
    assert_int_equal(reprise_usage_at(usage, 0)->answers, 1);
    assert_string_equal(reprise_usage_at(usage, 1)->model, "small");
    assert_int_equal(reprise_usage_at(usage, 1)->input, 5);
    assert_null(reprise_usage_at(usage, 2));
    reprise_usage_free(usage);
}

/* clang-format off */
#define ANSWER(uuid, answer, model, tokens)                                                        \
    ROW_OF("assistant", uuid, ID(1), "29") "\"requestId\":\"req_" answer "\",\"message\":{\"id\":\"msg_" answer \
    "\",\"model\":\"" model "\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Yes\"}],"  \
    "\"usage\":{" tokens "}}}\n"
/* clang-format on */

/* An answer has a row for each of its blocks, and counts once. */
IN_SCRATCH(tokens_are_summed_up_by_model)
{
    static const char rows[] = MAIN_ROW("user", ID(1), "null", "Pay by card")
        ANSWER(ID(2), "a", "small", "\"input_tokens\":5,\"output_tokens\":1")
            ANSWER(ID(3), "b", "large",
                   "\"input_tokens\":300,\"output_tokens\":20,\"cache_read_input_tokens\":7")
                ANSWER(ID(4), "b", "large",
                       "\"input_tokens\":300,\"output_tokens\":20,\"cache_read_input_tokens\":7");
    struct reprise *r = open_store(state, "claude", "claude");
    struct reprise_session *s = create(r, SID);
    struct reprise_usage *usage;

    assert_int_equal(reprise_append(s, rows, sizeof rows - 1, 0, NULL, NULL), REPRISE_OK);
    assert_int_equal(reprise_session_usage(s, &usage, NULL), REPRISE_OK);
    check_usage(usage);
    assert_int_equal(reprise_sum_usage(r, NULL, &usage, NULL), REPRISE_OK);
    check_usage(usage);
    reprise_session_close(s);
    reprise_close(r);
}
