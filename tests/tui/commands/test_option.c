#include "tests/test.h"

#include "tui/commands/command.h"
#include "tui/text/nearest.h"

enum { WORDS = 12 };

/* The result of parsing a line: the options, the code, the error, and the operands. */
struct result {
    char *argv[WORDS + 2];
    int argc, first;
    struct options o;
    struct err e;
    enum err_code rc;
};

static void read_words(struct result *r, option_bits allowed, bool stop_early,
                       const char *const words[])
{
    memset(r, 0, sizeof *r);
    r->argv[r->argc++] = (char *)(uintptr_t) "reprise";
    for (size_t i = 0; words[i]; i++)
        r->argv[r->argc++] = (char *)(uintptr_t)words[i];
    r->rc = options_read(r->argc, r->argv, allowed, stop_early, &r->o, &r->first, &r->e);
}

#define READ(r, allowed, ...)                                                                      \
    read_words(r, allowed, false, (const char *const[]){ __VA_ARGS__, NULL })

TEST(options_may_be_anywhere)
{
    struct result r;

    READ(&r, OPTION_GLOBALS | OPTION_BIT(LIMIT), "5e55", "--limit", "7", "-C", "/x", "--json");
    assert_int_equal(r.rc, ERR_OK);
    assert_int_equal(r.o.limit, 7);
    assert_string_equal(r.o.directory, "/x");
    assert_true(option_given(&r.o, OPTION_JSON));
    assert_int_equal(r.argc - r.first, 1);
    assert_string_equal(r.argv[r.first], "5e55");
}

TEST(two_dashes_end_the_options)
{
    struct result r;

    READ(&r, OPTION_GLOBALS, "--json", "--", "--all", "-x");
    assert_int_equal(r.rc, ERR_OK);
    assert_false(option_given(&r.o, OPTION_ALL));
    assert_int_equal(r.argc - r.first, 2);
    assert_string_equal(r.argv[r.first], "--all");
}

TEST(resume_takes_an_id_or_none)
{
    uint64_t picker = OPTION_GLOBALS | OPTION_BIT(RESUME) | OPTION_BIT(PRINT);
    struct result r;

    READ(&r, picker, "--resume", "5e55", "--print");
    assert_string_equal(r.o.resume, "5e55");
    assert_true(option_given(&r.o, OPTION_PRINT));
    READ(&r, picker, "--resume=5e55");
    assert_string_equal(r.o.resume, "5e55");
    READ(&r, picker, "--resume", "--print");
    assert_null(r.o.resume);
    assert_true(option_given(&r.o, OPTION_RESUME));
    assert_true(option_given(&r.o, OPTION_PRINT));
}

TEST(store_options_accumulate)
{
    struct result r;

    READ(&r, OPTION_GLOBALS, "--store", "claude:/a", "--store=claude:/b");
    assert_int_equal(r.o.stores, 2);
    assert_string_equal(r.o.store[1], "claude:/b");
}

TEST(choices_become_their_index)
{
    struct result r;

    READ(&r, OPTION_GLOBALS | OPTION_BIT(SORT), "--sort=size", "--color", "never");
    assert_int_equal(r.rc, ERR_OK);
    assert_int_equal(r.o.sort, 2);
    assert_int_equal(r.o.color, COLOR_NEVER);
}

static void assert_refused(const char *word, const char *second, const char *named)
{
    struct result r;
    char line[300];

    READ(&r, OPTION_GLOBALS | OPTION_BIT(LIMIT) | OPTION_BIT(SORT), word, second);
    assert_int_equal(r.rc, ERR_USAGE);
    err_format(&r.e, line, sizeof line);
    assert_non_null(strstr(line, named));
}

TEST(errors_name_the_offending_word)
{
    assert_refused("--nonesuch", NULL, "--nonesuch");
    assert_refused("-Z", NULL, "-Z");
    assert_refused("--limit", NULL, "--limit");
    assert_refused("--limit", "many", "--limit");
    assert_refused("--limit", "-1", "--limit");
    assert_refused("--limit", "99999999999999999999", "--limit");
    assert_refused("--limit=", NULL, "--limit");
    assert_refused("--sort=size,title", NULL, "--sort");
    assert_refused("--sort=", NULL, "--sort");
    assert_refused("--json=yes", NULL, "--json");
    assert_refused("--print", NULL, "--print");
    assert_refused("-C", NULL, "-C");
}

TEST(reading_may_stop_at_the_command)
{
    struct result r;

    read_words(&r, OPTION_GLOBALS, true, (const char *const[]){ "--all", "list", "--json", NULL });
    assert_int_equal(r.rc, ERR_OK);
    assert_string_equal(r.argv[r.first], "list");
    assert_false(option_given(&r.o, OPTION_JSON));
}

TEST(no_two_options_share_a_bit)
{
    struct result r;

    READ(&r, OPTION_GLOBALS | OPTION_BIT(ORPHANS), "--orphans");
    assert_int_equal(r.rc, ERR_OK);
    assert_true(OPTION_ORPHANS >= 64);
    assert_true(option_given(&r.o, OPTION_ORPHANS));
    assert_true(r.o.given == OPTION_BIT(ORPHANS));
}

TEST(every_option_has_its_help)
{
    struct out out;
    struct slice rest, line;
    size_t options = 0;
    bool torn;

    out_init(&out, -1);
    options_help("Options", NULL, ((option_bits)1 << OPTION_COUNT) - 1, &out);
    rest = buf_slice(&out.buf);
    while (slice_line(&rest, &line, &torn)) {
        assert_in_range(line.n, 0, 80);
        options += line.n > 6 && (line.p[2] == '-' || (line.p[2] == ' ' && line.p[6] == '-'));
    }
    assert_int_equal(options, OPTION_COUNT);
    assert_non_null(strstr(buf_cstr(&out.buf), "\n  -n, --limit=N               at most N"));
    assert_non_null(
        strstr(buf_cstr(&out.buf),
               "\n      --sort=recent|created|size|title|modified\n"
               "                              sort order; modified: by the file's time, or the\n"));
    out_fini(&out);
}

TEST(an_option_can_mean_something_else_to_a_command)
{
    assert_string_equal(option_about(OPTION_BEFORE, "list").arg, "WHEN");
    assert_string_equal(option_about(OPTION_BEFORE, "messages").arg, "MSG");
    assert_string_equal(option_about(OPTION_BEFORE, NULL).help, "last active before WHEN");
}

TEST(distances_count_single_mistakes)
{
    assert_int_equal(nearest_distance("list", "list"), 0);
    assert_int_equal(nearest_distance("lsit", "list"), 1);
    assert_int_equal(nearest_distance("lst", "list"), 1);
    assert_int_equal(nearest_distance("listt", "list"), 1);
    assert_int_equal(nearest_distance("mesages", "messages"), 1);
    assert_int_equal(nearest_distance("", "info"), 4);
    assert_int_equal(nearest_distance("info", ""), 4);
}

TEST(an_overlong_word_is_cut)
{
    char word[200];

    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_int_equal(nearest_distance(word, "list"), NEAREST_WORD);
}
