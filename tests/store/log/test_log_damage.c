#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "store/log/log_damage.h"
#include "tests/support/folder.h"

static const struct index_keys none = { .type = NULL };
static const char *const begins[] = { "{\"n\":", NULL };
static const struct log_rules plain = { .begins = NULL };
static const struct log_rules skips = { .begins = begins, .skips_broken = true };
static const struct log_rules offsets = { .has_offsets = true };
static const struct log_rules separators = { .splits_at_separators = true };

enum { SAID_MOST = 65536 };

struct place {
    struct folder folder;
    char path[4096];
    char said[SAID_MOST];
};

static enum err_code note(const struct finding *f, void *arg, struct err *e)
{
    struct place *p = arg;
    size_t n = strlen(p->said);

    (void)e;
    snprintf(p->said + n, sizeof p->said - n, "%s@%d%s ", finding_name(f->kind), (int)f->line,
             f->fixable ? "+" : "");
    return ERR_OK;
}

static const char *look(struct place *p, const struct log_rules *rules)
{
    struct logfile log;

    p->said[0] = '\0';
    assert_int_equal(logfile_open(&log, p->path, 0, &none, NULL, NULL), ERR_OK);
    assert_int_equal(log_damage_report(&log, rules, SLICE("s"), note, p, NULL), ERR_OK);
    logfile_close(&log);
    return p->said;
}

/* The log as its repair leaves it. */
static void mend(struct place *p, const struct log_rules *rules, struct slice bytes,
                 struct buf *out)
{
    struct log_repair r = { .offset = 0 };
    struct logfile log;

    assert_int_equal(logfile_open(&log, p->path, 0, &none, NULL, NULL), ERR_OK);
    assert_int_equal(log_repair_read(&log, rules, &r, NULL), ERR_OK);
    logfile_close(&log);
    if (r.repaired == 0)
        r.offset = (int64_t)bytes.n;
    assert_true(slice_eq(buf_slice(&r.old), (struct slice){ bytes.p + r.offset, r.old.n }));
    assert_int_equal((size_t)r.offset + r.old.n, bytes.n);
    assert_int_equal(buf_add(out, (struct slice){ bytes.p, (size_t)r.offset }), ERR_OK);
    assert_int_equal(buf_add(out, buf_slice(&r.bytes)), ERR_OK);
    log_repair_fini(&r);
}

static void expect(const struct log_rules *rules, struct slice bytes, const char *said,
                   struct slice want)
{
    struct place p;
    struct buf out = { 0 };

    folder_make(&p.folder);
    folder_path(&p.folder, "log.jsonl", p.path);
    folder_put(&p.folder, "log.jsonl", bytes);
    assert_string_equal(look(&p, rules), said);
    mend(&p, rules, bytes, &out);
    if (!slice_eq(buf_slice(&out), want))
        print_error("%.*s<- %s\n", SLICE_ARG(buf_slice(&out)), said);
    assert_true(slice_eq(buf_slice(&out), want));
    folder_put(&p.folder, "log.jsonl", want);
    assert_null(strchr(look(&p, rules), '+'));
    buf_fini(&out);
    folder_remove(&p.folder);
}

#define A "{\"n\":1}\n"
#define B "{\"n\":{\"b\":\"two\"}}\n"

TEST(a_sound_log_has_no_damage)
{
    expect(&plain, SLICE(A "\n  \n" B), "", SLICE(A "\n  \n" B));
    expect(NULL, SLICE(""), "", SLICE(""));
    expect(&skips, SLICE(A "{\"x\":{\"n\":2}}\n"), "", SLICE(A "{\"x\":{\"n\":2}}\n"));
}

TEST(a_torn_end_gets_its_newline_or_is_taken_out)
{
    expect(&plain, SLICE(A "{\"n\":2}"), "torn-tail@2+ ", SLICE(A "{\"n\":2}\n"));
    expect(&plain, SLICE(A "{\"n\":2"), "torn-tail@2+ ", SLICE(A));
    expect(&offsets, SLICE(A "{\"n\":2"), "torn-tail@2+ ", SLICE(A));
    expect(&skips, SLICE(A "{\"n\":2"), "torn-tail@2+ ", SLICE(A "{\"n\":2\n"));
    expect(&plain, SLICE(A "\0\0\0\0\0"), "torn-tail@2+ ", SLICE(A));
    expect(&offsets, SLICE(A "\0\0\0\0\0"), "torn-tail@2+ ", SLICE(A));
    expect(&skips, SLICE(A "\0\0\0\0\0"), "torn-tail@2+ ", SLICE(A));
}

TEST(a_row_in_a_torn_end_is_kept)
{
    static const struct log_rules *const all[] = { &plain, &skips };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        expect(all[i], SLICE(A "{\"n\":2}\0\0"), "nul-bytes@2+ ", SLICE(A "{\"n\":2}\n"));
        expect(all[i], SLICE(A "\0\0{\"n\":2}"), "nul-bytes@2+ ", SLICE(A "{\"n\":2}\n"));
        expect(all[i], SLICE(A "\xef\xbb\xbf{\"n\":2}"), "broken-line@2+ ", SLICE(A "{\"n\":2}\n"));
    }
    expect(&plain, SLICE(A "{\"n\":\"cu{\"n\":2}"), "spliced-line@2+ ", SLICE(A "{\"n\":2}\n"));
    expect(&offsets, SLICE(A "{\"n\":2}\0\0"), "nul-bytes@2+ ", SLICE(A "{\"n\":2}  \n"));
    expect(&plain, SLICE(A "{\"n\":\0\0"), "torn-tail@2+ ", SLICE(A));
}

TEST(a_first_row_that_alone_names_the_session_stays)
{
    static const struct log_rules named = { .names = "id" };

    expect(&named, SLICE("{\"id\":\"a\",\"cu\n" A), "broken-line@1 ",
           SLICE("{\"id\":\"a\",\"cu\n" A));
    expect(&named, SLICE("{\"id\":\"a\",\"cu" A), "spliced-line@1 ", SLICE("{\"id\":\"a\",\"cu" A));
    expect(&named, SLICE("{\"id\":\"a\"}" A), "spliced-line@1+ ", SLICE("{\"id\":\"a\"}\n" A));
    expect(&named, SLICE("\0{\"id\":\"a\"}\n" A), "nul-bytes@1+ ", SLICE("{\"id\":\"a\"}\n" A));
    expect(&named, SLICE("no row\n{\"id\":\"a\"}\n"), "broken-line@1+ ", SLICE("{\"id\":\"a\"}\n"));
    expect(&named, SLICE(A "{\"id\":\"cu\n"), "broken-line@2+ ", SLICE(A));
}

TEST(nul_bytes_are_taken_out_wherever_they_are)
{
    expect(&plain, SLICE(A "\0\0\0\n" B), "nul-bytes@2+ ", SLICE(A B));
    expect(&plain, SLICE("\0\0" A B), "nul-bytes@1+ ", SLICE(A B));
    expect(&plain, SLICE("{\"n\":1}\0\0\n" B), "nul-bytes@1+ ", SLICE(A B));
    expect(&plain, SLICE("{\"n\":\"a\0b\"}\n"), "nul-bytes@1+ ", SLICE("{\"n\":\"ab\"}\n"));
    expect(&plain, SLICE("{\"n\":\"a\0\0\n" B), "nul-bytes@1+ ", SLICE(B));
    expect(&offsets, SLICE(A "\0\0\0\n\0\0" B), "nul-bytes@2+ nul-bytes@3+ ", SLICE(A "   \n  " B));
    expect(&skips, SLICE("{\"n\":\"a\0\0\n" B), "nul-bytes@1 ", SLICE("{\"n\":\"a\0\0\n" B));
}

TEST(a_row_behind_a_cut_one_is_kept)
{
    expect(&plain, SLICE(A "{\"n\":\"cu" B A), "spliced-line@2+ ", SLICE(A B A));
    expect(&plain, SLICE("{\"n\":3}" B), "spliced-line@1+ ", SLICE("{\"n\":3}\n" B));
    expect(&offsets, SLICE("{\"n\":\"cu" B), "spliced-line@1+ ", SLICE("        " B));
    expect(&offsets, SLICE("{\"n\":3}" B), "spliced-line@1 ", SLICE("{\"n\":3}" B));
    expect(&skips, SLICE("{\"n\":\"cu" B), "spliced-line@1+ ", SLICE("{\"n\":\"cu\n" B));
    expect(&skips, SLICE("{\"n\":\"cu{\"n\":\"cu\n" A), "spliced-line@1 ",
           SLICE("{\"n\":\"cu{\"n\":\"cu\n" A));
}

TEST(a_split_row_is_joined)
{
    expect(&plain, SLICE(A "{\"n\":\"one\ntwo\n\nfour\"}\n" B), "split-line@2+ ",
           SLICE(A "{\"n\":\"one\\ntwo\\n\\nfour\"}\n" B));
    expect(&plain, SLICE("{\"n\":\n3}\n"), "split-line@1+ ", SLICE("{\"n\":3}\n"));
    expect(&skips, SLICE("{\"n\":\"a\nb \\\"c\\\"\"}\n"), "split-line@1+ ",
           SLICE("{\"n\":\"a\\nb \\\"c\\\"\"}\n"));
    expect(&offsets, SLICE("{\"n\":\"a\nb\"}\n"), "split-line@1 ", SLICE("{\"n\":\"a\nb\"}\n"));
    expect(&separators, SLICE("{\"n\":\"a\xe2\x80\xa8z\xe2\x80\xa9\"}\n"), "split-line@1+ ",
           SLICE("{\"n\":\"a\\u2028z\\u2029\"}\n"));
    expect(&plain, SLICE("{\"n\":\"a\xe2\x80\xa8z\"}\n"), "",
           SLICE("{\"n\":\"a\xe2\x80\xa8z\"}\n"));
}

TEST(other_lines_are_taken_out_unless_they_are_skipped)
{
    expect(&plain, SLICE("\xef\xbb\xbf" A B), "broken-line@1+ ", SLICE(A B));
    expect(&offsets, SLICE("\xef\xbb\xbf" A B), "broken-line@1+ ", SLICE("   " A B));
    expect(&skips, SLICE("\xef\xbb\xbf" A B), "broken-line@1+ ", SLICE(A B));
    expect(&plain, SLICE(A "rubbish\n[1]\n" B), "broken-line@2+ broken-line@3+ ", SLICE(A B));
    expect(&offsets, SLICE(A "{\"n\":\n" B), "broken-line@2+ ", SLICE(A "     \n" B));
    expect(&skips, SLICE(A "rubbish\n" B), "broken-line@2 ", SLICE(A "rubbish\n" B));
}

TEST(all_damages_of_a_log_are_repaired_together)
{
    expect(&plain, SLICE("\xef\xbb\xbf" A "x\n\0\0\n{\"n\":\"a\nb\"}\n" A "{\"n\":\"c" B "{\"n"),
           "broken-line@1+ broken-line@2+ nul-bytes@3+ split-line@4+ spliced-line@7+ torn-tail@8+ ",
           SLICE(A "{\"n\":\"a\\nb\"}\n" A B));
}

TEST(a_log_without_rows_is_no_session)
{
    expect(&skips, SLICE("x\n"), "broken-line@1 no-session@0 ", SLICE("x\n"));
}

/* Each line could be the first of a split row, and each could contain many rows. */
TEST(a_hostile_log_is_scanned_in_bounded_time)
{
    struct place p;
    struct buf bytes = { 0 };

    folder_make(&p.folder);
    folder_path(&p.folder, "log.jsonl", p.path);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(buf_add(&bytes, SLICE("{\"a\":[{\"n\":x{\"n\":y\n")), ERR_OK);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(buf_add(&bytes, SLICE("x{\"n\":")), ERR_OK);
    assert_int_equal(buf_add_byte(&bytes, '\n'), ERR_OK);
    folder_put(&p.folder, "log.jsonl", buf_slice(&bytes));
    look(&p, &plain);
    assert_non_null(strstr(p.said, "broken-line@200+ broken-line@0 no-session@0 "));
    buf_fini(&bytes);
    folder_remove(&p.folder);
}
