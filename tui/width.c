#include "tui/width.h"

#include <stddef.h>

#include <utf8proc.h>

struct range {
    uint32_t first, last;
};

/* New in Unicode 15. utf8proc knows them, glibc 2.36 does not, so ncurses could not place them. */
/* clang-format off */
static const struct range young[] = {
    { 0x0CF3, 0x0CF3 },   { 0x0ECE, 0x0ECE },   { 0x10EFD, 0x10EFF }, { 0x1123F, 0x11241 },
    { 0x11B00, 0x11B09 }, { 0x11F00, 0x11F59 }, { 0x1342F, 0x1342F }, { 0x13439, 0x13455 },
    { 0x1B132, 0x1B132 }, { 0x1B155, 0x1B155 }, { 0x1D2C0, 0x1D2D3 }, { 0x1DF25, 0x1DF2A },
    { 0x1E030, 0x1E06D }, { 0x1E08F, 0x1E08F }, { 0x1E4D0, 0x1E4F9 }, { 0x1F6DC, 0x1F6DC },
    { 0x1F774, 0x1F776 }, { 0x1F77B, 0x1F77F }, { 0x1F7D9, 0x1F7D9 }, { 0x1FA75, 0x1FA77 },
    { 0x1FA87, 0x1FA88 }, { 0x1FAAD, 0x1FAAF }, { 0x1FABB, 0x1FABD }, { 0x1FABF, 0x1FABF },
    { 0x1FACE, 0x1FACF }, { 0x1FADA, 0x1FADB }, { 0x1FAE8, 0x1FAE8 }, { 0x1FAF7, 0x1FAF8 },
    { 0x2B739, 0x2B739 }, { 0x31350, 0x323AF },
};

/* utf8proc counts one column for each of these; glibc lets them sit on the syllable before. */
static const struct range jamo[] = { { 0x1160, 0x11FF }, { 0xD7B0, 0xD7FB } };
/* utf8proc counts one column, glibc two: circled numbers on black squares, hexagrams. */
static const struct range wide[] = { { 0x3248, 0x324F }, { 0x4DC0, 0x4DFF } };
/* clang-format on */

#define IN(table, cp) in_ranges(table, sizeof(table) / sizeof(table)[0], cp)

static bool in_ranges(const struct range *r, size_t n, uint32_t cp)
{
    size_t low = 0;

    while (n) {
        size_t half = n / 2;

        if (r[low + half].last < cp) {
            low += half + 1;
            n -= half + 1;
        } else if (r[low + half].first <= cp) {
            return true;
        } else {
            n = half;
        }
    }
    return false;
}

static int width_by_category(uint32_t cp)
{
    int width = utf8proc_charwidth((utf8proc_int32_t)cp);

    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return -1;
    case UTF8PROC_CATEGORY_MC: return width ? width : 1; /* utf8proc: 0 for most */
    default: return width;
    }
}

int width_of(uint32_t cp)
{
    if (cp < 0x7F)
        return cp < 0x20 ? -1 : 1;
    if (cp > 0x10FFFF || IN(young, cp))
        return -1;
    if (IN(jamo, cp))
        return width_by_category(cp) < 0 ? -1 : 0;
    if (IN(wide, cp))
        return 2;
    return width_by_category(cp);
}

bool width_breaks(uint32_t before, uint32_t next, int32_t *state)
{
    return utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)next,
                                            state);
}

bool width_pictograph(uint32_t cp)
{
    return utf8proc_get_property((utf8proc_int32_t)cp)->boundclass ==
           UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}
