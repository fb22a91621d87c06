#include "tests/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/store.h"
#include "store/systems/claude/claude.h"
#include "tui/data/search_hits.h"
#include "tui/jobs/jobs.h"

static void assert_found(struct slice text, struct slice needle, size_t where, size_t length)
{
    size_t at = 0, n = 0;

    assert_true(search_text(text, needle, &at, &n));
    assert_int_equal(at, where);
    assert_int_equal(n, length);
}

TEST(small_letters_find_both)
{
    assert_found(SLICE("a Payment"), SLICE("payment"), 2, 7);
    assert_found(SLICE("xx PAY pay"), SLICE("pay"), 3, 3);
    assert_found(SLICE("\u00C9t\u00E9"), SLICE("\u00E9t\u00E9"), 0, 5);
    assert_found(SLICE("ppPpPa"), SLICE("ppa"), 3, 3);
}

TEST(a_capital_letter_is_matched_exactly)
{
    size_t at, n;

    assert_false(search_text(SLICE("payment"), SLICE("Pay"), &at, &n));
    assert_found(SLICE("pay Pay"), SLICE("Pay"), 4, 3);
}

TEST(any_word_of_a_needle_is_found)
{
    const struct slice needle = SLICE("Retry\0back off\0\u00E9t");
    char text[3000];
    size_t at, n;

    assert_found(SLICE("no retry, BACK OFF"), needle, 10, 8);
    assert_found(SLICE("\u00C9t Retry"), needle, 0, 3);
    assert_false(search_text(SLICE("retry, back"), needle, &at, &n));
    assert_found(SLICE("a retrying"), SLICE("retry\0retrying\0try"), 2, 8);
    assert_int_equal(search_count(SLICE("retry try Retry"), SLICE("retry\0try")), 3);
    for (size_t before = 0; before < sizeof text - 16; before += 7) { /* across the stretches */
        memset(text, '.', sizeof text);
        memcpy(text + before, "BACK OFF", 8);
        assert_found((struct slice){ text, sizeof text }, needle, before, 8);
    }
}

TEST(an_empty_needle_is_not_found)
{
    size_t at, n;

    assert_false(search_text(SLICE("abc"), SLICE(""), &at, &n));
    assert_false(search_text(SLICE(""), SLICE("a"), &at, &n));
    assert_false(search_text(SLICE("abc"), SLICE("abcd"), &at, &n));
    assert_false(search_text(SLICE("\xff\xfe"), SLICE("\u00e9"), &at, &n));
}

TEST(occurrences_are_counted_side_by_side)
{
    assert_int_equal(search_count(SLICE("aaaa"), SLICE("aa")), 2);
    assert_int_equal(search_count(SLICE("a b A"), SLICE("a")), 2);
    assert_int_equal(search_count(SLICE("abc"), SLICE("x")), 0);
}

/* ---- a conversation on disk ---- */

static const char rows[] =
    "{\"type\":\"user\",\"message\":{\"content\":\"Where is the needle?\"}}\n"
    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"no\"},"
    "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":\"grep needle "
    "needle\"}}]}}\n"
    "{\"type\":\"user\",\"message\":{\"content\":\"n\\u0065edle\"}}\n";

struct found {
    struct search_hit hit[8];
    size_t n;
    bool done;
};

static void take(struct search_hits *list, void *arg)
{
    struct found *f = arg;

    for (size_t i = 0; i < list->n; i++)
        f->hit[f->n++] = list->hit[i];
    f->done = list->done;
    search_hits_free(list);
}

static struct transcript *three_rows(const char *path)
{
    struct transcript *t = calloc(1, sizeof *t);
    struct stat st;
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_non_null(t);
    assert_int_equal(fwrite(rows, 1, sizeof rows - 1, f), sizeof rows - 1);
    fclose(f);
    assert_int_equal(stat(path, &st), 0);
    t->message = calloc(3, sizeof *t->message);
    assert_non_null(t->message);
    t->path = strdup(path);
    t->n = 3;
    t->size = st.st_size;
    t->id = (struct file_id){ .dev = st.st_dev, .ino = st.st_ino, .size = st.st_size };
    for (size_t i = 0, at = 0; i < 3; i++) {
        size_t n = (size_t)(strchr(rows + at, '\n') - (rows + at));

        t->message[i] = (struct message){ .offset = (int64_t)at, .length = (uint32_t)n };
        at += n + 1;
    }
    return t;
}

TEST(every_block_that_holds_the_needle_is_found)
{
    char path[] = "/tmp/search-XXXXXX";
    int fd = mkstemp(path);
    struct store store = { .ops = &claude_ops };
    struct found found = { .n = 0 };

    assert_true(fd >= 0);
    close(fd);
    struct conversation *c = conversation_new(&store, three_rows(path));

    assert_non_null(c);
    assert_int_equal(jobs_search_transcript(c, SLICE("needle"), NULL, take, &found, NULL), ERR_OK);
    assert_true(found.done);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.hit[0].message, 0);
    assert_int_equal(found.hit[1].message, 1);
    assert_int_equal(found.hit[1].block, 1);
    assert_int_equal(found.hit[1].count, 2);
    assert_int_equal(found.hit[2].message, 2); /* spelled with an escape in the file */

    atomic_bool stop = true;

    assert_int_equal(jobs_search_transcript(c, SLICE("needle"), &stop, take, &found, NULL),
                     ERR_CANCELLED);
    conversation_free(c);
    unlink(path);
}
