/* One example for each part of the library; the pages of man(3) show them. The functions run one after the other on a
 * store without sessions (main, at the end), as a test does it.
 *
 *   cc -std=c99 examples.c $(pkg-config --cflags --libs reprise) && HOME=$(mktemp -d) ./a.out */
#include <reprise.h>
#include <stdio.h>
#include <string.h>

/* ==== reprise_open ==== */
static int open_claude(struct reprise **r, struct reprise_error *e)
{
    struct reprise_options options = { .size = sizeof options, .system = "claude" };

    options.flags = REPRISE_OPEN_CREATE; /* makes the store if it does not exist */
    return reprise_open(&options, r, e); /* close it with reprise_close() */
}

/* ==== reprise_list ==== */
static int print_titles(struct reprise *r, struct reprise_error *e)
{
    struct reprise_query newest = { .size = sizeof newest, .limit = 10 };
    struct reprise_rows *rows = NULL;
    int rc = reprise_list(r, &newest, &rows, e);

    for (size_t i = 0; !rc && i < reprise_rows_count(rows); i++)
        puts(reprise_rows_at(rows, i)->title);
    reprise_rows_free(rows);
    return rc;
}

/* ==== reprise_messages ==== */
static int print_end(struct reprise_session *s, struct reprise_error *e)
{
    struct reprise_message_query last = { .size = sizeof last, .limit = 5, .before = "" };
    struct reprise_texts *messages = NULL;

    last.flags = REPRISE_MESSAGES_LIMIT | REPRISE_MESSAGES_PLAIN; /* one form for all agents */
    int rc = reprise_messages(s, &last, &messages, e);

    for (size_t i = 0; !rc && i < reprise_texts_count(messages); i++)
        puts(reprise_texts_at(messages, i, NULL));
    reprise_texts_free(messages);
    return rc;
}

/* ==== reprise_restore ==== */
static int print_restored(struct reprise_session *s, struct reprise_error *e)
{
    struct reprise_texts *bundle = NULL;
    int rc = reprise_restore(s, NULL, &bundle, e);

    if (!rc)
        puts(reprise_texts_at(bundle, 0, NULL)); /* one JSON object */
    reprise_texts_free(bundle);
    return rc;
}

/* ==== reprise_agents ==== */
static int print_agents(struct reprise_session *s, struct reprise_error *e)
{
    struct reprise_agents *agents = NULL;
    int rc = reprise_list_agents(s, &agents, e);

    for (size_t i = 0; !rc && i < reprise_agents_count(agents); i++)
        puts(reprise_agents_at(agents, i)->task);
    reprise_agents_free(agents);
    return rc;
}

/* ==== reprise_search ==== */
static int on_hit(const struct reprise_hit *hit, void *arg)
{
    (void)arg;
    printf("%s: %s\n", hit->session, hit->line);
    return 0; /* go on */
}

static int search(struct reprise *r, const char *pattern, struct reprise_error *e)
{
    struct reprise_search_query query = { .size = sizeof query, .patterns = &pattern };

    query.patterns_count = 1;
    return reprise_search(r, &query, on_hit, NULL, e);
}

/* ==== reprise_blame ==== */
static int print_writers(struct reprise *r, const char *file, struct reprise_error *e)
{
    struct reprise_lines *lines = NULL;
    int rc = reprise_blame(r, file, NULL, &lines, e);

    for (size_t i = 0; !rc && i < reprise_lines_count(lines); i++) {
        const struct reprise_line *line = reprise_lines_at(lines, i);

        printf("%-36s %-20.20s %s\n", line->session, line->prompt, line->text);
    }
    reprise_lines_free(lines);
    return rc;
}

/* ==== reprise_files ==== */
static int print_files(struct reprise_session *s, struct reprise_error *e)
{
    struct reprise_touches *files = NULL;
    int rc = reprise_files(s, &files, e);

    for (size_t i = 0; !rc && i < reprise_touches_count(files); i++)
        puts(reprise_touches_at(files, i)->file);
    reprise_touches_free(files);
    return rc;
}

/* ==== reprise_usage ==== */
static int print_models(struct reprise *r, struct reprise_error *e)
{
    struct reprise_usage *usage = NULL;
    int rc = reprise_sum_usage(r, NULL, &usage, e);

    for (size_t i = 0; !rc && i < reprise_usage_count(usage); i++)
        puts(reprise_usage_at(usage, i)->model);
    reprise_usage_free(usage);
    return rc;
}

/* ==== reprise_export ==== */
static int export_text(struct reprise_session *s, const char *file, struct reprise_error *e)
{
    struct reprise_export_request request = { .size = sizeof request };

    request.format = REPRISE_FORMAT_TEXT;
    return reprise_export_file(s, &request, file, NULL, e);
}

/* ==== reprise_append ==== */
static int begin(struct reprise *r, struct reprise_session **s, struct reprise_error *e)
{
    static const char row[] =
        "{\"type\":\"user\",\"uuid\":\"11111111-1111-4111-8111-111111111111\","
        "\"message\":{\"role\":\"user\",\"content\":\"Fix the tests\"}}\n";
    int rc = reprise_create(r, NULL, s, e);

    return rc ? rc : reprise_append(*s, row, strlen(row), 0, NULL, e);
}

/* ==== reprise_writer ==== */
static int write_rows(struct reprise_session *s, const char *rows, struct reprise_error *e)
{
    struct reprise_writer_options options = { .size = sizeof options };
    struct reprise_writer *w = NULL;

    options.flags = REPRISE_WRITER_BACKGROUND; /* an append returns at once */
    int rc = reprise_writer_open(s, &options, &w, e);

    if (!rc)
        rc = reprise_writer_append(w, rows, strlen(rows), 0, NULL, e);
    if (!rc)
        rc = reprise_writer_flush(w, e);
    int closed = reprise_writer_close(w, rc ? NULL : e);

    return rc ? rc : closed;
}

/* ==== reprise_state ==== */
static int publish(struct reprise_session *s, struct reprise_error *e)
{
    struct reprise_state *state = NULL;
    int rc = reprise_state_open(s, &state, e);

    if (!rc)
        rc = reprise_state_change(state, REPRISE_RUNNING, NULL, e);
    if (!rc)
        rc = reprise_state_merge(state, "{\"task_summary\":\"reading the tests\"}", e);
    reprise_state_close(state);
    return rc;
}

/* ==== reprise_checkpoint ==== */
static int change(struct reprise_session *s, const char *message, const char *file,
                  struct reprise_error *e)
{
    struct reprise_checkpoint_request before = { .size = sizeof before, .message = message };

    before.files = &file;
    before.files_count = 1;
    int rc = reprise_checkpoint(s, &before, NULL, e);
    FILE *f = rc ? NULL : fopen(file, "w");

    if (f && fputs("changed\n", f) >= 0 && fclose(f) == 0) /* the agent's turn */
        rc = reprise_checkpoint_end(s, &file, 1, e);
    return rc;
}

/* ==== reprise_rewind ==== */
static int go_back(struct reprise_session *s, const char *message, struct reprise_error *e)
{
    struct reprise_rewind_options options = { .size = sizeof options };
    struct reprise_rewind *w = NULL;

    options.mode = REPRISE_REWIND_FILES;
    options.flags = REPRISE_REWIND_OUTSIDE; /* the file need not be in the project */
    int rc = reprise_rewind_plan(s, message, &options, &w, e);

    for (size_t i = 0; !rc && i < reprise_rewind_count(w); i++)
        puts(reprise_rewind_at(w, i)->path); /* a person decides here */
    if (!rc)
        rc = reprise_rewind_apply(w, 0, e);
    reprise_rewind_close(w);
    return rc;
}

/* ==== reprise_change ==== */
static int rename_it(struct reprise_session *s, struct reprise_error *e)
{
    struct reprise_change change = { .size = sizeof change };
    int rc = reprise_rename(s, "Payments", &change, e);

    if (!rc)
        printf("%s; undo %s\n", change.text, change.id);
    return rc;
}

/* ==== reprise_trash ==== */
static int print_trash(struct reprise *r, struct reprise_error *e)
{
    struct reprise_trash *trash = NULL;
    int rc = reprise_list_trash(r, &trash, e);

    for (size_t i = 0; !rc && i < reprise_trash_count(trash); i++)
        puts(reprise_trash_at(trash, i)->title);
    reprise_trash_free(trash);
    return rc;
}

/* ==== reprise_log ==== */
static int undo_newest(struct reprise *r, struct reprise_error *e)
{
    struct reprise_change undone = { .size = sizeof undone };
    int rc = reprise_undo(r, NULL, &undone, e);

    if (!rc)
        puts(undone.text);
    return rc == REPRISE_NOT_FOUND ? REPRISE_OK : rc; /* nothing to undo */
}

/* ==== reprise_doctor ==== */
static int on_finding(const struct reprise_finding *finding, void *arg)
{
    (void)arg;
    printf("%s: %s\n", finding->path, finding->why);
    return 0;
}

static int examine(struct reprise *r, struct reprise_error *e)
{
    return reprise_doctor(r, 0, on_finding, NULL, e);
}

/* ==== reprise_share ==== */
static int push(struct reprise_session *s, const char *url, struct reprise_error *e)
{
    struct reprise_options team = { .size = sizeof team, .path = url };
    struct reprise *to = NULL;
    int rc = reprise_open(&team, &to, e);

    if (!rc)
        rc = reprise_push(s, to, 0, NULL, e);
    reprise_close(to);
    return rc;
}

/* ==== all of them ==== */
int main(int argc, char **argv)
{
    static const char message[] = "11111111-1111-4111-8111-111111111111";
    static const char more[] =
        "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":\"Done\"}}\n";
    const char *file = argc > 1 ? argv[1] : "/tmp/reprise-example.txt";
    struct reprise *r = NULL;
    struct reprise_session *s = NULL;
    struct reprise_error e;
    int rc = open_claude(&r, &e);

    rc = rc ? rc : begin(r, &s, &e);
    rc = rc ? rc : write_rows(s, more, &e);
    rc = rc ? rc : change(s, message, file, &e);
    rc = rc ? rc : publish(s, &e);
    rc = rc ? rc : rename_it(s, &e);
    rc = rc ? rc : print_titles(r, &e);
    rc = rc ? rc : print_end(s, &e);
    rc = rc ? rc : print_restored(s, &e);
    rc = rc ? rc : print_agents(s, &e);
    rc = rc ? rc : search(r, "fix", &e);
    rc = rc ? rc : print_writers(r, file, &e);
    rc = rc ? rc : print_files(s, &e);
    rc = rc ? rc : print_models(r, &e);
    rc = rc ? rc : undo_newest(r, &e); /* the new name */
    rc = rc ? rc : go_back(s, message, &e);
    rc = rc ? rc : print_trash(r, &e);
    rc = rc ? rc : examine(r, &e);
    if (!rc && argc > 2)
        rc = export_text(s, argv[2], &e);
    if (!rc && argc > 3)
        rc = push(s, argv[3], &e);
    if (rc)
        fprintf(stderr, "%s\n", e.message);
    reprise_session_close(s);
    reprise_close(r);
    return rc != REPRISE_OK;
}
