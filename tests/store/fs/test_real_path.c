#include "store/fs/path.h"

#include <stdlib.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "tests/support/folder.h"
#include "tests/test.h"

/* project/real/a.txt, project/link -> real, project/out -> ../elsewhere, project/file -> real/a.txt, way -> project */

struct place {
    struct folder folder;
    struct arena arena;
    int64_t time_ms;
};

static void make_link(const struct folder *f, const char *to, const char *name)
{
    char path[4096];

    assert_int_equal(symlink(to, folder_path(f, name, path)), 0);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    p->time_ms = TIME_NONE;
    folder_make(&p->folder);
    folder_put(&p->folder, "project/real/a.txt", SLICE("a"));
    folder_put(&p->folder, "elsewhere/b.txt", SLICE("b"));
    make_link(&p->folder, "real", "project/link");
    make_link(&p->folder, "../elsewhere", "project/out");
    make_link(&p->folder, "real/a.txt", "project/file");
    make_link(&p->folder, "project", "way");
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    arena_fini(&p->arena);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static void check(struct place *p, const char *root, const char *name, const char *want)
{
    char top[4096], path[4096], other[4096];

    assert_string_equal(path_real_below(folder_path(&p->folder, root, top),
                                        folder_path(&p->folder, name, path), p->time_ms, &p->arena),
                        folder_path(&p->folder, want, other));
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(links_below_the_root_are_followed)
{
    struct place *p = *state;

    check(p, "project", "project/real/a.txt", "project/real/a.txt");
    check(p, "project", "project/link/a.txt", "project/real/a.txt");
    check(p, "project", "project/file", "project/real/a.txt");
}

CASE(a_link_that_is_newer_than_the_time_is_not_followed)
{
    struct place *p = *state;

    p->time_ms = 1000;
    check(p, "project", "project/link/a.txt", "project/link/a.txt");
    check(p, "project", "project/real/a.txt", "project/real/a.txt");
    check(p, "way", "way/real/a.txt", "way/real/a.txt");
}

CASE(what_does_not_exist_is_below_what_does)
{
    struct place *p = *state;

    check(p, "project", "project/link/new/c.txt", "project/real/new/c.txt");
    check(p, "project", "project/none/c.txt", "project/none/c.txt");
}

CASE(a_link_that_leads_away_keeps_its_name)
{
    struct place *p = *state;

    check(p, "project", "project/out/b.txt", "project/out/b.txt");
    check(p, "project", "elsewhere/b.txt", "elsewhere/b.txt");
}

CASE(the_root_keeps_its_name)
{
    struct place *p = *state;

    check(p, "way", "way/real/a.txt", "way/real/a.txt");
    check(p, "way", "way/link/a.txt", "way/real/a.txt");
}
