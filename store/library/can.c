#include <string.h>

#include "store/library/call.h"

/* Which calls the sessions of a system support. It follows from the members that the system has, as everywhere. */

struct supported {
    const char *call;
    bool yes;
};

static int find_supported(const struct supported *list, size_t n, const char *call)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].call, call) == 0)
            return list[i].yes;
    return -1;
}

static int can_write(const struct store_ops *ops, const char *call)
{
    const struct supported calls[] = {
        { "reprise_create", ops->create },
        { "reprise_append", ops->append },
        { "reprise_set", ops->set },
        { "reprise_writer_create", ops->create && ops->append },
        { "reprise_writer_open", ops->append },
        { "reprise_writer_set", ops->append && ops->set },
        { "reprise_checkpoint", ops->checkpoint },
        { "reprise_checkpoint_end", ops->checkpoint },
        { "reprise_push", strcmp(store_format(ops), "claude") == 0 },
        { "reprise_retrieve", ops->retrieve },
    };

    return find_supported(calls, sizeof calls / sizeof *calls, call);
}

static int can_change(const struct store_ops *ops, const char *call)
{
    const bool sets = store_changes_at_once(ops) && ops->set;
    const struct supported calls[] = {
        { "reprise_rename", ops->rename || sets },
        { "reprise_tag", ops->tag || sets },
        { "reprise_archive", ops->archive },
        { "reprise_resume_at", ops->resume_at },
        { "reprise_tombstone", ops->tombstone },
        { "reprise_tombstone_leaves", ops->tombstone },
        { "reprise_reappend", ops->reappend },
        { "reprise_fork", ops->fork },
        { "reprise_delete", store_changes_at_once(ops) ? ops->remove != NULL : ops->parts != NULL },
        { "reprise_checkpoints", store_can_rewind(ops) },
        { "reprise_rewind_plan", store_can_rewind(ops) || ops->plan_conversation },
    };

    return find_supported(calls, sizeof calls / sizeof *calls, call);
}

int reprise_can(const struct reprise *r, const char *system, const char *call)
{
    const struct store_ops *ops = NULL;
    int can = -1;

    for (size_t i = 0; r && system && i < r->n && !ops; i++)
        if (strcmp(r->store[i]->ops->name, system) == 0)
            ops = r->store[i]->ops;

    /* An agent that has no store here is known all the same. */
    if (!ops && system)
        ops = call_system(slice_of(system));
    if (!ops || !call)
        return -1;
    can = can_write(ops, call);
    if (can < 0)
        can = can_change(ops, call);

    if (can >= 0)
        return can;
    const struct supported calls[] = {
        { "reprise_restore", ops->restore },
        { "reprise_list_agents", ops->subagents },
        { "reprise_list_branches", ops->branches },
        { "reprise_read_branch", ops->load_branch },
        { "reprise_session_usage", ops->usage },
        { "reprise_files", ops->edits },
        { "reprise_blame", ops->edits },
        { "reprise_checkpoint_of", ops->origins },
    };

    return find_supported(calls, sizeof calls / sizeof *calls, call);
}
