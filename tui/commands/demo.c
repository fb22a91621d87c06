#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/demo.h"
#include "tui/commands/command.h"

enum { OPEN_FOLDERS = 16 };

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static enum err_code remove_tree(const char *dir, struct err *e)
{
    if (nftw(dir, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) != 0)
        return err_sys(e, dir, "remove the demo");
    return ERR_OK;
}

/* The picker as if it had been started in the sample project. Enter shows the command instead of running it: no
 * agent knows these sessions. */
static enum err_code run_inside(struct invocation *in, const char *dir, struct err *e)
{
    struct world world = *in->world;
    struct invocation picker = *in;
    struct buf config = { 0 }, project = { 0 };
    enum err_code rc = buf_addf(&config, "%s/" DEMO_CONFIG, dir);

    if (rc == ERR_OK)
        rc = buf_addf(&project, "%s/" DEMO_PROJECT, dir);
    world.env.claude_config_dir = buf_cstr(&config);
    world.env.cwd = buf_cstr(&project);
    if (rc || !world.env.claude_config_dir || !world.env.cwd) {
        rc = err_set(e, ERR_NOMEM, dir, "open the demo: out of memory");
    } else {
        picker.world = &world;
        picker.command = &commands_table[0];
        picker.options.given |= OPTION_BIT(PRINT);
        rc = picker_run(&picker, e);
        in->out = picker.out;
        in->exit_code = picker.exit_code;
    }
    buf_fini(&config);
    buf_fini(&project);
    return rc;
}

enum err_code demo_run(struct invocation *in, struct err *e)
{
    struct buf dir = { 0 };
    enum err_code rc = buf_addf(&dir, "%s/reprise-demo.XXXXXX", in->world->temp_dir);

    if (rc || !buf_cstr(&dir))
        rc = err_set(e, ERR_NOMEM, in->world->temp_dir, "build the demo: out of memory");
    else if (!mkdtemp(dir.p))
        rc = err_sys(e, in->world->temp_dir, "build the demo");
    if (rc) {
        buf_fini(&dir);
        return rc;
    }
    rc = demo_build(dir.p, in->world->env.now_ms, e);
    if (rc == ERR_OK)
        rc = run_inside(in, dir.p, e);
    enum err_code removed = remove_tree(dir.p, rc ? NULL : e);

    buf_fini(&dir);
    return rc ? rc : removed;
}
