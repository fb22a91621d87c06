#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/library/library_host.h"

/* Sessions as documents, and what the doctor finds. */

struct document {
    char text[16 << 10];
    size_t n, calls, most; /* most: the call that ends the export; 0: none */
};

static int add_piece(const char *bytes, size_t length, void *arg)
{
    struct document *d = arg;

    assert_true(d->n + length < sizeof d->text);
    memcpy(d->text + d->n, bytes, length);
    d->text[d->n += length] = '\0';
    return ++d->calls == d->most;
}

static struct reprise_session *talk(struct reprise *r)
{
    static const char rows[] =
        MAIN_ROW("user", ID(1), "null", "pay *now* AKIAIOSFODNN7EXAMPLQ \\u001b]0;x\\u0007")
            MAIN_ROW("assistant", ID(2), "\"" ID(1) "\"", "paid with it");
    struct reprise_session *s = create(r, SID);

    assert_int_equal(reprise_append(s, rows, strlen(rows), 0, NULL, NULL), REPRISE_OK);
    return s;
}

IN_SCRATCH(a_session_is_written_in_four_formats)
{
    static const struct {
        int32_t format;
        const char *has;
    } wanted[] = { { REPRISE_FORMAT_MARKDOWN, "pay \\*now\\*" },
                   { REPRISE_FORMAT_HTML, "<!DOCTYPE html>" },
                   { REPRISE_FORMAT_TEXT, "pay *now*" },
                   { REPRISE_FORMAT_JSONL, "\\u001b]0;x" } };
    struct reprise *r = open_store(state, "claude", "c");
    struct reprise_session *s = talk(r);

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct reprise_export_request q = { .size = sizeof q, .format = wanted[i].format };
        struct reprise_export_result done = { .size = sizeof done };
        struct document d = { .n = 0 };

        assert_int_equal(reprise_export(s, &q, add_piece, &d, &done, NULL), REPRISE_OK);
        assert_non_null(strstr(d.text, wanted[i].has));
        assert_null(strchr(d.text, '\033'));
        assert_int_equal(done.bytes, d.n);
        assert_int_equal(done.secrets, 0);
    }
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(an_export_is_a_part_without_secrets_if_asked_for)
{
    const struct reprise_export_request q = { .size = sizeof q,
                                              .to = ID(1),
                                              .flags = REPRISE_EXPORT_REDACT };
    const struct reprise_export_request bad[] = {
        { .size = sizeof q, .format = 4 },
        { .size = sizeof q, .format = -1 },
        { .size = sizeof q, .tools = 3 },
        { .size = sizeof q, .flags = 1 << 4 },
        { .size = 0 },
    };
    const struct reprise_export_request nowhere = { .size = sizeof q, .from = ID(9) };
    struct reprise *r = open_store(state, "claude", "c");
    struct reprise_session *s = talk(r);
    struct reprise_export_result done = { .size = sizeof done };
    struct document d = { .n = 0 }, end = { .most = 1 };

    assert_int_equal(reprise_export(s, &q, add_piece, &d, &done, NULL), REPRISE_OK);
    assert_null(strstr(d.text, "paid with"));
    assert_non_null(strstr(d.text, "pay"));
    assert_null(strstr(d.text, "AKIA"));
    assert_int_equal(done.secrets, 2); /* in the title, too */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(reprise_export(s, &bad[i], add_piece, &d, NULL, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_export(s, &nowhere, add_piece, &d, NULL, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_export(s, NULL, add_piece, &end, NULL, NULL), REPRISE_CANCELLED);
    assert_int_equal(end.calls, 1);
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(an_existing_file_is_replaced_if_asked_for)
{
    const struct reprise_export_request over = { .size = sizeof over,
                                                 .flags = REPRISE_EXPORT_REPLACE };
    struct reprise *r = open_store(state, "claude", "c");
    struct reprise_session *s = talk(r);
    struct reprise_export_result done = { .size = sizeof done };
    const char *file = scratch_path(state, "talk.md");
    struct stat sb;

    assert_int_equal(reprise_export_file(s, NULL, file, &done, NULL), REPRISE_OK);
    assert_int_equal(stat(file, &sb), 0);
    assert_int_equal(sb.st_size, done.bytes);
    assert_int_equal(reprise_export_file(s, NULL, file, NULL, NULL), REPRISE_STALE);
    assert_int_equal(reprise_export_file(s, &over, file, NULL, NULL), REPRISE_OK);
    assert_int_equal(reprise_export_file(s, &over, reprise_session_path(s), NULL, NULL),
                     REPRISE_UNSAFE);
    assert_int_equal(reprise_export_file(s, NULL, NULL, NULL, NULL), REPRISE_USAGE);
    reprise_session_close(s);
    reprise_close(r);
}

/* ---- the doctor ---- */

struct findings {
    size_t torn, others, fixed;
    int end; /* what the function returns */
};

static int add_finding(const struct reprise_finding *f, void *arg)
{
    struct findings *x = arg;

    assert_int_equal(f->size, sizeof *f);
    if (strcmp(f->kind, "torn-tail") == 0) {
        assert_string_equal(f->session, SID);
        assert_true(f->line > 2 && f->offset > 0);
        assert_true(f->flags & REPRISE_FINDING_FIXABLE);
        x->torn++;
    } else {
        x->others++;
    }
    x->fixed += (f->flags & REPRISE_FINDING_FIXED) != 0;
    return x->end;
}

static void tear(const struct reprise_session *s)
{
    FILE *f = fopen(reprise_session_path(s), "a");

    assert_non_null(f);
    fputs("{\"type\":\"user\",\"uu", f);
    assert_int_equal(fclose(f), 0);
}

IN_SCRATCH(a_torn_line_is_found_and_repaired_and_that_is_undone)
{
    NEEDS("leases"); /* without them a torn line is not repaired */
    struct reprise *r = open_store(state, "claude", "c");
    struct reprise_session *s = talk(r);
    struct findings x = { 0 }, fix = { 0 }, all = { 0 }, again = { 0 }, end = { .end = 1 };

    tear(s);
    assert_int_equal(reprise_session_doctor(s, 0, add_finding, &x, NULL), REPRISE_OK);
    assert_int_equal(x.torn, 1);
    assert_int_equal(x.fixed, 0);
    assert_int_equal(reprise_doctor(r, 0, add_finding, &all, NULL), REPRISE_OK);
    assert_int_equal(all.torn, 1);
    assert_int_equal(reprise_doctor(r, 0, add_finding, &end, NULL), REPRISE_CANCELLED);
    assert_int_equal(reprise_doctor(r, 1 << 1, add_finding, &end, NULL), REPRISE_USAGE);
    assert_int_equal(reprise_session_doctor(s, REPRISE_DOCTOR_FIX, add_finding, &fix, NULL),
                     REPRISE_OK);
    assert_int_equal(fix.fixed, 1);
    assert_int_equal(reprise_session_doctor(s, 0, add_finding, &again, NULL), REPRISE_OK);
    assert_int_equal(again.torn, 0);
    assert_int_equal(reprise_undo(r, NULL, NULL, NULL), REPRISE_OK);
    assert_int_equal(reprise_session_doctor(s, 0, add_finding, &again, NULL), REPRISE_OK);
    assert_int_equal(again.torn, 1);
    reprise_session_close(s);
    reprise_close(r);
}
