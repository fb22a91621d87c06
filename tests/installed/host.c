#include <reprise.h>
#include <stdio.h>
#include <string.h>

/* A program that runs an agent and keeps its session, as an example: it begins a session in a directory of Go
 * sessions, appends a prompt, saves the file that the answer will change, goes back to it, goes on in a copy, deletes that, and lists
 * what there is.
 *   usage: host SESSIONS HOME FILE    (three absolute paths)
 *   cc -std=c99 host.c $(pkg-config --cflags --libs reprise) */

static int keep(struct reprise *r, const char *file, struct reprise_error *e)
{
    const char *row = "{\"uuid\":\"m-1\",\"timestamp\":\"2026-02-09T02:48:28Z\",\"role\":\"user\","
                      "\"content\":\"pay\"}\n";
    struct reprise_create_request request = {
        sizeof request, "pay-1", NULL, NULL, NULL, NULL, NULL
    };
    struct reprise_checkpoint_request point = { sizeof point, "m-1", &file, 1, NULL, NULL, NULL };
    const char *title = "title=Payments";
    struct reprise_session *s = NULL;
    int rc = reprise_create(r, &request, &s, e);

    if (!rc)
        rc = reprise_append(s, row, strlen(row), 0, NULL, e);
    if (!rc)
        rc = reprise_set(s, &title, 1, e);
    if (!rc)
        rc = reprise_checkpoint(s, &point, NULL, e);
    reprise_session_close(s);
    return rc;
}

static int write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    return f && fputs(text, f) >= 0 && fclose(f) == 0 ? 0 : REPRISE_IO;
}

/* The agent's turn: it changes the file, and the host says that this was the session's work. */
static int take_turn(struct reprise *r, const char *file, struct reprise_error *e)
{
    struct reprise_session *s = NULL;
    int rc = write_file(file, "what the agent wrote\n");

    if (!rc)
        rc = reprise_session_open(r, "pay-1", &s, e);
    if (!rc)
        rc = reprise_checkpoint_end(s, &file, 1, e);
    reprise_session_close(s);
    return rc;
}

/* The agent's changes are undone, as a person would do it after reading the plan. */
static int go_back(struct reprise *r, struct reprise_error *e)
{
    struct reprise_rewind_options options = { sizeof options, REPRISE_REWIND_FILES,
                                              REPRISE_REWIND_OUTSIDE, NULL, 0 };
    struct reprise_session *s = NULL;
    struct reprise_rewind *w = NULL;
    int rc = reprise_session_open(r, "pay-1", &s, e);

    if (!rc)
        rc = reprise_rewind_plan(s, "m-1", &options, &w, e);
    if (!rc)
        printf("rewind: %lu file, action %d\n", (unsigned long)reprise_rewind_count(w),
               (int)reprise_rewind_at(w, 0)->action);
    if (!rc)
        rc = reprise_rewind_apply(w, 0, e);
    reprise_rewind_close(w);
    reprise_session_close(s);
    return rc;
}

/* Another try from the first prompt on, in a copy that is deleted afterwards. */
static int try_a_copy(struct reprise *r, struct reprise_error *e)
{
    struct reprise_fork_request request = { sizeof request, "pay-2", "m-1", NULL, 0, 0 };
    struct reprise_delete_result gone;
    struct reprise_session *s = NULL, *copy = NULL;
    struct reprise_texts *bundle = NULL;
    int rc = reprise_session_open(r, "pay-1", &s, e);

    if (!rc)
        rc = reprise_fork(s, &request, NULL, &copy, e);
    if (!rc)
        rc = reprise_restore(copy, NULL, &bundle, e);
    if (!rc)
        printf("copy: %.24s...\n", reprise_texts_at(bundle, 0, NULL));
    gone.size = sizeof gone;
    if (!rc)
        rc = reprise_delete(copy, 0, &gone, e);
    if (!rc)
        printf("trash: %lu files\n", (unsigned long)gone.files);
    reprise_texts_free(bundle);
    reprise_session_close(copy);
    reprise_session_close(s);
    return rc;
}

static int print_messages(const struct reprise *r, const char *id, struct reprise_error *e)
{
    struct reprise_session *s = NULL;
    struct reprise_texts *messages = NULL;
    int rc = reprise_session_open(r, id, &s, e);

    if (!rc)
        rc = reprise_messages(s, NULL, &messages, e);
    for (size_t i = 0; !rc && i < reprise_texts_count(messages); i++)
        printf("  %s\n", reprise_texts_at(messages, i, NULL));
    reprise_texts_free(messages);
    reprise_session_close(s);
    return rc;
}

static int tell(struct reprise *r, struct reprise_error *e)
{
    struct reprise_rows *rows = NULL;
    int rc = reprise_list(r, NULL, &rows, e);

    for (size_t i = 0; !rc && i < reprise_rows_count(rows); i++) {
        const struct reprise_row *row = reprise_rows_at(rows, i);

        printf("%s: %s\n", row->system, row->title);
        rc = print_messages(r, row->id, e);
    }
    reprise_rows_free(rows);
    return rc;
}

int main(int argc, char **argv)
{
    char home[4096] = "HOME=";
    const char *environment[] = { home, NULL };
    struct reprise_options options = { .size = sizeof options,
                                       .system = "goat",
                                       .environment = environment,
                                       .flags = REPRISE_OPEN_CREATE };
    struct reprise_error e;
    struct reprise *r = NULL;

    if (argc != 4)
        return 2;
    strncat(home, argv[2], sizeof home - strlen(home) - 1);
    options.path = argv[1];
    int rc = reprise_open(&options, &r, &e);

    if (!rc)
        rc = keep(r, argv[3], &e);
    if (!rc)
        rc = take_turn(r, argv[3], &e);
    if (!rc)
        rc = go_back(r, &e);
    if (!rc)
        rc = try_a_copy(r, &e);
    if (!rc)
        rc = tell(r, &e);
    reprise_close(r);
    if (rc)
        fprintf(stderr, "host: %s\n", e.message);
    return rc ? 1 : 0;
}
