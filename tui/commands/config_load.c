#include "tui/commands/config_load.h"

#include <stdio.h>
#include <string.h>

#include "tui/commands/report.h"

static enum err_code read_file(const struct invocation *in, struct config *c, struct err *e)
{
    const char *named = in->options.config, *dir = in->world->config_dir;
    struct buf path = { 0 };
    struct err missing;
    enum err_code rc;

    if (named)
        return config_read(c, named, e);
    if (!dir)
        return ERR_OK;
    rc = buf_addf(&path, "%s/config", dir);
    if (rc == ERR_OK && buf_cstr(&path))
        rc = config_read(c, path.p, &missing);
    else
        rc = err_nomem(&missing);
    buf_fini(&path);
    if (rc == ERR_OK || rc == ERR_NOT_FOUND)
        return ERR_OK;
    if (rc == ERR_NOMEM) {
        if (e)
            *e = missing;
        return rc;
    }
    out_report(in->err_fd, &missing); /* the defaults will do */
    return ERR_OK;
}

static void apply_options(const struct invocation *in, struct settings *s)
{
    const struct options *o = &in->options;

    if (option_given(o, OPTION_KEYS))
        s->keys = (enum key_scheme)o->keys;
    if (option_given(o, OPTION_SORT))
        s->sort = (enum sort_kind)o->sort;
    if (option_given(o, OPTION_ALL))
        s->scope = SCOPE_ALL;
    else if (option_given(o, OPTION_NO_WORKTREES) || o->project)
        s->scope = option_given(o, OPTION_NO_WORKTREES) ? SCOPE_HERE : SCOPE_WORKTREES;
    if (option_given(o, OPTION_ASCII) || !in->world->utf8)
        s->ascii = true;
    if (o->color == COLOR_NEVER || (o->color == COLOR_AUTO && in->world->no_color))
        s->colours = COLOURS_NONE;
    else if (o->color == COLOR_ALWAYS && s->colours == COLOURS_NONE)
        s->colours = COLOURS_AUTO;
}

enum err_code command_config(const struct invocation *in, struct config *out, struct err *e)
{
    config_init(out);
    enum err_code rc = read_file(in, out, e);

    if (rc) {
        config_fini(out);
        return rc;
    }
    for (size_t i = 0; out->problems && i < out->problems->n; i++)
        out_report(in->err_fd, &out->problems->problem[i].err);
    apply_options(in, &out->settings);
    return ERR_OK;
}
