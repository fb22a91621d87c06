#include <stdlib.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/file_history.h"
#include "store/systems/claude/show/item_list.h"

/* Collects everything that a host needs to continue a session: the conversation as the client would
 * load it, how its last turn ended, and the other state that the client would restore. */
struct restoring {
    const struct store *store;
    const struct session_ref *ref;
    struct claude_log log;
    uint32_t *path; /* owned; nodes of the conversation, oldest first */
    size_t n;
    struct claude_restore_rows rows;
    struct claude_values unanswered;
    struct restore out;
};

/* ---- where the session was, and in what state ---- */

/* Copies a value into the bundle. */
static enum err_code keep_value(struct restoring *r, struct slice value, struct slice *out)
{
    struct slice copy = arena_copy(&r->out.arena, value);

    if (!copy.p)
        return ERR_NOMEM;
    *out = copy;
    return ERR_OK;
}

/* *found is set if the row has the text, which is then in the bundle. */
static enum err_code keep_bundle_text(struct restoring *r, struct slice row, const char *path,
                                      struct slice *out, bool *found)
{
    struct arena a = { 0 };
    struct slice value, text;
    enum err_code rc = ERR_OK;

    *found = json_at(row, path, &value) && json_type(value) == JSON_STRING;
    if (*found) /* a string of a valid row has a text, unless out of memory */
        rc = json_text(value, &a, &text) ? keep_value(r, text, out) : ERR_NOMEM;
    arena_fini(&a);
    return rc;
}

/* The text under a key in the last row of a kind. */
static enum err_code claude_last_text(struct restoring *r, enum claude_kind kind, const char *key,
                                      struct slice *out, struct err *e)
{
    size_t i = r->log.file.index.n;
    struct slice row;
    bool found;

    while (i > 0 && !claude_line_is(claude_line(&r->log, i - 1), kind))
        i--;
    if (i == 0)
        return ERR_OK;
    TRY(claude_log_row(&r->log, i - 1, &row, e));
    return keep_bundle_text(r, row, key, out, &found);
}

/* The first text under a key in a row of these kinds, in file order or from the end. */
static enum err_code find_text(struct restoring *r, uint64_t kinds, bool last, const char *key,
                               struct slice *out, struct err *e)
{
    const size_t n = r->log.file.index.n;
    enum err_code rc = ERR_OK;
    bool found = false;

    for (size_t i = 0; !rc && !found && i < n; i++) {
        size_t at = last ? n - 1 - i : i;
        const struct index_line *line = claude_line(&r->log, at);
        struct slice row;

        if (line->state != LINE_OK || !(kinds >> line->kind & 1))
            continue;
        rc = claude_log_row(&r->log, at, &row, e);
        if (!rc)
            rc = keep_bundle_text(r, row, key, out, &found);
    }
    return rc;
}

static bool is_worktree_dir(struct slice path)
{
    return path.n > 0 && path_is_dir(path.p);
}

static enum err_code find_command_cwd(struct restoring *r, struct err *e)
{
    const char *main = NULL;
    enum err_code rc = ERR_OK;

    if (is_worktree_dir(r->out.cwd)) {
        r->out.command_cwd = r->out.cwd;
        return ERR_OK;
    }
    if (r->out.cwd.n)
        rc = worktree_main(r->out.cwd.p, &r->out.arena, &main, e);
    if (!rc && main)
        r->out.command_cwd = slice_of(main);
    return rc;
}

/* Replacements for tool outputs that were too large. Those of a sub-agent are skipped. */
static enum err_code find_replacements(struct restoring *r, struct err *e)
{
    struct claude_values values = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->log.file.index.n; i++) {
        struct slice row, agent, list, key, value, copy;
        struct arena a = { 0 };
        struct json_iter it;

        if (!claude_line_is(claude_line(&r->log, i), CLAUDE_REPLACEMENT))
            continue;
        rc = claude_log_row(&r->log, i, &row, e);
        bool ours = !rc && json_get_text(row, "sessionId", &a, &value) &&
                    slice_eq(value, r->ref->id) && !json_get(row, "agentId", &agent);

        arena_fini(&a);
        if (!ours || !json_get(row, "replacements", &list) || json_type(list) != JSON_ARRAY)
            continue;
        for (bool more = json_iter_open(&it, list);
             more && !rc && json_iter_next(&it, &key, &value);) {
            rc = keep_value(r, value, &copy);
            if (!rc)
                rc = claude_values_add(&values, &r->out.arena, copy);
        }
    }
    r->out.replacements_json = values.p;
    r->out.replacements = values.n;
    return rc;
}

/* ---- to-dos and skills ---- */

/* The list as the agent last wrote it. */
static enum err_code find_todos(struct restoring *r)
{
    struct claude_values values = { 0 };
    struct slice call = { NULL, 0 }, list, key, value;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    /* The input of the last TodoWrite call. */
    for (size_t i = r->rows.n; call.n == 0 && i-- > 0;) {
        const struct claude_restore_row *row = &r->rows.row[i];

        if (row->left_out || row->kind != CLAUDE_ASSISTANT || !claude_content(row->row, &it))
            continue;
        while (json_iter_next(&it, &key, &value))
            if (claude_value_is(value, "type", "tool_use") &&
                claude_value_is(value, "name", "TodoWrite"))
                json_get(value, "input", &call);
    }
    if (!json_get(call, "todos", &list) || json_type(list) != JSON_ARRAY)
        return ERR_OK;
    for (bool more = json_iter_open(&it, list); more && !rc && json_iter_next(&it, &key, &value);)
        rc = claude_values_add(&values, &r->out.arena, value);
    r->out.todos_json = values.p;
    r->out.todos = values.n;
    return rc;
}

/* If a name occurs several times, the last skill takes the place of the first one. */
static enum err_code add_skill(struct restoring *r, struct claude_values *skills,
                               struct slice skill)
{
    struct slice name, other;

    json_get(skill, "name", &name);
    for (size_t i = 0; i < skills->n; i++) {
        json_get(skills->p[i], "name", &other);
        if (id128_eq(claude_id(other, &r->out.arena), claude_id(name, &r->out.arena))) {
            skills->p[i] = skill;
            return ERR_OK;
        }
    }
    return claude_values_add(skills, &r->out.arena, skill);
}

static enum err_code add_skills(struct restoring *r, struct slice row, struct claude_values *skills)
{
    struct slice list, key, skill;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_at(row, "attachment.skills", &list) || json_type(list) != JSON_ARRAY)
        return ERR_OK;
    for (bool more = json_iter_open(&it, list); more && !rc && json_iter_next(&it, &key, &skill);)
        if (claude_key_truthy(skill, "name") && claude_key_truthy(skill, "path") &&
            claude_key_truthy(skill, "content"))
            rc = add_skill(r, skills, skill);
    return rc;
}

static enum err_code find_skills(struct restoring *r)
{
    struct claude_values skills = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->rows.n; i++) {
        const struct claude_restore_row *row = &r->rows.row[i];

        if (row->kind != CLAUDE_ATTACHMENT || row->left_out)
            continue;
        if (claude_value_is(row->row, "attachment.type", "skill_listing"))
            r->out.skills_listed = true;
        else if (claude_value_is(row->row, "attachment.type", "invoked_skills"))
            rc = add_skills(r, row->row, &skills);
    }
    r->out.skills_json = skills.p;
    r->out.skills = skills.n;
    return rc;
}

/* ---- attribution and context collapse (seed 002) ---- */

static enum err_code read_state_row(struct restoring *r, uint8_t kind, struct slice row,
                                    struct claude_values *commits)
{
    struct slice copy;

    if (kind == CLAUDE_COLLAPSE_RESET) {
        commits->n = 0;
        r->out.collapse_snapshot_json = (struct slice){ NULL, 0 };
        return ERR_OK;
    }
    TRY(keep_value(r, row, &copy));
    if (kind == CLAUDE_COLLAPSE)
        return claude_values_add(commits, &r->out.arena, copy);
    if (kind == CLAUDE_ATTRIBUTION)
        r->out.attribution_json = copy;
    else
        r->out.collapse_snapshot_json = copy;
    return ERR_OK;
}

/* Commits before a compaction collapsed messages that are no longer loaded. */
static enum err_code find_state_rows(struct restoring *r, bool whole, struct err *e)
{
    struct claude_values commits = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->log.file.index.n; i++) {
        const struct index_line *line = claude_line(&r->log, i);
        struct slice row;

        if (line->state != LINE_OK || line->kind < CLAUDE_ATTRIBUTION)
            continue;
        if (!whole && i < r->log.boundary && line->kind != CLAUDE_ATTRIBUTION)
            continue;
        rc = claude_log_row(&r->log, i, &row, e);
        if (!rc)
            rc = read_state_row(r, line->kind, row, &commits);
    }
    r->out.collapse_json = commits.p;
    r->out.collapses = commits.n;
    return rc;
}

/* ---- the bundle ---- */

static enum err_code claude_find_path(struct restoring *r, struct slice at, struct err *e)
{
    uint32_t leaf = CHAIN_NONE;
    bool cleared = false;

    /* The end of the conversation: the requested message, or where the client would continue.
     * CHAIN_NONE: the conversation starts over. */
    TRY(claude_relink(&r->log, e));
    TRY(at.n ? claude_find_message(&r->log, at, &leaf, e)
             : claude_resume_leaf(&r->log, &leaf, &cleared, e));
    if (at.n == 0 && leaf == CHAIN_NONE && !cleared)
        return err_set(e, ERR_NOT_FOUND, r->ref->path.p,
                       "find the conversation: the session has none");
    if (at.n == 0)
        claude_remove_unloaded(&r->log);
    if (leaf == CHAIN_NONE)
        return ERR_OK;
    TRY(claude_resume_path(&r->log, leaf, &r->path, &r->n, e));
    TRY(claude_parallel(&r->log, &r->path, &r->n, e));
    if (at.n == 0)
        return claude_order_last_results(&r->log, r->path, r->n, e);
    /* A requested message ends the conversation, even if other calls of its answer follow. */
    for (size_t i = 0; i < r->n; i++)
        if (r->path[i] == leaf)
            r->n = i + 1;
    return ERR_OK;
}

static enum err_code load_rows(struct restoring *r, struct err *e)
{
    r->rows = (struct claude_restore_rows){ .arena = &r->out.arena };
    r->rows.row = arena_alloc(&r->out.arena, (r->n + 1) * sizeof *r->rows.row);
    if (!r->rows.row)
        return ERR_NOMEM;
    for (size_t i = 0; i < r->n; i++) {
        const struct index_line *line = claude_node_line(&r->log, r->path[i]);
        struct claude_restore_row *out = &r->rows.row[r->rows.n];
        struct slice row;

        if (claude_line_is(line, CLAUDE_PROGRESS))
            continue;
        TRY(claude_node_row(&r->log, r->path[i], &row, e));
        row = arena_copy(&r->out.arena, row);
        if (!row.p)
            return ERR_NOMEM;
        *out = (struct claude_restore_row){ .id = chain_id(&r->log.chain, r->path[i]),
                                            .kind = line->kind };
        TRY(claude_migrate_row(row, line->kind, r->out.cwd, &r->out.arena, &out->row));
        r->rows.n++;
    }
    return claude_hide_rows(&r->rows, &r->unanswered);
}

static enum err_code build_bundle(struct restoring *r, struct slice at, struct err *e)
{
    struct claude_values history = { 0 };

    TRY(keep_value(r, r->ref->id, &r->out.session_id));

    /* The session's directory: the one it was moved to, else the one in which it began. */
    TRY(claude_last_text(r, CLAUDE_RELOCATED, "relocatedCwd", &r->out.cwd, e));
    if (!r->out.cwd.n)
        TRY(find_text(r, UINT64_MAX, false, "cwd", &r->out.cwd, e));
    TRY(find_text(r, CLAUDE_MAIN_KINDS, true, "gitBranch", &r->out.git_branch, e));

    /* A session that left its worktree records null. */
    TRY(claude_last_text(r, CLAUDE_WORKTREE_STATE, "worktreeSession.worktreePath",
                         &r->out.worktree_path, e));
    r->out.worktree_exists = is_worktree_dir(r->out.worktree_path);
    TRY(claude_last_text(r, CLAUDE_AGENT_SETTING, "agentSetting", &r->out.agent_setting, e));
    TRY(claude_last_text(r, CLAUDE_MODE, "mode", &r->out.mode, e));
    TRY(find_command_cwd(r, e));
    TRY(find_replacements(r, e));

    TRY(claude_find_path(r, at, e));
    TRY(load_rows(r, e));

    struct claude_values values = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->rows.n; i++)
        if (!r->rows.row[i].left_out)
            rc = claude_values_add(&values, &r->out.arena, r->rows.row[i].row);
    r->out.messages_json = values.p;
    r->out.messages = values.n;
    if (rc)
        return rc;

    bool whole = at.n > 0;

    TRY(find_todos(r));
    TRY(find_skills(r));
    TRY(find_state_rows(r, whole, e));

    TRY(claude_snapshots(&r->log, r->path, r->n, &r->out.arena, &history, e));
    r->out.file_history_json = history.p;
    r->out.file_history = history.n;
    r->out.interruption = claude_interruption(&r->rows, &r->out.prompt_json);
    /* the conversation ends with the requested message */
    return at.n ? ERR_OK
                : claude_close_rows(&r->rows, &r->unanswered, &r->out, env_now_ms(r->store->env));
}

enum err_code claude_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e)
{
    struct restoring r = { .store = st, .ref = ref };
    /* A requested message may be in the part that a compaction made unreachable. */
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .skip_precompact = at.n == 0 };
    struct err why = { 0 };
    enum err_code rc = claude_log_open(&r.log, ref->path.p, &want, e);

    if (rc)
        return err_wrap(e, rc, "restore the session");
    rc = build_bundle(&r, at, &why);
    claude_log_close(&r.log);
    free(r.path);
    if (!rc) {
        *out = r.out;
        return ERR_OK;
    }
    restore_fini(&r.out);
    /* An earlier failure that was handled may have left its text. */
    if (why.code != rc)
        return err_set(e, rc, ref->path.p, "restore the session");
    if (e)
        *e = why;
    return err_wrap(e, rc, "restore the session");
}
