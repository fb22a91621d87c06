#include "tests/test.h"

#include <stdlib.h>

#include "store/api/store.h"
#include "store/systems/claude/claude.h"

static struct block_list take_apart(struct slice row)
{
    struct block_list list = { 0 };

    assert_int_equal(claude_ops.blocks(NULL, row, &list, NULL), ERR_OK);
    return list;
}

static void assert_text(struct slice got, const char *want)
{
    if (!slice_eq(got, slice_of(want)))
        fail_msg("\"%.*s\" is not \"%s\"", SLICE_ARG(got), want);
}

/* The row has one block, of this kind, with this text. */
static void assert_one(struct slice row, enum block_kind kind, const char *text)
{
    struct block_list list = take_apart(row);

    assert_int_equal(list.n, 1);
    assert_int_equal(list.block[0].kind, kind);
    assert_text(list.block[0].text, text);
    transcript_blocks_fini(&list);
}

#define ONE(row, kind, text) assert_one(SLICE(row), kind, text)

TEST(a_prompt_is_a_string_or_blocks)
{
    ONE("{\"type\":\"user\",\"message\":{\"content\":\"fix \\u00e9\"}}", BLOCK_PROMPT,
        "fix \u00e9");
    ONE("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"fix\"}]}}",
        BLOCK_PROMPT, "fix");
    ONE("{\"type\":\"user\",\"message\":{\"content\":\"<div>why?</div>\"}}", BLOCK_PROMPT,
        "<div>why?</div>");
}

TEST(rows_the_client_wrote_for_the_user_are_notes)
{
    ONE("{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":\"x\"}}", BLOCK_NOTE, "x");
    ONE("{\"type\":\"user\",\"isCompactSummary\":true,\"message\":{\"content\":\"s\"}}", BLOCK_NOTE,
        "s");
    ONE("{\"type\":\"user\",\"message\":{\"content\":\"<system-reminder>r</system-reminder>\"}}",
        BLOCK_NOTE, "<system-reminder>r</system-reminder>");
    struct block_list list = take_apart(SLICE("{\"type\":\"user\",\"message\":{\"content\":["
                                              "{\"type\":\"text\",\"text\":\"[Request interrupted "
                                              "by user]\"}]}}"));

    assert_int_equal(list.n, 1);
    assert_int_equal(list.block[0].kind, BLOCK_NOTE);
    assert_true(list.block[0].failed);
    assert_text(list.block[0].name, "interrupted");
    transcript_blocks_fini(&list);
}

TEST(commands_and_shell_lines_are_commands)
{
    ONE("{\"type\":\"user\",\"message\":{\"content\":\"<command-name>/review</command-name>\\n"
        "<command-message>review</command-message>\\n<command-args> now </command-args>\"}}",
        BLOCK_COMMAND, "/review now");
    ONE("{\"type\":\"user\",\"message\":{\"content\":\"<command-name>/clear</command-name>"
        "<command-args></command-args>\"}}",
        BLOCK_COMMAND, "/clear");
    ONE("{\"type\":\"user\",\"message\":{\"content\":\"<bash-input> ls </bash-input>\"}}",
        BLOCK_COMMAND, "! ls");
    ONE("{\"type\":\"user\",\"message\":{\"content\":\"<bash-stdout>a</bash-stdout>"
        "<bash-stderr>b</bash-stderr>\"}}",
        BLOCK_NOTE, "a\nb");
}

TEST(a_tool_call_keeps_its_raw_input)
{
    struct block_list list = take_apart(
        SLICE("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
              "\"Look.\"},{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":"
              "{\"command\":\"ls\",\"n\":1.0}}]}}"));

    assert_int_equal(list.n, 2);
    assert_int_equal(list.block[0].kind, BLOCK_TEXT);
    assert_int_equal(list.block[1].kind, BLOCK_TOOL_CALL);
    assert_text(list.block[1].name, "Bash");
    assert_text(list.block[1].call_id, "t1");
    assert_text(list.block[1].input, "{\"command\":\"ls\",\"n\":1.0}");
    transcript_blocks_fini(&list);
}

TEST(a_result_has_its_patch_agent_and_images)
{
    struct block_list list = take_apart(
        SLICE("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
              "\"tool_use_id\":\"t1\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":"
              "\"one\"},{\"type\":\"text\",\"text\":\"two\"},{\"type\":\"image\",\"source\":"
              "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"AAAAAAA=\"}}]}]},"
              "\"toolUseResult\":{\"agentId\":\"a1\",\"structuredPatch\":[{\"oldStart\":1}]}}"));

    assert_int_equal(list.n, 2);
    assert_int_equal(list.block[0].kind, BLOCK_TOOL_RESULT);
    assert_true(list.block[0].failed);
    assert_text(list.block[0].text, "one\ntwo");
    assert_text(list.block[0].agent, "a1");
    assert_text(list.block[0].patch, "[{\"oldStart\":1}]");
    assert_int_equal(list.block[1].kind, BLOCK_IMAGE);
    assert_text(list.block[1].name, "image/png");
    assert_text(list.block[1].call_id, "t1");
    assert_int_equal(list.block[1].bytes, 5);
    transcript_blocks_fini(&list);
}

TEST(a_queued_command_is_a_prompt_and_other_attachments_are_notes)
{
    ONE("{\"type\":\"attachment\",\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"and "
        "then?\"}}",
        BLOCK_PROMPT, "and then?");
    ONE("{\"type\":\"attachment\",\"attachment\":{\"type\":\"file\",\"filename\":\"/a/b.c\"}}",
        BLOCK_NOTE, "/a/b.c");
}

TEST(a_compaction_is_a_boundary_block)
{
    ONE("{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation "
        "compacted\"}",
        BLOCK_SEAM, "Conversation compacted");
}

TEST(an_unreadable_row_is_shown_raw)
{
    ONE("{\"type\":\"user\",\"mess", BLOCK_RAW, "{\"type\":\"user\",\"mess");
    ONE("[1,2]", BLOCK_RAW, "[1,2]");
    ONE("", BLOCK_RAW, "");
    ONE("{\"type\":\"from-the-future\"}", BLOCK_NOTE, "");
    ONE("{}", BLOCK_NOTE, "");
    ONE("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"hologram\"}]}}", BLOCK_NOTE,
        "");
}

TEST(values_of_the_wrong_type_do_no_harm)
{
    static const char *const rows[] = {
        "{\"type\":\"user\",\"message\":7}",
        "{\"type\":\"user\",\"message\":{\"content\":{\"a\":1}}}",
        "{\"type\":\"user\",\"message\":{\"content\":[1,null,\"x\",[]]}}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":[]}]}}",
        "{\"type\":\"user\",\"toolUseResult\":[],\"message\":{\"content\":[{\"type\":"
        "\"tool_result\",\"content\":{\"text\":1}}]}}",
        "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"image\",\"source\":{\"data\":"
        "\"=\"}}]}}",
        "{\"type\":\"attachment\",\"attachment\":[]}",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct block_list list = take_apart(slice_of(rows[i]));

        for (size_t k = 0; k < list.n; k++)
            assert_true(list.block[k].bytes >= 0);
        transcript_blocks_fini(&list);
    }
}

TEST(a_message_of_many_texts_takes_linear_time)
{
    struct buf row = { 0 };
    const int many = 100000;

    assert_int_equal(buf_add(&row, SLICE("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
                                         "\"tool_result\",\"content\":[{}")),
                     ERR_OK);
    for (int i = 0; i < many; i++)
        assert_int_equal(buf_add(&row, SLICE(",{\"type\":\"text\",\"text\":\"abc\"}")), ERR_OK);
    assert_int_equal(buf_add(&row, SLICE("]}]}}")), ERR_OK);
    struct block_list list = take_apart(buf_slice(&row));

    assert_int_equal(list.n, 1);
    assert_int_equal(list.block[0].text.n, 4 * many - 1);
    transcript_blocks_fini(&list);
    buf_fini(&row);
}

static char *file_text(const char *path)
{
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long n = ftell(f);
    char *text = calloc(1, (size_t)n + 1);

    assert_non_null(text);
    rewind(f);
    assert_int_equal(fread(text, 1, (size_t)n, f), n);
    fclose(f);
    return text;
}

static void describe(struct buf *out, const struct block *b)
{
    static const char *const kinds[] = { "prompt", "command",  "text", "thinking", "call", "result",
                                         "image",  "document", "note", "seam",     "raw" };
    const char *nl = b->text.n ? memchr(b->text.p, '\n', b->text.n) : NULL;
    size_t n = nl ? (size_t)(nl - b->text.p) : b->text.n;

    assert_int_equal(buf_addf(out, "%s %.*s%s|%.*s|%.*s|%.*s|%lld|%zu|%zu\n", kinds[b->kind],
                              SLICE_ARG(b->name), b->failed ? "!" : "", n > 60 ? 60 : (int)n,
                              b->text.n ? b->text.p : "", SLICE_ARG(b->call_id),
                              SLICE_ARG(b->agent), (long long)b->bytes, b->input.n, b->patch.n),
                     ERR_OK);
}

/* Rows that real clients wrote, one of each shape; a person checked the recorded blocks once. */
TEST(real_rows_are_split_as_recorded)
{
    char *rows = file_text(ROWS_DIR "/claude.jsonl"), *want = file_text(ROWS_DIR "/claude.blocks");
    struct slice rest = { rows, strlen(rows) }, line;
    struct buf got = { 0 };
    bool torn;

    while (slice_line(&rest, &line, &torn)) {
        struct block_list list = take_apart(line);

        for (size_t i = 0; i < list.n; i++)
            describe(&got, &list.block[i]);
        assert_int_equal(buf_add(&got, SLICE("--\n")), ERR_OK);
        transcript_blocks_fini(&list);
    }
    assert_non_null(buf_cstr(&got));
    assert_string_equal(got.p, want);
    buf_fini(&got);
    free(rows);
    free(want);
}
