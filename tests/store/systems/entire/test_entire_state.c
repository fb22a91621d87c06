#include "tests/test.h"

#include "store/systems/entire/state.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/scratch.h"

/* Entire's own hooks write the state of a session at any moment. */

static void entire_counts(void *state)
{
    scratch_write(state, "other", SLICE("{\"session_id\":\"s\",\"checkpoint_count\":2}"));
    assert_int_equal(rename(scratch_path(state, "other"), scratch_path(state, "s.json")), 0);
}

static void entire_counts_in_place(void *state)
{
    scratch_write(state, "s.json", SLICE("{\"session_id\":\"s\",\"checkpoint_count\":2}"));
}

IN_SCRATCH(what_entire_writes_into_a_state_meanwhile_stays)
{
    void (*const then[])(void *) = { entire_counts, entire_counts_in_place };
    const struct go_json_member set[] = { { "phase", SLICE("\"ended\"") } };

    for (size_t i = 0; i < sizeof then / sizeof *then; i++) {
        struct arena a = { 0 };
        struct entire_state s;

        scratch_write(state, "s.json", SLICE("{\"session_id\":\"s\",\"checkpoint_count\":1}"));
        assert_int_equal(state_read(*state, "s.json", &a, &s, NULL, NULL), ERR_OK);
        syscall_hook_arm(&(struct syscall_hook){ .call = "fsync", .then = then[i], .arg = state });
        assert_int_equal(state_change(*state, &s, set, 1, NULL), ERR_STALE);
        assert_true(syscall_hook_fired());
        assert_true(folder_is(*state, "s.json", "{\"session_id\":\"s\",\"checkpoint_count\":2}"));
        arena_reset(&a);
        assert_int_equal(state_read(*state, "s.json", &a, &s, NULL, NULL), ERR_OK);
        assert_int_equal(state_change(*state, &s, set, 1, NULL), ERR_OK);
        assert_int_equal(state_read(*state, "s.json", &a, &s, NULL, NULL), ERR_OK);
        assert_int_equal(s.checkpoint_count, 2);
        assert_int_equal(s.phase, PHASE_ENDED);
        arena_fini(&a);
    }
}
