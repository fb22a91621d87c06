#include "tests/test.h"

#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/journal/contents.h"
#include "tests/sweeps/change_sweep.h"

/* Changes of every kind of step. More than a few KiB of bytes are kept in separate files of the record, so one of them
 * is long. */
static char long_bytes[12000];

static void make_store(struct trial_dir *y)
{
    folder_put(&y->folder, "user/log.jsonl", SLICE("{\"a\":1}\n{\"a\":2}\n"));
    folder_put(&y->folder, "user/cut.jsonl", SLICE("{\"c\":1}\n{\"c\":2}\n{\"c\":3}\n"));
    folder_put(&y->folder, "user/doc.json", SLICE("{\"archived\":false}"));
    folder_put(&y->folder, "user/gone.json", SLICE("{}"));
    folder_put(&y->folder, "user/side/agent.jsonl", SLICE("{}\n"));
    folder_dir(&y->folder, "user/other");
    memset(long_bytes, 'x', sizeof long_bytes);
}

typedef enum err_code plan_fn(const struct trial_dir *y, struct change *c);

static enum err_code add(const struct trial_dir *y, struct change *c, const char *name,
                         const char *to, struct step s)
{
    char path[4096], other[4096];

    s.path = folder_path(&y->folder, name, path);
    s.to = to ? folder_path(&y->folder, to, other) : NULL;
    s.mtime_ns = MTIME_NOW;
    return change_add(c, &s, NULL);
}

static enum err_code plan_append(const struct trial_dir *y, struct change *c)
{
    return add(y, c, "user/log.jsonl", NULL,
               (struct step){ .kind = STEP_APPEND,
                              .bytes = SLICE("{\"title\":\"new\"}\n"),
                              .opposite = SLICE("{\"title\":\"old\"}\n") });
}

static enum err_code plan_tail(const struct trial_dir *y, struct change *c)
{
    return add(y, c, "user/cut.jsonl", NULL,
               (struct step){ .kind = STEP_TAIL,
                              .offset = 8,
                              .old = SLICE("{\"c\":2}\n{\"c\":3}\n"),
                              .bytes = SLICE("{\"c\":3}\n") });
}

static enum err_code plan_grow(const struct trial_dir *y, struct change *c)
{
    return add(y, c, "user/cut.jsonl", NULL,
               (struct step){ .kind = STEP_TAIL,
                              .offset = 16,
                              .old = SLICE("{\"c\":3}\n"),
                              .bytes = { long_bytes, sizeof long_bytes } });
}

static enum err_code plan_edit(const struct trial_dir *y, struct change *c)
{
    return add(
        y, c, "user/log.jsonl", NULL,
        (struct step){
            .kind = STEP_EDIT, .offset = 1, .old = SLICE("\"a\":1"), .bytes = SLICE("\"b\":7") });
}

static enum err_code plan_replace(const struct trial_dir *y, struct change *c)
{
    return add(y, c, "user/doc.json", NULL,
               (struct step){ .kind = STEP_PUT,
                              .old = SLICE("{\"archived\":false}"),
                              .bytes = { long_bytes, sizeof long_bytes } });
}

static enum err_code fill(const struct trial_dir *y, struct change *c, struct slice bytes,
                          struct slice *in_memory, struct step_part *part)
{
    struct contents x = { .change = c, .env = &y->env };
    enum err_code rc = contents_add(&x, bytes, NULL);

    if (!rc)
        rc = contents_end(&x, in_memory, part, NULL);
    contents_fini(&x, false);
    return rc;
}

/* The contents are in a file of the change. */
static enum err_code plan_large(const struct trial_dir *y, struct change *c)
{
    struct step fresh = { .kind = STEP_PUT, .old_absent = true }, s = { .kind = STEP_PUT };
    enum err_code rc =
        fill(y, c, (struct slice){ long_bytes, 9000 }, &fresh.bytes, &fresh.bytes_part);

    if (!rc)
        rc = fill(y, c, (struct slice){ long_bytes, sizeof long_bytes }, &s.bytes, &s.bytes_part);
    if (!rc)
        rc = fill(y, c, SLICE("{\"archived\":false}"), &s.old, &s.old_part);
    if (!rc)
        rc = add(y, c, "user/fresh.jsonl", NULL, fresh);
    return rc ? rc : add(y, c, "user/doc.json", NULL, s);
}

static enum err_code plan_create(const struct trial_dir *y, struct change *c)
{
    return add(
        y, c, "user/fresh/new.json", NULL,
        (struct step){
            .kind = STEP_PUT, .old_absent = true, .with_dir = true, .bytes = SLICE("{\"n\":1}") });
}

static enum err_code plan_remove(const struct trial_dir *y, struct change *c)
{
    return add(y, c, "user/gone.json", NULL,
               (struct step){ .kind = STEP_PUT, .old = SLICE("{}"), .absent = true });
}

static enum err_code plan_move(const struct trial_dir *y, struct change *c)
{
    return add(y, c, "user/side", "user/other/side", (struct step){ .kind = STEP_MOVE });
}

static enum err_code plan_all(const struct trial_dir *y, struct change *c)
{
    plan_fn *const each[] = { plan_append, plan_edit,   plan_tail, plan_replace,
                              plan_create, plan_remove, plan_move };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < sizeof each / sizeof *each && !rc; i++)
        if (HAS_LEASES || each[i] != plan_tail) /* else it is refused, with all others */
            rc = each[i](y, c);
    return rc;
}

static enum trial_end act(struct trial_dir *y)
{
    struct change_log *log;
    struct change *c = change_new("test");
    struct err e = { 0 };
    plan_fn *const *plan = y->arg;

    enum err_code rc = c ? (*plan)(y, c) : ERR_NOMEM;

    if (!rc)
        rc = change_log_open(&y->env, &log, &e);
    if (!rc) {
        rc = change_run(log, c, &e);
        change_log_close(log);
    }
    change_free(c);
    return trial_end_of(rc, &e);
}

/* An undo is a change like any other: it is broken at each of its calls too. */
static void make_done(struct trial_dir *y)
{
    make_store(y);
    assert_int_equal(act(y), END_DONE);
}

static void hold(const char *name, plan_fn *plan, bool no_tmpfile)
{
    struct trial s = { .name = name,
                       .make = make_store,
                       .act = act,
                       .recover = change_sweep_recover,
                       .undo = change_sweep_undo,
                       .arg = &plan,
                       .no_tmpfile = no_tmpfile,
                       .thorough = true,
                       .stride = 4 };

    trial_must_hold(&s);
}

TEST(append_is_complete_or_absent)
{
    hold("append step", plan_append, false);
}

TEST(end_of_a_log_is_cut_off_or_kept)
{
    NEEDS("leases, without which nothing is cut off");
    hold("tail step", plan_tail, false);
}

TEST(end_of_a_log_is_extended_or_kept)
{
    NEEDS("leases, without which no end is replaced");
    hold("growing tail step", plan_grow, false);
}

TEST(edit_in_place_is_complete_or_absent)
{
    hold("edit step", plan_edit, false);
}

TEST(document_is_replaced_or_unchanged)
{
    hold("replacing put step", plan_replace, false);
}

TEST(large_documents_are_written_or_not)
{
    hold("put steps with a file of contents", plan_large, false);
    hold("put steps with a file of contents, no O_TMPFILE", plan_large, true);
}

TEST(document_is_created_or_absent)
{
    hold("creating put step", plan_create, false);
}

TEST(document_is_removed_or_kept)
{
    hold("removing put step", plan_remove, false);
}

TEST(directory_is_moved_or_kept)
{
    hold("move step", plan_move, false);
}

TEST(all_steps_are_carried_out_or_none)
{
    hold("all steps", plan_all, false);
}

TEST(all_steps_hold_without_nameless_files)
{
    hold("all steps, no O_TMPFILE", plan_all, true);
}

static void hold_undo(const char *name, plan_fn *plan)
{
    struct trial s = { .name = name,
                       .make = make_done,
                       .act = change_sweep_undo,
                       .recover = change_sweep_recover,
                       .undo = change_sweep_redo,
                       .arg = &plan,
                       .thorough = true };

    trial_must_hold(&s);
}

TEST(undo_is_complete_or_absent)
{
    hold_undo("undo of all steps", plan_all);
}

TEST(undo_of_large_documents_is_complete_or_absent)
{
    hold_undo("undo of steps with a file of contents", plan_large);
}
