#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"

/* ---- which rows a reader sees ---- */

/* Marks the turns before it as dropped until the transcript is complete; then both are removed. */
enum { ROLLBACK_MARK = MESSAGE_CLEARED | MESSAGE_LEFT_OUT };
/* Likewise, marks what the events of a newer log repeat. */
enum { RAW_MARK = MESSAGE_LEFT_OUT };

static bool judge_kind(const struct codex_row *row, struct message *m, struct arena *a)
{
    switch (row->kind) {
    case CODEX_PROMPT: m->kind = MESSAGE_USER; return true;
    case CODEX_ANSWER:
    case CODEX_CALL: m->kind = MESSAGE_ASSISTANT; return true;
    case CODEX_THOUGHT: m->kind = MESSAGE_ASSISTANT; return codex_row_text(row, a).n > 0;
    case CODEX_RESULT:
    case CODEX_CHANGE: m->kind = MESSAGE_TOOL; return true;
    case CODEX_TASK:
        m->kind = MESSAGE_USER;
        m->flags = MESSAGE_META;
        return true;
    case CODEX_SUMMARY:
        m->kind = MESSAGE_SYSTEM;
        m->flags = MESSAGE_SEAM;
        return true;
    case CODEX_NOTE: m->kind = MESSAGE_SYSTEM; return true;
    case CODEX_ASKED:
    case CODEX_SAID:
        /* Only the oldest logs have these rows alone; in the others they repeat events and are removed later. */
        m->kind = row->kind == CODEX_ASKED ? MESSAGE_USER : MESSAGE_ASSISTANT;
        m->flags = RAW_MARK;
        return true;
    case CODEX_ROLLBACK:
        m->kind = MESSAGE_OTHER;
        m->flags = ROLLBACK_MARK;
        return true;
    default: return false;
    }
}

static enum err_code codex_judge_row(struct logfile *log, size_t line, struct message *m,
                                     bool *keep, struct err *e)
{
    struct arena a = { 0 };
    struct codex_row row;
    struct slice text;

    m->kind = MESSAGE_OTHER;
    if (log->index.line[line].state == LINE_BROKEN) {
        m->flags = MESSAGE_BROKEN;
        return ERR_OK;
    }
    enum err_code rc = logfile_row(log, line, &text, e);

    if (rc)
        return rc;
    *keep = codex_row_read(text, &a, &row) && judge_kind(&row, m, &a);
    if (*keep)
        m->id = id128_of(row.kind == CODEX_PROMPT ? codex_prompt_id(log, line, &a)
                                                  : codex_row_id(&row, &a));
    if (a.failed)
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
}

/* ---- the conversation ---- */

static size_t turns_of(const struct transcript *t, size_t i)
{
    struct buf row = { 0 };
    struct slice value;
    int64_t n = 0;

    if (transcript_read(t, i, &row, NULL) == ERR_OK &&
        json_at(buf_slice(&row), "payload.num_turns", &value) && !json_int(value, &n))
        n = 0;
    buf_fini(&row);
    return n > 0 ? (size_t)n : 0;
}

/* The number of the first n messages that remain without their last turns. */
static size_t without_turns(const struct transcript *t, size_t n, size_t turns)
{
    while (n > 0 && turns > 0) {
        const struct message *m = &t->message[--n];

        turns -= m->kind == MESSAGE_USER && !(m->flags & MESSAGE_META);
    }
    return n;
}

/* Calls are in the same form in all logs, so they prove nothing. */
static bool has_events(const struct transcript *t)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct codex_row row;
    bool found = false;

    for (size_t i = 0; i < t->n && !found; i++) {
        arena_reset(&a);
        found = t->message[i].kind != MESSAGE_TOOL && !(t->message[i].flags & RAW_MARK) &&
                transcript_read(t, i, &text, NULL) == ERR_OK &&
                codex_row_read(buf_slice(&text), &a, &row) &&
                (row.kind == CODEX_PROMPT || row.kind == CODEX_ANSWER);
    }
    buf_fini(&text);
    arena_fini(&a);
    return found;
}

static void leave_out_repeated(struct transcript *t)
{
    bool any = false;
    size_t n = 0;

    for (size_t i = 0; i < t->n && !any; i++)
        any = (t->message[i].flags & ROLLBACK_MARK) == RAW_MARK;

    bool repeated = any && has_events(t);

    for (size_t i = 0; i < t->n; i++) {
        bool raw = (t->message[i].flags & ROLLBACK_MARK) == RAW_MARK;

        if (raw && repeated)
            continue;
        t->message[n] = t->message[i];
        if (raw)
            t->message[n].flags &= (uint16_t)~RAW_MARK;
        n++;
    }
    t->n = n;
}

static void remove_reverted(struct transcript *t)
{
    size_t n = 0;

    leave_out_repeated(t);
    for (size_t i = 0; i < t->n; i++) {
        if ((t->message[i].flags & ROLLBACK_MARK) == ROLLBACK_MARK)
            n = without_turns(t, n, turns_of(t, i));
        else
            t->message[n++] = t->message[i];
    }
    t->n = n;
}

static bool codex_show_is_packed(const struct session_ref *ref)
{
    return ref->path.n > 4 && memcmp(ref->path.p + ref->path.n - 4, ".zst", 4) == 0;
}

/* Returns true if this log continues other ones, for which only its first line is read. */
static enum err_code codex_continues(const struct session_ref *ref, bool *yes, struct err *e)
{
    enum { FIRST = 64 << 10, MOST = 16 << 20 };
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct rollout_base base = { .end = 0 };
    bool whole = false;
    enum err_code rc = ERR_OK;

    for (size_t max = FIRST; !rc && max <= MOST; max *= 16) {
        text.n = 0;
        rc = rollout_text(ref->path.p, max, &text, &whole, e);
        if (rc || whole || memchr(text.p, '\n', text.n))
            break;
    }
    if (!rc && text.n) {
        const char *end = memchr(text.p, '\n', text.n);

        rollout_base_read((struct slice){ text.p, end ? (size_t)(end - text.p) : text.n }, &a,
                          &base);
    }
    *yes = base.id.n > 0;
    buf_fini(&text);
    arena_fini(&a);
    return rc;
}

enum err_code codex_load(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    bool joined = codex_show_is_packed(ref);

    if (!joined)
        TRY(codex_continues(ref, &joined, e));
    if (joined) {
        AUTO_BUF text = { 0 };

        TRY(rollout_compose(st->path, ref->path.p, &text, e));
        TRY(jsonl_load_bytes(&codex_format, ref, &text, cancel, out, e));
    } else {
        TRY(jsonl_load(st, ref, cancel, out, e));
    }
    remove_reverted(*out);
    return ERR_OK;
}

/* Only the end of an unpacked log is read; if that is the whole log, the logs that it continues are
 * shown as well. */
enum err_code codex_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct transcript *t = NULL;
    bool joined = false;
    enum err_code rc =
        codex_show_is_packed(ref) ? ERR_OK : jsonl_tail(st, ref, bytes, cancel, &t, e);

    if (rc)
        return rc;
    if (t && !t->partial)
        rc = codex_continues(ref, &joined, e);
    if (!rc && (!t || joined)) {
        transcript_free(t);
        return codex_load(st, ref, cancel, out, e);
    }
    if (rc) {
        transcript_free(t);
        return rc;
    }
    remove_reverted(t);
    *out = t;
    return ERR_OK;
}

static struct slice message_id(struct slice line, struct arena *a)
{
    struct codex_row row;

    return codex_row_read(line, a, &row) ? codex_row_id(&row, a) : (struct slice){ NULL, 0 };
}

const struct jsonl_format codex_format = { .keys = &codex_keys,
                                           .judge = codex_judge_row,
                                           .id = message_id,
                                           .variable = "CODEX_HOME",
                                           .home = ".codex",
                                           .size = sizeof(struct codex),
                                           .needs_folder = true };

/* ---- blocks ---- */

/* The arguments of a function are JSON in a string; those of a custom tool are any text. */
static struct slice codex_input_of(const struct codex_row *row, struct arena *a)
{
    struct slice raw, text = json_text_at(row->item, "arguments", a);

    if (text.n && json_type(text) == JSON_OBJECT && json_valid(text))
        return text;
    if (json_get(row->item, "input", &raw) || json_get(row->item, "arguments", &raw) ||
        json_get(row->item, "action", &raw))
        return raw;
    return SLICE("{}");
}

/* The output is a text, a list of parts, or an object with the text as its content. */
static void codex_put_result(struct block_list *b, const struct codex_row *row)
{
    struct block result = { .kind = BLOCK_TOOL_RESULT,
                            .call_id = json_text_at(row->item, "call_id", &b->arena),
                            .text = json_text_at(row->item, "output", &b->arena) };
    struct slice raw;

    if (!result.text.n && json_get(row->item, "output", &raw)) {
        struct codex_row parts = *row;
        struct buf object = { 0 };

        parts.kind = CODEX_ANSWER;
        if (json_type(raw) == JSON_OBJECT) {
            result.text = json_text_at(raw, "content", &b->arena);
        } else if (!buf_add(&object, SLICE("{\"content\":")) && !buf_add(&object, raw) &&
                   !buf_add_byte(&object, '}')) {
            parts.item = arena_copy(&b->arena, buf_slice(&object));
            result.text = codex_row_text(&parts, &b->arena);
        }
        buf_fini(&object);
    }
    transcript_block_put(b, result);
}

/* ---- patches ---- */

struct hunk_line {
    unsigned start, lines;
};

static bool codex_read_range(const char **p, const char *end, char sign, struct hunk_line *out)
{
    char *next;

    while (*p < end && **p != sign)
        ++*p;
    if (*p == end)
        return false;
    out->start = (unsigned)strtoul(*p + 1, &next, 10);
    out->lines = 1;
    if (next < end && *next == ',')
        out->lines = (unsigned)strtoul(next + 1, &next, 10);
    *p = next;
    return true;
}

static bool open_hunk(struct jsonout *j, struct slice line)
{
    const char *p = line.p, *end = line.p + line.n;
    struct hunk_line old, new;

    if (!codex_read_range(&p, end, '-', &old) || !codex_read_range(&p, end, '+', &new))
        return false;
    jsonout_open(j, '{');
    jsonout_int_member(j, "oldStart", old.start);
    jsonout_int_member(j, "oldLines", old.lines);
    jsonout_int_member(j, "newStart", new.start);
    jsonout_int_member(j, "newLines", new.lines);
    jsonout_key(j, "lines");
    jsonout_open(j, '[');
    return true;
}

static void close_hunk(struct jsonout *j, bool open)
{
    if (!open)
        return;
    jsonout_close(j, ']');
    jsonout_close(j, '}');
}

static struct slice patch_json(struct slice diff, struct arena *a)
{
    struct buf out = { 0 };
    struct jsonout j;
    struct slice line;
    bool torn, open = false;

    jsonout_init(&j, &out);
    jsonout_open(&j, '[');
    while (slice_line(&diff, &line, &torn)) {
        if (slice_starts(line, "@@")) {
            struct slice text = arena_copy(a, line);

            close_hunk(&j, open);
            open = text.p && open_hunk(&j, text);
        } else if (open && line.n && strchr("+- ", line.p[0])) {
            jsonout_text(&j, line);
        }
    }
    close_hunk(&j, open);
    jsonout_close(&j, ']');
    a->failed |= j.rc != ERR_OK;
    struct slice json = arena_copy(a, buf_slice(&out));

    buf_fini(&out);
    return json;
}

static void put_changed_file(struct block_list *b, struct slice call, struct slice path,
                             struct slice change)
{
    struct arena *a = &b->arena;
    struct slice name = { NULL, 0 }, diff = json_text_at(change, "unified_diff", a),
                 moved = json_text_at(change, "move_path", a),
                 type = json_text_at(change, "type", a);
    struct block result = { .kind = BLOCK_TOOL_RESULT, .call_id = call };

    if (!json_text(path, a, &name))
        return;
    result.text.p = arena_format(a, "%.*s %.*s%s%.*s", SLICE_ARG(type), SLICE_ARG(name),
                                 moved.n ? " -> " : "", SLICE_ARG(moved));
    result.text.n = result.text.p ? strlen(result.text.p) : 0;
    if (diff.n)
        result.patch = patch_json(diff, a);
    transcript_block_put(b, result);
}

static void codex_put_message(struct block_list *b, const struct codex_row *row,
                              enum block_kind kind)
{
    struct block said = { .kind = kind, .text = codex_row_text(row, &b->arena) };

    if (kind == BLOCK_NOTE)
        said.name =
            row->kind == CODEX_TASK ? SLICE("agent") : json_text_at(row->item, "type", &b->arena);
    transcript_block_put(b, said);
}

enum err_code codex_blocks(const struct store *st, struct slice line, struct block_list *out,
                           struct err *e)
{
    struct codex_row row;
    struct json_iter it;

    (void)st;

    /* A line that is not a row is shown as it is. */
    if (!codex_row_read(line, &out->arena, &row)) {
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = line });
        return out->arena.failed ? err_nomem(e) : ERR_OK;
    }
    switch (row.kind) {
    case CODEX_PROMPT:
    case CODEX_ASKED: codex_put_message(out, &row, BLOCK_PROMPT); break;
    case CODEX_ANSWER:
    case CODEX_SAID: codex_put_message(out, &row, BLOCK_TEXT); break;
    case CODEX_THOUGHT: codex_put_message(out, &row, BLOCK_THINKING); break;
    case CODEX_SUMMARY:
        transcript_block_put_compaction(out, codex_row_text(&row, &out->arena));
        break;
    case CODEX_CALL: {
        struct block call = { .kind = BLOCK_TOOL_CALL,
                              .name = json_text_at(row.item, "name", &out->arena),
                              .input = codex_input_of(&row, &out->arena),
                              .call_id = json_text_at(row.item, "call_id", &out->arena) };

        if (!call.name.n)
            call.name = json_text_at(row.item, "type", &out->arena);
        transcript_block_put(out, call);
    } break;
    case CODEX_RESULT: codex_put_result(out, &row); break;
    case CODEX_CHANGE: {
        struct slice key, change, changes, call = codex_row_id(&row, &out->arena);

        if (json_get(row.item, "changes", &changes) && json_type(changes) == JSON_OBJECT &&
            json_iter_open(&it, changes)) {
            while (json_iter_next(&it, &key, &change))
                put_changed_file(out, call, key, change);
        }
    } break;
    default: codex_put_message(out, &row, BLOCK_NOTE); break;
    }

    /* A row without a block of its own is shown as a note, so that no line is missing. */
    if (out->n == 0)
        codex_put_message(out, &row, BLOCK_NOTE);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}
