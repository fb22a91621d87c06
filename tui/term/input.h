#ifndef TUI_TERM_INPUT_H
#define TUI_TERM_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "tui/app/key.h"

/* Parses what the terminal sends into keys, pastes and mouse events: bytes in, events out, without a terminal and
 * without curses. Keys follow the grammar of xterm and its successors (CSI, SS3), not a list of one terminal's strings;
 * the older spellings of rxvt and the Linux console are known, too.
 *
 * An incomplete sequence is held back. Esc alone may begin one: the caller feeds the bytes that
 * arrive and, if nothing follows for INPUT_ESC_MS, calls input_next() with `quiet` set, which turns
 * the held bytes into keys. While the terminal's answer to a query is expected, Esc is held back
 * longer, because it may be the first byte of the answer. An answer that arrives in pieces is
 * discarded to its end, so that no part of it is read as keys. */
enum {
    INPUT_ESC_MS = 25,
    INPUT_ANSWER_MS = 200,
    INPUT_DOUBLE_MS = 400,
    INPUT_PASTE_MAX = 1024 * 1024
};

/* BACKGROUND: the answer to OSC 11. ANSWERED: the answer to DA1, which follows it. */
enum input_kind { INPUT_KEY, INPUT_PASTE, INPUT_MOUSE, INPUT_BACKGROUND, INPUT_ANSWERED };

struct input_event {
    enum input_kind kind;
    struct key key;
    struct mouse mouse;
    struct slice paste; /* valid until the next call */
    bool light;         /* the background */
};

/* A zeroed struct is ready. */
struct input {
    struct buf held;
    size_t at; /* the bytes before it are parsed */
    bool pasting;
    bool expects; /* an answer is expected; set by the caller, cleared by the answer to DA1 */
    size_t cut;   /* the largest number of bytes of an answer whose beginning was discarded */
    struct buf paste;
    struct mouse last_click; /* for double clicks */
    int64_t last_click_ms;
};

/* Adds bytes read from the terminal. They are lost if out of memory. */
void input_feed(struct input *in, struct slice bytes);
/* Returns false if no event is complete. */
bool input_next(struct input *in, int64_t now_ms, bool quiet, struct input_event *out);
/* Returns true if the beginning of a sequence is held back. */
bool input_pending(const struct input *in);
void input_fini(struct input *in);

#endif
