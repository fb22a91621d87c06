#define PCRE2_CODE_UNIT_WIDTH 8
#include "store/grep/grep.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/grep/grep_session.h"

/* Decoding JSON takes much longer than searching bytes, so the bytes of rows are searched first:
 *
 *   bytes -> the next plain text, numeric escape or command -> its row -> (decoded by the caller)
 *         -> the valid UTF-8 in each text -> groups of positions -> a match
 *
 * The first search may return a row without a match, but must never miss a row with one. Whatever
 * else can spell a plain text in a row therefore needs its own entry in `next`. The compiled
 * patterns are shared by all threads and never change; everything that changes is in the matcher.
 * Matching skips PCRE2's own check of UTF-8, so it may only get bytes that find_valid accepted. */

enum {
    STACK_FIRST = 32 * 1024,
    STACK_MOST = 1024 * 1024,
    HEAP_MOST_KB = 64 * 1024, /* memory of a match without JIT */
};

struct grep_pattern {
    pcre2_code *code;
    struct buf plain; /* every match contains this text; empty: nothing is known */
    pcre2_code *raw;  /* the same for rows, if case is ignored; NULL: it is not */
    /* with raw: the longest part whose letters have no non-ASCII case variants, in lower case, for a quick search;
     * empty: too short to rule out many rows */
    struct buf quick;
    /* the pattern, if it is only this text, with raw in lower case; else empty */
    struct buf whole;
};

struct grep_patterns {
    struct grep_pattern pattern[GREP_PATTERNS];
    size_t n;
    bool all_rows; /* there is a pattern of which no text is known */
    bool commands; /* there is one whose text may be joined from parts of a command */
};

/* ---- compiling ---- */

static enum err_code grep_pattern_add_escaped(struct buf *out, char c)
{
    char escaped[] = { '\\', c };
    bool bare = isalnum((unsigned char)c) || (unsigned char)c >= 0x80;

    return buf_add(out, (struct slice){ escaped + bare, bare ? 1u : 2u });
}

static enum err_code compile(struct slice expression, uint32_t options, pcre2_code **out,
                             PCRE2_SIZE *at, int *why)
{
    *out = pcre2_compile((PCRE2_SPTR)expression.p, expression.n, options, why, at, NULL);
    if (!*out)
        return *why == PCRE2_ERROR_HEAP_FAILED ? ERR_NOMEM : ERR_USAGE;
    pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE); /* where it cannot, the interpreter does it */
    return ERR_OK;
}

/* The expression that finds the plain text in raw rows, in either case. */
static enum err_code compile_raw(struct grep_pattern *p)
{
    struct buf expression = { 0 };
    enum err_code rc = ERR_OK;
    PCRE2_SIZE at;
    int why;

    for (size_t i = 0; !rc && i < p->plain.n; i++) {
        char c = p->plain.p[i];

        if (strchr("kK", c))
            rc = buf_add(&expression, SLICE("(?:k|\xe2\x84\xaa|\\\\u212a)"));
        else if (strchr("sS", c))
            rc = buf_add(&expression, SLICE("(?:s|\xc5\xbf|\\\\u017f)"));
        else
            rc = grep_pattern_add_escaped(&expression, c);
    }
    if (!rc)
        rc = compile(buf_slice(&expression), PCRE2_CASELESS, &p->raw, &at, &why);
    buf_fini(&expression);
    return rc;
}

enum { QUICK_MIN = 4 };

static enum err_code find_quick(struct grep_pattern *p)
{
    const struct slice plain = buf_slice(&p->plain);
    size_t best = 0, n = 0;

    for (size_t i = 0, from = 0; i <= plain.n; i++) {
        if (i < plain.n && !grep_plain_has_foreign_case(plain.p[i]))
            continue;
        if (i - from > n) {
            best = from;
            n = i - from;
        }
        from = i + 1;
    }
    enum err_code rc =
        n < QUICK_MIN ? ERR_OK : buf_add(&p->quick, (struct slice){ plain.p + best, n });

    for (size_t i = 0; !rc && i < p->quick.n; i++)
        p->quick.p[i] = (char)tolower((unsigned char)p->quick.p[i]);
    return rc;
}

/* A letter after a backslash is not part of the text. */
static bool grep_pattern_has_capital(struct slice pattern, bool fixed)
{
    for (size_t i = 0; i < pattern.n; i++) {
        if (!fixed && pattern.p[i] == '\\')
            i++;
        else if (isupper((unsigned char)pattern.p[i]))
            return true;
    }
    return false;
}

static enum err_code compile_pattern(const struct grep_query *q, struct slice pattern,
                                     struct grep_pattern *p, struct err *e)
{
    bool ignores_case =
        q->letters == GREP_CASE_IGNORE ||
        (q->letters == GREP_CASE_SMART && !grep_pattern_has_capital(pattern, q->fixed));
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_USE_OFFSET_LIMIT |
                       (ignores_case ? PCRE2_CASELESS : 0);
    struct buf expression = { 0 };
    PCRE2_SIZE at = 0;
    int why = 0;

    /* Writes the expression of a pattern: a plain text is escaped, and words get word
     * boundaries. */
    enum err_code rc = q->words ? buf_add(&expression, SLICE("(?<!\\w)(?:")) : ERR_OK;

    if (!q->fixed && !rc)
        rc = buf_add(&expression, pattern);
    for (size_t i = 0; q->fixed && !rc && i < pattern.n; i++)
        rc = grep_pattern_add_escaped(&expression, pattern.p[i]);
    rc = !rc && q->words ? buf_add(&expression, SLICE(")(?!\\w)")) : rc;

    if (!rc)
        rc = compile(buf_slice(&expression), options, &p->code, &at, &why);
    buf_fini(&expression);
    if (rc == ERR_USAGE) {
        char typed[160], reason[120];

        snprintf(typed, sizeof typed, "%.*s", SLICE_ARG(pattern));
        pcre2_get_error_message(why, (PCRE2_UCHAR *)reason, sizeof reason);
        return err_set(e, ERR_USAGE, "", "\"%s\" is not a pattern: %s at character %zu", typed,
                       reason, at + 1);
    }
    if (!rc)
        rc = grep_plain_find(pattern, q->fixed, ignores_case, &p->plain);
    if (!rc && ignores_case && p->plain.n)
        rc = compile_raw(p);
    if (!rc && p->raw)
        rc = find_quick(p);
    if (!rc && !q->words && p->plain.n) {
        /* The whole text is known if it has nothing that is special in an expression. */
        bool fixed = q->fixed;
        bool plain = true;

        for (size_t i = 0; plain && i < pattern.n; i++)
            plain = grep_plain_is_written(pattern.p[i]) &&
                    (fixed || !strchr(".^$*+?()[]{}|", pattern.p[i]));
        for (size_t i = 0; plain && !rc && i < pattern.n; i++)
            rc = buf_add_byte(&p->whole,
                              p->raw ? (char)tolower((unsigned char)pattern.p[i]) : pattern.p[i]);
    }
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code grep_patterns_new(const struct grep_query *q, struct grep_patterns **out,
                                struct err *e)
{
    struct grep_patterns *p = calloc(1, sizeof *p);
    enum err_code rc = ERR_OK;

    if (!p)
        return err_nomem(e);
    for (; !rc && p->n < q->n && p->n < GREP_PATTERNS; p->n++) {
        struct slice pattern = q->pattern[p->n];

        rc = pattern.n ? compile_pattern(q, pattern, &p->pattern[p->n], e)
                       : err_set(e, ERR_USAGE, "",
                                 "\"\" is not a pattern: an empty one matches everything");
        const struct slice plain = buf_slice(&p->pattern[p->n].plain);

        p->all_rows |= plain.n == 0;
        p->commands |= plain.n && memchr(plain.p, ' ', plain.n);
    }
    if (rc)
        grep_patterns_free(p);
    else
        *out = p;
    return rc;
}

void grep_patterns_free(struct grep_patterns *p)
{
    for (size_t i = 0; p && i < GREP_PATTERNS; i++) {
        pcre2_code_free(p->pattern[i].code);
        pcre2_code_free(p->pattern[i].raw);
        buf_fini(&p->pattern[i].plain);
        buf_fini(&p->pattern[i].quick);
        buf_fini(&p->pattern[i].whole);
    }
    free(p);
}

size_t grep_patterns_count(const struct grep_patterns *p)
{
    return p->n;
}

/* ---- using them ---- */

/* How a pattern is matched in the present text. */
struct matching {
    struct grep_range valid; /* the part of the text that is UTF-8, and that the next match is in */
    size_t group;            /* positions that are tried at a time; 0: not chosen yet */
};

struct grep_matcher {
    const struct grep_patterns *patterns;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_match_context *raw_context; /* for rows, without limits */
    pcre2_jit_stack *stack;
    struct grep_limits limits;
    struct slice text;
    struct matching matching[GREP_PATTERNS];
    int64_t began_ms, now_ms; /* the text, and the last match in it */
    /* the processor time of the thread, when the text had taken a moment; 0: it has not */
    int64_t cpu_ms;
    int64_t spent_ms;       /* in texts before */
    const char *rest, *end; /* the rows that were not examined yet */
    /* for each plain text, an escape by number, and a command */
    const char *next[GREP_PATTERNS + 2];
};

struct grep_matcher *grep_matcher_new(const struct grep_patterns *p, struct grep_limits limits)
{
    struct grep_matcher *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->patterns = p;
    m->data = pcre2_match_data_create(1, NULL);
    m->limits = limits;
    m->context = pcre2_match_context_create(NULL);
    m->raw_context = pcre2_match_context_create(NULL);
    m->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MOST, NULL);
    if (!m->data || !m->context || !m->raw_context || !m->stack) {
        grep_matcher_free(m);
        return NULL;
    }
    pcre2_set_heap_limit(m->context, HEAP_MOST_KB);
    pcre2_jit_stack_assign(m->context, NULL, m->stack);
    pcre2_jit_stack_assign(m->raw_context, NULL, m->stack);
    return m;
}

void grep_matcher_free(struct grep_matcher *m)
{
    if (!m)
        return;
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->context);
    pcre2_match_context_free(m->raw_context);
    pcre2_jit_stack_free(m->stack);
    free(m);
}

static const char *find_plain_at(struct grep_matcher *m, const struct grep_pattern *p)
{
    size_t n = (size_t)(m->end - m->rest);
    const char *found;

    if (!p->raw) {
        found = slice_find(m->rest, n, p->plain.p, p->plain.n);
        return found ? found : m->end;
    }
    if (p->quick.n) {
        found = slice_find_folded(m->rest, n, p->quick.p, p->quick.n);
        return found ? found : m->end;
    }
    if (pcre2_match(p->raw, (PCRE2_SPTR)m->rest, n, 0, 0, m->data, m->raw_context) < 0)
        return m->end;
    return m->rest + pcre2_get_ovector_pointer(m->data)[0];
}

/* Finds a numeric escape of a plain character: from \u0020 to \u007f, except the three that Go writes that way, which
 * are in no plain text. Also one of a newline, for callers that count lines. */
static const char *find_numbered(const char *p, const char *end)
{
    static const char *const go[] = { "3c", "3C", "3e", "3E", "26" };
    bool ours = false;

    for (; !ours && (p = slice_find(p, (size_t)(end - p), "\\u00", 4)) && end - p >= 6;
         p += ours ? 0 : 6) {
        ours = (p[4] >= '2' && p[4] <= '7') || (p[4] == '0' && (p[5] | 0x20) == 'a');
        for (size_t i = 0; ours && i < sizeof go / sizeof *go; i++)
            ours = memcmp(p + 4, go[i], 2) != 0;
    }
    return ours ? p : end;
}

void grep_rows(struct grep_matcher *m, struct slice bytes)
{
    m->rest = bytes.p;
    m->end = bytes.p + bytes.n;
    memset(m->next, 0, sizeof m->next);
}

/* The next occurrence of what the i-th entry of `next` stands for. */
static const char *grep_pattern_find_entry(struct grep_matcher *m, size_t i)
{
    const struct grep_patterns *ps = m->patterns;

    if (i < ps->n)
        return find_plain_at(m, &ps->pattern[i]);
    if (i == ps->n)
        return find_numbered(m->rest, m->end);

    if (!ps->commands)
        return m->end;
    /* A command that Claude Code recorded is shown as "/name arguments" or "! line", with a blank
     * that is not in the row. */
    struct slice rest = { m->rest, (size_t)(m->end - m->rest) };
    const char *args = slice_find(rest.p, rest.n, "command-args>", 13);
    size_t n = args ? (size_t)(args - rest.p) : rest.n;
    const char *line = slice_find(rest.p, n, "bash-input>", 11);

    return line ? line : rest.p + n;
}

/* The first occurrence in the rest of anything that requires decoding a row. */
static const char *next_place(struct grep_matcher *m)
{
    const struct grep_patterns *ps = m->patterns;
    const char *first = m->end;

    if (ps->all_rows)
        return m->rest;
    for (size_t i = 0; i < ps->n + 2; i++) {
        if (!m->next[i] || m->next[i] < m->rest)
            m->next[i] = grep_pattern_find_entry(m, i);
        if (m->next[i] < first)
            first = m->next[i];
    }
    return first;
}

bool grep_next_row(struct grep_matcher *m, struct slice *row)
{
    const char *at = m->rest < m->end ? next_place(m) : m->end;

    if (at == m->end)
        return false;
    const char *before = memrchr(m->rest, '\n', (size_t)(at - m->rest));
    const char *nl = memchr(at, '\n', (size_t)(m->end - at));
    const char *from = before ? before + 1 : m->rest, *to = nl ? nl : m->end;

    *row = (struct slice){ from, (size_t)(to - from) };
    m->rest = nl ? nl + 1 : m->end;
    return true;
}

/* ---- matching ---- */

enum { MOMENT_MS = 20, BYTES_A_MS = 10000, GROUP_SHRINK = 16 };

void grep_match_begin(struct grep_matcher *m, struct slice text)
{
    m->spent_ms += m->now_ms - m->began_ms;
    m->text = text;
    m->began_ms = m->now_ms = time_coarse_ms();
    m->cpu_ms = 0;
    memset(m->matching, 0, m->patterns->n * sizeof *m->matching);
}

bool grep_match_gave_up(const struct grep_matcher *m)
{
    return m->limits.all_ms && m->spent_ms + m->now_ms - m->began_ms > m->limits.all_ms;
}

/* The clock of the wall is cheap to read. Only when it shows that a text has taken a moment, the time of the thread
 * begins to count, so that a busy machine makes no difference. */
static bool takes_too_long(struct grep_matcher *m)
{
    m->now_ms = time_coarse_ms();
    if (!m->limits.text_ms)
        return true;
    if (m->now_ms - m->began_ms < MOMENT_MS)
        return false;
    int64_t cpu_ms = time_clock_ms(CLOCK_THREAD_CPUTIME_ID);

    if (!m->cpu_ms)
        m->cpu_ms = cpu_ms + 1;
    return cpu_ms - m->cpu_ms > m->limits.text_ms + (int64_t)(m->text.n / BYTES_A_MS);
}

static size_t next_character(struct slice text, size_t at)
{
    while (at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* Finds the next bytes of the text that are UTF-8, at or after a position. */
static bool find_valid(struct slice text, size_t from, struct grep_range *valid)
{
    size_t n = 0, at = from > valid->to ? from : valid->to;

    if (from < valid->to)
        return true;
    for (; at < text.n && !n; at += n == 0)
        n = utf8_valid_prefix((struct slice){ text.p + at, text.n - at });
    *valid = (struct grep_range){ at, at + n };
    return n > 0;
}

enum grep_match grep_match_next(struct grep_matcher *m, size_t i, size_t from,
                                struct grep_range *out)
{
    struct grep_range *valid = &m->matching[i].valid;
    const PCRE2_SIZE *found;
    int rc = PCRE2_ERROR_NOMATCH;

    from = next_character(m->text, from); /* \C may match a part of a character */
    while (rc == PCRE2_ERROR_NOMATCH && from < m->text.n && find_valid(m->text, from, valid)) {
        from = from > valid->from ? from : valid->from;
        if (takes_too_long(m) || grep_match_gave_up(m))
            return GREP_MATCH_TOO_LONG;

        /* Try a group of positions of valid text; without a match, `from` is the position after it. */
        struct matching *x = &m->matching[i];
        struct slice text = { m->text.p + x->valid.from, x->valid.to - x->valid.from };
        size_t at = from - x->valid.from, least = m->limits.group / m->limits.steps;
        uint32_t options = PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK |
                           (x->valid.from ? PCRE2_NOTBOL : 0) |
                           (x->valid.to < m->text.n ? PCRE2_NOTEOL : 0);

        if (!x->group) /* each position may cost as much as the text is long */
            x->group = m->limits.group / (text.n + 1);
        if (x->group < least + 1)
            x->group = least + 1;
        for (bool again = true; again;) {
            size_t end = text.n - at > x->group ? next_character(text, at + x->group) : text.n;
            size_t steps = m->limits.group / x->group;

            pcre2_set_offset_limit(m->context, end < text.n ? end - 1 : PCRE2_UNSET);
            pcre2_set_match_limit(m->context,
                                  steps < m->limits.steps ? (uint32_t)steps : m->limits.steps);
            rc = pcre2_match(m->patterns->pattern[i].code, (PCRE2_SPTR)text.p, text.n, at, options,
                             m->data, m->context);
            again = rc == PCRE2_ERROR_MATCHLIMIT && x->group > least + 1 && !takes_too_long(m);
            if (again)
                x->group =
                    x->group / GROUP_SHRINK > least + 1 ? x->group / GROUP_SHRINK : least + 1;
            else
                from = x->valid.from + end;
        }
    }
    if (rc < 0)
        return rc == PCRE2_ERROR_NOMATCH ? GREP_MATCH_NONE : GREP_MATCH_TOO_LONG;
    found = pcre2_get_ovector_pointer(m->data);
    *out = (struct grep_range){ valid->from + found[0],
                                next_character(m->text, valid->from + found[1]) };
    return GREP_MATCH;
}

/* ---- counting without decoding ---- */

bool grep_is_plain(const struct grep_matcher *m)
{
    return m->patterns->n == 1 && m->patterns->pattern[0].whole.n;
}

bool grep_is_plain_row(const struct grep_matcher *m, struct slice row)
{
    static const char *const foreign[] = { "\xc5\xbf", "\xe2\x84\xaa", "\\u017", "\\u212" };
    const struct grep_pattern *p = &m->patterns->pattern[0];
    bool plain = m->next[1] >= row.p + row.n, ambiguous = false;

    for (size_t i = 0; p->raw && i < p->whole.n; i++)
        ambiguous |= grep_plain_has_foreign_case(p->whole.p[i]);
    for (size_t i = 0; plain && ambiguous && i < sizeof foreign / sizeof *foreign; i++)
        plain = !slice_has(row, foreign[i]);
    return plain;
}

struct slice grep_plain_text(const struct grep_matcher *m, bool *folded)
{
    *folded = m->patterns->pattern[0].raw != NULL;
    return buf_slice(&m->patterns->pattern[0].whole);
}
