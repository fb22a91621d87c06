#include "store/systems/common/row_table.h"

#include <assert.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"

/* Each agent logs its rows in another form of JSON. With a table for each form, an agent needs
 * hardly any code. One kind of row is chosen for three readers, which have to agree about it:
 *
 *   line of the index -> judge -> the kind of a message
 *   row               -> read  -> the facts for a list
 *   row               -> show  -> the blocks for a reader
 *
 * The judge is called for every line, so it reads a row only if the index cannot decide. A new
 * member of row_kind that makes a choice depend on the row must therefore be added to
 * row_kind_known. Conditions have no "or" and no nesting on purpose: whatever is harder is a
 * function that the table names. */

enum { PATH_MOST = 96 };

/* ---- paths and conditions ---- */

/* An object whose members many paths lead to: they are found once, as are those of the last object in it that a path
 * went through. */
struct row_view {
    struct json_members outer, inner;
};

static void row_view_open(struct row_view *v, struct slice object)
{
    json_members_read(&v->outer, object);
    v->inner.object = (struct slice){ NULL, 0 };
}

static bool row_view_inner(struct row_view *v, struct slice object, struct slice name,
                           struct slice *value)
{
    if (v->inner.object.p != object.p)
        json_members_read(&v->inner, object);
    return json_members_get(&v->inner, name, value);
}

/* A part of a path; *rest is what follows its dot, with .p NULL if it is the last part. */
static struct slice row_path_part(struct slice path, struct slice *rest)
{
    const char *dot = path.n ? memchr(path.p, '.', path.n) : NULL;

    *rest = dot ? (struct slice){ dot + 1, (size_t)(path.p + path.n - dot) - 1 }
                : (struct slice){ NULL, 0 };
    return dot ? (struct slice){ path.p, (size_t)(dot - path.p) } : path;
}

/* Finds the value at a path without alternatives, which may be a part of a longer text. */
static bool row_view_at(struct row_view *v, struct slice path, struct slice *value)
{
    struct slice rest, name = row_path_part(path, &rest);

    if (!json_members_get(&v->outer, name, value) || !rest.p)
        return value->p;
    name = row_path_part(rest, &rest);
    if (!row_view_inner(v, *value, name, value) || !rest.p)
        return value->p;
    char deeper[PATH_MOST];

    assert(rest.n < sizeof deeper);
    memcpy(deeper, rest.p, rest.n);
    deeper[rest.n] = '\0';
    return json_at(*value, deeper, value);
}

static bool row_view_value(struct row_view *v, const char *path, struct slice *value)
{
    const char * or = strchr(path, '|');

    for (; or ; path = or +1, or = strchr(path, '|'))
        if (row_view_at(v, (struct slice){ path, (size_t)(or -path) }, value))
            return true;
    return row_view_at(v, slice_of(path), value);
}

bool row_value(struct slice object, const char *path, struct slice *value)
{
    struct row_view v;

    row_view_open(&v, object);
    return row_view_value(&v, path, value);
}

/* One condition, without the "&" after it. */
static bool row_meets(struct row_view *v, const char *condition, size_t n)
{
    char one[PATH_MOST];
    struct slice value;

    assert(n < sizeof one);
    memcpy(one, condition, n);
    one[n] = '\0';
    char *equals = strchr(one, '='), *colon = strchr(one, ':');

    /* A comparison with a text. A member that is missing differs from every text. */
    if (equals) {
        char sign = equals > one ? equals[-1] : '\0';

        equals[sign == '!' || sign == '^' ? -1 : 0] = '\0';
        bool found = row_view_value(v, one, &value);

        if (sign == '^') {
            struct arena a = { 0 };

            found = found && slice_starts(json_text_of(value, &a), equals + 1);
            arena_fini(&a);
            return found;
        }
        return (found && json_string_is(value, equals + 1)) != (sign == '!');
    }

    /* A type after a colon, or the name alone for true. */
    if (colon)
        *colon = '\0';
    bool found = row_view_value(v, one, &value);

    if (!colon)
        return found && json_type(value) == JSON_TRUE;
    if (strcmp(colon + 1, "none") == 0)
        return !found;
    return found && (strcmp(colon + 1, "text") == 0    ? json_type(value) == JSON_STRING
                     : strcmp(colon + 1, "false") == 0 ? json_type(value) == JSON_FALSE
                                                       : true);
}

static bool row_view_is(struct row_view *v, const char *condition)
{
    const char *next;

    for (; (next = strchr(condition, '&')); condition = next + 1)
        if (!row_meets(v, condition, (size_t)(next - condition)))
            return false;
    return row_meets(v, condition, strlen(condition));
}

bool row_is(struct slice object, const char *condition)
{
    struct row_view v;

    row_view_open(&v, object);
    return row_view_is(&v, condition);
}

static struct slice row_view_text(struct row_view *v, const char *path, const char *part,
                                  struct arena *a)
{
    const char *member = part ? part : "text";
    bool texts = strcmp(member, "text") == 0;
    struct slice value, element, key, text, all = SLICE("");
    struct json_iter it;

    if (!row_view_value(v, path, &value))
        return all;
    if (json_text(value, a, &text))
        return texts ? text : all;
    if (json_type(value) == JSON_ARRAY && json_iter_open(&it, value))
        while (json_iter_next(&it, &key, &element))
            if ((!part || json_get_is(element, "type", part)) &&
                json_get_text(element, member, a, &text))
                all = arena_join(a, all, "\n", text);
    return all;
}

struct slice row_text(struct slice object, const char *path, const char *part, struct arena *a)
{
    struct row_view v;

    row_view_open(&v, object);
    return row_view_text(&v, path, part, a);
}

/* ---- blocks ---- */

static struct slice row_string(struct row_view *v, const char *path, struct arena *a)
{
    struct slice value;

    return path && row_view_value(v, path, &value) ? json_text_of(value, a) : SLICE("");
}

/* The input of a call is always a JSON value. */
static struct slice row_input(const struct row_block *r, struct row_view *v, struct arena *a)
{
    struct slice input = SLICE("{}"), text, member;
    struct buf without = { 0 };

    if (!r->input) {
        text = row_string(v, r->arguments, a);
        return json_valid(text) ? text : input;
    }
    if (!row_view_value(v, r->input, &input))
        return SLICE("{}");
    if (!r->drop || !json_get(input, r->drop, &member))
        return input;
    if (json_remove(&without, input, r->drop))
        a->failed = true;
    else
        input = arena_copy(a, buf_slice(&without));
    buf_fini(&without);
    return input;
}

struct slice row_whole(struct slice object, struct arena *a)
{
    (void)a;
    return object;
}

void row_put_compaction(struct block_list *b, struct slice object)
{
    (void)object;
    transcript_block_put_compaction(b, SLICE(""));
}

/* A text that is empty is not a block. */
static void row_block_put(struct block_list *b, const struct row_block *r, struct row_view *v)
{
    if (r->put) {
        r->put(b, v->outer.object);
        return;
    }
    struct arena *a = &b->arena;
    struct block x = { .kind = r->kind,
                       .call_id = row_string(v, r->call, a),
                       .name = row_string(v, r->name, a),
                       .failed = r->failed && row_view_is(v, r->failed) };

    if (r->text)
        x.text = row_view_text(v, r->text, r->part, a);
    else if (r->read)
        x.text = r->read(v->outer.object, a);
    for (size_t i = 0; i < sizeof r->failures / sizeof *r->failures; i++)
        x.failed |= r->failures[i] && slice_starts(x.text, r->failures[i]);
    if (r->kind == BLOCK_TOOL_CALL)
        x.input = row_input(r, v, a);
    if (r->base64)
        x.bytes = (int64_t)(row_string(v, r->base64, a).n / 4 * 3);
    if (x.text.n || r->empty || r->kind == BLOCK_TOOL_CALL || r->kind == BLOCK_TOOL_RESULT ||
        r->kind == BLOCK_IMAGE)
        transcript_block_put(b, x);
}

static bool row_block_is_last(const struct row_block *r)
{
    return !r->kind && !r->text && !r->read && !r->each && !r->put;
}

static void row_element_put(struct block_list *b, const struct row_block *r, struct slice element)
{
    struct row_view v;

    row_view_open(&v, element);
    if (r->when && !row_view_is(&v, r->when))
        return;
    if (r->parts)
        for (r = r->parts; r->when && !row_view_is(&v, r->when);)
            if (row_block_is_last(++r))
                return;
    row_block_put(b, r, &v);
}

static void row_blocks_each(struct block_list *b, const struct row_block *r, struct row_view *v)
{
    struct slice list, key, element, text;
    struct json_iter it;

    if (!row_view_value(v, r->each, &list))
        return;
    if (json_type(list) == JSON_OBJECT)
        row_element_put(b, r, list);
    else if (json_type(list) == JSON_ARRAY && json_iter_open(&it, list))
        while (json_iter_next(&it, &key, &element))
            row_element_put(b, r, element);
    else if (r->parts && !r->when && json_text(list, &b->arena, &text)) {
        if (r->parts->put)
            r->parts->put(b, list);
        else if (r->parts->text)
            transcript_block_put_text(b, r->parts->kind, text);
    }
}

const struct row_block row_blank[] = { { .kind = BLOCK_NOTE, .empty = true }, ROW_BLOCKS_END };

void row_blocks_put(struct block_list *b, const struct row_block *r, struct slice object)
{
    struct row_view v;

    row_view_open(&v, object);
    for (; !row_block_is_last(r); r++)
        if (r->each)
            row_blocks_each(b, r, &v);
        else if (!r->when || row_view_is(&v, r->when))
            row_block_put(b, r, &v);
}

/* ---- kinds of rows ---- */

static bool row_kind_fits(const struct row_kind *k, struct slice role, struct row_view *v,
                          struct arena *a)
{
    return (!k->role || slice_eq(role, slice_of(k->role))) &&
           (!k->when || row_view_is(v, k->when)) && (!k->fits || k->fits(v->outer.object)) &&
           (!k->starts ||
            slice_starts(row_view_text(v, k->blocks[0].text, k->blocks[0].part, a), k->starts));
}

static const struct row_kind *row_view_kind(const struct jsonl_format *format, struct row_view *v,
                                            struct arena *a)
{
    const struct row_table *t = format->rows;
    const struct slice type = slice_of(format->keys->type);
    struct slice value, role = SLICE(""); /* empty: the row has none */

    if (!format->keys->inner)
        json_members_get(&v->outer, type, &value);
    else if (json_members_get(&v->outer, slice_of(format->keys->inner), &value))
        row_view_inner(v, value, type, &value);
    json_text(value, a, &role);

    for (size_t i = 0; i < t->n; i++)
        if (row_kind_fits(&t->kind[i], role, v, a))
            return &t->kind[i];
    return NULL;
}

const struct row_kind *row_table_kind(const struct jsonl_format *format, struct slice row,
                                      struct arena *a)
{
    struct row_view v;

    row_view_open(&v, row);
    return row_view_kind(format, &v, a);
}

static bool row_kind_is_prompt(const struct row_kind *k)
{
    return k->kind == MESSAGE_USER && !(k->flags & MESSAGE_META) && !k->silent;
}

static struct slice row_prompt(const struct row_kind *k, struct row_view *v, struct arena *a)
{
    if (!row_kind_is_prompt(k))
        return SLICE("");
    if (k->prompt)
        return k->prompt(v->outer.object, a);
    for (const struct row_block *r = k->blocks; !row_block_is_last(r); r++)
        if (r->kind == BLOCK_PROMPT)
            return r->read ? r->read(v->outer.object, a) : row_view_text(v, r->text, r->part, a);
    return SLICE("");
}

static enum message_kind row_message_kind(const struct row_kind *k, struct slice prompt)
{
    return row_kind_is_prompt(k) && k->untyped && !prompt.n ? k->untyped : k->kind;
}

/* The kind that the line index already knows, unless only the row itself shows it. */
static const struct row_kind *row_kind_known(const struct jsonl_format *format, uint8_t kind)
{
    const struct row_table *t = format->rows;
    const char *role = kind ? format->keys->kinds[kind - 1] : NULL;

    for (size_t i = 0; i < t->n; i++) {
        const struct row_kind *k = &t->kind[i];

        if (!k->role || (role && strcmp(k->role, role) == 0))
            return k->when || k->starts || k->fits || k->untyped || t->time ? NULL : k;
    }
    return NULL;
}

enum err_code row_table_judge(const struct jsonl_format *format, struct logfile *log, size_t line,
                              struct message *m, bool *keep, struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    struct arena a = { 0 };
    struct slice row;

    m->kind = MESSAGE_OTHER;
    m->flags = MESSAGE_BROKEN;
    if (ix->state == LINE_BROKEN)
        return ERR_OK;
    m->flags = 0;

    /* The index alone gives the kind of most rows; only the others are read. */
    const struct row_kind *k = row_kind_known(format, ix->kind);
    enum message_kind kind = k ? k->kind : MESSAGE_OTHER;
    enum err_code rc = k ? ERR_OK : logfile_row(log, line, &row, e);

    struct row_view v;

    if (!k && !rc)
        row_view_open(&v, row);
    if (!k && !rc && (k = row_view_kind(format, &v, &a))) {
        kind = k->untyped ? row_message_kind(k, row_prompt(k, &v, &a)) : k->kind;
        if (format->rows->time && m->time_ms == TIME_NONE)
            m->time_ms = format->rows->time(row, &a);
    }
    if (a.failed)
        rc = err_nomem(e);
    arena_fini(&a);
    *keep = k && (kind != MESSAGE_OTHER || k->shown);
    if (k) {
        m->kind = (uint8_t)kind;
        m->flags =
            (uint16_t)(k->flags | (format->rows->agent && ix->marks & 1 ? MESSAGE_LEFT_OUT : 0));
    }
    return rc;
}

static void row_facts_read(const struct row_fact facts[static ROW_FACTS], struct row_view *v,
                           struct arena *a, struct jsonl_row_facts *out)
{
    for (size_t i = 0; i < ROW_FACTS && facts[i].path; i++) {
        struct slice *field = (struct slice *)((char *)out + facts[i].field), value;
        bool found = row_view_value(v, facts[i].path, &value) && json_text(value, a, field);

        if (field == &out->title)
            out->names = found;
    }
}

enum err_code row_table_read(const struct jsonl_format *format, struct slice row, bool valid,
                             struct arena *a, struct jsonl_row_facts *out)
{
    if ((!valid && !json_valid(row)) || json_type(row) != JSON_OBJECT)
        return ERR_FORMAT;
    struct slice value;
    struct row_view v;

    row_view_open(&v, row);
    if (format->rows->time)
        out->time_ms = format->rows->time(row, a);
    else if (!time_parse(row_string(&v, format->keys->time, a), &out->time_ms))
        out->time_ms = TIME_NONE;

    /* A row of a sub-agent is not part of the conversation, but its time counts. */
    if (format->rows->agent && json_members_get(&v.outer, slice_of(format->rows->agent), &value) &&
        json_type(value) == JSON_STRING)
        return a->failed ? ERR_NOMEM : ERR_OK;
    row_facts_read(format->rows->facts, &v, a, out);
    const struct row_kind *k = row_view_kind(format, &v, a);

    if (!k)
        return a->failed ? ERR_NOMEM : ERR_OK;
    out->prompt = row_prompt(k, &v, a);
    enum message_kind kind = row_message_kind(k, out->prompt);

    out->waits = !k->silent && (kind == MESSAGE_USER || kind == MESSAGE_TOOL);
    out->speaks = out->waits || (!k->silent && kind == MESSAGE_ASSISTANT);
    row_facts_read(k->facts, &v, a, out);
    if (k->read)
        k->read(row, a, out);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

enum err_code row_table_show(const struct jsonl_format *format, struct slice row,
                             struct block_list *out, struct err *e)
{
    const struct row_table *t = format->rows;
    struct slice contents = row;
    bool valid = json_valid(row) && (!t->contents || json_get(row, t->contents, &contents)) &&
                 json_type(contents) == JSON_OBJECT;
    const struct row_kind *k = valid ? row_table_kind(format, row, &out->arena) : NULL;

    if (!k)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (k->put)
        k->put(out, row);
    else
        row_blocks_put(out, k->blocks, row);
    if (!out->n && t->otherwise)
        row_blocks_put(out, t->otherwise, row);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code row_table_blocks(const struct store *st, struct slice row, struct block_list *out,
                               struct err *e)
{
    return row_table_show(((const struct jsonl_store *)st)->format, row, out, e);
}
