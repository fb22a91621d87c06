#include "tui/commands/command.h"
#include "tui/commands/config_load.h"
#include "tui/commands/picker/picker_choice.h"
#include "tui/commands/picker/picker_plain.h"
#include "tui/commands/picker/picker_screen.h"
#include "tui/commands/sessions.h"

/* ---- --resume ID, --continue: no screen ---- */

static const char *named_session(const struct invocation *in)
{
    if (in->options.resume)
        return in->options.resume;
    return option_given(&in->options, OPTION_CONTINUE) ? "latest" : NULL;
}

static enum err_code resume_named(struct invocation *in, const struct config *config,
                                  struct sessions *s, const char *id, struct err *e)
{
    struct session_row *row = session_row_new();
    struct session_ref ref;
    enum err_code rc = row ? sessions_find(s, id, &ref, e) : err_nomem(e);

    if (rc == ERR_OK)
        rc = ref.store->ops->describe(ref.store, &s->scope, &ref, row, e);
    if (rc == ERR_OK && (row->hidden == HIDDEN_UNREADABLE || row->hidden == HIDDEN_SIDECHAIN))
        rc = err_set(e, ERR_NOT_FOUND, id, "resume: this session cannot be resumed");
    if (rc == ERR_OK)
        rc = picker_choice_run(in, config, row, NULL, e);
    session_row_free(row);
    return rc;
}

enum err_code picker_run(struct invocation *in, struct err *e)
{
    const char *id = named_session(in);
    struct config config;
    struct sessions s;
    enum err_code rc = command_config(in, &config, e);

    if (rc)
        return rc;
    /* The scope of the screen is resolved by a worker. */
    bool plain = option_given(&in->options, OPTION_PLAIN);

    rc = sessions_open(in, id || !plain, &s, e);
    if (rc == ERR_OK) {
        if (id)
            rc = resume_named(in, &config, &s, id, e);
        else if (plain)
            rc = picker_plain_run(in, &config, &s, e);
        else
            rc = picker_screen_run(in, &config, &s, NULL, e);
        sessions_close(&s);
    }
    config_fini(&config);
    return rc;
}
