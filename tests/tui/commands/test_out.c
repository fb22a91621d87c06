#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "store/api/store.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"

TEST(rows_are_written_in_pieces)
{
    struct out o;
    struct err e;
    char row[1024];
    int fd[2];

    memset(row, 'x', sizeof row);
    assert_int_equal(pipe(fd), 0);
    out_init(&o, fd[1]);
    for (int i = 0; i < OUT_PIECE / 1024 - 1; i++) {
        out_add(&o, (struct slice){ row, sizeof row });
        assert_int_equal(out_row(&o, &e), ERR_OK);
    }
    assert_int_equal(o.buf.n, OUT_PIECE - 1024);
    out_add(&o, (struct slice){ row, sizeof row });
    assert_int_equal(out_row(&o, &e), ERR_OK);
    assert_int_equal(o.buf.n, 0);
    out_fini(&o);
    close(fd[0]);
    close(fd[1]);
}

TEST(long_texts_are_printed_whole)
{
    struct out o;
    char text[4096];

    memset(text, 'y', sizeof text);
    out_init(&o, -1);
    out_addf(&o, "%.*s|", (int)sizeof text, text);
    assert_int_equal(o.buf.n, sizeof text + 1);
    assert_int_equal(o.buf.p[sizeof text], '|');
    out_fini(&o);
}

TEST(a_closed_pipe_is_no_failure)
{
    struct out o;
    struct err e;
    int fd[2];

    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fd), 0);
    close(fd[0]);
    out_init(&o, fd[1]);
    out_add(&o, SLICE("x"));
    assert_int_equal(out_flush(&o, &e), ERR_CANCELLED);
    assert_true(o.closed);
    assert_int_equal(out_flush(&o, &e), ERR_CANCELLED);
    out_fini(&o);
    close(fd[1]);
}

static const char *written(struct slice text, bool raw, char got[256])
{
    struct out o;
    int fd[2];

    assert_int_equal(pipe(fd), 0);
    out_init(&o, fd[1]);
    o.raw = raw;
    out_add(&o, text);
    assert_int_equal(out_flush(&o, NULL), ERR_OK);
    ssize_t n = read(fd[0], got, 255);

    assert_in_range(n, 0, 255);
    got[n] = '\0';
    out_fini(&o);
    close(fd[0]);
    close(fd[1]);
    return got;
}

TEST(control_and_invisible_characters_are_printed_as_json_escapes)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "{\"a\":\"plain, long enough for a block or two of it\"}",
          "{\"a\":\"plain, long enough for a block or two of it\"}" },
        { "caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80 e\xcc\x81",
          "caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80 e\xcc\x81" },
        { "\xc2\x9b"
          "31m|\xc2\x9d"
          "52;c|\xc2\x85|\x7f",
          "\\u009b31m|\\u009d52;c|\\u0085|\\u007f" },
        { "sixteen bytes on.\x7f", "sixteen bytes on.\\u007f" },
        { "\xe2\x80\xae|\xe2\x81\xa6|\xd8\x9c|\xe2\x80\x8e", "\\u202e|\\u2066|\\u061c|\\u200e" },
        { "\xe2\x80\x8b|\xe2\x80\x8d|\xef\xbb\xbf|\xe2\x81\xa0|\xc2\xad",
          "\\u200b|\\u200d|\\ufeff|\\u2060|\\u00ad" },
        { "\xe2\x80\xa8|\xe2\x80\xa9|\xef\xbf\xb9", "\\u2028|\\u2029|\\ufff9" },
        { "t\xf3\xa0\x81\x81t|\xf3\xa0\x84\x80", "t\\udb40\\udc41t|\\udb40\\udd00" },
        { "\33[2mour own\33[0m\n", "\33[2mour own\33[0m\n" },
    };
    char got[256];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(written(slice_of(cases[i].in), false, got), cases[i].out);
}

TEST(the_bytes_of_a_file_are_printed_unchanged)
{
    char got[256];

    assert_string_equal(written(SLICE("\xc2\x9b \x7f \xff \xe2\x80\xae"), true, got),
                        "\xc2\x9b \x7f \xff \xe2\x80\xae");
}

/* An answer of which `pieces` rows are written already, and which then fails in the middle of a row. */
static const char *broken(bool nested, int pieces, char got[256])
{
    struct out o;
    struct err e;
    int fd[2];

    assert_int_equal(pipe(fd), 0);
    out_init(&o, fd[1]);
    o.wants_json = true;
    if (nested) {
        out_open(&o, NULL, '[');
        out_open(&o, NULL, '{');
        out_open(&o, "a", '[');
    }
    for (int i = 0; i < pieces; i++) {
        if (!nested)
            out_json_row(&o);
        out_open(&o, NULL, '{');
        out_close(&o, '}');
        assert_int_equal(out_row(&o, &e), ERR_OK);
        assert_int_equal(i ? ERR_OK : out_flush(&o, &e), ERR_OK);
    }
    if (!nested)
        out_json_row(&o);
    out_open(&o, NULL, '{');
    out_open(&o, "b", '[');
    out_break(&o);
    close(fd[1]);
    ssize_t n = read(fd[0], got, 255);

    assert_in_range(n, 0, 255);
    got[n] = '\0';
    out_fini(&o);
    close(fd[0]);
    return got;
}

TEST(an_answer_that_breaks_off_is_json_or_nothing)
{
    char got[256];

    assert_string_equal(broken(false, 0, got), "");
    assert_string_equal(broken(true, 0, got), "");
    assert_string_equal(broken(false, 1, got), "[{}]\n");
    assert_string_equal(broken(false, 2, got), "[{},\n{}]\n");
    assert_string_equal(broken(true, 2, got), "[{\"a\":[{},{}]}]\n");
}

TEST(a_full_disk_is_a_failure)
{
    struct out o;
    struct err e;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    out_init(&o, fd);
    out_add(&o, SLICE("x"));
    assert_int_equal(out_flush(&o, &e), ERR_IO);
    assert_false(o.closed);
    assert_string_equal(e.path, "standard output");
    out_fini(&o);
    close(fd);
}

TEST(the_first_failure_sticks)
{
    struct out o;
    struct err e = { 0 };
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    out_init(&o, fd);
    out_addf(&o, "a row\n");
    assert_int_equal(out_flush(&o, NULL), ERR_IO);

    out_addf(&o, "another\n");
    out_text(&o, SLICE("text"));
    out_open(&o, NULL, '{');
    out_int(&o, "n", 1);
    out_end(&o, '}');

    assert_int_equal(o.buf.n, 0);
    assert_int_equal(out_row(&o, &e), ERR_IO);
    assert_string_equal(e.path, "standard output");
    out_fini(&o);
    close(fd);
}

TEST(a_json_value_has_its_members_in_order)
{
    static const char *const names[] = { "a", "b\"" };
    struct out o;

    out_init(&o, -1);
    out_open(&o, NULL, '{');
    out_string(&o, "id", "x1");
    out_string(&o, "title", NULL);
    out_member(&o, "tag", SLICE(""));
    out_int(&o, "at", -5);
    out_bool(&o, "undone", false);
    out_bool_if_true(&o, "torn", false);
    out_bool_if_true(&o, "fixed", true);
    out_strings(&o, "names", names, 2);
    out_open(&o, "in", '{');
    out_close(&o, '}');
    out_end(&o, '}');
    assert_string_equal(
        buf_cstr(&o.buf),
        "{\"schemaVersion\":1,\"id\":\"x1\",\"at\":-5,\"undone\":false,\"fixed\":true,"
        "\"names\":[\"a\",\"b\\\"\"],\"in\":{}}\n");
    out_fini(&o);
}

TEST(an_array_that_streams_has_a_row_a_line)
{
    struct out o;

    out_init(&o, -1);
    out_json_rows_end(&o);
    assert_string_equal(buf_cstr(&o.buf), "[]\n");
    out_fini(&o);
    out_init(&o, -1);
    for (int i = 0; i < 2; i++) {
        out_json_row(&o);
        out_open(&o, NULL, '{');
        out_int(&o, "i", i);
        out_close(&o, '}');
    }
    out_json_rows_end(&o);
    assert_string_equal(buf_cstr(&o.buf), "[{\"i\":0},\n{\"i\":1}]\n");
    out_fini(&o);
}

/* Lines that are objects do not begin with the version, nor do the objects of an array. */
TEST(only_one_object_has_the_version)
{
    struct out o;

    out_init(&o, -1);
    o.json_lines = true;
    for (int i = 0; i < 2; i++) {
        out_open(&o, NULL, '{');
        out_int(&o, "i", i);
        out_end(&o, '}');
    }
    assert_string_equal(buf_cstr(&o.buf), "{\"i\":0}\n{\"i\":1}\n");
    out_fini(&o);
    out_init(&o, -1);
    out_open(&o, NULL, '[');
    out_open(&o, NULL, '{');
    out_close(&o, '}');
    out_end(&o, ']');
    assert_string_equal(buf_cstr(&o.buf), "[{}]\n");
    out_fini(&o);
}

TEST(json_that_failed_is_not_written)
{
    struct out o;
    char got[8];
    int fd[2];

    assert_int_equal(pipe(fd), 0);
    out_init(&o, fd[1]);
    o.wants_json = true;
    out_open(&o, NULL, '[');
    o.json.rc = ERR_NOMEM;
    assert_int_equal(out_flush(&o, NULL), ERR_NOMEM);
    close(fd[1]);
    assert_int_equal(read(fd[0], got, sizeof got), 0);
    out_fini(&o);
    close(fd[0]);
}

TEST(text_from_disk_is_cleaned)
{
    struct out o;

    out_init(&o, -1);
    out_text(&o, SLICE("a\x1b]0;x\x07"
                       "b\nc"));
    assert_string_equal(buf_cstr(&o.buf), "a^[]0;x^Gb c");
    out_fini(&o);
}

static const struct store_ops some = { .name = "some" };
static const struct store place = { .ops = &some };

static const struct session_row touched = {
    .ref = { .store = &place, .id = { "0a1b2c3d-0000", 13 }, .file.size = 4096 },
    .summary = { "A \33[31mtitle", 12 },
    .git_branch = { "main", 4 },
    .tag = { "infra", 5 },
    .flags = SESSION_FORK,
    .modified_ms = 10 * 86400000,
    .activity_ms = 9 * 86400000,
};

static const char *line_in(struct out *o, struct session_line_columns look)
{
    look.now_ms = 10 * 86400000;
    look.ids = short_ids_new();
    look.id_columns = 8;
    assert_true(short_ids_add(look.ids, &some, touched.ref.id));
    short_ids_finish(look.ids);
    session_line_columns_fit(&look, &touched.ref);
    session_line_write(&touched, &look, 0, o);
    session_line_columns_close(&look);
    return buf_cstr(&o->buf);
}

static const char *line_of(struct out *o, bool color)
{
    out_init(o, -1);
    o->color = color;
    return line_in(o, (struct session_line_columns){ .width = 0 });
}

TEST(the_age_of_a_touched_file_is_that_of_its_last_message)
{
    struct out o;

    assert_string_equal(
        line_of(&o, false),
        "  1d ago  0a1b2c3d  main               4.0 KB  A ^[[31mtitle  #infra  (fork)\n");
    out_fini(&o);
}

TEST(age_branch_tag_and_state_have_colours_of_their_own)
{
    struct out o;

    assert_string_equal(line_of(&o, true),
                        "\33[2m  1d ago\33[0m  0a1b2c3d  \33[36mmain            \33[0m   4.0 KB  "
                        "A ^[[31mtitle\33[35m  #infra\33[33m  (fork)\33[0m\n");
    out_fini(&o);
}

TEST(a_line_fits_the_terminal_it_is_written_to)
{
    struct out o;

    for (size_t width = 30; width < 130; width++) {
        out_init(&o, -1);
        size_t n = 0;

        for (const char *p = line_in(
                 &o, (struct session_line_columns){ .width = width, .shows_projects = true });
             *p && *p != '\n'; p++)
            n += (*p & 0xc0) != 0x80;
        if (n > width)
            fail_msg("%zu columns in %zu: %s", n, width, o.buf.p);
        out_fini(&o);
    }
}

TEST(an_id_that_needs_more_widens_the_column)
{
    struct session_row twin = touched, some_other = touched;
    struct session_line_columns look = { .ids = short_ids_new(), .id_columns = 8 };
    struct out o;

    some_other.ref.id = SLICE("deadbeef-2000");
    twin.ref.id = SLICE("0a1b2c3d-1000");
    assert_true(short_ids_add(look.ids, &some, touched.ref.id));
    assert_true(short_ids_add(look.ids, &some, twin.ref.id));
    assert_true(short_ids_add(look.ids, &some, some_other.ref.id));
    short_ids_finish(look.ids);
    look.width = 27;
    session_line_columns_fit(&look, &twin.ref);
    /* Not where it would take more than a third of the line. */
    assert_int_equal(look.id_columns, 8);
    look.width = 0;
    session_line_columns_fit(&look, &twin.ref);
    assert_int_equal(look.id_columns, 10);
    session_line_columns_fit(&look, &some_other.ref);
    assert_int_equal(look.id_columns, 10);
    out_init(&o, -1);
    session_line_id(&some_other.ref, &look, &o);
    assert_string_equal(buf_cstr(&o.buf), "deadbeef  ");
    out_fini(&o);
    session_line_columns_close(&look);
}

TEST(beside_a_long_id_the_title_is_shorter)
{
    struct session_row twin = touched;
    struct session_line_columns look = {
        .ids = short_ids_new(),
        .id_columns = 8,
        .shows_projects = true,
        .now_ms = touched.activity_ms,
    };
    struct out o;

    twin.ref.id = SLICE("0a1b2c3d-0000-4000-8000-000000000001");
    twin.summary = SLICE("A title that is so long that it does not fit into any of the terminals "
                         "that are tried here, "
                         "not even into the widest of them, which has as many columns as this");
    assert_true(short_ids_add(look.ids, &some, SLICE("0a1b2c3d-0000-4000-8000-000000000002")));
    assert_true(short_ids_add(look.ids, &some, twin.ref.id));
    short_ids_finish(look.ids);
    session_line_columns_fit(&look, &twin.ref);
    for (look.width = 60; look.width < 140; look.width++) {
        out_init(&o, -1);
        session_line_write(&twin, &look, 0, &o);
        const char *line = buf_cstr(&o.buf), *end = strchr(line, '\n');
        size_t n = 0;

        for (const char *p = line; p < end; p++)
            n += (*p & 0xc0) != 0x80;
        if (n > look.width || !strstr(line, "A titl"))
            fail_msg("%zu columns in %zu: %s", n, look.width, line);
        out_fini(&o);
    }
    session_line_columns_close(&look);
}

TEST(an_id_with_its_kind_in_front_has_room)
{
    struct session_row row = touched;
    struct session_line_columns look = { .ids = short_ids_new(), .id_columns = 8 };

    row.ref.id = SLICE("ses_0a1b2c3d");
    assert_true(short_ids_add(look.ids, &some, row.ref.id));
    assert_true(short_ids_add(look.ids, &some, SLICE("ses_0a1b2d")));
    short_ids_finish(look.ids);
    session_line_columns_fit(&look, &row.ref);
    assert_int_equal(look.id_columns, strlen("ses_0a1b2c"));
    session_line_columns_close(&look);
}

TEST(agents_are_named_where_there_are_several)
{
    const struct store_ops long_name = { .name = "another" };
    struct store other = { .ops = &long_name };
    struct session_row row = touched;
    struct session_line_columns look = { .ids = short_ids_new(), .id_columns = 8 };
    struct out o;

    assert_true(short_ids_add(look.ids, &some, touched.ref.id));
    short_ids_finish(look.ids);
    session_line_columns_fit(&look, &touched.ref);
    session_line_columns_fit(&look, &touched.ref);
    assert_int_equal(look.agent_columns, 0);
    row.ref.store = &other;
    session_line_columns_fit(&look, &row.ref);
    session_line_columns_fit(&look, &touched.ref);
    assert_int_equal(look.agent_columns, strlen("another"));
    out_init(&o, -1);
    session_line_write(&row, &look, 0, &o);
    assert_non_null(strstr(buf_cstr(&o.buf), "  another  "));
    out_fini(&o);
    session_line_columns_close(&look);
}

TEST(the_columns_have_headings)
{
    struct session_line_columns look = { .id_columns = 8, .shows_projects = true };
    struct out o;

    out_init(&o, -1);
    session_line_header(&look, 2, &o);
    assert_string_equal(buf_cstr(&o.buf),
                        "       AGE  ID        PROJECT         BRANCH               SIZE  TITLE\n");
    out_fini(&o);
}

static const char *report(const struct err *e, char line[1024])
{
    int fd[2];

    assert_int_equal(pipe(fd), 0);
    out_report(fd[1], e);
    close(fd[1]);
    ssize_t n = read(fd[0], line, 1023);

    close(fd[0]);
    assert_true(n > 9 && !memcmp(line, "reprise: ", 9) && line[n - 1] == '\n');
    line[n - 1] = '\0';
    return line + 9;
}

TEST(a_failure_is_one_clean_line)
{
    struct err e = { 0 };
    char line[1024];

    errno = EACCES;
    err_sys(&e, "/tmp/a\x1b[31m\nb", "open transcript");
    assert_string_equal(report(&e, line),
                        "cannot open transcript /tmp/a^[[31m b: Permission denied");
}

TEST(a_failure_says_what_could_not_be_done_to_what_and_why)
{
    char line[1024];
    struct err e;

    errno = ENOSPC;
    err_sys(&e, "/a.jsonl", "set the time");
    err_wrap(&e, e.code, "list sessions");
    assert_string_equal(report(&e, line),
                        "cannot set the time (/a.jsonl): No space left on device");
    err_wrap(&e, e.code, "a copy remains");
    err_wrap(&e, e.code, "row 3");
    assert_string_equal(
        report(&e, line),
        "cannot set the time (/a.jsonl): No space left on device (row 3; a copy remains)");

    err_set(&e, ERR_NOT_FOUND, "zz", "restore: not in the trash");
    assert_string_equal(report(&e, line), "cannot restore zz: not in the trash");
    err_set(&e, ERR_STALE, "", "nothing left to undo");
    err_wrap(&e, e.code, "undo");
    assert_string_equal(report(&e, line), "cannot undo: nothing left to undo");
    err_set(&e, ERR_STALE, "/a", "it was replaced");
    err_wrap(&e, e.code, "an empty record remains");
    assert_string_equal(report(&e, line), "it was replaced: an empty record remains: /a");
    err_set(&e, ERR_FORMAT, "/config:2", "theme = x: expected auto");
    e.context = 0;
    assert_string_equal(report(&e, line), "/config:2: theme = x: expected auto");
    err_set(&e, ERR_NOT_FOUND, "", "no session matches \"zz: z\"");
    assert_string_equal(report(&e, line), "no session matches \"zz: z\"");
}

TEST(what_was_typed_wrong_is_the_subject_of_the_sentence)
{
    char line[1024];
    struct err e;

    err_set(&e, ERR_USAGE, "--by", "must be day or model");
    assert_string_equal(report(&e, line), "--by must be day or model");
    err_set(&e, ERR_USAGE, "--apply", "sweep: not together with --dry-run");
    assert_string_equal(report(&e, line), "--apply: not together with --dry-run");
    err_set(&e, ERR_USAGE, "4b7e", "set: no such setting");
    assert_string_equal(report(&e, line), "cannot set 4b7e: no such setting");
    err_set(&e, ERR_USAGE, "usage", "reprise info ID; see help");
    assert_string_equal(report(&e, line), "usage: reprise info ID; see help");
}
