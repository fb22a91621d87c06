#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/amazonq/amazonq.h"
#include "store/systems/common/config_dir.h"

#define SESSIONS(table)                                                                            \
    "SELECT c.id, c.key, c.created_at, c.updated_at, c.value FROM " table                          \
    " WHERE (?1 = '' OR c.id = ?1)"

enum column {
    COLUMN_ID,
    COLUMN_DIRECTORY,
    COLUMN_CREATED,
    COLUMN_UPDATED,
    COLUMN_VALUE,
};

const char *amazonq_sessions(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return SESSIONS(AMAZONQ_TABLE);
}

const char *amazonq_classic_sessions(struct sqlite_db *db, struct arena *a)
{
    (void)db, (void)a;
    return SESSIONS(AMAZONQ_CLASSIC_TABLE);
}

/* What the entries of a conversation tell a list. Texts are in the arena or borrowed. */
struct found {
    struct slice first, last;
    int64_t first_ms, last_ms; /* TIME_NONE: not recorded */
    bool waits;                /* the newest entry ends with calls */
};

static void read_entry(struct slice entry, struct arena *a, struct found *out)
{
    struct slice user, assistant, prompt, calls;
    int64_t ms;

    if (!amazonq_entry(entry, &user, &assistant))
        return;
    prompt = amazonq_prompt(user, a);
    if (prompt.n)
        out->last = prompt;
    if (!out->first.n)
        out->first = prompt;
    out->waits = json_get(assistant, "ToolUse", &calls);
    if (!time_parse(json_text_at(user, "timestamp", a), &ms))
        return;
    out->last_ms = ms;
    if (out->first_ms == TIME_NONE)
        out->first_ms = ms;
}

static struct found read_history(struct slice value, struct arena *a)
{
    struct found out = { SLICE(""), SLICE(""), TIME_NONE, TIME_NONE, false };
    struct slice entry;
    struct json_iter it;

    json_list_open(&it, value, "history");
    while (json_list_next(&it, &entry))
        read_entry(entry, a, &out);
    return out;
}

/* Old versions record no times for a conversation. */
static int64_t time_of(const struct sqlite_row *row, int column, int64_t otherwise)
{
    return sqlite_row_int(row, column) > 0 ? sqlite_row_int(row, column) : otherwise;
}

bool amazonq_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                    const struct scope *scope, struct arena *a, struct sqlite_listed *out)
{
    struct slice value = sqlite_row_text(row, COLUMN_VALUE);
    struct found found = read_history(json_valid(value) ? value : SLICE("{}"), a);

    (void)place;
    out->id = sqlite_row_text(row, COLUMN_ID);
    out->title = SLICE("");
    out->cwd = sqlite_row_text(row, COLUMN_DIRECTORY);
    out->model = json_text_at(value, "model_info.model_id", a);
    if (!out->model.n)
        out->model = json_text_at(value, "model", a);
    out->first = found.first;
    out->last = found.last;
    out->created_ms = time_of(row, COLUMN_CREATED, found.first_ms);
    out->modified_ms = time_of(row, COLUMN_UPDATED, found.last_ms);
    out->hidden = found.first.n ? HIDDEN_NOT : HIDDEN_EMPTY;
    out->flags = found.waits ? SESSION_INTERRUPTED : 0;
    return config_dir_in_scope(scope, out->cwd, a);
}
