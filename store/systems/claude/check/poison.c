#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"

/* What the model's API refuses in a row, after which every resume of the session ends with the same error: the reports
 * quote "no low surrogate in string", "text content blocks must be non-empty", "image dimensions exceed max allowed
 * size: 8000 pixels" and "The PDF specified was not valid". Only the member `message` is sent. */

enum { IMAGE_SIDE_MOST = 8000, FRONT = 1024, HALF = 6, TEXT = 120 };

struct cleaning {
    struct buf *out;
    const char *done; /* everything before it is in `out` */
    const char *why, *repair;
};

/* ---- halves of pairs ---- */

static int poison_unit(const char *p, const char *end)
{
    int unit = 0;

    if (end - p < HALF || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < HALF; i++) {
        const int c = p[i] | 0x20;
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static bool is_high(int unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(int unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

/* Copies valid JSON up to `end`. Backslashes are only in texts, where each begins an escape. */
static enum err_code copy_clean(struct cleaning *c, const char *end)
{
    const char *from = c->done;

    for (const char *p = c->done; p < end && (p = memchr(p, '\\', (size_t)(end - p)));) {
        const int unit = poison_unit(p, end);
        const int next = is_high(unit) ? poison_unit(p + HALF, end) : -1;

        if (is_low(next)) {
            p += 2 * HALF;
        } else if (unit == 0 || is_high(unit) || is_low(unit)) {
            c->why = unit ? "half of a pair of surrogates in a text: the API refuses it"
                          : "a NUL in a text: the API refuses it";
            c->repair = "replaces it with U+FFFD";
            TRY(buf_add(c->out, (struct slice){ from, (size_t)(p - from) }));
            TRY(buf_add(c->out, SLICE("\\ufffd")));
            from = p += HALF;
        } else {
            p += 2;
        }
    }
    c->done = end;
    return buf_add(c->out, (struct slice){ from, (size_t)(end - from) });
}

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

static bool judge_source(struct slice block, bool image, char text[TEXT])
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
    return w > IMAGE_SIDE_MOST || h > IMAGE_SIDE_MOST;
}

/* The text that takes the place of a block that is refused; returns false if it is fine. */
static bool judge_block(struct slice block, struct cleaning *c, char text[TEXT])
{
    struct slice kind, value;

    if (!json_get(block, "type", &kind))
        return false;
    if (json_string_is(kind, "text")) {
        if (!json_get(block, "text", &value) || !json_string_is(value, ""))
            return false;
        c->why = "an empty text block: the API refuses it";
        snprintf(text, TEXT, "[an empty text was here]");
    } else if (json_string_is(kind, "image")) {
        if (!judge_source(block, true, text))
            return false;
        c->why = "an image with more than 8000 pixels on a side: the API refuses it";
    } else if (json_string_is(kind, "document")) {
        if (!judge_source(block, false, text))
            return false;
        c->why = "a PDF that is not valid: the API refuses it";
    } else {
        return false;
    }
    c->repair = "replaces the block with a text";
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
            TRY(copy_clean(c, block.p));
            TRY(buf_addf(c->out, "{\"type\":\"text\",\"text\":\"%s\"}", text));
            c->done = block.p + block.n;
        } else if (!inner && json_get(block, "type", &kind) &&
                   json_string_is(kind, "tool_result")) {
            TRY(clean_blocks(c, block, true));
        }
    }
    return ERR_OK;
}

enum err_code claude_refused_row(struct slice row, struct buf *bytes, const char **why,
                                 const char **repair)
{
    static const char *const signs[] = { "\\ud",          "\\uD",           "\\u0000",
                                         "\"text\":\"\"", "\"text\": \"\"", "\"image\"",
                                         "\"document\"" };
    struct cleaning c = { .out = bytes, .done = row.p };
    struct slice type, message;
    size_t i = 0;

    while (i < sizeof signs / sizeof *signs && !slice_has(row, signs[i]))
        i++;
    if (i == sizeof signs / sizeof *signs || !json_get(row, "type", &type) ||
        (!json_string_is(type, "user") && !json_string_is(type, "assistant")) ||
        !json_get(row, "message", &message) || json_type(message) != JSON_OBJECT)
        return ERR_OK;
    TRY(buf_add(bytes, (struct slice){ row.p, (size_t)(message.p - row.p) }));
    c.done = message.p;
    TRY(clean_blocks(&c, message, false));
    TRY(copy_clean(&c, message.p + message.n));
    TRY(buf_add(bytes, (struct slice){ c.done, (size_t)(row.p + row.n - c.done) }));
    if (c.repair) {
        *why = c.why;
        *repair = c.repair;
    } else {
        bytes->n = 0;
    }
    return ERR_OK;
}
