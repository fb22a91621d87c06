#include "store/systems/claude/list/discover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/scan/field.h"
#include "store/systems/claude/claude.h"

/* ---- the last turn ---- */

enum { TYPE, META, SUMMARY, SIDE, TEAM, FAILED, TIME, MESSAGE, KEYS };

/* The message facts of a row. A message may be most of the window, so it is read in one pass. */
struct tail_message {
    struct slice value[KEYS];
    struct slice content;
    bool calls, results; /* the content has such a block */
};

static void claude_read_block(struct json_iter *it, struct tail_message *m)
{
    struct slice key, value, type = { NULL, 0 };

    while (json_iter_key(it, &key) && json_iter_value(it, &value))
        if (json_string_is(key, "type"))
            type = value;
    m->calls |= json_string_is(type, "tool_use");
    m->results |= json_string_is(type, "tool_result");
}

static bool read_blocks(struct json_iter *content, struct tail_message *m)
{
    struct json_iter it, block;
    struct slice key, value;
    bool more = true;

    m->calls = m->results = false;
    if (!json_iter_into(content, &it) || it.object)
        return json_iter_value(content, &m->content);
    while (more && json_iter_key(&it, &key)) {
        if (json_iter_into(&it, &block)) {
            claude_read_block(&block, m);
            more = json_iter_back(&it, &block, &value);
        } else {
            more = json_iter_value(&it, &value);
        }
    }
    return json_iter_back(content, &it, &m->content);
}

static bool read_inside(struct json_iter *row, struct tail_message *m)
{
    struct json_iter it;
    struct slice key, value;
    bool more = true;

    m->content = (struct slice){ NULL, 0 };
    if (!json_iter_into(row, &it) || !it.object)
        return json_iter_value(row, &m->value[MESSAGE]);
    while (more && json_iter_key(&it, &key))
        more = json_string_is(key, "content") ? read_blocks(&it, m) : json_iter_value(&it, &value);
    return json_iter_back(row, &it, &m->value[MESSAGE]);
}

static void read_last_message(struct slice row, struct tail_message *m)
{
    static const char *const keys[KEYS] = { "type",        "isMeta",   "isCompactSummary",
                                            "isSidechain", "teamName", "isApiErrorMessage",
                                            "timestamp",   "message" };
    struct json_iter it;
    struct slice key, value;
    bool more = true;

    *m = (struct tail_message){ 0 };
    if (!json_iter_open(&it, row) || !it.object)
        return;
    while (more && json_iter_key(&it, &key)) {
        size_t i = json_key_in(key, keys, KEYS);

        if (i == MESSAGE)
            more = read_inside(&it, m);
        else
            more = json_iter_value(&it, i < KEYS ? &m->value[i] : &value);
    }
}

/* Rows that the agent's program answers itself (shell lines, local commands) do not wait for an
 * answer; nor does a prompt that the person cancelled. */
static bool waits_for_answer(struct slice row, const struct tail_message *m, struct arena *a,
                             bool *ok)
{
    struct prompt prompt = { 0 };

    if (m->results)
        return true;
    if (!m->content.n || slice_has(row, "<bash-input>"))
        return false;
    *ok &= prompt_of_row(row, a, &prompt);
    return prompt.text.p != NULL;
}

int64_t last_turn_leaf_ms(struct slice tail)
{
    struct slice row, value;
    bool torn;
    int64_t ms;

    while (slice_last_line(&tail, &row, &torn))
        if (slice_has(row, "\"active-leaf\"") && json_valid(row) &&
            json_get(row, "timestamp", &value) && json_int(value, &ms))
            return ms;
    return TIME_NONE;
}

/* The model precedes the content of its message, so the first occurrence is the right one. Rows that only contain
 * messages of other agents (progress rows) do not count. */
bool last_turn_model(struct slice row, struct arena *a, struct slice *model)
{
    if (!slice_has(row, "\"type\":\"assistant\"") || slice_has(row, "\"type\":\"progress\""))
        return true;
    if (!field_first(row, true, "model", a, model))
        return false;
    if (slice_eq(*model, SLICE("<synthetic>")))
        *model = (struct slice){ NULL, 0 };
    return true;
}

bool last_turn_read(struct slice tail, struct arena *a, struct last_turn *out)
{
    struct tail_message m;
    struct slice row;
    bool torn, ok = true;

    *out = (struct last_turn){ 0 };
    while (slice_last_line(&tail, &row, &torn)) {
        /* Rows that are not part of the conversation itself are passed over. */
        const struct slice *value = m.value;

        read_last_message(row, &m);
        if (json_type(value[META]) == JSON_TRUE || json_type(value[SIDE]) == JSON_TRUE ||
            json_type(value[TEAM]) == JSON_STRING || json_type(value[FAILED]) == JSON_TRUE ||
            json_type(value[MESSAGE]) != JSON_OBJECT ||
            (!json_string_is(value[TYPE], "user") && !json_string_is(value[TYPE], "assistant")))
            continue;

        out->row = row;
        out->interrupted =
            json_string_is(m.value[TYPE], "assistant")
                ? m.calls
                : json_type(m.value[SUMMARY]) != JSON_TRUE && waits_for_answer(row, &m, a, &ok);
        out->timestamp = m.value[TIME];
        break;
    }
    return ok;
}

/* ---- forks, snapshots ---- */

bool claude_forked_from(struct slice row, struct arena *a, struct slice *id)
{
    struct slice value;

    *id = (struct slice){ NULL, 0 };
    if (!json_at(row, "forkedFrom.sessionId", &value) || json_type(value) != JSON_STRING)
        return true;
    return json_text(value, a, id);
}

bool claude_worktree_of(struct slice row, struct arena *a, struct slice *path, bool *ok)
{
    struct slice value;

    if (!json_valid(row) || !json_get(row, "worktreeSession", &value))
        return false;
    if (json_get(value, "worktreePath", &value) && json_type(value) == JSON_STRING)
        *ok &= json_text(value, a, path);
    return true;
}

bool claude_pull_request(struct slice link, struct arena *a, struct session_row *row)
{
    struct slice number, text;
    int64_t n;

    if (!link.n || !json_get(link, "prNumber", &number) || !json_int(number, &n) || n <= 0)
        return true;
    row->pr_number = n;
    if (json_get(link, "prRepository", &text) && json_type(text) == JSON_STRING &&
        !json_text(text, a, &row->pr_repository))
        return false;
    return !json_get(link, "prUrl", &text) || json_text(text, a, &row->pr_url);
}

static void add_tracked_path(struct restorable_files *t, struct slice path)
{
    for (unsigned i = 0; i < t->n && i < sizeof t->path / sizeof *t->path; i++)
        if (slice_eq(t->path[i], path))
            return;

    if (t->n < sizeof t->path / sizeof *t->path)
        t->path[t->n] = path;
    t->n++;
}

bool claude_restorable_add(struct restorable_files *t, struct slice row, struct arena *a)
{
    enum { TYPE_OF_ROW, TRACKED_PATH, SNAPSHOT, NAMES };
    static const char *const names[NAMES] = { "type", "trackingPath", "snapshot" };
    struct slice found[NAMES], files, key, value, path;
    struct json_iter it;

    json_get_each(row, names, NAMES, found);
    if (json_string_is(found[TYPE_OF_ROW], "file-history-delta")) {
        if (json_text(found[TRACKED_PATH], a, &path))
            add_tracked_path(t, path);
        return false;
    }
    if (!json_string_is(found[TYPE_OF_ROW], "file-history-snapshot") ||
        !json_get(found[SNAPSHOT], "trackedFileBackups", &files) || !json_iter_open(&it, files))
        return false;
    while (json_iter_next(&it, &key, &value))
        if (json_text(key, a, &path))
            add_tracked_path(t, path);
    t->whole = true;
    return true;
}

#define MARK "\"type\":\"continued-in\""
#define CHAIN "\"parentUuid\":"

enum { SCAN_BYTES = 16 << 20, SCAN_STEP = 1 << 20, SCAN_KEPT = sizeof CHAIN - 1 };

/* Returns true for a complete answer of the model. */
static bool is_answer(struct slice row)
{
    struct slice type, failed, message, reason;

    if (!json_get(row, "type", &type) || !json_string_is(type, "assistant"))
        return false;
    if (json_get(row, "isApiErrorMessage", &failed) && json_type(failed) != JSON_FALSE)
        return false;
    return json_get(row, "message", &message) && json_type(message) == JSON_OBJECT &&
           json_get(message, "stop_reason", &reason) && json_type(reason) == JSON_STRING;
}

bool claude_continued_in(struct slice tail, struct arena *a, struct slice *id)
{
    struct slice row;
    bool torn, ok = true;

    *id = (struct slice){ NULL, 0 };
    if (!slice_has(tail, MARK))
        return true;
    while (ok && slice_last_line(&tail, &row, &torn)) {
        bool marked = slice_has(row, MARK);
        bool spoken =
            slice_has(row, "\"type\":\"user\"") || slice_has(row, "\"type\":\"assistant\"");

        if ((!marked && !spoken) || !json_valid(row))
            continue;
        if (marked && json_get_is(row, "type", "continued-in") &&
            json_get_text(row, "continuedInSessionId", a, id)) {
            if (!claude_is_uuid(*id))
                *id = (struct slice){ NULL, 0 };
            return true;
        }
        if (!spoken)
            continue;
        if (is_answer(row))
            return true;
        struct prompt prompt = { 0 };

        ok = prompt_of_row(row, a, &prompt);
        if (prompt.text.p)
            return ok;
    }
    return ok;
}

/* Only the first 16 MiB of a long file are searched; if they do not decide, the file is assumed to be a
 * conversation. */
static bool scan(const struct file *f)
{
    char *bytes = malloc(SCAN_STEP + SCAN_KEPT);
    size_t kept = 0, got = 0;
    bool found = false;
    int64_t at = 0;

    while (bytes && !found && at < SCAN_BYTES) {
        if (file_read(f, at, bytes + kept, SCAN_STEP, &got, NULL) || got == 0)
            break;
        size_t n = kept + got;

        found = slice_has((struct slice){ bytes, n }, CHAIN);
        kept = n < SCAN_KEPT ? n : SCAN_KEPT;
        memmove(bytes, bytes + n - kept, kept);
        at += (int64_t)got;
    }
    free(bytes);
    return found || at >= SCAN_BYTES;
}

bool claude_continuation_exists(const struct session_ref *ref, struct slice id, struct arena *a)
{
    size_t folder = ref->path.n - ref->id.n - (sizeof CLAUDE_SUFFIX - 1);
    const char *path =
        arena_format(a, "%.*s%.*s" CLAUDE_SUFFIX, (int)folder, ref->path.p, SLICE_ARG(id));
    struct window w;
    bool lives = false;

    if (!path || window_init(&w, NULL))
        return false;
    if (window_open(&w, AT_FDCWD, path, 0, NULL) == ERR_OK && window_widen(&w, NULL) == ERR_OK)
        lives = slice_has(w.head, CHAIN) || slice_has(w.tail, CHAIN) ||
                (w.file.id.size > WINDOW_BYTES && scan(&w.file));
    window_fini(&w);
    return lives;
}
