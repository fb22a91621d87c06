#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/fs/path.h"
#include "tests/support/folder.h"

enum { NAMES = 300 };

/* Every third name exists. */
struct place {
    struct folder folder;
    struct presence known;
    char path[NAMES][4096];
};

static void put(struct place *p, int i)
{
    char name[64];

    snprintf(name, sizeof name, "dir/session-%d.jsonl", i);
    folder_put(&p->folder, name, SLICE("x"));
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    for (int i = 0; i < NAMES; i++) {
        char name[64];

        snprintf(name, sizeof name, "dir/session-%d.jsonl", i);
        folder_path(&p->folder, name, p->path[i]);
    }
    for (int i = 0; i < NAMES; i += 3)
        put(p, i);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    path_presence_fini(&p->known);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static bool look(struct place *p, const char *path)
{
    struct stat st;
    bool there = false;

    assert_int_equal(path_presence_lookup(&p->known, path, &there, &st, NULL), ERR_OK);
    if (there)
        assert_int_equal(st.st_size, 1);
    return there;
}

static bool has_read_names(const struct place *p)
{
    for (size_t i = 0; i < PRESENCE_DIRS; i++)
        if (p->known.dir[i].bits)
            return true;
    return false;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(presence_agrees_with_lstat)
{
    struct place *p = *state;

    for (int i = 0; i < NAMES; i++)
        assert_int_equal(look(p, p->path[i]), i % 3 == 0);
    assert_true(has_read_names(p));
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(look(p, p->path[i]), i % 3 == 0);
}

CASE(few_lookups_read_no_directory)
{
    struct place *p = *state;

    for (int i = 0; i < 6; i++)
        assert_int_equal(look(p, p->path[i]), i % 3 == 0);
    assert_false(has_read_names(p));
}

CASE(a_name_removed_after_the_read_is_absent)
{
    struct place *p = *state;

    for (int i = 0; i < NAMES; i++)
        (void)look(p, p->path[i]);
    assert_true(has_read_names(p));
    assert_int_equal(unlink(p->path[0]), 0);
    assert_false(look(p, p->path[0]));
    assert_true(look(p, p->path[3]));
}

CASE(a_missing_directory_is_empty)
{
    struct place *p = *state;
    char path[40][4096];

    for (int i = 0; i < 40; i++) {
        char name[64];

        snprintf(name, sizeof name, "gone-%d/x", i % 20); /* more than the cache holds */
        folder_path(&p->folder, name, path[i]);
        assert_false(look(p, path[i]));
    }
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(look(p, p->path[i]), i % 3 == 0);
}
