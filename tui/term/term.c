#include "tui/term/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "lite/buf.h"
#include "tui/term/paint.h"
#include "tui/term/rescue.h"

/* Bracketed paste; mouse buttons and wheel, reported in decimal. */
#define PASTE_ON "\x1b[?2004h"
#define PASTE_OFF "\x1b[?2004l"
#define MOUSE_ON "\x1b[?1000h\x1b[?1006h"
#define MOUSE_OFF "\x1b[?1006l\x1b[?1000l"

/* What terminals take at once for their clipboard: 100 kB of base64 is the least among those in use. */
enum { COPY_MAX = 74994 };

struct terminal {
    int in;             /* a description of its own, so that not blocking is only ours */
    FILE *out, *unused; /* for curses, which reads nothing */
    SCREEN *screen;
    struct paint paint;
    struct termios found; /* how the terminal was */
    bool private_modes;   /* it knows pastes and mice */
    bool mouse;
    bool inside; /* the screen is ours now */
};

/* A control string straight to the terminal; curses has flushed what it had. */
static void tell(const struct terminal *t, const char *text, size_t n)
{
    int fd = fileno(t->out);

    while (n > 0) {
        ssize_t done = write(fd, text, n);

        if (done < 0 && errno != EINTR)
            return;
        text += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
}

static void tell_modes(const struct terminal *t, bool on)
{
    if (t->private_modes)
        tell(t, on ? PASTE_ON : PASTE_OFF, sizeof PASTE_ON - 1);
    if (t->private_modes && t->mouse)
        tell(t, on ? MOUSE_ON : MOUSE_OFF, sizeof MOUSE_ON - 1);
}

static enum err_code open_files(struct terminal *t, struct err *e)
{
    int out = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (out < 0)
        return err_set(e, ERR_USAGE, "/dev/tty", "open the screen: there is no terminal");
    t->out = fdopen(out, "w");
    t->in = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    t->unused = fopen("/dev/tty", "re");
    if (!t->out)
        close(out);
    if (!t->out || !t->unused || t->in < 0)
        return err_sys(e, "/dev/tty", "open the screen");
    if (tcgetattr(out, &t->found) != 0)
        return err_sys(e, "/dev/tty", "ask the terminal");
    return ERR_OK;
}

static bool cannot_draw(const char *type)
{
    return !type || strcmp(type, "dumb") == 0;
}

static enum err_code open_screen(struct terminal *t, const struct term_options *o, struct err *e)
{
    const char *type = o->type ? o->type : "(none)";

    if (!cannot_draw(o->type))
        t->screen = newterm(o->type, t->out, t->unused);
    if (!t->screen)
        return err_set(e, ERR_USAGE, type,
                       "open the screen: this terminal cannot draw one; try --plain");
    set_term(t->screen);
    raw(); /* keys come as they are; ^C, ^Z and ^S are keys as well */
    noecho();
    nonl();
    typeahead(-1); /* we read the keys, curses must not look for them */
    idlok(stdscr, TRUE);
    const char *mouse = tigetstr("kmous");

    t->private_modes = mouse && mouse != (const char *)-1;
    t->mouse = o->mouse;
    paint_init(&t->paint, o->theme, o->colours, o->no_color);
    return ERR_OK;
}

enum err_code term_open(const struct term_options *o, struct terminal **out, struct err *e)
{
    struct terminal *t = calloc(1, sizeof *t);
    enum err_code rc;

    if (!t)
        return err_set(e, ERR_NOMEM, "/dev/tty", "open the screen: out of memory");
    t->in = -1;
    rc = open_files(t, e);
    if (rc == ERR_OK)
        rc = open_screen(t, o, e);
    if (rc) {
        term_close(t);
        return rc;
    }
    rescue_arm(fileno(t->out), &t->found);
    t->inside = true;
    tell_modes(t, true);
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
    rescue_disarm();
    if (t->in >= 0)
        close(t->in);
    if (t->unused)
        fclose(t->unused);
    if (t->out)
        fclose(t->out);
    free(t);
}

int term_input(const struct terminal *t)
{
    return t->in;
}

int term_output(const struct terminal *t)
{
    return fileno(t->out);
}

void term_size(struct terminal *t, int *rows, int *cols)
{
    struct winsize size = { 0 };

    *rows = LINES;
    *cols = COLS;
    if (ioctl(fileno(t->out), TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
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
    tell_modes(t, false);
    curs_set(1);
    endwin();
    tcsetattr(fileno(t->out), TCSADRAIN, &t->found);
    rescue_disarm();
}

void term_enter(struct terminal *t)
{
    if (t->inside)
        return;
    t->inside = true;
    /* The shell may have changed the modes meanwhile: those are the ones to go back to. */
    tcgetattr(fileno(t->out), &t->found);
    rescue_arm(fileno(t->out), &t->found);
    reset_prog_mode();
    term_forget(t);
    refresh();
    tell_modes(t, true);
}

void term_paint(struct terminal *t, const struct frame *f)
{
    if (t->inside)
        paint_frame(&t->paint, f);
}

void term_forget(struct terminal *t)
{
    paint_forget(&t->paint);
    clearok(curscr, TRUE);
}

static enum err_code add_base64(struct buf *out, struct slice text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum err_code rc = ERR_OK;

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
        rc = buf_add(out, (struct slice){ four, sizeof four });
    }
    return rc;
}

enum err_code term_copy(struct terminal *t, struct slice text, struct err *e)
{
    struct buf line = { 0 };

    if (text.n > COPY_MAX)
        return err_set(e, ERR_UNSUPPORTED, "", "copy: %zu bytes are more than terminals take",
                       text.n);
    enum err_code rc = buf_add(&line, SLICE("\x1b]52;c;"));

    if (rc == ERR_OK)
        rc = add_base64(&line, text);
    if (rc == ERR_OK)
        rc = buf_add(&line, SLICE("\x07"));
    if (rc == ERR_OK)
        tell(t, line.p, line.n);
    buf_fini(&line);
    return rc ? err_set(e, rc, "", "copy: out of memory") : ERR_OK;
}
