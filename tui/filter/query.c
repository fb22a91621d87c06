#include "tui/filter/query.h"

#include <stdio.h>
#include <string.h>

#include "tui/filter/fold.h"
#include "tui/text/human.h"

static const char *const is_names[IS_COUNT] = {
    [IS_RUNNING] = "running", [IS_WAITING] = "waiting", [IS_ARCHIVED] = "archived",
    [IS_FORK] = "fork",       [IS_DAMAGED] = "damaged", [IS_INTERRUPTED] = "interrupted",
    [IS_EMPTY] = "empty",     [IS_MARKED] = "marked",   [IS_KEPT] = "kept",
};

/* A word as typed, its quotes and backslashes resolved. */
struct word {
    char text[FUZZY_NEEDLE_MAX * 2];
    size_t n;
    bool quoted; /* began with a double quote */
};

static bool query_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The text without its first byte. */
static struct slice tail_of(struct slice s)
{
    return (struct slice){ s.p + 1, s.n - 1 };
}

/* Cuts the next word off *rest and returns its full length, of which *out gets at most cap bytes; returns SIZE_MAX at
 * the end. A quote that is not closed extends to the end. */
static size_t query_cut_word(struct slice *rest, char *out, size_t cap)
{
    bool inside = false;
    size_t n = 0;

    while (rest->n > 0 && query_blank(*rest->p))
        *rest = tail_of(*rest);
    if (rest->n == 0)
        return SIZE_MAX;
    while (rest->n > 0 && (inside || !query_blank(*rest->p))) {
        char c = *rest->p;

        *rest = tail_of(*rest);
        if (c == '"') {
            inside = !inside;
            continue;
        }
        if (c == '\\' && rest->n > 0 && (query_blank(*rest->p) || *rest->p == '"')) {
            c = *rest->p;
            *rest = tail_of(*rest);
        }
        if (n < cap)
            out[n] = c;
        n++;
    }
    return n;
}

/* Returns false at the end. */
static bool query_next_word(struct slice *rest, struct word *w)
{
    while (rest->n > 0 && query_blank(*rest->p))
        *rest = tail_of(*rest);
    *w = (struct word){ .quoted = rest->n > 0 && *rest->p == '"' };
    w->n = query_cut_word(rest, w->text, sizeof w->text);
    if (w->n == SIZE_MAX)
        return false;
    if (w->n > sizeof w->text)
        w->n = sizeof w->text;
    return true;
}

size_t query_content_at(struct slice text)
{
    struct slice rest = text;
    struct word w;

    do {
        while (rest.n > 0 && query_blank(*rest.p))
            rest = tail_of(rest);
        if (slice_starts(rest, "//"))
            return text.n - rest.n;
    } while (query_next_word(&rest, &w));
    return text.n;
}

/* The words after //, separated by a zero byte. */
static void query_set_content(struct query *q, struct slice rest)
{
    size_t n, words = 0;

    q->content = true;
    while (rest.n > 0) {
        size_t gap = q->words_n > 0;
        size_t room = sizeof q->words - q->words_n;

        n = room > gap ? query_cut_word(&rest, q->words + q->words_n + gap, room - gap) : 0;
        if (n == SIZE_MAX)
            return;
        if (room <= gap || n > room - gap || words == GREP_PATTERNS) {
            q->incomplete = true;
            snprintf(q->problem, sizeof q->problem, "too many words after //");
            return;
        }
        if (n == 0)
            continue;
        if (gap)
            q->words[q->words_n] = '\0';
        q->words_n += gap + n;
        words++;
    }
}

static struct slice word_from(const struct word *w, size_t i)
{
    return (struct slice){ w->text + i, w->n - i };
}

static bool set_size(struct term *t, struct slice value)
{
    if (value.p[0] == '<')
        t->kind = TERM_SMALLER;
    if (value.p[0] == '<' || value.p[0] == '>')
        value = tail_of(value);
    if (value.n > 0 && value.p[0] == '=')
        value = tail_of(value);
    return human_size_parse(value, &t->value);
}

/* The beginning of one name only is enough. */
static bool set_is(struct term *t, struct slice value)
{
    int found = -1;

    for (int i = 0; i < IS_COUNT; i++) {
        if (strncmp(is_names[i], value.p, value.n) != 0)
            continue;
        if (found >= 0)
            return false;
        found = i;
    }
    t->value = found;
    return found >= 0;
}

static const struct {
    const char *name;
    enum term_kind kind;
    const char *wants; /* NULL: any text */
} fields[] = {
    { "tag:", TERM_TAG, NULL },
    { "branch:", TERM_BRANCH, NULL },
    { "agent:", TERM_SYSTEM, NULL },
    { "sys:", TERM_SYSTEM, NULL },
    { "system:", TERM_SYSTEM, NULL },
    { "project:", TERM_DIR, NULL },
    { "dir:", TERM_DIR, NULL },
    { "id:", TERM_ID, NULL },
    { "before:", TERM_BEFORE, "an age or a date: 2w, 2026-01-31" },
    { "after:", TERM_AFTER, "an age or a date: 2w, 2026-01-31" },
    { "size:", TERM_LARGER, "a size: >10M, <100k" },
    { "is:", TERM_IS, "running waiting archived fork damaged interrupted empty" },
};

static int query_field_of(struct slice word)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t n = strlen(fields[i].name);

        if (word.n >= n && memcmp(word.p, fields[i].name, n) == 0)
            return (int)i;
    }
    return -1;
}

/* Returns true for what is written like the name of a field: at least two letters, a colon and a letter. Words with other
 * characters are text: https://x, src:12, 10:30, c:\x, std::x, "fix:". */
static bool is_like_field(struct slice word)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t n = 0;

    while (n < word.n && memchr(letters, word.p[n], sizeof letters - 1))
        n++;
    return n >= 2 && n + 1 < word.n && word.p[n] == ':' &&
           (memchr(letters, word.p[n + 1], sizeof letters - 1) ||
            (unsigned char)word.p[n + 1] >= 0x80);
}

enum made { MADE_TERM, MADE_NOTHING, MADE_NO_MEMORY };

/* The texts of a row are short, and there may be very many rows. */
static const struct grep_limits regex_limits = { 20000, 1 << 22, 100, 2000 };

static enum made make_field(struct query *q, struct term *t, int field, struct slice value,
                            int64_t now_ms)
{
    bool ok = true;

    t->kind = fields[field].kind;
    if (value.n == 0 || slice_eq(value, SLICE(">")) || slice_eq(value, SLICE("<")))
        return MADE_NOTHING;
    switch (t->kind) {
    case TERM_BEFORE:
    case TERM_AFTER: ok = human_time_parse(value, now_ms, &t->value); break;
    case TERM_LARGER: ok = set_size(t, value); break;
    case TERM_IS: ok = set_is(t, value); break;
    default: return fuzzy_needle_init(&t->needle, value) ? MADE_TERM : MADE_NO_MEMORY;
    }
    if (ok)
        return MADE_TERM;
    snprintf(q->problem, sizeof q->problem, "%s %s %s", fields[field].name,
             t->kind == TERM_IS ? "takes" : "needs", fields[field].wants);
    return MADE_NOTHING;
}

static enum made make_term(struct query *q, struct term *t, const struct word *w, int64_t now_ms)
{
    size_t i = 0;

    if (!w->quoted && w->n > 0 && w->text[0] == '!') {
        t->negate = true;
        i = 1;
    }
    struct slice word = word_from(w, i);
    int field = w->quoted ? -1 : query_field_of(word);

    if (!w->quoted && word.n > 2 && word.p[0] == '/' && word.p[word.n - 1] == '/') {
        struct slice expression = { word.p + 1, word.n - 2 };
        struct err e = { 0 };
        enum err_code rc = grep_patterns_new(&(struct grep_query){ .pattern = &expression, .n = 1 },
                                             &t->patterns, &e);

        t->kind = TERM_REGEX;
        if (rc == ERR_USAGE)
            snprintf(q->problem, sizeof q->problem, "%.*s", QUERY_PROBLEM - 1, e.text);
        if (!rc)
            t->matcher = grep_matcher_new(t->patterns, regex_limits);
        return t->matcher ? MADE_TERM : rc == ERR_USAGE ? MADE_NOTHING : MADE_NO_MEMORY;
    }
    if (field < 0) {
        if (w->quoted || !is_like_field(word)) {
            /* The signs around a word: ! ' ^ before it, $ after it. */
            struct slice text = word;

            t->kind = t->negate || w->quoted ? TERM_EXACT : TERM_FUZZY;
            if (text.n > 0 && text.p[0] == '\'' && !w->quoted) {
                t->kind = t->negate ? TERM_FUZZY : TERM_EXACT;
                text = tail_of(text);
            } else if (text.n > 0 && text.p[0] == '^' && !w->quoted) {
                t->kind = TERM_EXACT;
                t->anchor = ANCHOR_START;
                text = tail_of(text);
            }
            if (text.n > 1 && text.p[text.n - 1] == '$' && !w->quoted) {
                t->kind = TERM_EXACT;
                t->anchor |= ANCHOR_END;
                text.n--;
            }
            if (!fuzzy_needle_init(&t->needle, text))
                return MADE_NO_MEMORY;
            return t->needle.n > 0 ? MADE_TERM : MADE_NOTHING;
        }
        snprintf(q->problem, sizeof q->problem,
                 "no such field (agent project branch tag id before after size is)");
        return MADE_NOTHING;
    }
    return make_field(q, t, field, word_from(w, i + strlen(fields[field].name)), now_ms);
}

bool query_parse(struct query *q, struct slice text, int64_t now_ms)
{
    struct word w;
    size_t at = query_content_at(text);
    struct slice rest = { text.p, at };
    bool alternative = false;

    /* If all words are plain, a longer query matches only what this one matches. */
    *q = (struct query){ .narrows = true };
    for (size_t i = 0; i < text.n; i++)
        q->narrows &= !memchr("!|$:\"\\/", text.p[i], 7);
    if (at < text.n)
        query_set_content(q, (struct slice){ text.p + at + 2, text.n - at - 2 });
    while (q->n < QUERY_TERMS && query_next_word(&rest, &w)) {
        struct term *t = &q->term[q->n];

        /* A `|` in front of the first term joins nothing. */
        if (!w.quoted && w.n == 1 && w.text[0] == '|') {
            alternative = q->n > 0;
            continue;
        }
        *t = (struct term){ .or_before = alternative };
        switch (make_term(q, t, &w, now_ms)) {
        case MADE_TERM: q->n++; break;
        case MADE_NO_MEMORY:
            q->n++;
            query_fini(q);
            return false;
        case MADE_NOTHING: q->incomplete = true; break;
        }
        alternative = false;
    }

    q->incomplete |= q->n == QUERY_TERMS && query_next_word(&rest, &w);
    return true;
}

bool query_value_at_end(struct slice text, enum term_kind *kind, size_t *value)
{
    struct word w = { 0 };
    struct slice rest = text, last = { 0 };

    if (query_content_at(text) < text.n)
        return false;
    while (rest.n > 0) {
        while (rest.n > 0 && query_blank(*rest.p))
            rest = tail_of(rest);
        last = rest;
        if (!query_next_word(&rest, &w))
            return false; /* it ends in a blank */
    }
    if (last.n > 0 && *last.p == '!')
        last = tail_of(last);
    int field = query_field_of(last);

    if (field < 0)
        return false;
    *kind = fields[field].kind;
    *value = text.n - last.n + strlen(fields[field].name);
    if (*value < text.n && text.p[*value] == '"')
        ++*value;
    return true;
}

const char *query_is_name(enum is_kind kind)
{
    return is_names[kind];
}

void query_fini(struct query *q)
{
    for (size_t i = 0; i < q->n; i++) {
        grep_matcher_free(q->term[i].matcher);
        grep_patterns_free(q->term[i].patterns);
    }
    *q = (struct query){ .n = 0 };
}

bool query_ranks(const struct query *q)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct term *t = &q->term[i];

        if (!t->negate && t->kind <= TERM_REGEX)
            return true;
    }
    return false;
}
