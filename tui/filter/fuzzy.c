#include "tui/filter/fuzzy.h"

#include <string.h>

#include "tui/filter/fold.h"

/* The parts of a score. A run of letters beats the same letters as initials of words, initials beat letters inside
 * words, and opening a gap costs more than lengthening it. */
enum {
    SCORE_LETTER = 16,
    SCORE_WORD = 10,   /* the letter begins a word */
    SCORE_CAMEL = 8,   /* or a part of one */
    SCORE_RUN = 9,     /* it directly follows the one before */
    SCORE_START = 4,   /* it is the first of the text */
    COST_GAP = 3,      /* opening a gap */
    COST_GAP_MORE = 1, /* each byte of it after the first */
    NEAR_GAP = 6,      /* bytes between two letters in a long text */
};

static const int impossible = -100000;

bool fuzzy_needle_init(struct fuzzy_needle *needle, struct slice word)
{
    struct buf text = { 0 }, classes = { 0 };
    bool ok = fold_text(word, FUZZY_NEEDLE_MAX, &text, &classes) == ERR_OK;

    *needle = (struct fuzzy_needle){ 0 };
    if (ok && text.n > 0) {
        needle->n = text.n;
        memcpy(needle->text, text.p, text.n);
        memcpy(needle->class, classes.p, text.n);
        needle->signature = fold_signature(buf_slice(&text));
        for (size_t i = 0; i < text.n; i++)
            needle->keep_case |= (needle->class[i] & FOLD_UPPER) != 0;
    }
    buf_fini(&text);
    buf_fini(&classes);
    return ok;
}

static bool is_tail_byte(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static bool byte_matches(const struct fuzzy_needle *needle, size_t k,
                         struct fuzzy_haystack haystack, size_t i)
{
    if (needle->text[k] != haystack.text[i])
        return false;
    return !needle->keep_case || ((needle->class[k] ^ haystack.class[i]) & FOLD_UPPER) == 0;
}

/* The next place, from i on and before end, of the character that begins at byte k of the needle; end if not found. */
static size_t find_char(const struct fuzzy_needle *needle, size_t k, struct fuzzy_haystack haystack,
                        size_t i, size_t end)
{
    while (i < end) {
        const char *p = memchr(haystack.text + i, needle->text[k], end - i);

        if (!p)
            return end;
        i = (size_t)(p - haystack.text);
        size_t tail = 0;

        while (byte_matches(needle, k + tail, haystack, i + tail)) {
            tail++;
            if (k + tail == needle->n || !is_tail_byte(needle->text[k + tail]))
                return i;
            if (i + tail == haystack.n)
                break;
        }
        i++;
    }
    return end;
}

static size_t char_length(const struct fuzzy_needle *needle, size_t k)
{
    size_t n = 1;

    while (k + n < needle->n && is_tail_byte(needle->text[k + n]))
        n++;
    return n;
}

/* The score of the byte at i, `gap` bytes after the byte before it. */
static int byte_score(struct fuzzy_haystack haystack, size_t i, bool first, size_t gap)
{
    int score = SCORE_LETTER;

    if (haystack.class[i] & FOLD_WORD)
        score += SCORE_WORD;
    else if (haystack.class[i] & FOLD_CAMEL)
        score += SCORE_CAMEL;
    if (i == 0)
        score += SCORE_START;
    if (first)
        return score;
    if (gap == 0)
        return score + SCORE_RUN;
    return score - COST_GAP - COST_GAP_MORE * (int)(gap - 1);
}

static int fuzzy_clamp(int score)
{
    return score < 0 ? 0 : score;
}

/* The first match from `start` on: at[k] gets the place of byte k. Returns the end of the match, or 0. */
static size_t first_alignment(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack,
                              size_t start, uint16_t *at)
{
    size_t i = start;

    for (size_t k = 0; k < needle->n;) {
        i = find_char(needle, k, haystack, i, haystack.n);
        if (i == haystack.n)
            return 0;
        size_t len = char_length(needle, k);

        for (size_t b = 0; b < len; b++)
            at[k + b] = (uint16_t)(i + b);
        i += len;
        k += len;
    }
    return i;
}

static int alignment_score(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack,
                           const uint16_t *at)
{
    int score = byte_score(haystack, at[0], true, 0);

    for (size_t k = 1; k < needle->n; k++)
        score += byte_score(haystack, at[k], false, (size_t)(at[k] - at[k - 1] - 1));
    return fuzzy_clamp(score);
}

/* The last start from which the match still ends at `end`: walking back makes it as short as possible without trying
 * every alignment. */
static size_t tightest_start(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack,
                             size_t end)
{
    size_t i = end, k = needle->n;

    while (k > 0 && i > 0) {
        i--;
        if (byte_matches(needle, k - 1, haystack, i))
            k--;
        else if (k < needle->n && is_tail_byte(needle->text[k]))
            return 0; /* inside a character of several bytes: the first match is kept */
    }
    return i;
}

static struct fuzzy_haystack haystack_front(struct fuzzy_haystack haystack)
{
    if (haystack.n > FUZZY_HAYSTACK_MAX)
        haystack.n = FUZZY_HAYSTACK_MAX;
    return haystack;
}

int fuzzy_quick(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack)
{
    uint16_t at[FUZZY_NEEDLE_MAX];

    haystack = haystack_front(haystack);
    if (needle->n == 0 || needle->n > haystack.n)
        return needle->n == 0 ? 0 : FUZZY_NO_MATCH;
    size_t end = first_alignment(needle, haystack, 0, at);

    if (end == 0)
        return FUZZY_NO_MATCH;
    int score = alignment_score(needle, haystack, at);

    if (end - at[0] == needle->n) /* one run: it cannot be made tighter */
        return score;
    size_t start = tightest_start(needle, haystack, end);

    if (start <= at[0] || first_alignment(needle, haystack, start, at) == 0)
        return score;
    int tight = alignment_score(needle, haystack, at);

    return tight > score ? tight : score;
}

/* The table of fuzzy_best(): ending[k][i] is the best score of the first k + 1 bytes if the last of them is at i;
 * upto[k][i] is the best if it is at i or before, minus the gap since. */
struct alignment_scores {
    int ending[FUZZY_NEEDLE_MAX][FUZZY_HAYSTACK_MAX];
    int upto[FUZZY_NEEDLE_MAX][FUZZY_HAYSTACK_MAX];
};

static int ending_at(const struct alignment_scores *w, const struct fuzzy_needle *needle,
                     struct fuzzy_haystack haystack, size_t k, size_t i)
{
    if (!byte_matches(needle, k, haystack, i))
        return impossible;
    if (k == 0)
        return byte_score(haystack, i, true, 0);
    if (i == 0)
        return impossible;
    int run = w->ending[k - 1][i - 1] + byte_score(haystack, i, false, 0);

    if (is_tail_byte(needle->text[k]) || i < 2)
        return run;
    int gap = w->upto[k - 1][i - 2] + byte_score(haystack, i, false, 1);

    return run > gap ? run : gap;
}

/* Walks back through the table from the best end. */
static void trace_alignment(const struct alignment_scores *w, const struct fuzzy_needle *needle,
                            struct fuzzy_haystack haystack, size_t end, uint16_t *at)
{
    size_t i = end;

    for (size_t k = needle->n; k-- > 0;) {
        at[k] = (uint16_t)i;
        if (k == 0)
            return;
        int run = i > 0 ? w->ending[k - 1][i - 1] + byte_score(haystack, i, false, 0) : impossible;

        if (run == w->ending[k][i]) {
            i--;
            continue;
        }
        for (i -= 2; w->ending[k - 1][i] != w->upto[k - 1][i]; i--)
            ;
    }
}

int fuzzy_best(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack, uint16_t *at)
{
    /* 128 KiB of stack, of which needle->n rows of haystack.n are touched */
    struct alignment_scores w;
    size_t end = 0;

    haystack = haystack_front(haystack);
    if (needle->n == 0 || haystack.n == 0)
        return needle->n == 0 ? 0 : FUZZY_NO_MATCH;

    /* The best score of each beginning of the needle, up to each place of the haystack. */
    for (size_t k = 0; k < needle->n; k++) {
        int best = impossible;

        for (size_t i = 0; i < haystack.n; i++) {
            int here = ending_at(&w, needle, haystack, k, i);

            best -= COST_GAP_MORE;
            if (here > best)
                best = here;
            w.ending[k][i] = here;
            w.upto[k][i] = best;
        }
    }

    const int *last = w.ending[needle->n - 1];

    for (size_t i = 1; i < haystack.n; i++)
        if (last[i] > last[end])
            end = i;
    if (last[end] <= impossible / 2)
        return FUZZY_NO_MATCH;
    if (at)
        trace_alignment(&w, needle, haystack, end, at);
    return fuzzy_clamp(last[end]);
}

static bool equal_at(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack, size_t i)
{
    if (memcmp(haystack.text + i, needle->text, needle->n) != 0)
        return false;
    for (size_t k = 0; needle->keep_case && k < needle->n; k++)
        if (!byte_matches(needle, k, haystack, i + k))
            return false;
    return true;
}

static int run_score(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack, size_t i)
{
    int score = 0;

    for (size_t k = 0; k < needle->n; k++)
        score += byte_score(haystack, i + k, k == 0, 0);
    return score;
}

/* The best of all places of the literal word; one at the start of a word ends the search. */
static int exact_anywhere(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack,
                          uint16_t *at)
{
    int best = FUZZY_NO_MATCH;
    size_t i = 0;

    while (i + needle->n <= haystack.n) {
        const char *p = memmem(haystack.text + i, haystack.n - i, needle->text, needle->n);

        if (!p)
            break;
        i = (size_t)(p - haystack.text);
        int score = equal_at(needle, haystack, i) ? run_score(needle, haystack, i) : FUZZY_NO_MATCH;

        if (score > best) {
            best = score;
            if (at)
                *at = (uint16_t)i;
            if (haystack.class[i] & FOLD_WORD)
                break;
        }
        i++;
    }
    return best;
}

int fuzzy_exact(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack,
                enum anchor anchor, uint16_t *at)
{
    if (haystack.n > UINT16_MAX)
        haystack.n = UINT16_MAX;
    if (needle->n > haystack.n || (anchor == ANCHOR_BOTH && needle->n != haystack.n))
        return FUZZY_NO_MATCH;
    if (anchor == ANCHOR_NONE)
        return needle->n == 0 ? 0 : exact_anywhere(needle, haystack, at);
    size_t i = anchor & ANCHOR_START ? 0 : haystack.n - needle->n;

    if (!equal_at(needle, haystack, i))
        return FUZZY_NO_MATCH;
    if (at)
        *at = (uint16_t)i;
    return run_score(needle, haystack, i);
}

/* Returns true if the needle matches from i on with small gaps, taking the next place each time. */
static bool near_from(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack, size_t i)
{
    for (size_t k = 0; k < needle->n;) {
        size_t end = k == 0 ? i + 1 : i + NEAR_GAP + 1;

        if (end > haystack.n)
            end = haystack.n;
        size_t found = find_char(needle, k, haystack, i, end);

        if (found >= end)
            return false;
        size_t len = char_length(needle, k);

        i = found + len;
        k += len;
    }
    return true;
}

int fuzzy_near(const struct fuzzy_needle *needle, struct fuzzy_haystack haystack)
{
    int best = FUZZY_NO_MATCH;

    for (size_t i = 0; i + needle->n <= haystack.n; i++) {
        i = find_char(needle, 0, haystack, i, haystack.n);
        if (i + needle->n > haystack.n)
            break;
        bool begins = haystack.class[i] & (FOLD_WORD | FOLD_CAMEL);

        if (equal_at(needle, haystack, i)) {
            best = run_score(needle, haystack, i);
            if (begins)
                return best;
        } else if (begins && best == FUZZY_NO_MATCH && near_from(needle, haystack, i)) {
            best = SCORE_LETTER * (int)needle->n;
        }
    }
    return best;
}
