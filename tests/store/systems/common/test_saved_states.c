#include "tests/store/systems/common/saved_world.h"

#include <sys/stat.h>

#include "store/systems/common/inferred.h"

CASE(the_copy_of_the_turn_is_wanted)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    const char *second = add_copy(w, 2, "v2", "two\n");

    add_write(w, 2, "two\n", "three\n");
    const struct rewind_target *t = target(w, 2);

    assert_int_equal(t->want, REWIND_BYTES);
    assert_string_equal(t->source.file, second);
    assert_true(t->has_last);
    assert_int_equal(t->last.bytes.n, 6);
    assert_memory_equal(t->last.bytes.p, "three\n", 6);
    assert_false(t->has_mode);
}

CASE(a_file_that_was_not_there_is_removed)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 3, .is_first = true, .content = SAVED_ABSENT });
    add_write(w, 3, "", "new\n");
    assert_int_equal(target(w, 1)->want, REWIND_ABSENT);
}

CASE(a_file_that_was_not_touched_since_is_left_out)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    assert_int_equal(saved_states_plan(&w->states, 2, &w->plan, NULL), ERR_OK);
    assert_int_equal(w->plan.n, 0);
}

CASE(a_later_copy_that_is_not_the_first_proves_nothing)
{
    struct world *w = *state;

    add_copy(w, 3, "v2", "two\n");
    const struct rewind_target *t = target(w, 1);

    assert_int_equal(t->want, REWIND_UNKNOWN);
    assert_string_equal(t->why, "the session does not record what it contained then");
}

CASE(an_edit_without_a_copy_is_held_back)
{
    struct world *w = *state;

    add_write(w, 1, "one\n", "two\n");
    assert_int_equal(target(w, 1)->want, REWIND_UNKNOWN);
}

CASE(a_copy_that_the_next_edit_did_not_find_is_held_back)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    add_write(w, 1, "other\n", "two\n");
    const struct rewind_target *t = target(w, 1);

    assert_int_equal(t->want, REWIND_UNKNOWN);
    assert_string_equal(t->why, "its saved copy is not what the session's next edit found");
    assert_false(t->copy_lost);
}

CASE(a_copy_that_is_the_beginning_of_what_the_next_edit_found_is_lost)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\r\ntw");
    add_write(w, 1, "one\ntwo\n", "two\n");
    const struct rewind_target *t = target(w, 1);

    assert_int_equal(t->want, REWIND_UNKNOWN);
    assert_true(t->copy_lost);
}

CASE(a_command_between_the_copy_and_the_edit_explains_what_it_found)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    run_command(w, 1000, "rm a.txt");
    add_write(w, 1, "", "two\n");
    assert_int_equal(target(w, 1)->want, REWIND_BYTES);
}

CASE(a_command_that_does_not_name_the_file_explains_nothing)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    run_command(w, 1000, "make clean");
    add_write(w, 1, "", "two\n");
    assert_int_equal(target(w, 1)->want, REWIND_UNKNOWN);
}

CASE(a_command_that_changes_permissions_is_a_doubt_without_modes)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    add_write(w, 1, "one\n", "two\n");
    run_command(w, 1000, "chmod +x a.txt b.txt");
    assert_string_equal(target(w, 1)->doubt,
                        "a command changed its permissions, and the former ones are not recorded");
}

CASE(a_file_that_a_command_removed_may_have_been_a_link)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    run_command(w, 1500, "cat a.txt");
    assert_false(target(w, 1)->may_be_link);
    run_command(w, 1600, "rm a.txt");
    rewind_plan_fini(&w->plan);
    w->plan = (struct rewind_plan){ .n = 0 };
    assert_true(target(w, 1)->may_be_link);
}

CASE(permissions_that_a_command_changed_before_the_copy_are_not_those_of_the_turn)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 2,
                                 .is_first = true,
                                 .content = SAVED_FILE,
                                 .file = add_copy(w, 2, "v1", "one\n") });
    w->states.keeps_modes = true;
    run_command(w, 1500, "chmod +x a.txt");
    const struct rewind_target *t = target(w, 1);

    assert_false(t->has_mode);
    assert_non_null(t->permissions);
    assert_non_null(t->doubt);
}

CASE(permissions_that_a_command_changed_after_the_copy_are_in_it)
{
    struct world *w = *state;

    assert_int_equal(chmod(add_copy(w, 1, "v1", "one\n"), 0640), 0);
    w->states.keeps_modes = true;
    run_command(w, 1500, "chmod +x a.txt");
    assert_true(target(w, 1)->has_mode);
    assert_int_equal(w->plan.target[0].mode, 0640);
}

CASE(a_file_that_the_session_made_was_no_link)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 0, .is_first = true, .content = SAVED_ABSENT });
    add_copy(w, 1, "v1", "one\n");
    run_command(w, 1600, "rm a.txt");
    const struct rewind_target *t = target(w, 1);

    assert_int_equal(t->want, REWIND_BYTES);
    assert_false(t->may_be_link);
}

CASE(line_ends_and_broken_bytes_contradict_nothing)
{
    struct world *w = *state;

    add_copy(w, 1, "v1",
             "\xef\xbb\xbf"
             "one\r\ntwo\r\n");
    add_write(w, 1, "one\ntwo\n", "three\n");
    assert_int_equal(target(w, 1)->want, REWIND_BYTES);
    rewind_plan_fini(&w->plan);
    w->plan = (struct rewind_plan){ .n = 0 };
    add_copy(w, 2, "v2", "caf\xe9\n");
    add_write(w, 2, "caf\xef\xbf\xbd\n", "tea\n");
    assert_int_equal(target(w, 2)->want, REWIND_BYTES);
}

CASE(a_copy_from_before_the_last_edit_is_held_back)
{
    struct world *w = *state;
    const char *old = add_copy(w, 1, "v1", "one\n");

    add_write(w, 1, "one\n", "two\n");
    add(w, (struct saved_state){ .turn = 2, .content = SAVED_FILE, .file = old });
    const struct rewind_target *t = target(w, 2);

    assert_int_equal(t->want, REWIND_UNKNOWN);
    assert_string_equal(t->why, "its saved copy is from before the session's last edit");
}

CASE(a_copy_that_failed_is_held_back_with_its_reason)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 1, .content = SAVED_UNKNOWN, .why = "it was a device" });
    assert_string_equal(target(w, 1)->why, "it was a device");
}

CASE(of_two_copies_of_a_turn_one_counts)
{
    struct world *w = *state;
    struct saved_state late = { .turn = 1, .time_ms = 5000, .content = SAVED_ABSENT };

    add_copy(w, 1, "v1", "one\n");
    w->states.keeps_oldest = true;
    add(w, late);
    assert_int_equal(target(w, 1)->want, REWIND_BYTES);
    rewind_plan_fini(&w->plan);
    w->plan = (struct rewind_plan){ .n = 0 };
    w->states.keeps_oldest = false;
    add(w, late);
    assert_int_equal(target(w, 1)->want, REWIND_ABSENT);
}

/* ---- what was changed without a record ---- */

static const char *doubt_after(struct world *w, const char *command, const char *dir)
{
    const struct saved_shell shell = { .time_ms = 1500, .command = slice_of(command), .dir = dir };

    assert_int_equal(saved_states_shell(&w->states, &shell, NULL), ERR_OK);
    w->plan.point_ms = 1000;
    return target(w, 1)->doubt;
}

CASE(a_copy_from_after_a_command_is_doubted)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 2, .is_first = true, .content = SAVED_BYTES });
    assert_string_equal(doubt_after(w, "make", "/p"),
                        "a shell command may have changed it before the session saved it");
}

CASE(a_command_on_other_files_raises_no_doubt)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 2, .is_first = true, .content = SAVED_BYTES });
    assert_null(doubt_after(w, "rm b.txt && ls", "/p"));
}

CASE(a_new_file_is_doubted_only_if_a_command_may_have_removed_it)
{
    struct world *w = *state;

    add(w, (struct saved_state){ .turn = 2, .is_first = true, .content = SAVED_ABSENT });
    assert_null(doubt_after(w, "make test", "/p"));
    rewind_plan_fini(&w->plan);
    w->plan = (struct rewind_plan){ .n = 0 };
    assert_non_null(doubt_after(w, "rm a.*", "/p"));
}

CASE(a_copy_that_the_last_edit_left_is_certain)
{
    struct world *w = *state;

    add_write(w, 0, "", "one\n");
    add_copy(w, 2, "v1", "one\n");
    w->states.path[0].state[1].is_first = true;
    assert_null(doubt_after(w, "make", "/p"));
}

CASE(a_change_between_an_edit_and_a_later_copy_is_doubted)
{
    struct world *w = *state;

    add_write(w, 0, "", "one\n");
    add_copy(w, 2, "v1", "by hand\n");
    w->states.path[0].state[1].is_first = true;
    assert_string_equal(target(w, 1)->doubt,
                        "it was changed at an unknown time before the session saved it");
}

CASE(a_copy_of_the_turn_is_not_judged_by_edits_of_later_copies)
{
    struct world *w = *state;

    add_copy(w, 1, "v1", "one\n");
    add_copy(w, 2, "v2", "by hand\n");
    add_write(w, 2, "by hand\n", "two\n");
    assert_int_equal(target(w, 1)->want, REWIND_BYTES);
}

CASE(a_file_of_another_encoding_contradicts_nothing)
{
    struct world *w = *state;

    add_copy(w, 1, "v1",
             "stra\xdf"
             "e\n");
    add_write(w, 1,
              "stra\xc3\x9f"
              "e\n",
              "road\n");
    assert_int_equal(target(w, 1)->want, REWIND_BYTES);
}

CASE(a_copy_that_is_gone_is_found_by_its_hash)
{
    static const char hash[] = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";
    struct world *w = *state;

    add_write(w, 0, "", "one\n");
    add(w, (struct saved_state){
               .turn = 1, .content = SAVED_FILE, .file = "/p/gone", .sha256 = hash });
    const struct rewind_target *t = target(w, 1);

    assert_int_equal(t->want, REWIND_BYTES);
    assert_null(t->source.file);
    assert_true(slice_eq(t->source.bytes, SLICE("one\n")));
}

CASE(the_last_state_has_the_line_ends_of_the_file)
{
    struct world *w = *state;
    struct saved_state x = {
        .turn = 1, .is_write = true, .content = SAVED_BYTES, .bytes = SLICE("a\nb\n")
    };
    char buffer[4096];

    folder_put(&w->folder, "a.txt", SLICE("a\r\nb\r\n"));
    assert_int_equal(
        saved_states_add(&w->states, folder_path(&w->folder, "a.txt", buffer), &x, NULL), ERR_OK);
    const struct rewind_target *t = target(w, 1);

    assert_int_equal(t->last.bytes.n, 6);
    assert_memory_equal(t->last.bytes.p, "a\r\nb\r\n", 6);
}

CASE(commands_are_judged_by_the_files_that_they_name)
{
    static const struct {
        const char *command;
        bool may;
    } cases[] = {
        { "ls -R", false },
        { "rm b.txt", false },
        { "rm -rf b 'c d'", false },
        { "rm a.txt", true },
        { "rm ./x/../a.txt", true },
        { "rm -r /p", true },
        { "rm *.txt", true },
        { "cd x && rm a.txt", false },
        { "cd x; rm ../a.txt", true },
        { "mv b.txt c.txt && cat c.txt | wc -l", false },
        { "mv b.txt .", true },
        { "echo x > b.txt 2>&1", false },
        { "echo x >> a.txt", true },
        { "printf '%s' \"$X\" > b.txt", true },
        { "sed -i s/a/b/ b.txt", false },
        { "sed -i 's/a/b/g' a.txt", true },
        { "sed -n 'w a.txt' b.txt", true },
        { "python3 x.py", true },
        { "make", true },
        { "git status --short; git diff", false },
        { "git diff --output=a.txt", true },
        { "git checkout .", true },
        { "find . -name '*.c' | head -3", false },
        { "find . -delete", true },
        { "ls *.txt $X > b.txt", false },
        { "ls $(rm a.txt)", true },
        { "cat b.txt > *.txt", true },
        { "X=1 ls", true },
        { "cat <<E\nrm\nE", true },
        { "'a", true },
        { "", false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (inferred_may_change(slice_of(cases[i].command), "/p", "/p/a.txt") != cases[i].may)
            fail_msg("%s", cases[i].command);
    assert_true(inferred_only_reads(SLICE("cat a.txt | grep -n x 2>/dev/null")));
    assert_false(inferred_only_reads(SLICE("echo x > b.txt")));
    assert_false(inferred_only_reads(SLICE("")));
    assert_false(inferred_may_remove(SLICE("npm run format"), "/p", "/p/a.txt"));
    assert_true(inferred_may_remove(SLICE("git stash"), "/p", "/p/a.txt"));
    assert_true(inferred_may_remove(SLICE("node x.js a.txt"), "/p", "/p/a.txt"));
}

CASE(the_mode_is_that_of_the_copy_if_copies_have_it)
{
    struct world *w = *state;

    assert_int_equal(chmod(add_copy(w, 1, "v1", "#!/bin/sh\n"), 0750), 0);
    w->states.keeps_modes = true;
    const struct rewind_target *t = target(w, 1);

    assert_true(t->has_mode);
    assert_int_equal(t->mode, 0750);
}

CASE(an_edit_leaves_the_newest_state_with_the_text_replaced)
{
    struct world *w = *state;
    struct saved_state x = { .turn = 1, .time_ms = 1001 };

    add_copy(w, 1, "v1", "a b a\n");
    assert_int_equal(saved_states_edit(&w->states, "/p/a.txt", SLICE("a"), SLICE("c"), false, &x),
                     ERR_OK);
    assert_int_equal(x.content, SAVED_BYTES);
    assert_true(slice_eq(x.bytes, SLICE("c b a\n")));
    assert_int_equal(saved_states_edit(&w->states, "/p/a.txt", SLICE("a"), SLICE("c"), true, &x),
                     ERR_OK);
    assert_true(slice_eq(x.bytes, SLICE("c b c\n")));
    assert_int_equal(saved_states_edit(&w->states, "/p/a.txt", SLICE("x"), SLICE("c"), true, &x),
                     ERR_OK);
    assert_int_equal(x.content, SAVED_UNKNOWN);
    assert_int_equal(saved_states_edit(&w->states, "/p/b.txt", SLICE("a"), SLICE("c"), true, &x),
                     ERR_OK);
    assert_int_equal(x.content, SAVED_UNKNOWN);
}

CASE(the_files_of_a_turn_are_counted)
{
    struct world *w = *state;

    add_write(w, 1, "", "one\n");
    add_write(w, 1, "one\n", "two\n");
    add_write(w, 2, "two\n", "three\n");
    assert_int_equal(saved_states_written(&w->states, 1), 1);
    assert_int_equal(saved_states_written(&w->states, 3), 0);
}
