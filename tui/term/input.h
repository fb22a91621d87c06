#ifndef TUI_TERM_INPUT_H
#define TUI_TERM_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "tui/app/key.h"

/* What the terminal sends, taken apart into keys, pastes and mouse events. No terminal and no curses here: bytes
 * in, events out. Keys are read by the grammar that xterm and everything after it follows (CSI, SS3), not by a
 * list of one terminal's strings, and with the older spellings of rxvt and the Linux console.
 *
 * A sequence that is not whole is held back. Esc alone is such a front: the caller feeds what comes, and when
 * INPUT_ESC_MS went by without more it asks with `quiet` set, which makes keys of what is held. */
enum { INPUT_ESC_MS = 25, INPUT_DOUBLE_MS = 400, INPUT_PASTE_MAX = 1024 * 1024 };

enum input_kind { INPUT_KEY, INPUT_PASTE, INPUT_MOUSE };

struct input_event {
    enum input_kind kind;
    struct key key;
    struct mouse mouse;
    struct slice paste; /* valid until the next call */
};

/* A zeroed struct is ready. */
struct input {
    struct buf held;
    size_t at; /* what of it was read already */
    bool pasting;
    struct buf paste;
    struct mouse last_click; /* for double clicks */
    int64_t last_click_ms;
};

/* Bytes read from the terminal. What memory does not suffice for is lost. */
void input_feed(struct input *in, struct slice bytes);
/* The next event; false: none is whole. */
bool input_next(struct input *in, int64_t now_ms, bool quiet, struct input_event *out);
/* Is the front of something held back? */
bool input_pending(const struct input *in);
void input_fini(struct input *in);

#endif
