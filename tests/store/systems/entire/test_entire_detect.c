#include "tests/test.h"

#include <sys/stat.h>

#include "store/systems/entire/entire.h"
#include "tests/support/folder.h"

/* A repository with a linked work tree beside it, without data of Entire. */
struct place {
    struct folder folder;
    char path[4096];
};

static const char *below(struct place *p, const char *name)
{
    snprintf(p->path, sizeof p->path, "%s/%s", p->folder.path, name);
    return p->path;
}

static void put(struct place *p, const char *name, const char *text)
{
    FILE *f = fopen(below(p, name), "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make(struct place *p)
{
    static const char *const dirs[] = { "repo",
                                        "repo/sub",
                                        "repo/.git",
                                        "repo/.git/objects",
                                        "repo/.git/refs",
                                        "repo/.git/refs/heads",
                                        "repo/.git/worktrees",
                                        "repo/.git/worktrees/side",
                                        "side",
                                        "side/sub" };

    folder_make(&p->folder);
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        assert_int_equal(mkdir(below(p, dirs[i]), 0755), 0);
    put(p, "repo/.git/HEAD", "ref: refs/heads/main\n");
    put(p, "repo/.git/packed-refs", "# pack-refs with: peeled\n1234 refs/heads/entirely\n");
    put(p, "repo/.git/worktrees/side/HEAD", "ref: refs/heads/side\n");
    put(p, "repo/.git/worktrees/side/commondir", "../..\n");
    put(p, "side/.git", "gitdir: ../repo/.git/worktrees/side\n");
}

static const char *const from[] = { "repo", "repo/sub", "repo/.git", "side", "side/sub" };
enum { KEY_CONTEXTS = sizeof from / sizeof *from };

static void expect(struct place *p, bool signs)
{
    for (size_t i = 0; i < KEY_CONTEXTS; i++)
        assert_int_equal(entire_detect(below(p, from[i])), signs);
}

TEST(a_repository_without_entire_is_recognised_from_everywhere)
{
    struct place p;

    make(&p);
    expect(&p, false);
    assert_false(entire_detect(p.folder.path));
    folder_remove(&p.folder);
}

TEST(each_sign_of_entire_is_detected_from_everywhere)
{
    static const char *const signs[] = { "entire-sessions", "refs/heads/entire", "refs/entire",
                                         "reftable" };

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        struct place p;
        char name[64];

        make(&p);
        snprintf(name, sizeof name, "repo/.git/%s", signs[i]);
        assert_int_equal(mkdir(below(&p, name), 0755), 0);
        expect(&p, true);
        assert_false(entire_detect(p.folder.path));
        folder_remove(&p.folder);
    }
}

TEST(packed_refs_are_detected)
{
    static const char *const refs[] = { "refs/heads/entire/checkpoints/v1",
                                        "refs/entire/checkpoints/01/x",
                                        "refs/remotes/origin/entire/checkpoints/v1" };

    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++) {
        struct place p;
        char line[128];

        make(&p);
        snprintf(line, sizeof line, "1234 %s\n", refs[i]);
        put(&p, "repo/.git/packed-refs", line);
        expect(&p, true);
        folder_remove(&p.folder);
    }
}

/* Whatever cannot be followed is left to git. */
TEST(an_invalid_git_pointer_is_left_to_git)
{
    struct place p;

    make(&p);
    put(&p, "side/.git", "gitdir\n");
    assert_true(entire_detect(below(&p, "side/sub")));
    put(&p, "side/.git", "gitdir: /nonexistent\n");
    assert_false(entire_detect(below(&p, "side/sub")));
    folder_remove(&p.folder);
}
