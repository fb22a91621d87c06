#include "tui/config/resume_command.h"
#include "lite/base/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/query/resolve.h"
#include "tui/config/shell.h"

/* A command that is configured for this store (`own`) finds the store itself. A running session is known by its id
 * (`runs`). */
struct making {
    const char *line;
    bool own, runs;
    const struct session_ref *ref;
    const char *dir;
    struct slice title;
};

/* Makes the words of the command, with the session's values filled in. */
static enum err_code make_from(const struct making *m, struct arena *a, struct resume *out,
                               struct err *e)
{
    const struct session_ref *ref = m->ref;
    const struct store_ops *ops = ref->store->ops;
    struct slice word = ref->id;

    if (strstr(m->line, "{id}") && !m->runs) {
        TRY(resolve_resume_word(ref, m->dir, a, &word, e));
    }
    const struct shell_value values[] = {
        { "id", word },
        { "cwd", slice_of(m->dir) },
        { "path", ref->path },
        { "title", m->title },
    };
    const size_t n = sizeof values / sizeof *values - (m->title.p == NULL);
    enum err_code rc = shell_split(slice_of(m->line), values, n, a, &out->argv, e);

    if (rc)
        return err_wrap(e, rc, "command of %s", out->section);
    out->dir = m->dir;
    out->variable = out->value = NULL;
    return ops->agent_variable && !m->own
               ? ops->agent_variable(ref->store, &out->variable, &out->value, e)
               : ERR_OK;
}

/* The section of the configuration that names the store; NULL if it has the name of its system. */
static const struct config_store *own_store(const struct config *c, const struct store_ops *ops)
{
    return c && ops->format ? config_store(c, slice_of(ops->name)) : NULL;
}

const char *resume_configured(const struct config *c, const struct session_ref *ref)
{
    const struct store_ops *ops = ref->store->ops;
    const char *agent = ops->agent ? ops->agent(ref->store, ref) : NULL;

    if (ref->store->ops->only_read)
        return NULL;
    return c ? config_resume_command(c, agent ? agent : ops->name) : ops->resume_command;
}

enum err_code resume_make(const struct config *c, const struct session_ref *ref, const char *dir,
                          struct arena *a, struct resume *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *agent = ops->agent ? ops->agent(ref->store, ref) : NULL;
    const char *system = agent ? agent : ops->name;
    const char *line = resume_configured(c, ref);
    const struct config_store *store = own_store(c, ops);

    if (ref->store->ops->only_read)
        return store_unsupported_error(ref, CAN_RESUME, "resume", e);
    out->section = agent || !store ? system : arena_format(a, "store.%s", system);
    out->change = NULL;
    NEED(out->section);
    struct making m = { .line = line, .own = store && store->resume, .ref = ref, .dir = dir };

    /* A session in the background is attached, unless a command of the configuration replaces that of the agent. */
    if (line && ops->attach_command && strcmp(line, ops->resume_command) == 0) {
        static const struct scope everywhere = { .all = true };
        struct session_row *row = session_row_new();

        m.runs = row && !ops->describe(ref->store, &everywhere, ref, row, NULL) &&
                 row->flags & SESSION_BACKGROUND;
        m.line = m.runs ? ops->attach_command : line;
        session_row_free(row);
    }

    return line ? make_from(&m, a, out, e)
                : err_set(e, ERR_UNSUPPORTED, system,
                          "resume: no command is configured; set `resume = ...` under [%s] in the "
                          "configuration",
                          out->section);
}

/* The command that forks sessions of the store instead of us. Where we can fork, it is only of use if it is printed, and
 * if no other command is configured. */
static const char *fork_line(const struct config *c, const struct session_ref *ref, bool prints)
{
    const struct store_ops *ops = ref->store->ops;
    const struct config_store *store = own_store(c, ops);
    const char *resume = resume_configured(c, ref);

    if (store && store->fork)
        return store->fork;
    if (ops->fork &&
        (!prints || !resume || !ops->resume_command || strcmp(resume, ops->resume_command) != 0))
        return NULL;
    return ops->fork_command;
}

bool resume_agent_forks(const struct config *c, const struct session_ref *ref, bool prints)
{
    return fork_line(c, ref, prints) != NULL;
}

enum err_code resume_make_fork(const struct config *c, const struct session_ref *ref,
                               const char *dir, struct arena *a, struct resume *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const struct config_store *store = own_store(c, ops);
    const char *line = fork_line(c, ref, true);

    out->section = store ? arena_format(a, "store.%s", ops->name) : ops->name;
    out->change = NULL;
    const struct making m = { .line = line, .own = store && store->fork, .ref = ref, .dir = dir };

    NEED(out->section);
    return line ? make_from(&m, a, out, e) : store_unsupported_error(ref, CAN_FORK, "fork", e);
}

enum err_code resume_make_change(const struct resume_world *w, struct agent_change *change,
                                 struct arena *a, struct resume *out, struct err *e)
{
    AUTO_BUF line = { 0 };

    static const struct scope everywhere = { .all = true };
    const struct session_ref *ref = change->ref;
    const struct store_ops *ops = ref->store->ops;
    const unsigned ability = agent_change_ability(change->what);
    struct making m = { .line = ops->change_command[change->what],
                        .ref = ref,
                        .title = change->title };

    if (!m.line || !(store_agent_abilities(ops) & ability))
        return store_unsupported_error(ref, ability, agent_change_name(change->what), e);

    struct session_row *row = session_row_new();
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &everywhere, ref, row, e) : err_nomem(e);

    m.dir = !rc && row->cwd.n ? arena_copy(a, row->cwd).p : NULL;
    session_row_free(row);
    if (m.dir && !path_is_dir(m.dir))
        m.dir = NULL;
    if (rc)
        return rc;

    /* The command has to run somewhere, even if the directory of the session is gone. */
    if (!m.dir)
        m.dir = w->home ? w->home : "/";
    if (w->config)
        config_change_command(w->config, ops, change->what, &m.own);
    out->section = ops->format ? arena_format(a, "store.%s", ops->name) : ops->name;
    out->change = agent_change_name(change->what);
    TRY(out->section ? make_from(&m, a, out, e) : err_nomem(e));

    TRY(resume_check(out, w->path, e));
    if (resume_line(out, &line))
        return err_nomem(e);
    change->argv = (const char *const *)out->argv;
    change->dir = out->dir;
    change->variable = out->variable;
    change->value = out->value;
    change->line = arena_copy(a, buf_slice(&line)).p;
    return change->line ? ERR_OK : err_nomem(e);
}

static enum err_code add_word(struct resume *r, char *word, struct arena *a, struct err *e)
{
    size_t own = 0;

    while (r->argv[own])
        own++;
    char **argv = arena_alloc(a, (own + 2) * sizeof *argv);

    NEED(argv);
    memcpy(argv, r->argv, own * sizeof *argv);
    argv[own] = word;
    argv[own + 1] = NULL;
    r->argv = argv;
    return ERR_OK;
}

/* Finds "--flag VALUE" and "--flag=VALUE". Returns the index of the word that contains the value, or 0. */
static size_t resume_command_find_flag(char *const *argv, struct slice flag)
{
    for (size_t i = 1; argv[i]; i++) {
        bool same = strncmp(argv[i], flag.p, flag.n) == 0;

        if (same && argv[i][flag.n] == '=')
            return i;
        if (same && argv[i][flag.n] == '\0' && argv[i + 1] && argv[i + 1][0] != '-')
            return i + 1;
    }
    return 0;
}

/* A word for the agent, or a flag with its value: --flag VALUE, --flag=VALUE. */
struct flag {
    struct slice name, value;
    size_t words; /* 0: not a flag with a value */
};

static struct flag read_flag(const struct slice *words, size_t n)
{
    struct slice name = words[0];
    bool is_flag = name.n > 2 && memcmp(name.p, "--", 2) == 0;
    const char *equals = is_flag ? memchr(name.p, '=', name.n) : NULL;
    size_t front = equals ? (size_t)(equals - name.p) : 0;

    if (equals)
        return (struct flag){ { name.p, front }, { equals + 1, name.n - front - 1 }, 1 };
    if (is_flag && n > 1 && words[1].n && words[1].p[0] != '-')
        return (struct flag){ name, words[1], 2 };
    return (struct flag){ name, { 0 }, 0 };
}

enum err_code resume_set(struct resume *r, const struct slice *words, size_t n, struct arena *a,
                         struct err *e)
{
    enum err_code rc = ERR_OK;

    while (!rc && n) {
        struct flag f = read_flag(words, n);
        size_t at = f.words ? resume_command_find_flag(r->argv, f.name) : 0,
               used = at ? f.words : 1;
        bool joined = at && strncmp(r->argv[at], f.name.p, f.name.n) == 0;
        char *word = joined ? arena_format(a, "%.*s=%.*s", SLICE_ARG(f.name), SLICE_ARG(f.value))
                            : (char *)(uintptr_t)arena_copy(a, at ? f.value : words[0]).p;

        NEED(word);
        if (at)
            r->argv[at] = word;
        else
            rc = add_word(r, word, a, e);
        words += used;
        n -= used;
    }
    return rc;
}

/* From the documentation of the agents. */
static const struct resume_choice choices[] = {
    { "claude", "Permission mode", "--permission-mode",
      "default|acceptEdits|plan|bypassPermissions", false },
    { "claude", "Model", "--model", "opus|sonnet|haiku", true },
    { "codex", "Sandbox", "--sandbox", "read-only|workspace-write|danger-full-access", false },
    { "codex", "Approval", "--ask-for-approval", "untrusted|on-failure|on-request|never", false },
    { "codex", "Model", "--model", "", true },
    { "gemini", "Approval mode", "--approval-mode", "default|auto_edit|yolo", false },
    { "gemini", "Model", "--model", "", true },
    { "qwen", "Approval mode", "--approval-mode", "plan|default|auto-edit|yolo", false },
    { "qwen", "Model", "--model", "", true },
    { "opencode", "Model", "--model", "", true },
    { "copilot", "Model", "--model", "", true },
};

size_t resume_choices(const struct session_ref *ref,
                      const struct resume_choice *out[RESUME_CHOICES_MAX])
{
    const struct store_ops *ops = ref->store->ops;
    const char *agent = ops->agent ? ops->agent(ref->store, ref) : NULL;
    size_t n = 0;

    if (!agent)
        agent = store_format(ops);
    for (size_t i = 0; i < sizeof choices / sizeof *choices && n < RESUME_CHOICES_MAX; i++)
        if (strcmp(choices[i].agent, agent) == 0)
            out[n++] = &choices[i];
    return n;
}

/* The agent's program, which a script is named after. */
static const char *resume_program(const struct resume *r)
{
    char *const *v = r->argv;

    return strcmp(v[0], "sh") == 0 && v[1] && strcmp(v[1], "-c") == 0 && v[2] && v[3] ? v[3] : v[0];
}

static enum err_code no_program(const struct resume *r, struct err *e)
{
    const char *name = r->change ? r->change : "resume";

    return err_set(e, ERR_IO, "",
                   "%s is not on your PATH (or set `%s = ...` under [%s] in the configuration)",
                   resume_program(r), name, r->section);
}

static bool is_found(const struct resume *r, const char *path)
{
    const char *name = resume_program(r);
    struct stat st;
    bool found = false;

    if (strchr(name, '/'))
        path = r->dir;
    while (!found) {
        size_t n = strcspn(path, name[0] == '/' || strchr(name, '/') ? "" : ":");
        struct buf full = { 0 };

        if (name[0] == '/' ? buf_addf(&full, "%s", name)
                           : buf_addf(&full, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name))
            found = true; /* out of memory: try to run it */
        else
            found = buf_cstr(&full) && stat(full.p, &st) == 0 && S_ISREG(st.st_mode) &&
                    access(full.p, X_OK) == 0;
        buf_fini(&full);
        if (!path[n])
            break;
        path += n + 1;
    }
    return found;
}

/* Measured with the agents themselves: started in another directory, they say that there is no such session, or that it
 * was made elsewhere. They compare with the real path. */
static const char *const in_place_agents[] = { "gemini", "qwen", "kimi" };

enum err_code resume_check_place(const struct config *c, const struct session_ref *ref,
                                 struct slice cwd, const char *dir, struct arena *a, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *line = config_resume_command(c, ops->name);
    bool in_place = false;
    char *real = NULL;

    if (ref->store->ops->only_read)
        return ERR_OK; /* it has no command at all */
    for (size_t i = 0; i < sizeof in_place_agents / sizeof *in_place_agents; i++)
        in_place |= strcmp(store_format(ops), in_place_agents[i]) == 0;
    if (!in_place || !cwd.n || !line || strcmp(line, ops->resume_command) != 0)
        return ERR_OK;
    real = realpath(dir, NULL);
    bool same = real && slice_eq(slice_of(real), cwd);

    free(real);
    if (same)
        return ERR_OK;
    cwd = arena_copy(a, cwd);
    NEED(cwd.p);
    return err_set(e, ERR_UNSUPPORTED, cwd.p,
                   "resume: %s finds a session only in the directory where it began; move the "
                   "project back there",
                   ops->label);
}

enum err_code resume_check(const struct resume *r, const char *path, struct err *e)
{
    return is_found(r, path ? path : "/usr/bin:/bin") ? ERR_OK : no_program(r, e);
}

/* So that cd reads neither an option, nor "-", nor $CDPATH. */
const char *resume_cd_prefix(const struct resume *r)
{
    return r->dir[0] == '/' ? "" : "./";
}

enum err_code resume_line(const struct resume *r, struct buf *out)
{
    enum err_code rc = buf_addf(out, "cd %s", resume_cd_prefix(r));

    if (rc == ERR_OK)
        rc = shell_quote(out, slice_of(r->dir));
    if (rc == ERR_OK)
        rc = buf_add(out, SLICE(" &&"));
    if (rc == ERR_OK && r->variable)
        rc = r->value ? buf_addf(out, " %s=", r->variable)
                      : buf_addf(out, " env -u %s", r->variable);
    if (rc == ERR_OK && r->variable && r->value)
        rc = shell_quote(out, slice_of(r->value));
    for (char **word = r->argv; rc == ERR_OK && *word; word++) {
        rc = buf_add_byte(out, ' ');
        if (rc == ERR_OK)
            rc = shell_quote(out, slice_of(*word));
    }
    return rc;
}

enum err_code resume_exec(const struct resume *r, struct err *e)
{
    sigset_t none;

    if (chdir(r->dir) != 0) {
        err_sys(e, r->dir, "resume: enter the session's directory");
        return ERR_IO;
    }
    /* Resets signals, because the program would inherit those that we ignore or block. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (r->variable && (r->value ? setenv(r->variable, r->value, 1) : unsetenv(r->variable)) != 0) {
        err_sys(e, r->argv[0], "resume: set the environment");
        return ERR_IO;
    }
    execvp(r->argv[0], r->argv);
    if (errno == ENOENT)
        return no_program(r, e);
    err_sys(e, r->argv[0], "resume: start the program");
    return ERR_IO;
}

void resume_json(const struct resume *r, struct jsonout *j)
{
    jsonout_key(j, "command");
    jsonout_open(j, '[');
    for (char **word = r->argv; *word; word++)
        jsonout_text(j, slice_of(*word));
    jsonout_close(j, ']');
    if (!r->variable)
        return;
    jsonout_key(j, "env");
    jsonout_open(j, '{');
    jsonout_key(j, r->variable);
    if (r->value)
        jsonout_text(j, slice_of(r->value));
    else
        jsonout_null(j);
    jsonout_close(j, '}');
}
