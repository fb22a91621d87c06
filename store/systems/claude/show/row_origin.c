#include "store/systems/claude/show/row_origin.h"

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

bool claude_run_id(struct slice value)
{
    static const char more[] = "_.:-";

    if (json_type(value) != JSON_STRING || value.n < 3 || value.n > 130)
        return false;
    for (size_t i = 1; i + 1 < value.n; i++) {
        char c = value.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && !(c >= '0' && c <= '9') && !(c && strchr(more, c)))
            return false;
    }
    return true;
}

static void copy_origin_member(struct jsonout *j, struct slice origin, const char *key)
{
    struct slice value;

    if (!json_get(origin, key, &value))
        return;
    jsonout_key(j, key);
    jsonout_raw(j, value);
}

void claude_origin_write(struct jsonout *j, struct slice origin, struct slice run)
{
    struct slice own;

    jsonout_key(j, "origin");
    if (json_type(origin) != JSON_OBJECT || !claude_row_says(origin, "kind", "task-notification")) {
        jsonout_raw(j, origin);
        return;
    }
    jsonout_open(j, '{');
    copy_origin_member(j, origin, "kind");
    copy_origin_member(j, origin, "subkind");
    copy_origin_member(j, origin, "fireReason");
    copy_origin_member(j, origin, "producer");
    if (json_get(origin, "runId", &own) && claude_run_id(own))
        run = own;
    if (run.n) {
        jsonout_key(j, "runId");
        jsonout_raw(j, run);
    }
    if (claude_row_says(origin, "taskKind", "mcp-task"))
        copy_origin_member(j, origin, "taskKind");
    jsonout_close(j, '}');
}
