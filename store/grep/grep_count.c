#include "store/grep/grep_session.h"

unsigned grep_place_of_kind(enum block_kind kind)
{
    switch (kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: return GREP_IN_PROMPTS;
    case BLOCK_TEXT: return GREP_IN_REPLIES;
    case BLOCK_THINKING: return GREP_IN_THINKING;
    case BLOCK_TOOL_CALL:
    case BLOCK_TOOL_RESULT: return GREP_IN_TOOLS;
    case BLOCK_NOTE: return GREP_IN_NOTES;
    case BLOCK_RAW:
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT:
    case BLOCK_SEAM: break;
    }
    return 0;
}

/* Returns true if the byte follows a backslash that is not itself escaped. */
static bool is_behind_escape(struct slice raw, const char *at)
{
    const char *run = at;

    while (run > raw.p && run[-1] == '\\')
        run--;
    return (at - run) % 2 != 0;
}

/* The letter of an escape, or a digit of one by number. */
static bool is_in_escape(struct slice raw, const char *at)
{
    bool in = is_behind_escape(raw, at);

    for (int i = 1; !in && i <= 4 && at - i > raw.p; i++)
        in = at[-i] == 'u' && is_behind_escape(raw, at - i);
    return in;
}

/* Behind the next newline, or NULL. */
static const char *next_raw_line(struct slice raw, const char *p)
{
    const char *end = raw.p + raw.n;

    while ((p = slice_find(p, (size_t)(end - p), "\\n", 2)) && is_behind_escape(raw, p))
        p++;
    return p ? p + 2 : NULL;
}

/* The lines of the decoded text that have a match. */
static uint64_t count_lines(const struct grep_matcher *m, struct slice raw)
{
    bool folded;
    const struct slice text = grep_plain_text(m, &folded);
    const char *p = raw.p, *end = raw.p + raw.n;
    uint64_t lines = 0;

    while (p) {
        p = (folded ? slice_find_folded : slice_find)(p, (size_t)(end - p), text.p, text.n);
        if (p && is_in_escape(raw, p)) {
            p++;
        } else if (p) {
            lines++;
            p = next_raw_line(raw, p + text.n);
        }
    }
    return lines;
}

bool grep_count_row(struct grep_session *s, struct slice row)
{
    store_raw_texts_fn *raw_texts = s->ref->store->ops->raw_texts;
    struct raw_texts texts;

    if (!raw_texts || s->q->want == GREP_WANT_HITS || !grep_is_plain(s->matcher) ||
        (s->q->in & GREP_IN_NOTES) || !grep_is_plain_row(s->matcher, row) ||
        !raw_texts(row, &texts))
        return false;
    for (size_t i = 0; i < texts.n; i++)
        if (grep_place_of_kind((enum block_kind)texts.text[i].kind) & s->q->in)
            s->lines += count_lines(s->matcher, texts.text[i].text);
    s->seen |= s->lines > 0;
    return true;
}
