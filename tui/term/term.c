#include "tui/term/term.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "store/fs/kernel.h"

/* The screen belongs to the program for a while, and the shell must get it back in the same state,
 * even after a crash. This is why signals, the rescue and the modes of the terminal are together: a
 * mode that is set on entering has to be reset in term_leave() and also in `restore`, which is all
 * that the handler of a crash can send. The rescue is armed before the first mode is set, and
 * disarmed after the last one was reset.
 *
 *     frame -> curses -> file in memory -> true colours -> write to /dev/tty
 *
 * Curses only draws: the loop reads the keys and the signals, and the line discipline is set here.
 * A write that fails is not reported, because the loop notices a lost terminal when it reads. */

static const int held[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH, SIGTSTP };

enum err_code term_signals_block(struct term_signals *s, struct err *e)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        sigaddset(&set, held[i]);

    sigprocmask(SIG_BLOCK, &set, &s->before);
    if (proc_signals_open(&s->of, &set)) {
        sigprocmask(SIG_SETMASK, &s->before, NULL);
        return err_sys(e, "", "wait for signals");
    }
    return ERR_OK;
}

void term_signals_unblock(struct term_signals *s)
{
    proc_signals_close(&s->of);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
}

int term_signals_next(const struct term_signals *s)
{
    return proc_signals_next(&s->of);
}

void term_signals_suspend(struct term_signals *s)
{
    sigset_t stop, before;

    proc_signals_pause(&s->of);
    signal(SIGTSTP, SIG_DFL); /* curses has installed its own handler */
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    /* Stops the whole job, as the terminal does. An orphaned job is not stopped, because no shell
     * could continue it. */
    kill(0, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    proc_signals_continue(&s->of);
}

int term_signals_wait_for(struct term_signals *s, pid_t child)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
    sigset_t stop, before;
    int status = 0;

    proc_signals_pause(&s->of);
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    signal(SIGTSTP, SIG_DFL); /* Ctrl+Z stops both, and fg continues both */
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    /* A ^C that was meant for the child waits here, because signals that are blocked are not ignored; ignoring it again
     * forgets it. */
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGQUIT, &ignore, NULL);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    proc_signals_continue(&s->of);
    return status;
}

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS };
enum { CRASHES = sizeof crashes / sizeof crashes[0] };

/* The only mutable state at file level in the program: a signal handler gets no argument of ours. No handler can run
 * while it is written (armed last, disarmed first). */
static struct {
    volatile sig_atomic_t armed;
    int fd;
    struct termios found;
    struct sigaction before[CRASHES];
} rescue;

/* Turns paste, mouse and attributes off, shows the cursor and the main screen. Terminals without these modes ignore it;
 * terminfo cannot be used in a signal handler. */
static const char restore[] = "\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[0m\x1b[?25h\x1b[?1049l\r\n";

static void restore_terminal(void)
{
    for (size_t i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &rescue.before[i], NULL);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (rescue.armed) {
        rescue.armed = 0;
        ssize_t n = write(rescue.fd, restore, sizeof restore - 1);

        (void)n;
        tcsetattr(rescue.fd, TCSANOW, &rescue.found);
    }
    restore_terminal();
    /* A fault happens again when we return, and the earlier handler gets it; a signal that was sent is sent again. */
    if (info->si_code <= 0)
        raise(number);
}

/* Restores the terminal if the program crashes: leaves the alternate screen, shows the cursor, ends the modes that were
 * set and restores the line discipline; then the crash continues. Signals that ask the program to end are handled by
 * the loop. */
static void rescue_arm(int fd, const struct termios *found)
{
    struct sigaction act = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER };

    rescue.fd = fd;
    rescue.found = *found;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &act, rescue.armed ? NULL : &rescue.before[i]);
    rescue.armed = 1;
}

/* Bracketed paste; mouse buttons and wheel, reported in decimal. */
#define PASTE_ON "\x1b[?2004h"
#define PASTE_OFF "\x1b[?2004l"
#define MOUSE_ON "\x1b[?1000h\x1b[?1006h"
#define MOUSE_OFF "\x1b[?1006l\x1b[?1000l"

/* Synchronized output: everything between is shown at once. */
#define SYNC_ON "\x1b[?2026h"
#define SYNC_OFF "\x1b[?2026l"

/* OSC 11, and the primary attributes (DA1), which every terminal knows: its answer comes last and ends the waiting. */
#define ASK_BACKGROUND "\x1b]11;?\x1b\\\x1b[c"

/* The terminals in use accept at least 100 kB of base64 for their clipboard. */
enum { COPY_MAX = 74994, SYNC_LEAST = 1024 };

/* Curses writes to a file in memory, and its output for a frame is sent in one piece; otherwise it
 * would send whenever its buffer is full, and the user would see half frames. Curses therefore
 * never sees a terminal, and we set the line discipline. */
struct terminal {
    int in;                 /* a separate file description: O_NONBLOCK affects no other program */
    int out;                /* -1: not open */
    FILE *drawn, *unused;   /* what curses writes, and its input */
    struct buf bytes, sent; /* on their way from drawn to out */
    SCREEN *screen;
    struct paint paint;
    struct termios found; /* the line discipline to restore */
    bool private_modes;   /* it supports bracketed paste and the mouse */
    bool mouse;
    bool inside; /* the screen is ours now */
    bool asked;  /* for its background */
};

static void write_terminal(const struct terminal *t, struct slice text)
{
    while (text.n > 0) {
        ssize_t done = write(t->out, text.p, text.n);

        if (done < 0 && errno != EINTR)
            return;
        text.p += done > 0 ? done : 0;
        text.n -= done > 0 ? (size_t)done : 0;
    }
}

static void write_modes(const struct terminal *t, bool on)
{
    if (t->private_modes)
        write_terminal(t, on ? SLICE(PASTE_ON) : SLICE(PASTE_OFF));
    if (t->private_modes && t->mouse)
        write_terminal(t, on ? SLICE(MOUSE_ON) : SLICE(MOUSE_OFF));
}

static void discard_output(const struct terminal *t)
{
    if (ftruncate(fileno(t->drawn), 0) == 0)
        lseek(fileno(t->drawn), 0, SEEK_SET);
}

/* Sends what curses has drawn; a large piece with synchronized output. */
static void send_drawn(struct terminal *t)
{
    int fd = fileno(t->drawn);
    off_t n = lseek(fd, 0, SEEK_CUR);

    t->bytes.n = 0;
    if (n <= 0 || buf_reserve(&t->bytes, (size_t)n + sizeof SYNC_ON + sizeof SYNC_OFF))
        return; /* it is sent with the next frame */
    bool large = n > SYNC_LEAST && t->private_modes;
    size_t at = large ? sizeof SYNC_ON - 1 : 0;
    ssize_t got = pread(fd, t->bytes.p + at, (size_t)n, 0);

    if (got != n)
        return;
    t->bytes.n = at + (size_t)n;
    if (large) {
        memcpy(t->bytes.p, SYNC_ON, sizeof SYNC_ON - 1);
        memcpy(t->bytes.p + t->bytes.n, SYNC_OFF, sizeof SYNC_OFF - 1);
        t->bytes.n += sizeof SYNC_OFF - 1;
    }
    t->sent.n = 0;
    if (t->paint.true_colour && paint_expand(&t->paint, buf_slice(&t->bytes), &t->sent) == ERR_OK)
        write_terminal(t, buf_slice(&t->sent));
    else
        write_terminal(t, buf_slice(&t->bytes));
    discard_output(t);
}

static enum err_code open_files(struct terminal *t, struct err *e)
{
    t->out = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (t->out < 0)
        return err_set(e, ERR_USAGE, "", "no terminal to draw on; try reprise list");
    t->in = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    t->unused = fopen("/dev/null", "re");

    int fd = fs_open_memory("screen");
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

    if (!f && fd >= 0)
        close(fd);
    t->drawn = f;

    if (t->in < 0 || !t->unused || !t->drawn)
        return err_sys(e, "/dev/tty", "open the screen");
    if (tcgetattr(t->out, &t->found) != 0)
        return err_sys(e, "/dev/tty", "read the terminal settings");
    return ERR_OK;
}

/* Raw mode: ^C, ^Z and ^S are keys. */
static void set_raw(const struct terminal *t)
{
    struct termios raw = t->found;

    cfmakeraw(&raw);
    tcsetattr(t->out, TCSADRAIN, &raw);
}

/* newterm() leaks memory if the terminal has no entry, so the entry is looked up first. */
static bool has_entry(const struct terminal *t, const char *type)
{
    int found;

    if (setupterm(type, t->out, &found) == ERR)
        return false;
    del_curterm(cur_term);
    return true;
}

static enum err_code open_screen(struct terminal *t, const struct term_options *o, struct err *e)
{
    const char *type = o->type ? o->type : "(none)";

    if (!o->type || strcmp(o->type, "dumb") == 0 || strcmp(o->type, "unknown") == 0)
        return err_set(e, ERR_USAGE, type,
                       "open the screen: this terminal cannot draw one; try --plain");

    /* Modern terminals understand xterm; many have a separate entry that a remote machine lacks. */
    const char *const like[] = { o->type, "xterm-256color", "xterm" };

    t->screen = NULL;
    for (size_t i = 0; !t->screen && i < sizeof like / sizeof *like; i++)
        if (has_entry(t, like[i]))
            t->screen = newterm(like[i], t->drawn, t->unused);
    if (!t->screen)
        return err_set(e, ERR_USAGE, type,
                       "open the screen: no terminfo entry for this terminal, nor for "
                       "xterm-256color; install ncurses-base, or try --plain");
    set_term(t->screen);
    nonl();
    typeahead(-1); /* we read the keys; curses must not poll for them */
    /* Before its first endwin() curses flushes at each movement; the output of this one is dropped. */
    endwin();
    discard_output(t);
    idlok(stdscr, TRUE);
    const char *mouse = tigetstr("kmous");

    t->private_modes = mouse && mouse != (const char *)-1;
    t->mouse = o->mouse;
    struct paint_colours colours = o->colours;

    colours.true_colour |= tigetflag("RGB") > 0 || tigetflag("Tc") > 0;
    paint_init(&t->paint, o->theme, colours);
    return ERR_OK;
}

enum err_code term_open(const struct term_options *o, struct terminal **out, struct err *e)
{
    struct terminal *t = calloc(1, sizeof *t);
    enum err_code rc;

    NEED(t);
    t->in = t->out = -1;
    rc = open_files(t, e);
    if (rc == ERR_OK)
        rc = open_screen(t, o, e);
    if (rc) {
        term_close(t);
        return rc;
    }
    rescue_arm(t->out, &t->found);
    t->inside = true;
    set_raw(t);
    write_modes(t, true);
    t->asked = o->asks_background && t->private_modes && t->paint.colours > 0;
    if (t->asked)
        write_terminal(t, SLICE(ASK_BACKGROUND));
    *out = t;
    return ERR_OK;
}

void term_close(struct terminal *t)
{
    if (!t)
        return;
    term_leave(t);
    paint_fini(&t->paint);
    if (t->screen)
        delscreen(t->screen);
    buf_fini(&t->bytes);
    buf_fini(&t->sent);
    if (t->drawn)
        fclose(t->drawn);
    if (t->unused)
        fclose(t->unused);
    if (t->in >= 0)
        close(t->in);
    if (t->out >= 0)
        close(t->out);
    free(t);
}

int term_input(const struct terminal *t)
{
    return t->in;
}

int term_output(const struct terminal *t)
{
    return t->out;
}

void term_size(struct terminal *t, int *rows, int *cols)
{
    struct winsize size = { 0 };

    *rows = LINES;
    *cols = COLS;
    if (ioctl(t->out, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
        *rows = size.ws_row;
        *cols = size.ws_col;
    }
    if (*rows != LINES || *cols != COLS)
        resizeterm(*rows, *cols);
}

void term_leave(struct terminal *t)
{
    if (!t->inside)
        return;
    t->inside = false;
    write_modes(t, false);
    curs_set(1);

    /* Without another screen to go back to, the shell goes on in the last line, which has to be empty. */
    const char *other = tigetstr("rmcup");

    if (!other || other == (const char *)-1) {
        move(LINES - 1, 0);
        clrtoeol();
        refresh();
    }
    endwin();
    send_drawn(t);
    tcsetattr(t->out, TCSADRAIN, &t->found);
    if (!rescue.armed)
        return;
    rescue.armed = 0;
    restore_terminal();
}

void term_enter(struct terminal *t)
{
    if (t->inside)
        return;
    t->inside = true;
    /* The shell may have changed the modes in the meantime: the new ones will be restored. */
    tcgetattr(t->out, &t->found);
    rescue_arm(t->out, &t->found);
    set_raw(t);
    term_invalidate(t);
    refresh();
    send_drawn(t);
    write_modes(t, true);
}

void term_set_theme(struct terminal *t, const struct theme *theme)
{
    paint_set_theme(&t->paint, theme);
}

bool term_background_asked(const struct terminal *t)
{
    return t->asked;
}

void term_paint(struct terminal *t, const struct frame *f)
{
    if (!t->inside)
        return;
    paint_frame(&t->paint, f);
    send_drawn(t);
}

void term_invalidate(struct terminal *t)
{
    paint_invalidate(&t->paint);
    clearok(curscr, TRUE);
}

enum err_code term_copy(struct terminal *t, struct slice text, struct err *e)
{
    struct buf line = { 0 };

    if (text.n > COPY_MAX)
        return err_set(e, ERR_UNSUPPORTED, "", "copy: %zu bytes are too many for a terminal",
                       text.n);
    enum err_code rc = buf_add(&line, SLICE("\x1b]52;c;"));

    if (rc == ERR_OK) {
        /* The text in base64, three bytes at a time. */
        static const char digits[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

        rc = ERR_OK;

        for (size_t i = 0; rc == ERR_OK && i < text.n; i += 3) {
            size_t left = text.n - i;
            uint32_t three = (uint32_t)(unsigned char)text.p[i] << 16;
            char four[4] = { 0, 0, '=', '=' };

            three |= left > 1 ? (uint32_t)(unsigned char)text.p[i + 1] << 8 : 0;
            three |= left > 2 ? (uint32_t)(unsigned char)text.p[i + 2] : 0;
            four[0] = digits[three >> 18];
            four[1] = digits[three >> 12 & 63];
            if (left > 1)
                four[2] = digits[three >> 6 & 63];
            if (left > 2)
                four[3] = digits[three & 63];
            rc = buf_add(&line, (struct slice){ four, sizeof four });
        }
    }
    if (rc == ERR_OK)
        rc = buf_add(&line, SLICE("\x07"));
    if (rc == ERR_OK)
        write_terminal(t, buf_slice(&line));
    buf_fini(&line);
    return rc ? err_nomem(e) : ERR_OK;
}
