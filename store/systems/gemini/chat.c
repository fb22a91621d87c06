#include <fcntl.h>

#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "lite/json/json.h"
#include "store/systems/gemini/gemini.h"

enum { ID_MAX = 256 };

/* ---- the text of a file ---- */

static enum err_code gemini_read_text(const char *path, size_t max, struct gemini_chat *c,
                                      size_t *cut, struct err *e)
{
    struct file f;
    struct buf end = { 0 };
    enum err_code rc = file_open(AT_FDCWD, path, 0, &f, e);

    *cut = 0;
    if (rc)
        return rc;
    int64_t size = f.id.size;
    bool whole = size <= (int64_t)max * 2;

    rc = file_read_part(&f, 0, whole ? (size_t)size : max, &c->text, e);
    c->front = c->text.n;
    if (!rc && !whole) {
        *cut = c->text.n;
        rc = file_read_part(&f, size - (int64_t)max, max, &end, e);
        if (!rc && buf_add(&c->text, buf_slice(&end)))
            rc = err_nomem(e);
        c->partial = true;
    }
    buf_fini(&end);
    file_close(&f);
    return err_at(e, rc, path);
}

/* ---- the messages ---- */

struct reading {
    struct gemini_chat *chat;
    struct slice_set now, ever; /* ids */
};

enum { ID, TYPE, CONTENT, CALLS, THOUGHTS, TOKENS, SET, REWIND, MEMBERS };
static const char *const members[] = { "id",       "type",   "content", "toolCalls",
                                       "thoughts", "tokens", "$set",    "$rewindTo" };

static bool has_items(struct slice list)
{
    return json_type(list) == JSON_ARRAY && list.n > 2;
}

static struct gemini_message gemini_message_of(struct slice raw, const struct slice value[],
                                               struct arena *a)
{
    struct gemini_message m = { .raw = raw,
                                .type = value[TYPE],
                                .content = value[CONTENT],
                                .acts = has_items(value[CALLS]) || has_items(value[THOUGHTS]),
                                .complete = value[CALLS].n || value[TOKENS].n };

    m.id = json_text_of(value[ID], a);
    return m;
}

static struct gemini_message gemini_read_message(struct slice raw, struct arena *a)
{
    struct slice value[MEMBERS];

    json_get_each(raw, members, SET, value);
    return gemini_message_of(raw, value, a);
}

static bool upsert(struct arena *a, struct slice_set *ids, struct gemini_message **list, size_t *n,
                   struct gemini_message m, bool listed)
{
    uint32_t number;

    if (slice_set_add(ids, m.id, &number))
        return false;
    if (number < *n) {
        const struct gemini_message *old = &(*list)[number];

        /* A list is the state with which the program continues: earlier messages in it have lost
         * their calls and tokens, and results of tools have the id of the message that called them. */
        if (!listed || !(old->complete || (m.type.n && !slice_eq(old->type, m.type))))
            (*list)[number] = m;
        return true;
    }
    struct gemini_message *grown = arena_grow(a, *list, *n, sizeof *grown);

    if (!grown)
        return false;
    *list = grown;
    grown[(*n)++] = m;
    return true;
}

static void note_rewind(struct gemini_chat *c, size_t to)
{
    struct gemini_rewound *grown = arena_grow(&c->arena, c->rewound, c->rewound_n, sizeof *grown);

    if (!grown)
        return;
    c->rewound = grown;
    grown[c->rewound_n++] = (struct gemini_rewound){ c->ever_n, to };
}

static void gemini_put_message(struct reading *r, struct gemini_message m, bool listed)
{
    struct gemini_chat *c = r->chat;

    if (!m.id.n || m.id.n > ID_MAX)
        return;
    if (!upsert(&c->arena, &r->ever, &c->ever, &c->ever_n, m, listed)) {
        c->arena.failed = true;
        return;
    }
    if (listed) /* one that a rewind dropped comes back whole */
        m = c->ever[slice_set_find(&r->ever, m.id)];
    if (!upsert(&c->arena, &r->now, &c->message, &c->n, m, listed))
        c->arena.failed = true;
}

/* Keeps the first n messages. */
static void cut_to(struct reading *r, size_t n)
{
    struct gemini_chat *c = r->chat;
    uint32_t number;

    slice_set_fini(&r->now);
    r->now = (struct slice_set){ .n = 0 };
    c->n = n;
    for (size_t i = 0; i < n; i++)
        if (slice_set_add(&r->now, c->message[i].id, &number))
            c->arena.failed = true;
}

/* Reads the list with which the program continues. Messages that it leaves out (after a loop or a
 * compression) are kept for the reader; only a rewind drops messages. */
static void put_list(struct reading *r, struct slice list)
{
    struct slice key, raw;
    struct json_iter it;

    if (json_type(list) != JSON_ARRAY || !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &raw))
        if (json_type(raw) == JSON_OBJECT)
            gemini_put_message(r, gemini_read_message(raw, &r->chat->arena), true);
}

static void apply_set(struct reading *r, struct slice set)
{
    static const char *const names[] = { "summary", "messages" };
    struct slice value[2], summary;

    if (!json_get_each(set, names, 2, value))
        return;
    summary = json_text_of(value[0], &r->chat->arena);
    if (summary.n)
        r->chat->summary = summary;
    put_list(r, value[1]);
}

/* An older session is one document, with its messages in it. */
static void apply_metadata(struct reading *r, struct slice object)
{
    enum { SESSION, START, KIND, SUMMARY, MESSAGES, N };
    static const char *const names[] = { "sessionId", "startTime", "kind", "summary", "messages" };
    struct gemini_chat *c = r->chat;
    struct slice value[N], id, summary;

    json_get_each(object, names, N, value);
    id = json_text_of(value[SESSION], &c->arena);
    if (!id.n)
        return;
    if (!c->id.n) {
        c->id = id;
        c->start = json_text_of(value[START], &c->arena);
        c->sub_agent = json_string_is(value[KIND], "subagent");
    }
    summary = json_text_of(value[SUMMARY], &c->arena);
    if (summary.n)
        c->summary = summary;
    put_list(r, value[MESSAGES]);
}

static void apply_line(struct reading *r, struct slice line, bool torn)
{
    struct arena *a = &r->chat->arena;
    struct slice value[MEMBERS];

    if (json_type(line) != JSON_OBJECT || !json_valid(line)) {
        struct gemini_chat *c = r->chat;
        struct gemini_damaged *grown =
            line.n ? arena_grow(&c->arena, c->damaged, c->damaged_n, sizeof *grown) : NULL;

        if (grown) {
            c->damaged = grown;
            grown[c->damaged_n++] = (struct gemini_damaged){ c->n, line, torn };
        }

        return;
    }
    json_get_each(line, members, MEMBERS, value);
    if (value[SET].n)
        apply_set(r, value[SET]);
    else if (value[REWIND].n) {
        /* An unknown message drops all of them, as in the program. */
        struct slice id = json_text_at(line, "$rewindTo", a);

        uint32_t number = slice_set_find(&r->now, id);

        uint32_t place = slice_set_find(&r->ever, id);

        note_rewind(r->chat, place == SLICE_SET_NONE ? 0 : place);
        cut_to(r, number == SLICE_SET_NONE ? 0 : number);
    } else if (value[TYPE].n) {
        /* A rewind of files alone is only a message. */
        struct gemini_message m = gemini_message_of(line, value, a);

        gemini_put_message(r, m, false);
        if (json_string_is(m.type, "info") && json_type(m.content) == JSON_STRING &&
            json_string_is(m.content, "File changes reverted."))
            note_rewind(r->chat, 0);
    } else
        apply_metadata(r, line);
}

static void apply_text(struct reading *r, struct slice text, size_t cut)
{
    struct slice line, front = { text.p, cut ? cut : text.n };
    struct slice back = { text.p + cut, cut ? text.n - cut : 0 };
    bool torn, first = true;

    front = rows_skip_mark(front);
    text = cut ? text : front;
    if (!cut && json_valid(text)) { /* one document, which may have several lines */
        apply_line(r, text, false);
        return;
    }
    while (slice_line(&front, &line, &torn))
        apply_line(r, line, torn);
    while (slice_line(&back, &line, &torn)) {
        if (!first)
            apply_line(r, line, torn);
        first = false;
    }
}

enum err_code gemini_chat_read(const char *path, size_t max, struct gemini_chat *out, struct err *e)
{
    struct gemini_chat c = { .n = 0 };
    struct reading r = { .chat = &c };
    size_t cut;
    enum err_code rc = gemini_read_text(path, max, &c, &cut, e);

    if (!rc && c.text.n)
        apply_text(&r, buf_slice(&c.text), cut);
    slice_set_fini(&r.now);
    slice_set_fini(&r.ever);
    if (!rc && c.arena.failed)
        rc = err_nomem(e);
    if (rc)
        gemini_chat_fini(&c);
    else
        *out = c;
    return rc;
}

void gemini_chat_fini(struct gemini_chat *c)
{
    arena_fini(&c->arena);
    buf_fini(&c->text);
    *c = (struct gemini_chat){ .n = 0 };
}

/* ---- one message ---- */

static struct slice gemini_content_text(struct slice content, struct arena *a)
{
    /* The texts of the parts, up to the first that ends the prompt. */
    if (json_type(content) != JSON_ARRAY)
        return json_text_of(content, a);

    struct slice key, part, text = { NULL, 0 };
    struct buf all = { 0 };
    struct json_iter it;
    bool ok = true, end = false;

    if (json_iter_open(&it, content))
        while (ok && !end && json_iter_next(&it, &key, &part)) {
            struct slice own = json_type(part) == JSON_OBJECT ? json_text_at(part, "text", a)
                                                              : (struct slice){ NULL, 0 };

            /* The contents of files that a prompt names follow it as separate parts. */
            end = all.n && slice_starts(own, "\n--- Content from referenced files ---");
            if (own.n && !end)
                ok = (!all.n || !buf_add_byte(&all, '\n')) && !buf_add(&all, own);
        }
    a->failed |= !ok;
    if (all.n)
        text = arena_copy(a, buf_slice(&all));
    buf_fini(&all);
    return text;
}

struct slice gemini_text(struct slice raw, struct arena *a)
{
    struct slice content = { NULL, 0 };

    json_get(raw, "content", &content);
    return gemini_content_text(content, a);
}

static enum gemini_kind kind_of_user(struct slice text)
{
    while (text.n && (unsigned char)text.p[0] <= ' ')
        text = (struct slice){ text.p + 1, text.n - 1 };
    if (slice_starts(text, "<state_snapshot>"))
        return GEMINI_NOTE; /* what a compression left */
    return !text.n || slice_starts(text, "<session_context>") ||
                   slice_starts(text, "<hook_context>")
               ? GEMINI_HIDDEN
               : GEMINI_PROMPT;
}

enum gemini_kind gemini_kind(const struct gemini_message *m, struct arena *a, struct slice *text)
{
    *text = gemini_content_text(m->content, a);
    if (json_string_is(m->type, "user"))
        return kind_of_user(*text);
    if (json_string_is(m->type, "gemini"))
        return text->n || m->acts ? GEMINI_ANSWER : GEMINI_HIDDEN;
    return text->n ? GEMINI_NOTE : GEMINI_HIDDEN;
}

enum gemini_kind gemini_kind_of(struct slice raw, struct arena *a)
{
    struct gemini_message m = gemini_read_message(raw, a);
    struct slice text;

    return gemini_kind(&m, a, &text);
}
