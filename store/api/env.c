#include "store/api/env.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lite/base/time.h"
#include "store/proc/process.h"

const char *env_value(const char *const *environment, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; environment && environment[i]; i++)
        if (strncmp(environment[i], name, n) == 0 && environment[i][n] == '=')
            return environment[i] + n + 1;
    return NULL;
}

static const char *env_filled(const char *const *environment, const char *name)
{
    const char *value = env_value(environment, name);

    return value && value[0] ? value : NULL;
}

const char *env_variable(const struct store_env *env, const char *name)
{
    return env_filled(env->environment, name);
}

/* The directory that a variable names; NULL if it is not an absolute path, which the XDG base directory specification
 * tells to ignore: a project could decide what is there. */
static const char *env_directory(const char *const *environment, const char *name)
{
    const char *value = env_value(environment, name);

    return value && value[0] == '/' ? value : NULL;
}

const char *env_relative(const char *const *environment)
{
    static const char *const names[] = { "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
                                         "XDG_DATA_HOME" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (env_filled(environment, names[i]) && !env_directory(environment, names[i]))
            return names[i];
    return NULL;
}

const char *env_base_dir(const char *const *environment, const char *variable, const char *below,
                         struct arena *a)
{
    const char *value = env_directory(environment, variable);
    const char *home = env_directory(environment, "HOME");

    if (value)
        return arena_format(a, "%s/reprise", value);
    return home ? arena_format(a, "%s/%s/reprise", home, below) : NULL;
}

struct store_env env_read(const char *const *environment, const char *cwd, int64_t now_ms,
                          struct arena *a)
{
    uint32_t run;

    return (struct store_env){
        .home = env_directory(environment, "HOME"),
        .cwd = cwd,
        .state_dir = env_base_dir(environment, "XDG_STATE_HOME", ".local/state", a),
        .data_dir = env_base_dir(environment, "XDG_DATA_HOME", ".local/share", a),
        .now_ms = now_ms,
        .run = getentropy(&run, sizeof run) == 0 ? run : 0,
        .proc_dir = env_filled(environment, "REPRISE_PROC_DIR"),
        .etc_dir = env_filled(environment, "REPRISE_ETC_DIR"),
        .environment = environment,
        .xdg_data_home = env_directory(environment, "XDG_DATA_HOME"),
        .crush_global_data = env_filled(environment, "CRUSH_GLOBAL_DATA"),
        .goose_path_root = env_filled(environment, "GOOSE_PATH_ROOT"),
        .claude_config_dir = env_value(environment, "CLAUDE_CONFIG_DIR"),
        .claude_project_dir_name = env_value(environment, "CLAUDE_CODE_PROJECT_DIR_NAME"),
        .claude_keep_precompact = env_value(environment, "CLAUDE_CODE_DISABLE_PRECOMPACT_SKIP"),
        .claude_skip_history = env_value(environment, "CLAUDE_CODE_SKIP_PROMPT_HISTORY"),
    };
}

static enum err_code path_below(const char *dir, const char *name, char out[PATH_MAX],
                                const char *variable, struct err *e)
{
    if (!dir)
        return err_set(e, ERR_NOT_FOUND, "",
                       "there is no place for records: neither %s nor HOME is set", variable);
    return (size_t)snprintf(out, PATH_MAX, "%s/%s", dir, name) < PATH_MAX
               ? ERR_OK
               : err_set(e, ERR_UNSAFE, dir, "the directory's name is too long");
}

enum err_code env_state_path(const struct store_env *env, const char *name, char out[PATH_MAX],
                             struct err *e)
{
    return path_below(env->state_dir, name, out, "XDG_STATE_HOME", e);
}

enum err_code env_data_path(const struct store_env *env, const char *name, char out[PATH_MAX],
                            struct err *e)
{
    return path_below(env->data_dir, name, out, "XDG_DATA_HOME", e);
}

int64_t env_now_ms(const struct store_env *env)
{
    enum { COARSE_MS = 2000 }; /* a host may have filled it in with whole seconds */
    struct timespec t;
    int64_t age;

    if (clock_gettime(CLOCK_REALTIME, &t) || !proc_age_ms(&age))
        return env->now_ms;
    int64_t now = time_ns(t) / 1000000;

    return env->now_ms <= now && env->now_ms >= now - age - COARSE_MS ? now : env->now_ms;
}
