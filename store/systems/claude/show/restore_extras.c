#include "store/systems/claude/show/restore.h"

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* The input of the last TodoWrite call in a row; empty when it makes none. */
static struct slice todo_call(struct slice row)
{
    struct slice key, block, input = { NULL, 0 };
    struct json_iter blocks;

    if (!claude_content(row, &blocks))
        return input;
    while (json_iter_next(&blocks, &key, &block))
        if (claude_row_says(block, "type", "tool_use") &&
            claude_row_says(block, "name", "TodoWrite"))
            json_get(block, "input", &input);
    return input;
}

/* The list as the agent last wrote it. */
static enum err_code find_todos(struct claude_restore_state *r)
{
    struct claude_values values = { 0 };
    struct slice call = { NULL, 0 }, list, key, value;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    for (size_t i = r->restore_rows.n; call.n == 0 && i-- > 0;)
        if (!r->restore_rows.row[i].left_out && r->restore_rows.row[i].kind == CLAUDE_ASSISTANT)
            call = todo_call(r->restore_rows.row[i].row);
    if (!json_get(call, "todos", &list) || json_type(list) != JSON_ARRAY)
        return ERR_OK;
    for (bool more = json_iter_open(&it, list); more && !rc && json_iter_next(&it, &key, &value);)
        rc = claude_values_add(&values, &r->out.arena, value);
    r->out.todos_json = values.p;
    r->out.todos = values.n;
    return rc;
}

/* A skill needs a name, a path and its text. */
static bool is_skill(struct slice skill)
{
    return claude_key_truthy(skill, "name") && claude_key_truthy(skill, "path") &&
           claude_key_truthy(skill, "content");
}

/* Of one name the last counts, in the place of the first. */
static enum err_code add_skill(struct claude_restore_state *r, struct claude_values *skills,
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

static enum err_code find_skills(struct claude_restore_state *r)
{
    struct claude_values skills = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->restore_rows.n; i++) {
        const struct claude_restore_row *row = &r->restore_rows.row[i];
        struct slice list, key, skill;
        struct json_iter it;

        if (row->kind != CLAUDE_ATTACHMENT || row->left_out ||
            !claude_row_says(row->row, "attachment.type", "invoked_skills") ||
            !json_at(row->row, "attachment.skills", &list) || json_type(list) != JSON_ARRAY)
            continue;
        for (bool more = json_iter_open(&it, list);
             more && !rc && json_iter_next(&it, &key, &skill);)
            if (is_skill(skill))
                rc = add_skill(r, &skills, skill);
    }
    r->out.skills_json = skills.p;
    r->out.skills = skills.n;
    return rc;
}

enum err_code claude_restore_extras(struct claude_restore_state *r)
{
    enum err_code rc = find_todos(r);

    return rc ? rc : find_skills(r);
}
