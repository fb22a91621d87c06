#include "lite/base/time.h"
#include "store/api/store.h"
#include "store/query/listing.h"

/* A session row as JSON. */

struct ability {
    unsigned can;
    const char *name;
};

static const struct ability abilities[] = {
    { CAN_RESUME, "resume" },   { CAN_FORK, "fork" },     { CAN_RESUME_AT, "resume-at" },
    { CAN_REWIND, "rewind" },   { CAN_RENAME, "rename" }, { CAN_TAG, "tag" },
    { CAN_ARCHIVE, "archive" }, { CAN_DELETE, "delete" }, { CAN_REMOVE, "delete-permanently" },
};

static void time_member(struct jsonout *j, const char *key, int64_t ms)
{
    if (ms != TIME_NONE)
        jsonout_int_member(j, key, ms);
}

static void can_member(struct jsonout *j, const char *key, unsigned can)
{
    jsonout_key(j, key);
    jsonout_open(j, '[');
    for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++)
        if (can & abilities[i].can)
            jsonout_text(j, slice_of(abilities[i].name));
    jsonout_close(j, ']');
}

/* What is remarkable about the session, as the screen marks it; absent if nothing is. */
static void marks_member(struct jsonout *j, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } marks[] = {
        { SESSION_INTERRUPTED, "interrupted" },   { SESSION_FORK, "fork" },
        { SESSION_DAMAGED, "damaged" },           { SESSION_TORN, "torn" },
        { SESSION_PARTIAL, "partial" },           { SESSION_CHANGED, "changed" },
        { SESSION_PROGRAMMATIC, "programmatic" },
    };
    bool open = false;

    if (flags & SESSION_LIVE) /* its last turn may still end */
        flags &= ~(uint32_t)SESSION_INTERRUPTED;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!(flags & marks[i].flag))
            continue;
        if (!open) {
            jsonout_key(j, "marks");
            jsonout_open(j, '[');
        }
        open = true;
        jsonout_text(j, slice_of(marks[i].name));
    }
    if (open)
        jsonout_close(j, ']');
}

static void state_members(struct jsonout *j, const struct session_row *row)
{
    unsigned by_agent = row->can & store_agent_abilities(row->ref.store->ops);

    time_member(j, "createdAt", row->created_ms);
    time_member(j, "lastModified", row->modified_ms);
    time_member(j, "lastActivity", row->activity_ms);
    time_member(j, "expiresAt", row->expires_ms);
    if (store_has_size(&row->ref))
        jsonout_int_member(j, "fileSize", row->ref.file.size);
    if (row->flags & SESSION_ARCHIVED_KNOWN) {
        jsonout_bool_member(j, "archived", (row->flags & SESSION_ARCHIVED) != 0);
    }
    jsonout_member(j, "state", slice_of(session_state_name(row->state)));
    if (row->flags & SESSION_SHELL)
        jsonout_bool_member(j, "shell", true);
    if (row->flags & SESSION_BACKGROUND)
        jsonout_bool_member(j, "background", true);
    if (row->flags & SESSION_KEPT)
        jsonout_bool_member(j, "kept", true);
    marks_member(j, row->flags);
    jsonout_member(j, "waitsFor", row->waits_for);
    if (row->metadata.n) {
        jsonout_key(j, "metadata");
        jsonout_compact(j, row->metadata);
    }
    if (row->state)
        time_member(j, "since", row->since_ms);
    jsonout_member(j, "parentId", row->parent_id);
    if (row->ref.also)
        jsonout_member(j, "alsoIn", slice_of(row->ref.also->ops->name));
    jsonout_member(j, "path", session_row_path(row));
    can_member(j, "can", row->can);
    if (by_agent)
        can_member(j, "byAgent", by_agent);
}

void listing_row_json_members(struct jsonout *j, const struct session_row *row)
{
    const struct store_ops *ops = row->ref.store->ops;

    jsonout_member(j, "system", slice_of(ops->name));
    if (ops->format)
        jsonout_member(j, "format", slice_of(ops->format));
    if (row->dialect)
        jsonout_member(j, "dialect", slice_of(row->dialect));
    jsonout_member(j, "kind", slice_of(session_kind_name(row->kind)));
    jsonout_member(j, "sessionId", row->ref.id);
    jsonout_member(j, "recordedId", row->recorded_id);

    jsonout_member(j, "summary", row->summary);
    jsonout_member(j, "customTitle", row->custom_title);
    jsonout_member(j, "firstPrompt", row->first_prompt);
    jsonout_member(j, "lastPrompt", row->last_prompt);
    jsonout_member(j, "gitBranch", row->git_branch);
    jsonout_member(j, "cwd", row->cwd);
    jsonout_member(j, "tag", row->tag);
    jsonout_member(j, "model", row->model);
    jsonout_member(j, "agentName", row->agent_name);
    jsonout_member(j, "agentSetting", row->agent_setting);
    jsonout_member(j, "agentColor", row->agent_color);
    jsonout_member(j, "mode", row->mode);
    jsonout_member(j, "worktreePath", row->worktree_path);
    if (row->pr_number) {
        jsonout_int_member(j, "prNumber", row->pr_number);
        jsonout_member(j, "prUrl", row->pr_url);
        jsonout_member(j, "prRepository", row->pr_repository);
    }
    if (row->phase)
        jsonout_member(j, "phase", slice_of(row->phase));

    state_members(j, row);
}

void listing_row_json(struct jsonout *j, const struct session_row *row)
{
    jsonout_open(j, '{');
    listing_row_json_members(j, row);
    jsonout_close(j, '}');
}
