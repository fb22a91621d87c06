#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/api/transcript.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/show/item_list.h"

/* The conversation as messages. A log is a tree of rows that several programs wrote, and each step removes one thing in
 * which the rows of the file differ from what the agent would load. The order matters: each step relies on those above.
 *
 *   rows of the log
 *     | claude_relink              links that a compaction or a lost row broke are made again
 *     | walk_resume, walk_sdk      the path from the leaf that a resume, or the SDK, chooses to the root
 *     | claude_parallel            rows of calls that ran in parallel are beside the path, and are put into it
 *     | claude_order_last_results  a resume orders the results of the last calls (not as_sdk)
 *   items
 *     | claude_host_insert         rows that a host recorded, at the places where they happened
 *     | claude_add_trailing        notes below the leaf, which are no messages of their own
 *     | claude_mark_delivered      which queued prompts reached the agent
 *     | claude_select_items        what is returned, without rows that a resume does not load (hidden_rows.c)
 *     | claude_host_hide_calls     calls that a host hid, after their results were needed above
 *     | leave_out_uncertain        if only the end of the file was read: what rows above could change
 *   messages
 */

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

void claude_origin_write(struct jsonout *j, struct slice origin, struct slice run)
{
    struct slice own;

    jsonout_key(j, "origin");
    if (json_type(origin) != JSON_OBJECT || !claude_value_is(origin, "kind", "task-notification")) {
        jsonout_raw(j, origin);
        return;
    }
    jsonout_open(j, '{');
    claude_copy_member(j, origin, "kind", "kind");
    claude_copy_member(j, origin, "subkind", "subkind");
    claude_copy_member(j, origin, "fireReason", "fireReason");
    claude_copy_member(j, origin, "producer", "producer");
    if (json_get(origin, "runId", &own) && claude_run_id(own))
        run = own;
    claude_write_value(j, "runId", run);
    if (claude_value_is(origin, "taskKind", "mcp-task"))
        claude_copy_member(j, origin, "taskKind", "taskKind");
    jsonout_close(j, '}');
}

/* In the order of `names`. */
enum field {
    TYPE,
    UUID,
    SESSION,
    MESSAGE,
    SHUTDOWN,
    UNANSWERED,
    DENIAL,
    SUMMARY,
    META,
    TRANSCRIPT_ONLY,
    QUEUED,
    COMPLETED,
    TIMESTAMP,
    ORIGIN,
    FIELDS,
};

static const char *const names[FIELDS] = {
    "type",
    "uuid",
    "sessionId",
    "message",
    "interruptedByShutdown",
    "toolDenialUnanswered",
    "toolDenialKind",
    "isCompactSummary",
    "isMeta",
    "isVisibleInTranscriptOnly",
    "isQueuedCommand",
    "isCompletedLocalCommand",
    "timestamp",
    "origin",
};

static void flag(struct jsonout *j, const char *key, bool set)
{
    if (set)
        jsonout_bool_member(j, key, true);
}

static bool claude_messages_is_true(struct slice value)
{
    return json_type(value) == JSON_TRUE;
}

/* Writes why a tool call was not carried out, for the one call that the row answers. */
static void write_denial(struct jsonout *j, struct slice row, struct slice kind)
{
    static const char *const kinds[] = {
        "user-rejected",          "permission-rule", "automode-blocked", "automode-unavailable",
        "automode-parsing-error", "interrupted",     "cancelled",        NULL,
    };
    struct slice result, id;

    if (!claude_string_in(kind, kinds) || !claude_only_result(row, &result) ||
        !json_get(result, "tool_use_id", &id) || json_type(id) != JSON_STRING)
        return;
    jsonout_key(j, "tool_result_meta");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    claude_write_value(j, "id", id);
    claude_write_value(j, "non_execution_kind", kind);
    jsonout_close(j, '}');
    jsonout_close(j, ']');
}

/* The conversation as the SDK returns it from getSessionMessages and getSubagentMessages. The SDK ignores last-prompt
 * rows, bridges no gaps and leaves nothing out; for a resume all of these count. */

static enum err_code list_path(struct claude_log *log, const uint32_t *path, size_t n,
                               struct claude_item_list *list)
{
    for (size_t i = 0; i < n; i++)
        if (claude_item_list_add_line(list, log, log->chain.node[path[i]].line, 0))
            return ERR_NOMEM;
    return ERR_OK;
}

/* The rows of the session, in order. */
static enum err_code claude_list_session(struct claude_log *log, bool as_sdk,
                                         struct claude_item_list *list, struct err *e)
{
    uint32_t leaf = CHAIN_NONE, *path = NULL;
    size_t n = 0;
    bool cleared;

    TRY(claude_relink(log, e));
    TRY(as_sdk ? claude_message_leaf(log, &leaf, e) : claude_resume_leaf(log, &leaf, &cleared, e));
    if (leaf == CHAIN_NONE)
        return ERR_OK;
    if (!as_sdk)
        claude_remove_unloaded(log);
    enum err_code rc = as_sdk ? chain_walk(&log->chain, leaf, NODE_LISTED, &path, &n, e)
                              : claude_resume_path(log, leaf, &path, &n, e);
    if (!rc)
        rc = claude_parallel(log, &path, &n, e);
    if (!rc && !as_sdk)
        rc = claude_order_last_results(log, path, n, e);
    if (!rc && list_path(log, path, n, list))
        rc = err_nomem(e);
    if (!rc)
        rc = claude_host_insert(log, list, e);
    if (!rc)
        rc = claude_add_trailing(log, leaf, list, e);
    if (!rc)
        rc = claude_mark_delivered(log, list, e);
    free(path);
    return rc;
}

enum err_code claude_resume_list(struct claude_log *log, struct claude_item_list *list,
                                 struct err *e)
{
    return claude_list_session(log, false, list, e);
}

/* The rows of a sub-agent: only the path from its last message upwards. The path begins at exactly that line, even if a
 * later row that is not a message has the same id. */
static enum err_code list_agent(struct claude_log *log, struct claude_item_list *list,
                                struct err *e)
{
    const struct index_line *line = NULL;
    size_t last = log->file.index.n, n = 0;
    uint32_t *path = NULL;
    enum err_code rc = ERR_OK;

    while (last > 0 && !line) {
        line = claude_line(log, --last);
        if (!claude_line_is_message(line) || id128_none(line->id))
            line = NULL;
    }
    if (!line)
        return ERR_OK;
    uint32_t up = id128_none(line->parent) ? CHAIN_NONE : chain_find(&log->chain, line->parent);

    log->chain.mark[chain_find(&log->chain, line->id)] |= NODE_LISTED;
    if (up != CHAIN_NONE && chain_has_row(&log->chain, up))
        rc = chain_walk(&log->chain, up, NODE_LISTED, &path, &n, e);
    if (!rc &&
        (list_path(log, path, n, list) || claude_item_list_add_line(list, log, (uint32_t)last, 0)))
        rc = err_nomem(e);
    if (!rc)
        rc = claude_host_insert(log, list, e);
    free(path);
    return rc;
}

/* How many items are needed: all if the offset counts from the end, or if a host took part, because hidden calls are
 * removed from the whole conversation. */
static size_t items_wanted(const struct message_query *q, const struct claude_item_list *list)
{
    bool limited = q->has_limit && q->limit > 0;

    if (!limited || q->offset < 0 || claude_may_have_host_rows(list) ||
        q->offset > INT64_MAX - q->limit || (uint64_t)(q->offset + q->limit) > SIZE_MAX)
        return SIZE_MAX;
    return (size_t)(q->offset + q->limit);
}

struct printing {
    struct claude_log *log;
    const struct message_query *q;
    const struct claude_parent *parent;
    json_fn *fn;
    void *arg;
};

static enum err_code claude_print_messages(struct printing *p, const struct claude_item_list *list,
                                           struct err *e)
{
    struct buf out = { 0 };
    size_t from, to;
    enum err_code rc = ERR_OK;

    transcript_page(p->q, list->n, &from, &to);
    for (size_t i = from; !rc && i < to; i++) {
        struct slice row;
        struct jsonout j;

        if (p->q->cancel && atomic_load_explicit(p->q->cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, p->log->file.path, "list the messages");
        else
            rc = claude_item_row(p->log, &list->item[i], &row, e);
        if (rc)
            break;
        out.n = 0;
        jsonout_init(&j, &out);

        /* One row as the SDK returns it (claude.md 3.5), an object. The message itself is passed
         * through byte by byte. */
        struct slice v[FIELDS];

        json_get_each(row, names, FIELDS, v);
        jsonout_open(&j, '{');
        claude_write_value(&j, "type", v[TYPE]);
        claude_write_value(&j, "uuid", v[UUID]);
        claude_write_value(&j, "session_id", v[SESSION]);
        claude_write_value(&j, "message", v[MESSAGE]);
        jsonout_text_or_null(&j, "parent_tool_use_id", p->parent->tool_use_id);
        jsonout_text_or_null(&j, "parent_agent_id", p->parent->agent_id);
        flag(&j, "interruptedByShutdown", claude_messages_is_true(v[SHUTDOWN]));
        if (v[UNANSWERED].n && json_string_is(v[UNANSWERED], "stream-closed"))
            claude_write_value(&j, "toolDenialUnanswered", v[UNANSWERED]);
        if (v[DENIAL].n)
            write_denial(&j, row, v[DENIAL]);
        flag(&j, "isCompactSummary", claude_messages_is_true(v[SUMMARY]));
        flag(&j, "is_meta",
             claude_messages_is_true(v[META]) || claude_messages_is_true(v[SUMMARY]) ||
                 claude_messages_is_true(v[TRANSCRIPT_ONLY]));
        flag(&j, "isQueuedCommand", claude_messages_is_true(v[QUEUED]));
        flag(&j, "isCompletedLocalCommand",
             claude_messages_is_true(v[COMPLETED]) || list->item[i].flags & ITEM_COMPLETED);
        claude_write_value(&j, "timestamp", v[TIMESTAMP]);
        if (claude_truthy(v[ORIGIN]))
            claude_origin_write(&j, v[ORIGIN], (struct slice){ NULL, 0 });
        jsonout_close(&j, '}');

        rc = j.rc ? err_set(e, j.rc, p->log->file.path, "write a message")
                  : p->fn(buf_slice(&out), p->arg, e);
    }
    buf_fini(&out);
    return rc;
}

/* ---- the end of a conversation whose beginning was not read ---- */

/* This many messages at the beginning of what was read are uncertain, because related rows, such as those of calls that
 * ran in parallel, may be further up. */
enum { UNCERTAIN = 64 };

/* Returns how many of the messages are uncertain. Rows that a compaction kept belong after its boundary but are further
 * up. */
static size_t count_uncertain(const struct claude_log *log, const struct claude_item_list *path,
                              const struct claude_item_list *out)
{
    uint32_t first = path->n ? claude_line_node(log, path->item[0].line) : CHAIN_NONE;
    size_t n = 0;

    if (log->keeps) {
        for (size_t i = 0; i < out->n; i++)
            if (out->item[i].line <= log->boundary)
                n = i + 1;
        return n;
    }
    if (first != CHAIN_NONE && !claude_has_parent(log, first))
        return 0;
    return out->n < UNCERTAIN ? out->n : UNCERTAIN;
}

/* Returns true if a message after the uncertain ones is a result whose call was not read. */
static bool has_doubtful(const struct claude_hidden_rows *hidden,
                         const struct claude_item_list *path, const struct claude_item_list *out,
                         size_t uncertain)
{
    bool found = false;

    for (size_t i = uncertain; i < out->n && hidden->doubtful && !found; i++)
        found = out->item[i].line == path->item[hidden->doubtful - 1].line;
    return found;
}

static enum err_code leave_out_uncertain(struct printing *p,
                                         const struct claude_hidden_rows *hidden,
                                         const struct claude_item_list *path,
                                         struct claude_item_list *out, struct err *e)
{
    struct message_reach *end = p->q->reach;
    size_t n = count_uncertain(p->log, path, out), newest = out->n;
    bool known = true;
    enum err_code rc = ERR_OK;

    if (!p->q->as_sdk && p->q->agent.n == 0)
        rc = claude_leaf_is_read(p->log, &known, e);
    if (end->before.n) {
        /* The messages before the one with this id; none if it was not read. */
        const struct id128 wanted = id128_of(end->before);
        size_t i = 0;

        while (i < out->n && !id128_eq(claude_item_id(p->log, &out->item[i]), wanted))
            i++;
        newest = i < out->n ? i : 0;
    }
    end->enough =
        known && newest >= n && newest - n >= end->least && !has_doubtful(hidden, path, out, n);
    end->partial = true;
    if (!end->enough)
        n = out->n;
    memmove(out->item, out->item + n, (out->n - n) * sizeof *out->item);
    out->n -= n;
    return rc;
}

static enum err_code list_messages(struct printing *p, bool agent, struct err *e)
{
    struct claude_item_list list = { 0 }, out = { 0 };
    struct claude_hidden_rows hidden = { .end = 0 };
    struct claude_list_rows rows = { p->log, &list, p->q->cancel };
    enum err_code rc =
        agent ? list_agent(p->log, &list, e) : claude_list_session(p->log, p->q->as_sdk, &list, e);
    struct claude_item_filter how = { .agent = agent,
                                      .system_messages = p->q->system_messages,
                                      .most = items_wanted(p->q, &list),
                                      .hidden = agent || p->q->as_sdk ? NULL : &hidden };

    if (!rc && how.hidden)
        rc = claude_hidden_rows_init(&hidden, claude_list_rows(&rows), e);
    hidden.partial = p->log->partial;
    if (!rc)
        rc = claude_select_items(p->log, &list, &how, &out, e);
    if (!rc)
        rc = claude_host_hide_calls(p->log, &out, e);
    if (!rc && p->log->partial)
        rc = leave_out_uncertain(p, &hidden, &list, &out, e);
    if (!rc)
        rc = claude_print_messages(p, &out, e);
    claude_hidden_rows_fini(&hidden);
    claude_item_list_fini(&list);
    claude_item_list_fini(&out);
    return rc;
}

/* Reads only as much of the end of the file as the query needs. *done is false, and nothing was passed on, if that is
 * a large part of it, or not certain. */
static enum err_code list_newest_messages(struct printing *p, const char *path,
                                          struct claude_log_want want, bool *done, struct err *e)
{
    enum { FIRST = 512 << 10, MOST = 32 << 20, GROWS = 4, SHARE = 2 };
    struct message_reach *reach = p->q->reach;
    struct claude_log log;
    struct stat st;
    enum err_code rc = ERR_OK;
    const uint64_t most = stat(path, &st) == 0 ? (uint64_t)st.st_size / SHARE : 0;

    *done = false;
    p->log = &log;
    for (want.tail = FIRST; !rc && !*done && want.tail <= MOST && want.tail <= most;
         want.tail *= GROWS) {
        bool certain;

        TRY(claude_log_open(&log, path, &want, e));
        rc = claude_leaf_is_certain(&log, true, &certain, e);
        reach->enough = false;
        if (!rc && certain)
            rc = list_messages(p, false, e);
        claude_log_close(&log);
        *done = reach->enough;
    }

    /* If this was not enough the caller reads the whole file, which always is. */
    reach->partial &= *done;
    reach->enough = true;
    return rc;
}

static enum err_code claude_count_message(struct slice json, void *arg, struct err *e)
{
    size_t *n = arg;

    (void)json;
    (void)e;
    ++*n;
    return ERR_OK;
}

enum err_code claude_count_messages(struct claude_log *log, size_t *n, struct err *e)
{
    const struct message_query all = { .offset = 0 };
    const struct claude_parent none = { .agent_id = { NULL, 0 } };

    *n = 0;
    return list_messages(&(struct printing){ log, &all, &none, claude_count_message, n }, false, e);
}

/* The variable that turns the skipping off, read as the SDK reads it. */
static bool switched_on(const char *value)
{
    static const char *const yes[] = { "1", "true", "yes", "on" };
    struct slice text = utf8_js_trim((struct slice){ value, value ? strlen(value) : 0 });

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (text.n == strlen(yes[i]) && strncasecmp(text.p, yes[i], text.n) == 0)
            return true;
    return false;
}

enum err_code claude_messages(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct claude_log log;
    struct session_ref file = *ref;
    struct claude_parent parent = { { NULL, 0 }, { NULL, 0 } };
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS,
                                    .tail = q->reach ? q->reach->bytes : 0,
                                    .stop = q->cancel };
    enum err_code rc = ERR_OK;
    bool done = false;

    want.skip_precompact = !switched_on(st->env->claude_keep_precompact);
    if (q->agent.n) {
        if (!q->ref_is_agent)
            rc = claude_subagent(st, ref, q->agent, &a, &file, e);
        if (!rc && !q->ref_is_agent)
            rc = claude_agent_parent(&file, &a, &parent, e);
        want.kinds = CLAUDE_AGENT_KINDS;
        want.skip_precompact = false;
    }

    /* The newest messages can often be found in the end of the file alone. */
    if (!rc && q->reach && q->reach->least && !want.tail && !q->as_sdk && !q->agent.n)
        rc = list_newest_messages(&(struct printing){ NULL, q, &parent, fn, arg }, file.path.p,
                                  want, &done, e);
    if (!rc && !done)
        rc = claude_log_open(&log, file.path.p, &want, e);
    if (!rc && !done) {
        rc = list_messages(&(struct printing){ &log, q, &parent, fn, arg }, q->agent.n > 0, e);
        claude_log_close(&log);
    }
    arena_fini(&a);
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}
