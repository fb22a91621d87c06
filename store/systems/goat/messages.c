#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/api/host.h"
#include "store/api/transcript.h"
#include "store/systems/goat/entry.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/metadata.h"

/* The conversation in the words of CLI.md `messages`: what the host would load, line by line. */

struct listing_lines {
    uint32_t *line; /* owned */
    size_t n;
};

static enum err_code collect_message_lines(struct goat_log *log, const struct message_query *q,
                                           struct listing_lines *out, struct err *e)
{
    const struct index *ix = &log->file.index;
    enum err_code rc = ERR_OK;

    out->line = malloc((ix->n + 1) * sizeof *out->line);
    if (!out->line)
        return err_nomem(e);
    for (size_t i = 0; i < ix->n && !rc; i++) {
        enum goat_line_kind kind;
        enum message_kind message;

        rc = goat_log_kind(&log->file, i, &kind, &message, e);
        if (!rc && kind == GOAT_LINE_MESSAGE && (message != MESSAGE_SYSTEM || q->system_messages))
            out->line[out->n++] = (uint32_t)i;
    }
    return rc;
}

static enum err_code print_messages(struct goat_log *log, const struct listing_lines *lines,
                                    const struct session_ref *ref, const struct message_query *q,
                                    json_fn *fn, void *arg, struct err *e)
{
    struct buf out = { 0 };
    size_t from, to;
    enum err_code rc = ERR_OK;

    transcript_page(q, lines->n, &from, &to);
    for (size_t i = from; i < to && !rc; i++) {
        struct slice row;
        struct goat_entry entry;
        struct jsonout j;

        if (q->cancel && atomic_load_explicit(q->cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "list the messages");
        else
            rc = logfile_row(&log->file, lines->line[i], &row, e);
        if (rc)
            break;
        out.n = 0;
        row = utf8_js_trim(row);
        goat_entry_read(row, &entry);
        jsonout_init(&j, &out);
        goat_message_write(&j, row, &entry, ref->id);
        rc = j.rc ? err_set(e, j.rc, ref->path.p, "write a message") : fn(buf_slice(&out), arg, e);
    }
    buf_fini(&out);
    return rc;
}

enum err_code goat_messages(const struct store *st, const struct session_ref *ref,
                            const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct goat_log log;
    struct listing_lines lines = { 0 };
    enum err_code rc;

    (void)st;
    if (q->agent.n)
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read messages: Go sessions keep no sub-agents");
    rc = goat_log_open(&log, ref, q->cancel, e);
    if (rc)
        return err_wrap(e, rc, "read messages");
    rc = collect_message_lines(&log, q, &lines, e);
    if (!rc)
        rc = print_messages(&log, &lines, ref, q, fn, arg, e);
    free(lines.line);
    goat_log_close(&log);
    return rc ? err_wrap(e, rc, "read messages") : ERR_OK;
}

/* Everything that a host needs to go on: the messages up to the one that was asked for, itself included (goat.md B5,
 * LoadMessagesUpTo; a message that is not there is an error here, the host takes all of them), and how the last turn
 * ended. */

struct restoring {
    const struct store *store;
    const struct session_ref *ref;
    struct goat_log log;
    struct restore out;
};

static enum err_code append_restored(struct restoring *r, struct slice json, struct err *e)
{
    struct arena *a = &r->out.arena;
    struct slice *list = arena_grow(a, r->out.messages_json, r->out.messages, sizeof *list);
    struct slice copy = arena_copy(a, json);

    if (!list || !copy.p)
        return err_nomem(e);
    list[r->out.messages++] = copy;
    r->out.messages_json = list;
    return ERR_OK;
}

static enum err_code add_line(struct restoring *r, size_t line, struct err *e)
{
    struct goat_entry entry;
    struct buf out = { 0 };
    struct slice row;
    struct jsonout j;
    enum err_code rc = logfile_row(&r->log.file, line, &row, e);

    if (rc)
        return rc;
    row = utf8_js_trim(row);
    goat_entry_read(row, &entry);
    jsonout_init(&j, &out);
    goat_message_write(&j, row, &entry, r->ref->id);
    rc = j.rc ? err_nomem(e) : append_restored(r, buf_slice(&out), e);
    buf_fini(&out);
    return rc;
}

static enum err_code add_messages(struct restoring *r, struct slice at, size_t *last, struct err *e)
{
    const struct index *ix = &r->log.file.index;
    size_t end = ix->n;
    enum err_code rc = ERR_OK;

    if (at.n) {
        rc = goat_log_find(&r->log, at, &end, e);
        end++;
    }
    *last = SIZE_MAX;
    for (size_t i = 0; i < end && !rc; i++) {
        enum goat_line_kind kind;
        enum message_kind message;

        rc = goat_log_kind(&r->log.file, i, &kind, &message, e);
        if (rc || kind != GOAT_LINE_MESSAGE)
            continue;
        rc = add_line(r, i, e);
        if (message != MESSAGE_SYSTEM)
            *last = i;
    }
    return rc;
}

/* What a host says in the person's place when a turn was cut. */
static enum err_code add_continuation(struct restoring *r, struct err *e)
{
    char id[HOST_ID], time[TIME_TEXT];
    struct buf out = { 0 };
    struct jsonout j;

    host_generate_id(id);
    time_format(r->store->env->now_ms, time);
    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("user"));
    jsonout_member(&j, "uuid", (struct slice){ id, HOST_ID - 1 });
    jsonout_member(&j, "session_id", r->ref->id);
    jsonout_member(&j, "timestamp", slice_of(time));
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", SLICE("user"));
    jsonout_member(&j, "content", SLICE("Continue from where you left off."));
    jsonout_close(&j, '}');
    jsonout_key(&j, "parent_tool_use_id");
    jsonout_null(&j);
    jsonout_key(&j, "parent_agent_id");
    jsonout_null(&j);
    jsonout_close(&j, '}');
    enum err_code rc = j.rc ? err_nomem(e) : append_restored(r, buf_slice(&out), e);

    buf_fini(&out);
    return rc;
}

static enum err_code restore_interruption(struct restoring *r, size_t last, struct err *e)
{
    struct goat_entry entry;
    enum err_code rc;

    if (last == SIZE_MAX)
        return ERR_OK;
    rc = goat_log_entry(&r->log, last, &entry, e);
    if (rc)
        return rc;
    switch (goat_entry_role(&entry)) {
    case GOAT_USER:
        r->out.interruption = INTERRUPTION_PROMPT;
        r->out.prompt_json = r->out.messages_json[r->out.messages - 1];
        return ERR_OK;
    case GOAT_ASSISTANT:
        if (!goat_entry_calls(&entry))
            return ERR_OK;
        break;
    case GOAT_TOOL: break;
    default: return ERR_OK;
    }
    r->out.interruption = INTERRUPTION_TURN;
    return add_continuation(r, e);
}

static enum err_code restore_facts(struct restoring *r, struct err *e)
{
    struct arena *a = &r->out.arena;
    struct goat_metadata m;
    struct buf bytes = { 0 };
    struct stat st;
    const char *path = goat_path(r->ref, GOAT_METADATA, a);

    if (!path || goat_metadata_read(AT_FDCWD, path, &bytes, a, &m)) {
        buf_fini(&bytes);
        return err_nomem(e);
    }
    r->out.session_id = arena_copy(a, r->ref->id);
    r->out.cwd = arena_copy(a, m.text[GOAT_CWD]);
    if (!r->out.session_id.p || !r->out.cwd.p) {
        buf_fini(&bytes);
        return err_nomem(e);
    }
    if (r->out.cwd.n && stat(r->out.cwd.p, &st) == 0 && S_ISDIR(st.st_mode))
        r->out.command_cwd = r->out.cwd;
    buf_fini(&bytes);
    return m.why ? err_set(e, ERR_FORMAT, r->ref->path.p, "%s", m.why) : ERR_OK;
}

enum err_code goat_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                           struct restore *out, struct err *e)
{
    struct restoring r = { .store = st, .ref = ref };
    size_t last;
    enum err_code rc = goat_log_open(&r.log, ref, NULL, e);

    if (rc)
        return err_wrap(e, rc, "restore the session");
    rc = restore_facts(&r, e);
    if (!rc)
        rc = add_messages(&r, at, &last, e);
    if (!rc)
        rc = restore_interruption(&r, last, e);
    goat_log_close(&r.log);
    if (rc) {
        restore_fini(&r.out);
        return err_wrap(e, rc, "restore the session");
    }
    *out = r.out;
    return ERR_OK;
}
