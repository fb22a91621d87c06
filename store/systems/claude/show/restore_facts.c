#include "store/systems/claude/show/restore.h"

#include <sys/stat.h>

#include "lite/json/json.h"
#include "store/git/worktree.h"

/* A value into the bundle. */
static enum err_code keep_value(struct claude_restore_state *r, struct slice value,
                                struct slice *out)
{
    struct slice copy = arena_copy(&r->out.arena, value);

    if (!copy.p)
        return ERR_NOMEM;
    *out = copy;
    return ERR_OK;
}

/* *found: the row has a text there, which is now in the bundle. */
static enum err_code keep_bundle_text(struct claude_restore_state *r, struct slice row,
                                      const char *path, struct slice *out, bool *found)
{
    struct arena a = { 0 };
    struct slice value, text;
    enum err_code rc = ERR_OK;

    *found = json_at(row, path, &value) && json_type(value) == JSON_STRING;
    if (*found) /* a string of a valid row has a text, if there is memory for it */
        rc = json_text(value, &a, &text) ? keep_value(r, text, out) : ERR_NOMEM;
    arena_fini(&a);
    return rc;
}

/* The last row of a kind; *row is empty when there is none. */
static enum err_code last_of(struct claude_restore_state *r, enum claude_kind kind,
                             struct slice *row, struct err *e)
{
    *row = (struct slice){ NULL, 0 };
    for (size_t i = r->log.file.index.n; i-- > 0;)
        if (claude_line_is(claude_line(&r->log, i), kind))
            return claude_log_row(&r->log, i, row, e);
    return ERR_OK;
}

static enum err_code last_text(struct claude_restore_state *r, enum claude_kind kind,
                               const char *key, struct slice *out, struct err *e)
{
    struct slice row;
    bool found;
    enum err_code rc = last_of(r, kind, &row, e);

    return rc ? rc : keep_bundle_text(r, row, key, out, &found);
}

/* Where the session is at home: where it was moved to, else where it began. */
static enum err_code find_cwd(struct claude_restore_state *r, struct err *e)
{
    enum err_code rc = last_text(r, CLAUDE_RELOCATED, "relocatedCwd", &r->out.cwd, e);
    bool found = r->out.cwd.n > 0;

    for (size_t i = 0; !rc && !found && i < r->log.file.index.n; i++) {
        struct slice row;

        if (claude_line(&r->log, i)->state != LINE_OK)
            continue;
        rc = claude_log_row(&r->log, i, &row, e);
        if (!rc)
            rc = keep_bundle_text(r, row, "cwd", &r->out.cwd, &found);
    }
    return rc;
}

static enum err_code find_branch(struct claude_restore_state *r, struct err *e)
{
    enum err_code rc = ERR_OK;
    bool found = false;

    for (size_t i = r->log.file.index.n; !rc && !found && i-- > 0;) {
        const struct index_line *line = claude_line(&r->log, i);
        struct slice row;

        if (line->state != LINE_OK || !(CLAUDE_MAIN_KINDS >> line->kind & 1))
            continue;
        rc = claude_log_row(&r->log, i, &row, e);
        if (!rc)
            rc = keep_bundle_text(r, row, "gitBranch", &r->out.git_branch, &found);
    }
    return rc;
}

static bool is_worktree_dir(struct slice path)
{
    struct stat s;

    return path.n > 0 && stat(path.p, &s) == 0 && S_ISDIR(s.st_mode);
}

/* A session that left its worktree says so with null. */
static enum err_code find_worktree(struct claude_restore_state *r, struct err *e)
{
    enum err_code rc = last_text(r, CLAUDE_WORKTREE_STATE, "worktreeSession.worktreePath",
                                 &r->out.worktree_path, e);

    r->out.worktree_exists = !rc && is_worktree_dir(r->out.worktree_path);
    return rc;
}

static enum err_code find_command_cwd(struct claude_restore_state *r, struct err *e)
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

/* Tool outputs that were too large and stand elsewhere. Those of a sub-agent are not ours. */
static enum err_code find_replacements(struct claude_restore_state *r, struct err *e)
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

enum err_code claude_restore_facts(struct claude_restore_state *r, struct err *e)
{
    enum err_code rc = keep_value(r, r->ref->id, &r->out.session_id);

    if (!rc)
        rc = find_cwd(r, e);
    if (!rc)
        rc = find_branch(r, e);
    if (!rc)
        rc = find_worktree(r, e);
    if (!rc)
        rc = last_text(r, CLAUDE_AGENT_SETTING, "agentSetting", &r->out.agent_setting, e);
    if (!rc)
        rc = last_text(r, CLAUDE_MODE, "mode", &r->out.mode, e);
    if (!rc)
        rc = find_command_cwd(r, e);
    return rc ? rc : find_replacements(r, e);
}
