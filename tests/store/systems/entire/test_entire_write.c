#include "tests/support/entire_fixture.h"

#include "tests/test.h"

#include <dirent.h>
#include <stdlib.h>

#include "store/api/host.h"
#include "store/redact/redact.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/common/go_json.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/catalog.h"
#include "store/systems/entire/read/point.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/committed_write.h"
#include "store/systems/entire/write/treewrite.h"

#define A "a1b2c3d4-0001-4000-8000-00000000000a"
#define B "b1b2c3d4-0002-4000-8000-00000000000b"
#define M "e1b2c3d4-0001-4000-8000-00000000000a"

static void assert_bytes(struct slice got, struct slice want)
{
    if (!slice_eq(got, want))
        fail_msg("got:\n%.*s\nwant:\n%.*s", SLICE_ARG(got), SLICE_ARG(want));
}

/* Every state file of the fixtures. */
TEST(states_are_written_as_they_were_read)
{
    static const char *const worlds[] = { "two-sessions", "edge", "migration" };
    int seen = 0;

    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        struct entire_fixture w;
        char dir[4096], name[600];
        struct dirent *x;

        entire_fixture_make(&w, worlds[i]);
        snprintf(name, sizeof name, "%s/.git/entire-sessions", worlds[i]);
        DIR *d = opendir(folder_path(&w.folder, name, dir));

        assert_non_null(d);
        while ((x = readdir(d))) {
            struct buf out = { 0 };
            size_t n;

            if (x->d_name[0] == '.' || strcmp(x->d_name, "broken.json") == 0 ||
                !strstr(x->d_name, ".json") || strstr(x->d_name, ".tmp"))
                continue;
            snprintf(name, sizeof name, "%s/.git/entire-sessions/%s", worlds[i], x->d_name);
            char *json = folder_get(&w.folder, name, &n);

            assert_int_equal(state_render((struct slice){ json, n }, NULL, 0, &out), ERR_OK);
            assert_bytes(buf_slice(&out), (struct slice){ json, n });
            buf_fini(&out);
            free(json);
            seen++;
        }
        closedir(d);
        entire_fixture_remove(&w);
    }
    assert_int_equal(seen, 7);
}

TEST(an_unknown_future_member_keeps_its_place)
{
    struct buf out = { 0 };
    const struct go_json_member set[] = {
        { "phase", SLICE("\"idle\"") },
        { "ended_at", SLICE("") },
        { "checkpoint_count", SLICE("3") },
        { "worktree_path", SLICE("\"/w\"") },
    };

    assert_int_equal(
        state_render(SLICE("{\"session_id\":\"s\",\"ended_at\":\"x\",\"phase\":\"active\","
                           "\"owner\":{\"name\":\"a<b\",\"n\":1.50},\"files_touched\":[]}"),
                     set, 4, &out),
        ERR_OK);
    assert_bytes(buf_slice(&out),
                 SLICE("{\n  \"session_id\": \"s\",\n  \"worktree_path\": \"/w\",\n"
                       "  \"phase\": \"idle\",\n"
                       "  \"owner\": {\n    \"name\": \"a<b\",\n    \"n\": 1.50\n  },\n"
                       "  \"checkpoint_count\": 3,\n  \"files_touched\": []\n}\n"));
    buf_fini(&out);
}

/* ---- real commits ---- */

static struct author author_of(const git_signature *s)
{
    return (struct author){ .name = slice_of(s->name),
                            .email = slice_of(s->email),
                            .at = s->when.time,
                            .offset = s->when.offset };
}

/* Rebuilds the commit's tree, file by file on top of its parent's. */
static git_oid rebuilt_tree(git_repository *repo, git_commit *c)
{
    git_tree *tree = NULL, *before = NULL;
    git_commit *up = NULL;
    git_diff *diff = NULL;
    struct treewrite t;
    git_oid out;

    assert_int_equal(git_commit_tree(&tree, c), 0);
    if (git_commit_parentcount(c)) {
        assert_int_equal(git_commit_parent(&up, c, 0), 0);
        assert_int_equal(git_commit_tree(&before, up), 0);
    }
    assert_int_equal(git_diff_tree_to_tree(&diff, repo, before, tree, NULL), 0);
    assert_int_equal(treewrite_open(repo, before ? git_tree_id(before) : NULL, &t, NULL), ERR_OK);
    for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
        const git_diff_delta *d = git_diff_get_delta(diff, i);
        struct buf bytes = { 0 }, again = { 0 };
        struct go_json_document g;

        assert_int_equal(repo_blob(repo, &d->new_file.id, 1 << 20, &bytes, NULL), ERR_OK);
        if (strstr(d->new_file.path, "metadata.json")) {
            go_json_document_init(&g, &again);
            go_json_document_value(&g, (struct slice){ bytes.p, bytes.n - 1 });
            go_json_document_end(&g);
            assert_bytes(buf_slice(&again), buf_slice(&bytes));
        }
        assert_int_equal(treewrite_add_bytes(&t, d->new_file.path, buf_slice(&bytes), NULL),
                         ERR_OK);
        buf_fini(&bytes);
        buf_fini(&again);
    }
    assert_int_equal(treewrite_finish(&t, &out, NULL), ERR_OK);
    treewrite_close(&t);
    git_diff_free(diff);
    git_tree_free(tree);
    git_tree_free(before);
    git_commit_free(up);
    return out;
}

/* The shadow branch that a checkpoint was condensed from has the name of the parent of the commit that carries it. */
static void assert_shadow_named(git_repository *repo, struct slice checkpoint, struct slice shadow)
{
    struct arena a = { 0 };
    struct links links;
    git_commit *c = NULL;
    char hex[GIT_OID_HEXSZ + 1], name[ENTIRE_SHADOW_NAME];

    assert_int_equal(point_links_read(repo, &a, &links, NULL), ERR_OK);
    const struct link *link = point_link_find(&links, checkpoint);

    assert_non_null(link);
    assert_int_equal(git_commit_lookup(&c, repo, &link->commit), 0);
    git_oid_tostr(hex, sizeof hex, git_commit_parent_id(c, 0));
    entire_shadow_name(slice_of(hex), SLICE(""), name);
    assert_bytes(slice_of(name), shadow);
    git_commit_free(c);
    arena_fini(&a);
}

/* The commits of a real branch, rebuilt from their contents. */
TEST(real_commits_are_reproduced_byte_for_byte)
{
    struct folder f;
    git_repository *repo;
    git_oid at;
    char path[4096], command[8192];
    int same = 0;

    folder_make(&f);
    snprintf(command, sizeof command, "git clone -q --mirror '%s' '%s' 2>/dev/null", ENTIRE_BUNDLE,
             folder_path(&f, "real", path));
    assert_int_equal(system(command), 0);
    assert_int_equal(repo_open(path, &repo, NULL), ERR_OK);
    for (bool more = repo_has_ref(repo, "refs/heads/entire/checkpoints/v1", &at); more;) {
        git_commit *c = NULL;
        struct buf message = { 0 };
        git_oid made, up;

        assert_int_equal(git_commit_lookup(&c, repo, &at), 0);
        struct slice raw = slice_of(git_commit_message_raw(c)), subject = entire_subject(raw);
        bool parent = git_commit_parentcount(c) > 0;

        if (parent) {
            struct committed_session s = {
                .checkpoint = { subject.p + 12, subject.n - 12 },
                .session = entire_trailer_first(raw, TRAILER_SESSION),
                .strategy = entire_trailer_first(raw, TRAILER_STRATEGY),
                .agent = entire_trailer_first(raw, TRAILER_AGENT),
                .shadow = entire_trailer_first(raw, TRAILER_BRANCH),
            };

            assert_int_equal(committed_message(&s, &message), ERR_OK);
            assert_shadow_named(repo, s.checkpoint, s.shadow);
            up = *git_commit_parent_id(c, 0);
        } else {
            assert_int_equal(buf_add(&message, slice_of(committed_first_message)), ERR_OK);
        }
        const struct commit_text text = { .tree = rebuilt_tree(repo, c),
                                          .parent = &up,
                                          .parents = parent,
                                          .author = author_of(git_commit_author(c)),
                                          .committer = author_of(git_commit_committer(c)),
                                          .message = buf_slice(&message) };

        assert_int_equal(treewrite_commit(repo, &text, &made, NULL), ERR_OK);
        assert_true(git_oid_equal(&made, &at));
        same++;
        more = parent;
        if (parent)
            at = up;
        buf_fini(&message);
        git_commit_free(c);
    }
    assert_int_equal(same, 5);
    repo_close(repo);
    folder_remove(&f);
}

/* ---- temporary checkpoints ---- */

static char *facts(struct entire_fixture *w)
{
    return entire_fixture_git(w,
                              "rev-parse HEAD && git symbolic-ref HEAD && sha256sum .git/index && "
                              "git branch --list 'feature/*' 'main'");
}

static struct host_checkpointed checkpoint(struct entire_fixture *w, const char *id,
                                           const char *prompt, const char *file)
{
    struct session_ref ref = entire_fixture_find(w, id);
    char path[4096];
    const char *files[] = { path };
    struct host_checkpointed out;
    struct err e;

    snprintf(path, sizeof path, "%s/%s", w->repo, file);
    const struct host_checkpoint req = { .message = slice_of(prompt), .file = files, .files = 1 };
    enum err_code rc = host_checkpoint(w->store, &ref, &req, &w->arena, &out, &e);

    if (rc)
        fail_msg("%s: %s", e.path, e.text);
    return out;
}

TEST(a_checkpoint_is_a_commit_of_the_shadow_branch)
{
    struct entire_fixture w;

    entire_fixture_make(&w, "two-sessions");
    char *before = facts(&w), *tip = entire_fixture_git(&w, "rev-parse entire/6d28ff0-e3b0c4 "
                                                            "2>/dev/null || git for-each-ref "
                                                            "--format='%%(objectname)' "
                                                            "'refs/heads/entire/*-e3b0c4'");
    char *branch = entire_fixture_git(&w, "for-each-ref --format='%%(refname)' "
                                          "'refs/heads/entire/*-e3b0c4'");

    free(entire_fixture_sh(&w, "echo 'int more;' > two-sessions/src/more.c"));
    struct host_checkpointed made = checkpoint(&w, A, "Could you add more?", "src/more.c");
    char *now = entire_fixture_git(&w, "rev-parse %s", branch);

    assert_bytes(made.id, slice_of(now));
    char *up = entire_fixture_git(&w, "rev-parse %s^", branch);

    assert_string_equal(up, tip);
    char *said = entire_fixture_git(&w, "log -1 --format=%%B %s", branch);

    assert_string_equal(said, "Add more\n\nEntire-Metadata: .entire/metadata/" A
                              "\nEntire-Session: " A "\nEntire-Strategy: manual-commit");
    char *changed = entire_fixture_git(&w, "diff --name-only %s %s", tip, branch);

    assert_string_equal(changed, ".entire/metadata/" A "/prompt.txt\nsrc/more.c");
    char *after = facts(&w);

    assert_string_equal(before, after);
    free(entire_fixture_git(&w, "fsck --strict"));
    char *count =
        entire_fixture_sh(&w, "grep checkpoint_count two-sessions/.git/entire-sessions/" A ".json");

    assert_string_equal(count, "  \"checkpoint_count\": 4,");

    /* Nothing changed: no commit. */
    made = checkpoint(&w, A, "Could you add more?", "src/more.c");
    assert_int_equal(made.fresh, 0);
    assert_bytes(made.id, slice_of(now));
    free(before), free(tip), free(branch), free(now), free(up), free(said), free(changed);
    free(after), free(count);
    entire_fixture_remove(&w);
}

TEST(a_shadow_branch_follows_head)
{
    struct entire_fixture w;

    entire_fixture_make(&w, "migration");
    char *old =
             entire_fixture_sh(&w, "awk '/^ref_before/{print $2}' expected/migration/expected.txt"),
         *tip =
             entire_fixture_sh(&w, "awk '/^ref_before/{print $3}' expected/migration/expected.txt"),
         *new =
             entire_fixture_sh(&w, "awk '/^ref_after/{print $2}' expected/migration/expected.txt"),
         *head = entire_fixture_git(&w, "rev-parse HEAD");

    free(entire_fixture_sh(&w, "echo 'int x;' > migration/src/x.c"));
    checkpoint(&w, M, "More", "src/x.c");
    char *up = entire_fixture_git(&w, "rev-parse %s^ && ! git rev-parse -q --verify %s", new, old);

    assert_string_equal(up, tip);
    char *base = entire_fixture_sh(&w, "grep '\"base_commit' migration/.git/entire-sessions/" M
                                       ".json | tr -d ' \",' | cut -d: -f2");

    assert_string_equal(base, head);
    char *attribution =
        entire_fixture_sh(&w, "grep -c \"attribution_base_commit.*$(awk '/^state_before/"
                              "{sub(/base_commit=/, \"\", $2); print $2}' "
                              "expected/migration/expected.txt)\" "
                              "migration/.git/entire-sessions/" M ".json");

    assert_string_equal(attribution, "1");
    free(old), free(tip), free(new), free(head), free(up), free(base), free(attribution);
    entire_fixture_remove(&w);
}

/* ---- committed checkpoints ---- */

static void say(struct entire_fixture *w, const char *id, const char *key, const char *value)
{
    struct session_ref ref = entire_fixture_find(w, id);
    const struct host_setting s = { slice_of(key), slice_of(value) };
    struct err e;

    if (host_set(w->store, &ref, &s, 1, &e))
        fail_msg("%s: %s", e.path, e.text);
}

TEST(a_commit_condenses_the_sessions_it_names)
{
    struct entire_fixture w;

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_git(&w,
                            "add -A src docs tests README.md run.sh && git commit -qm 'Login\n\n"
                            "Entire-Checkpoint: 0123456789ab'"));
    say(&w, A, "event", "commit");
    char *branches = entire_fixture_git(&w, "for-each-ref --format='%%(refname)' "
                                            "'refs/heads/entire/*-e3b0c4' | wc -l");

    assert_int_equal(atoi(branches), 1); /* B has work on it */
    say(&w, B, "event", "commit");
    free(branches);
    branches = entire_fixture_git(&w, "for-each-ref --format='%%(refname)' "
                                      "'refs/heads/entire/*-e3b0c4' | wc -l");
    assert_int_equal(atoi(branches), 0);
    free(entire_fixture_git(&w, "fsck --strict 2>&1"));
    char *names = entire_fixture_git(&w, "ls-tree -r --name-only entire/checkpoints/v1");

    assert_string_equal(names, "01/23456789ab/0/content_hash.txt\n01/23456789ab/0/full.jsonl\n"
                               "01/23456789ab/0/metadata.json\n01/23456789ab/0/prompt.txt\n"
                               "01/23456789ab/1/content_hash.txt\n01/23456789ab/1/full.jsonl\n"
                               "01/23456789ab/1/metadata.json\n01/23456789ab/1/prompt.txt\n"
                               "01/23456789ab/metadata.json");
    char *root = entire_fixture_git(&w, "show entire/checkpoints/v1:01/23456789ab/metadata.json");

    assert_non_null(strstr(root, "\"checkpoints_count\": 5,"));
    assert_non_null(strstr(root, "\"/01/23456789ab/1/full.jsonl\""));
    char *hash =
             entire_fixture_git(&w, "show entire/checkpoints/v1:01/23456789ab/0/content_hash.txt"),
         *sum = entire_fixture_git(&w, "show entire/checkpoints/v1:01/23456789ab/0/full.jsonl | "
                                       "sha256sum | cut -d' ' -f1");

    assert_string_equal(hash + strlen("sha256:"), sum);
    char *json = entire_fixture_sh(&w, "cat two-sessions/.git/entire-sessions/" A ".json");

    assert_non_null(strstr(json, "\"checkpoint_count\": 0,"));
    assert_non_null(strstr(json, "\"last_checkpoint_id\": \"0123456789ab\""));
    assert_null(strstr(json, "files_touched"));
    char *message = entire_fixture_git(&w, "log -1 --format=%%s entire/checkpoints/v1");

    assert_string_equal(message, "Checkpoint: 0123456789ab");
    free(branches), free(names), free(root), free(hash), free(sum), free(json), free(message);
    entire_fixture_remove(&w);
}

/* The document lists the sessions of the checkpoint, so a new one would forget them. */
TEST(a_checkpoint_with_a_damaged_document_is_not_written)
{
    struct entire_fixture w;
    const struct host_setting commit = { SLICE("event"), SLICE("commit") };
    struct err e = { 0 };

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_git(&w,
                            "add -A src docs tests README.md run.sh && git commit -qm 'Login\n\n"
                            "Entire-Checkpoint: 0123456789ab'"));
    say(&w, A, "event", "commit");
    char *damaged = entire_fixture_sh(
        &w,
        "cd two-sessions && export GIT_INDEX_FILE=.git/x && git read-tree entire/checkpoints/v1 && "
        "git update-index --add --cacheinfo 100644,$(echo broken | git hash-object -w --stdin)"
        ",01/23456789ab/metadata.json && git update-ref refs/heads/entire/checkpoints/v1 $(git "
        "commit-tree -p entire/checkpoints/v1 -m x $(git write-tree)) && rm .git/x && git "
        "rev-parse "
        "entire/checkpoints/v1");
    struct session_ref ref = entire_fixture_find(&w, B);

    assert_int_equal(host_set(w.store, &ref, &commit, 1, &e), ERR_FORMAT);
    assert_non_null(strstr(e.text, "its root document is damaged"));
    char *now = entire_fixture_git(&w, "rev-parse entire/checkpoints/v1");

    assert_string_equal(now, damaged);
    free(damaged), free(now);
    entire_fixture_remove(&w);
}

/* The transcript of a checkpoint made within a turn is completed when the turn ends, and at no other event. */
TEST(only_the_end_of_a_turn_completes_its_checkpoints)
{
    struct entire_fixture w;
    struct host_appended rows;
    const struct slice row[] = { SLICE(
        "{\"type\":\"user\",\"uuid\":\"u9\",\"sessionId\":\"" A
        "\",\"message\":{\"role\":\"user\",\"content\":\"more\"}}") };
    const struct host_append add = { .row = row, .n = 1 };

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_git(&w, "add -A src && git commit -qm 'Login\n\n"
                                "Entire-Checkpoint: 0123456789ab'"));
    say(&w, A, "event", "turn-start");
    say(&w, A, "event", "commit");

    struct session_ref ref = entire_fixture_find(&w, A);
    char *committed = entire_fixture_git(&w, "rev-parse entire/checkpoints/v1");

    assert_int_equal(host_append(w.store, &ref, &add, &w.arena, &rows, NULL), ERR_OK);
    say(&w, A, "event", "turn-start");
    say(&w, A, "first-prompt", "hi");
    char *same = entire_fixture_git(&w, "rev-parse entire/checkpoints/v1");

    assert_string_equal(same, committed);

    const struct host_setting bad[] = { { SLICE("event"), SLICE("turn-end") },
                                        { SLICE("no-such-key"), SLICE("x") } };

    assert_int_equal(host_set(w.store, &ref, bad, 2, NULL), ERR_USAGE);
    free(same);
    same = entire_fixture_git(&w, "rev-parse entire/checkpoints/v1");
    assert_string_equal(same, committed);
    say(&w, A, "event", "turn-end");
    char *completed =
        entire_fixture_git(&w, "show entire/checkpoints/v1:01/23456789ab/0/full.jsonl");

    assert_non_null(strstr(completed, "\"more\""));
    free(committed), free(same), free(completed);
    entire_fixture_remove(&w);
}

/* The agent's own folders are not part of a rewind; a checkpoint with files in them states their number. */
TEST(files_of_the_agents_own_folders_are_counted)
{
    struct entire_fixture w;
    struct rewind_plan plan;
    bool counted = false;

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_git(&w,
                            "add -A src && mkdir -p .claude .gemini && echo {} > .claude/a.json && "
                            "echo {} > .gemini/b.json && git add -f .claude .gemini && "
                            "git commit -qm 'Login\n\nEntire-Checkpoint: 0123456789ab'"));
    say(&w, A, "event", "commit");

    struct session_ref ref = entire_fixture_find(&w, A);

    assert_int_equal(entire_ops.plan(w.store, &ref, SLICE("0123456789ab"), &plan, NULL), ERR_OK);
    for (size_t i = 0; i < plan.notes; i++)
        counted |= strncmp(plan.note[i], "3 files in .claude or .gemini", 29) == 0;
    assert_true(counted);
    for (size_t i = 0; i < plan.n; i++)
        assert_null(strstr(plan.target[i].path, "/.claude/"));
    rewind_plan_fini(&plan);
    entire_fixture_remove(&w);
}

TEST(secrets_are_redacted_before_a_push)
{
    struct buf out = { 0 };

    assert_int_equal(
        redact_json_rows(
            SLICE("{\"name\":\"aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY\",\"sessionId\":\"s\","
                  "\"text\":\"key aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY\\nhello_world_again\","
                  "\"signature\":\"aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz\"}\n"),
            &out, NULL),
        ERR_OK);
    assert_bytes(buf_slice(&out), SLICE("{\"name\":\"REDACTED\",\"sessionId\":\"s\","
                                        "\"text\":\"key REDACTED\\nhello_world_again\","
                                        "\"signature\":\"aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz\"}\n"));
    buf_fini(&out);
}

TEST(a_host_runs_a_session_from_end_to_end)
{
    struct entire_fixture w;
    struct host_created made;
    struct host_appended rows;

    entire_fixture_make(&w, "two-sessions");
    const struct host_create req = { .id = SLICE("host-1"), .cwd = slice_of(w.repo) };

    assert_int_equal(host_create(w.store, &req, &w.arena, &made, NULL), ERR_OK);
    assert_int_equal(host_create(w.store, &req, &w.arena, &made, NULL), ERR_STALE);
    struct session_ref ref = entire_fixture_find(&w, "host-1");
    const struct slice row[] = { SLICE(
        "{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"host-1\","
        "\"message\":{\"role\":\"user\",\"content\":\"hi\"}}") };
    const struct host_append add = { .row = row, .n = 1 };

    assert_int_equal(host_append(w.store, &ref, &add, &w.arena, &rows, NULL), ERR_OK);
    assert_bytes(rows.id[0], SLICE("u1"));
    say(&w, "host-1", "first-prompt", "hi");
    say(&w, "host-1", "event", "turn-start");
    struct transcript *t;

    assert_int_equal(entire_ops.load(w.store, &ref, NULL, &t, NULL), ERR_OK);
    assert_int_equal(t->n, 1);
    transcript_free(t);
    checkpoint(&w, "host-1", "hi", "notes.txt");
    say(&w, "host-1", "event", "turn-end");
    say(&w, "host-1", "event", "session-stop");
    char *json =
        entire_fixture_sh(&w, "cat two-sessions/.git/entire-sessions/host-1.json && stat -c "
                              "%%a two-sessions/.git/entire-sessions/host-1.json");

    assert_non_null(strstr(json, "\"phase\": \"ended\""));
    assert_non_null(strstr(json, "\"ended_at\": "));
    assert_non_null(strstr(json, "}\n600"));
    free(json);
    entire_fixture_remove(&w);
}

/* The base is known from the first commit on; until then a checkpoint has no parent. */
TEST(a_session_can_begin_before_the_first_commit)
{
    struct entire_fixture w;
    struct host_created made;

    entire_fixture_make(&w, "two-sessions");
    free(entire_fixture_sh(&w,
                           "mkdir fresh && cd fresh && git init -q . && git config user.name a && "
                           "git config user.email b && mkdir .git/entire-sessions && echo x > f"));
    entire_fixture_open(&w, "fresh");
    const struct host_create req = { .id = SLICE("early"), .cwd = slice_of(w.repo) };

    assert_int_equal(host_create(w.store, &req, &w.arena, &made, NULL), ERR_OK);
    struct session_ref ref = entire_fixture_find(&w, "early");
    const struct host_checkpoint ask = { .message = SLICE("go") };
    struct host_checkpointed done;

    assert_int_equal(entire_ops.checkpoint(w.store, &ref, &ask, &w.arena, &done, NULL), ERR_FORMAT);
    free(entire_fixture_git(&w, "commit -q --allow-empty -m first && "
                                "git branch entire/-e3b0c4"));
    ref = entire_fixture_find(&w, "early");
    assert_int_equal(entire_ops.checkpoint(w.store, &ref, &ask, &w.arena, &done, NULL), ERR_OK);
    free(entire_fixture_git(
        &w, "rev-parse -q --verify entire/-e3b0c4 && H=$(git rev-parse HEAD) && "
            "git cat-file -e entire/$(echo $H | cut -c1-7)-e3b0c4:f && "
            "test $(grep -c \"base_commit\\\": \\\"$H\\\"\" .git/entire-sessions/early.json) = 2"));
    entire_fixture_remove(&w);
}
