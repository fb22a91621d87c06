#include "tests/test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/library/library_host.h"

/* A host with plain messages says what its turns changed, and a plain rewind restores it. */

struct turn_host {
    struct reprise *r;
    struct reprise_session *s;
    char file[4096], made[4096],
        first[256]; /* changed and created by its turns; its first prompt */
};

static void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    scratch_need(f && fputs(text, f) >= 0 && fclose(f) == 0, path);
}

static void check_text(const char *path, const char *text)
{
    char got[100] = "";
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, text);
}

static void append_message(const struct turn_host *h, const char *role, char id[256])
{
    struct reprise_texts *ids = NULL;
    char row[300];

    snprintf(row, sizeof row,
             "{\"type\":\"%s\",\"role\":\"%s\",\"content\":\"x\",\"message\":{\"role\":\"%s\","
             "\"content\":\"x\"}}\n",
             role, role, role);
    if (strcmp(reprise_session_system(h->s), "claude") != 0)
        snprintf(row, sizeof row, "{\"role\":\"%s\",\"content\":\"x\"}\n", role);
    assert_int_equal(reprise_append(h->s, row, strlen(row), 0, &ids, NULL), REPRISE_OK);
    snprintf(id, 256, "%s", reprise_texts_at(ids, 0, NULL));
    reprise_texts_free(ids);
}

static void save_files(const struct turn_host *h, const char *message)
{
    const char *files[] = { h->file, h->made };
    const struct reprise_checkpoint_request q = {
        .size = sizeof q, .message = message, .files = files, .files_count = 2
    };

    assert_int_equal(reprise_checkpoint(h->s, &q, NULL, NULL), REPRISE_OK);
}

/* Two turns: the first changes a file, the second changes it again and creates another one. */
static void begin_turns(struct turn_host *h, void **state, const char *system)
{
    char id[256];

    folder_path(*state, "file", h->file);
    folder_path(*state, "made", h->made);
    unlink(h->made);
    put_text(h->file, "one\n");
    h->r = open_store(state, system, system);
    h->s = create(h->r, NULL);
    append_message(h, "user", h->first);
    save_files(h, h->first);
    put_text(h->file, "two\n");
    append_message(h, "assistant", id);
    append_message(h, "user", id);
    save_files(h, id);
    put_text(h->file, "three\n");
    put_text(h->made, "created\n");
    append_message(h, "assistant", id);
}

static void end_turns(struct turn_host *h)
{
    reprise_session_close(h->s);
    reprise_close(h->r);
}

static int rewind_to_first(const struct turn_host *h)
{
    const struct reprise_rewind_options o = { .size = sizeof o, .flags = REPRISE_REWIND_OUTSIDE };
    struct reprise_rewind *w = NULL;
    int rc = reprise_rewind_plan(h->s, h->first, &o, &w, NULL);

    if (!rc)
        rc = reprise_rewind_apply(w, 0, NULL);
    reprise_rewind_close(w);
    return rc;
}

static const char *const writing_systems[] = { "claude", "goat", "exathena" };

IN_SCRATCH(a_turn_that_has_ended_is_restored_by_a_plain_rewind)
{
    for (size_t i = 0; i < 3; i++) {
        struct turn_host h;

        begin_turns(&h, state, writing_systems[i]);
        assert_int_equal(rewind_to_first(&h), REPRISE_UNSAFE);
        check_text(h.file, "three\n");
        const char *files[] = { h.file, h.made };

        assert_int_equal(reprise_checkpoint_end(h.s, files, 2, NULL), REPRISE_OK);
        assert_int_equal(rewind_to_first(&h), REPRISE_OK);
        check_text(h.file, "one\n");
        assert_int_not_equal(access(h.made, F_OK), 0);
        end_turns(&h);
    }
}

IN_SCRATCH(an_edit_by_hand_after_the_turn_is_held_back)
{
    for (size_t i = 0; i < 3; i++) {
        struct turn_host h;

        begin_turns(&h, state, writing_systems[i]);
        const char *files[] = { h.made, h.file };

        assert_int_equal(reprise_checkpoint_end(h.s, files, 2, NULL), REPRISE_OK);
        put_text(h.file, "by hand\n");
        assert_int_equal(rewind_to_first(&h), REPRISE_UNSAFE);
        check_text(h.file, "by hand\n");
        assert_int_equal(access(h.made, F_OK), 0);
        end_turns(&h);
    }
}

IN_SCRATCH(a_later_checkpoint_shows_what_the_session_left)
{
    for (size_t i = 0; i < 3; i++) {
        struct turn_host h;
        char id[256];

        begin_turns(&h, state, writing_systems[i]);
        append_message(&h, "user", id);
        save_files(&h, id);
        assert_int_equal(rewind_to_first(&h), REPRISE_OK);
        check_text(h.file, "one\n");
        end_turns(&h);
    }
}

/* The path of the only record. */
static void record_path(void **state, char path[4096])
{
    char dir[4096];
    DIR *d = opendir(folder_path(*state, "home/.local/state/reprise/host-work", dir));

    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d));)
        if (entry->d_name[0] != '.')
            snprintf(path, 4096, "%.3000s/%s", dir, entry->d_name);
    closedir(d);
}

/* A host whose two turns have ended, and the path of the record of that. */
static void record_turns(struct turn_host *h, void **state, char path[4096])
{
    begin_turns(h, state, "goat");
    const char *files[] = { h->file, h->made };

    assert_int_equal(reprise_checkpoint_end(h->s, files, 2, NULL), REPRISE_OK);
    record_path(state, path);
}

IN_SCRATCH(a_record_of_many_turns_is_written_anew)
{
    struct turn_host h;
    struct stat st;
    char path[4096];

    record_turns(&h, state, path);
    const char *files[] = { h.file, h.made };
    FILE *f = fopen(path, "a");

    for (int i = 0; i < 20000; i++)
        assert_true(fprintf(f, "{\"path\":\"%s\",\"sha256\":\"\"}\n", h.made) > 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(reprise_checkpoint_end(h.s, files, 2, NULL), REPRISE_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 1000);
    assert_int_equal(rewind_to_first(&h), REPRISE_OK);
    check_text(h.file, "one\n");
    end_turns(&h);
}

IN_SCRATCH(a_record_that_cannot_be_read_holds_files_back)
{
    struct turn_host h;
    char path[4096];

    record_turns(&h, state, path);
    assert_int_equal(truncate(path, (off_t)1 << 30), 0);
    assert_int_equal(rewind_to_first(&h), REPRISE_UNSAFE);
    check_text(h.file, "three\n");
    end_turns(&h);
}

IN_SCRATCH(what_is_no_file_ends_no_turn)
{
    struct turn_host h;
    char folder[4096];

    begin_turns(&h, state, "goat");
    const char *files[] = { h.file, folder_path(*state, "goat", folder) }, *relative = "file";

    assert_int_equal(reprise_checkpoint_end(h.s, files, 2, NULL), REPRISE_UNSAFE);
    assert_int_equal(reprise_checkpoint_end(h.s, &relative, 1, NULL), REPRISE_UNSAFE);
    assert_int_equal(rewind_to_first(&h), REPRISE_UNSAFE);
    assert_int_equal(reprise_checkpoint_end(h.s, NULL, 0, NULL), REPRISE_OK);
    end_turns(&h);
}
