#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/arena.h"
#include "lite/base/time.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/text/clean.h"

/* Only this file reads the environment, the clock and argv, and ends the process. */

/* The value of a variable, or NULL if it is unset or empty. */
static const char *main_filled(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

/* The current directory; if it was deleted, the shell's name for it. */
static const char *present_dir(struct arena *a)
{
    char *cwd = getcwd(NULL, 0);
    const char *named = main_filled("PWD");
    const char *kept;

    if (!cwd)
        return named && named[0] == '/' ? named : "/";
    kept = arena_copy(a, slice_of(cwd)).p;
    free(cwd);
    return kept ? kept : "/";
}

static void world_fill(struct process_env *w, struct arena *a)
{
    const char *const *environment = (const char *const *)environ;
    const char *temp = main_filled("TMPDIR"), *editor = main_filled("VISUAL");
    const char *colour = main_filled("COLORTERM");

    w->env = env_read(environment, present_dir(a), time_clock_ms(CLOCK_REALTIME), a);
    w->config_dir = env_base_dir(environment, "XDG_CONFIG_HOME", ".config", a);
    w->path = main_filled("PATH");
    w->term = main_filled("TERM");
    w->editor = editor ? editor : main_filled("EDITOR");
    w->temp_dir = temp && temp[0] == '/' ? temp : "/tmp";
    w->true_colour = colour && (strcmp(colour, "truecolor") == 0 || strcmp(colour, "24bit") == 0);
    w->no_color = main_filled("NO_COLOR") != NULL;
    w->utf8 = clean_locale_is_utf8();
}

/* Only the character set is taken from the locale. If no locale is set, as in most containers, or a UTF-8 locale that
 * this machine does not have, the terminal is assumed to use UTF-8. */
static void use_locale(void)
{
    static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char *name = NULL;

    for (size_t i = 0; !name && i < sizeof variables / sizeof *variables; i++)
        name = main_filled(variables[i]);
    if (name && setlocale(LC_CTYPE, ""))
        return;
    bool utf8 = !name || strcasestr(name, "utf-8") || strcasestr(name, "utf8");

    if (utf8 && !setlocale(LC_CTYPE, "C.UTF-8")) {
#ifdef REPRISE_STATIC
        clean_assume_utf8();
#endif
    }
}

int main(int argc, char **argv)
{
    struct arena arena = { 0 };
    struct process_env world = { 0 };
    struct invocation in = { .world = &world, .err_fd = STDERR_FILENO };
    struct err e = { 0 };
    int code;

    use_locale();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes an error of write() */
    signal(SIGXFSZ, SIG_IGN); /* so does the limit on file sizes, even inside libraries */
    signal(SIGCHLD, SIG_DFL); /* if a parent ignored it, the codes of our children were lost */
    out_init(&in.out, STDOUT_FILENO);
    enum err_code rc = command_parse(&in, argc, argv, &e);

    if (rc == ERR_OK) {
        const char *dir = in.options.directory;

        if (!dir || chdir(dir) == 0)
            rc = ERR_OK;
        else
            rc = errno == ENOENT ? err_set(&e, ERR_NOT_FOUND, dir,
                                           "change to: no such directory; see reprise list --all")
                                 : err_sys(&e, dir, "change to");
    }
    if (rc) {
        out_report(STDERR_FILENO, &e);
        code = command_exit_code(rc);
    } else {
        world_fill(&world, &arena);
        code = command_execute(&in);
    }
    out_fini(&in.out);
    arena_fini(&arena);
    /* A hook that fails can block the turn of its agent, which may also pass options of a newer version. */
    return argc > 1 && strcmp(argv[1], "snapshot") == 0 ? 0 : code;
}
