#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/api/store.h"
#include "store/library/library_host.h"

/* What is recorded about a session, and which calls a system supports. */

static void append_text(const struct reprise_session *s, const char *row)
{
    struct reprise_error e;

    if (reprise_append(s, row, strlen(row), 0, NULL, &e))
        fail_msg("%s", e.message);
}

static void has_member(const struct reprise_session *s, const char *member)
{
    struct reprise_texts *texts = NULL;
    struct reprise_error e;

    if (reprise_session_info(s, &texts, &e))
        fail_msg("%s", e.message);
    assert_int_equal(reprise_texts_count(texts), 1);
    if (!strstr(reprise_texts_at(texts, 0, NULL), member))
        fail_msg("%s is not in %s", member, reprise_texts_at(texts, 0, NULL));
    reprise_texts_free(texts);
}

struct written {
    const char *setting, *member;
};

static void settings_are_read(void **state, const char *system, const char *row,
                              const struct written *w, size_t n)
{
    struct reprise *r = open_store(state, system, system);
    struct reprise_session *s;
    struct reprise_error e;

    assert_int_equal(reprise_create(r, NULL, &s, NULL), REPRISE_OK);
    append_text(s, row);
    for (size_t i = 0; i < n; i++)
        if (reprise_set(s, &w[i].setting, 1, &e))
            fail_msg("%s: %s", w[i].setting, e.message);
    for (size_t i = 0; i < n; i++)
        has_member(s, w[i].member);
    has_member(s, "\"messageCount\":1");
    reprise_session_close(s);
    reprise_close(r);
}

IN_SCRATCH(what_is_set_can_be_read)
{
    static const struct written go[] = {
        { "title=A", "\"customTitle\":\"A\"" },
        { "model=B", "\"model\":\"B\"" },
        { "cwd=/srv/c", "\"cwd\":\"/srv/c\"" },
        { "parent=D", "\"parentId\":\"D\"" },
        { "exitReason=E", "\"exitReason\":\"E\"" },
        { "agentName=F", "\"agentName\":\"F\"" },
        { "turnCount=72", "\"turnCount\":72" },
        { "totalCostUsd=0.5", "\"totalCostUsd\":0.5" },
        { "project_hash=H", "\"projectHash\":\"H\"" },
        { "messageCount=71", "\"recordedMessages\":71" },
    };
    static const struct written claude[] = {
        { "title=A", "\"customTitle\":\"A\"" },
        { "tag=b", "\"tag\":\"b\"" },
        { "aiTitle=C", "\"aiTitle\":\"C\"" },
        { "agentName=D", "\"agentName\":\"D\"" },
        { "agentColor=red", "\"agentColor\":\"red\"" },
        { "agentSetting=F", "\"agentSetting\":\"F\"" },
        { "mode=plan", "\"mode\":\"plan\"" },
        { "permissionMode=acceptEdits", "\"permissionMode\":\"acceptEdits\"" },
        { "lastPrompt=I", "\"lastPrompt\":\"I\"" },
    };

    settings_are_read(state, "goat", "{\"role\":\"user\",\"content\":\"pay\"}", go,
                      sizeof go / sizeof *go);
    settings_are_read(state, "claude",
                      "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"pay\"}}",
                      claude, sizeof claude / sizeof *claude);
}

IN_SCRATCH(a_session_without_messages_has_no_description)
{
    struct reprise *r = open_store(state, "claude", "c");
    struct reprise_session *s = create(r, SID);
    struct reprise_texts *texts = NULL;

    assert_int_equal(reprise_session_info(s, &texts, NULL), REPRISE_NOT_FOUND);
    assert_int_equal(reprise_session_info(NULL, &texts, NULL), REPRISE_USAGE);
    assert_null(texts);
    reprise_session_close(s);
    reprise_close(r);
}

/* ---- reprise_can ---- */

static int call_restore(struct reprise_session *s)
{
    struct reprise_texts *texts = NULL;
    int rc = reprise_restore(s, NULL, &texts, NULL);

    reprise_texts_free(texts);
    return rc;
}

static int call_set(struct reprise_session *s)
{
    const char *none = "title=";

    return reprise_set(s, &none, 1, NULL);
}

static int call_rename(struct reprise_session *s)
{
    return reprise_rename(s, "Payments", NULL, NULL);
}

static int call_tag(struct reprise_session *s)
{
    return reprise_tag(s, "paid", NULL, NULL);
}

static int call_archive(struct reprise_session *s)
{
    return reprise_archive(s, 1, NULL, NULL);
}

static int call_resume_at(struct reprise_session *s)
{
    return reprise_resume_at(s, "nothing", NULL, NULL);
}

static int call_tombstone(struct reprise_session *s)
{
    return reprise_tombstone(s, "nothing", 0, NULL, NULL);
}

static int call_reappend(struct reprise_session *s)
{
    return reprise_reappend(s, NULL, NULL);
}

static int call_usage(struct reprise_session *s)
{
    struct reprise_usage *usage = NULL;
    int rc = reprise_session_usage(s, &usage, NULL);

    reprise_usage_free(usage);
    return rc;
}

static int call_files(struct reprise_session *s)
{
    struct reprise_touches *files = NULL;
    int rc = reprise_files(s, &files, NULL);

    reprise_touches_free(files);
    return rc;
}

static int call_points(struct reprise_session *s)
{
    struct reprise_points *points = NULL;
    int rc = reprise_checkpoints(s, &points, NULL);

    reprise_points_free(points);
    return rc;
}

static int call_checkpoint(struct reprise_session *s)
{
    const struct reprise_checkpoint_request request = { .size = sizeof request, .message = "m" };

    return reprise_checkpoint(s, &request, NULL, NULL);
}

static int call_append(struct reprise_session *s)
{
    return reprise_append(s, "{}", 2, 0, NULL, NULL);
}

static int call_fork(struct reprise_session *s)
{
    return reprise_fork(s, NULL, NULL, NULL, NULL);
}

static int call_delete(struct reprise_session *s)
{
    return reprise_delete(s, 0, NULL, NULL);
}

IN_SCRATCH(a_call_is_refused_if_and_only_if_it_is_said_to_be)
{
    static const struct {
        const char *call;
        int (*make)(struct reprise_session *s);
    } calls[] = {
        { "reprise_restore", call_restore },     { "reprise_set", call_set },
        { "reprise_rename", call_rename },       { "reprise_tag", call_tag },
        { "reprise_archive", call_archive },     { "reprise_resume_at", call_resume_at },
        { "reprise_tombstone", call_tombstone }, { "reprise_reappend", call_reappend },
        { "reprise_session_usage", call_usage }, { "reprise_checkpoints", call_points },
        { "reprise_append", call_append },       { "reprise_checkpoint", call_checkpoint },
        { "reprise_files", call_files },         { "reprise_fork", call_fork },
        { "reprise_delete", call_delete },
    };
    static const struct {
        const char *system, *row;
    } systems[] = {
        { "memory", "{\"role\":\"user\",\"content\":\"pay\"}" },
        { "noop", "{\"role\":\"user\",\"content\":\"pay\"}" },
        { "claude", "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"pay\"}}" },
        { "goat", "{\"role\":\"user\",\"content\":\"pay\"}" },
        { "exathena", "{\"role\":\"user\",\"content\":\"pay\"}" },
    };

    folder_dir(*state, "memory"); /* a store in memory creates no directory */
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        struct reprise *r = open_store(state, systems[i].system, systems[i].system);
        struct reprise_session *s;

        assert_int_equal(reprise_create(r, NULL, &s, NULL), REPRISE_OK);
        append_text(s, systems[i].row);
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            int can = reprise_can(NULL, systems[i].system, calls[k].call);

            if (can != (calls[k].make(s) != REPRISE_UNSUPPORTED))
                fail_msg("%s: %s is said to be %d", systems[i].system, calls[k].call, can);
        }
        reprise_session_close(s);
        reprise_close(r);
    }
}

IN_SCRATCH(what_does_not_depend_on_a_system_is_not_known)
{
    struct reprise *r = open_store(state, "goat", "s");

    assert_int_equal(reprise_can(r, "goat", "reprise_append"), 1);
    assert_int_equal(reprise_can(r, "goat", "reprise_open"), -1);
    assert_int_equal(reprise_can(r, "goat", "reprise_appen"), -1);
    assert_int_equal(reprise_can(r, "goad", "reprise_append"), -1);
    assert_int_equal(reprise_can(NULL, "codex", "reprise_append"), 0);
    assert_int_equal(reprise_can(NULL, NULL, NULL), -1);
    reprise_close(r);
}

/* The table in docs/library.md: a call, and the systems that support it. */
TEST(the_table_of_the_documents_is_true)
{
    FILE *f = fopen(LIBRARY_DOCUMENT, "r");
    char line[1024], made[1024], call[64];
    int rows = 0;

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        int used = 0;

        if (sscanf(line, "| `%63[a-z_]` |%n", call, &used) != 1 || !used ||
            reprise_can(NULL, "claude", call) < 0 || strchr(line + used, '(') ||
            strchr(line + used, '`'))
            continue;
        int n = snprintf(made, sizeof made, "| `%s` |", call);

        for (size_t i = 0; store_systems[i]; i++)
            if (reprise_can(NULL, store_systems[i]->name, call) == 1)
                n += snprintf(made + n, sizeof made - (size_t)n, "%s %s",
                              made[n - 1] == '|' ? "" : ",", store_systems[i]->name);
        snprintf(made + n, sizeof made - (size_t)n, " |\n");
        assert_string_equal(line, made);
        rows++;
    }
    fclose(f);
    assert_true(rows > 20);
}
