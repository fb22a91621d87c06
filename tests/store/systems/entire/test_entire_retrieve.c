#include "tests/support/entire_fixture.h"

#include "tests/test.h"

#include <stdlib.h>

#include "store/api/restore.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/entire/entire.h"

#define S "c1b2c3d4-0002-4000-8000-00000000000b"
#define A "c1b2c3d4-0001-4000-8000-00000000000a"

/* Makes one request; the plan is carried out if `apply`. */
static enum retrieve_state ask(struct entire_fixture *w, const char *id, const char *at,
                               bool overwrite, bool apply, size_t *written)
{
    struct session_ref ref = entire_fixture_find(w, id);
    const struct retrieve_request req = { .at = slice_of(at), .overwrite = overwrite };
    struct change *c = change_new("retrieve");
    struct retrieved r;
    struct err e;
    enum err_code rc = entire_ops.retrieve(w->store, &ref, &req, c, &r, &e);

    if (rc)
        fail_msg("%s: %s", e.path, e.text);
    *written = 0;
    for (size_t i = 0; i < r.n; i++)
        *written += r.item[i].planned;
    if (apply && c->n) {
        char command[5000];

        snprintf(command, sizeof command, "mkdir -p '%s'", r.item[0].folder);
        assert_int_equal(system(command), 0);
        c->text = "back";
        assert_int_equal(change_do(&w->env, c, NULL), ERR_OK);
    }
    enum retrieve_state state = r.item[0].state;

    retrieved_fini(&r);
    change_free(c);
    return state;
}

/* The live transcripts are moved away first: only the checkpoints have them. */
static void make(struct entire_fixture *w, const char *which)
{
    entire_fixture_make(w, which);
    free(entire_fixture_sh(w, "mv home/.claude home/away"));
    /* A state's path counts only if it is one of the agent's directories. */
    free(entire_fixture_sh(
        w,
        "sed -i 's|\"transcript_path\": \".*\"|\"transcript_path\": \"/etc/x.jsonl\"|' "
        "%s/.git/entire-sessions/*.json 2>/dev/null || true",
        which));
}

TEST(a_transcript_is_retrieved_and_newer_ones_are_kept)
{
    struct entire_fixture w;
    size_t written;
    char *path;

    make(&w, "committed");
    path = entire_fixture_sh(&w, "printf 'home/.claude/projects/%%s/" S ".jsonl' "
                                 "\"$(printf %%s \"$PWD/committed\" | tr -c 'A-Za-z0-9' -)\"");
    assert_int_equal(ask(&w, S, "", false, false, &written), RETRIEVE_NEW);
    assert_false(folder_has(&w.folder, path));
    assert_int_equal(ask(&w, S, "", false, true, &written), RETRIEVE_NEW);
    free(entire_fixture_sh(&w, "cmp %s home/away/projects/-srv-demo/" S ".jsonl", path));
    assert_int_equal(ask(&w, S, "", false, true, &written), RETRIEVE_UNCHANGED);
    assert_int_equal(written, 0);

    /* A long last row, and a newer one. */
    free(entire_fixture_sh(
        &w,
        "{ printf '{\"type\":\"x\",\"text\":\"'; head -c 100000 /dev/zero | tr '\\0' x; "
        "printf '\",\"timestamp\":\"2027-01-01T00:00:00.000Z\"}\\n'; } >> %s",
        path));
    char *newer = entire_fixture_sh(&w, "sha256sum < %s", path);

    assert_int_equal(ask(&w, S, "", false, true, &written), RETRIEVE_LOCAL_NEWER);
    assert_int_equal(written, 0);
    char *still = entire_fixture_sh(&w, "sha256sum < %s", path);

    assert_string_equal(newer, still);
    assert_int_equal(ask(&w, S, "", true, true, &written), RETRIEVE_LOCAL_NEWER);
    assert_int_equal(written, 1);
    free(entire_fixture_sh(&w, "cmp %s home/away/projects/-srv-demo/" S ".jsonl", path));

    /* The old file is kept. */
    struct change_log *log;

    assert_int_equal(change_log_open(&w.env, &log, NULL), ERR_OK);
    assert_int_equal(change_undo(log, NULL, NULL, NULL), ERR_OK);
    change_log_close(log);
    free(still);
    still = entire_fixture_sh(&w, "sha256sum < %s", path);
    assert_string_equal(newer, still);

    free(entire_fixture_sh(&w, "sed -i '2,$d' %s", path));
    assert_int_equal(ask(&w, S, "", false, false, &written), RETRIEVE_NEWER);
    assert_int_equal(written, 1);
    free(newer), free(still), free(path);
    entire_fixture_remove(&w);
}

TEST(a_checkpoint_retrieves_all_its_sessions)
{
    struct entire_fixture w;
    size_t written;

    make(&w, "committed");
    assert_int_equal(ask(&w, A, "5f0c11d2ab34", false, true, &written), RETRIEVE_NEW);
    assert_int_equal(written, 2);
    free(entire_fixture_sh(&w, "test -s home/.claude/projects/*/" A ".jsonl && "
                               "test -s home/.claude/projects/*/" S ".jsonl"));
    /* A transcript in three pieces, and its checksum. */
    assert_int_equal(ask(&w, A, "77aa88bb99cc", true, true, &written), RETRIEVE_UNCHANGED);
    entire_fixture_remove(&w);
}

TEST(a_task_checkpoint_ends_at_the_task)
{
    struct entire_fixture w;
    size_t written;

    make(&w, "two-sessions");
    char *hash =
        entire_fixture_sh(&w, "awk '$2==1770631800{print $1}' expected/two-sessions/points.tsv");

    assert_int_equal(ask(&w, "a1b2c3d4-0001-4000-8000-00000000000a", hash, false, true, &written),
                     RETRIEVE_NEW);
    char *last = entire_fixture_sh(&w, "tail -n 1 home/.claude/projects/*/a1b2*.jsonl");

    assert_non_null(strstr(last, "\"uuid\":\"rt1\""));
    free(hash), free(last);
    entire_fixture_remove(&w);
}

TEST(the_session_resumes_in_its_own_agent)
{
    struct entire_fixture w;

    entire_fixture_make(&w, "committed");
    struct session_ref ref = entire_fixture_find(&w, S);

    assert_string_equal(entire_ops.agent(w.store, &ref), "claude");
    entire_fixture_remove(&w);
}

/* Claude Code's print mode accepts only a UUID. */
TEST(an_old_id_contains_the_agents_uuid)
{
    struct entire_fixture w;
    size_t written;

    make(&w, "committed");
    assert_int_equal(ask(&w, "2026-01-06-" A, "", false, true, &written), RETRIEVE_NEW);
    free(entire_fixture_sh(&w, "test -s home/.claude/projects/*/" A ".jsonl && "
                               "test ! -e home/.claude/projects/*/2026-01-06-" A ".jsonl"));
    assert_int_equal(ask(&w, "2026-01-06-" A, "", false, false, &written), RETRIEVE_UNCHANGED);
    assert_true(slice_eq(entire_ops.agent_id(SLICE("2026-01-06-" A)), SLICE(A)));
    assert_true(slice_eq(entire_ops.agent_id(SLICE(A)), SLICE(A)));
    assert_true(slice_eq(entire_ops.agent_id(SLICE("2026-01-06-x")), SLICE("2026-01-06-x")));
    assert_true(slice_eq(entire_ops.agent_id(SLICE("2026-1-006-" A)), SLICE("2026-1-006-" A)));
    entire_fixture_remove(&w);
}

static const char of_gemini[] =
    "cd committed && T=$(mktemp -u) && export GIT_INDEX_FILE=$T && V=entire/checkpoints/v1 && "
    "git read-tree $V && for f in $(git ls-tree -r --name-only $V | grep '/0/metadata.json'); do "
    "B=$(git show $V:$f | sed 's/Claude Code/Gemini CLI/' | git hash-object -w --stdin) && "
    "git update-index --cacheinfo 100644,$B,$f || exit 1; done; "
    "C=$(git commit-tree -p $V -m x $(git write-tree)) && git update-ref refs/heads/$V $C && "
    "rm -f $T .git/entire-sessions/*";

TEST(rows_of_another_agent_do_not_go_to_claude)
{
    struct entire_fixture w;
    size_t written;

    make(&w, "committed");
    free(entire_fixture_sh(&w, "%s", of_gemini));
    assert_int_equal(ask(&w, A, "", false, true, &written), RETRIEVE_NEW);
    free(
        entire_fixture_sh(&w, "test ! -e home/.claude && test -s home/.gemini/tmp/*/chats/*.json"));
    entire_fixture_remove(&w);
}

TEST(a_checkpoint_can_be_restored_to)
{
    struct entire_fixture w;
    struct restore r;
    struct err e;

    make(&w, "committed");
    struct session_ref ref = entire_fixture_find(&w, "2026-01-06-" A);

    assert_int_equal(entire_ops.restore(w.store, &ref, SLICE("9c0d1e2f3a4b"), &r, &e), ERR_OK);
    assert_true(r.messages > 0);
    restore_fini(&r);
    assert_int_equal(entire_ops.restore(w.store, &ref, SLICE("no such row"), &r, &e),
                     ERR_NOT_FOUND);
    assert_null(strstr(e.path, "/proc/"));
    entire_fixture_remove(&w);
}

/* The conversation ends where the checkpoint's did; nothing of it is cut off. */
TEST(the_conversation_goes_back_too)
{
    struct entire_fixture w;
    struct rewind_plan p;
    struct transcript *t;

    entire_fixture_make(&w, "two-sessions");
    struct session_ref ref = entire_fixture_find(&w, "a1b2c3d4-0001-4000-8000-00000000000a");
    char *hash =
        entire_fixture_sh(&w, "awk '$2==1770631920{print $1}' expected/two-sessions/points.tsv");

    assert_int_equal(rewind_plan_make(&ref, slice_of(hash), REWIND_CONVERSATION, &p, NULL), ERR_OK);
    assert_int_equal(p.conversation.how, CONVERSATION_RESUME_AT);
    assert_int_equal(p.conversation.kept, 12);
    assert_int_equal(p.conversation.dropped, 4);
    p.conversation.change->text = "back";
    assert_int_equal(change_do(&w.env, p.conversation.change, NULL), ERR_OK);
    rewind_plan_fini(&p);
    assert_int_equal(entire_ops.load(w.store, &ref, NULL, &t, NULL), ERR_OK);
    assert_int_equal(t->n, 12);
    transcript_free(t);
    free(hash);
    entire_fixture_remove(&w);
}
