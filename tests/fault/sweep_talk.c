#include "tests/test.h"

#include <stdlib.h>

#include "store/place.h"
#include "store/rewind/rewind.h"
#include "tests/fault/trial.h"

/* Files and conversation as one operation: wherever it breaks, both went back or neither did. Two ways of ending a
 * conversation earlier: a row that says so (resume-at), and the end of the log cut off with a document that counts it
 * written anew (truncate). */

#define LOG_HEAD "{\"n\":1}\n{\"n\":2}\n"
#define LOG_TAIL "{\"n\":3}\n{\"n\":4}\n"

static void make_tree(struct yard *y)
{
    folder_put(&y->folder, "user/src/changed", SLICE("present\n"));
    folder_put(&y->folder, "user/src/added", SLICE("added\n"));
    folder_put(&y->folder, "user/session.jsonl", SLICE(LOG_HEAD LOG_TAIL));
    folder_put(&y->folder, "user/session.meta", SLICE("{\"rows\":4}\n"));
}

static enum err_code add_file(struct yard *y, struct rewind_plan *plan, const char *name,
                              const char *text, struct err *e)
{
    char path[4096];
    struct rewind_target t = { .path = folder_path(&y->folder, name, path),
                               .want = text ? REWIND_BYTES : REWIND_ABSENT,
                               .prune = 1,
                               .source = { .bytes = { text, text ? strlen(text) : 0 } } };

    return rewind_plan_add(plan, &t, e);
}

static enum err_code add_resume_at(struct yard *y, struct change *c, struct err *e)
{
    char path[4096];

    return change_add(c,
                      &(struct step){ .kind = STEP_APPEND,
                                      .path = folder_path(&y->folder, "user/session.jsonl", path),
                                      .bytes = SLICE("{\"go on\":2}\n"),
                                      .opposite = SLICE("{\"go on\":4}\n"),
                                      .mtime_ns = MTIME_NOW },
                      e);
}

static enum err_code add_truncate(struct yard *y, struct change *c, struct err *e)
{
    char path[4096];
    enum err_code rc =
        change_add(c,
                   &(struct step){ .kind = STEP_TAIL,
                                   .path = folder_path(&y->folder, "user/session.jsonl", path),
                                   .old = SLICE(LOG_TAIL),
                                   .offset = (int64_t)strlen(LOG_HEAD),
                                   .mtime_ns = MTIME_NOW },
                   e);

    return rc ? rc
              : change_add(
                    c,
                    &(struct step){ .kind = STEP_PUT,
                                    .path = folder_path(&y->folder, "user/session.meta", path),
                                    .old = SLICE("{\"rows\":4}\n"),
                                    .bytes = SLICE("{\"rows\":2}\n"),
                                    .mtime_ns = MTIME_NOW },
                    e);
}

static enum err_code plan_of(struct yard *y, struct rewind_plan *plan, struct err *e)
{
    enum talk_how how = *(const enum talk_how *)y->arg;

    *plan = (struct rewind_plan){ .system = "claude",
                                  .session = "s",
                                  .point = "m",
                                  .root = y->user,
                                  .talk = { .how = how, .kept = 2, .dropped = 2 } };
    plan->talk.change = change_new("rewind");
    if (!plan->talk.change)
        return ERR_NOMEM;
    enum err_code rc = add_file(y, plan, "user/src/changed", "wanted\n", e);

    if (!rc)
        rc = add_file(y, plan, "user/src/added", NULL, e);
    if (!rc)
        rc = add_file(y, plan, "user/deep/er/gone", "back\n", e);
    if (!rc)
        rc = how == TALK_TRUNCATE ? add_truncate(y, plan->talk.change, e)
                                  : add_resume_at(y, plan->talk.change, e);
    return rc;
}

static enum trial_end carry_out(struct yard *y, struct rewind_plan *plan, struct err *e)
{
    const struct rewind_options all = { .allow_outside = true };
    struct rewind_preview preview;
    struct rewind_result result = { 0 };
    enum err_code rc = rewind_preview(plan, &all, &preview, e);

    if (!rc) {
        rc = preview.refused ? err_set(e, ERR_STALE, NULL, "refused") : ERR_OK;
        if (!rc)
            rc = rewind_apply(&y->env, &preview, &result, e);
        if (!rc && result.conflicts)
            rc = err_set(e, ERR_STALE, NULL, "%zu conflicts", result.conflicts);
        rewind_result_fini(&result);
        rewind_preview_fini(&preview);
    }
    if (rc && getenv("REPRISE_SWEEP_TELL"))
        fprintf(stderr, "%s: %s\n", e->path, e->text);
    if (rc)
        return strstr(e->text, "unfinished") ? END_UNFINISHED : END_FAILED;
    return END_DONE;
}

static enum trial_end apply(struct yard *y)
{
    struct rewind_plan plan;
    struct err e = { 0 };
    size_t recovered;
    enum trial_end end = END_FAILED;

    if (rewind_recover(&y->env, &recovered, &e))
        return END_FAILED;
    if (plan_of(y, &plan, &e) == ERR_OK)
        end = carry_out(y, &plan, &e);
    rewind_plan_fini(&plan);
    return end;
}

static enum trial_end recover(struct yard *y)
{
    size_t recovered;
    struct err e;

    if (rewind_recover(&y->env, &recovered, &e) == ERR_OK)
        return END_DONE;
    if (getenv("REPRISE_SWEEP_TELL"))
        fprintf(stderr, "recover: %s: %s\n", e.path, e.text);
    return END_FAILED;
}

/* The newest record, be it a rewind or an undo. */
static enum trial_end take_back(struct yard *y, int64_t later_ms)
{
    struct rewind_records records;
    struct rewind_plan plan;
    struct err e = { 0 };

    y->env.now_ms += later_ms;
    if (recover(y) != END_DONE || rewind_records_read(&y->env, &records, &e))
        return END_FAILED;
    bool planned =
        records.n && rewind_undo_plan(&y->env, records.record[0].id, &plan, &e) == ERR_OK;

    rewind_records_fini(&records);
    if (!planned)
        return END_FAILED;
    enum trial_end end = carry_out(y, &plan, &e);

    rewind_plan_fini(&plan);
    return end;
}

static enum trial_end undo(struct yard *y)
{
    return take_back(y, 1000);
}

static enum trial_end redo(struct yard *y)
{
    return take_back(y, 2000);
}

static void make_rewound(struct yard *y)
{
    make_tree(y);
    assert_int_equal(apply(y), END_DONE);
}

static const enum talk_how resume_at = TALK_RESUME_AT, truncated = TALK_TRUNCATE;

static void files_and_a_resumed_conversation_go_back_together(void **state)
{
    struct trial s = { .name = "rewind with resume-at",
                       .make = make_tree,
                       .act = apply,
                       .recover = recover,
                       .undo = undo,
                       .arg = &resume_at,
                       .thorough = true,
                       .stride = 7 };

    (void)state;
    trial_must_hold(&s);
}

static void files_and_a_truncated_conversation_go_back_together(void **state)
{
    struct trial s = { .name = "rewind with truncate",
                       .make = make_tree,
                       .act = apply,
                       .recover = recover,
                       .undo = undo,
                       .arg = &truncated,
                       .thorough = true,
                       .stride = 7 };

    (void)state;
    trial_must_hold(&s);
}

static void both_are_taken_back_together(void **state)
{
    struct trial s = { .name = "undo of a rewind with truncate",
                       .make = make_rewound,
                       .act = undo,
                       .recover = recover,
                       .undo = redo,
                       .arg = &truncated,
                       .thorough = true,
                       .stride = 7 };

    (void)state;
    trial_must_hold(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_a_resumed_conversation_go_back_together),
        cmocka_unit_test(files_and_a_truncated_conversation_go_back_together),
        cmocka_unit_test(both_are_taken_back_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
