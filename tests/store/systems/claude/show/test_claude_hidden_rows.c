#include "tests/test.h"

#include "lite/json/json.h"
#include "store/systems/claude/show/item_list.h"

enum { MOST_ROWS = 8 };

struct conversation {
    struct arena arena;
    struct claude_restore_row row[MOST_ROWS];
    struct claude_restore_rows restore_rows;
};

static void add(struct conversation *t, enum claude_kind kind, const char *text)
{
    struct claude_restore_row *r = &t->row[t->restore_rows.n++];

    assert_true(json_valid(slice_of(text)));
    *r = (struct claude_restore_row){ .row = { text, strlen(text) }, .kind = (uint8_t)kind };
}

static void answer(struct conversation *t, const char *text)
{
    add(t, CLAUDE_ASSISTANT, text);
}

static void begin(struct conversation *t)
{
    *t = (struct conversation){ 0 };
    t->restore_rows = (struct claude_restore_rows){ .row = t->row, .arena = &t->arena };
    add(t, CLAUDE_USER, "{\"message\":{\"content\":\"hello\"}}");
}

/* One letter per row: . stays, c stays because the session ended in its calls, u unanswered, t thoughts, b blank. */
static void leaves(struct conversation *t, const char *want)
{
    char got[MOST_ROWS + 1] = "";

    struct claude_values unanswered = { 0 };

    assert_int_equal(claude_hide_rows(&t->restore_rows, &unanswered), ERR_OK);
    for (size_t i = 0; i < t->restore_rows.n; i++)
        got[i] = t->row[i].cut ? 'c' : ".utb"[t->row[i].left_out];
    assert_string_equal(got, want);
    arena_fini(&t->arena);
}

#define CALL(id) "{\"type\":\"tool_use\",\"id\":\"" id "\"}"
#define RESULT(id) "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\"}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define THOUGHT "{\"type\":\"thinking\",\"thinking\":\"hm\"}"
#define ROW(content) "{\"message\":{\"content\":[" content "]}}"
#define PART(id, content) "{\"message\":{\"id\":\"" id "\",\"content\":[" content "]}}"

TEST(a_call_without_a_result_is_hidden)
{
    struct conversation t;

    begin(&t);
    answer(&t, ROW(CALL("1")));
    add(&t, CLAUDE_USER, ROW(RESULT("1")));
    answer(&t, ROW(TEXT("done")));
    answer(&t, ROW(CALL("2")));
    add(&t, CLAUDE_USER, ROW(TEXT("and now?")));
    leaves(&t, "....u.");
}

TEST(calls_in_which_the_session_ended_stay)
{
    struct conversation t;

    begin(&t);
    answer(&t, PART("m1", CALL("1")));
    answer(&t, PART("m2", CALL("2")));
    answer(&t, PART("m2", CALL("3")));
    add(&t, CLAUDE_USER, ROW(RESULT("3")));
    add(&t, CLAUDE_SYSTEM, "{}");
    leaves(&t, ".uc...");
}

TEST(a_row_stays_while_one_of_its_calls_has_a_result)
{
    struct conversation t;

    begin(&t);
    answer(&t, ROW(CALL("1") "," CALL("2")));
    add(&t, CLAUDE_USER, ROW(RESULT("2")));
    answer(&t, ROW(CALL("3") "," CALL("4")));
    answer(&t, ROW(TEXT("done")));
    leaves(&t, "...u.");
}

TEST(thoughts_stay_with_the_rest_of_their_message)
{
    struct conversation t;

    begin(&t);
    answer(&t, PART("m1", THOUGHT));
    answer(&t, PART("m1", TEXT("so")));
    answer(&t, PART("m2", THOUGHT));
    answer(&t, PART("m3", "{\"type\":\"redacted_thinking\"}," THOUGHT));
    answer(&t, ROW(THOUGHT));
    leaves(&t, "...ttt");
}

TEST(thoughts_are_hidden_with_their_call)
{
    struct conversation t;

    begin(&t);
    answer(&t, PART("m1", THOUGHT));
    answer(&t, PART("m1", CALL("1")));
    answer(&t, ROW(TEXT("done")));
    leaves(&t, ".tu.");
}

TEST(a_blank_answer_is_hidden)
{
    struct conversation t;

    begin(&t);
    answer(&t, ROW(TEXT("\\n\\n \\u00a0")));
    answer(&t, ROW(TEXT(" ") "," TEXT("")));
    answer(&t, ROW(TEXT(" ") "," TEXT("x")));
    answer(&t, ROW(TEXT(" ") "," THOUGHT));
    answer(&t, ROW("{\"type\":\"text\"}"));
    leaves(&t, ".bb..b");
}

TEST(a_row_without_blocks_stays)
{
    struct conversation t;

    begin(&t);
    answer(&t, ROW(""));
    answer(&t, "{\"message\":{\"content\":\" \"}}");
    answer(&t, "{\"message\":7}");
    answer(&t, "{}");
    answer(&t, ROW("7,null"));
    leaves(&t, "......");
}

TEST(only_assistant_rows_are_hidden)
{
    struct conversation t;

    begin(&t);
    add(&t, CLAUDE_USER, ROW(TEXT(" ")));
    add(&t, CLAUDE_SYSTEM, ROW(THOUGHT));
    add(&t, CLAUDE_ATTACHMENT, ROW(CALL("1")));
    leaves(&t, "....");
}
