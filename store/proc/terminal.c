#include "store/proc/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"
#include "store/api/env.h"
#include "store/proc/process.h"

enum { ANSWER_MS = 2000, ANSWER_BYTES = 1 << 20, VARIABLES_MOST = 1 << 20 };

static const char *const kind_names[] = {
    [TERMINAL_OTHER] = "",        [TERMINAL_TMUX] = "tmux",   [TERMINAL_SCREEN] = "GNU Screen",
    [TERMINAL_ZELLIJ] = "Zellij", [TERMINAL_KITTY] = "kitty", [TERMINAL_WEZTERM] = "WezTerm",
};

const char *terminal_kind_name(enum terminal_kind kind)
{
    return kind_names[kind];
}

static enum err_code terminal_ask(const struct store_env *env, const char *const argv[],
                                  struct buf *out, struct err *e)
{
    return spawn_read(
        &(struct spawn){
            .argv = argv, .dir = env->cwd, .timeout_ms = ANSWER_MS, .max = ANSWER_BYTES },
        out, e);
}

/* The next word of a line of tmux. */
static struct slice terminal_word(struct slice *line)
{
    const char *blank = line->n ? memchr(line->p, ' ', line->n) : NULL;
    size_t n = blank ? (size_t)(blank - line->p) : line->n, taken = n + (blank != NULL);
    struct slice word = { line->p, n };

    *line = (struct slice){ line->p + taken, line->n - taken };
    return word;
}

/* "SOCKET,PID,SESSION" as in TMUX. */
static struct slice tmux_socket(const char *variable)
{
    struct slice all = slice_of(variable ? variable : "");
    const char *comma = all.n ? memchr(all.p, ',', all.n) : NULL;

    return (struct slice){ all.p, comma ? (size_t)(comma - all.p) : all.n };
}

/* A value in the environment of a process: "NAME=value" texts, each ended by a NUL. The value ends with a NUL, too. */
static const char *terminal_variable(const struct buf *variables, const char *name)
{
    const size_t n = strlen(name);

    for (size_t at = 0; at < variables->n; at += strlen(variables->p + at) + 1)
        if (strncmp(variables->p + at, name, n) == 0 && variables->p[at + n] == '=')
            return variables->p[at + n + 1] ? variables->p + at + n + 1 : NULL;
    return NULL;
}

/* Without tmux, or if it does not answer, there is no pane. */
static void find_tmux_pane(const struct store_env *env, const char *variable,
                           struct agent_terminal *t)
{
    const char *argv[] = { "tmux",
                           "-S",
                           t->server,
                           "list-panes",
                           "-a",
                           "-F",
                           "#{pane_tty} #{pane_id} #{session_name}:#{window_index}.#{pane_index}",
                           NULL };
    const char *const *command = argv;
    const struct slice own = tmux_socket(env_value(env->environment, "TMUX"));
    const struct slice socket = variable ? tmux_socket(variable) : own;
    AUTO_BUF text = { 0 };
    struct slice rest, line;
    bool torn;

    /* Without a usable socket, the default server is asked. */
    if (socket.n && socket.n < sizeof t->server) {
        snprintf(t->server, sizeof t->server, "%.*s", SLICE_ARG(socket));
    } else {
        argv[2] = "tmux";
        command = argv + 2;
    }
    if (terminal_ask(env, command, &text, NULL))
        return;
    rest = buf_slice(&text);
    while (slice_line(&rest, &line, &torn)) {
        if (!slice_eq(terminal_word(&line), slice_of(t->name)))
            continue;
        const struct slice pane = terminal_word(&line);

        /* The pane is near if this program runs in a pane of the same server. */
        t->kind = TERMINAL_TMUX;
        t->near = own.n && slice_eq(own, socket);
        snprintf(t->pane, sizeof t->pane, "%.*s", SLICE_ARG(pane));
        snprintf(t->place, sizeof t->place, "%.*s", SLICE_ARG(line));
    }
}

void terminal_find(const struct store_env *env, pid_t pid, struct agent_terminal *out)
{
    AUTO_BUF variables = { 0 };
    AUTO_ARENA a = { 0 };
    struct proc_info process;
    const char *table = proc_table(), *path;

    *out = (struct agent_terminal){ 0 };
    if (pid <= 0 || !proc_info(pid, &process) || !process.terminal[0])
        return;
    snprintf(out->name, sizeof out->name, "%s", process.terminal);
    path = table ? arena_format(&a, "%s/%d/environ", table, (int)pid) : NULL;
    if (!path || file_read_all(AT_FDCWD, path, 0, VARIABLES_MOST, &variables, NULL) ||
        buf_add(&variables, (struct slice){ "", 1 }))
        variables.n = 0;
    find_tmux_pane(env, terminal_variable(&variables, "TMUX"), out);
    if (!out->kind) {
        /* A terminal in a terminal inherits the variables of the outer one, so the inner ones come
         * first. */
        static const struct {
            enum terminal_kind kind;
            const char *pane, *server;
        } known[] = { { TERMINAL_SCREEN, "STY", NULL },
                      { TERMINAL_ZELLIJ, "ZELLIJ_SESSION_NAME", NULL },
                      { TERMINAL_KITTY, "KITTY_WINDOW_ID", "KITTY_LISTEN_ON" },
                      { TERMINAL_WEZTERM, "WEZTERM_PANE", NULL } };

        for (size_t i = 0; i < sizeof known / sizeof *known && !out->kind; i++) {
            const char *pane = terminal_variable(&variables, known[i].pane);
            const char *server =
                known[i].server ? terminal_variable(&variables, known[i].server) : NULL;

            if (!pane || strlen(pane) >= sizeof out->pane || pane[0] == '-' ||
                (server && strlen(server) >= sizeof out->server))
                continue;
            out->kind = known[i].kind;
            snprintf(out->pane, sizeof out->pane, "%s", pane);
            snprintf(out->place, sizeof out->place, "%s", pane);
            snprintf(out->server, sizeof out->server, "%s", server ? server : "");
        }
    }
}

bool terminal_can_show(const struct agent_terminal *t)
{
    return (t->kind == TERMINAL_TMUX && t->near) ||
           (t->kind == TERMINAL_KITTY && t->server[0] != '\0') || t->kind == TERMINAL_WEZTERM;
}

enum err_code terminal_show(const struct store_env *env, const struct agent_terminal *t,
                            struct err *e)
{
    AUTO_BUF said = { 0 };
    AUTO_ARENA a = { 0 };
    const char *window;

    NEED(window = arena_format(&a, "id:%s", t->pane));
    const char *const tmux[] = { "tmux", "-S", t->server, "switch-client", "-t", t->pane, NULL };
    const char *const kitty[] = { "kitten",       "@",       "--to", t->server,
                                  "focus-window", "--match", window, NULL };
    const char *const wezterm[] = { "wezterm", "cli", "activate-pane", "--pane-id", t->pane, NULL };

    return terminal_ask(env,
                        t->kind == TERMINAL_TMUX    ? tmux
                        : t->kind == TERMINAL_KITTY ? kitty
                                                    : wezterm,
                        &said, e);
}

bool terminal_attach(const struct agent_terminal *t, const char *argv[TERMINAL_ATTACH_MAX])
{
    size_t n = 0;

    if (t->kind == TERMINAL_TMUX) {
        argv[n++] = "tmux";
        if (t->server[0]) {
            argv[n++] = "-S";
            argv[n++] = t->server;
        }
        /* A pane names its session and its window as well. */
        const char *const words[] = { "select-window",  "-t", t->pane, ";",
                                      "select-pane",    "-t", t->pane, ";",
                                      "attach-session", "-t", t->pane };

        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            argv[n++] = words[i];
    } else if (t->kind == TERMINAL_SCREEN || t->kind == TERMINAL_ZELLIJ) {
        argv[n++] = t->kind == TERMINAL_SCREEN ? "screen" : "zellij";
        argv[n++] = t->kind == TERMINAL_SCREEN ? "-x" : "attach";
        argv[n++] = t->pane;
    }
    argv[n] = NULL;
    return n > 0;
}
