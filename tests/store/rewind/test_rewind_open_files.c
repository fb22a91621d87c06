#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/log/lease.h"
#include "store/rewind/record/record.h"
#include "support/faults/syscall_hook.h"
#include "support/rewind/rewind_case.h"

/* A program has a file open for writing while it is rewound and continues to write: its late writes are found again. */

struct writer {
    struct rewind_case *p;
    int fd;
};

/* A file system without leases does not show who writes; late writes are found again all the same. */
static bool has_leases(struct rewind_case *p)
{
    char path[4096];

    folder_put(&p->folder, "probe", SLICE(""));
    int fd = open(folder_path(&p->folder, "probe", path), O_RDONLY);
    bool has = lease_writer(fd) == LEASE_NO_WRITER;

    close(fd);
    return has;
}

static struct writer begin(struct rewind_case *p)
{
    struct writer w = { .p = p, .fd = open(p->f, O_WRONLY | O_APPEND) };

    assert_true(w.fd >= 0);
    return w;
}

static void say(const struct writer *w, const char *text)
{
    assert_int_equal(write(w->fd, text, strlen(text)), (ssize_t)strlen(text));
}

static bool shows(struct rewind_case *p, const char *text)
{
    struct rewind_records records;
    struct rewind_backup_list list;
    struct span bytes;
    char got[200];

    assert_int_equal(rewind_records_read(&p->env, &records, NULL), ERR_OK);
    assert_int_equal(rewind_backup_read(&p->env, records.record[0].id, &list, NULL), ERR_OK);
    assert_int_equal(rewind_backup_open(&list.file[0], &bytes, NULL), ERR_OK);
    bool same =
        bytes.n == (int64_t)strlen(text) && list.file[0].written && list.file[0].now == bytes.n;

    assert_int_equal(span_read(&bytes, 0, got, (size_t)bytes.n, NULL), ERR_OK);
    same = same && memcmp(got, text, strlen(text)) == 0;
    span_close(&bytes);
    rewind_backup_fini(&list);
    rewind_records_fini(&records);
    return same;
}

static bool has_one_name(const struct rewind_case *p)
{
    struct stat st;

    return stat(p->f, &st) == 0 && st.st_nlink == 1;
}

static void comes_back(struct rewind_case *p, const struct writer *w)
{
    assert_int_equal(undo(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\nlater\n"));
    say(w, "and on\n"); /* the restored file is the one that the program has open */
    assert_true(folder_is(&p->folder, "ws/d/f", "present\nlater\nand on\n"));
    assert_true(has_one_name(p));
}

static void rewound(struct rewind_case *p, const char *text)
{
    want(p, p->f, text);
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(p->preview.entry[0].held_open, has_leases(p));
    assert_int_equal(apply(p), ERR_OK);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(late_writes_to_a_replaced_file_are_shown_and_restored)
{
    struct writer w = begin(*state);

    rewound(w.p, "old\n");
    say(&w, "later\n");
    assert_true(folder_is(&w.p->folder, "ws/d/f", "old\n"));
    assert_true(shows(w.p, "present\nlater\n"));
    comes_back(w.p, &w);
    assert_int_equal(w.p->plan.notes, 1);
    assert_non_null(strstr(w.p->plan.note[0], "6 bytes were written"));
    close(w.fd);
}

CASE(late_writes_to_a_deleted_file_are_restored)
{
    struct writer w = begin(*state);

    rewound(w.p, NULL);
    say(&w, "later\n");
    assert_false(folder_has(&w.p->folder, "ws/d/f"));
    comes_back(w.p, &w);
    close(w.fd);
}

CASE(an_undone_rewind_can_be_redone_and_undone)
{
    struct writer w = begin(*state);

    rewound(w.p, "old\n");
    say(&w, "later\n");
    comes_back(w.p, &w);
    for (int i = 0; i < 2; i++) {
        struct rewind_records list;

        assert_int_equal(rewind_records_read(&w.p->env, &list, NULL), ERR_OK);
        forget(w.p);
        assert_int_equal(rewind_undo_plan(&w.p->env, list.record[0].id, &w.p->plan, NULL), ERR_OK);
        rewind_records_fini(&list);
        assert_int_equal(look(w.p), ERR_OK);
        assert_int_equal(apply(w.p), ERR_OK);
        assert_true(folder_is(&w.p->folder, "ws/d/f", i ? "present\nlater\nand on\n" : "old\n"));
        assert_true(has_one_name(w.p));
    }
    close(w.fd);
}

CASE(a_file_without_writers_is_restored_from_its_copy)
{
    struct rewind_case *p = *state;

    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_false(p->preview.entry[0].held_open);
    assert_int_equal(apply(p), ERR_OK);
    assert_int_equal(undo(p), ERR_OK);
    if (has_leases(p))
        assert_null(p->plan.target[0].adopts);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_true(has_one_name(p));
}

CASE(without_hard_links_a_copy_is_restored)
{
    struct writer w = begin(*state);

    rewound(w.p, "old\n");
    say(&w, "later\n");
    syscall_hook_arm(&(struct syscall_hook){ .call = "linkat", .name = "0.live", .error = EPERM });
    assert_int_equal(undo(w.p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_true(folder_is(&w.p->folder, "ws/d/f", "present\nlater\n"));
    assert_true(has_one_name(w.p));
    close(w.fd);
}

/* Exchanges that try the file system before the decision: there and back, if it can. */
#ifdef REPRISE_PORTABLE
enum { PROBES = 1 };
#else
enum { PROBES = 2 };
#endif

/* Fails each rename after the decision, and the removal of the second name. */
TEST(an_interrupted_undo_is_finished_with_late_writes)
{
    static const struct syscall_hook calls[] = {
        { .call = "renameat2", .nth = PROBES + 1, .error = EIO },
        { .call = "renameat", .name = KEPT("0"), .error = EIO },
        { .call = "unlink", .name = "0.live", .error = EIO },
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *place;
        size_t recovered;

        set_up(&place);
        struct writer w = begin(place);

        rewound(w.p, "old\n");
        say(&w, "later\n");
        syscall_hook_arm(&calls[i]);
        assert_int_equal(undo(w.p), ERR_IO);
        assert_true(syscall_hook_fired());
        say(&w, "between\n");
        assert_int_equal(rewind_recover(&w.p->env, &recovered, NULL), ERR_OK);
        assert_int_equal(recovered, 1);
        say(&w, "after\n");
        assert_true(folder_is(&w.p->folder, "ws/d/f", "present\nlater\nbetween\nafter\n"));
        assert_true(has_one_name(w.p));
        close(w.fd);
        tear_down(&place);
    }
}

/* No decision was made: the file is in the record, and only there. */
CASE(a_dropped_undo_leaves_the_file_in_the_record)
{
    struct writer w = begin(*state);

    rewound(w.p, "old\n");
    say(&w, "later\n");
    syscall_hook_arm(&(struct syscall_hook){ .call = "renameat2", .nth = 1, .error = EIO });
    assert_int_equal(undo(w.p), ERR_IO);
    assert_true(syscall_hook_fired());
    assert_true(folder_is(&w.p->folder, "ws/d/f", "old\n"));
    assert_true(shows(w.p, "present\nlater\n"));
    comes_back(w.p, &w);
    close(w.fd);
}

CASE(a_record_on_another_file_system_refuses_open_files)
{
    struct writer w = begin(*state);

    if (!has_leases(w.p))
        skip();
    want(w.p, w.p->f, "old\n");
    w.p->plan.record_at = (struct beneath_at){ .mount = 1, .dev = 1 };
    assert_int_equal(look(w.p), ERR_OK);
    assert_int_equal(w.p->preview.entry[0].rule, REWIND_RULE_OPEN);
    assert_non_null(strstr(w.p->preview.entry[0].why, "another file system"));
    close(w.fd);
    assert_int_equal(look(w.p), ERR_OK);
    assert_int_equal(w.p->preview.refused, 0);
}

/* Opened after the preview, and the record is on another file system. */
CASE(a_replaced_open_file_stays_until_it_is_closed)
{
    struct writer w = begin(*state);
    size_t recovered;

    if (!has_leases(w.p))
        skip();
    want(w.p, w.p->f, "old\n");
    assert_int_equal(look(w.p), ERR_OK);
    syscall_hook_arm(&(struct syscall_hook){
        .call = "renameat", .name = "0.live", .error = EXDEV, .stays = true });
    assert_int_equal(apply(w.p), ERR_IO);
    assert_true(syscall_hook_fired());
    assert_non_null(strstr(w.p->e.text, "has the replaced file open"));
    say(&w, "later\n");
    close(w.fd);
    syscall_hook_arm(
        &(struct syscall_hook){ .call = "renameat", .name = KEPT("0"), .error = EXDEV });
    assert_int_equal(rewind_recover(&w.p->env, &recovered, NULL), ERR_OK);
    syscall_hook_fired();
    assert_true(shows(w.p, "present\nlater\n"));
    assert_int_equal(undo(w.p), ERR_OK);
    assert_true(folder_is(&w.p->folder, "ws/d/f", "present\nlater\n"));
}
