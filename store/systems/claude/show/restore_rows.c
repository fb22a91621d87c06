#include "store/systems/claude/show/item_list.h"

#include <uuid/uuid.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/chain/row_facts.h"

/* A host that restores a session has to continue the same conversation that the client would load
 * from the file. The client changes what it reads, and so do these functions, in this order:
 *
 *   migrate each row -> hide rows -> how the last turn ended -> closing rows
 *
 * Each stage needs the one before: hidden rows take no part in the last turn, and the way it ended
 * decides which rows close it. The aim is the behavior of the client and not the best repair, so a
 * row that looks useless may still have to stay. The rows that are added exist only in the bundle:
 * the file of the session is never changed. */

static const char *const known_modes[] = { "default", "acceptEdits", "bypassPermissions",
                                           "plan",    "dontAsk",     "auto",
                                           NULL };

/* Moves the built value into the arena. */
static enum err_code move_to_arena(enum err_code rc, struct buf *built, struct arena *a,
                                   struct slice *out)
{
    struct slice copy = { NULL, 0 };

    if (!rc) {
        copy = arena_copy(a, buf_slice(built));
        rc = copy.p ? ERR_OK : ERR_NOMEM;
    }
    if (!rc)
        *out = copy;
    buf_fini(built);
    return rc;
}

static enum err_code claude_restore_rows_set_member(struct slice object, const char *key,
                                                    struct slice value, struct arena *a,
                                                    struct slice *out)
{
    struct buf built = { 0 };

    return move_to_arena(json_set(&built, object, key, value), &built, a, out);
}

/* The path from a directory to a file, as path.relative returns it. Paths that are not absolute are unchanged. */
static enum err_code add_relative(struct buf *out, struct slice from, struct slice to)
{
    enum err_code rc = ERR_OK;

    while (from.n > 1 && from.p[from.n - 1] == '/')
        from.n--;
    if (from.n < 2 || to.n == 0 || from.p[0] != '/' || to.p[0] != '/')
        return buf_add(out, from.n == 1 && to.n > 1 ? (struct slice){ to.p + 1, to.n - 1 } : to);

    /* The length of the common beginning of both paths, up to the last whole name. */
    size_t n = from.n < to.n ? from.n : to.n, common = 0;

    while (common < n && from.p[common] == to.p[common])
        common++;
    bool whole =
        (common == from.n || from.p[common] == '/') && (common == to.n || to.p[common] == '/');

    while (!whole && common > 0 && from.p[common - 1] != '/')
        common--;

    struct slice up = { from.p + common, from.n - common };
    struct slice down = { to.p + common, to.n - common };

    for (size_t i = 0; !rc && i < up.n; i++)
        if (up.p[i] != '/' && (i == 0 || up.p[i - 1] == '/'))
            rc = buf_add(out, out->n ? SLICE("/..") : SLICE(".."));
    while (down.n && *down.p == '/')
        down = (struct slice){ down.p + 1, down.n - 1 };
    if (!rc && down.n && out->n)
        rc = buf_add_byte(out, '/');
    return rc ? rc : buf_add(out, down);
}

/* The path as it is shown, as a JSON string in the arena. */
static enum err_code claude_shown_path(struct slice path, struct slice cwd, struct arena *a,
                                       struct slice *out)
{
    struct buf relative = { 0 }, quoted = { 0 };
    struct jsonout j;
    enum err_code rc = add_relative(&relative, cwd, path);

    jsonout_init(&j, &quoted);
    if (!rc) {
        jsonout_text(&j, buf_slice(&relative));
        rc = j.rc;
    }
    buf_fini(&relative);
    return move_to_arena(rc, &quoted, a, out);
}

/* Old attachments lack the path that is shown, and two kinds of them were renamed. */
static enum err_code migrate_attachment(struct slice attachment, struct slice cwd, struct arena *a,
                                        struct slice *out)
{
    static const char *const paths[] = { "filename", "path", "skillDir" };
    struct slice value, path;
    enum err_code rc = ERR_OK;

    *out = attachment;
    if (claude_value_is(attachment, "type", "new_file"))
        rc = claude_restore_rows_set_member(*out, "type", SLICE("\"file\""), a, out);
    else if (claude_value_is(attachment, "type", "new_directory"))
        rc = claude_restore_rows_set_member(*out, "type", SLICE("\"directory\""), a, out);
    if (rc || json_get(attachment, "displayPath", &value))
        return rc;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!json_get_text(attachment, paths[i], a, &path) || path.n == 0)
            continue;
        rc = claude_shown_path(path, cwd, a, &value);
        return rc ? rc : claude_restore_rows_set_member(*out, "displayPath", value, a, out);
    }
    return ERR_OK;
}

enum err_code claude_migrate_row(struct slice row, enum claude_kind kind, struct slice cwd,
                                 struct arena *a, struct slice *out)
{
    struct slice value, changed;

    *out = row;
    if (kind == CLAUDE_USER && json_get(row, "permissionMode", &value) &&
        !claude_string_in(value, known_modes)) {
        struct buf built = { 0 };

        return move_to_arena(json_remove(&built, row, "permissionMode"), &built, a, out);
    }
    if (kind != CLAUDE_ATTACHMENT || !json_get(row, "attachment", &value) ||
        json_type(value) != JSON_OBJECT)
        return ERR_OK;
    enum err_code rc = migrate_attachment(value, cwd, a, &changed);

    if (rc || changed.p == value.p)
        return rc;
    return claude_restore_rows_set_member(row, "attachment", changed, a, out);
}

/* ---- rows that are left out ---- */

static uint8_t kind_of_row(void *arg, size_t i)
{
    const struct claude_restore_rows *r = arg;

    return r->row[i].kind;
}

static enum err_code read_bundle_row(void *arg, size_t i, struct slice *row, struct err *e)
{
    const struct claude_restore_rows *r = arg;

    (void)e;
    *row = r->row[i].row;
    return ERR_OK;
}

static enum err_code add_unanswered(struct claude_restore_rows *r, struct claude_restore_row *row,
                                    struct claude_hidden_rows *l, struct claude_values *unanswered)
{
    struct json_iter blocks;
    struct slice key, block, value;
    struct id128 id;
    enum err_code rc = ERR_OK;

    for (bool more = row->kind == CLAUDE_ASSISTANT && claude_content(row->row, &blocks);
         !rc && more && json_iter_next(&blocks, &key, &block);) {
        bool found;

        if (!claude_block_id(block, "tool_use", "id", r->arena, &id))
            continue;
        rc = claude_hidden_rows_answered(l, &id, 1, &found, NULL);
        if (rc || found)
            continue;
        row->cut = true;
        if (json_get(block, "id", &value))
            rc = claude_values_add(unanswered, r->arena, value);
    }
    return rc;
}

enum err_code claude_hide_rows(struct claude_restore_rows *r, struct claude_values *unanswered)
{
    const struct claude_rows rows = {
        .kind = kind_of_row, .read = read_bundle_row, .arg = r, .n = r->n
    };
    struct claude_hidden_rows l;
    enum err_code rc = claude_hidden_rows_init(&l, rows, NULL);

    for (size_t i = 0; !rc && i < r->n; i++) {
        enum claude_hidden_row left_out;

        rc = claude_hidden_rows_check(&l, i, &left_out, NULL);
        if (!rc && left_out == ROW_LOADED_IN_PART) {
            struct buf part = { 0 };

            left_out = ROW_LOADED;
            rc = move_to_arena(claude_hidden_rows_part(&l, &part, NULL), &part, r->arena,
                               &r->row[i].row);
        }
        r->row[i].left_out = (uint8_t)left_out;
        if (!rc && i >= l.end)
            rc = add_unanswered(r, &r->row[i], &l, unanswered);
    }
    claude_hidden_rows_fini(&l);
    return rc;
}

/* How a turn ended depends on the last row that takes part in it:
 *
 *   an answer            the turn ended, unless the answer was about to call a tool
 *   a tool result        cut: the agent never saw it
 *   a prompt             cut before there was any answer: it can be sent again
 *   a note that the      the person ended the turn
 *   person interrupted
 *   any other row        takes no part: system rows, what the client attaches to a prompt, local
 *                        commands, errors of the API, rows that were left out */

static bool text_starts_with(struct slice row, const char *const fronts[], size_t n)
{
    struct arena a = { 0 };
    struct slice content, key, block, text = { NULL, 0 };
    struct json_iter blocks;
    bool starts = false;

    if (claude_content(row, &blocks)) {
        if (json_iter_next(&blocks, &key, &block))
            json_get_text(block, "text", &a, &text);
    } else if (json_at(row, "message.content", &content)) {
        json_text(content, &a, &text);
    }
    for (size_t i = 0; i < n && !starts; i++) {
        size_t len = strlen(fronts[i]);

        starts = text.n >= len && memcmp(text.p, fronts[i], len) == 0;
    }
    arena_fini(&a);
    return starts;
}

static bool is_local(struct slice row)
{
    static const char *const fronts[] = { "<command-name>", "<local-command-", "<bash-input>",
                                          "<bash-stdout>", "<bash-stderr>" };

    return text_starts_with(row, fronts, sizeof fronts / sizeof *fronts);
}

static bool person_stopped(struct slice row)
{
    static const char *const fronts[] = { "[Request interrupted by user" };

    return text_starts_with(row, fronts, 1);
}

static bool claude_takes_part(const struct claude_restore_row *r)
{
    if (r->left_out)
        return false;
    switch (r->kind) {
    case CLAUDE_USER: return claude_has_tool_result(r->row) || !is_local(r->row);
    case CLAUDE_ASSISTANT: return !json_get_true(r->row, "isApiErrorMessage");
    case CLAUDE_ATTACHMENT: return claude_is_queued_command(r->row);
    default: return false;
    }
}

static enum interruption after_user(struct slice row, struct arena *a)
{
    if (claude_has_tool_result(row))
        return INTERRUPTION_TURN;
    if (json_get_true(row, "isMeta") || json_get_true(row, "isCompactSummary") ||
        person_stopped(row))
        return INTERRUPTION_NONE;
    return claude_is_interrupt_note(row, a) ? INTERRUPTION_TURN : INTERRUPTION_PROMPT;
}

enum interruption claude_interruption(const struct claude_restore_rows *r, struct slice *prompt)
{
    size_t i = r->n;
    enum interruption how;

    *prompt = (struct slice){ NULL, 0 };
    while (i > 0 && !claude_takes_part(&r->row[i - 1]))
        i--;
    if (i == 0)
        return INTERRUPTION_NONE;
    const struct claude_restore_row *last = &r->row[i - 1];

    if (last->kind == CLAUDE_ASSISTANT) {
        /* The turn goes on if one of its calls has no result, even one that was left out. */
        bool open = claude_value_is(last->row, "message.stop_reason", "tool_use") || last->cut;

        for (size_t k = i; k < r->n && !open; k++)
            open = r->row[k].left_out == ROW_HIDDEN_UNANSWERED;
        how = open ? INTERRUPTION_TURN : INTERRUPTION_NONE;
    } else if (last->kind == CLAUDE_USER)
        how = after_user(last->row, r->arena);
    else
        how = INTERRUPTION_PROMPT;
    if (how == INTERRUPTION_PROMPT)
        *prompt = last->row;
    return how;
}

/* The rows that the client adds at the end of an interrupted conversation when it loads it. */

struct closing {
    struct restore *out;
    int64_t now_ms;
};

/* Begins a row that is not in the file and has no id yet. */
static void claude_begin_row(const struct closing *c, bool user, struct jsonout *j)
{
    struct slice role = user ? SLICE("user") : SLICE("assistant");
    char time[TIME_TEXT];

    time_format(c->now_ms, time);
    jsonout_open(j, '{');
    jsonout_member(j, "type", role);
    jsonout_member(j, "timestamp", slice_of(time));
    jsonout_member(j, "sessionId", c->out->session_id);
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_member(j, "role", role);
}

static void claude_write_result(const struct closing *c, struct slice call, struct jsonout *j)
{
    claude_begin_row(c, true, j);
    jsonout_key(j, "content");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("tool_result"));
    jsonout_raw_member(j, "tool_use_id", call);
    jsonout_member(j, "content",
                   SLICE("[Tool call interrupted: the session ended before this call's result was "
                         "recorded, so its outcome is unknown. Check whether it took effect before "
                         "relying on it or running it again.]"));
    jsonout_bool_member(j, "is_error", true);
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    jsonout_close(j, '}');
    jsonout_close(j, '}');
}

/* The API requires an answer between two rows of the person. */
static void write_no_response(const struct closing *c, struct jsonout *j)
{
    claude_begin_row(c, false, j);
    jsonout_member(j, "type", SLICE("message"));
    jsonout_member(j, "model", SLICE("<synthetic>"));
    jsonout_key(j, "content");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("text"));
    jsonout_member(j, "text", SLICE("No response requested."));
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    jsonout_member(j, "stop_reason", SLICE("stop_sequence"));
    jsonout_close(j, '}');
    jsonout_close(j, '}');
}

enum ending { END_RESULT, END_NO_RESPONSE, END_CONTINUE };

static enum err_code add_closing_row(const struct closing *c, enum ending kind, struct slice call)
{
    struct claude_values values = { c->out->messages_json, c->out->messages };
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    switch (kind) {
    case END_RESULT: claude_write_result(c, call, &j); break;
    case END_NO_RESPONSE: write_no_response(c, &j); break;
    case END_CONTINUE: {
        char id[UUID_STR_LEN];

        uuid_t random;

        uuid_generate_random(random);
        uuid_unparse_lower(random, id);
        claude_begin_row(c, true, &j);
        jsonout_member(&j, "content", SLICE("Continue from where you left off."));
        jsonout_close(&j, '}');
        jsonout_member(&j, "uuid", slice_of(id));
        jsonout_bool_member(&j, "isMeta", true);
        jsonout_close(&j, '}');
    } break;
    }

    enum err_code rc = j.rc;
    struct slice copy =
        rc ? (struct slice){ NULL, 0 } : arena_copy(&c->out->arena, buf_slice(&text));

    buf_fini(&text);
    if (!copy.p)
        return ERR_NOMEM;
    rc = claude_values_add(&values, &c->out->arena, copy);
    c->out->messages_json = values.p;
    c->out->messages = values.n;
    return rc;
}

/* Returns true if the last message is one of the person, or the result of a call. */
static bool ends_with_user(const struct claude_restore_rows *r)
{
    for (size_t i = r->n; i-- > 0;) {
        const struct claude_restore_row *row = &r->row[i];

        if (!row->left_out && (row->kind == CLAUDE_USER || row->kind == CLAUDE_ASSISTANT))
            return row->kind == CLAUDE_USER;
    }
    return false;
}

enum err_code claude_close_rows(const struct claude_restore_rows *rows,
                                const struct claude_values *unanswered, struct restore *out,
                                int64_t now_ms)
{
    const struct closing c = { out, now_ms };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < unanswered->n; i++)
        rc = add_closing_row(&c, END_RESULT, unanswered->p[i]);
    if (!rc && (unanswered->n || ends_with_user(rows)))
        rc = add_closing_row(&c, END_NO_RESPONSE, (struct slice){ NULL, 0 });
    if (!rc && out->interruption == INTERRUPTION_TURN)
        rc = add_closing_row(&c, END_CONTINUE, (struct slice){ NULL, 0 });
    return rc;
}
