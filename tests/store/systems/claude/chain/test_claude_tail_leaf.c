#include "tests/test.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "tests/support/scratch.h"

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Adds a row of up to 40 kB that follows the newest or an older one; some name a leaf, some are one of several calls of
 * a response or the result of one. */
static void add_random_row(struct buf *out, uint32_t *seed, int i)
{
    uint32_t kind = next_random(seed) % 12, older = i ? next_random(seed) % (uint32_t)i : 0;
    size_t fill = next_random(seed) % 4 ? 100 : next_random(seed) % 40000;

    if (i && kind == 0)
        assert_int_equal(buf_addf(out, "{\"type\":\"last-prompt\",\"leafUuid\":\"r%d\"}\n", i - 1),
                         ERR_OK);
    if (i && kind == 1)
        assert_int_equal(
            buf_addf(out, "{\"type\":\"last-prompt\",\"leafUuid\":\"r%u\",\"explicit\":true}\n",
                     older),
            ERR_OK);
    if (i && kind == 2)
        assert_int_equal(buf_addf(out, "{\"type\":\"last-prompt\",\"leafUuid\":\"gone\"}\n"),
                         ERR_OK);
    if (kind >= 8) { /* of a call and its result, another row may follow either */
        const char *form =
            kind % 2 ? "{\"type\":\"assistant\",\"message\":{\"id\":\"m%d\",\"content\":["
                       "{\"type\":\"tool_use\",\"id\":\"t%d\"}]},"
                     : "{\"type\":\"user\",\"message\":{\"id\":\"m%d\",\"content\":[{\"type\":"
                       "\"tool_result\",\"tool_use_id\":\"t%d\"}]},";

        assert_int_equal(buf_addf(out, form, i / 6, kind % 2 ? i : i - 1 - (int)(older % 2)),
                         ERR_OK);
    } else {
        assert_int_equal(buf_add(out, SLICE("{\"type\":\"user\",")), ERR_OK);
    }
    assert_int_equal(buf_addf(out, "\"uuid\":\"r%d\",\"parentUuid\":\"r%d\",\"x\":\"", i,
                              kind == 3            ? (int)older
                              : kind >= 8 && i > 1 ? i - 1 - (int)(older % 2)
                                                   : i - 1),
                     ERR_OK);
    for (size_t k = 0; k < fill; k++)
        assert_int_equal(buf_add_byte(out, 'x'), ERR_OK);
    assert_int_equal(buf_add(out, SLICE("\"}\n")), ERR_OK);
}

IN_SCRATCH(the_tail_of_a_long_file_gives_the_same_leaf)
{
    struct folder *f = *state;
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    uint32_t seed = 7;

    for (int round = 0; round < 60; round++) {
        struct buf text = { 0 };
        struct arena a = { 0 };
        struct claude_resume_point point;
        struct claude_log log;
        struct slice row, id = { NULL, 0 };
        uint32_t leaf;
        bool cleared;

        for (int i = 0; i < 40 + round * 2; i++)
            add_random_row(&text, &seed, i);
        folder_put(f, "long.jsonl", buf_slice(&text));
        char path[4096];

        folder_path(f, "long.jsonl", path);
        assert_int_equal(claude_resume_point_of(path, &a, &point, NULL), ERR_OK);
        assert_int_equal(claude_log_open(&log, path, &want, NULL), ERR_OK);
        assert_int_equal(claude_resume_leaf(&log, &leaf, &cleared, NULL), ERR_OK);
        assert_int_equal(claude_log_row(&log, log.chain.node[leaf].line, &row, NULL), ERR_OK);
        assert_true(json_get_text(row, "uuid", &a, &id));
        assert_true(slice_eq(point.leaf, id));
        claude_log_close(&log);
        arena_fini(&a);
        buf_fini(&text);
    }
}
