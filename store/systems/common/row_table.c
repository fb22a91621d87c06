#include "store/systems/common/row_table.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"

enum { PATH_MOST = 96 };

/* ---- paths and conditions ---- */

/* json_at for a path that is a part of a longer text. */
static bool row_value_at(struct slice object, const char *path, size_t n, struct slice *value)
{
    char one[PATH_MOST];

    *value = (struct slice){ NULL, 0 };
    if (n >= sizeof one)
        return false;
    memcpy(one, path, n);
    one[n] = '\0';
    return json_at(object, one, value);
}

bool row_value(struct slice object, const char *path, struct slice *value)
{
    const char * or = strchr(path, '|');

    for (; or ; path = or +1, or = strchr(path, '|'))
        if (row_value_at(object, path, (size_t)(or -path), value))
            return true;
    return json_at(object, path, value);
}

bool row_is(struct slice object, const char *condition)
{
    const char *equals = strchr(condition, '=');
    struct slice value;

    if (!equals)
        return row_value(object, condition, &value) && json_type(value) == JSON_TRUE;
    bool negated = equals > condition && equals[-1] == '!';
    size_t n = (size_t)(equals - condition) - negated;

    return (row_value_at(object, condition, n, &value) && json_string_is(value, equals + 1)) !=
           negated;
}

struct slice row_text(struct slice object, const char *path, const char *part, struct arena *a)
{
    const char *member = part ? part : "text";
    bool texts = strcmp(member, "text") == 0;
    struct slice value, element, key, text, all = SLICE("");
    struct json_iter it;

    if (!row_value(object, path, &value))
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

/* ---- blocks ---- */

static struct slice row_string(struct slice object, const char *path, struct arena *a)
{
    struct slice value;

    return path && row_value(object, path, &value) ? json_text_of(value, a) : SLICE("");
}

/* The input of a call is always a JSON value. */
static struct slice row_input(const struct row_block *r, struct slice object, struct arena *a)
{
    struct slice input = SLICE("{}"), text;

    if (r->input)
        return row_value(object, r->input, &input) ? input : SLICE("{}");
    text = row_string(object, r->arguments, a);
    return json_valid(text) ? text : input;
}

/* A text that is empty is not a block. */
static void row_block_put(struct block_list *b, const struct row_block *r, struct slice object)
{
    struct arena *a = &b->arena;
    struct block x = { .kind = r->kind,
                       .call_id = row_string(object, r->call, a),
                       .name = row_string(object, r->name, a),
                       .failed = r->failed && row_is(object, r->failed) };

    if (r->text)
        x.text = row_text(object, r->text, r->part, a);
    else if (r->read)
        x.text = r->read(object, a);
    for (size_t i = 0; i < sizeof r->failures / sizeof *r->failures; i++)
        x.failed |= r->failures[i] && slice_starts(x.text, r->failures[i]);
    if (r->kind == BLOCK_TOOL_CALL)
        x.input = row_input(r, object, a);
    if (x.text.n || r->kind == BLOCK_TOOL_CALL || r->kind == BLOCK_TOOL_RESULT ||
        r->kind == BLOCK_IMAGE)
        transcript_block_put(b, x);
}

static void row_blocks_each(struct block_list *b, const struct row_block *r, struct slice object)
{
    struct slice list, key, element;
    struct json_iter it;

    if (!row_value(object, r->each, &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &element))
        if (!r->when || row_is(element, r->when))
            row_block_put(b, r, element);
}

void row_blocks_put(struct block_list *b, const struct row_block *r, struct slice object)
{
    for (; r->kind || r->text || r->read || r->each; r++)
        if (r->each)
            row_blocks_each(b, r, object);
        else if (!r->when || row_is(object, r->when))
            row_block_put(b, r, object);
}

/* ---- kinds of rows ---- */

/* The role of a row; empty if it has none. */
static struct slice row_role(const struct index_keys *keys, struct slice row, struct arena *a)
{
    struct slice outer = row, text = SLICE("");

    if (!keys->inner || json_get(row, keys->inner, &outer))
        json_get_text(outer, keys->type, a, &text);
    return text;
}

static bool row_kind_fits(const struct row_kind *k, struct slice role, struct slice row,
                          struct arena *a)
{
    return (!k->role || slice_eq(role, slice_of(k->role))) && (!k->when || row_is(row, k->when)) &&
           (!k->starts ||
            slice_starts(row_text(row, k->blocks[0].text, k->blocks[0].part, a), k->starts));
}

/* NULL: rows like this are left out. */
static const struct row_kind *row_kind_of(const struct jsonl_format *format, struct slice row,
                                          struct arena *a)
{
    const struct row_table *t = format->rows;
    struct slice role = row_role(format->keys, row, a);

    for (size_t i = 0; i < t->n; i++)
        if (row_kind_fits(&t->kind[i], role, row, a))
            return &t->kind[i];
    return NULL;
}

static bool row_kind_is_prompt(const struct row_kind *k)
{
    return k->kind == MESSAGE_USER && !(k->flags & MESSAGE_META) && !k->silent;
}

static struct slice row_prompt(const struct row_kind *k, struct slice row, struct arena *a)
{
    if (k->prompt)
        return k->prompt(row, a);
    for (const struct row_block *r = k->blocks; r->kind || r->text; r++)
        if (r->kind == BLOCK_PROMPT)
            return row_text(row, r->text, r->part, a);
    return SLICE("");
}

static enum message_kind row_message_kind(const struct row_kind *k, struct slice prompt)
{
    return k->prompt && !prompt.n ? k->untyped : k->kind;
}

/* The kind that the line index already knows, unless only the row itself shows it. */
static const struct row_kind *row_kind_known(const struct jsonl_format *format, uint8_t kind)
{
    const struct row_table *t = format->rows;
    const char *role = kind ? format->keys->kinds[kind - 1] : NULL;

    for (size_t i = 0; i < t->n; i++) {
        const struct row_kind *k = &t->kind[i];

        if (!k->role || (role && strcmp(k->role, role) == 0))
            return k->when || k->starts || k->prompt ? NULL : k;
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
    const struct row_kind *k = row_kind_known(format, ix->kind);
    enum message_kind kind = k ? k->kind : MESSAGE_OTHER;
    enum err_code rc = k ? ERR_OK : logfile_row(log, line, &row, e);

    if (!k && !rc && (k = row_kind_of(format, row, &a))) {
        kind = row_message_kind(k, k->prompt ? k->prompt(row, &a) : SLICE(""));
        if (format->rows->time && m->time_ms == TIME_NONE)
            m->time_ms = format->rows->time(row, &a);
    }
    if (a.failed)
        rc = err_nomem(e);
    arena_fini(&a);
    *keep = k && kind != MESSAGE_OTHER;
    if (k) {
        m->kind = (uint8_t)kind;
        m->flags = k->flags;
    }
    return rc;
}

enum err_code row_table_read(const struct jsonl_format *format, struct slice row, struct arena *a,
                             struct jsonl_row_facts *out)
{
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        return ERR_FORMAT;
    if (format->rows->time)
        out->time_ms = format->rows->time(row, a);
    else if (format->keys->time)
        out->time_ms = json_time_at(row, format->keys->time, a);
    const struct row_kind *k = row_kind_of(format, row, a);

    if (!k)
        return a->failed ? ERR_NOMEM : ERR_OK;
    if (row_kind_is_prompt(k))
        out->prompt = row_prompt(k, row, a);
    enum message_kind kind = row_message_kind(k, out->prompt);

    out->waits = !k->silent && (kind == MESSAGE_USER || kind == MESSAGE_TOOL);
    out->speaks = out->waits || (!k->silent && kind == MESSAGE_ASSISTANT);
    for (size_t i = 0; i < ROW_FACTS && k->facts[i].path; i++) {
        struct slice *field = (struct slice *)((char *)out + k->facts[i].field), value;
        bool found = row_value(row, k->facts[i].path, &value) && json_text(value, a, field);

        if (field == &out->title)
            out->names = found;
    }
    return a->failed ? ERR_NOMEM : ERR_OK;
}

enum err_code row_table_blocks(const struct store *st, struct slice row, struct block_list *out,
                               struct err *e)
{
    const struct jsonl_format *format = ((const struct jsonl_store *)st)->format;
    bool valid = json_valid(row) && json_type(row) == JSON_OBJECT;
    const struct row_kind *k = valid ? row_kind_of(format, row, &out->arena) : NULL;

    if (!k)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (k->put)
        k->put(out, row);
    else
        row_blocks_put(out, k->blocks, row);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}
