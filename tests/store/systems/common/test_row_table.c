#include "store/systems/common/row_table.h"

#include "store/systems/common/session_about.h"
#include "tests/support/folder.h"
#include "tests/test.h"

/* The tables of rows, alone and through the made-up agent of tests/store/systems/tiny. */
extern const struct store_ops tiny_ops;

static const struct scope everywhere = { .all = true };

struct opened {
    struct folder folder;
    char path[4096];
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    struct arena arena;
};

static void open_tiny(struct opened *o, const char *log, const char *document)
{
    *o = (struct opened){ .env = { .home = "/nowhere" } };
    folder_make(&o->folder);
    folder_put(&o->folder, "sessions/one/log.jsonl", slice_of(log));
    if (document)
        folder_put(&o->folder, "sessions/one/about.json", slice_of(document));
    folder_path(&o->folder, ".", o->path);
    assert_int_equal(tiny_ops.open(&o->env, o->path, &o->store, NULL), ERR_OK);
    assert_int_equal(tiny_ops.find(o->store, &everywhere, SLICE("one"), &o->arena, &o->ref, NULL),
                     ERR_OK);
}

static void close_tiny(struct opened *o)
{
    tiny_ops.close(o->store);
    arena_fini(&o->arena);
    folder_remove(&o->folder);
}

static struct session_row *describe(struct opened *o)
{
    struct session_row *row = session_row_new();

    assert_non_null(row);
    assert_int_equal(tiny_ops.describe(o->store, &everywhere, &o->ref, row, NULL), ERR_OK);
    return row;
}

static void assert_slice(struct slice is, const char *wanted)
{
    assert_int_equal(is.n, strlen(wanted));
    assert_memory_equal(is.p, wanted, is.n);
}

TEST(a_path_names_members_and_alternatives)
{
    struct slice row = SLICE("{\"a\":{\"b\":\"x\"},\"c\":\"y\",\"d\":null}"), value;

    assert_true(row_value(row, "a.b", &value));
    assert_slice(value, "\"x\"");
    assert_true(row_value(row, "a.x|z|c", &value));
    assert_slice(value, "\"y\"");
    assert_true(row_value(row, "d|c", &value));
    assert_slice(value, "null");
    assert_false(row_value(row, "x|a.y", &value));
    assert_int_equal(value.n, 0);
}

TEST(a_condition_is_true_or_a_text)
{
    struct slice row = SLICE("{\"ok\":true,\"no\":false,\"s\":{\"t\":\"e\\u0072r\"},\"n\":1}");

    assert_true(row_is(row, "ok"));
    assert_false(row_is(row, "no"));
    assert_false(row_is(row, "n"));
    assert_false(row_is(row, "missing"));
    assert_true(row_is(row, "s.t=err"));
    assert_false(row_is(row, "s.t=er"));
    assert_false(row_is(row, "s.t!=err"));
    assert_true(row_is(row, "s.t!=ok"));
    assert_true(row_is(row, "missing!=ok"));
    assert_false(row_is(row, "n=1"));
}

TEST(a_condition_says_what_a_value_is)
{
    struct slice row = SLICE("{\"no\":false,\"s\":\"image\\/png\",\"o\":{\"x\":null}}");

    assert_true(row_is(row, "o.x:any"));
    assert_false(row_is(row, "o.y:any"));
    assert_true(row_is(row, "o.y:none"));
    assert_false(row_is(row, "o|s:none"));
    assert_true(row_is(row, "s:text"));
    assert_false(row_is(row, "no:text"));
    assert_true(row_is(row, "no:false"));
    assert_false(row_is(row, "o.y:false"));
    assert_true(row_is(row, "s^=image/"));
    assert_true(row_is(row, "o.y|s^=image/png"));
    assert_false(row_is(row, "s^=text/"));
    assert_false(row_is(row, "o.y^=image/"));
    assert_true(row_is(row, "s:text&no:false&o.x:any"));
    assert_false(row_is(row, "s:text&no"));
    assert_false(row_is(row, "no&s:text"));
}

static void put_length(struct block_list *b, struct slice object)
{
    transcript_block_put(b, (struct block){ .kind = BLOCK_NOTE, .bytes = (int64_t)object.n });
}

TEST(the_first_part_that_fits_is_the_block_of_an_element)
{
    static const struct row_block parts[] = {
        { BLOCK_TEXT, "text", .when = "type=text" },
        { BLOCK_THINKING, "thinking", .when = "type=thinking", .empty = true },
        { BLOCK_TOOL_CALL, .when = "type=call", .input = "input", .drop = "secret" },
        { BLOCK_IMAGE, .when = "type=image", .name = "mime", .base64 = "data" },
        { .when = "type=odd", .put = put_length },
        { BLOCK_RAW, .read = row_whole, .when = "type:any" },
        ROW_BLOCKS_END
    };
    static const struct row_block blocks[] = { { .each = "c", .parts = parts }, ROW_BLOCKS_END };
    struct block_list b = { .n = 0 };

    row_blocks_put(
        &b, blocks,
        SLICE("{\"c\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"\"},"
              "{\"type\":\"thinking\"},{\"type\":\"image\",\"mime\":\"x\",\"data\":\"AAAAAAAA\"},"
              "{\"type\":\"call\",\"input\":{\"a\":1,\"secret\":2,\"b\":3}},"
              "{\"type\":\"odd\"},{\"type\":7},{\"no\":1}]}"));
    assert_int_equal(b.n, 6);
    assert_slice(b.block[0].text, "a");
    assert_int_equal(b.block[1].kind, BLOCK_THINKING);
    assert_int_equal(b.block[1].text.n, 0);
    assert_int_equal(b.block[2].bytes, 6);
    assert_slice(b.block[2].name, "x");
    assert_slice(b.block[3].input, "{\"a\":1,\"b\":3}");
    assert_int_equal(b.block[4].bytes, strlen("{\"type\":\"odd\"}"));
    assert_slice(b.block[5].text, "{\"type\":7}");
    transcript_blocks_fini(&b);

    /* A string is a text of the first kind, and an object is the only element. */
    row_blocks_put(&b, blocks, SLICE("{\"c\":\"whole\"}"));
    row_blocks_put(&b, blocks, SLICE("{\"c\":{\"type\":\"text\",\"text\":\"one\"}}"));
    row_blocks_put(&b, blocks, SLICE("{\"c\":7}"));
    assert_int_equal(b.n, 2);
    assert_int_equal(b.block[0].kind, BLOCK_TEXT);
    assert_slice(b.block[0].text, "whole");
    assert_slice(b.block[1].text, "one");
    transcript_blocks_fini(&b);
    assert_false(b.arena.failed);
}

TEST(the_texts_of_a_list_of_parts_are_lines)
{
    struct slice row = SLICE("{\"one\":\"a\",\"list\":[{\"type\":\"text\",\"text\":\"b\"},7,"
                             "{\"type\":\"think\",\"think\":\"t\"},{\"text\":\"c\"}],\"n\":3}");
    struct arena a = { 0 };

    assert_slice(row_text(row, "one", NULL, &a), "a");
    assert_slice(row_text(row, "one", "text", &a), "a");
    assert_slice(row_text(row, "one", "think", &a), "");
    assert_slice(row_text(row, "list", NULL, &a), "b\nc");
    assert_slice(row_text(row, "list", "text", &a), "b");
    assert_slice(row_text(row, "list", "think", &a), "t");
    assert_slice(row_text(row, "n", NULL, &a), "");
    assert_slice(row_text(row, "missing", NULL, &a), "");
    arena_fini(&a);
}

#define PROMPT                                                                                     \
    "{\"at\":\"2026-02-09T02:48:28Z\",\"id\":\"1\",\"by\":\"user\",\"text\":\"Mend it\"}\n"
#define CALL                                                                                       \
    "{\"id\":\"2\",\"by\":\"agent\",\"thoughts\":\"A hinge.\",\"text\":\"\",\"calls\":["           \
    "{\"id\":\"c1\",\"tool\":\"write_file\",\"input\":{\"path\":\"gate\"}},{\"tool\":\"look\"}]}"  \
    "\n"
#define RESULT "{\"id\":\"3\",\"by\":\"tool\",\"call\":\"c1\",\"text\":\"error: it is full\"}\n"
#define OTHER "{\"id\":\"4\",\"by\":\"cat\",\"text\":\"purr\"}\n"

TEST(a_row_is_shown_as_its_table_says)
{
    struct opened o;
    struct transcript *t;
    struct buf row = { 0 };
    struct block_list b = { .n = 0 };

    open_tiny(&o, PROMPT CALL OTHER RESULT, NULL);
    assert_int_equal(tiny_ops.load(o.store, &o.ref, NULL, &t, NULL), ERR_OK);
    assert_int_equal(t->n, 3); /* a cat is none of the kinds */
    assert_int_equal(t->message[0].kind, MESSAGE_USER);
    assert_int_equal(t->message[1].kind, MESSAGE_ASSISTANT);
    assert_int_equal(t->message[2].kind, MESSAGE_TOOL);

    assert_int_equal(transcript_read(t, 1, &row, NULL), ERR_OK);
    assert_int_equal(tiny_ops.blocks(o.store, buf_slice(&row), &b, NULL), ERR_OK);
    assert_int_equal(b.n, 3); /* an empty text is not a block */
    assert_int_equal(b.block[0].kind, BLOCK_THINKING);
    assert_slice(b.block[0].text, "A hinge.");
    assert_int_equal(b.block[1].kind, BLOCK_TOOL_CALL);
    assert_slice(b.block[1].call_id, "c1");
    assert_slice(b.block[1].name, "write_file");
    assert_slice(b.block[1].input, "{\"path\":\"gate\"}");
    assert_slice(b.block[2].input, "{}");
    transcript_blocks_fini(&b);

    assert_int_equal(transcript_read(t, 2, &row, NULL), ERR_OK);
    b = (struct block_list){ .n = 0 };
    assert_int_equal(tiny_ops.blocks(o.store, buf_slice(&row), &b, NULL), ERR_OK);
    assert_int_equal(b.n, 1);
    assert_true(b.block[0].failed);
    assert_slice(b.block[0].call_id, "c1");
    transcript_blocks_fini(&b);
    buf_fini(&row);
    transcript_free(t);
    close_tiny(&o);
}

TEST(a_list_shows_the_document_beside_the_log)
{
    struct opened o;
    struct session_row *row;

    open_tiny(&o, PROMPT CALL,
              "{\"title\":\"The gate\",\"directory\":\"/farm\",\"model\":\"small\"}");
    row = describe(&o);
    assert_slice(row->custom_title, "The gate");
    assert_slice(row->cwd, "/farm");
    assert_slice(row->model, "small");
    assert_slice(row->first_prompt, "Mend it");
    assert_false(row->flags & SESSION_INTERRUPTED);
    assert_int_equal(row->can, CAN_RESUME);
    session_row_free(row);
    close_tiny(&o);
}

TEST(a_session_whose_last_message_waits_was_interrupted)
{
    struct opened o;
    struct session_row *row;

    open_tiny(&o, PROMPT CALL RESULT OTHER, NULL);
    row = describe(&o);
    assert_true(row->flags & SESSION_INTERRUPTED);
    assert_int_equal(row->cwd.n, 0);
    session_row_free(row);
    close_tiny(&o);
}

TEST(a_damaged_document_is_none)
{
    struct opened o;
    struct session_row *row;

    open_tiny(&o, PROMPT, "{\"title\":\"The gate\",");
    row = describe(&o);
    assert_int_equal(row->custom_title.n, 0);
    assert_int_equal(row->hidden, HIDDEN_NOT);
    session_row_free(row);
    close_tiny(&o);
}

static enum err_code add_tokens(const struct usage_record *u, void *arg, struct err *e)
{
    int64_t *sum = arg;

    (void)e;
    sum[0] += u->input;
    sum[1] += u->output;
    sum[2]++;
    return ERR_OK;
}

TEST(the_sums_of_a_session_are_one_answer)
{
    int64_t sum[3] = { 0 };
    struct opened o;

    open_tiny(&o, PROMPT, "{\"model\":\"small\",\"tokens\":{\"in\":7,\"out\":3}}");
    assert_int_equal(tiny_ops.usage(o.store, &o.ref, NULL, add_tokens, sum, NULL), ERR_OK);
    assert_int_equal(sum[0], 7);
    assert_int_equal(sum[1], 3);
    assert_int_equal(sum[2], 1);
    close_tiny(&o);
    open_tiny(&o, PROMPT, "{\"tokens\":{\"in\":-7,\"out\":\"3\"}}");
    assert_int_equal(tiny_ops.usage(o.store, &o.ref, NULL, add_tokens, sum, NULL), ERR_OK);
    assert_int_equal(sum[2], 1);
    close_tiny(&o);
}
