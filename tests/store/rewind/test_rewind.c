#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "store/rewind/plan/rewind.h"
#include "tests/support/folder.h"

struct place {
    struct folder folder;
    struct store_env env;
    char root[4096], state[4096];
    struct rewind_plan plan;
    struct rewind_preview preview;
    struct rewind_result result;
    struct rewind_options all;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_put(&p->folder, "ws/changed", SLICE("new\n"));
    folder_put(&p->folder, "ws/added", SLICE("added\n"));
    folder_put(&p->folder, "ws/same", SLICE("same\n"));
    folder_mtime(&p->folder, "ws/changed", 1700000000123456789);
    folder_mtime(&p->folder, "ws/added", 1700000001000000001);
    folder_path(&p->folder, "ws", p->root);
    folder_path(&p->folder, "state", p->state);
    p->env = (struct store_env){ .state_dir = p->state, .now_ms = 1800000000000 };
    p->all = (struct rewind_options){ .allow_outside = true,
                                      .allow_edited = true,
                                      .allow_sensitive = true };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    rewind_result_fini(&p->result);
    rewind_preview_fini(&p->preview);
    rewind_plan_fini(&p->plan);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static void want(struct place *p, const char *name, const char *text)
{
    char path[4096];
    struct rewind_target t = { .path = folder_path(&p->folder, name, path),
                               .want = text ? REWIND_BYTES : REWIND_ABSENT,
                               .source = { .bytes = { text, text ? strlen(text) : 0 } } };

    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
}

/* changed -> old, added -> gone, deep/gone -> back, same stays */
static void plan_all(struct place *p)
{
    p->plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = p->root };
    want(p, "ws/changed", "old\n");
    want(p, "ws/added", NULL);
    want(p, "ws/deep/er/gone", "back\n");
    want(p, "ws/same", "same\n");
}

static void look(struct place *p)
{
    rewind_preview_fini(&p->preview);
    assert_int_equal(rewind_preview(&p->plan, &p->all, &p->preview, NULL), ERR_OK);
}

static void apply(struct place *p)
{
    struct err e = { 0 };

    rewind_result_fini(&p->result);
    enum err_code rc = rewind_apply(&p->env, &p->preview, &p->result, &e);

    if (rc)
        fail_msg("%s: %s", e.path, e.text);
    p->env.now_ms++;
}

static void undo(struct place *p, const char *id)
{
    rewind_preview_fini(&p->preview);
    rewind_plan_fini(&p->plan);
    assert_int_equal(rewind_undo_plan(&p->env, id, &p->plan, NULL), ERR_OK);
    look(p);
    assert_int_equal(p->preview.refused, 0);
    apply(p);
}

struct watch {
    size_t told, done, all;
};

static void watch_reported(size_t done, size_t all, void *arg)
{
    struct watch *w = arg;

    assert_true(done >= w->done && done <= all);
    *w = (struct watch){ w->told + 1, done, all };
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(progress_is_reported_to_the_end)
{
    struct place *p = *state;
    struct watch w = { 0 };

    plan_all(p);
    p->all.progress = watch_reported;
    p->all.progress_arg = &w;
    look(p);
    apply(p);
    assert_int_equal(w.all, 6);
    assert_int_equal(w.done, w.all);
    assert_true(w.told >= 6);
}

CASE(the_apply_does_what_the_preview_showed)
{
    struct place *p = *state;

    plan_all(p);
    look(p);
    apply(p);

    assert_true(folder_is(&p->folder, "ws/changed", "old\n"));
    assert_false(folder_has(&p->folder, "ws/added"));
    assert_true(folder_is(&p->folder, "ws/deep/er/gone", "back\n"));
    assert_true(folder_is(&p->folder, "ws/same", "same\n"));
    assert_int_equal(p->result.conflicts, 0);
    assert_int_equal(p->result.outcome[3], REWIND_SKIPPED);
    look(p);
    for (size_t i = 0; i < p->preview.n; i++)
        assert_int_equal(p->preview.entry[i].action, REWIND_UNCHANGED);
}

CASE(undo_restores_bytes_modes_times_and_directories)
{
    struct place *p = *state;
    char *before = folder_image(&p->folder, "ws"), *rewound, *again;

    plan_all(p);
    look(p);
    apply(p);
    rewound = folder_image(&p->folder, "ws");
    undo(p, NULL);
    char *after = folder_image(&p->folder, "ws");

    assert_string_equal(before, after);
    /* and the undo can be undone: by its name, since it is the current state now */
    undo(p, p->result.undo);
    again = folder_image(&p->folder, "ws");
    assert_string_not_equal(again, before);
    assert_true(folder_is(&p->folder, "ws/changed", "old\n"));
    assert_true(folder_is(&p->folder, "ws/deep/er/gone", "back\n"));
    free(before);
    free(after);
    free(rewound);
    free(again);
}

CASE(a_file_saved_after_the_preview_stops_everything)
{
    struct place *p = *state;
    struct err e;

    plan_all(p);
    look(p);
    folder_put(&p->folder, "ws/added", SLICE("saved meanwhile\n"));
    assert_int_equal(rewind_apply(&p->env, &p->preview, &p->result, &e), ERR_STALE);

    assert_non_null(strstr(e.path, "ws/added"));
    assert_true(folder_is(&p->folder, "ws/added", "saved meanwhile\n"));
    assert_true(folder_is(&p->folder, "ws/changed", "new\n"));
    assert_false(folder_has(&p->folder, "ws/deep"));
}

CASE(no_temporary_file_is_left_behind)
{
    struct place *p = *state;

    plan_all(p);
    look(p);
    apply(p);
    char *image = folder_image(&p->folder, "ws");

    assert_null(strstr(image, ".reprise"));
    free(image);
}

CASE(the_mode_and_attributes_are_kept)
{
    struct place *p = *state;
    char path[4096], value[16] = "";
    struct stat st;

    folder_path(&p->folder, "ws/changed", path);
    assert_int_equal(chmod(path, 0640), 0);
    bool xattrs =
        setxattr(path, "user.note", "kept", 4, 0) == 0; /* old kernels lack them on tmpfs */

    plan_all(p);
    look(p);
    apply(p);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    if (xattrs) {
        assert_int_equal(getxattr(path, "user.note", value, sizeof value), 4);
        assert_string_equal(value, "kept");
    }
}

CASE(a_change_of_mode_alone_is_applied_and_undone)
{
    struct place *p = *state;
    char path[4096];
    struct stat st;
    struct rewind_target t = { .path = folder_path(&p->folder, "ws/same", path),
                               .want = REWIND_BYTES,
                               .source = { .bytes = SLICE("same\n") },
                               .has_mode = true,
                               .mode = 0755 };

    assert_int_equal(chmod(path, 0644), 0);
    p->plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = p->root };
    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
    look(p);
    apply(p);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    undo(p, NULL);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
}

CASE(unticked_and_refused_files_stay_as_they_are)
{
    struct place *p = *state;

    plan_all(p);
    look(p);
    p->preview.entry[0].chosen = false;
    apply(p);

    assert_true(folder_is(&p->folder, "ws/changed", "new\n"));
    assert_false(folder_has(&p->folder, "ws/added"));
    assert_int_equal(p->result.outcome[0], REWIND_SKIPPED);
}

CASE(records_list_what_was_done_and_undone)
{
    struct place *p = *state;
    struct rewind_records list;

    plan_all(p);
    look(p);
    apply(p);
    undo(p, NULL);
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);

    assert_int_equal(list.n, 2);
    assert_non_null(list.record[0].undoes);
    assert_true(list.record[1].undone);
    assert_int_equal(list.record[1].restored, 1);
    assert_int_equal(list.record[1].created, 1);
    assert_int_equal(list.record[1].deleted, 1);
    assert_true(list.record[1].bytes > 0);
    rewind_records_fini(&list);
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &p->plan, NULL), ERR_NOT_FOUND);
}

CASE(hand_edits_after_a_rewind_hold_its_undo_back)
{
    struct place *p = *state;

    plan_all(p);
    look(p);
    apply(p);
    folder_put(&p->folder, "ws/changed", SLICE("old, and mine\n"));
    rewind_preview_fini(&p->preview);
    rewind_plan_fini(&p->plan);
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &p->plan, NULL), ERR_OK);
    p->all.allow_edited = false;
    look(p);

    assert_int_equal(p->preview.entry[0].rule, REWIND_RULE_EDITED);
    assert_int_equal(p->preview.refused, 1);
}

CASE(nothing_to_do_leaves_no_record)
{
    struct place *p = *state;
    struct rewind_records list;

    p->plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = p->root };
    want(p, "ws/same", "same\n");
    look(p);
    apply(p);
    assert_string_equal(p->result.undo, "");
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 0);
    rewind_records_fini(&list);
}

/* Random trees and random plans: undo after apply is the identity, and apply does what the preview showed. */
CASE(apply_then_undo_is_the_identity)
{
    struct place *p = *state;

    srand(11);
    for (int round = 0; round < 40; round++) {
        char name[64], text[64];

        rewind_preview_fini(&p->preview);
        rewind_plan_fini(&p->plan);
        p->plan = (struct rewind_plan){
            .system = "claude", .session = "s", .point = "m", .root = p->root
        };
        for (int i = 0; i < 8; i++) {
            snprintf(name, sizeof name, "ws/r%d/%s%d", rand() % 3, rand() % 2 ? "d/" : "",
                     round * 8 + i);
            if (rand() % 3) {
                snprintf(text, sizeof text, "%d\n%d\n", rand() % 4, rand() % 4);
                folder_put(&p->folder, name, slice_of(text));
                folder_mtime(&p->folder, name, 1600000000000000000 + rand());
            }
            snprintf(text, sizeof text, "%d\n%d\n", rand() % 4, rand() % 4);
            want(p, name, rand() % 3 ? text : NULL);
        }
        char *before = folder_image(&p->folder, "ws");

        look(p);
        apply(p);
        for (size_t i = 0; i < p->preview.n; i++)
            assert_int_not_equal(p->result.outcome[i], REWIND_CONFLICT);
        look(p);
        for (size_t i = 0; i < p->preview.n; i++)
            assert_int_equal(p->preview.entry[i].action, REWIND_UNCHANGED);
        if (p->result.undo[0])
            undo(p, p->result.undo);
        char *after = folder_image(&p->folder, "ws");

        assert_string_equal(before, after);
        free(before);
        free(after);
    }
}

CASE(an_export_touches_no_file_of_the_user)
{
    struct place *p = *state;
    char dir[4096];
    struct rewind_scratch_copy r;
    char *before = folder_image(&p->folder, "ws");
    const struct rewind_options none = { .allow_edited = false };

    plan_all(p);
    want(p, "elsewhere/x", "outside\n");
    folder_path(&p->folder, "scratch/copy", dir);
    assert_int_equal(rewind_write_scratch_copy(&p->plan, &none, dir, &r, NULL), ERR_OK);
    assert_int_equal(r.written, 4);
    assert_true(folder_is(&p->folder, "scratch/copy/changed", "old\n"));
    assert_true(folder_is(&p->folder, "scratch/copy/deep/er/gone", "back\n"));
    assert_false(folder_has(&p->folder, "scratch/copy/added"));
    char *after = folder_image(&p->folder, "ws");

    assert_string_equal(before, after);
    rewind_scratch_copy_fini(&r);
    assert_int_equal(rewind_write_scratch_copy(&p->plan, &none, dir, &r, NULL), ERR_STALE);
    free(before);
    free(after);
}
