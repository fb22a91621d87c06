#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/show/item_list.h"

/* What the model's API refuses in a row, after which every resume of the session ends with the same error: the reports
 * quote "no low surrogate in string", "text content blocks must be non-empty", "image dimensions exceed max allowed
 * size: 8000 pixels" and "The PDF specified was not valid". Only the member `message` is sent.
 *
 * Other blocks are refused because of what else is sent, and the survey finds them: "tool_use ids were found without
 * tool_result blocks", and "max allowed size for many-image requests: 2000 pixels". Client 2.1.332 completes or leaves
 * out calls and results without their counterparts, older ones do not; so these are reported only where the transcript
 * ends with errors of the API about them. */

enum { IMAGE_SIDE_MOST = 8000, FRONT = 1024, TEXT = 120 };
/* With more images than this in a request each of them may have only so many pixels on a side. */
enum { IMAGES_FEW = 20, IMAGE_SIDE_OF_MANY = 2000 };

/* A block that is refused because of others. */
struct refused_block {
    int64_t row; /* its offset in the log */
    size_t at;   /* the place of the block in the row */
    const char *why;
    const char *what; /* "a call without its result" */
};

struct refused_blocks {
    struct refused_block *block; /* sorted */
    size_t n;
    const char *since; /* when the API began to refuse the conversation; NULL: it did not */
    int64_t since_row; /* the offset of the row that tells so */
};

struct cleaning {
    struct log_cleaning texts;
    const struct refused_blocks *others; /* may be NULL */
    int64_t offset;                      /* the offset of the row */
    const char *row;
};

/* ---- blocks ---- */

/* The first bytes of base64 in quotes. */
static size_t decode_front(struct slice quoted, unsigned char *to, size_t most)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    size_t n = 0, have = 0;

    for (size_t i = 1; i < quoted.n && n < most; i++) {
        const char *at = quoted.p[i] ? strchr(letters, quoted.p[i]) : NULL;

        if (!at)
            break;
        bits = (bits << 6 | (uint32_t)(at - letters)) & 0xffffff;
        have += 6;
        if (have >= 8)
            to[n++] = (unsigned char)(bits >> (have -= 8) & 0xff);
    }
    return n;
}

static uint32_t read_big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool judge_source(struct slice block, bool image, uint32_t most, char text[TEXT])
{
    enum { SIDES = 16, SIDES_END = 24 };
    unsigned char front[FRONT];
    struct slice source, data;

    if (!json_get(block, "source", &source) || !json_get(source, "data", &data) ||
        json_type(data) != JSON_STRING)
        return false;
    const size_t n = decode_front(data, front, sizeof front);

    if (!image) {
        struct slice kind;

        if (!json_get(source, "media_type", &kind) || !json_string_is(kind, "application/pdf") ||
            slice_find((const char *)front, n, "%PDF", 4))
            return false;
        snprintf(text, TEXT, "[a PDF document was here that is not valid]");
        return true;
    }
    if (n < SIDES_END || memcmp(front, "\x89PNG\r\n\x1a\n", 8) != 0)
        return false;
    const uint32_t w = read_big_endian(front + SIDES), h = read_big_endian(front + SIDES + 4);

    snprintf(text, TEXT, "[an image of %u x %u pixels was here]", (unsigned)w, (unsigned)h);
    return w > most || h > most;
}

static int refused_block_compare(const void *x, const void *y)
{
    const struct refused_block *a = x, *b = y;

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static bool judge_among_others(struct slice block, struct cleaning *c, char text[TEXT])
{
    const struct refused_block key = { .row = c->offset, .at = (size_t)(block.p - c->row) };
    const struct refused_block *found =
        c->others && c->others->n
            ? bsearch(&key, c->others->block, c->others->n, sizeof key, refused_block_compare)
            : NULL;

    if (!found)
        return false;
    c->texts.why = found->why;
    c->texts.repair = "replaces the block with a text";
    if (found->what)
        snprintf(text, TEXT, "[%s was here]", found->what);
    else
        judge_source(block, true, IMAGE_SIDE_OF_MANY, text);
    return true;
}

/* The text that takes the place of a block that is refused; returns false if it is fine. */
static bool judge_block(struct slice block, struct cleaning *c, char text[TEXT])
{
    struct slice kind, value;

    if (!json_get(block, "type", &kind))
        return false;
    if (judge_among_others(block, c, text))
        return true;
    if (json_string_is(kind, "text")) {
        if (!json_get(block, "text", &value) || !json_string_is(value, ""))
            return false;
        c->texts.why = "an empty text block: the API refuses it";
        snprintf(text, TEXT, "[an empty text was here]");
    } else if (json_string_is(kind, "image")) {
        if (!judge_source(block, true, IMAGE_SIDE_MOST, text))
            return false;
        c->texts.why = "an image with more than 8000 pixels on a side: the API refuses it";
    } else if (json_string_is(kind, "document")) {
        if (!judge_source(block, false, 0, text))
            return false;
        c->texts.why = "a PDF that is not valid: the API refuses it";
    } else {
        return false;
    }
    c->texts.repair = "replaces the block with a text";
    return true;
}

/* The blocks of a message, and those of the results of tools in it. */
static enum err_code clean_blocks(struct cleaning *c, struct slice owner, bool inner)
{
    struct json_iter it;
    struct slice block, kind;
    char text[TEXT];

    json_list_open(&it, owner, "content");
    while (json_list_next(&it, &block)) {
        if (json_type(block) != JSON_OBJECT)
            continue;
        if (judge_block(block, c, text)) {
            TRY(log_clean_texts(&c->texts, block.p));
            TRY(buf_addf(c->texts.out, "{\"type\":\"text\",\"text\":\"%s\"}", text));
            c->texts.done = block.p + block.n;
        } else if (!inner && json_get(block, "type", &kind) &&
                   json_string_is(kind, "tool_result")) {
            TRY(clean_blocks(c, block, true));
        }
    }
    return ERR_OK;
}

/* ---- one row ---- */

static bool has_blocks_of_others(const struct refused_blocks *others, int64_t offset)
{
    for (size_t i = 0; others && i < others->n; i++)
        if (others->block[i].row == offset)
            return true;
    return false;
}

enum err_code claude_refused_row(struct log_survey *survey, int64_t offset, struct slice row,
                                 struct buf *bytes, const char **why, const char **repair)
{
    static const char *const signs[] = { "\\ud",           "\\uD",
                                         "\\u0000",        "\"text\":\"\"",
                                         "\"text\": \"\"", "\"image\"",
                                         "\"document\"",   "\"content\":\"\"" };
    const struct refused_blocks *others = survey->found;
    struct cleaning c = { .texts = { .out = bytes, .half = LOG_HALF_REFUSED },
                          .others = others,
                          .offset = offset,
                          .row = row.p };
    struct slice type, message;
    size_t i = 0;

    /* Most rows have no sign of what is refused, and need not be parsed. */
    while (i < sizeof signs / sizeof *signs && !slice_has(row, signs[i]))
        i++;
    if ((i == sizeof signs / sizeof *signs && !has_blocks_of_others(others, offset)) ||
        !json_get(row, "type", &type) ||
        (!json_string_is(type, "user") && !json_string_is(type, "assistant")) ||
        !json_get(row, "message", &message) || json_type(message) != JSON_OBJECT)
        return ERR_OK;

    /* Only the message is sent, so the rest of the row is copied as it is. */
    TRY(buf_add(bytes, (struct slice){ row.p, (size_t)(message.p - row.p) }));

    struct slice content;

    c.texts.done = message.p;
    if (json_get(message, "content", &content) && json_string_is(content, "")) {
        c.texts.why = "an empty message: the API refuses it";
        c.texts.repair = "replaces it with a text";
        TRY(log_clean_texts(&c.texts, content.p));
        TRY(buf_add(c.texts.out, SLICE("\"[an empty text was here]\"")));
        c.texts.done = content.p + content.n;
    }
    TRY(clean_blocks(&c, message, false));
    TRY(log_clean_texts(&c.texts, message.p + message.n));

    TRY(buf_add(bytes, (struct slice){ c.texts.done, (size_t)(row.p + row.n - c.texts.done) }));
    if (!c.texts.repair) {
        bytes->n = 0;
        return ERR_OK;
    }

    /* A row that is newer than the first refusal cannot be its cause. */
    *repair = c.texts.repair;
    *why = others && others->since && offset < others->since_row
               ? arena_format(&survey->arena, "%s; every resume has failed since %s", c.texts.why,
                              others->since)
               : c.texts.why;
    return *why ? ERR_OK : ERR_NOMEM;
}

/* ---- what is refused because of others ---- */

struct surveying {
    struct logfile *log;
    struct log_survey *out;
    struct refused_blocks *found; /* in the arena of `out`, as is all below */
    bool about_calls;             /* the errors are */
    struct idset calls;           /* their numbers are indexes of `call` */
    struct refused_block *call;
    bool *answered;
    struct refused_block *image; /* those with more pixels than many may have */
    size_t images, large;
};

/* The scan does not look into longer rows either. */
static bool survey_reads(const struct index_line *line)
{
    enum { ROW_MOST = 16 << 20 };

    return line->state == LINE_OK && line->length <= ROW_MOST;
}

/* Finds the errors with which the transcript ends, and that no answer follows. */
static enum err_code survey_errors(struct surveying *s, struct err *e)
{
    static const char *const refusals[] = { "Error: 400", "invalid_request", "image" };
    struct slice row, type, time;

    for (size_t i = s->log->index.n; i-- > 0;) {
        if (!survey_reads(&s->log->index.line[i]))
            continue;
        TRY(logfile_row(s->log, i, &row, e));
        if (!json_get(row, "type", &type) || !json_string_is(type, "assistant"))
            continue;
        size_t k = 0;

        while (k < sizeof refusals / sizeof *refusals && !slice_has(row, refusals[k]))
            k++;
        if (!json_get_true(row, "isApiErrorMessage") || k == sizeof refusals / sizeof *refusals)
            break;
        s->about_calls |= slice_has(row, "tool_use") || slice_has(row, "tool_result");
        s->found->since_row = s->log->index.line[i].offset;
        s->found->since = "an unknown time";
        if (json_get_text(row, "timestamp", &s->out->arena, &time) && time.n > 16) {
            s->found->since = arena_format(&s->out->arena, "%.10s %.5s UTC", time.p, time.p + 11);
            NEED(s->found->since);
        }
    }
    return ERR_OK;
}

static enum err_code survey_refuse(struct surveying *s, struct refused_block block, struct err *e)
{
    struct refused_block *more =
        arena_grow(&s->out->arena, s->found->block, s->found->n, sizeof *more);

    NEED(more);
    s->found->block = more;
    more[s->found->n++] = block;
    return ERR_OK;
}

static enum err_code survey_call(struct surveying *s, struct slice block, struct id128 id,
                                 struct refused_block at, struct err *e)
{
    const size_t before = s->calls.n;
    uint32_t number;
    struct slice name;

    NEED(!idset_add(&s->calls, id, &number));
    if (number < before) {
        at.why = "a second call with the id of an earlier one: the API refuses it";
        at.what = "a second call with the same id";
        return survey_refuse(s, at, e);
    }
    at.why = "a call of a tool without its result: the API refuses it";
    at.what = json_get(block, "name", &name) && json_type(name) == JSON_STRING && name.n < 60 &&
                      !memchr(name.p, '\\', name.n)
                  ? arena_format(&s->out->arena, "a call of %.*s without its result",
                                 (int)name.n - 2, name.p + 1)
                  : "a call without its result";
    s->call = arena_grow(&s->out->arena, s->call, before, sizeof *s->call);
    s->answered = arena_grow(&s->out->arena, s->answered, before, sizeof *s->answered);
    NEED(at.what && s->call && s->answered);
    s->call[number] = at;
    s->answered[number] = false;
    return ERR_OK;
}

static enum err_code survey_result(struct surveying *s, struct id128 id, struct refused_block at,
                                   struct err *e)
{
    const uint32_t number = idset_find(&s->calls, id);

    if (!idset_has(&s->calls, id)) {
        at.why = "a result without its call: the API refuses it";
        at.what = "a result without its call";
    } else if (s->answered[number]) {
        at.why = "a second result of one call: the API refuses it";
        at.what = "a second result of a call";
    } else {
        s->answered[number] = true;
        return ERR_OK;
    }
    return survey_refuse(s, at, e);
}

/* The blocks of a message, and the images in the results of tools. */
static enum err_code survey_blocks(struct surveying *s, int64_t offset, const char *row,
                                   struct slice owner, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct json_iter it;
    struct slice block;
    struct id128 id;
    char text[TEXT];

    json_list_open(&it, owner, "content");
    while (json_list_next(&it, &block)) {
        struct refused_block at = { .row = offset, .at = (size_t)(block.p - row) };

        if (claude_block_is(block, "image")) {
            s->images++;
            if (!judge_source(block, true, IMAGE_SIDE_OF_MANY, text))
                continue;
            at.why = "an image with more than 2000 pixels on a side, and more than 20 images are "
                     "sent with it: the API refuses it";
            s->image = arena_grow(&s->out->arena, s->image, s->large, sizeof *s->image);
            NEED(s->image);
            s->image[s->large++] = at;
        } else if (claude_block_is(block, "tool_result")) {
            if (s->about_calls && claude_block_id(block, "tool_result", "tool_use_id", &a, &id))
                TRY(survey_result(s, id, at, e));
            TRY(survey_blocks(s, offset, row, block, e));
        } else if (s->about_calls && claude_block_id(block, "tool_use", "id", &a, &id)) {
            TRY(survey_call(s, block, id, at, e));
        }
    }
    return ERR_OK;
}

/* Judges the rows that a resume restores. */
static enum err_code survey_conversation(struct surveying *s, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    CLEANUP(claude_log_close) struct claude_log log = { .file.file.fd = -1 };
    CLEANUP(claude_item_list_fini) struct claude_item_list list = { .n = 0 };
    struct slice row, message;

    s->images = 0;
    TRY(claude_log_open(&log, s->log->path, &want, e));
    TRY(claude_resume_list(&log, &list, e));
    for (size_t i = 0; i < list.n; i++) {
        const size_t line = list.item[i].line;

        if (list.item[i].made.n || !survey_reads(claude_line(&log, line)))
            continue;
        TRY(logfile_row(&log.file, line, &row, e));
        if (json_get(row, "message", &message) && json_type(message) == JSON_OBJECT)
            TRY(survey_blocks(s, claude_line(&log, line)->offset, row.p, message, e));
    }

    /* A call that is newer than the refusal cannot be its cause. */
    for (size_t i = 0; i < s->calls.n; i++)
        if (!s->answered[i] && s->call[i].row < s->found->since_row)
            TRY(survey_refuse(s, s->call[i], e));

    /* The smaller limit holds only if there are many images. */
    for (size_t i = 0; i < s->large && s->images > IMAGES_FEW; i++)
        TRY(survey_refuse(s, s->image[i], e));
    if (s->found->n)
        qsort(s->found->block, s->found->n, sizeof *s->found->block, refused_block_compare);
    return ERR_OK;
}

enum err_code claude_survey(struct logfile *log, struct log_survey *out, struct err *e)
{
    struct surveying s = { .log = log, .out = out };

    s.found = arena_zalloc(&out->arena, sizeof *s.found);
    NEED(s.found);
    out->found = s.found;
    TRY(survey_errors(&s, e));

    struct slice row;

    for (size_t i = 0; i < s.log->index.n && s.images <= IMAGES_FEW; i++) {
        if (!survey_reads(&s.log->index.line[i]))
            continue;
        TRY(logfile_row(s.log, i, &row, e));
        for (const char *p = row.p;
             (p = slice_find(p, (size_t)(row.p + row.n - p), "\"image\"", 7)); p++)
            s.images++;
    }

    enum err_code rc = s.about_calls || s.images > IMAGES_FEW ? survey_conversation(&s, e) : ERR_OK;

    idset_fini(&s.calls);
    return rc;
}
