#include "tests/test.h"

#include "store/systems/entire/names.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/temporary.h"

TEST(worktrees_have_the_hashes_of_the_table)
{
    static const char *const table[][2] = {
        { "", "e3b0c4" },
        { "1", "6b86b2" },
        { "2", "d4735e" },
        { "3", "4e0740" },
        { "4", "4b2277" },
        { "test-wt", "ee1890" },
        { "test-123", "37eb19" },
        { "feature/auth-system", "16b0aa" },
        { "worktree-a", "3c2476" },
        { "worktree-b", "b6337d" },
        { "test-worktree", "2a7a82" },
    };
    char hash[ENTIRE_HASH6 + 1];

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        entire_hash6(slice_of(table[i][0]), hash);
        assert_string_equal(hash, table[i][1]);
    }
}

TEST(a_shadow_branch_is_named_for_commit_and_worktree)
{
    char name[ENTIRE_SHADOW_NAME];

    entire_shadow_name(SLICE("6d28ff048c8f00c7f0a1ff1f9a3a4a7a3c4e2c11"), SLICE(""), name);
    assert_string_equal(name, "entire/6d28ff0-e3b0c4");
    entire_shadow_name(SLICE("6d28ff048c8f00c7f0a1ff1f9a3a4a7a3c4e2c11"), SLICE("test-wt"), name);
    assert_string_equal(name, "entire/6d28ff0-ee1890");
    entire_shadow_name(SLICE("6d28"), SLICE(""), name);
    assert_string_equal(name, "entire/6d28-e3b0c4");
}

TEST(branches_are_recognised_by_their_names)
{
    assert_int_equal(entire_shadow_shape(SLICE("entire/1ce4cc8-e3b0c4")), ENTIRE_SHADOW);
    assert_int_equal(entire_shadow_shape(SLICE("entire/1ce4cc8")), ENTIRE_SHADOW_OLD);
    assert_int_equal(entire_shadow_shape(SLICE("entire/notes")), ENTIRE_NO_SHADOW);
    assert_int_equal(entire_shadow_shape(SLICE("entire/checkpoints/v1")), ENTIRE_NO_SHADOW);
    assert_int_equal(entire_shadow_shape(SLICE("entire/1ce4cc8-e3b0c")), ENTIRE_NO_SHADOW);
    assert_int_equal(entire_shadow_shape(SLICE("entire/1ce4cc-e3b0c4")), ENTIRE_NO_SHADOW);
    assert_int_equal(entire_shadow_shape(SLICE("entire/1ce4cc8-e3b0c4/x")), ENTIRE_NO_SHADOW);
    assert_int_equal(entire_shadow_shape(SLICE("main")), ENTIRE_NO_SHADOW);
}

TEST(checkpoint_ids_are_hex_or_ulids)
{
    struct slice id;

    assert_true(entire_checkpoint_id_ok(SLICE("a3b2c4d5e6f7")));
    assert_true(entire_checkpoint_id_ok(SLICE("01KX37KN6NXDTV10FKNCBPTP2Y")));
    assert_false(entire_checkpoint_id_ok(SLICE("NOTHEX")));
    assert_false(entire_checkpoint_id_ok(SLICE("a3b2c4d5e6f")));
    assert_false(entire_checkpoint_id_ok(SLICE("a3b2c4d5e6f70")));
    assert_false(entire_checkpoint_id_ok(SLICE("A3B2C4D5E6F7")));
    assert_false(entire_checkpoint_id_ok(SLICE("01KX37KN6NXDTV10FKNCBPTPIL")));
    assert_true(
        entire_ref_checkpoint(SLICE("refs/entire/checkpoints/2Y/01KX37KN6NXDTV10FKNCBPTP2Y"), &id));
    assert_true(slice_eq(id, SLICE("01KX37KN6NXDTV10FKNCBPTP2Y")));
    assert_true(entire_ref_checkpoint(SLICE("refs/entire/checkpoints/a2/b7c8d9e0f1a2"), &id));
    assert_false(
        entire_ref_checkpoint(SLICE("refs/entire/checkpoints/zz/01KX37KN6NXDTV10FKNCBPTP2Y"), &id));
    assert_false(entire_ref_checkpoint(SLICE("refs/entire/checkpoints/v2/main"), &id));
    assert_false(entire_ref_checkpoint(SLICE("refs/entire/checkpoints/v2/full/current"), &id));
}

TEST(ids_that_are_no_file_names_are_refused)
{
    static const char *const bad[] = {
        "", ".", "..", "../x", "a/b", "a\\b", "a\nb", "/etc/passwd"
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(entire_session_id_ok(slice_of(bad[i])));
    assert_false(entire_session_id_ok((struct slice){ "a\0b", 3 }));
    assert_true(entire_session_id_ok(SLICE("2026-01-06-a1b2c3d4-0001-4000-8000-00000000000a")));
    assert_true(entire_tool_id_ok(SLICE("toolu_01-A")));
    assert_false(entire_tool_id_ok(SLICE("../x")));
    assert_false(entire_tool_id_ok(SLICE("")));
}

TEST(stored_paths_cannot_leave_their_checkpoint)
{
    struct slice inner, hex = SLICE("a3b2c4d5e6f7"), ulid = SLICE("01KX37KN6NXDTV10FKNCBPTP2Y");
    static const char *const bad[] = { "",
                                       "/",
                                       "/a3/b2c4d5e6f7/../x",
                                       "/a3/b2c4d5e6f7//x",
                                       "/a3/ffffffffff/0/full.jsonl",
                                       "/../../etc/passwd",
                                       "/0/../../x",
                                       "/0/" };

    assert_true(entire_inner_path(SLICE("/a3/b2c4d5e6f7/0/full.jsonl"), hex, &inner));
    assert_true(slice_eq(inner, SLICE("0/full.jsonl")));
    assert_true(entire_inner_path(SLICE("/0/full.jsonl"), ulid, &inner));
    assert_true(slice_eq(inner, SLICE("0/full.jsonl")));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(entire_inner_path(slice_of(bad[i]), hex, &inner));
}

TEST(trailers_are_read_anywhere_in_the_message)
{
    struct slice message = SLICE("carry forward\n\nEntire-Metadata: \nEntire-Session: s-1\n"
                                 "Entire-Metadata-Task: .entire/metadata/s-1/tasks/t\n");
    struct slice squash = SLICE("Merge\n\nEntire-Checkpoint: a3b2c4d5e6f7\n* x\n"
                                "Entire-Checkpoint: NOTHEX\nEntire-Checkpoint: 5f0c11d2ab34 \n"
                                "Entire-Checkpoint: 01KX37KN6NXDTV10FKNCBPTP2Y");
    struct slice id;

    assert_int_equal(entire_trailer_first(message, TRAILER_METADATA).n, 0);
    assert_true(slice_eq(entire_trailer_first(message, TRAILER_SESSION), SLICE("s-1")));
    assert_true(slice_eq(entire_trailer_first(message, TRAILER_TASK),
                         SLICE(".entire/metadata/s-1/tasks/t")));
    assert_true(entire_trailer_checkpoint(&squash, &id));
    assert_true(slice_eq(id, SLICE("a3b2c4d5e6f7")));
    assert_true(entire_trailer_checkpoint(&squash, &id));
    assert_true(slice_eq(id, SLICE("5f0c11d2ab34")));
    assert_true(entire_trailer_checkpoint(&squash, &id));
    assert_int_equal(id.n, ENTIRE_ULID);
    assert_false(entire_trailer_checkpoint(&squash, &id));
}

/* All cells of the table of phases. */
TEST(phases_follow_the_table)
{
    static const enum entire_phase want[3][EVENT_COUNT] = {
        [PHASE_IDLE] = { PHASE_ACTIVE, PHASE_IDLE, PHASE_IDLE, PHASE_IDLE, PHASE_ENDED },
        [PHASE_ACTIVE] = { PHASE_ACTIVE, PHASE_IDLE, PHASE_ACTIVE, PHASE_ACTIVE, PHASE_ENDED },
        [PHASE_ENDED] = { PHASE_ACTIVE, PHASE_ENDED, PHASE_ENDED, PHASE_IDLE, PHASE_ENDED },
    };

    for (int p = 0; p < 3; p++)
        for (int ev = 0; ev < EVENT_COUNT; ev++)
            assert_int_equal(entire_phase_after((enum entire_phase)p, (enum entire_event)ev),
                             want[p][ev]);
    assert_int_equal(entire_phase_parse(SLICE("active_committed")), PHASE_ACTIVE);
    assert_int_equal(entire_phase_parse(SLICE("nonsense")), PHASE_IDLE);
}

static void assert_text(struct slice got, struct slice want)
{
    if (!slice_eq(got, want))
        fail_msg("got:\n%.*s\nwant:\n%.*s", SLICE_ARG(got), SLICE_ARG(want));
}

TEST(texts_are_escaped_as_go_does)
{
    struct arena a = { 0 };

    assert_text(state_text(&a, SLICE("a<b>&\"\\\n\t\x01\xe2\x80\xa8\xc3\xa9\xff")),
                SLICE("\"a\\u003cb\\u003e\\u0026\\\"\\\\\\n\\t\\u0001\\u2028\xc3\xa9\\ufffd\""));
    arena_fini(&a);
}

TEST(subjects_are_made_from_prompts)
{
    struct arena a = { 0 };

    assert_text(temporary_subject(SLICE("Please add a login function?"), &a),
                SLICE("Add a login function"));
    assert_text(temporary_subject(SLICE("Can you please I want you to x"), &a), SLICE("X"));
    assert_text(temporary_subject(SLICE(""), &a), SLICE("Claude Code session updates"));
    arena_fini(&a);
}
