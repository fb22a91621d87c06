#include "tests/test.h"

#include <stdlib.h>
#include <time.h>

#include "store/api/host.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

static int64_t clock_ms(void)
{
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_REALTIME, &t), 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

TEST(a_fixed_clock_does_not_advance)
{
    struct store_env env = { .now_ms = 1700000000000 };

    assert_int_equal(env_now_ms(&env), 1700000000000);
    env.now_ms = clock_ms() + 60 * 60 * 1000;
    assert_int_equal(env_now_ms(&env), env.now_ms);
}

/* A project could decide what is at a relative path. */
TEST(relative_homes_are_ignored)
{
    static const char *const homes[] = { ".", "", "home", "~" };
    struct arena a = { 0 };

    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        char home[32], data[32];
        const char *const environment[] = { home, data, NULL };

        snprintf(home, sizeof home, "HOME=%s", homes[i]);
        snprintf(data, sizeof data, "XDG_DATA_HOME=%s", homes[i]);
        struct store_env env = env_read(environment, "/", 0, &a);

        assert_true(!env.home && !env.data_dir && !env.state_dir && !env.xdg_data_home);
        assert_null(env_base_dir(environment, "XDG_CONFIG_HOME", ".config", &a));
        assert_int_equal(env_relative(environment) != NULL, homes[i][0] != '\0');
    }
    const char *const good[] = { "HOME=/h", "XDG_STATE_HOME=state", NULL };

    assert_string_equal(env_read(good, "/", 0, &a).state_dir, "/h/.local/state/reprise");
    assert_string_equal(env_relative(good), "XDG_STATE_HOME");
    arena_fini(&a);
}

/* A host sets the time once and keeps running. */
TEST(rows_of_a_long_running_host_get_new_times)
{
    const struct slice row = SLICE("{\"type\":\"user\",\"message\":{\"content\":\"x\"}}");
    const struct host_create create = { .id = SLICE("5e550000-0000-4000-8000-000000000001") };
    const struct host_append append = { .row = &row, .n = 1 };
    struct folder folder;
    struct arena a = { 0 };
    struct store *store;
    struct host_created made;
    struct host_appended done;
    char config[4096], stamp[TIME_TEXT];

    folder_make(&folder);
    folder_path(&folder, "config", config);
    struct store_env env = { .cwd = folder.path, .now_ms = clock_ms() };

    assert_int_equal(host_make(&claude_ops, &env, config, NULL), ERR_OK);
    assert_int_equal(claude_ops.open(&env, config, &store, NULL), ERR_OK);
    assert_int_equal(host_create(store, &create, &a, &made, NULL), ERR_OK);
    struct session_ref ref = { .store = store, .id = made.id, .path = made.path };

    while (clock_ms() <= env.now_ms + 1) {
    }
    assert_true(env_now_ms(&env) > env.now_ms);
    assert_int_equal(host_append(store, &ref, &append, &a, &done, NULL), ERR_OK);
    time_format(env.now_ms, stamp);
    size_t n;
    char *text = folder_get(&folder, made.path.p + strlen(folder.path) + 1, &n);
    const char *written = strstr(text, "\"content\":\"x\"");

    assert_non_null(written);
    while (written > text && *written != '\n')
        written--;
    assert_non_null(strstr(written, "\"timestamp\":\""));
    assert_null(strstr(written, stamp));
    free(text);
    store_close(store);
    arena_fini(&a);
    folder_remove(&folder);
}
