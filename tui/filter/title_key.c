#include "tui/filter/title_key.h"

/* First digits, in the order of the bytes; 0 is no digit of any byte: there the title has ended. Those marked so are
 * followed by a second digit, which tells the bytes of a group of 32 apart. */
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
