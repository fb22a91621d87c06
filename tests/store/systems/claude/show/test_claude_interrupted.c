#include "tests/test.h"

#include "store/systems/claude/show/item_list.h"

enum { MOST_ROWS = 6 };

struct end {
    struct arena arena;
    struct claude_restore_row row[MOST_ROWS];
    struct claude_restore_rows restore_rows;
};

static struct end ends(void)
{
    return (struct end){ 0 };
}

static void add(struct end *t, enum claude_kind kind, const char *text)
{
    struct claude_restore_row *r = &t->row[t->restore_rows.n++];

    *r = (struct claude_restore_row){ .row = { text, strlen(text) }, .kind = (uint8_t)kind };
}

static void is(struct end *t, enum interruption want, const char *prompt)
{
    struct slice got;

    t->restore_rows.row = t->row;
    t->restore_rows.arena = &t->arena;
    assert_int_equal(claude_interruption(&t->restore_rows, &got), want);
    assert_int_equal(got.n, strlen(prompt));
    assert_true(slice_eq(got, slice_of(prompt)));
    arena_fini(&t->arena);
}

#define PROMPT "{\"message\":{\"content\":\"do it\"}}"
#define SAID(text) "{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"
#define RESULT "{\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"1\"}]}}"
#define ANSWER                                                                                     \
    "{\"message\":{\"stop_reason\":null,\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}}"
#define CALLING                                                                                    \
    "{\"message\":{\"stop_reason\":\"tool_use\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]" \
    "}}"

TEST(an_answer_ends_the_turn)
{
    struct end t = ends();

    add(&t, CLAUDE_USER, PROMPT);
    add(&t, CLAUDE_ASSISTANT, ANSWER);
    add(&t, CLAUDE_SYSTEM, "{}");
    is(&t, INTERRUPTION_NONE, "");
}

TEST(an_empty_conversation_is_not_interrupted)
{
    struct end t = ends();

    is(&t, INTERRUPTION_NONE, "");
    t = ends();
    add(&t, CLAUDE_SYSTEM, "{}");
    is(&t, INTERRUPTION_NONE, "");
}

TEST(ending_in_a_tool_result_is_an_interrupted_turn)
{
    struct end t = ends();

    add(&t, CLAUDE_ASSISTANT, CALLING);
    add(&t, CLAUDE_USER, RESULT);
    add(&t, CLAUDE_ATTACHMENT, "{\"attachment\":{\"type\":\"prompt_snapshot\"}}");
    is(&t, INTERRUPTION_TURN, "");
}

TEST(ending_before_a_tool_call_is_an_interrupted_turn)
{
    struct end t = ends();

    add(&t, CLAUDE_USER, PROMPT);
    add(&t, CLAUDE_ASSISTANT, CALLING);
    is(&t, INTERRUPTION_TURN, "");

    t = ends();
    add(&t, CLAUDE_ASSISTANT, ANSWER);
    add(&t, CLAUDE_ASSISTANT, ANSWER);
    t.row[1].left_out = ROW_HIDDEN_UNANSWERED;
    is(&t, INTERRUPTION_TURN, "");
}

TEST(an_unanswered_prompt_can_be_retried)
{
    struct end t = ends();

    add(&t, CLAUDE_ASSISTANT, ANSWER);
    add(&t, CLAUDE_USER, PROMPT);
    add(&t, CLAUDE_ATTACHMENT, "{\"attachment\":{\"type\":\"date\"}}");
    add(&t, CLAUDE_ASSISTANT, ANSWER);
    t.row[3].left_out = ROW_HIDDEN_THINKING;
    is(&t, INTERRUPTION_PROMPT, PROMPT);
}

TEST(an_api_error_is_no_answer)
{
    struct end t = ends();

    add(&t, CLAUDE_USER, PROMPT);
    add(&t, CLAUDE_ASSISTANT, "{\"isApiErrorMessage\":true,\"message\":{\"content\":[]}}");
    is(&t, INTERRUPTION_PROMPT, PROMPT);
}

TEST(a_turn_stopped_by_the_user_is_not_continued)
{
    struct end t = ends();

    add(&t, CLAUDE_USER, RESULT);
    add(&t, CLAUDE_USER, SAID("[Request interrupted by user for tool use]"));
    is(&t, INTERRUPTION_NONE, "");
    t = ends();
    add(&t, CLAUDE_USER, "{\"message\":{\"content\":\"[Request interrupted by user]\"}}");
    is(&t, INTERRUPTION_NONE, "");
}

TEST(a_turn_that_ended_too_early_is_interrupted)
{
    struct end t = ends();

    add(&t, CLAUDE_USER, SAID("[This turn ended before it finished.]"));
    is(&t, INTERRUPTION_TURN, "");
}

TEST(local_commands_need_no_answer)
{
    struct end t = ends();

    add(&t, CLAUDE_ASSISTANT, ANSWER);
    add(&t, CLAUDE_USER, SAID("<command-name>/clear</command-name>"));
    add(&t, CLAUDE_USER, SAID("<local-command-stdout></local-command-stdout>"));
    add(&t, CLAUDE_USER, SAID("<bash-input>ls</bash-input>"));
    add(&t, CLAUDE_USER, SAID("<bash-stdout></bash-stdout>"));
    is(&t, INTERRUPTION_NONE, "");
}

TEST(internal_rows_of_the_client_are_no_prompts)
{
    struct end t = ends();

    add(&t, CLAUDE_USER, "{\"isMeta\":true,\"message\":{\"content\":\"note\"}}");
    is(&t, INTERRUPTION_NONE, "");
    t = ends();
    add(&t, CLAUDE_USER, "{\"isCompactSummary\":true,\"message\":{\"content\":\"so far\"}}");
    is(&t, INTERRUPTION_NONE, "");
}

TEST(a_queued_command_is_a_prompt)
{
    struct end t = ends();
    static const char queued[] =
        "{\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"and\"}}";

    add(&t, CLAUDE_ASSISTANT, ANSWER);
    add(&t, CLAUDE_ATTACHMENT, queued);
    is(&t, INTERRUPTION_PROMPT, queued);
}
