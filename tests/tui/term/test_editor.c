#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "tui/term/term.h"

/* The editor sees a copy of a transcript, and nothing that happens in it changes the transcript. */

struct edit_case {
    struct folder folder;
    struct term_signals signals;
    char temp[4096], file[4096];
    struct buf kept;
};

static enum err_code edit_with(struct edit_case *d, const char *command)
{
    const struct editor editor = { command, d->temp, &d->signals, STDIN_FILENO };

    d->kept.n = 0;
    return editor_run_copy(&editor, d->file, &d->kept, NULL);
}

static bool temp_is_empty(struct edit_case *d)
{
    return rmdir(d->temp) == 0 && mkdir(d->temp, 0700) == 0;
}

static int set_up(void **state)
{
    struct edit_case *d = calloc(1, sizeof *d);

    assert_non_null(d);
    folder_make(&d->folder);
    folder_dir(&d->folder, "temp");
    folder_path(&d->folder, "temp", d->temp);
    folder_put(&d->folder, "session.jsonl", SLICE("row\n"));
    folder_path(&d->folder, "session.jsonl", d->file);
    assert_int_equal(term_signals_block(&d->signals, NULL), ERR_OK);
    *state = d;
    return 0;
}

static int tear_down(void **state)
{
    struct edit_case *d = *state;

    term_signals_unblock(&d->signals);
    buf_fini(&d->kept);
    folder_remove(&d->folder);
    free(d);
    return 0;
}

TEST_WITH(a_copy_that_was_only_read_is_removed, set_up, tear_down)
{
    struct edit_case *d = *state;

    assert_int_equal(edit_with(d, "cmp session.jsonl"), ERR_IO); /* the editor failed */
    assert_true(temp_is_empty(d));
    assert_int_equal(edit_with(d, "test -r"), ERR_OK);
    assert_int_equal(d->kept.n, 0);
    assert_true(temp_is_empty(d));
}

TEST_WITH(an_edit_stays_in_the_copy, set_up, tear_down)
{
    struct edit_case *d = *state;

    assert_int_equal(edit_with(d, "sh -c 'rm \"$0\"; echo more >\"$0\"'"), ERR_OK);
    assert_true(d->kept.n > 0);
    assert_non_null(strstr(buf_cstr(&d->kept), d->temp));
    assert_true(folder_is(&d->folder, "session.jsonl", "row\n"));
    assert_false(temp_is_empty(d));
}

TEST_WITH(a_link_is_not_opened, set_up, tear_down)
{
    struct edit_case *d = *state;
    char link[4096 + 8];
    struct stat sb;

    snprintf(link, sizeof link, "%s.link", d->file);
    assert_int_equal(symlink(d->file, link), 0);
    assert_int_equal(chmod(d->file, 0640), 0);
    memcpy(d->file, link, strlen(link) + 1 < sizeof d->file ? strlen(link) + 1 : 1);
    assert_int_equal(edit_with(d, "sh -c 'echo more >>\"$0\"'"), ERR_UNSAFE);
    assert_int_equal(stat(d->file, &sb), 0);
    assert_int_equal(sb.st_mode & 07777, 0640);
    assert_true(folder_is(&d->folder, "session.jsonl", "row\n"));
    assert_true(temp_is_empty(d));
}
