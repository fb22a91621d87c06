#include "store/systems/claude/list/describe_fields.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"

#define TIMES_TEXT "\"timestamp\":\""

static const struct field fields[FIELDS] = {
    [TITLE] = { FIELD_LOOSE, "customTitle", "custom-title" },
    [AI_TITLE] = { FIELD_LOOSE, "aiTitle", "ai-title" },
    [TAG] = { FIELD_LOOSE, "tag", "tag" },
    [LAST_PROMPT] = { FIELD_ROW, "lastPrompt", NULL },
    [MOVED] = { FIELD_ROW, "relocatedCwd", "relocated" },
    [AGENT_NAME] = { FIELD_ROW, "agentName", "agent-name" },
    [BRANCH] = { FIELD_RAW, "gitBranch", NULL },
    [ENTRY] = { FIELD_RAW, "entrypoint", NULL },
    [TIMES] = { FIELD_SEEN, TIMES_TEXT, NULL },
    [MODEL] = { FIELD_SEEN, "\"model\":", NULL },
    [SNAPSHOTS] = { FIELD_SEEN, "\"type\":\"file-history-", NULL },
    [FORKED] = { FIELD_SEEN, "\"forkedFrom\":", NULL },
    [GLUED] = { FIELD_SEEN, "{\"parentUuid\":", NULL },
    [CONTINUED] = { FIELD_SEEN, "\"type\":\"continued-in\"", NULL },
};

static const struct field summary_field = { FIELD_ROW, "summary", NULL };

void describe_tables_init(struct describe_tables *t)
{
    field_set_init(&t->tail, fields, FIELDS);
    field_set_init(&t->head, fields, HEAD_FIELDS);
    field_set_init(&t->summary, &summary_field, 1);
}

bool describe_is_whole_file(const struct claude_describe_state *r)
{
    return r->w->tail.p == r->w->head.p;
}

struct slice describe_whole_head(struct claude_describe_state *r)
{
    if (window_widen(r->w, NULL))
        r->row->flags |= SESSION_CHANGED;
    return r->w->head;
}

struct slice describe_known_rows(const struct claude_describe_state *r)
{
    struct slice head = r->w->head;
    const char *end = r->w->wide ? NULL : memrchr(head.p, '\n', head.n);

    if (!r->w->wide)
        head.n = end ? (size_t)(end + 1 - head.p) : 0;
    return head;
}

struct slice describe_row_with(struct claude_describe_state *r, const char *text)
{
    struct slice head = describe_known_rows(r);
    const char *p = head.n ? find_bytes(head.p, head.n, text, strlen(text)) : NULL;

    if (!p && !r->w->wide) {
        head = describe_whole_head(r);
        p = find_bytes(head.p, head.n, text, strlen(text));
    }
    return p ? field_row(head, (size_t)(p - head.p)) : (struct slice){ NULL, 0 };
}

struct slice describe_first_value(struct claude_describe_state *r, const char *key)
{
    struct slice text = { NULL, 0 };

    r->ok &= field_first(r->w->head, r->w->wide, key, r->a, &text);
    if (!text.p && !r->w->wide)
        r->ok &= field_first(describe_whole_head(r), true, key, r->a, &text);
    return text;
}

struct slice describe_first_unless_in_tail(struct claude_describe_state *r, enum field_number field)
{
    if (describe_is_whole_file(r) && !r->tail[field].found)
        return (struct slice){ NULL, 0 };
    return describe_first_value(r, fields[field].key);
}

/* ---- what the pass over the tail sees on its way ---- */

enum { TIME_USUAL = sizeof "2026-03-01T10:00:02.000Z" - 1 };

/* Only a row's own timestamp counts, and it is only looked at closely where it would be the newest. */
static void see_time(struct claude_describe_state *r, struct slice window, size_t at)
{
    const char *from = window.p + at + sizeof TIMES_TEXT - 1;
    const char *end = memchr(from, '"', (size_t)(window.p + window.n - from));
    struct slice text, own, row;
    int64_t ms;

    if (!end)
        return;
    text = (struct slice){ from, (size_t)(end - from) };
    /* Of the usual form, most need no more than this. */
    if (text.n == TIME_USUAL && r->newest.n == TIME_USUAL &&
        memcmp(text.p, r->newest.p, TIME_USUAL) <= 0)
        return;
    row = field_row(window, at);
    if (!time_parse(text, &ms) || ms <= r->newest_ms || !json_get(row, "timestamp", &own) ||
        own.p + 1 != text.p)
        return;
    r->newest_ms = ms;
    r->newest = text;
}

/* The last message mostly has the newest time: known before the pass, it saves the closer looks. */
static void read_turn(struct claude_describe_state *r)
{
    struct slice quoted;

    r->ok &= last_turn_read(r->w->tail, r->a, &r->turn);
    quoted = r->turn.timestamp;
    if (json_type(quoted) != JSON_STRING || quoted.n < 2)
        return;
    r->newest = (struct slice){ quoted.p + 1, quoted.n - 2 };
    if (!time_parse(r->newest, &r->newest_ms))
        r->newest = (struct slice){ NULL, 0 };
}

/* A row that begins inside of another one, where no value can begin: the other one was cut off. */
static bool see_glued(struct claude_describe_state *r, struct slice window, size_t at)
{
    if (at == 0 || strchr(":,[\n", window.p[at - 1]) || json_valid(field_row(window, at)))
        return false;
    r->row->flags |= SESSION_DAMAGED;
    return true;
}

/* What stands behind the last message waits for its turn: only answers up to it count. */
static bool see_model(struct claude_describe_state *r, struct slice window, size_t at)
{
    const struct slice last = r->turn.row;

    if (!last.p || window.p + at >= last.p + last.n)
        return false;
    r->ok &= last_turn_model(field_row(window, at), r->a, &r->turn.model);
    return r->turn.model.p != NULL;
}

static bool see_fork(struct claude_describe_state *r, struct slice row)
{
    r->ok &= claude_forked_from(row, r->a, &r->row->parent_id);
    return r->row->parent_id.p;
}

static bool see(size_t field, struct slice window, size_t at, void *arg)
{
    struct claude_describe_state *r = arg;

    switch (field) {
    case TIMES: see_time(r, window, at); return false;
    case MODEL: return see_model(r, window, at);
    case SNAPSHOTS: return claude_restorable_add(&r->tracked, field_row(window, at), r->a);
    case CONTINUED: return r->says_continued = true;
    case FORKED: return see_fork(r, field_row(window, at));
    default: return see_glued(r, window, at);
    }
}

void describe_scan_tail(struct claude_describe_state *r)
{
    read_turn(r);
    r->ok &= field_set_last(&r->c->tables.tail, r->w->tail, r->a, r->tail, see, r);
}
