#include "tui/term/rescue.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS };
enum { CRASHES = sizeof crashes / sizeof crashes[0] };

/* The one thing in the program that changes and lies at file level: a signal handler is handed nothing else.
 * It is written while no handler can run into it (armed last, disarmed first). */
static struct {
    volatile sig_atomic_t armed;
    int fd;
    struct termios found;
    struct sigaction before[CRASHES];
} rescue;

/* What every terminal that knows these modes understands, and others ignore: paste and mouse off, attributes
 * off, cursor on, main screen. terminfo cannot be asked in a handler. */
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
    /* A fault happens again when we return, now with whoever handled it before us; a signal that was sent has
     * to be sent again. */
    if (info->si_code <= 0)
        raise(number);
}

void rescue_arm(int fd, const struct termios *found)
{
    struct sigaction act = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER };

    rescue.fd = fd;
    rescue.found = *found;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &act, rescue.armed ? NULL : &rescue.before[i]);
    rescue.armed = 1;
}

void rescue_disarm(void)
{
    if (!rescue.armed)
        return;
    rescue.armed = 0;
    restore_terminal();
}
