#include "store/env.h"

#include <stdio.h>

static enum err_code path_below(const char *dir, const char *name, char out[PATH_MAX],
                                const char *variable, struct err *e)
{
    if (!dir)
        return err_set(e, ERR_NOT_FOUND, variable,
                       "there is no place to keep records: neither this nor HOME is set");
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
