#include "tests/store/systems/common/saved_world.h"

/* Files whose saved copies do not show what they were: links that were removed, and edits without copies. */

/* A project beside the copies, with one file. */
static void put_project(struct world *w, const char *name, const char *text)
{
    char root[4096];

    folder_put(&w->folder, name, slice_of(text));
    folder_path(&w->folder, "project", root);
    w->plan.root = arena_copy(&w->plan.arena, slice_of(root)).p;
    assert_non_null(w->plan.root);
}

static bool is_link_possible(struct world *w, const char *other, const char *text)
{
    put_project(w, other, text);
    add_copy(w, 1, "v1", "one\n");
    add_write(w, 1, "one\n", "two\n");
    run_command(w, 1600, "rm a.txt");
    return target(w, 1)->may_be_link;
}

CASE(a_removed_file_of_which_nothing_has_the_text_was_no_link)
{
    assert_false(is_link_possible(*state, "project/deep/b.txt", "three\n"));
}

CASE(a_removed_file_may_have_been_a_link_to_what_has_its_last_text)
{
    assert_true(is_link_possible(*state, "project/deep/b.txt", "two\n"));
}

CASE(a_removed_file_may_have_been_a_link_to_what_has_its_first_text)
{
    assert_true(is_link_possible(*state, "project/b.txt", "one\n"));
}

CASE(a_removed_file_may_have_been_a_link_if_its_bytes_are_not_known)
{
    struct world *w = *state;

    put_project(w, "project/b.txt", "three\n");
    add_copy(w, 1, "v1", "one\r\n");
    run_command(w, 1600, "rm a.txt");
    assert_true(target(w, 1)->may_be_link);
}

/* The first edit of turn 1 found and left these texts, and a copy of turn 2 shows the bytes. */
static void add_edit_without_copy(struct world *w, const char *found, const char *left,
                                  const char *bytes)
{
    add_write(w, 1, found, left);
    add_copy(w, 2, "v2", bytes);
}

CASE(what_an_edit_without_a_copy_found_is_wanted)
{
    add_edit_without_copy(*state, "one\n", "two\n", "two\n");
    const struct rewind_target *t = target(*state, 1);

    assert_int_equal(t->want, REWIND_BYTES);
    assert_true(slice_eq(t->source.bytes, SLICE("one\n")));
    assert_false(t->is_late);
    assert_non_null(t->permissions);
    assert_null(t->doubt);
}

CASE(what_an_edit_found_is_not_known_if_its_bytes_are_not)
{
    add_edit_without_copy(*state, "one\n", "two\n", "two\r\n");
    assert_int_equal(target(*state, 1)->want, REWIND_UNKNOWN);
}

CASE(what_an_edit_found_is_not_known_if_nothing_shows_its_bytes)
{
    add_write(*state, 1, "one\n", "two\n"); /* there is no file now */
    assert_int_equal(target(*state, 1)->want, REWIND_UNKNOWN);
}

/* Turn 1 made one of the lines two, and turn 2, which found them, what is left now. */
static enum rewind_want want_before_two_edits(struct world *w, const char *found, const char *left,
                                              const char *bytes)
{
    add_write(w, 1, "one\n", "two\n");
    add_write(w, 2, found, left);
    add_copy(w, 3, "v3", bytes);
    return target(w, 1)->want;
}

CASE(a_later_edit_that_found_what_was_left_shows_its_bytes)
{
    struct world *w = *state;

    assert_int_equal(want_before_two_edits(w, "two\n", "three\n", "three\n"), REWIND_BYTES);
    assert_true(slice_eq(w->plan.target[0].source.bytes, SLICE("one\n")));
}

CASE(a_later_edit_of_another_text_shows_nothing)
{
    assert_int_equal(want_before_two_edits(*state, "2\n", "three\n", "three\n"), REWIND_UNKNOWN);
}

CASE(a_later_edit_of_a_file_with_other_line_ends_shows_nothing)
{
    assert_int_equal(want_before_two_edits(*state, "two\n", "three\n", "three\r\n"),
                     REWIND_UNKNOWN);
}

CASE(a_later_edit_that_left_no_line_end_shows_nothing)
{
    assert_int_equal(want_before_two_edits(*state, "two\n", "three", "three"), REWIND_UNKNOWN);
}

CASE(a_later_edit_after_a_command_shows_nothing)
{
    run_command(*state, 1500, "dos2unix a.txt");
    assert_int_equal(want_before_two_edits(*state, "two\n", "three\n", "three\n"), REWIND_UNKNOWN);
}

CASE(what_an_edit_found_is_not_known_if_it_left_no_line_end)
{
    add_edit_without_copy(*state, "one\n", "two", "two");
    assert_int_equal(target(*state, 1)->want, REWIND_UNKNOWN);
}

CASE(what_a_later_turn_found_is_not_that_of_the_turn)
{
    add_write(*state, 2, "one\n", "two\n");
    add_copy(*state, 3, "v2", "two\n");
    assert_int_equal(target(*state, 1)->want, REWIND_UNKNOWN);
}

CASE(a_command_before_an_edit_without_a_copy_is_a_doubt)
{
    add_edit_without_copy(*state, "one\n", "two\n", "two\n");
    run_command(*state, 500, "sed -i s/x/one/ a.txt");
    assert_non_null(target(*state, 1)->doubt);
}

CASE(a_file_that_an_edit_without_a_copy_created_was_not_there)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 1,
                                 .is_write = true,
                                 .content = SAVED_BYTES,
                                 .bytes = SLICE("new\n"),
                                 .has_found = true,
                                 .found_absent = true });
    assert_int_equal(target(w, 1)->want, REWIND_ABSENT);
}

CASE(a_copy_after_an_edit_whose_texts_are_not_known_is_not_that_of_the_turn)
{
    struct world *w = *state;
    struct slice path = arena_copy(&w->states.arena, slice_of(add_copy(w, 2, "v1", "two\n")));

    add(w,
        (struct saved_state){ .turn = 2, .is_first = true, .content = SAVED_FILE, .file = path.p });
    add_write(w, 1, NULL, "two\n");
    assert_int_equal(target(w, 1)->want, REWIND_UNKNOWN);
}

/* A copy of turn 1 that is not what the first edit of the turn found. */
static enum rewind_want with_old_copy(struct world *w, const char *copied, int64_t saved_ms)
{
    const char *path = add_copy(w, 1, "v1", copied);

    add(w, (struct saved_state){
               .turn = 1, .content = SAVED_FILE, .file = path, .saved_ms = saved_ms });
    add_edit_without_copy(w, "one\n", "two\n", "two\n");
    w->plan.point_ms = 900;
    return target(w, 1)->want;
}

CASE(an_old_copy_of_the_same_size_that_is_wrong_is_not_used)
{
    assert_int_equal(with_old_copy(*state, "old\n", 100), REWIND_BYTES);
    assert_true(slice_eq(((struct world *)*state)->plan.target[0].source.bytes, SLICE("one\n")));
}

CASE(a_file_that_was_changed_in_the_turn_is_held_back)
{
    assert_int_equal(with_old_copy(*state, "of another size\n", 100), REWIND_UNKNOWN);
}

CASE(a_copy_of_the_turn_that_is_wrong_is_held_back)
{
    assert_int_equal(with_old_copy(*state, "old\n", 950), REWIND_UNKNOWN);
}
