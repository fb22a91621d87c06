#include "tui/resume.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"
#include "tui/shell.h"

enum err_code resume_make(const struct config *c, const struct session_ref *ref, const char *dir,
                          struct arena *a, struct resume *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *agent = ops->agent ? ops->agent(ref->store, ref) : ops->name;
    const char *system = agent ? agent : ops->name;
    const char *line = config_resume_command(c, system);
    const struct shell_value values[] = {
        { "id", ops->agent_id ? ops->agent_id(ref->id) : ref->id },
        { "cwd", { dir, strlen(dir) } },
        { "path", ref->path },
    };

    if (!line)
        return err_set(e, ERR_UNSUPPORTED, system,
                       "resume: no command is known; set `resume = ...` under [%s] in the "
                       "configuration",
                       system);
    enum err_code rc = shell_split((struct slice){ line, strlen(line) }, values,
                                   sizeof values / sizeof values[0], a, &out->argv, e);

    if (rc)
        return err_wrap(e, rc, "resume command of %s", system);
    out->dir = dir;
    return ERR_OK;
}

enum err_code resume_line(const struct resume *r, struct buf *out)
{
    enum err_code rc = buf_add(out, SLICE("cd "));

    if (rc == ERR_OK)
        rc = shell_quote(out, (struct slice){ r->dir, strlen(r->dir) });
    if (rc == ERR_OK)
        rc = buf_add(out, SLICE(" &&"));
    for (char **word = r->argv; rc == ERR_OK && *word; word++) {
        rc = buf_add_byte(out, ' ');
        if (rc == ERR_OK)
            rc = shell_quote(out, (struct slice){ *word, strlen(*word) });
    }
    return rc;
}

enum err_code resume_exec(const struct resume *r, const char *system, struct err *e)
{
    sigset_t none;

    if (chdir(r->dir) != 0) {
        err_sys(e, r->dir, "resume: enter the session's directory");
        return ERR_IO;
    }
    /* What we ignore or block would stay so in the program. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(r->argv[0], r->argv);
    if (errno == ENOENT)
        return err_set(e, ERR_IO, r->argv[0],
                       "resume: no such program is installed; set `resume = ...` under [%s] in the "
                       "configuration",
                       system);
    err_sys(e, r->argv[0], "resume: start the program");
    return ERR_IO;
}
