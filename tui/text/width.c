#include "tui/text/width.h"

#include <stdlib.h>
#include <wchar.h>

#include <utf8proc.h>

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
    if (cp > 0x10FFFF)
        return -1;
    int width = width_by_category(cp);

    /* The two libraries know different versions of Unicode; in a locale of one byte a character wcwidth knows none. */
    return width < 0 || MB_CUR_MAX == 1 ? width : wcwidth((wchar_t)cp);
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
