#ifndef TUI_TERM_TERM_H
#define TUI_TERM_TERM_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/fs/kernel.h"
#include "store/proc/process.h"
#include "tui/app/key.h"
#include "tui/config/config.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/theme.h"

/* ---- drawing (paint.c) ---- */

/* Draws frames on the curses screen. Rows that have not changed are not touched, and the screen is never cleared, so
 * that curses sends little more than the difference. */
struct paint {
    struct frame shown; /* the contents of the curses screen; no cells: not known */
    const struct theme *theme;
    bool utf8;             /* the locale is UTF-8; otherwise only ASCII is drawn */
    int colours;           /* 0: attributes only; 8, 16, 256 */
    int pair[STYLE_COUNT]; /* the curses pair of each style; 0: the terminal's own colours */
    bool true_colour;      /* the terminal has 24-bit colours, but curses knows only 256, so */
    int32_t slot[256];     /* these numbers stand for a THEME_RGB; 0: for themselves */
};

/* Facts about colours that the terminal's description does not contain. */
struct paint_colours {
    enum colours wanted; /* the setting */
    bool no_color;       /* NO_COLOR, and */
    bool true_colour;    /* COLORTERM: with COLOURS_AUTO only */
};

/* Called after newterm(). */
void paint_init(struct paint *p, const struct theme *theme, struct paint_colours c);
/* Sets the theme for the next frame, which is then drawn completely. */
void paint_set_theme(struct paint *p, const struct theme *theme);
/* Appends what curses has written, with true colours in place of the numbers that stand for them. */
MUST_CHECK enum err_code paint_expand(const struct paint *p, struct slice drawn, struct buf *out);
void paint_fini(struct paint *p);
/* Forgets what is on the screen: the next frame is drawn completely. */
void paint_invalidate(struct paint *p);
/* Draws the rows that differ from the frame before. If out of memory nothing is drawn. */
void paint_frame(struct paint *p, const struct frame *f);

/* Signals that the loop waits for. They are blocked and read from a descriptor, so they interrupt
 * nothing: SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH and SIGTSTP. They are blocked before the
 * first thread starts, so every thread blocks them. */
struct term_signals {
    struct proc_signals of; /* its descriptor is readable when a signal has come */
    sigset_t before;        /* restored by term_signals_unblock() */
};

MUST_CHECK enum err_code term_signals_block(struct term_signals *s, struct err *e);
void term_signals_unblock(struct term_signals *s);
/* The next signal that has come, or 0. */
int term_signals_next(const struct term_signals *s);
/* Stops the job as Ctrl+Z does, and returns when it continues. */
void term_signals_suspend(struct term_signals *s);
/* Waits for a child that has the terminal: signals from the keyboard are for the child only. Returns the status of
 * waitpid(). */
int term_signals_wait_for(struct term_signals *s, pid_t child);

/* ---- the terminal (term.c) ---- */

/* The user's terminal, opened as /dev/tty, so that stdin and stdout may go elsewhere. While it is open, the screen is
 * ours; term_close(), a crash and a suspension restore everything.
 *
 * A process has only one terminal, because curses and the crash handlers support only one. */
struct terminal;

struct term_options {
    const char *type; /* $TERM */
    const struct theme *theme;
    struct paint_colours colours;
    bool mouse;
    bool asks_background; /* term_background_asked() */
};

/* ERR_USAGE if the process has no terminal, or the terminal cannot draw a screen. */
MUST_CHECK enum err_code term_open(const struct term_options *o, struct terminal **out,
                                   struct err *e);
void term_close(struct terminal *t); /* may be NULL */

/* The descriptor to wait for and to read keys from; it does not block. */
int term_input(const struct terminal *t);
/* The descriptor to write to; it blocks. For programs that take over the terminal. */
int term_output(const struct terminal *t);
/* The present size, at least 1; curses is resized, too. */
void term_size(struct terminal *t, int *rows, int *cols);
/* Restores the terminal for another program, and takes it again. */
void term_leave(struct terminal *t);
void term_enter(struct terminal *t);
/* Sets the theme for the next frame. */
void term_set_theme(struct terminal *t, const struct theme *theme);
/* Returns true if the terminal was asked for its background: INPUT_BACKGROUND and INPUT_ANSWERED
 * will follow if the terminal supports the query. */
bool term_background_asked(const struct terminal *t);
/* Shows the frame; only the difference from the previous frame is sent. */
void term_paint(struct terminal *t, const struct frame *f);
/* Forgets what is on the screen: the next paint sends everything. */
void term_invalidate(struct terminal *t);
/* Copies text to the clipboard of the terminal (OSC 52). ERR_UNSUPPORTED if it is too long. */
MUST_CHECK enum err_code term_copy(struct terminal *t, struct slice text, struct err *e);

/* ---- changes of files (watch.c) ---- */

/* Notices when session files appear, grow or vanish (store/fs/kernel.h). Many changes are reported
 * as one: not before WATCH_QUIET_MS after the first, and at most once in WATCH_EVERY_MS. When the
 * system has no watches left, further folders are not watched. A view that follows is told sooner. */
enum {
    WATCH_QUIET_MS = 150,
    WATCH_EVERY_MS = 1000,
    WATCH_FOLLOW_MS = 20,
    WATCH_FOLLOW_EVERY_MS = 100,
    WATCH_LOG_MS = 3000,
};

struct watch {
    int fd;                 /* readable after a change; -1 if nothing is watched */
    int64_t changed_ms;     /* the first change not yet reported, or TIME_NONE */
    int64_t reported_ms;    /* the last report, or TIME_NONE */
    struct fs_watch *files; /* NULL if nothing can be watched */
    char log[PATH_MAX];     /* the folder of the operation log; "": none */
    bool awaits_log;        /* that does not exist yet */
};

void watch_init(struct watch *w);
void watch_fini(struct watch *w);
/* Watches the folder of each session. */
void watch_sessions(struct watch *w, const struct session_ref *ref, size_t n);
/* Watches a folder in which folders of sessions appear; each new folder is watched as well. */
void watch_root(struct watch *w, const char *path);
/* Watches the operation log: what is changed in it need not show in the files of the sessions. */
void watch_log(struct watch *w, const char *path);
/* Returns true if a change was begun within WATCH_LOG_MS. */
bool watch_log_grew(struct watch *w, int64_t now_ms);
/* Reads the events when the descriptor is readable. */
void watch_read(struct watch *w, int64_t now_ms);
/* The time at which a change is to be reported, or TIME_NONE. */
int64_t watch_due_ms(const struct watch *w, bool follows);
/* Notes that the change was reported. */
void watch_mark_reported(struct watch *w, int64_t now_ms);

/* ---- input (input.c) ---- */

/* Parses what the terminal sends into keys, pastes and mouse events: bytes in, events out, without a terminal and
 * without curses. Keys follow the grammar of xterm and its successors (CSI, SS3), not a list of one terminal's strings;
 * the older spellings of rxvt and the Linux console are known, too.
 *
 * An incomplete sequence is held back. Esc alone may begin one: the caller feeds the bytes that
 * arrive and, if nothing follows for input_hold_ms(), calls input_next() with `quiet` set, which turns
 * the held bytes into keys. Esc alone waits for INPUT_ESC_MS, and longer where it would end the program: over a
 * slow line the pieces of an arrow key arrive up to INPUT_PIECES_MS apart. Where Esc was read as a key, what then
 * follows late is discarded. While the terminal's answer to a query is expected, Esc is held back
 * longer, because it may be the first byte of the answer. An answer that arrives in pieces is
 * discarded to its end, so that no part of it is read as keys. A paste whose end is lost lasts until Esc or ^C is
 * pressed and nothing follows for INPUT_PIECES_MS. */
enum {
    INPUT_ESC_MS = 25,
    INPUT_PIECES_MS = 600,
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
    /* when an Esc arrived after which nothing has come yet, and when one was read as a key; 0: not */
    int64_t lone_ms, esc_ms;
    struct buf paste;
    struct mouse last_click; /* for double clicks */
    int64_t last_click_ms;
};

/* Adds bytes read from the terminal. They are lost if out of memory. */
void input_feed(struct input *in, struct slice bytes);
/* Returns false if no event is complete. */
bool input_next(struct input *in, int64_t now_ms, bool quiet, struct input_event *out);
/* Returns how long to wait for the rest of what is held back; TIME_NONE: nothing is. esc_quits: an Esc alone would end
 * the program. */
int64_t input_hold_ms(const struct input *in, bool esc_quits);
void input_fini(struct input *in);

/* The user's editor ("vim", "code --wait"; NULL: vi) on the terminal tty, whose screen was left before. */
struct editor {
    const char *command, *temp_dir;
    struct term_signals *signals;
    int tty;
};

/* Runs the editor on a read-only copy of a file and waits for it: an agent may be writing to the file, and what is typed
 * by accident must not reach a conversation. A copy that was changed stays in temp_dir, because it is work of the
 * person; `kept` then says where. */
MUST_CHECK enum err_code editor_run_copy(const struct editor *editor, const char *path,
                                         struct buf *kept, struct err *e);

#endif
