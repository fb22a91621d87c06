#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/api/store.h"
#include "store/fs/span.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/goat/goat.h"
#include "tests/sweeps/rewind_sweep.h"

/* Plans of six files and of sixty: a third each is restored, created and deleted, in directories that come and go, some
 * of them private; one of six changes its mode only. Another case is the plan of a system for the same files from its
 * own store. */
struct sweep {
    size_t files;
    bool goat;
};

static size_t files_of(const struct trial_dir *y)
{
    return ((const struct sweep *)y->arg)->files;
}

static const char *name_of(size_t i, char out[64])
{
    static const char *const places[] = { "user/sub%zu/f%zu", "user/made%zu/deep/f%zu",
                                          "user/gone%zu/deep/f%zu" };

    snprintf(out, 64, places[i % 3], i % 2, i);
    return out;
}

static const char *text_of(const char *word, size_t i, char out[64])
{
    snprintf(out, 64, "%s %zu\n", word, i);
    return out;
}

/* Directories that are removed with their last file and must be restored as they were. */
static void make_private(struct trial_dir *y)
{
    static const struct {
        const char *name;
        mode_t mode;
    } dirs[] = { { "user/gone0", 0700 },
                 { "user/gone0/deep", 02750 },
                 { "user/gone1", 01770 },
                 { "user/gone1/deep", 0711 } };
    char path[4096];

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        assert_int_equal(chmod(folder_path(&y->folder, dirs[i].name, path), dirs[i].mode), 0);
}

static void make_tree(struct trial_dir *y)
{
    char name[64], text[64], path[4096];

    for (size_t i = 0; i < files_of(y); i++) {
        if (i % 3 == 1)
            continue;
        text_of("present", i, text);
        folder_put(&y->folder, name_of(i, name), slice_of(text));
        if (i % 6 == 3)
            assert_int_equal(chmod(folder_path(&y->folder, name, path), 0755), 0);
    }
    make_private(y);
    folder_put(&y->folder, "user/not-in-the-plan", SLICE("mine\n"));
}

static enum err_code plan_of(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    char name[64], path[4096], text[64];
    enum err_code rc = ERR_OK;

    *plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = y->user };
    for (size_t i = 0; i < files_of(y) && !rc; i++) {
        const char *word = i % 6 == 3 ? "present" : "wanted";
        struct rewind_target t = { .want = i % 3 == 2 ? REWIND_ABSENT : REWIND_BYTES,
                                   .prune = i % 3 == 2 ? 2 : 0,
                                   .has_mode = true,
                                   .mode = 0640 };

        t.path = folder_path(&y->folder, name_of(i, name), path);
        text_of(word, i, text);
        t.source.bytes = slice_of(text);
        rc = rewind_plan_add(plan, &t, e);
    }
    return rc;
}

/* ---- a checkpoint of a Go session ---- */

#define SESSION "agent/sessions/s-1/"

static void put_saved(struct trial_dir *y, size_t i, struct buf *manifest)
{
    char name[64], path[4096], text[64], hash[SHA256_BYTES * 2 + 1], blob[160];
    uint8_t sha256[SHA256_BYTES];
    struct hasher h = { 0 };

    folder_path(&y->folder, name_of(i, name), path);
    text_of(i % 6 == 3 ? "present" : "wanted", i, text);
    const struct slice bytes = { text, strlen(text) };

    assert_int_equal(hasher_bytes(&h, bytes, sha256, NULL), ERR_OK);
    hasher_fini(&h);
    hasher_hex(sha256, hash);
    if (i % 3 == 2) {
        assert_int_equal(
            buf_addf(manifest, "%s{\"path\":\"%s\",\"exists\":false}", i ? "," : "", path), ERR_OK);
        return;
    }
    snprintf(blob, sizeof blob, SESSION "checkpoints/cp-1/files/%s", hash);
    folder_put(&y->folder, blob, bytes);
    assert_int_equal(buf_addf(manifest, "%s{\"path\":\"%s\",\"exists\":true,\"hash\":\"%s\"}",
                              i ? "," : "", path, hash),
                     ERR_OK);
}

static void make_session(struct trial_dir *y)
{
    struct buf manifest = { 0 }, metadata = { 0 };

    make_tree(y);
    assert_int_equal(buf_addf(&metadata, "{\"id\":\"s-1\",\"cwd\":\"%s\"}", y->user), ERR_OK);
    folder_put(&y->folder, SESSION "metadata.json", buf_slice(&metadata));
    assert_int_equal(buf_addf(&manifest, "{\"user_message_uuid\":\"cp-1\",\"files\":["), ERR_OK);
    for (size_t i = 0; i < files_of(y); i++)
        put_saved(y, i, &manifest);
    assert_int_equal(buf_addf(&manifest, "]}"), ERR_OK);
    folder_put(&y->folder, SESSION "checkpoints/cp-1/manifest.json", buf_slice(&manifest));
    buf_fini(&manifest);
    buf_fini(&metadata);
}

static enum err_code goat_plan_of(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    const struct scope everywhere = { .all = true };
    char path[4096];
    struct arena a = { 0 };
    struct session_ref ref;
    struct store *store = NULL;
    enum err_code rc =
        goat_ops.open(&y->env, folder_path(&y->folder, "agent/sessions", path), &store, e);

    *plan = (struct rewind_plan){ 0 };
    if (!rc)
        rc = goat_ops.find(store, &everywhere, SLICE("s-1"), &a, &ref, e);
    if (!rc)
        rc = goat_ops.plan(store, &ref, SLICE("cp-1"), plan, e);
    store_close(store);
    arena_fini(&a);
    return rc;
}

/* ---- links and directories ---- */

/* What is there before, and what a snapshot shows: a text, the text of a link, or the permissions of a directory. */
static const struct kind_case {
    const char *name, *text, *link, *wanted, *wanted_link;
    mode_t dir, wanted_dir;
} kinds[] = {
    { "user/link", .link = "old", .wanted_link = "new" },
    { "user/link-to-file", .link = "x", .wanted = "text\n" },
    { "user/file-to-link", .text = "text\n", .wanted_link = "../x" },
    { "user/link-made", .wanted_link = "/nowhere" },
    { "user/link-gone", .link = "." },
    { "user/dir-to-file", .dir = 0711, .wanted = "a file\n" },
    { "user/dir-to-file/a", .text = "a\n" },
    { "user/dir-to-file/sub", .dir = 0700 },
    { "user/dir-to-file/sub/b", .text = "b\n" },
    { "user/dir-to-file/empty", .dir = 0750 },
    { "user/file-to-dir", .text = "a file\n", .wanted_dir = 0550 },
    { "user/file-to-dir/a", .wanted = "a\n" },
    { "user/file-to-dir/sub/b", .wanted = "b\n" },
    { "user/link-to-dir", .link = "link", .wanted_dir = 0700 },
    { "user/link-to-dir/c", .wanted_link = "c" },
    { "user/dir-to-link", .dir = 0755, .wanted_link = "sub" },
    /* below directories that nothing names: they come and go with what is in them */
    { "user/implied/more/dir/a", .wanted = "a\n" },
    { "user/implied/more/dir", .wanted_dir = 0750 },
    { "user/implied/link", .wanted_link = "more" },
    { "user/implied-too/dir/empty", .wanted_dir = 0755 },
    { "user/implied-too/dir", .wanted_dir = 0755 },
    { "user/dir-made", .wanted_dir = 0711 },
    { "user/dir-gone", .dir = 0711 },
    { "user/mode", .dir = 0755, .wanted_dir = 0700 },
    { "user/-odd\nname", .text = "x\n", .wanted = "y\n" },
};

static void make_kinds(struct trial_dir *y)
{
    char path[4096];

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct kind_case *x = &kinds[i];

        folder_path(&y->folder, x->name, path);
        if (x->text)
            folder_put(&y->folder, x->name, slice_of(x->text));
        if (x->link)
            assert_int_equal(symlink(x->link, path), 0);
        if (x->dir) {
            assert_int_equal(mkdir(path, 0700), 0);
            assert_int_equal(chmod(path, x->dir), 0);
        }
    }
    folder_put(&y->folder, "user/not-in-the-plan", SLICE("mine\n"));
}

static enum err_code plan_kinds(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    char path[4096];
    enum err_code rc = ERR_OK;

    *plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = y->user };
    for (size_t i = 0; i < COUNT_OF(kinds) && !rc; i++) {
        const struct kind_case *x = &kinds[i];
        const char *text = x->wanted ? x->wanted : x->wanted_link ? x->wanted_link : "";
        struct rewind_target t = { .exact = true,
                                   .want = *text || x->wanted_dir ? REWIND_BYTES : REWIND_ABSENT,
                                   .has_mode = !x->wanted_link,
                                   .mode = x->wanted_dir ? x->wanted_dir : 0640 };

        t.path = folder_path(&y->folder, x->name, path);
        t.source.bytes = slice_of(text);
        t.source.kind = x->wanted_link ? S_IFLNK : x->wanted_dir ? S_IFDIR : 0;
        rc = rewind_plan_add(plan, &t, e);
    }
    return rc;
}

static enum trial_end apply_kinds(struct trial_dir *y)
{
    return rewind_sweep_apply(y, plan_kinds);
}

static void make_kinds_rewound(struct trial_dir *y)
{
    make_kinds(y);
    assert_int_equal(apply_kinds(y), END_DONE);
}

TEST(links_and_directories_go_back_or_none)
{
    struct trial s = { .name = "rewind of links and directories",
                       .make = make_kinds,
                       .act = apply_kinds,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .thorough = true,
                       .stride = 23 };

    trial_must_hold(&s);
}

TEST(undoing_links_and_directories_is_complete_or_absent)
{
    struct trial s = { .name = "undo of links and directories",
                       .make = make_kinds_rewound,
                       .act = rewind_sweep_undo,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_redo,
                       .thorough = true,
                       .stride = 23 };

    trial_must_hold(&s);
}

/* ---- all of them ---- */

static enum err_code any_plan_of(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    return ((const struct sweep *)y->arg)->goat ? goat_plan_of(y, plan, e) : plan_of(y, plan, e);
}

static enum trial_end apply(struct trial_dir *y)
{
    return rewind_sweep_apply(y, any_plan_of);
}

static void make_rewound(struct trial_dir *y)
{
    make_tree(y);
    assert_int_equal(apply(y), END_DONE);
}

TEST(six_files_go_back_or_none)
{
    static const struct sweep six = { .files = 6 };
    struct trial s = { .name = "rewind of 6 files",
                       .make = make_tree,
                       .act = apply,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .arg = &six,
                       .thorough = true,
                       .stride = 7 };

    trial_must_hold(&s);
}

TEST(undoing_a_rewind_is_complete_or_absent)
{
    static const struct sweep six = { .files = 6 };
    struct trial s = { .name = "undo of a rewind of 6 files",
                       .make = make_rewound,
                       .act = rewind_sweep_undo,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_redo,
                       .arg = &six,
                       .thorough = true,
                       .stride = 7 };

    trial_must_hold(&s);
}

/* There are thousands of calls: the long form fails each of them, the short form a few. */
TEST(sixty_files_go_back_or_none)
{
    static const struct sweep sixty = { .files = 60 };
    struct trial s = { .name = "rewind of 60 files",
                       .make = make_tree,
                       .act = apply,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .arg = &sixty,
                       .thorough = true,
                       .stride = 173 };

    trial_must_hold_once(&s);
}

TEST(a_checkpoint_of_a_go_session_is_restored_or_not)
{
    static const struct sweep six = { .files = 6, .goat = true };
    struct trial s = { .name = "rewind of a Go session",
                       .make = make_session,
                       .act = apply,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .arg = &six,
                       .thorough = true,
                       .stride = 11 };

    trial_must_hold(&s);
}

TEST(undoing_sixty_files_is_complete_or_absent)
{
    static const struct sweep sixty = { .files = 60 };
    struct trial s = { .name = "undo of a rewind of 60 files",
                       .make = make_rewound,
                       .act = rewind_sweep_undo,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_redo,
                       .arg = &sixty,
                       .thorough = true,
                       .stride = 173 };

    trial_must_hold_once(&s);
}

TEST_MAIN
{
#ifdef REPRISE_PORTABLE /* the second ways once more: one plan shows them */
    if (!trial_is_long())
        cmocka_set_test_filter("six_*");
#endif
    return test_run(NULL, NULL);
}
