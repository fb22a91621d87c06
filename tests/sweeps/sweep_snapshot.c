#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "store/git/repo.h"
#include "store/snapshots/hooks.h"
#include "store/snapshots/snapshot.h"
#include "tests/sweeps/change_sweep.h"
#include "tests/sweeps/trial.h"

enum { SWEEP_AGENTS = 32 };

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

/* Every snapshot that the log names has its files, of which the tests prune only new/c. `more`: one was taken since. */
static bool snapshots_are_whole(const struct trial_dir *y, size_t more)
{
    static const char *const b[] = { "same", "same", "changed", "changed" };
    char root[4096], state[4096];
    const struct store_env env = snapshot_env(y, state);
    struct snapshot_log log;
    bool whole =
        snapshot_log_read(&env, folder_path(&y->folder, "project", root), &log, NULL) == ERR_OK;

    whole = whole && (log.n == 1 + more || log.n == 3 + more);
    for (size_t i = 0; i < log.n && whole; i++) {
        git_repository *repo = NULL;
        git_tree *tree = NULL;
        git_oid id;
        const size_t at = 3 + more - log.n + i;

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

static bool pruned_is_whole(const struct trial_dir *y, bool done)
{
    (void)done;
    return snapshots_are_whole(y, 0);
}

static bool pruned_is_whole_and_more(const struct trial_dir *y, bool done)
{
    (void)done;
    return snapshots_are_whole(y, 1);
}

/* ---- on and off ---- */

static const struct hook_program sweep_program = { .path = "/bin/reprise", .word = "/bin/reprise" };

/* The agent of the case, or every agent that has hooks. */
static bool is_agent_of(const struct trial_dir *y, const struct store_ops *ops)
{
    return ops->hooks && (!y->arg || y->arg == ops);
}

/* A document of each agent in the form that it has, with what only bytes can say of it: no newline at its end, a byte order
 * mark, CRLF, a tab. */
static void make_configurations(struct trial_dir *y)
{
    struct store_env env = y->env;

    env.home = y->user;
    for (size_t i = 0; store_systems[i]; i++) {
        if (!is_agent_of(y, store_systems[i]))
            continue;
        const struct agent_hooks *hooks = store_systems[i]->hooks;
        char *path = hooks->path(&env), above[4096];

        assert_non_null(path);
        const char *name = path + strlen(y->user) - strlen("user");

        if (hooks->form == HOOK_NESTED || hooks->form == HOOK_FLAT)
            folder_put(&y->folder, name,
                       hooks->form == HOOK_FLAT
                           ? SLICE("{\"version\": 1}")
                           : SLICE("\xEF\xBB\xBF{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {}\r\n}"));
        else if (hooks->form == HOOK_TABLES)
            folder_put(&y->folder, name, SLICE("a = 1"));
        snprintf(above, sizeof above, "%.*s", (int)(strrchr(name, '/') - name), name);
        if (hooks->form == HOOK_FILE)
            folder_dir(&y->folder, above);
        free(path);
    }
}

static enum trial_end switch_hooks(struct trial_dir *y, bool on)
{
    struct hook_plan plan[SWEEP_AGENTS];
    const struct hook_plan *change[SWEEP_AGENTS];
    struct store_env env = y->env;
    struct arena a = { 0 };
    struct err e = { 0 };
    enum err_code rc = ERR_OK;
    char id[64];
    size_t n = 0, agents = 0;

    env.home = y->user;
    for (size_t i = 0; store_systems[i] && !rc; i++) {
        if (!is_agent_of(y, store_systems[i]))
            continue;
        assert_true(agents < SWEEP_AGENTS);
        rc = hook_plan_make(&env, store_systems[i], &sweep_program, on, &a, &plan[agents], &e);
        if (!rc && hook_plan_changes(&plan[agents]))
            change[n++] = &plan[agents];
        agents++;
    }
    if (!rc)
        rc = n && n == agents ? hook_plans_apply(&env, change, n, on, id, &e)
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

static void hooks_must_hold(const struct store_ops *ops)
{
    char name[64];
    struct trial s = { .name = name,
                       .make = make_configurations,
                       .act = switch_on,
                       .recover = change_sweep_recover,
                       .undo = change_sweep_undo,
                       .arg = ops };

    snprintf(name, sizeof name, "snapshots on %s", ops ? ops->name : "");
    trial_must_hold_once(&s);
    snprintf(name, sizeof name, "snapshots off %s", ops ? ops->name : "");
    s.make = make_switched_on;
    s.act = switch_off;
    trial_must_hold_once(&s);
}

TEST(hooks_of_all_agents_are_on_or_off)
{
    hooks_must_hold(NULL);
}

TEST(hooks_of_each_agent_are_on_or_off)
{
    for (size_t i = 0; store_systems[i]; i++)
        if (store_systems[i]->hooks)
            hooks_must_hold(store_systems[i]);
}

/* What the hooks leave behind at the end of a turn, a day after the last time. */
static enum trial_end prune_daily(struct trial_dir *y)
{
    char root[4096], state[4096];
    struct store_env env = snapshot_env(y, state);
    struct snapshot_prune_rule rule = { .before_ms = INT64_MAX, .yields = true };
    struct err e = { 0 };
    bool due;

    env.now_ms = time_clock_ms(CLOCK_REALTIME) + INT64_C(3) * 24 * 60 * 60 * 1000;
    return trial_end_of(
        snapshot_prune_due(&env, folder_path(&y->folder, "project", root), &rule, false, &due, &e),
        &e);
}

/* The next prompt may come at any moment of it, and has its snapshot. */
static enum trial_end snapshot_after_all(struct trial_dir *y)
{
    return take_snapshot(y);
}

TEST(a_daily_pruning_loses_nothing)
{
    struct trial s = { .name = "daily prune",
                       .make = make_three,
                       .act = prune_daily,
                       .recover = prune_daily,
                       .tolerates = pruned_is_whole,
                       .leaves = true,
                       .gives_up = true };

    trial_must_hold_once(&s);
    s.name = "daily prune, then a prompt";
    s.recover = snapshot_after_all;
    s.tolerates = pruned_is_whole_and_more;
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
