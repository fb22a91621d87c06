#include <string.h>

#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "tui/commands/sessions.h"

static enum err_code write_set_answer(struct invocation *in, struct slice session, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return ERR_OK;
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", session);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code read_setting(const char *word, struct host_setting *out, struct err *e)
{
    const char *sign = strchr(word, '=');

    if (!sign || sign == word)
        return err_set(e, ERR_USAGE, word, "set: expected KEY=VALUE");
    out->key = (struct slice){ word, (size_t)(sign - word) };
    out->value = (struct slice){ sign + 1, strlen(sign + 1) };
    return ERR_OK;
}

static enum err_code apply_settings(struct invocation *in, const struct host_setting *setting,
                                    size_t n, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = host_set(ref.store, &ref, setting, n, e);
    in->done = !rc;
    if (!rc)
        rc = write_set_answer(in, ref.id, e);
    sessions_close(&s);
    return rc;
}

enum err_code set_run(struct invocation *in, struct err *e)
{
    size_t n = (size_t)in->argc - 1;
    struct arena a = { 0 };
    struct host_setting *setting = arena_zalloc(&a, n * sizeof *setting);
    enum err_code rc = setting ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < n && !rc; i++)
        rc = read_setting(in->argv[i + 1], &setting[i], e);
    if (!rc)
        rc = option_given(&in->options, OPTION_NO_PERSIST)
                 ? write_set_answer(in, slice_of(in->argv[0]), e)
                 : apply_settings(in, setting, n, e);
    arena_fini(&a);
    return rc;
}
