#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/fs/file_at.h"
#include "store/rewind/plan/rewind.h"
#include "tests/sweeps/rewind_sweep.h"

/* Files and conversation as one operation: wherever it breaks, both are rewound or neither is. A conversation is ended
 * earlier in two ways: by a row (resume-at), or by cutting off the end of the log and rewriting the document that
 * counts its rows (truncate). */

struct talk_case {
    enum conversation_change how;
    bool writes; /* another program writes to the conversation before the recovery */
    bool holds;  /* another program has it open during the first recovery */
};

#define LOG_HEAD "{\"n\":1}\n{\"n\":2}\n"
#define LOG_TAIL "{\"n\":3}\n{\"n\":4}\n"

static void make_tree(struct trial_dir *y)
{
    folder_put(&y->folder, "user/src/changed", SLICE("present\n"));
    folder_put(&y->folder, "user/src/added", SLICE("added\n"));
    folder_put(&y->folder, "user/session.jsonl", SLICE(LOG_HEAD LOG_TAIL));
    folder_put(&y->folder, "user/session.meta", SLICE("{\"rows\":4}\n"));
}

static enum err_code add_file(struct trial_dir *y, struct rewind_plan *plan, const char *name,
                              const char *text, struct err *e)
{
    char path[4096];
    struct rewind_target t = { .path = folder_path(&y->folder, name, path),
                               .want = text ? REWIND_BYTES : REWIND_ABSENT,
                               .prune = 1,
                               .source = { .bytes = { text, text ? strlen(text) : 0 } } };

    return rewind_plan_add(plan, &t, e);
}

static enum err_code add_resume_at(struct trial_dir *y, struct change *c, struct err *e)
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

static enum err_code add_truncate(struct trial_dir *y, struct change *c, struct err *e)
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

static enum err_code plan_of(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    enum conversation_change how = ((const struct talk_case *)y->arg)->how;

    *plan = (struct rewind_plan){ .system = "claude",
                                  .session = "s",
                                  .point = "m",
                                  .root = y->user,
                                  .conversation = { .how = how, .kept = 2, .dropped = 2 } };
    plan->conversation.change = change_new("rewind");
    if (!plan->conversation.change)
        return ERR_NOMEM;
    enum err_code rc = add_file(y, plan, "user/src/changed", "wanted\n", e);

    if (!rc)
        rc = add_file(y, plan, "user/src/added", NULL, e);
    if (!rc)
        rc = add_file(y, plan, "user/deep/er/gone", "back\n", e);
    if (!rc)
        rc = how == CONVERSATION_TRUNCATE ? add_truncate(y, plan->conversation.change, e)
                                          : add_resume_at(y, plan->conversation.change, e);
    return rc;
}

static enum trial_end apply(struct trial_dir *y)
{
    return rewind_sweep_apply(y, plan_of);
}

static void make_rewound(struct trial_dir *y)
{
    make_tree(y);
    assert_int_equal(apply(y), END_DONE);
}

/* ---- another program ---- */

#define STRANGER "{\"n\":\"mine\"}\n"

/* A power cut leaves NULs. */
static bool has(struct slice text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static enum trial_end write_and_recover(struct trial_dir *y)
{
    char path[4096];
    size_t n;
    char *now = folder_get(&y->folder, "user/session.jsonl", &n);
    struct slice log = { now, n };
    int fd = open(folder_path(&y->folder, "user/session.jsonl", path), O_WRONLY | O_APPEND);
    bool written =
        has(log, STRANGER) || write(fd, STRANGER, strlen(STRANGER)) == (ssize_t)strlen(STRANGER);

    free(now);
    close(fd);
    return written ? rewind_sweep_recover(y) : END_FAILED;
}

static enum trial_end recover_held(struct trial_dir *y)
{
    char path[4096];
    int fd = open(folder_path(&y->folder, "user/session.jsonl", path), O_WRONLY | O_APPEND);
    enum trial_end end = rewind_sweep_recover(y);

    close(fd);
    return end == END_DONE ? rewind_sweep_recover(y) : end;
}

/* The only record, of a rewind whose files did not follow, contains the old end of the log. */
static bool end_is_kept(const struct trial_dir *y)
{
    struct rewind_records records;
    char name[4096];
    size_t n;

    if (rewind_records_read(&y->env, &records, NULL))
        return false;
    bool kept = records.n == 1 && records.record[0].cut_short && !records.record[0].interrupted;

    if (kept) {
        snprintf(name, sizeof name, "state/rewinds/%s/talk/record", records.record[0].id);
        char *bytes = folder_get(&y->folder, name, &n);
        struct slice record = { bytes, n };

        kept = has(record, "\\\"n\\\":3") && has(record, "\\\"n\\\":4");
        free(bytes);
    }
    rewind_records_fini(&records);
    return kept;
}

/* No line is lost: files and conversation are both unchanged, or both rewound, or the conversation alone is rewound and
 * the record shows it. */
static bool nothing_is_lost(const struct trial_dir *y, bool done)
{
    const struct talk_case *c = y->arg;
    size_t n;
    char *bytes = folder_get(&y->folder, "user/session.jsonl", &n);
    struct slice log = { bytes, n };
    bool went = folder_is(&y->folder, "user/src/changed", "wanted\n");
    bool all = went == !folder_has(&y->folder, "user/src/added") &&
               went == folder_has(&y->folder, "user/deep/er/gone") && (went || !done);
    bool lines = has(log, LOG_HEAD) && has(log, STRANGER), whole = has(log, LOG_HEAD LOG_TAIL);

    if (c->how == CONVERSATION_TRUNCATE)
        lines = lines && (went ? !whole : whole || end_is_kept(y));
    else
        lines = lines && whole && (went == has(log, "{\"go on\":2}") || has(log, "{\"go on\":4}"));
    free(bytes);
    return all && lines;
}

static const struct talk_case resume_at = { .how = CONVERSATION_RESUME_AT };
static const struct talk_case truncated = { .how = CONVERSATION_TRUNCATE };

TEST(files_and_a_resumed_conversation_go_back_together)
{
    struct trial s = { .name = "rewind with resume-at",
                       .make = make_tree,
                       .act = apply,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .arg = &resume_at,
                       .thorough = true,
                       .stride = 7 };

    trial_must_hold(&s);
}

TEST(files_and_a_truncated_conversation_go_back_together)
{
    NEEDS("leases, without which no conversation is cut");
    struct trial s = { .name = "rewind with truncate",
                       .make = make_tree,
                       .act = apply,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .arg = &truncated,
                       .thorough = true,
                       .stride = 7 };

    trial_must_hold(&s);
}

TEST(both_are_undone_together)
{
    struct trial s = { .name = "undo of a rewind of both",
                       .make = make_rewound,
                       .act = rewind_sweep_undo,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_redo,
                       .arg = HAS_LEASES ? &truncated : &resume_at,
                       .thorough = true,
                       .stride = 7 };

    trial_must_hold(&s);
}

static void hold_beside(const char *name, const struct talk_case *c)
{
    struct trial s = { .name = name,
                       .make = make_tree,
                       .act = apply,
                       .recover = c->holds ? recover_held : write_and_recover,
                       .tolerates = c->writes ? nothing_is_lost : NULL,
                       .arg = c,
                       .stride = 3 };

    trial_must_hold(&s);
}

TEST(rows_written_to_a_truncated_log_stay)
{
    NEEDS("leases, without which no conversation is cut");
    static const struct talk_case c = { .how = CONVERSATION_TRUNCATE, .writes = true };

    hold_beside("rewind with truncate, and a writer", &c);
}

TEST(rows_written_after_a_new_end_stay)
{
    static const struct talk_case c = { .how = CONVERSATION_RESUME_AT, .writes = true };

    hold_beside("rewind with resume-at, and a writer", &c);
}

TEST(a_log_in_use_is_put_back_later)
{
    NEEDS("leases, without which no conversation is cut");
    static const struct talk_case c = { .how = CONVERSATION_TRUNCATE, .holds = true };

    hold_beside("rewind with truncate, log in use", &c);
}
