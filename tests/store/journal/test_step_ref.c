#include "tests/support/entire_fixture.h"

#include "tests/test.h"

#include <stdlib.h>

#include "store/journal/change.h"

#define SHADOW "refs/heads/entire/6d28ff0-e3b0c4"
#define KEPT "refs/reprise/trash/1"

struct repo {
    struct entire_fixture w;
    char git[4200];
    char *tip;
};

static void repo_make(struct repo *r)
{
    entire_fixture_make(&r->w, "two-sessions");
    snprintf(r->git, sizeof r->git, "%s/.git", r->w.repo);
    r->tip = entire_fixture_git(&r->w, "rev-parse " SHADOW);
}

static void repo_remove(struct repo *r)
{
    char *sound = entire_fixture_git(&r->w, "fsck --strict --no-dangling 2>&1");

    assert_string_equal(sound, "");
    free(sound);
    free(r->tip);
    entire_fixture_remove(&r->w);
}

static void says(const struct repo *r, const char *ref, const char *want)
{
    char *now = entire_fixture_git(&r->w, "rev-parse -q --verify %s || true", ref);

    assert_string_equal(now, want);
    free(now);
}

static struct step taking(const struct repo *r, const char *ref)
{
    return (struct step){
        .kind = STEP_REF, .path = r->git, .to = ref, .old = slice_of(r->tip), .absent = true
    };
}

static struct step making(const struct repo *r, const char *ref)
{
    return (struct step){
        .kind = STEP_REF, .path = r->git, .to = ref, .bytes = slice_of(r->tip), .old_absent = true
    };
}

static bool is_done(struct step s)
{
    bool done;

    assert_int_equal(step_is_done(&s, &done, NULL), ERR_OK);
    return done;
}

TEST(a_ref_is_removed_and_restored)
{
    struct repo r;

    repo_make(&r);
    struct step s = taking(&r, SHADOW), back;

    assert_false(is_done(s));
    assert_int_equal(step_do(&s, NULL, NULL), ERR_OK);
    assert_true(is_done(s));
    says(&r, SHADOW, "");
    assert_int_equal(step_do(&s, NULL, NULL), ERR_STALE);
    back = step_inverse(&s);
    assert_false(is_done(back));
    assert_int_equal(step_do(&back, NULL, NULL), ERR_OK);
    assert_true(is_done(back));
    says(&r, SHADOW, r.tip);
    repo_remove(&r);
}

TEST(packed_refs_are_refs)
{
    struct repo r;

    repo_make(&r);
    free(entire_fixture_git(&r.w, "pack-refs --all"));
    struct step s = taking(&r, SHADOW);

    assert_int_equal(step_do(&s, NULL, NULL), ERR_OK);
    says(&r, SHADOW, "");
    s = step_inverse(&s);
    assert_int_equal(step_do(&s, NULL, NULL), ERR_OK);
    says(&r, SHADOW, r.tip);
    repo_remove(&r);
}

TEST(a_ref_moved_by_another_program_stays)
{
    struct repo r;

    repo_make(&r);
    struct step take = taking(&r, SHADOW), make = making(&r, "refs/heads/main");
    char *main = entire_fixture_git(&r.w, "rev-parse main");

    free(entire_fixture_git(&r.w, "update-ref " SHADOW " main"));
    assert_int_equal(step_do(&take, NULL, NULL), ERR_STALE);
    says(&r, SHADOW, main);
    assert_int_equal(step_do(&make, NULL, NULL), ERR_STALE);
    says(&r, "refs/heads/main", main);
    free(main);
    repo_remove(&r);
}

TEST(no_ref_names_a_missing_object)
{
    struct repo r;

    repo_make(&r);
    struct step s = making(&r, KEPT);

    s.bytes = SLICE("00000000000000000000000000000000deadbeef");
    assert_int_equal(step_do(&s, NULL, NULL), ERR_STALE);
    s.bytes = SLICE("no hex");
    assert_int_equal(step_do(&s, NULL, NULL), ERR_FORMAT);
    s = making(&r, KEPT);
    s.path = r.w.home; /* no repository */
    assert_int_equal(step_do(&s, NULL, NULL), ERR_STALE);
    assert_false(is_done(s));
    says(&r, KEPT, "");
    repo_remove(&r);
}

/* Two ref steps, and then a move that cannot be done. */
static struct change *renaming(const struct repo *r, const char *file)
{
    struct change *c = change_new("delete");
    struct step make = making(r, KEPT), take = taking(r, SHADOW),
                move = { .kind = STEP_MOVE, .path = file };
    char to[4200];

    snprintf(to, sizeof to, "%s/state.json", r->w.home);
    move.to = to;
    assert_non_null(c);
    c->text = "moved";
    assert_int_equal(change_add(c, &make, NULL), ERR_OK);
    assert_int_equal(change_add(c, &take, NULL), ERR_OK);
    assert_int_equal(change_add(c, &move, NULL), ERR_OK);
    return c;
}

TEST(refs_are_restored_when_a_later_step_fails)
{
    struct repo r;

    repo_make(&r);
    struct change *c = renaming(&r, "/nowhere/at/all");

    assert_int_not_equal(change_do(&r.w.env, c, NULL), ERR_OK);
    says(&r, SHADOW, r.tip);
    says(&r, KEPT, "");
    change_free(c);
    repo_remove(&r);
}

/* The directory of a change under way is that of a finished one, under another name. */
static struct change *cut_short(const struct repo *r)
{
    char file[4300];

    snprintf(file, sizeof file, "%s/a-file", r->git);
    free(entire_fixture_sh(&r->w, "echo x >%s", file));
    struct change *c = renaming(r, file);

    assert_int_equal(change_do(&r->w.env, c, NULL), ERR_OK);
    says(r, SHADOW, "");
    says(r, KEPT, r->tip);
    free(entire_fixture_sh(&r->w, "cd %s/changes && mv %s %s.intent && mv %s/state.json %s",
                           r->w.state, c->id, c->id, r->w.home, file));
    return c;
}

static void next_start(const struct repo *r)
{
    struct change_log *log;

    assert_int_equal(change_log_open(&r->w.env, &log, NULL), ERR_OK);
    change_log_close(log);
}

TEST(refs_are_restored_after_a_crash)
{
    struct repo r;

    repo_make(&r);
    struct change *c = cut_short(&r);

    next_start(&r);
    says(&r, SHADOW, r.tip);
    says(&r, KEPT, "");
    change_free(c);
    repo_remove(&r);
}

/* The branch was created again under the same name: only our ref keeps its old commits. */
TEST(a_kept_ref_stays_when_its_branch_cannot_be_restored)
{
    struct repo r;

    repo_make(&r);
    struct change *c = cut_short(&r);
    char *main = entire_fixture_git(&r.w, "rev-parse main");

    free(entire_fixture_git(&r.w, "update-ref " SHADOW " main"));
    next_start(&r);
    says(&r, SHADOW, main);
    says(&r, KEPT, r.tip);
    free(main);
    change_free(c);
    repo_remove(&r);
}
