/* Feeds bytes to the line index and checks what must hold for every file:
 * - the lines tile the bytes: each begins after the newline of the one before;
 * - the index is the same in one piece, through buffers of any size, and after the file grew;
 * - an exact line is what the JSON reader says it is, and a plain pass never reports less;
 * - both engines of the key scan agree.
 * The first two bytes choose the buffer size and the place where the file grew. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "lite/scan/index.h"
#include "lite/scan/index_internal.h"
#include "lite/scan/key_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const kinds[] = { "user", "assistant", NULL };
static const char *const marks[] = { "isMeta", NULL };
static const struct index_keys keys = { .type = "type",
                                        .id = "uuid",
                                        .parent = "parentUuid",
                                        .time = "timestamp",
                                        .kinds = kinds,
                                        .marks = marks };

static void must(bool holds)
{
    if (!holds)
        abort();
}

static struct index in_one_piece(struct slice text, unsigned flags)
{
    struct index ix = { 0 };

    must(index_bytes(&ix, text, 0, &keys, flags, NULL) == ERR_OK);
    return ix;
}

static void check_tiles(const struct index *ix, struct slice text)
{
    int64_t at = 0;
    size_t broken = 0;

    for (size_t i = 0; i < ix->n; i++) {
        bool last = i + 1 == ix->n;

        must(ix->line[i].offset == at);
        at += ix->line[i].length;
        if (!last || !ix->torn_tail)
            must(text.p[at++] == '\n');
        broken += ix->line[i].state == LINE_BROKEN;
    }
    must((size_t)at == text.n && broken == ix->broken);
}

static void check_same(const struct index *a, const struct index *b)
{
    must(a->n == b->n && a->end == b->end && a->torn_tail == b->torn_tail);
    must(a->n == 0 || memcmp(a->line, b->line, a->n * sizeof *a->line) == 0);
}

static void check_states(const struct index *exact, const struct index *plain, struct slice text)
{
    for (size_t i = 0; i < exact->n; i++) {
        const struct index_line *line = &exact->line[i];
        struct slice row = { text.p + line->offset, line->length };

        while (row.n && (unsigned char)*row.p <= ' ')
            row = (struct slice){ row.p + 1, row.n - 1 };
        bool object = json_type(row) == JSON_OBJECT && json_valid_plain(row);

        must((line->state == LINE_OK) == object);
        must(line->state == plain->line[i].state || line->state == LINE_BROKEN);
        if (object)
            must(memcmp(line, &plain->line[i], sizeof *line) == 0);
    }
}

static void check_engines(struct slice text)
{
    struct key_scan_names names = { 0 };
    struct slice rest = text, line;
    bool torn;

    key_scan_names_add(&names, "type");
    while (slice_line(&rest, &line, &torn)) {
        struct key_scan_source source = { .held = line };
        struct key_scan hop, best;

        key_scan_begin(&hop, &names, &source);
        key_scan_begin(&best, &names, &source);
        key_scan_feed_portable(&hop, 0, line);
        key_scan_best()(&best, 0, line);
        must((hop.ended && !hop.broken) == (best.ended && !best.broken));
        if (hop.ended && !hop.broken)
            must(hop.found == best.found && (!hop.found || hop.value[0] == best.value[0]));
    }
}

/* Indexes a file that grows once, with a buffer of `room` bytes. */
static struct index in_two_steps(struct slice text, size_t first, size_t room)
{
    struct file f = { .fd = memfd_create("rows", MFD_CLOEXEC) };
    struct index ix = { 0 };
    struct index_pass pass = { &ix, &f, &keys, 0, NULL, room, 2 * room };

    must(f.fd >= 0 && write(f.fd, text.p, text.n) == (ssize_t)text.n);
    f.id.size = (int64_t)first;
    must(index_pass_run(&pass, NULL) == ERR_OK);
    f.id.size = (int64_t)text.n;
    must(index_pass_run(&pass, NULL) == ERR_OK);
    file_close(&f);
    return ix;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct slice text = { (const char *)data + 2, size - 2 };
    struct index plain = in_one_piece(text, 0), exact = in_one_piece(text, INDEX_VALIDATE);
    struct index steps = in_two_steps(text, text.n * data[1] / 256, 1u + data[0]);

    check_tiles(&plain, text);
    check_same(&plain, &steps);
    check_states(&exact, &plain, text);
    check_engines(text);
    index_fini(&plain);
    index_fini(&exact);
    index_fini(&steps);
    return 0;
}
