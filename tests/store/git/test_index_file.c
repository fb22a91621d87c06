#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/digest.h"
#include "lite/io/file.h"
#include "store/git/index_file.h"
#include "support/scratch.h"

/* git's index is read as git reads it, and whatever it contains ends with an answer. */

/* Names that sort in other ways as bytes than as directories, and one that only version 4 shortens by more than a byte
 * can say. */
static const char add_files[] =
    "set -e; cd \"$1\"; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null;"
    "rm -rf .git; git init -q .; mkdir -p a/b sub $(printf d%0200d 1); for f in a.c a/b/c a/b.c "
    "a-b sub/x sub.c "
    "\"$(printf d%0200d 1)/long\" z; do echo \"$f\" > \"$f\"; done; ln -sf a.c link; git add -A;";

static const char *index_made_by(void **state, const char *more)
{
    char command[2048];

    snprintf(command, sizeof command, "sh -c '%s %s' sh %s 2>/dev/null", add_files, more,
             (const char *)*state);
    scratch_need(system(command) == 0, "git");
    return scratch_path(state, ".git/index");
}

static void expect_as_git(void **state, const char *path)
{
    struct index_file x;
    char command[2048], line[2048], hex[SHA1_BYTES * 2 + 1];
    unsigned n = 0;

    assert_int_equal(index_file_read(path, &x, NULL), ERR_OK);
    snprintf(command, sizeof command, "git -C '%s' ls-files -s", (const char *)*state);
    FILE *f = popen(command, "re");

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct index_entry entry;
        unsigned mode, stage;
        char oid[64];

        line[strcspn(line, "\n")] = '\0';
        assert_int_equal(sscanf(line, "%o %63s %u", &mode, oid, &stage), 3);
        const char *name = strchr(line, '\t') + 1;

        assert_int_equal(index_file_find(&x, name, &entry), stage == 0);
        if (stage)
            continue;
        n++;
        digest_hex(entry.oid, SHA1_BYTES, hex);
        assert_string_equal(hex, oid);
        assert_int_equal(entry.mode, mode);
    }
    assert_int_equal(pclose(f), 0);
    assert_int_equal(x.n, n);
    index_file_fini(&x);
}

IN_SCRATCH(each_version_is_read_as_git_reads_it)
{
    static const char *const more[] = {
        "git update-index --index-version 2",
        "echo new > new; git add -N new; git update-index --skip-worktree a.c; git update-index "
        "--assume-unchanged z",
        "git update-index --index-version 4",
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
        "GIT_COMMITTER_EMAIL=a@b; "
        "git commit -qm x; git checkout -q -b side; echo s > z; git commit -qam s; git checkout -q "
        "-; echo m > z; git commit -qam m; git merge -q side || test -f .git/MERGE_HEAD",
    };

    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        expect_as_git(state, index_made_by(state, more[i]));
}

IN_SCRATCH(a_directory_has_what_is_below_it)
{
    struct index_file x;
    struct index_entry entry;

    assert_int_equal(index_file_read(index_made_by(state, ""), &x, NULL), ERR_OK);
    for (int round = 0; round < 2; round++) {
        assert_true(index_file_has_below(&x, "a"));
        assert_true(index_file_has_below(&x, "a/b"));
        assert_true(index_file_has_below(&x, "sub"));
        assert_false(index_file_has_below(&x, "su"));
        assert_false(index_file_has_below(&x, "a/b/c"));
        assert_false(index_file_has_below(&x, "zz"));
        assert_true(index_file_find(&x, "a/b/c", &entry));
        assert_false(index_file_find(&x, "a/b", &entry));
        assert_false(index_file_find(&x, "a/b/d", &entry));
        assert_true(index_file_find(&x, "z", &entry));
    }
    index_file_fini(&x);
}

/* What git itself would have to understand first, and what is no index. */
IN_SCRATCH(an_index_of_another_kind_is_refused)
{
    static const char *const more[] = {
        "git update-index --split-index",
        "git -c user.name=a -c user.email=a@b commit -qm x; git sparse-checkout init --cone "
        "--sparse-index; git sparse-checkout set sub",
    };
    struct index_file x;

    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        assert_int_not_equal(index_file_read(index_made_by(state, more[i]), &x, NULL), ERR_OK);
    assert_int_equal(index_file_read(scratch_path(state, "sub.c"), &x, NULL), ERR_FORMAT);
    assert_int_equal(index_file_read(scratch_path(state, "none"), &x, NULL), ERR_NOT_FOUND);
}

/* Reads changed bytes from a file; with a right checksum they are not refused for that. */
static enum err_code read_changed(void **state, struct slice bytes, bool sealed)
{
    struct buf all = { 0 };
    struct index_file x = { .n = 0 };
    struct index_entry entry;
    const char *path = scratch_path(state, "changed");

    assert_int_equal(buf_add(&all, bytes), ERR_OK);
    if (sealed)
        assert_true(digest_of(DIGEST_SHA1, (struct slice){ all.p, all.n - SHA1_BYTES },
                              (uint8_t *)all.p + all.n - SHA1_BYTES));
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fwrite(all.p, 1, all.n, f);
    fclose(f);
    enum err_code rc = index_file_read(path, &x, NULL);

    if (!rc) {
        index_file_find(&x, "a/b/c", &entry);
        index_file_has_below(&x, "sub");
    }
    index_file_fini(&x);
    buf_fini(&all);
    return rc;
}

IN_SCRATCH(a_damaged_index_is_refused_or_read)
{
    for (int version = 2; version <= 4; version += 2) {
        struct buf bytes = { 0 };
        char more[64];

        snprintf(more, sizeof more, "git update-index --index-version %d", version);
        assert_int_equal(file_read_all(-1, index_made_by(state, more), 0, 1 << 20, &bytes, NULL),
                         ERR_OK);
        for (size_t n = SHA1_BYTES; n < bytes.n; n += 3)
            assert_int_not_equal(read_changed(state, (struct slice){ bytes.p, n }, n % 2), ERR_OK);
        for (size_t i = 0; i + SHA1_BYTES < bytes.n; i++) {
            const char was = bytes.p[i];

            bytes.p[i] ^= (char)(i % 2 ? 0xff : 1 << i % 8);
            assert_int_not_equal(read_changed(state, buf_slice(&bytes), false), ERR_OK);
            (void)read_changed(state, buf_slice(&bytes), true);
            bytes.p[i] = was;
        }
        buf_fini(&bytes);
    }
}
