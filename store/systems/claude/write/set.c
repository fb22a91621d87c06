#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/write/hostwrite.h"
#include "store/systems/claude/write/metarow.h"

/* Metadata as a host sets it: each a row {type, key: text, sessionId}, the newest of a type counts, and an empty
 * text takes it back (claude.md 2). */
static const struct {
    const char *name; /* as `reprise set` knows it */
    enum metarow_type type;
    const char *key;
} settings[] = {
    { "title", METAROW_CUSTOM_TITLE, "customTitle" },
    { "customTitle", METAROW_CUSTOM_TITLE, "customTitle" },
    { "aiTitle", METAROW_AI_TITLE, "aiTitle" },
    { "tag", METAROW_TAG, "tag" },
    { "agentName", METAROW_AGENT_NAME, "agentName" },
    { "agentColor", METAROW_AGENT_COLOR, "agentColor" },
    { "agentSetting", METAROW_AGENT_SETTING, "agentSetting" },
    { "mode", METAROW_MODE, "mode" },
    { "permissionMode", METAROW_PERMISSION_MODE, "permissionMode" },
    { "lastPrompt", METAROW_LAST_PROMPT, "lastPrompt" },
};

static enum err_code add_setting_row(const struct session_ref *ref, const struct host_setting *s,
                                     struct buf *out, struct err *e)
{
    struct jsonout j;

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (!slice_eq(s->key, slice_of(settings[i].name)))
            continue;
        const char *type = metarow_names[settings[i].type];

        jsonout_init(&j, out);
        jsonout_open(&j, '{');
        jsonout_member(&j, "type", slice_of(type));
        jsonout_key(&j, settings[i].key);
        jsonout_text(&j, s->value);
        jsonout_member(&j, "sessionId", ref->id);
        jsonout_close(&j, '}');
        return j.rc || buf_add_byte(out, '\n') ? err_nomem(e) : ERR_OK;
    }
    return err_set(e, ERR_USAGE, "", "set: claude sessions have no setting %.*s",
                   SLICE_ARG(s->key));
}

enum err_code claude_set(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e)
{
    struct buf rows = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc; i++)
        rc = add_setting_row(ref, &setting[i], &rows, e);
    if (!rc)
        rc = claude_write_rows(st->env, ref, buf_slice(&rows), e);
    buf_fini(&rows);
    return rc;
}
