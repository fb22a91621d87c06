/* Feeds bytes to what reads texts of others apart from transcripts: patches, commands of shells, keys of a terminal, queries,
 * times, YAML. The first byte chooses. What must hold for every text:
 * - nothing beyond the text is read (the sanitizers watch), and every reader ends;
 * - a patch that fits can be taken back, and gives the text that it was applied to. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/time.h"
#include "store/show/tool_call.h"
#include "store/systems/common/inferred.h"
#include "store/systems/copilot/copilot.h"
#include "tui/app/key.h"
#include "tui/filter/query.h"
#include "tui/term/term.h"
#include "tui/text/human.h"

enum { NOW_MS = 1700000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The text, a NUL, and the diff. */
static void check_patch(struct slice text, struct arena *a)
{
    const char *nul = text.n ? memchr(text.p, '\0', text.n) : NULL;
    struct slice diff = { nul ? nul + 1 : text.p, nul ? (size_t)(text.p + text.n - nul) - 1 : 0 };
    struct slice patched, again;
    bool fits = false;

    text.n = nul ? (size_t)(nul - text.p) : 0;
    must(inferred_patch(text, diff, false, a, &patched, &fits) == ERR_OK);
    if (!fits)
        return;
    must(inferred_patch(patched, diff, true, a, &again, &fits) == ERR_OK && fits);
    must(slice_eq(text, again));
}

static void check_call(struct slice text, struct arena *a)
{
    struct tool_inputs t = { .a = a };

    apply_patch_read(text, &t);
    tool_inputs_read(SLICE("Edit"), text, &t);
    tool_inputs_read(SLICE("apply_patch"), text, &t);
    for (size_t i = 0; i < t.n; i++)
        must(t.edit[i].path != NULL);
}

static void check_command(struct slice text)
{
    static const char dir[] = "/nowhere", path[] = "/nowhere/a.txt";

    if (inferred_only_reads(text))
        must(!inferred_may_change(text, dir, NULL));
    (void)inferred_may_change(text, dir, path);
    (void)inferred_may_remove(text, dir, path);
    (void)inferred_may_replace(text, dir, path);
    (void)inferred_may_chmod(text, dir, path);
    (void)inferred_may_shorten(text, path);
}

/* Reads keys from the bytes, cut into pieces of a size. */
static void read_keys(struct slice text, size_t piece)
{
    struct input in = { .at = 0 };
    struct input_event event;

    for (size_t i = 0; i < text.n; i += piece) {
        input_feed(&in, (struct slice){ text.p + i, text.n - i < piece ? text.n - i : piece });
        while (input_next(&in, NOW_MS, false, &event))
            must(event.kind != INPUT_PASTE || event.paste.n <= text.n);
    }
    while (input_next(&in, NOW_MS + INPUT_PIECES_MS * 10, true, &event))
        must(event.kind != INPUT_PASTE || event.paste.n <= text.n);
    input_fini(&in);
}

static void check_words(struct slice text)
{
    struct query q = { .n = 0 };
    struct key key;
    const char *why;
    int64_t number;

    must(query_parse(&q, text, NOW_MS));
    must(q.n <= QUERY_TERMS && q.words_n <= sizeof q.words && query_content_at(text) <= text.n);
    query_fini(&q);
    (void)key_parse(text, &key, &why);
    (void)time_parse(text, &number);
    (void)human_size_parse(text, &number);
    (void)human_time_parse(text, NOW_MS, &number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct copilot_workspace workspace = { .named = false };

    if (size == 0)
        return 0;

    /* A copy of exactly this length, so that a byte behind it is noticed. */
    char *copy = malloc(size > 1 ? size - 1 : 1);
    const struct slice text = { copy, size - 1 };

    must(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    switch (data[0] % 6) {
    case 0: check_patch(text, &a); break;
    case 1: check_call(text, &a); break;
    case 2: check_command(text); break;
    case 3:
        read_keys(text, 1);
        read_keys(text, text.n + 1);
        break;
    case 4: check_words(text); break;
    default: copilot_workspace_read(text, &a, &workspace);
    }
    arena_fini(&a);
    free(copy);
    return 0;
}
