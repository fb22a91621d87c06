#include "store/systems/claude/show/collate.h"

/* The order of the Unicode root collation. Letters stand for both cases. */
static const char order[] = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
                            "abcdefghijklmnopqrstuvwxyz";

static int lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* 0: does not count. */
static int weight(unsigned char c)
{
    if (c >= 0x80)
        return 0x100 + c;
    const char *at = c ? strchr(order, lower(c)) : NULL;

    return at ? (int)(at - order) + 1 : 0;
}

static int next_weight(struct slice *text, unsigned char *c)
{
    while (text->n) {
        *c = (unsigned char)*text->p++;
        text->n--;
        if (weight(*c))
            return weight(*c);
    }
    *c = 0;
    return 0;
}

int claude_collate(struct slice a, struct slice b)
{
    int by_case = 0;

    for (;;) {
        unsigned char ca, cb;
        int wa = next_weight(&a, &ca), wb = next_weight(&b, &cb);

        if (wa != wb)
            return wa < wb ? -1 : 1;
        if (wa == 0)
            return by_case;
        if (by_case == 0 && ca != cb)
            by_case = ca == lower(ca) ? -1 : 1; /* small letters first */
    }
}
