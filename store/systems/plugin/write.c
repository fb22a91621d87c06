#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/plugin/plugin.h"

/* Changes, on this machine (fork) or in the store (set, remove). */

/* ---- fork: the copy is local ---- */

enum err_code plugin_fork(const struct store *st, const struct session_ref *ref,
                          const struct fork_request *req, struct change *c, struct fork_result *out,
                          struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct arena a = { 0 };
    struct fork_request here = *req;
    struct plugin_text t;

    TRY(plugin_text_open(p, ref, NULL, &t, e));
    enum err_code rc = plugin_local_folder(p, ref, t.dir, &a, &here.folder, e);

    if (!rc)
        rc = disk_private_dir(here.folder, e);
    if (!rc)
        rc = plugin_text_error(&t, claude_ops.fork(p->claude, &t.lent, &here, c, out, e), e);
    if (!rc)
        out->system = claude_ops.name;
    plugin_text_close(&t);
    arena_fini(&a);
    return rc;
}

/* ---- in the store ---- */

static const struct setting {
    const char *name, *type, *key;
} settings[] = {
    { "title", "custom-title", "customTitle" },
    { "customTitle", "custom-title", "customTitle" },
    { "aiTitle", "ai-title", "aiTitle" },
    { "tag", "tag", "tag" },
};

/* Writes the setting as the agent's SDK does, with an id, so that a repeated append adds nothing. */
static enum err_code write_setting(const struct setting *s, struct slice value,
                                   const struct plugin_store *p, struct slice session,
                                   struct buf *out)
{
    struct jsonout j;
    char id[HOST_ID], now[TIME_TEXT];

    host_generate_id(id);
    time_format(env_now_ms(p->base.env), now);
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", slice_of(s->type));
    jsonout_key(&j, s->key);
    jsonout_text(&j, value);
    jsonout_member(&j, "sessionId", session);
    jsonout_member(&j, "uuid", slice_of(id));
    jsonout_member(&j, "timestamp", slice_of(now));
    jsonout_close(&j, '}');
    return j.rc;
}

enum err_code plugin_write_title(const struct plugin_store *p, struct slice title,
                                 struct slice session, struct buf *out)
{
    return write_setting(settings, title, p, session, out);
}

static enum err_code append_setting(const struct plugin_store *p,
                                    const struct reprise_plugin_key *key,
                                    const struct host_setting *setting, struct err *e)
{
    const struct setting *s = NULL;
    AUTO_BUF row = { 0 };
    int64_t last;

    for (size_t i = 0; i < COUNT_OF(settings) && !s; i++)
        if (slice_eq(setting->key, slice_of(settings[i].name)))
            s = &settings[i];
    if (!s)
        return err_set(e, ERR_USAGE, "", "set: sessions of this store have no setting %.*s",
                       SLICE_ARG(setting->key));
    if (s == settings && !utf8_js_trim(setting->value).n)
        return err_set(e, ERR_USAGE, "", "rename: the title is blank");
    TRY(write_setting(s, setting->value, p, slice_of(key->session), &row) ? err_nomem(e) : ERR_OK);
    return plugin_append(p, key, -1, &(struct reprise_plugin_text){ row.p, row.n }, 1, &last, NULL,
                         e);
}

enum err_code plugin_set(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct arena a = { 0 };
    struct reprise_plugin_key key;
    enum err_code rc = plugin_key_of(p, ref, &a, &key, e);

    for (size_t i = 0; i < n && !rc; i++)
        rc = append_setting(p, &key, &setting[i], e);
    plugin_forget(p, ref);
    arena_fini(&a);
    return rc;
}

enum err_code plugin_remove(const struct store *st, const struct session_ref *ref, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    AUTO_ARENA a = { 0 };
    struct reprise_plugin_key key;

    TRY(plugin_key_of(p, ref, &a, &key, e));
    return plugin_remove_key(p, &key, e);
}
