#ifndef TESTS_SUPPORT_HOSTILE_H
#define TESTS_SUPPORT_HOSTILE_H

#include "lite/base/slice.h"

/* Twenty ways in which text tries to act on a terminal. `raw` must never reach the output. */
struct hostile {
    const char *name;
    struct slice text, raw;
};

#define HOSTILE(name, text, raw)                                                                   \
    {                                                                                              \
        name, { text, sizeof text - 1 },                                                           \
        {                                                                                          \
            raw, sizeof raw - 1                                                                    \
        }                                                                                          \
    }

/* clang-format off */
static const struct hostile hostile[] = {
    HOSTILE("OSC 52 clipboard", "\x1b]52;c;UEFZTE9BRA==\x07", "\x1b]52"),
    HOSTILE("OSC 8 link", "\x1b]8;;http://evil.test/\x1b\\see\x1b]8;;\x1b\\", "\x1b]8"),
    HOSTILE("OSC 0 title", "\x1b]0;PWNTITLE\x07", "\x1b]0"),
    HOSTILE("CSI erase", "\x1b[31337J", "\x1b[3"),
    HOSTILE("CSI report", "\x1b[21t", "\x1b[2"),
    HOSTILE("DCS", "\x1bPPWNDCS\x1b\\", "\x1bP"),
    HOSTILE("APC", "\x1b_PWNAPC\x1b\\", "\x1b_"),
    HOSTILE("C1 CSI in UTF-8", "\xc2\x9b" "31338J", "\xc2\x9b"),
    HOSTILE("C1 OSC in UTF-8", "\xc2\x9d" "52;c;QQ==\xc2\x9c", "\xc2\x9d"),
    HOSTILE("C1 as a raw byte", "\x9b" "31339J", "\x9b" "3"),
    HOSTILE("bell", "bel\x07" "bel", "\x07"),
    HOSTILE("backspaces", "hide\x08\x08\x08\x08show", "\x08"),
    HOSTILE("carriage return", "real\rfake", "\r"),
    HOSTILE("delete", "de\x7fl", "\x7f"),
    HOSTILE("shift out", "so\x0eso", "\x0e"),
    HOSTILE("right-to-left override", "a\u202egpj.exe", "\u202e"),
    HOSTILE("right-to-left isolate", "a\u2066x\u2069", "\u2066"),
    HOSTILE("zero-width space", "z\u200bz", "\u200b"),
    HOSTILE("tag character", "t\U000e0041t", "\U000e0041"),
    HOSTILE("overlong escape", "\xc0\x9b[31340", "\xc0"),
};
/* clang-format on */

enum { HOSTILE_COUNT = sizeof hostile / sizeof hostile[0] };

/* Returns true if the text contains the bytes. */
static inline bool hostile_within(struct slice text, struct slice raw)
{
    return text.n && memmem(text.p, text.n, raw.p, raw.n) != NULL;
}

#endif
