#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

/* The state has no place for the first three. A conversation is its agent's: what is kept here are copies. */
static const char *entire_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME: return "Entire sessions have no title: they are named by their first prompt";
    case CAN_TAG: return "Entire sessions have no tags";
    case CAN_ARCHIVE: return "Entire sessions cannot be archived";
    case CAN_FORK: return "only Claude Code conversations can be forked";
    case CAN_RESUME_AT:
        return "needs a Claude Code conversation on this machine (reprise retrieve)";
    case CAN_REWIND: return "this session has no checkpoint";
    case CAN_TOMBSTONE: return "the conversation belongs to its agent: Entire keeps copies of it";
    case CAN_REAPPEND: return "Entire keeps metadata in its own file, where it is always found";
    case CAN_HAVE_BRANCHES: return "branches are shown with the agent's own session";
    case CAN_HAVE_AGENTS: return "Entire keeps tasks as checkpoints, not as sub-agents";
    default: return NULL;
    }
}

const struct store_ops entire_ops = {
    .name = "entire",
    .names_others = true,
    .open = entire_open,
    .close = entire_close,
    .enumerate = entire_enumerate,
    .unreadable = entire_unreadable,
    .describe = entire_describe,
    .find = entire_find,
    .at_path = entire_at_path,
    .tail = entire_tail,
    .load = entire_load,
    .blocks = entire_blocks,
    .messages = entire_messages,
    .restore = entire_restore,
    .parts = entire_parts,
    .owned_refs = entire_owned_refs,
    .live = entire_live,
    .checkpoints = entire_checkpoints,
    .count_lines = entire_count_lines,
    .plan = entire_plan,
    .plan_turn = entire_plan_turn,
    .plan_own = entire_plan_own,
    .plan_conversation = entire_plan_conversation,
    .plan_refs = entire_plan_refs,
    .retrieve = entire_retrieve,
    .agent = entire_agent,
    .fork = entire_fork,
    .resume_at = entire_resume_at,
    .check = entire_check,
    .check_store = entire_check_store,
    .leftovers = entire_leftovers,
    .create = entire_create,
    .append = entire_append,
    .checkpoint = entire_checkpoint,
    .set = entire_set,
    .unsupported = entire_cannot,
    .agent_id = entire_agent_id,
    .make = entire_make,
};
