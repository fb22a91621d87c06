#include "tui/commands/picker/picker_choice.h"
#include "tui/commands/write/retrieve.h"

#include <string.h>
#include <sys/stat.h>

#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/git/worktree.h"
#include "tui/commands/report.h"
#include "tui/commands/write/retrieve.h"
#include "tui/config/resume_command.h"

static bool choice_dir_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The session's directory, or where to go on when it is gone: a note says so on stderr. */
static enum err_code choose_dir(const struct invocation *in, const struct session_row *row,
                                struct arena *a, const char **dir, struct err *e)
{
    const char *present = in->world->env.cwd, *main_tree = NULL;
    const char *own = row->cwd.n ? arena_copy(a, row->cwd).p : present;
    struct err note;

    if (!own)
        return err_nomem(e);
    *dir = own;
    if (choice_dir_exists(own))
        return ERR_OK;
    enum err_code rc = worktree_main(own, a, &main_tree, e);

    if (rc)
        return rc;
    *dir = main_tree ? main_tree : present;
    err_set(&note, ERR_NOT_FOUND, own,
            "resume: the session's directory no longer exists; resuming in %s", *dir);
    out_report(in->err_fd, &note);
    return ERR_OK;
}

static enum err_code print_choice_json(const struct session_row *row, const struct resume *r,
                                       struct out *out, struct err *e)
{
    const char *system = row->ref.store->ops->name;
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", row->ref.id);
    jsonout_member(&j, "system", slice_of(system));
    jsonout_member(&j, "cwd", slice_of(r->dir));
    jsonout_key(&j, "command");
    jsonout_open(&j, '[');
    for (char **word = r->argv; *word; word++)
        jsonout_text(&j, (struct slice){ *word, strlen(*word) });
    jsonout_close(&j, ']');
    resume_json_env(r, &j);
    jsonout_close(&j, '}');
    if (j.rc)
        return err_nomem(e);
    return out_add(out, SLICE("\n"), e);
}

static enum err_code print_choice_line(const struct resume *r, struct out *out, struct err *e)
{
    if (resume_line(r, &out->buf))
        return err_nomem(e);
    return out_add(out, SLICE("\n"), e);
}

/* The agent finds nothing where the system keeps transcripts elsewhere. One that is newer here stays: that is the one the
 * agent goes on with. */
static enum err_code retrieve_if_missing(struct invocation *in, const struct session_ref *ref,
                                         struct err *e)
{
    const struct retrieve_request req = { .overwrite = false };
    struct retrieved r;

    if (!ref->store->ops->retrieve)
        return ERR_OK;
    enum err_code rc = retrieve_transcript(in, ref, &req, &r, e);

    if (rc == ERR_OK)
        retrieved_fini(&r);
    return rc == ERR_NOT_FOUND ? ERR_OK
                               : rc; /* no checkpoint keeps one: the agent's own may be there */
}

enum err_code picker_choice_run(struct invocation *in, const struct config *config,
                                const struct session_row *row, const char *dir, struct err *e)
{
    struct arena arena = { 0 };
    struct resume r;
    enum err_code rc = dir ? ERR_OK : choose_dir(in, row, &arena, &dir, e);

    if (rc == ERR_OK)
        rc = resume_make(config, &row->ref, dir, &arena, &r, e);
    /* The picker has no operands but what came behind "--". */
    if (rc == ERR_OK && !in->command->name)
        rc = resume_add(&r, in->argv, (size_t)in->argc, &arena, e);
    if (rc == ERR_OK && option_given(&in->options, OPTION_PRINT))
        rc = option_given(&in->options, OPTION_JSON) ? print_choice_json(row, &r, &in->out, e)
                                                     : print_choice_line(&r, &in->out, e);
    else if (rc == ERR_OK)
        rc = retrieve_if_missing(in, &row->ref, e);
    if (rc == ERR_OK && !option_given(&in->options, OPTION_PRINT))
        rc = resume_exec(&r, row->ref.store->ops->name, e);
    arena_fini(&arena);
    return rc;
}
