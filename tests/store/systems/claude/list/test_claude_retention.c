#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/time.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

#define DAY INT64_C(86400000)

static int64_t period(const char *settings)
{
    struct folder f;

    folder_make(&f);
    if (settings)
        folder_put(&f, "settings.json", slice_of(settings));
    const struct claude_settings places = { .config = f.path, .etc = f.path };
    char *odd = NULL;
    int64_t ms = claude_retention(&places, &odd);

    assert_true((ms == TIME_NONE || ms == 0) == (odd != NULL));
    free(odd);

    folder_remove(&f);
    return ms;
}

TEST(thirty_days_unless_the_settings_say_otherwise)
{
    assert_int_equal(period(NULL), 30 * DAY);
    assert_int_equal(period("{\"theme\":\"dark\"}"), 30 * DAY);
    assert_int_equal(period("{\"cleanupPeriodDays\":7}"), 7 * DAY);
    assert_int_equal(period("{\"cleanupPeriodDays\":1,\"cleanupPeriodDays\":0.5}"), DAY / 2);
    assert_int_equal(period("{\"cleanupPeriodDays\":99999}"), 99999 * DAY);
    assert_int_equal(period("{\"cleanupPeriodDays\":0}"), 0);
}

TEST(without_a_known_period_nothing_is_removed)
{
    static const char *const settings[] = {
        "{\"cleanupPeriodDays\":7",
        "[]",
        "",
        "{\"cleanupPeriodDays\":-1}",
        "{\"cleanupPeriodDays\":\"7\"}",
        "{\"cleanupPeriodDays\":1e999}",
        "{\"cleanupPeriodDays\":null}",
        "{\"cleanupPeriodDays\":1e18}",
        "{\"cleanupPeriodDays\":00}",
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_true(period(settings[i]) == TIME_NONE);
}

/* Of the person, of the project, of the project on this machine; NULL: no such file. */
TEST(the_settings_of_the_project_take_precedence)
{
    static const struct {
        const char *own, *project, *local;
        int64_t want;
    } cases[] = {
        { "{\"cleanupPeriodDays\":7}", "{\"cleanupPeriodDays\":3}", NULL, 3 * DAY },
        { "{\"cleanupPeriodDays\":3}", "{\"cleanupPeriodDays\":7}", NULL, 7 * DAY },
        { NULL, "{\"cleanupPeriodDays\":3}", "{\"cleanupPeriodDays\":99}", 99 * DAY },
        { "{\"cleanupPeriodDays\":7}", "{}", "{\"cleanupPeriodDays\":1}", DAY },
        { "{\"cleanupPeriodDays\":7}", "{}", "{}", 7 * DAY },
        { NULL, NULL, "{\"cleanupPeriodDays\":0}", 0 },
        { "{\"cleanupPeriodDays\":7}", "{", "{\"cleanupPeriodDays\":1}", TIME_NONE },
        { "[", "{\"cleanupPeriodDays\":3}", NULL, TIME_NONE },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct folder f;
        char config[4096], project[4096];

        folder_make(&f);
        if (cases[i].own)
            folder_put(&f, "config/settings.json", slice_of(cases[i].own));
        if (cases[i].project)
            folder_put(&f, "work/.claude/settings.json", slice_of(cases[i].project));
        if (cases[i].local)
            folder_put(&f, "work/.claude/settings.local.json", slice_of(cases[i].local));
        folder_path(&f, "config", config);
        folder_path(&f, "work", project);
        const struct claude_settings places = { config, project, f.path };
        char *odd;

        assert_true(claude_retention(&places, &odd) == cases[i].want);
        free(odd);
        folder_remove(&f);
    }
}

/* What a server sent, the administrator's file, and the parts beside it. */
TEST(the_settings_of_an_administrator_take_precedence)
{
    static const struct {
        const char *sent, *file, *part[3];
        int64_t want;
        const char *odd;
    } cases[] = {
        { NULL, "{\"cleanupPeriodDays\":3}", { NULL }, 3 * DAY, NULL },
        { NULL, "{\"cleanupPeriodDays\":300}", { NULL }, 300 * DAY, NULL },
        { NULL, "{}", { "{\"theme\":1}" }, 7 * DAY, NULL },
        { NULL, NULL, { NULL, "{\"cleanupPeriodDays\":90}" }, 90 * DAY, NULL },
        { NULL, "{\"cleanupPeriodDays\":1}", { "{\"cleanupPeriodDays\":2}" }, 2 * DAY, NULL },
        { NULL,
          "{\"cleanupPeriodDays\":9}",
          { "{\"cleanupPeriodDays\":5}", "{\"cleanupPeriodDays\":4}" },
          4 * DAY,
          NULL },
        { NULL, NULL, { NULL, NULL, "{\"cleanupPeriodDays\":5}" }, 7 * DAY, NULL },
        { "{\"cleanupPeriodDays\":8}", "{\"cleanupPeriodDays\":6}", { NULL }, 8 * DAY, NULL },
        { "{\"cleanupPeriodDays\":8}", "{\"cleanupPeriodDays\":60}", { NULL }, 60 * DAY, NULL },
        { "{\"cleanupPeriodDays\":2}", NULL, { NULL }, 2 * DAY, NULL },
        { "{}", "{}", { "[]" }, TIME_NONE, "claude-code/managed-settings.d/10-a.json" },
        { NULL,
          "{\"cleanupPeriodDays\":\"60\"}",
          { NULL },
          TIME_NONE,
          "claude-code/managed-settings.json" },
        { "{", NULL, { NULL }, TIME_NONE, "config/remote-settings.json" },
    };
    static const char *const part[] = { "claude-code/managed-settings.d/10-a.json",
                                        "claude-code/managed-settings.d/9-b.json",
                                        "claude-code/managed-settings.d/.x.json" };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct folder f;
        char config[4096], wanted[4096] = "", *odd;

        folder_make(&f);
        folder_put(&f, "config/settings.json", SLICE("{\"cleanupPeriodDays\":7}"));
        if (cases[i].sent)
            folder_put(&f, "config/remote-settings.json", slice_of(cases[i].sent));
        if (cases[i].file)
            folder_put(&f, "claude-code/managed-settings.json", slice_of(cases[i].file));
        for (int k = 0; k < 3; k++)
            if (cases[i].part[k])
                folder_put(&f, part[k], slice_of(cases[i].part[k]));
        folder_path(&f, "config", config);
        if (cases[i].odd)
            folder_path(&f, cases[i].odd, wanted);

        const struct claude_settings places = { config, NULL, f.path };

        assert_true(claude_retention(&places, &odd) == cases[i].want);
        assert_string_equal(odd ? odd : "", wanted);
        free(odd);
        folder_remove(&f);
    }
}

TEST(a_row_shows_when_it_will_be_removed)
{
    const char *const name = "projects/-w/5e550000-0000-4000-8000-000000000001.jsonl";
    struct scope everything = { .all = true };
    struct session_row *row = session_row_new();
    struct session_ref ref;
    struct arena a = { 0 };
    struct folder f;
    struct store *store;

    folder_make(&f);
    folder_put(&f, "settings.json", SLICE("{\"cleanupPeriodDays\":2}"));
    folder_put(&f, name, SLICE("{\"type\":\"user\",\"message\":{\"content\":\"x\"}}\n"));
    folder_mtime(&f, name, INT64_C(1700000000000) * 1000000);
    struct store_env env = { .home = f.path, .cwd = f.path, .etc_dir = f.path };

    assert_int_equal(claude_ops.open(&env, f.path, &store, NULL), ERR_OK);
    assert_int_equal(claude_ops.find(store, &everything,
                                     SLICE("5e550000-0000-4000-8000-000000000001"), &a, &ref, NULL),
                     ERR_OK);
    assert_int_equal(claude_ops.describe(store, &everything, &ref, row, NULL), ERR_OK);

    assert_int_equal(row->expires_ms, INT64_C(1700000000000) + 2 * DAY);
    session_row_free(row);
    store_close(store);
    arena_fini(&a);
    folder_remove(&f);
}
