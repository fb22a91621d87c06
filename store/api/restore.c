#include "store/api/restore.h"

/* ---- JSON ---- */

static void values_member(struct jsonout *j, const char *key, const struct slice *json, size_t n)
{
    jsonout_key(j, key);
    jsonout_open(j, '[');
    for (size_t i = 0; i < n; i++)
        jsonout_raw(j, json[i]);
    jsonout_close(j, ']');
}

static void value_member(struct jsonout *j, const char *key, struct slice json)
{
    if (json.n)
        jsonout_raw_member(j, key, json);
}

void restore_json_members(struct jsonout *j, const struct restore *r, const char *system)
{
    jsonout_member(j, "sessionId", r->session_id);
    jsonout_member(j, "system", slice_of(system));
    jsonout_member(j, "cwd", r->cwd);
    if (r->worktree_path.n != 0) {
        jsonout_key(j, "worktree");
        jsonout_open(j, '{');
        jsonout_member(j, "path", r->worktree_path);
        jsonout_bool_member(j, "exists", r->worktree_exists);
        jsonout_close(j, '}');
    }
    jsonout_member(j, "gitBranch", r->git_branch);
    jsonout_member(j, "agentSetting", r->agent_setting);
    jsonout_member(j, "mode", r->mode);
    values_member(j, "messages", r->messages_json, r->messages);

    static const char *const kinds[] = {
        [INTERRUPTION_NONE] = "none",
        [INTERRUPTION_PROMPT] = "interrupted_prompt",
        [INTERRUPTION_TURN] = "interrupted_turn",
    };

    jsonout_key(j, "interruption");
    jsonout_open(j, '{');
    jsonout_member(j, "kind", slice_of(kinds[r->interruption]));
    value_member(j, "prompt", r->prompt_json);
    jsonout_close(j, '}');

    values_member(j, "todos", r->todos_json, r->todos);
    values_member(j, "invokedSkills", r->skills_json, r->skills);
    if (r->skills_listed)
        jsonout_bool_member(j, "suppressSkillListing", true);
    values_member(j, "contentReplacements", r->replacements_json, r->replacements);
    values_member(j, "fileHistory", r->file_history_json, r->file_history);

    /* Most sessions have none of them. */
    value_member(j, "attributionSnapshot", r->attribution_json);
    if (r->collapses)
        values_member(j, "contextCollapseCommits", r->collapse_json, r->collapses);
    value_member(j, "contextCollapseSnapshot", r->collapse_snapshot_json);
}
