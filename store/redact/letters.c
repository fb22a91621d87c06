#include "store/redact/token_form.h"

/* The sets of letters that tokens and values are made of. */

/* clang-format off */
#define DIGIT (LETTERS_DIGIT | LETTERS_HEX | LETTERS_UPPER | LETTERS_WORD)
#define LOWER LETTERS_WORD
#define UPPER (LETTERS_WORD | LETTERS_UPPER)
#define HEX LETTERS_HEX
const unsigned short letters_of[256] = {
    ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT,
    ['5'] = DIGIT, ['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT,
    ['a'] = LOWER | HEX, ['b'] = LOWER | HEX, ['c'] = LOWER | HEX,
    ['d'] = LOWER | HEX, ['e'] = LOWER | HEX, ['f'] = LOWER | HEX,
    ['g'] = LOWER, ['h'] = LOWER, ['i'] = LOWER, ['j'] = LOWER, ['k'] = LOWER,
    ['l'] = LOWER, ['m'] = LOWER, ['n'] = LOWER, ['o'] = LOWER, ['p'] = LOWER,
    ['q'] = LOWER, ['r'] = LOWER, ['s'] = LOWER, ['t'] = LOWER, ['u'] = LOWER,
    ['v'] = LOWER, ['w'] = LOWER, ['x'] = LOWER, ['y'] = LOWER, ['z'] = LOWER,
    ['A'] = UPPER | HEX, ['B'] = UPPER | HEX, ['C'] = UPPER | HEX,
    ['D'] = UPPER | HEX, ['E'] = UPPER | HEX, ['F'] = UPPER | HEX,
    ['G'] = UPPER, ['H'] = UPPER, ['I'] = UPPER, ['J'] = UPPER, ['K'] = UPPER,
    ['L'] = UPPER, ['M'] = UPPER, ['N'] = UPPER, ['O'] = UPPER, ['P'] = UPPER,
    ['Q'] = UPPER, ['R'] = UPPER, ['S'] = UPPER, ['T'] = UPPER, ['U'] = UPPER,
    ['V'] = UPPER, ['W'] = UPPER, ['X'] = UPPER, ['Y'] = UPPER, ['Z'] = UPPER,
    ['_'] = LETTERS_LOW, ['-'] = LETTERS_DASH, ['.'] = LETTERS_DOT,
    ['+'] = LETTERS_BASE64, ['/'] = LETTERS_BASE64, ['='] = LETTERS_BASE64,
    [':'] = LETTERS_MARKS, ['~'] = LETTERS_MARKS, ['@'] = LETTERS_MARKS,
    ['%'] = LETTERS_MARKS, ['!'] = LETTERS_MARKS,
};
#undef DIGIT
#undef LOWER
#undef UPPER
#undef HEX
/* clang-format on */

size_t letters_run(struct slice text, size_t at, unsigned letters, size_t most)
{
    size_t n = 0;

    while (n < most && at + n < text.n && letters_have(letters, text.p[at + n]))
        n++;
    return n;
}
