#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "store/git/repo.h"
#include "store/snapshots/hooks.h"
#include "store/snapshots/snapshot.h"
#include "store/systems/claude/claude.h"
#include "store/systems/kimi/kimi.h"
#include "store/systems/pi/pi.h"
#include "tests/sweeps/change_sweep.h"
#include "tests/sweeps/trial.h"

/* A snapshot, broken at every call: each line of the log names a snapshot that can be read whole, nothing below the
 * project changes, and the next snapshot is right whatever the last one left. */

static struct store_env snapshot_env(const struct trial_dir *y, char state[4096])
{
    struct store_env env = y->env;

    env.state_dir = folder_path(&y->folder, "user/state", state);
    return env;
}

static enum trial_end take_snapshot(struct trial_dir *y)
{
    char root[4096], state[4096];
    const struct store_env env = snapshot_env(y, state);
    const struct snapshot_request req = { .agent = "claude",
                                          .session = SLICE("s-1"),
                                          .cwd = folder_path(&y->folder, "project", root),
                                          .limit_ms = 60000 };
    struct err e = { 0 };

    return trial_end_of(snapshot_take(&env, &req, &e), &e);
}

static void make_project(struct trial_dir *y)
{
    folder_put(&y->folder, "project/a", SLICE("1"));
    folder_put(&y->folder, "project/sub/b", SLICE("same"));
    folder_dir(&y->folder, "user");
}

static void make_changed(struct trial_dir *y)
{
    make_project(y);
    assert_int_equal(take_snapshot(y), END_DONE);
    folder_put(&y->folder, "project/a", SLICE("2"));
    folder_put(&y->folder, "project/new/c", SLICE("c"));
}

/* Commits the project with a clock that makes git's list of files older than nothing in it, so that blobs are borrowed. */
static void make_borrowed(struct trial_dir *y)
{
    char line[9000], root[4096];

    make_project(y);
    folder_path(&y->folder, "project", root);
    snprintf(
        line, sizeof line,
        "cd '%s' && git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit "
        "-qm x && touch -d @2000000000 .git/index",
        root);
    assert_int_equal(system(line), 0);
    assert_int_equal(take_snapshot(y), END_DONE);
    folder_put(&y->folder, "project/a", SLICE("2"));
    folder_put(&y->folder, "project/new/c", SLICE("c"));
}

static bool has_file(git_repository *repo, const git_tree *tree, const char *path, const char *want)
{
    struct buf text = { 0 };
    enum err_code rc = repo_blob_at(repo, tree, path, 100, &text, NULL);
    bool is = want ? !rc && slice_eq(buf_slice(&text), slice_of(want)) : rc == ERR_NOT_FOUND;

    buf_fini(&text);
    return is;
}

/* Reads every snapshot of the log; `first` of them are from before the change. */
static bool all_are_whole(const struct trial_dir *y, size_t first)
{
    char root[4096], state[4096];
    const struct store_env env = snapshot_env(y, state);
    struct snapshot_log log;
    bool whole =
        snapshot_log_read(&env, folder_path(&y->folder, "project", root), &log, NULL) == ERR_OK;

    for (size_t i = 0; i < log.n && whole; i++) {
        git_repository *repo = NULL;
        git_tree *tree = NULL;
        git_oid id;
        bool old = i < first;

        whole = log.snapshot[i].tree.n == SNAPSHOT_HEX && !repo_open(log.dir, &repo, NULL) &&
                !git_oid_fromstrn(&id, log.snapshot[i].tree.p, SNAPSHOT_HEX) &&
                !repo_tree(repo, &id, &tree, NULL) &&
                has_file(repo, tree, "new/c", old ? NULL : "c") &&
                has_file(repo, tree, "a", old ? "1" : "2");
        git_tree_free(tree);
        repo_close(repo);
    }
    whole = whole && log.n > first;
    snapshot_log_fini(&log);
    return whole && folder_is(&y->folder, "project/sub/b", "same");
}

static bool changed_is_whole(const struct trial_dir *y, bool done)
{
    (void)done;
    return all_are_whole(y, 1);
}

static bool first_is_whole(const struct trial_dir *y, bool done)
{
    (void)done;
    return all_are_whole(y, 0);
}

static void make_first(struct trial_dir *y)
{
    make_project(y);
    folder_put(&y->folder, "project/a", SLICE("2"));
    folder_put(&y->folder, "project/new/c", SLICE("c"));
}

static void snapshot_must_hold(const char *name, void (*make)(struct trial_dir *y),
                               bool (*whole)(const struct trial_dir *y, bool done))
{
    const struct trial s = { .name = name,
                             .make = make,
                             .act = take_snapshot,
                             .recover = take_snapshot,
                             .tolerates = whole,
                             .leaves = true,
                             .gives_up = true };

    trial_must_hold_once(&s);
}

/* ---- pruning ---- */

static void make_three(struct trial_dir *y)
{
    make_borrowed(y);
    assert_int_equal(take_snapshot(y), END_DONE);
    folder_put(&y->folder, "project/sub/b", SLICE("changed"));
    assert_int_equal(take_snapshot(y), END_DONE);
}

static enum trial_end prune_by(struct trial_dir *y, const struct snapshot_prune_rule *rule)
{
    char state[4096];
    const struct store_env env = snapshot_env(y, state);
    struct snapshot_projects all;
    struct err e = { 0 };
    enum err_code rc = snapshot_projects_read(&env, &all, &e);

    for (size_t i = 0; i < all.n && !rc; i++)
        rc = snapshot_prune(&all.project[i], rule, false, NULL, &e);
    snapshot_projects_fini(&all);
    return trial_end_of(rc, &e);
}

static enum trial_end prune_old(struct trial_dir *y)
{
    return prune_by(y, &(struct snapshot_prune_rule){ .before_ms = INT64_MAX });
}

static enum trial_end prune_file(struct trial_dir *y)
{
    char path[4096];

    return prune_by(
        y, &(struct snapshot_prune_rule){ .before_ms = INT64_MIN,
                                          .path = folder_path(&y->folder, "project/new/c", path) });
}

/* Every snapshot that the log names has its files, of which the tests prune only new/c. */
static bool pruned_is_whole(const struct trial_dir *y, bool done)
{
    static const char *const b[] = { "same", "same", "changed" };
    char root[4096], state[4096];
    const struct store_env env = snapshot_env(y, state);
    struct snapshot_log log;
    bool whole =
        snapshot_log_read(&env, folder_path(&y->folder, "project", root), &log, NULL) == ERR_OK;

    (void)done;
    whole = whole && (log.n == 1 || log.n == 3);
    for (size_t i = 0; i < log.n && whole; i++) {
        git_repository *repo = NULL;
        git_tree *tree = NULL;
        git_oid id;
        const size_t at = 3 - log.n + i;

        whole = !repo_open(log.dir, &repo, NULL) &&
                !git_oid_fromstrn(&id, log.snapshot[i].tree.p, SNAPSHOT_HEX) &&
                !repo_tree(repo, &id, &tree, NULL) && has_file(repo, tree, "a", at ? "2" : "1") &&
                /* the first one's is still borrowed until it changed */
                has_file(repo, tree, "sub/b", b[at]);
        git_tree_free(tree);
        repo_close(repo);
    }
    snapshot_log_fini(&log);
    return whole && folder_is(&y->folder, "project/sub/b", "changed");
}

/* ---- on and off ---- */

static void make_configurations(struct trial_dir *y)
{
    folder_put(&y->folder, "user/.claude/settings.json",
               SLICE("\xEF\xBB\xBF{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {}\r\n}"));
    folder_put(&y->folder, "user/.kimi-code/config.toml", SLICE("a = 1"));
    folder_dir(&y->folder, "user/.pi/agent");
}

static enum trial_end switch_hooks(struct trial_dir *y, bool on)
{
    static const struct store_ops *const agents[] = { &claude_ops, &kimi_ops, &pi_ops };
    enum { AGENTS = sizeof agents / sizeof *agents };
    const struct hook_program program = { .path = "/bin/reprise", .word = "/bin/reprise" };
    struct hook_plan plan[AGENTS];
    const struct hook_plan *change[AGENTS];
    struct store_env env = y->env;
    struct arena a = { 0 };
    struct err e = { 0 };
    enum err_code rc = ERR_OK;
    char id[64];
    size_t n = 0;

    env.home = y->user;
    for (size_t i = 0; i < AGENTS && !rc; i++) {
        rc = hook_plan_make(&env, agents[i], &program, on, &a, &plan[i], &e);
        if (!rc && hook_plan_changes(&plan[i]))
            change[n++] = &plan[i];
    }
    if (!rc)
        rc = n == AGENTS ? hook_plans_apply(&env, change, n, on, id, &e)
                         : err_set(&e, ERR_IO, "", "a configuration cannot be read");
    arena_fini(&a);
    return trial_end_of(rc, &e);
}

static enum trial_end switch_on(struct trial_dir *y)
{
    return switch_hooks(y, true);
}

static enum trial_end switch_off(struct trial_dir *y)
{
    return switch_hooks(y, false);
}

static void make_switched_on(struct trial_dir *y)
{
    make_configurations(y);
    assert_int_equal(switch_on(y), END_DONE);
}

TEST(hooks_are_on_or_off)
{
    struct trial s = { .name = "snapshots on",
                       .make = make_configurations,
                       .act = switch_on,
                       .recover = change_sweep_recover,
                       .undo = change_sweep_undo };

    trial_must_hold_once(&s);
    s.name = "snapshots off";
    s.make = make_switched_on;
    s.act = switch_off;
    trial_must_hold_once(&s);
}

TEST(pruning_old_snapshots_loses_no_other)
{
    const struct trial s = { .name = "prune of old snapshots",
                             .make = make_three,
                             .act = prune_old,
                             .recover = prune_old,
                             .tolerates = pruned_is_whole,
                             .leaves = true,
                             .gives_up = true };

    trial_must_hold_once(&s);
}

TEST(pruning_one_file_loses_no_other)
{
    const struct trial s = { .name = "prune of one file",
                             .make = make_three,
                             .act = prune_file,
                             .recover = prune_file,
                             .tolerates = pruned_is_whole,
                             .leaves = true,
                             .gives_up = true };

    trial_must_hold_once(&s);
}

TEST(a_first_snapshot_is_whole_or_not_there)
{
    snapshot_must_hold("first snapshot", make_first, first_is_whole);
}

TEST(a_later_snapshot_loses_no_earlier_one)
{
    snapshot_must_hold("snapshot of a changed project", make_changed, changed_is_whole);
}

TEST(a_borrowed_file_is_not_lost)
{
    snapshot_must_hold("snapshot that copies borrowed files", make_borrowed, changed_is_whole);
}
