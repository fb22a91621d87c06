#include "store/systems/common/config_dir.h"
#include "store/systems/plugin/plugin.h"

static bool is_project_name(struct slice folder, struct slice dir, struct arena *a)
{
    struct slice name = config_dir_project_name(dir, a);

    return name.p && slice_eq(name, folder);
}

bool plugin_is_named_after(const struct scope *scope, struct slice folder, struct arena *a)
{
    if (is_project_name(folder, scope->project, a))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (is_project_name(folder, scope->tree[i], a))
            return true;
    return false;
}
