#include "store/systems/claude/list/discover.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"

enum { PROMPT_UNITS = 200, TITLE_MOST = 4096, TAG_NAME_MOST = 64 };

#define PASTE_OPEN "<pasted_content id=\""
#define PASTE_CLOSE "\n</pasted_content id=\"hhhh\">"
enum {
    PASTE_ID = sizeof PASTE_OPEN - 1, /* offset of the four digits in the opening tag */
    PASTE_BODY = PASTE_ID + 4 + 3,    /* after digits, quote, bracket and newline */
    PASTE_CLOSE_SIZE = sizeof PASTE_CLOSE - 1,
    PASTE_CLOSE_ID = PASTE_CLOSE_SIZE - 6,
};

static struct slice claude_skip_front(struct slice text, size_t n)
{
    return (struct slice){ text.p + n, text.n - n };
}

/* ---- pasted blocks ---- */

static bool is_paste_open(struct slice text)
{
    if (text.n < PASTE_BODY || memcmp(text.p + PASTE_ID + 4, "\">\n", 3) != 0)
        return false;
    return slice_is_of((struct slice){ text.p + PASTE_ID, 4 }, "0123456789abcdef");
}

static bool next_paste(struct slice text, const char **open)
{
    for (;;) {
        *open = slice_find(text.p, text.n, PASTE_OPEN, PASTE_ID);
        if (!*open)
            return false;
        text = claude_skip_front(text, (size_t)(*open - text.p));
        if (is_paste_open(text))
            return true;
        text = claude_skip_front(text, PASTE_ID);
    }
}

static size_t append_range(char *out, size_t at, const char *from, const char *to)
{
    memcpy(out + at, from, (size_t)(to - from));
    return at + (size_t)(to - from);
}

/* Keeps the bodies and removes the tags around them, with up to two newlines on each side. A block without an end
 * stops the unwrapping. */
static bool unwrap_pasted(struct slice text, struct arena *a, struct slice *out)
{
    const char *open, *close;
    size_t n = 0;

    *out = text;
    if (!next_paste(text, &open))
        return true;
    char *plain = arena_alloc(a, text.n);

    if (!plain)
        return false;
    while (next_paste(text, &open)) {
        struct slice block = claude_skip_front(text, (size_t)(open - text.p));

        /* The search for the end of a block begins at the newline before its body, which may be empty. */
        char close_tag[] = PASTE_CLOSE;
        struct slice rest = claude_skip_front(block, PASTE_BODY - 1);

        memcpy(close_tag + PASTE_CLOSE_ID, block.p + PASTE_ID, 4);
        close = slice_find(rest.p, rest.n, close_tag, PASTE_CLOSE_SIZE);
        if (!close)
            break;
        for (int i = 0; i < 2 && open > text.p && open[-1] == '\n'; i++)
            open--;
        n = append_range(plain, n, text.p, open);
        if (close > block.p + PASTE_BODY)
            n = append_range(plain, n, block.p + PASTE_BODY, close);
        text = claude_skip_front(text, (size_t)(close + PASTE_CLOSE_SIZE - text.p));
        for (int i = 0; i < 2 && slice_starts(text, "\n"); i++)
            text = claude_skip_front(text, 1);
    }
    n = append_range(plain, n, text.p, text.p + text.n);
    *out = (struct slice){ plain, n };
    return true;
}

/* ---- one text ---- */

static bool newlines_to_spaces(struct slice text, struct arena *a, struct slice *line)
{
    if (memchr(text.p, '\n', text.n)) {
        text = arena_copy(a, text);
        if (!text.p)
            return false;
        for (char *p = (char *)text.p; (p = memchr(p, '\n', (size_t)(text.p + text.n - p)));)
            *p = ' ';
    }
    *line = utf8_js_trim(text);
    return true;
}

bool prompt_between(struct slice text, const char *open, const char *close, struct slice *inner)
{
    const char *p = slice_find(text.p, text.n, open, strlen(open));

    if (!p)
        return false;
    struct slice rest = claude_skip_front(text, (size_t)(p - text.p) + strlen(open));
    const char *end = slice_find(rest.p, rest.n, close, strlen(close));

    if (!end)
        return false;
    *inner = (struct slice){ rest.p, (size_t)(end - rest.p) };
    return true;
}

/* A name may not contain a line end (of those that are left: CR, U+2028, U+2029). */
static bool command_name(struct slice text, struct slice *name)
{
    while (prompt_between(text, "<command-name>", "</command-name>", name)) {
        if (!slice_has(*name, "\r") && !slice_has(*name, "\xE2\x80\xA8") &&
            !slice_has(*name, "\xE2\x80\xA9"))
            return true;
        text = claude_skip_front(text, (size_t)(name->p - text.p));
    }
    return false;
}

static bool claude_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* A text that the agent wrote in the person's name: <tag ...>, or a note of an interruption. */
static bool written_by_agent(struct slice text)
{
    if (slice_starts(text, "[Request interrupted by user"))
        return memchr(text.p, ']', text.n) != NULL;
    if (text.n < 3 || text.p[0] != '<' || text.p[1] < 'a' || text.p[1] > 'z')
        return false;
    struct slice rest = claude_skip_front(text, 2);

    while (rest.n && claude_is_word(rest.p[0]))
        rest = claude_skip_front(rest, 1);
    return rest.n && (rest.p[0] == '>' || utf8_is_js_space(utf8_next(&rest, true)));
}

static bool claude_join_texts(const char *before, struct slice text, const char *after,
                              struct arena *a, struct slice *out)
{
    const struct slice all[] = { slice_of(before), text, slice_of(after) };
    char *p = arena_concat(a, all, 3);

    if (p)
        *out = (struct slice){ p, all[0].n + text.n + all[2].n };
    return p != NULL;
}

static bool prompt_of_text(struct slice text, struct arena *a, struct prompt *out)
{
    struct slice line, inner;

    if (!unwrap_pasted(text, a, &line) || !newlines_to_spaces(line, a, &line))
        return false;
    if (!line.n)
        return true;
    if (command_name(line, &inner)) {
        if (!out->command.n)
            out->command = inner;
        return true;
    }
    if (prompt_between(line, "<bash-input>", "</bash-input>", &inner))
        return claude_join_texts("! ", utf8_js_trim(inner), "", a, &out->text);
    if (written_by_agent(line))
        return true;
    if (utf8_utf16_length(line) > PROMPT_UNITS)
        return claude_join_texts("", utf8_js_trim(utf8_utf16_prefix(line, PROMPT_UNITS)),
                                 "\xE2\x80\xA6", a, &out->text);
    out->text = line;
    return true;
}

/* ---- titles ---- */

/* Sets *tags to a pair of tags at the beginning of the text: its name, perhaps attributes, and the first end of it. */
static bool prompt_tags_at(struct slice text, struct slice *tags)
{
    char close[TAG_NAME_MOST + 4];
    size_t name = 1;

    if (text.n < 3 || text.p[0] != '<' || text.p[1] < 'a' || text.p[1] > 'z')
        return false;
    while (name < text.n && claude_is_word(text.p[name]))
        name++;
    const char *open = memchr(text.p + name, '>', text.n - name);

    if (!open || name > TAG_NAME_MOST ||
        (open != text.p + name &&
         !utf8_is_js_space(utf8_next(&(struct slice){ text.p + name, text.n - name }, true))))
        return false;
    int n = snprintf(close, sizeof close, "</%.*s>", (int)name - 1, text.p + 1);
    const char *end = slice_find(open + 1, (size_t)(text.p + text.n - open) - 1, close, (size_t)n);

    if (end)
        *tags = (struct slice){ text.p, (size_t)(end + n - text.p) };
    return end != NULL;
}

bool prompt_without_tags(struct slice title, struct arena *a, struct slice *out)
{
    struct slice tags;
    size_t n = 0;

    if (title.n > TITLE_MOST || !slice_has(title, "</"))
        return true;
    char *kept = arena_alloc(a, title.n);

    if (!kept)
        return false;
    for (struct slice rest = title; rest.n;) {
        if (!prompt_tags_at(rest, &tags)) {
            kept[n++] = rest.p[0];
            rest = claude_skip_front(rest, 1);
            continue;
        }
        rest = claude_skip_front(rest, tags.n);
        /* One of the blanks around the pair is enough. */
        if (slice_starts(rest, "\n") || (slice_starts(rest, " ") && n && kept[n - 1] == ' '))
            rest = claude_skip_front(rest, 1);
    }
    struct slice shown = utf8_js_trim((struct slice){ kept, n });

    if (n < title.n && shown.n)
        *out = shown;
    return true;
}

/* ---- rows ---- */

static bool has_tool_result(struct slice blocks)
{
    struct json_iter it;
    struct slice key, block;

    if (!json_iter_open(&it, blocks))
        return false;
    while (json_iter_next(&it, &key, &block))
        if (json_get_is(block, "type", "tool_result"))
            return true;
    return false;
}

bool prompt_of_content(struct slice content, struct arena *a, struct prompt *out)
{
    struct json_iter it;
    struct slice key, block, text;

    if (json_type(content) == JSON_STRING)
        return json_text(content, a, &text) && prompt_of_text(text, a, out);
    if (json_type(content) != JSON_ARRAY || has_tool_result(content))
        return true;
    if (!json_iter_open(&it, content))
        return true;
    while (!out->text.p && json_iter_next(&it, &key, &block)) {
        struct slice value;

        if (!json_get_is(block, "type", "text") || !json_get(block, "text", &value) ||
            json_type(value) != JSON_STRING)
            continue;
        if (!json_text(value, a, &text) || !prompt_of_text(text, a, out))
            return false;
    }
    return true;
}

bool prompt_of_row(struct slice row, struct arena *a, struct prompt *out)
{
    enum { TYPE, META, SUMMARY, MESSAGE, KEYS };
    static const char *const keys[KEYS] = { "type", "isMeta", "isCompactSummary", "message" };
    struct slice value[KEYS], content;

    json_get_each(row, keys, KEYS, value);
    if (!json_string_is(value[TYPE], "user") || json_type(value[META]) == JSON_TRUE ||
        json_type(value[SUMMARY]) == JSON_TRUE)
        return true;
    if (json_type(value[MESSAGE]) != JSON_OBJECT || !json_get(value[MESSAGE], "content", &content))
        return true;
    return prompt_of_content(content, a, out);
}

/* Tests the bytes of a row before it is parsed. The patterns may match anywhere in it. */
static bool candidate(struct slice row)
{
    return (slice_has(row, "\"type\":\"user\"") || slice_has(row, "\"type\": \"user\"")) &&
           !slice_has(row, "\"tool_result\"") && !slice_has(row, "\"isMeta\":true") &&
           !slice_has(row, "\"isMeta\": true");
}

bool prompt_first(struct slice head, struct arena *a, struct prompt *out)
{
    struct slice row;
    bool torn;

    while (!out->text.p && slice_line(&head, &row, &torn)) {
        if (!candidate(row) || slice_has(row, "\"isCompactSummary\":true") ||
            slice_has(row, "\"isCompactSummary\": true") || !json_valid(row))
            continue;
        if (!prompt_of_row(row, a, out))
            return false;
    }
    return true;
}

struct slice prompt_or_command(const struct prompt *prompt)
{
    return prompt->text.p ? prompt->text : prompt->command;
}

bool prompt_first_of_file(const struct file *file, struct buf *front, struct arena *a,
                          struct prompt *out)
{
    enum { FRONT_MOST = 8 << 20 };
    const size_t n = file->id.size < FRONT_MOST ? (size_t)file->id.size : FRONT_MOST;
    size_t got;

    if (buf_reserve(front, n))
        return false;
    return file_read(file, 0, front->p, n, &got, NULL) != ERR_OK ||
           prompt_first((struct slice){ front->p, got }, a, out);
}

struct slice prompt_media(struct slice head)
{
    struct slice row;
    bool torn;

    while (slice_line(&head, &row, &torn)) {
        if (!candidate(row))
            continue;
        if (slice_has(row, "\"type\":\"image\"") || slice_has(row, "\"type\": \"image\""))
            return SLICE("Image");
        if (slice_has(row, "\"type\":\"document\"") || slice_has(row, "\"type\": \"document\""))
            return SLICE("Document");
    }
    return (struct slice){ NULL, 0 };
}
