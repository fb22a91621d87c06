#include "lite/json/json.h"
#include "store/api/transcript.h"
#include "store/systems/claude/claude.h"

/* Finds the texts of a row without decoding them, in one pass that also validates the row: the same texts as blocks.c,
 * for rows in the form in which the client writes them. Anything unusual (a blank between tokens, a key twice or with
 * escapes, a prompt with tags, a note) is left to blocks.c: `wrong` is set, and the walk ends at once. */

/* Before it is known what a text belongs to. */
enum { ANY_TEXT = -1, NO_TEXT = -2 };

enum { DEPTH_MAX = 60 };

struct walk {
    const char *p, *end;
    struct raw_texts *out;
    bool wrong;
};

static bool pass_byte(struct walk *w, char c)
{
    if (w->p == w->end || *w->p != c)
        return false;
    w->p++;
    return true;
}

static bool is_next(const struct walk *w, char c)
{
    return w->p < w->end && *w->p == c;
}

/* Returns the bytes between the quotes; empty, with `wrong` set, if this is not a string. */
static struct slice pass_string(struct walk *w)
{
    const char *from = w->p + 1;
    const char *behind = is_next(w, '"') ? json_string_end(from, w->end) : NULL;

    if (!behind) {
        w->wrong = true;
        return (struct slice){ NULL, 0 };
    }
    w->p = behind;
    return (struct slice){ from, (size_t)(behind - 1 - from) };
}

/* Returns false after the last member, whose closing bracket is skipped, and if anything is wrong. */
static bool pass_to_member(struct walk *w, bool *begun, char close)
{
    if (w->wrong || pass_byte(w, close))
        return false;
    w->wrong = *begun && !pass_byte(w, ',');
    *begun = true;
    return !w->wrong;
}

static bool pass_to_key(struct walk *w, bool *begun, struct slice *key)
{
    if (!pass_to_member(w, begun, '}'))
        return false;
    *key = pass_string(w);
    w->wrong |= !pass_byte(w, ':') || (key->n && memchr(key->p, '\\', key->n));
    return !w->wrong;
}

/* Walks any value, whose strings except keys are texts of this kind. `objects` has a bit for each level. */
static void pass_value(struct walk *w, int kind)
{
    uint64_t objects = 0;
    unsigned depth = 0;
    bool begun = false;
    struct slice key;

    do {
        bool in_object = objects & 1;

        if (depth && !(in_object ? pass_to_key(w, &begun, &key) : pass_to_member(w, &begun, ']'))) {
            depth--;
            objects >>= 1;
            begun = true;
        } else if (is_next(w, '"')) {
            struct slice text = pass_string(w);

            if (kind != NO_TEXT) {
                if (w->out->n == RAW_TEXTS)
                    w->wrong = true;
                else
                    w->out->text[w->out->n++] = (struct raw_text){ kind, text };
            }
        } else if (is_next(w, '{') || is_next(w, '[')) {
            objects = objects << 1 | (*w->p++ == '{');
            begun = false;
            w->wrong |= ++depth > DEPTH_MAX;
        } else {
            /* A number, true, false or null. */
            const char *from = w->p;

            while (w->p < w->end && *w->p != ',' && *w->p != '}' && *w->p != ']')
                w->p++;
            struct slice value = { from, (size_t)(w->p - from) };

            if (!slice_eq(value, SLICE("null")) && !slice_eq(value, SLICE("false")) &&
                !slice_eq(value, SLICE("true")))
                w->wrong |= !json_valid_plain(value);
        }
    } while (depth && !w->wrong);
}

/* The texts of a tool's result, which are members of the elements. */
static void pass_result(struct walk *w)
{
    struct slice key;

    for (bool begun = false; pass_to_member(w, &begun, ']');) {
        w->wrong |= !pass_byte(w, '{');
        for (bool more = false, had = false; pass_to_key(w, &more, &key);) {
            bool text = slice_eq(key, SLICE("text"));

            w->wrong |= text && had;
            had |= text;
            pass_value(w, text && is_next(w, '"') ? BLOCK_TOOL_RESULT : NO_TEXT);
        }
    }
}

/* NO_TEXT: none that is searched or shown as a text. */
static int kind_of_type(struct walk *w, struct slice type)
{
    static const struct {
        const char *type;
        int kind;
    } types[] = {
        { "text", ANY_TEXT },
        { "tool_use", BLOCK_TOOL_CALL },
        { "tool_result", BLOCK_TOOL_RESULT },
        { "thinking", BLOCK_THINKING },
        { "redacted_thinking", BLOCK_THINKING },
        { "server_tool_use", BLOCK_TOOL_CALL },
        { "mcp_tool_use", BLOCK_TOOL_CALL },
        { "mcp_tool_result", BLOCK_TOOL_RESULT },
        { "image", NO_TEXT },
        { "document", NO_TEXT },
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (slice_eq(type, slice_of(types[i].type)))
            return types[i].kind;
    w->wrong = true;
    return NO_TEXT;
}

/* One block of message.content. Its type may come after its texts. */
static void pass_block(struct walk *w)
{
    size_t first = w->out->n, kept = first;
    struct slice key, type = { NULL, 0 };
    unsigned had = 0; /* a bit for each kind; ANY_TEXT is the lowest */

    w->wrong |= !pass_byte(w, '{');
    for (bool begun = false; pass_to_key(w, &begun, &key);) {
        /* The kind of a block's member, if the block has the type that belongs to the kind. */
        int kind = slice_eq(key, SLICE("text"))       ? ANY_TEXT
                   : slice_eq(key, SLICE("thinking")) ? BLOCK_THINKING
                   : slice_eq(key, SLICE("content"))  ? BLOCK_TOOL_RESULT
                   : slice_eq(key, SLICE("input"))    ? BLOCK_TOOL_CALL
                                                      : NO_TEXT;
        unsigned bit = kind == NO_TEXT ? 0 : 1u << (kind + 1);
        bool string = is_next(w, '"');

        w->wrong |= (had & bit) != 0;
        had |= bit;
        if (slice_eq(key, SLICE("type")))
            type = pass_string(w);
        else if (kind == BLOCK_TOOL_RESULT && pass_byte(w, '['))
            pass_result(w);
        else
            pass_value(w, string || kind == BLOCK_TOOL_CALL ? kind : NO_TEXT);
    }
    int kind = kind_of_type(w, type);

    for (size_t i = first; i < w->out->n; i++)
        if (w->out->text[i].kind == kind)
            w->out->text[kept++] = w->out->text[i];
    w->out->n = kept;
}

static void pass_message(struct walk *w)
{
    struct slice key;
    bool had = false;

    w->wrong |= !pass_byte(w, '{');
    for (bool begun = false; pass_to_key(w, &begun, &key);) {
        bool content = slice_eq(key, SLICE("content"));

        w->wrong |= content && had;
        had |= content;
        if (content && is_next(w, '"'))
            pass_value(w, ANY_TEXT);
        else if (content && pass_byte(w, '['))
            for (bool more = false; pass_to_member(w, &more, ']');)
                pass_block(w);
        else
            pass_value(w, NO_TEXT);
    }
}

/* Returns true if a text of a user row is neither a command nor a note of the client, and does not begin with anything
 * that is trimmed. */
static bool is_plain_prompt(struct slice text)
{
    unsigned char c = text.n ? (unsigned char)*text.p : 'x';

    return c > ' ' && c < 0x80 && c != '[' && c != '\\' && !memchr(text.p, '<', text.n) &&
           !slice_has(text, "\\u003");
}

bool claude_raw_texts(struct slice row, struct raw_texts *out)
{
    struct walk w = { row.p, row.p + row.n, out, false };
    struct slice key, type = { NULL, 0 };
    bool meta = false, summary = false, had = false;

    out->n = 0;
    w.wrong = !pass_byte(&w, '{');
    for (bool begun = false; pass_to_key(&w, &begun, &key);) {
        if (slice_eq(key, SLICE("message"))) {
            w.wrong |= had;
            had = true;
            pass_message(&w);
        } else if (slice_eq(key, SLICE("type"))) {
            type = pass_string(&w);
        } else {
            bool yes = is_next(&w, 't');

            pass_value(&w, NO_TEXT);
            meta = slice_eq(key, SLICE("isMeta")) ? yes : meta;
            summary = slice_eq(key, SLICE("isCompactSummary")) ? yes : summary;
        }
    }

    /* Sets the kind of texts that are the content of the message itself. */
    if (w.wrong || w.p != w.end)
        return false;

    bool user = slice_eq(type, SLICE("user"));
    int kind = meta || summary ? BLOCK_NOTE : BLOCK_PROMPT;

    if (!user && !slice_eq(type, SLICE("assistant")))
        return false;
    for (size_t i = 0; i < out->n; i++) {
        if (out->text[i].kind != ANY_TEXT)
            continue;
        if (user && !summary && !is_plain_prompt(out->text[i].text))
            return false;
        out->text[i].kind = user ? kind : BLOCK_TEXT;
    }
    return true;
}
