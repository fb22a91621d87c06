#include "tui/filter/fold.h"

#include <string.h>

#include <utf8proc.h>

#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"

/* The largest number of characters into which one is folded: ligatures and Hangul syllables become
 * several. */
enum { FOLDED_MAX = 8 };

enum kind { KIND_SIGN, KIND_LOWER, KIND_UPPER, KIND_DIGIT, KIND_OTHER };

static enum kind char_kind(uint32_t cp)
{
    if (cp < 0x80) {
        if (cp >= 'a' && cp <= 'z')
            return KIND_LOWER;
        if (cp >= 'A' && cp <= 'Z')
            return KIND_UPPER;
        return cp >= '0' && cp <= '9' ? KIND_DIGIT : KIND_SIGN;
    }
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return KIND_UPPER;
    case UTF8PROC_CATEGORY_LL: return KIND_LOWER;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL: return KIND_DIGIT;
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_LM: return KIND_OTHER;
    default: return KIND_SIGN;
    }
}

/* A word begins after a sign; a part of a word at a capital after a small letter, or at a digit. Scripts without case
 * (CJK) write words without blanks: each character may begin one. */
static uint8_t char_class(enum kind before, enum kind now)
{
    uint8_t upper = now == KIND_UPPER ? FOLD_UPPER : 0;

    if (now == KIND_SIGN)
        return 0;
    if (before == KIND_SIGN)
        return upper | FOLD_WORD;
    bool camel = (now == KIND_UPPER && before == KIND_LOWER) ||
                 (now == KIND_DIGIT && before != KIND_DIGIT) || now == KIND_OTHER;

    return camel ? upper | FOLD_CAMEL : upper;
}

static size_t fold_one(uint32_t cp, char out[FOLDED_MAX * 4])
{
    if (cp >= 0x80) {
        /* Other characters are taken apart, and lose their accents and their case. */
        utf8proc_int32_t part[FOLDED_MAX];
        int boundary = 0;
        const utf8proc_option_t how = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                      UTF8PROC_STRIPMARK | UTF8PROC_IGNORE;
        utf8proc_ssize_t parts =
            utf8proc_decompose_char((utf8proc_int32_t)cp, part, FOLDED_MAX, how, &boundary);
        size_t n = 0;

        if (parts < 0 || parts > FOLDED_MAX) /* not a character, or a ligature of a whole phrase */
            return utf8_encode(out, cp);
        for (utf8proc_ssize_t i = 0; i < parts; i++)
            n += utf8_encode(out + n, (uint32_t)part[i]);
        return n;
    }
    if (cp >= 'A' && cp <= 'Z')
        cp += 'a' - 'A';
    out[0] = cp < ' ' || cp == 0x7f ? ' ' : (char)cp;
    return 1;
}

enum err_code fold_text(struct slice in, size_t limit, struct buf *text, struct buf *classes)
{
    enum kind before = KIND_SIGN;
    size_t start = text->n;

    while (in.n > 0) {
        char folded[FOLDED_MAX * 4];
        uint32_t cp = utf8_next(&in, false);
        size_t n = fold_one(cp, folded);
        enum kind now = char_kind(cp);
        uint8_t class = char_class(before, now);

        if (text->n - start + n > limit)
            break;
        if (buf_add(text, (struct slice){ folded, n }))
            return ERR_NOMEM;
        for (size_t i = 0; classes && i < n; i++) {
            uint8_t mine = i == 0 ? class | FOLD_FIRST : class & FOLD_UPPER;

            if (buf_add_byte(classes, (char)mine))
                return ERR_NOMEM;
        }
        if (n > 0) /* a mark that vanished does not end a word */
            before = now;
    }
    return ERR_OK;
}

size_t fold_map(struct slice in, uint32_t *origin, size_t cap)
{
    const char *begin = in.p;
    size_t used = 0;

    while (in.n > 0) {
        char folded[FOLDED_MAX * 4];
        uint32_t at = (uint32_t)(in.p - begin);
        size_t n = fold_one(utf8_next(&in, false), folded);

        if (used + n > cap)
            break;
        for (size_t i = 0; i < n; i++)
            origin[used++] = at;
    }
    return used;
}

uint64_t fold_signature(struct slice folded)
{
    uint64_t set = 0;

    for (size_t i = 0; i < folded.n; i++) {
        unsigned char c = (unsigned char)folded.p[i];
        unsigned bit;

        if (c >= 'a' && c <= 'z')
            bit = c - 'a';
        else if (c >= '0' && c <= '9')
            bit = 26u + c - '0';
        else
            bit = 36u + c % 28u;
        set |= (uint64_t)1 << bit;
    }
    return set;
}

/* First digits, in the order of the bytes; 0 is the end of the title. Digits marked "second" are
 * followed by another one, which distinguishes the bytes of a group of 32. */
enum {
    BASE = 37, /* to the power of 9 it is TITLE_NONE */
    GROUP_BITS = 5,
    DIGIT_CONTROL = 1, /* 00 .. 1f, second */
    DIGIT_BLANK,
    DIGIT_SIGN,  /* 21 .. 3f, second */
    DIGIT_UPPER, /* 40 .. 5f, second */
    DIGIT_GRAVE, /* 60, second */
    DIGIT_LETTER,
    DIGIT_BRACE = DIGIT_LETTER + 26, /* 7b .. 7f, second */
    DIGIT_HIGH,                      /* 80 .. ff: four groups, second */
};

static unsigned first_digit(unsigned char c)
{
    unsigned group = c >> GROUP_BITS;

    switch (group) {
    case 0: return DIGIT_CONTROL;
    case 1: return c == ' ' ? DIGIT_BLANK : DIGIT_SIGN;
    case 2: return DIGIT_UPPER;
    case 3: return c < 'a' ? DIGIT_GRAVE : c > 'z' ? DIGIT_BRACE : DIGIT_LETTER + (c - 'a');
    default: return DIGIT_HIGH + (group - 4);
    }
}

static bool is_one_digit(unsigned char c)
{
    return c == ' ' || (c >= 'a' && c <= 'z');
}

void fold_title_keys(struct slice folded, uint64_t key[TITLE_KEYS])
{
    static const size_t end[TITLE_KEYS] = { 9, 21, TITLE_DIGITS };
    uint8_t digit[TITLE_DIGITS + 1] = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < folded.n && n < TITLE_DIGITS; i++) {
        unsigned char c = (unsigned char)folded.p[i];

        digit[n++] = (uint8_t)first_digit(c);
        if (!is_one_digit(c))
            digit[n++] = (uint8_t)(1 + (c & ((1u << GROUP_BITS) - 1)));
    }
    for (size_t k = 0, i = 0; k < TITLE_KEYS; k++)
        for (key[k] = 0; i < end[k]; i++)
            key[k] = key[k] * BASE + digit[i];
}

bool fold_title_is_cut(uint64_t key)
{
    return key % BASE != 0;
}

bool fold_has(struct slice text, const char *sought)
{
    AUTO_BUF folded = { 0 }, needle = { 0 };

    return !fold_text(text, SIZE_MAX, &folded, NULL) &&
           !fold_text(slice_of(sought), SIZE_MAX, &needle, NULL) && needle.n && folded.n &&
           memmem(folded.p, folded.n, needle.p, needle.n);
}
