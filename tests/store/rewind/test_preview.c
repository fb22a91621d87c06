#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/rewind/plan/rewind.h"
#include "tests/support/folder.h"
#include "tests/support/rewind/last_state.h"

struct place {
    struct folder folder;
    char root[4096], path[16][4096];
    size_t paths;
    struct rewind_plan plan;
    struct rewind_options options;
    struct rewind_preview preview;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_dir(&p->folder, "ws");
    folder_path(&p->folder, "ws", p->root);
    p->plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = p->root };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    rewind_preview_fini(&p->preview);
    rewind_plan_fini(&p->plan);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static const char *in_place(struct place *p, const char *name)
{
    return folder_path(&p->folder, name, p->path[p->paths++]);
}

static void want(struct place *p, struct rewind_target t, const char *name)
{
    t.path = in_place(p, name);
    if (!t.has_last)
        set_last_state(&t);
    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
}

static void want_bytes(struct place *p, const char *name, const char *text)
{
    want(p,
         (struct rewind_target){ .want = REWIND_BYTES,
                                 .source = { .bytes = { text, strlen(text) } } },
         name);
}

static void look(struct place *p)
{
    rewind_preview_fini(&p->preview);
    assert_int_equal(rewind_preview(&p->plan, &p->options, &p->preview, NULL), ERR_OK);
}

static void expect(const struct place *p, size_t i, enum rewind_action action,
                   enum rewind_rule rule)
{
    const struct rewind_entry *x = &p->preview.entry[i];

    assert_int_equal(x->action, action);
    assert_int_equal(x->rule, rule);
    assert_true((action == REWIND_REFUSED) == (x->why != NULL));
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(the_preview_shows_the_effect_on_each_file)
{
    struct place *p = *state;
    char *before;

    folder_put(&p->folder, "ws/changed", SLICE("1\n2\n3\n"));
    folder_put(&p->folder, "ws/same", SLICE("x\n"));
    folder_put(&p->folder, "ws/added", SLICE("a\nb\n"));
    want_bytes(p, "ws/changed", "1\ntwo\n3\n");
    want_bytes(p, "ws/same", "x\n");
    want(p, (struct rewind_target){ .want = REWIND_ABSENT }, "ws/added");
    want_bytes(p, "ws/gone/deep/file", "new\n");
    want(p, (struct rewind_target){ .want = REWIND_ABSENT }, "ws/never");
    before = folder_image(&p->folder, "ws");
    look(p);
    char *after = folder_image(&p->folder, "ws");

    expect(p, 0, REWIND_RESTORE, REWIND_RULE_NONE);
    expect(p, 1, REWIND_UNCHANGED, REWIND_RULE_NONE);
    expect(p, 2, REWIND_DELETE, REWIND_RULE_NONE);
    expect(p, 3, REWIND_CREATE, REWIND_RULE_NONE);
    expect(p, 4, REWIND_UNCHANGED, REWIND_RULE_NONE);
    assert_int_equal(p->preview.insertions, 1 + 1);
    assert_int_equal(p->preview.deletions, 1 + 2);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* So many that a second thread takes its share; each is shown with its own lines. */
CASE(many_files_are_previewed_like_few)
{
    enum { MANY_FILES = 200 };
    struct place *p = *state;
    char name[64], text[64];

    for (int i = 0; i < MANY_FILES; i++) {
        struct rewind_target t = { .want = i % 3 == 2 ? REWIND_ABSENT : REWIND_BYTES };
        char path[4096];

        snprintf(name, sizeof name, "ws/%d", i);
        if (i % 3 != 1)
            folder_put(&p->folder, name, SLICE("x\n"));
        int n = snprintf(text, sizeof text, "%.*s%d\n", i % 5 * 2, "x\nx\nx\nx\n", i);

        t.path = folder_path(&p->folder, name, path);
        t.source.bytes = (struct slice){ text, (size_t)n };
        set_last_state(&t);
        assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
    }
    look(p);
    assert_int_equal(p->preview.n, MANY_FILES);
    for (size_t i = 0; i < MANY_FILES; i++) {
        const struct rewind_entry *x = &p->preview.entry[i];

        assert_ptr_equal(x->target, &p->plan.target[i]);
        expect(p, i, (enum rewind_action[]){ REWIND_RESTORE, REWIND_CREATE, REWIND_DELETE }[i % 3],
               REWIND_RULE_NONE);
        assert_int_equal(x->deletions, i % 3 == 2 || (i % 3 == 0 && i % 5 == 0));
        if (i % 3 == 1)
            assert_int_equal(x->insertions, i % 5 + 1);
    }
    char first[65];

    memcpy(first, p->preview.id, sizeof first);
    look(p);
    assert_string_equal(first, p->preview.id);
}

/* The whole project is restored, and nothing is read in the root directory of the machine. */
CASE(a_missing_project_is_recreated)
{
    struct place *p = *state;

    want_bytes(p, "ws/etc/passwd", "x\n");
    want(p, (struct rewind_target){ .want = REWIND_ABSENT }, "ws/etc/group");
    assert_int_equal(rmdir(p->root), 0);
    look(p);
    expect(p, 0, REWIND_CREATE, REWIND_RULE_NONE);
    expect(p, 1, REWIND_UNCHANGED, REWIND_RULE_NONE);
}

CASE(a_mode_alone_is_a_restore_without_lines)
{
    struct place *p = *state;
    char path[4096];

    folder_put(&p->folder, "ws/x.sh", SLICE("#!\n"));
    assert_int_equal(chmod(folder_path(&p->folder, "ws/x.sh", path), 0644), 0);
    want(p,
         (struct rewind_target){ .want = REWIND_BYTES,
                                 .source = { .bytes = SLICE("#!\n") },
                                 .has_mode = true,
                                 .mode = 0755 },
         "ws/x.sh");
    look(p);

    expect(p, 0, REWIND_RESTORE, REWIND_RULE_NONE);
    assert_true(p->preview.entry[0].mode_only);
    assert_int_equal(p->preview.insertions + p->preview.deletions, 0);
}

CASE(an_obstructed_path_is_refused)
{
    struct place *p = *state;
    char a[4096], b[4096];

    folder_put(&p->folder, "ws/real", SLICE("r\n"));
    folder_put(&p->folder, "ws/two", SLICE("t\n"));
    folder_dir(&p->folder, "ws/dir");
    folder_dir(&p->folder, "elsewhere");
    assert_int_equal(symlink("real", folder_path(&p->folder, "ws/link", a)), 0);
    assert_int_equal(symlink("../elsewhere", folder_path(&p->folder, "ws/linked", a)), 0);
    assert_int_equal(
        link(folder_path(&p->folder, "ws/two", a), folder_path(&p->folder, "ws/other", b)), 0);
    assert_int_equal(mkfifo(folder_path(&p->folder, "ws/fifo", a), 0600), 0);
    want_bytes(p, "ws/link", "x");
    want_bytes(p, "ws/dir", "x");
    want_bytes(p, "ws/two", "x");
    want_bytes(p, "ws/fifo", "x");
    want_bytes(p, "ws/linked/f", "x");
    want_bytes(p, "ws/real/below", "x");
    want(p, (struct rewind_target){ .want = REWIND_ABSENT }, "ws/link");
    look(p);

    expect(p, 0, REWIND_REFUSED, REWIND_RULE_LINK);
    expect(p, 1, REWIND_REFUSED, REWIND_RULE_TYPE);
    expect(p, 2, REWIND_REFUSED, REWIND_RULE_HARD_LINK);
    expect(p, 3, REWIND_REFUSED, REWIND_RULE_TYPE);
    expect(p, 4, REWIND_REFUSED, REWIND_RULE_LINK);
    expect(p, 5, REWIND_REFUSED, REWIND_RULE_LINK);
    expect(p, 6, REWIND_REFUSED, REWIND_RULE_LINK);
    assert_int_equal(p->preview.refused, 7);
}

static int64_t link_ms(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return (int64_t)st.st_ctim.tv_sec * 1000 + st.st_ctim.tv_nsec / 1000000;
}

/* Makes `link`, until its time is after that of `older`. */
static void link_after(const char *target, const char *link, const char *older)
{
    do {
        unlink(link);
        assert_int_equal(symlink(target, link), 0);
    } while (link_ms(link) <= link_ms(older));
}

/* The names are made in this order: old -> real, new -> real, chain -> new, by_new -> old. */
CASE(a_project_behind_a_link_that_is_newer_than_the_point_needs_consent)
{
    struct place *p = *state;
    static const struct {
        const char *root;
        bool after_old; /* the point is between old and new */
        bool refused;
    } is[] = { { "real", true, false },  { "old", true, false },   { "new", true, true },
               { "chain", true, true },  { "by_new", true, true }, { "up/real", true, false },
               { "old", false, true },   { "real", false, false }, { "up/old", true, false },
               { "up/old", false, true } };
    char old[4096], newer[4096], path[4096];

    folder_dir(&p->folder, "real");
    folder_put(&p->folder, "real/f", SLICE("2\n"));
    folder_path(&p->folder, "old", old);
    folder_path(&p->folder, "new", newer);
    assert_int_equal(symlink("real//", old), 0);
    link_after("./real/", newer, old);
    assert_int_equal(symlink("new/", folder_path(&p->folder, "chain", path)), 0);
    link_after(old, folder_path(&p->folder, "by_new", path), old);
    link_after(".", folder_path(&p->folder, "up", path), old);
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct rewind_target t = { .want = REWIND_BYTES, .source = { .bytes = { "1\n", 2 } } };
        char root[4096];

        rewind_plan_fini(&p->plan);
        p->plan = (struct rewind_plan){ .system = "claude", .session = "s", .point = "m" };
        p->plan.root = folder_path(&p->folder, is[i].root, root);
        p->plan.point_ms = link_ms(old) - !is[i].after_old;
        snprintf(path, sizeof path, "%s/f", root);
        t.path = path;
        set_last_state(&t);
        assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
        look(p);
        if (is[i].refused)
            assert_string_equal(p->preview.entry[0].why ? p->preview.entry[0].why : is[i].root,
                                "the session's project is reached through a symbolic link that is "
                                "newer than this point");
        expect(p, 0, is[i].refused ? REWIND_REFUSED : REWIND_RESTORE,
               is[i].refused ? REWIND_RULE_OUTSIDE : REWIND_RULE_NONE);
        p->options.allow_outside = true;
        look(p);
        expect(p, 0, REWIND_RESTORE, REWIND_RULE_NONE);
        p->options.allow_outside = false;
    }
}

CASE(damaged_backups_are_refused)
{
    struct place *p = *state;
    char good[4096], link_path[4096], gone[4096], dir[4096];

    folder_put(&p->folder, "blobs/good", SLICE("hello\n"));
    folder_dir(&p->folder, "blobs/dir");
    folder_path(&p->folder, "blobs/good", good);
    folder_path(&p->folder, "blobs/dir", dir);
    folder_path(&p->folder, "blobs/gone", gone);
    assert_int_equal(symlink("good", folder_path(&p->folder, "blobs/link", link_path)), 0);
    const char *const file[] = { good, link_path, gone, dir };

    for (size_t i = 0; i < 4; i++)
        want(p, (struct rewind_target){ .want = REWIND_BYTES, .source = { .file = file[i] } },
             "ws/f");
    want(p,
         (struct rewind_target){
             .want = REWIND_BYTES,
             .source = { .file = good,
                         .sha256 =
                             "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" } },
         "ws/f");
    want(p,
         (struct rewind_target){
             .want = REWIND_BYTES,
             .source = { .file = good,
                         .sha256 =
                             "0000000000000000000000000000000000000000000000000000000000000000" } },
         "ws/f");
    want(p, (struct rewind_target){ .want = REWIND_UNKNOWN, .why = "evicted" }, "ws/f");
    look(p);

    expect(p, 0, REWIND_CREATE, REWIND_RULE_NONE);
    expect(p, 1, REWIND_REFUSED, REWIND_RULE_SOURCE);
    expect(p, 2, REWIND_REFUSED, REWIND_RULE_SOURCE);
    expect(p, 3, REWIND_REFUSED, REWIND_RULE_SOURCE);
    expect(p, 4, REWIND_CREATE, REWIND_RULE_NONE);
    expect(p, 5, REWIND_REFUSED, REWIND_RULE_SOURCE);
    expect(p, 6, REWIND_REFUSED, REWIND_RULE_SOURCE);
}

CASE(no_file_is_deleted_while_the_copy_of_another_one_is_missing)
{
    struct place *p = *state;
    char gone[4096];

    folder_put(&p->folder, "ws/made", SLICE("made\n"));
    folder_put(&p->folder, "ws/lost", SLICE("lost\n"));
    folder_path(&p->folder, "blobs/gone", gone);
    want(p, (struct rewind_target){ .want = REWIND_ABSENT }, "ws/made");
    want(p, (struct rewind_target){ .want = REWIND_BYTES, .source = { .file = gone } }, "ws/lost");
    look(p);

    expect(p, 0, REWIND_REFUSED, REWIND_RULE_SOURCE);
    assert_non_null(strstr(p->preview.entry[0].why, "kept"));
    expect(p, 1, REWIND_REFUSED, REWIND_RULE_SOURCE);
}

CASE(a_file_that_was_never_copied_holds_no_deletion)
{
    struct place *p = *state;

    folder_put(&p->folder, "ws/made", SLICE("made\n"));
    want(p, (struct rewind_target){ .want = REWIND_ABSENT }, "ws/made");
    want(p, (struct rewind_target){ .want = REWIND_UNKNOWN, .why = "no copy" }, "ws/other");
    want(p, (struct rewind_target){ .want = REWIND_UNKNOWN, .why = "bad", .copy_lost = true },
         "ws/third");
    p->plan.n = 2;
    look(p);
    expect(p, 0, REWIND_DELETE, REWIND_RULE_NONE);
    p->plan.n = 3;
    look(p);
    expect(p, 0, REWIND_REFUSED, REWIND_RULE_SOURCE);
}

static struct rewind_target known(const char *wanted, const char *last)
{
    return (struct rewind_target){ .want = REWIND_BYTES,
                                   .source = { .bytes = { wanted, strlen(wanted) } },
                                   .has_last = true,
                                   .last_absent = !last,
                                   .last = { .bytes = { last, last ? strlen(last) : 0 } } };
}

CASE(hand_edits_are_held_back_until_allowed)
{
    struct place *p = *state;

    folder_put(&p->folder, "ws/by-agent", SLICE("agent\n"));
    folder_put(&p->folder, "ws/by-hand", SLICE("agent, and me\n"));
    folder_put(&p->folder, "ws/made-by-hand", SLICE("mine\n"));
    want(p, known("old\n", "agent\n"), "ws/by-agent");
    want(p, known("old\n", "agent\n"), "ws/by-hand");
    want(p, known("old\n", "agent\n"), "ws/removed-by-hand");
    want(p, known("old\n", NULL), "ws/made-by-hand");
    want(p, known("agent, and me\n", "agent\n"), "ws/by-hand");
    look(p);

    expect(p, 0, REWIND_RESTORE, REWIND_RULE_NONE);
    expect(p, 1, REWIND_REFUSED, REWIND_RULE_EDITED);
    assert_int_equal(p->preview.entry[1].would, REWIND_RESTORE);
    expect(p, 2, REWIND_REFUSED, REWIND_RULE_EDITED);
    assert_int_equal(p->preview.entry[2].would, REWIND_CREATE);
    expect(p, 3, REWIND_REFUSED, REWIND_RULE_EDITED);
    expect(p, 4, REWIND_UNCHANGED, REWIND_RULE_NONE);
    p->options.allow_edited = true;
    look(p);
    expect(p, 1, REWIND_RESTORE, REWIND_RULE_NONE);
    assert_true(p->preview.entry[1].edited);
}

CASE(files_not_known_to_be_the_sessions_are_held_back_until_allowed)
{
    struct place *p = *state;
    struct rewind_target unknown = known("old\n", "agent\n"), gone = unknown;

    unknown.last_is_older = true;
    gone.last.bytes = (struct slice){ NULL, 0 };
    gone.last.file = "/nowhere/copy";
    for (int i = 0; i < 3; i++)
        folder_put(&p->folder, i ? i == 1 ? "ws/gone" : "ws/as-found" : "ws/unknown",
                   i == 2 ? SLICE("agent\n") : SLICE("whose?\n"));
    want(p, unknown, "ws/unknown");
    want(p, gone, "ws/gone");
    want(p, unknown, "ws/as-found");
    want(p, unknown, "ws/absent");
    look(p);

    for (size_t i = 0; i < 2; i++) {
        expect(p, i, REWIND_REFUSED, REWIND_RULE_UNKNOWN);
        assert_true(p->preview.entry[i].unproven);
        assert_false(p->preview.entry[i].edited);
    }
    expect(p, 2, REWIND_RESTORE, REWIND_RULE_NONE);
    expect(p, 3, REWIND_CREATE, REWIND_RULE_NONE);
    p->options.allow_edited = true;
    look(p);
    expect(p, 0, REWIND_RESTORE, REWIND_RULE_NONE);
}

CASE(outside_and_trusted_files_need_consent)
{
    struct place *p = *state;

    folder_put(&p->folder, "sibling/f", SLICE("a\n"));
    folder_put(&p->folder, "ws/.claude/settings.json", SLICE("{}\n"));
    want_bytes(p, "sibling/f", "b\n");
    want_bytes(p, "ws/.claude/settings.json", "{}");
    want_bytes(p, "ws/.git/config", "x");
    look(p);

    expect(p, 0, REWIND_REFUSED, REWIND_RULE_OUTSIDE);
    expect(p, 1, REWIND_REFUSED, REWIND_RULE_SENSITIVE);
    expect(p, 2, REWIND_REFUSED, REWIND_RULE_PATH);
    p->options = (struct rewind_options){ .allow_outside = true,
                                          .allow_sensitive = true,
                                          .allow_edited = true };
    look(p);
    expect(p, 0, REWIND_RESTORE, REWIND_RULE_NONE);
    expect(p, 1, REWIND_RESTORE, REWIND_RULE_NONE);
    expect(p, 2, REWIND_REFUSED, REWIND_RULE_PATH);
}

CASE(a_moved_parent_is_refused)
{
    struct place *p = *state;
    char elsewhere[4096], here[4096];

    folder_put(&p->folder, "ws/sub/f", SLICE("a\n"));
    folder_path(&p->folder, "old/sub", elsewhere);
    folder_path(&p->folder, "ws/sub", here);
    want(p, (struct rewind_target){ .want = REWIND_ABSENT, .real_parent = elsewhere }, "ws/sub/f");
    want(p, (struct rewind_target){ .want = REWIND_ABSENT, .real_parent = here }, "ws/sub/f");
    look(p);

    expect(p, 0, REWIND_REFUSED, REWIND_RULE_PARENT);
    expect(p, 1, REWIND_DELETE, REWIND_RULE_NONE);
}

CASE(the_plan_id_covers_seen_and_wanted_states)
{
    struct place *p = *state;
    char first[65];

    folder_put(&p->folder, "ws/f", SLICE("a\n"));
    want_bytes(p, "ws/f", "b\n");
    look(p);
    memcpy(first, p->preview.id, sizeof first);
    look(p);
    assert_string_equal(p->preview.id, first);
    folder_put(&p->folder, "ws/f", SLICE("c\n"));
    look(p);
    assert_string_not_equal(p->preview.id, first);
}

CASE(a_missing_project_is_restored_file_by_file)
{
    struct place *p = *state;

    assert_int_equal(rmdir(p->root), 0);
    want_bytes(p, "ws/sub/f", "b\n");
    want(p, (struct rewind_target){ .want = REWIND_ABSENT }, "ws/g");
    look(p);

    expect(p, 0, REWIND_CREATE, REWIND_RULE_NONE);
    expect(p, 1, REWIND_UNCHANGED, REWIND_RULE_NONE);
}
