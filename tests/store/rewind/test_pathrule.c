#include "store/fs/path.h"
#include "tests/test.h"

#include "store/rewind/plan/beneath.h"

static enum pathrule check(const char *path)
{
    const char *why = NULL;
    enum pathrule rule = pathrule_check(slice_of(path), false, &why);

    assert_true((rule == PATHRULE_ALLOWED) == (why == NULL));
    return rule;
}

TEST(unclean_names_are_refused)
{
    static const char *const bad[] = {
        "",        ".",      "../x",  "x",      "/",     "//a",     "/a//b",  "/a/",
        "/a/../b", "/a/./b", "/a/..", "/a/-rf", "/a\nb", "/a/\x01", "/a\x7f", "./a",
    };
    char longest[5000];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(check(bad[i]), PATHRULE_INVALID);
    memset(longest, 'a', sizeof longest);
    for (size_t i = 0; i < sizeof longest; i += 100)
        longest[i] = '/';
    assert_int_equal(pathrule_check((struct slice){ longest, sizeof longest }, false, NULL),
                     PATHRULE_INVALID);
    assert_int_equal(pathrule_check((struct slice){ "/a\0b", 4 }, true, NULL), PATHRULE_INVALID);
    memset(longest + 1, 'a', 256);
    assert_int_equal(pathrule_check((struct slice){ longest, 257 }, true, NULL), PATHRULE_INVALID);
}

TEST(ordinary_names_are_fine)
{
    static const char *const fine[] = {
        "/a",
        "/home/u/p/src/main.c",
        "/a/.gitignore",
        "/a/.github/x.yml",
        "/a/git",
        "/a/..b",
        "/a/b c",
        "/a/\xc3\xbc",
        "/a/\xff\xfe",
        "/a/git~x",
        "/a/.gitattributes",
        "/a/.claude/plans/x.md",
        "/a/.b",
        "/a/git~0",
        "/a/\xe2\x80\x93\xe2\x80\xb0\xe2\x81\xb0\xef\xbb\xbe", /* also with ignored characters */
        "/a/a-name-of-more-than-sixty-four-bytes-which-is-longer-than-what-is-compared-with-git",
        "/a/ssh/x",
        "/a/digit~1",
    };

    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        assert_int_equal(check(fine[i]), PATHRULE_ALLOWED);
}

TEST(dot_git_is_refused_in_any_spelling)
{
    static const char *const git[] = {
        "/a/.git",
        "/a/.git/config",
        "/a/.GIT/hooks/pre-commit",
        "/a/.Git/x",
        "/a/.g\xe2\x80\x8cit/config",
        "/a/.git\xef\xbb\xbf/x",
        "/a/.g\xe2\x80\xaait/x",
        "/a/.gi\xe2\x81\xaat/x",
        "/a/git~1/config",
        "/a/GIT~1/x",
        "/a/.git./x",
        "/a/.git /x",
        "/a/.git::$INDEX_ALLOCATION/x",
        "/a/sub/.git",
    };

    for (size_t i = 0; i < sizeof git / sizeof *git; i++)
        assert_int_equal(check(git[i]), PATHRULE_GIT);
}

TEST(files_that_programs_trust_need_consent)
{
    static const char *const sensitive[] = {
        "/home/u/.ssh/authorized_keys",
        "/home/u/.bashrc",
        "/home/u/.config/fish/config.fish",
        "/p/.claude/settings.json",
        "/p/.claude/settings.local.json",
        "/p/.claude/hooks/x.sh",
        "/p/.Claude/Settings.json",
        "/p/.envrc",
        "/p/.husky/pre-commit",
        "/p/.mcp.json",
        "/home/u/.gitconfig",
        "/p/.gemini/settings.json",
        "/p/.clinerules/hooks/x.sh",
        "/p/.kiro/settings/mcp.json",
        "/home/u/.claude.json",
        "/home/u/.config/reprise/config",
        "/home/u/.config/git/config",
        "/home/u/.config/systemd/user/x.service",
        "/home/u/.config/fish/conf.d/x.fish",
        "/home/u/.bash_aliases",
        "/p/.vscode/tasks.json",
        "/p/.VSCode/Tasks.json",
        "/p/.githooks/pre-commit",
        "/p/.npmrc",
        "/home/u/.xprofile",
        "/home/u/.pam_environment",
    };
    static const char *const plain[] = {
        "/p/git/config",  "/p/.vscode/extensions.json", "/p/systemd/user/x",
        "/p/.config/git", "/p/.config/git/configs",     "/p/.config/fish/conf.d",
        "/p/npmrc",
    };

    for (size_t i = 0; i < sizeof sensitive / sizeof *sensitive; i++)
        assert_int_equal(check(sensitive[i]), PATHRULE_SENSITIVE);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_int_equal(check(plain[i]), PATHRULE_ALLOWED);
}

static bool forbids(const char *path)
{
    return pathrule_forbids(slice_of(path), false);
}

TEST(some_names_are_always_refused)
{
    assert_true(forbids("/a/../b"));
    assert_true(forbids("/a/.git/config"));
    assert_false(forbids("/a/.bashrc"));
    assert_false(forbids("/a/b"));
}

static bool under(const char *path, const char *root)
{
    return path_under(slice_of(path), slice_of(root));
}

TEST(containment_is_decided_by_path_components)
{
    assert_true(under("/a/b/c", "/a/b"));
    assert_true(under("/a/b", "/a/b"));
    assert_true(under("/a/b", "/a/b/"));
    assert_true(under("/a", "/"));
    assert_false(under("/a/bc", "/a/b"));
    assert_false(under("/a", "/a/b"));
}
