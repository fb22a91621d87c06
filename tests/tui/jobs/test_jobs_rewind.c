#include "test.h"

#include <poll.h>
#include <stdlib.h>

#include "support/rewind_fixture.h"
#include "tui/jobs/jobs.h"

/* Rewinds done by workers for the screen, on a work tree. */
struct bench {
    struct rewind_fixture going;
    struct store_ops ops;
    struct store base;
    struct store *store[1];
    struct settings settings;
    struct job_context context;
    struct workers *workers;
    unsigned generation;
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);

    assert_non_null(b);
    rewind_fixture_begin(&b->going);
    rewind_fixture_store(&b->going, &b->base, &b->ops);
    b->store[0] = &b->base;
    jobs_init(&b->context, b->store, 1, &b->settings, "/");
    assert_int_equal(workers_new(&b->context, 2, &b->workers, NULL), ERR_OK);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    workers_free(b->workers);
    jobs_fini(&b->context);
    rewind_fixture_end(&b->going);
    free(b);
    return 0;
}

static struct effect question(struct bench *b, enum effect_kind kind, const char *text)
{
    const struct session_ref ref = {
        .store = &b->base, .id = SLICE("s"), .path = SLICE("/s"), .folder = SLICE("")
    };
    struct effect fx = { .kind = kind,
                         .requester = REQUESTER_REWIND,
                         .generation = ++b->generation,
                         .at_ms = (int64_t)REWIND_FIXTURE_NOW_S * 1000 + b->generation,
                         .refs = ref_list_one(&ref, SLICE("")) };

    assert_non_null(fx.refs);
    assert_int_equal(buf_add(&fx.text, slice_of(text)), ERR_OK);
    return fx;
}

static struct msg answer(struct bench *b, struct effect *fx)
{
    struct pollfd fd = { .fd = workers_fd(b->workers), .events = POLLIN };
    unsigned generation = fx->generation;
    struct msg m;

    assert_true(workers_submit(b->workers, fx));
    do
        while (!workers_pop(b->workers, &m))
            assert_int_equal(poll(&fd, 1, 30000), 1);
    while (m.kind == MSG_PROGRESS);
    assert_int_equal(m.generation, generation);
    return m;
}

static struct msg ask(struct bench *b, enum effect_kind kind, const char *text)
{
    struct effect fx = question(b, kind, text);

    return answer(b, &fx);
}

static struct preview *preview_of(struct bench *b, const char *point)
{
    struct msg m = ask(b, EFFECT_PREVIEW, point);

    assert_int_equal(m.kind, MSG_PREVIEW);
    return m.u.preview;
}

static struct comparison *compare(struct bench *b, struct preview *p, size_t entry)
{
    struct effect fx = question(b, EFFECT_COMPARE, "");

    fx.preview = preview_retain(p);
    fx.first = entry;
    struct msg m = answer(b, &fx);

    assert_int_equal(m.kind, MSG_COMPARISON);
    return m.u.comparison;
}

/* The selection that the engine proposes. */
static struct preview_selection *as_proposed(const struct preview *p)
{
    struct preview_selection *selection = preview_selection_new(p->preview.n);

    assert_non_null(selection);
    for (size_t i = 0; i < selection->n; i++)
        selection->pick[i].ticked = p->preview.entry[i].chosen;
    return selection;
}

/* Frees the selection. */
static struct msg carry_out(struct bench *b, struct preview *p, struct preview_selection *selection)
{
    struct effect fx = question(b, EFFECT_REWIND, "");

    fx.preview = preview_retain(p);
    fx.selection = selection;
    return answer(b, &fx);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(the_points_arrive_with_their_details)
{
    struct bench *b = *state;
    struct msg m = ask(b, EFFECT_CHECKPOINTS, "");

    assert_int_equal(m.kind, MSG_CHECKPOINTS);
    assert_int_equal(m.u.checkpoints->n, 3);
    assert_non_null(m.u.checkpoints->checkpoint[0].why);
    msg_fini(&m);
}

CASE(a_system_without_checkpoints_is_an_explained_failure)
{
    struct bench *b = *state;

    b->ops.plan = NULL;
    struct msg m = ask(b, EFFECT_PREVIEW, "p1");

    assert_int_equal(m.kind, MSG_FAILED);
    assert_int_equal(m.u.error.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(m.u.error.text, "keeps no checkpoints of files"));
}

CASE(previewing_and_comparing_change_nothing)
{
    struct bench *b = *state;
    char *before = rewind_fixture_image(&b->going);
    struct preview *p = preview_of(b, "p1");
    struct comparison *c = compare(b, p, 0);
    char *after = rewind_fixture_image(&b->going);

    assert_int_equal(c->diff.hunks, 2);
    assert_int_equal(c->diff.insertions, 2);
    assert_string_equal(before, after);
    assert_false(folder_has(&b->going.folder, "state"));
    preview_comparison_free(c);
    preview_free(p);
    free(before);
    free(after);
}

CASE(a_rewind_is_applied_undone_and_redone)
{
    struct bench *b = *state;
    char *before = rewind_fixture_image(&b->going);
    struct preview *p = preview_of(b, "p1");
    struct msg done = carry_out(b, p, as_proposed(p));

    assert_int_equal(done.kind, MSG_REWIND_DONE);
    assert_int_equal(done.u.rewind_summary.restored, 1);
    assert_int_equal(done.u.rewind_summary.created, 1);
    assert_int_equal(done.u.rewind_summary.deleted, 1);
    assert_int_equal(done.u.rewind_summary.skipped, 0);
    assert_true(folder_is(&b->going.folder, "home/ws/src/gone.c", "back\n"));
    assert_false(folder_has(&b->going.folder, "home/ws/src/keys.c"));
    assert_true(folder_is(&b->going.folder, "home/ws/README.md", "A shop.\nMine, by hand.\n"));
    char *rewound = rewind_fixture_image(&b->going);
    struct msg undone = ask(b, EFFECT_UNDO_REWIND, done.u.rewind_summary.record);
    char *after = rewind_fixture_image(&b->going);

    assert_int_equal(undone.kind, MSG_REWIND_DONE);
    assert_string_equal(after, before);
    assert_string_not_equal(undone.u.rewind_summary.record, done.u.rewind_summary.record);
    struct msg redone = ask(b, EFFECT_UNDO_REWIND, undone.u.rewind_summary.record);

    assert_int_equal(redone.kind, MSG_REWIND_DONE);
    assert_int_equal(redone.u.rewind_summary.deleted, 1);
    assert_false(folder_has(&b->going.folder, "home/ws/src/keys.c"));
    preview_free(p);
    free(before);
    free(rewound);
    free(after);
}

CASE(consent_includes_a_held_back_file)
{
    struct bench *b = *state;
    struct preview *p = preview_of(b, "p1");
    struct preview_selection *selection = preview_selection_new(p->preview.n);

    assert_int_equal(p->preview.entry[3].rule, REWIND_RULE_EDITED);
    assert_int_equal(p->preview.entry[6].rule, REWIND_RULE_PATH);
    selection->pick[3] = (struct rewind_selection){ .ticked = true, .consent = true };
    selection->pick[6] = (struct rewind_selection){ .ticked = true, .consent = true };
    struct msg m = carry_out(b, p, selection);

    assert_int_equal(m.kind, MSG_REWIND_DONE);
    assert_int_equal(m.u.rewind_summary.restored, 1);
    assert_true(folder_is(&b->going.folder, "home/ws/README.md", "A shop.\n"));
    assert_true(folder_is(&b->going.folder, "home/ws/.git/config", "[core]\n"));
    preview_free(p);
}

CASE(a_tick_without_consent_is_no_consent)
{
    struct bench *b = *state;
    struct preview *p = preview_of(b, "p1");
    struct preview_selection *selection = preview_selection_new(p->preview.n);
    char *before = rewind_fixture_image(&b->going);

    selection->pick[3].ticked = true;
    struct msg m = carry_out(b, p, selection);
    char *after = rewind_fixture_image(&b->going);

    assert_int_equal(m.kind, MSG_REWIND_DONE);
    assert_string_equal(m.u.rewind_summary.record, "");
    assert_string_equal(before, after);
    preview_free(p);
    free(before);
    free(after);
}

CASE(one_hunk_of_a_file_is_restored_alone)
{
    struct bench *b = *state;
    struct preview *p = preview_of(b, "p2");
    struct preview_selection *selection = as_proposed(p);
    size_t n;

    preview_selection_hunks(selection, 0, 2)[0] = false;
    struct msg m = carry_out(b, p, selection);
    char *text = folder_get(&b->going.folder, "home/ws/src/pay.c", &n);

    assert_int_equal(m.kind, MSG_REWIND_DONE);
    assert_non_null(strstr(text, "bool seen(struct slice key);"));
    assert_non_null(strstr(text, "return charge(key, cents);"));
    assert_null(strstr(text, "cents, 0"));
    preview_free(p);
    free(text);
}

CASE(changed_hunks_are_not_guessed)
{
    struct bench *b = *state;
    struct preview *p = preview_of(b, "p2");
    struct preview_selection *selection = as_proposed(p);
    char *before = rewind_fixture_image(&b->going);

    preview_selection_hunks(selection, 0, 3)[0] = false;
    struct msg m = carry_out(b, p, selection);
    char *after = rewind_fixture_image(&b->going);

    assert_int_equal(m.kind, MSG_FAILED);
    assert_int_equal(m.u.error.code, ERR_STALE);
    assert_string_equal(before, after);
    preview_free(p);
    free(before);
    free(after);
}

CASE(a_file_saved_meanwhile_is_kept)
{
    struct bench *b = *state;
    struct preview *p = preview_of(b, "p2");

    folder_put(&b->going.folder, "home/ws/src/pay.c", SLICE("saved just now\n"));
    struct msg m = carry_out(b, p, as_proposed(p));

    assert_true(m.kind == MSG_FAILED || m.u.rewind_summary.skipped == 1);
    assert_true(folder_is(&b->going.folder, "home/ws/src/pay.c", "saved just now\n"));
    preview_free(p);
}

CASE(the_comparison_shows_the_previewed_contents)
{
    struct bench *b = *state;
    struct preview *p = preview_of(b, "p2");
    struct effect fx = question(b, EFFECT_COMPARE, "");

    folder_put(&b->going.folder, "home/ws/src/pay.c", SLICE("saved just now\n"));
    fx.preview = preview_retain(p);
    struct msg m = answer(b, &fx);

    assert_int_equal(m.kind, MSG_FAILED);
    assert_int_equal(m.u.error.code, ERR_STALE);
    preview_free(p);
}

/* No rewind was made in this run, so each is asked about first, and then undone by its id. */
static void request_change(struct bench *b, enum change_request request, const char *want)
{
    struct effect fx = { .kind = EFFECT_CHANGE,
                         .generation = ++b->generation,
                         .at_ms = (int64_t)REWIND_FIXTURE_NOW_S * 1000 + b->generation,
                         .scope = SCOPE_ALL,
                         .request = request };
    struct msg m = answer(b, &fx);

    assert_int_equal(m.kind, MSG_CHANGED);
    assert_string_equal(m.u.changed->error.text, "");
    assert_true(m.u.changed->needs_confirmation);
    assert_int_equal(m.u.changed->edited.n, 0);
    assert_int_equal(buf_add(&fx.text, slice_of(m.u.changed->id)), ERR_OK);
    msg_fini(&m);
    fx.generation = ++b->generation;
    m = answer(b, &fx);
    assert_string_equal(m.u.changed->error.text, "");
    assert_false(m.u.changed->needs_confirmation);
    assert_true(m.u.changed->record[0]);
    assert_int_equal(buf_add_byte(&m.u.changed->text, '\0'), ERR_OK);
    assert_non_null(strstr(m.u.changed->text.p, want));
    msg_fini(&m);
}

CASE(undo_in_the_list_undoes_the_newest_operation_even_a_rewind)
{
    struct bench *b = *state;
    char data[4096];
    struct store_env env = b->going.env;

    folder_path(&b->going.folder, "data", data);
    env.data_dir = data;
    b->context.env = &env;
    char *before = rewind_fixture_image(&b->going);
    struct preview *p = preview_of(b, "p1");
    struct msg done = carry_out(b, p, as_proposed(p));
    char *gone_back = rewind_fixture_image(&b->going);

    assert_int_equal(done.kind, MSG_REWIND_DONE);
    request_change(b, CHANGE_UNDO, "rewind of ");
    char *undone = rewind_fixture_image(&b->going);

    assert_string_equal(undone, before);
    request_change(b, CHANGE_REDO, "undo of ");
    char *again = rewind_fixture_image(&b->going);

    assert_string_equal(again, gone_back);
    msg_fini(&done);
    preview_free(p);
    free(before);
    free(gone_back);
    free(undone);
    free(again);
}
