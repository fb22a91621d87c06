#include "tests/test.h"

#include "store/api/store.h"
#include "store/fs/file_at.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/record/record.h"
#include "support/rewind/rewind_case.h"
#include "tests/support/rewind/last_state.h"

/* Rewinds of files and conversation together, without the faults of sweep_conversation. */

static int set_up_conversation(void **state)
{
    int rc = set_up(state);
    struct rewind_case *p = *state;

    folder_put(&p->folder, "log.jsonl", SLICE("one\ntwo\nthree\n"));
    return rc;
}

/* Plans to end the log after its first line. */
static void plan_log_end(struct rewind_case *p, struct rewind_plan *plan, const char *old)
{
    struct rewind_conversation *t = &plan->conversation;
    char log[4096];

    *t = (struct rewind_conversation){
        .change = change_new("rewind"), .how = CONVERSATION_TRUNCATE, .kept = 1, .dropped = 2
    };
    assert_non_null(t->change);
    struct step cut = { .kind = STEP_TAIL,
                        .path = folder_path(&p->folder, "log.jsonl", log),
                        .old = { old, strlen(old) },
                        .offset = 4,
                        .mtime_ns = MTIME_NOW };

    assert_int_equal(change_add(t->change, &cut, NULL), ERR_OK);
}

static struct rewind_plan plan_new(struct rewind_case *p, const char *old, bool with_file)
{
    struct rewind_plan plan = { .system = "goat", .session = "s", .point = "m" };
    struct rewind_target t = { .path = p->f, .source = { .bytes = SLICE("old\n") } };

    plan_log_end(p, &plan, old);
    set_last_state(&t);
    if (with_file)
        assert_int_equal(rewind_plan_add(&plan, &t, NULL), ERR_OK);
    return plan;
}

static enum err_code go_back(struct rewind_case *p, struct rewind_plan *plan, char undo[40])
{
    const struct rewind_options outside = { .allow_outside = true };
    struct rewind_preview preview;
    struct rewind_result result;

    assert_int_equal(rewind_preview(plan, &outside, &preview, NULL), ERR_OK);
    enum err_code rc = rewind_apply(&p->env, &preview, &result, NULL);

    if (!rc) {
        memcpy(undo, result.undo, sizeof result.undo);
        rewind_result_fini(&result);
    }
    rewind_preview_fini(&preview);
    rewind_plan_fini(plan);
    p->env.now_ms += 1000;
    return rc;
}

static void take_back(struct rewind_case *p, const char *id, char undo[40])
{
    struct rewind_plan plan;

    assert_int_equal(rewind_undo_plan(&p->env, id, &plan, NULL), ERR_OK);
    assert_int_equal(go_back(p, &plan, undo), ERR_OK);
}

/* Without leases a conversation is not cut, and the files stay with it. */
static bool is_refused(struct rewind_case *p, struct rewind_plan *plan)
{
    struct rewind_records list;
    char undo[40];

    if (HAS_LEASES)
        return false;
    assert_int_equal(go_back(p, plan, undo), ERR_LOCKED);
    assert_true(folder_is(&p->folder, "log.jsonl", "one\ntwo\nthree\n"));
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 0);
    rewind_records_fini(&list);
    return true;
}

#define CASE(name) TEST_WITH(name, set_up_conversation, tear_down)

CASE(files_and_conversation_go_back_under_one_record)
{
    struct rewind_case *p = *state;
    struct rewind_plan plan = plan_new(p, "two\nthree\n", true);
    struct rewind_records list;
    char first[40], second[40], third[40];

    if (is_refused(p, &plan))
        return;
    assert_int_equal(go_back(p, &plan, first), ERR_OK);
    assert_true(folder_is(&p->folder, "log.jsonl", "one\n"));
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.record[0].how, CONVERSATION_TRUNCATE);
    assert_int_equal(list.record[0].dropped, 2);
    rewind_records_fini(&list);

    take_back(p, first, second);
    assert_true(folder_is(&p->folder, "log.jsonl", "one\ntwo\nthree\n"));
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));

    take_back(p, second, third);
    assert_true(folder_is(&p->folder, "log.jsonl", "one\n"));
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
}

CASE(a_conversation_alone_has_a_record_too)
{
    struct rewind_case *p = *state;
    struct rewind_plan plan = plan_new(p, "two\nthree\n", false), back;
    char first[40], second[40];

    if (is_refused(p, &plan))
        return;
    assert_int_equal(go_back(p, &plan, first), ERR_OK);
    assert_true(folder_is(&p->folder, "log.jsonl", "one\n"));
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &back, NULL), ERR_OK);
    assert_int_equal(back.conversation.kept, 3);
    assert_int_equal(back.conversation.dropped, 0);
    assert_int_equal(back.conversation.added, 2);
    assert_int_equal(go_back(p, &back, second), ERR_OK);
    assert_true(folder_is(&p->folder, "log.jsonl", "one\ntwo\nthree\n"));
}

/* The log differs from what the plan saw: the files stay as well, and nothing of the rewind is left. */
CASE(a_refused_conversation_leaves_the_files)
{
    struct rewind_case *p = *state;
    struct rewind_plan plan = plan_new(p, "two\n", true);
    struct rewind_records list;
    char undo[40];

    assert_int_equal(go_back(p, &plan, undo), HAS_LEASES ? ERR_STALE : ERR_LOCKED);
    assert_true(folder_is(&p->folder, "log.jsonl", "one\ntwo\nthree\n"));
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 0);
    rewind_records_fini(&list);
}

CASE(the_plan_id_covers_the_conversation)
{
    struct rewind_case *p = *state;
    const struct rewind_options outside = { .allow_outside = true };
    struct rewind_preview preview;
    char id[2][65];

    for (int i = 0; i < 2; i++) {
        struct rewind_plan plan = plan_new(p, i ? "two\nthree\n" : "two\n", true);

        assert_int_equal(rewind_preview(&plan, &outside, &preview, NULL), ERR_OK);
        memcpy(id[i], preview.id, sizeof preview.id);
        rewind_preview_fini(&preview);
        rewind_plan_fini(&plan);
    }
    assert_string_not_equal(id[0], id[1]);
}

TEST(each_mode_has_a_name)
{
    static const struct {
        enum conversation_change how;
        bool moves;
    } ways[] = { { CONVERSATION_NONE, false },
                 { CONVERSATION_TRUNCATE, true },
                 { CONVERSATION_RESUME_AT, true },
                 { CONVERSATION_FORK, true },
                 { CONVERSATION_REFS, false } };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        enum conversation_change how = CONVERSATION_NONE;

        assert_true(rewind_conversation_parse(rewind_conversation_name(ways[i].how), &how));
        assert_int_equal(how, ways[i].how);
        assert_int_equal(rewind_conversation_moves(how), ways[i].moves);
    }
}

TEST(an_unsupported_mode_is_explained)
{
    const struct store_ops none = { .name = "none" };
    struct store st = { .ops = &none };
    const struct session_ref ref = { .store = &st, .path = SLICE("x") };
    struct rewind_plan plan;

    for (int mode = 0; mode < REWIND_MODES; mode++) {
        assert_non_null(rewind_mode_unavailable(&ref, (enum rewind_mode)mode));
        assert_int_equal(rewind_plan_make(&ref, SLICE("m"), (enum rewind_mode)mode, &plan, NULL),
                         ERR_UNSUPPORTED);
    }
}
