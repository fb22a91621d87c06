#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "lite/scan/field.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/plugin/plugin.h"

/* Changes, on this machine (retrieve, fork) or in the store (set, remove). */

enum { LOCAL_MAX = 1 << 30 };

/* ---- where Claude Code looks ---- */

/* <config>/projects/<folder of the session's directory>. A project may have any name, so the
 * directory in the rows is used. */
static enum err_code local_folder(const struct plugin_store *p, const struct session_ref *ref,
                                  struct slice rows, struct arena *a, const char **out,
                                  struct err *e)
{
    struct slice cwd = { NULL, 0 }, name = { NULL, 0 };
    char *config;
    enum err_code rc = config_dir_default(p->base.env, &config, e);

    if (rc)
        return rc;
    if (field_first(rows, true, "cwd", a, &cwd) && cwd.n)
        name = config_dir_project_name(cwd, a);
    else if (host_id_is_plain(ref->folder))
        name = config_dir_flatten(ref->folder, a);
    if (!name.n && !a->failed)
        rc = err_set(e, ERR_UNSUPPORTED, ref->path.p,
                     "retrieve: neither its rows nor its project name a directory");
    *out = rc ? NULL : arena_format(a, "%s/projects/%.*s", config, SLICE_ARG(name));
    free(config);
    if (!rc && !*out)
        rc = err_nomem(e);
    return rc;
}

/* ---- retrieve ---- */

struct retrieving {
    const struct plugin_store *p;
    const struct session_ref *ref;
    const struct retrieve_request *req;
    struct change *change;
    struct retrieved out;
    const char *folder;
    struct err *e;
};

/* The rows of one key. */
struct stored {
    struct buf rows, metadata; /* metadata: the document about a sub-agent */
    struct idset ids;          /* the ids of the rows with a uuid */
    size_t *line, cap;         /* by the number of the id: where its row is; owned */
    bool reorders, agent;
};

static void stored_fini(struct stored *s)
{
    buf_fini(&s->rows);
    buf_fini(&s->metadata);
    idset_fini(&s->ids);
    free(s->line);
}

static struct slice line_at(const struct buf *rows, size_t at)
{
    const char *end = memchr(rows->p + at, '\n', rows->n - at);

    return (struct slice){ rows->p + at, end ? (size_t)(end - rows->p) - at : rows->n - at };
}

/* Takes the last line away again if it is an earlier row once more: a store that cannot refuse repeated rows may have
 * them, and the uuid of a row shows that they are the same. */
static enum err_code drop_repeated(struct stored *s, struct slice uuid, size_t at)
{
    size_t known = s->ids.n;
    uint32_t number;

    if (!array_reserve(s->line, s->cap, known + 1) || idset_add(&s->ids, id128_of(uuid), &number))
        return ERR_NOMEM;
    if (number == known)
        s->line[number] = at;
    else if (slice_eq(line_at(&s->rows, s->line[number]), line_at(&s->rows, at)))
        s->rows.n = at;
    return ERR_OK;
}

static enum err_code store_row(int64_t position, struct slice row, void *arg)
{
    struct stored *s = arg;
    AUTO_ARENA a = { 0 };
    struct slice uuid;
    size_t at = s->rows.n;

    (void)position;
    if (s->agent && json_valid(row) && json_get_is(row, "type", "agent_metadata")) {
        s->metadata.n = 0;
        return json_remove(&s->metadata, row, "type");
    }

    TRY(plugin_row_add(&s->rows, row, s->reorders));
    if (json_get_text(row, "uuid", &a, &uuid) && uuid.n)
        TRY(drop_repeated(s, uuid, at));
    return ERR_OK;
}

/* Rows about requests are on one machine only, so they make neither side newer. */
static enum err_code plugin_add_lines(struct idset *set, struct slice lines)
{
    struct slice line;
    bool torn, is_new;
    enum err_code rc = ERR_OK;

    while (!rc && slice_line(&lines, &line, &torn))
        if (line.n && !row_is_request(line))
            rc = row_set_add(set, line, &is_new);
    return rc;
}

/* If only one side has rows that the other lacks, it is newer. If both have, the local one is kept. */
static enum err_code plugin_compare_rows(struct slice here, struct slice there,
                                         enum retrieve_state *state)
{
    struct idset local = { 0 }, stored = { 0 };
    enum err_code rc = plugin_add_lines(&local, here);

    if (!rc)
        rc = plugin_add_lines(&stored, there);
    struct row_difference d = row_set_compare(&local, &stored);

    idset_fini(&local);
    idset_fini(&stored);
    *state = d.here ? RETRIEVE_LOCAL_NEWER : d.there ? RETRIEVE_NEWER : RETRIEVE_UNCHANGED;
    return rc;
}

/* ---- rows that are only here ---- */

/* The rows about requests after each local row that a store may have. They stay where they are. */
struct kept_rows {
    struct idset set;    /* the rows that a store may have */
    struct slice *after; /* by their number; owned */
    size_t cap;
    struct slice first; /* before all of them */
    bool any;
};

static enum err_code read_kept_rows(struct slice here, struct kept_rows *k)
{
    struct slice rest = here, line, *after = &k->first;
    bool torn, is_new = false;
    enum err_code rc = ERR_OK;

    k->first = (struct slice){ here.p, 0 };
    while (!rc && slice_line(&rest, &line, &torn)) {
        bool request = row_is_request(line);

        k->any |= request;
        if (line.n && !request)
            rc = row_set_add(&k->set, line, &is_new);
        if (!rc && line.n && !request && is_new) {
            if (!array_reserve(k->after, k->cap, k->set.n))
                return ERR_NOMEM;
            after = &k->after[k->set.n - 1];
            *after = (struct slice){ rest.p, 0 };
            continue;
        }
        after->n = (size_t)(rest.p - after->p);
    }
    return rc;
}

static enum err_code plugin_add_kept(struct buf *out, struct slice rows)
{
    enum err_code rc = rows.n ? buf_add(out, rows) : ERR_OK;

    return !rc && rows.n && rows.p[rows.n - 1] != '\n' ? buf_add_byte(out, '\n') : rc;
}

/* Adds the rows about requests of the present file to those of the store, which has all its other rows. */
static enum err_code merge_kept_rows(struct slice here, struct slice there, struct buf *out)
{
    struct kept_rows k = { .cap = 0 };
    struct idset stored = { 0 };
    struct slice line;
    bool torn, is_new = false;
    enum err_code rc = read_kept_rows(here, &k);

    if (!rc)
        rc = k.any ? plugin_add_kept(out, k.first) : buf_add(out, there);
    while (!rc && k.any && slice_line(&there, &line, &torn)) {
        rc = buf_add(out, line) || buf_add_byte(out, '\n') ? ERR_NOMEM : ERR_OK;
        if (!rc && line.n && !row_is_request(line))
            rc = row_set_add(&stored, line, &is_new);
        uint32_t number = rc || !line.n || !is_new || row_is_request(line)
                              ? IDSET_NONE
                              : idset_find(&k.set, stored.id[stored.n - 1]);

        if (number != IDSET_NONE)
            rc = plugin_add_kept(out, k.after[number]);
    }
    idset_fini(&k.set);
    idset_fini(&stored);
    free(k.after);
    return rc;
}

static enum err_code plan_put(struct retrieving *r, const char *path, struct slice bytes,
                              struct slice here, bool exists)
{
    const struct step s = { .kind = STEP_PUT,
                            .path = path,
                            .bytes = bytes,
                            .old = here,
                            .old_absent = !exists,
                            .mtime_ns = INT64_MIN,
                            .mode = exists ? 0 : 0600 };

    return change_add(r->change, &s, r->e);
}

static struct retrieve_item *new_item(struct retrieving *r)
{
    struct arena *a = &r->out.arena;
    struct retrieve_item *more = arena_grow(a, r->out.item, r->out.n, sizeof *more);

    if (!more)
        return NULL;
    r->out.item = more;
    struct retrieve_item *item = &more[r->out.n++];

    *item = (struct retrieve_item){ .session = arena_copy(a, r->ref->id),
                                    .agent = SLICE("Claude Code") };
    return item->session.p ? item : NULL;
}

/* Plans to write what was read to a path, if that is newer. */
static enum err_code plugin_plan_file(struct retrieving *r, const struct stored *s,
                                      const char *folder, const char *path)
{
    struct retrieve_item *item = new_item(r);
    struct buf here = { 0 }, merged = { 0 };

    if (!item)
        return err_nomem(r->e);
    item->path = path;
    item->folder = folder;
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, LOCAL_MAX, &here, r->e);
    bool exists = rc == ERR_OK;

    item->state = RETRIEVE_NEW;
    if (rc == ERR_NOT_FOUND)
        rc = ERR_OK;
    if (!rc && exists && plugin_compare_rows(buf_slice(&here), buf_slice(&s->rows), &item->state))
        rc = err_nomem(r->e);

    /* The local file is replaced only if it lacks rows, or if the request accepts the loss of its own. */
    item->planned = item->state == RETRIEVE_NEW || item->state == RETRIEVE_NEWER ||
                    (r->req->overwrite && item->state == RETRIEVE_LOCAL_NEWER);
    if (!rc && item->state == RETRIEVE_NEWER &&
        merge_kept_rows(buf_slice(&here), buf_slice(&s->rows), &merged))
        rc = err_nomem(r->e);
    if (!rc && item->planned)
        rc = plan_put(r, path, merged.n ? buf_slice(&merged) : buf_slice(&s->rows),
                      buf_slice(&here), exists);
    buf_fini(&merged);
    buf_fini(&here);
    return rc;
}

static enum err_code read_stored(struct retrieving *r, const struct reprise_plugin_key *key,
                                 struct stored *out)
{
    *out = (struct stored){ .reorders = plugin_reorders(r->p), .agent = key->subpath != NULL };
    return plugin_read(r->p, key, 0, NULL, store_row, out, r->e);
}

/* ---- sub-agents ---- */

/* A subpath becomes a path, so each of its parts has to be an ordinary name. */
static bool is_plain_subpath(const char *subpath)
{
    for (const char *part = subpath;; part += strcspn(part, "/") + 1) {
        struct slice name = { part, strcspn(part, "/") };

        for (size_t i = 0; i < name.n; i++)
            if ((unsigned char)name.p[i] < 0x20 || name.p[i] == '\\')
                return false;
        if (!host_id_is_plain(name))
            return false;
        if (!part[name.n])
            return true;
    }
}

/* The document belongs to the rows: whoever has the newer rows has its newer state. */
static enum err_code plan_metadata(struct retrieving *r, const struct stored *s, const char *stem)
{
    const char *path = arena_format(&r->out.arena, "%s.meta.json", stem);
    struct buf here = { 0 };
    bool same = false;

    if (!path)
        return err_nomem(r->e);
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, LOCAL_MAX, &here, r->e);
    bool exists = rc == ERR_OK;

    if (exists) {
        struct slice x = buf_slice(&here);
        struct slice y = buf_slice(&s->metadata);
        struct err *e = r->e;
        AUTO_ARENA a = { 0 };

        same = json_valid(x) && id128_eq(row_contents(x, &a), row_contents(y, &a));
        rc = a.failed ? err_nomem(e) : ERR_OK;
    }
    if (rc == ERR_NOT_FOUND || (!rc && !same))
        rc = plan_put(r, path, buf_slice(&s->metadata), buf_slice(&here), exists);
    buf_fini(&here);
    return rc;
}

static enum err_code plan_agent(struct retrieving *r, struct reprise_plugin_key *key)
{
    struct arena *a = &r->out.arena;
    const char *stem = arena_format(a, "%s/%s/%s", r->folder, key->session, key->subpath);
    const char *path = stem ? arena_format(a, "%s.jsonl", stem) : NULL;
    struct stored s;

    if (!path)
        return err_nomem(r->e);
    const char *folder =
        arena_copy(a, (struct slice){ stem, (size_t)(strrchr(stem, '/') - stem) }).p;
    enum err_code rc = folder ? read_stored(r, key, &s) : err_nomem(r->e);

    if (!folder)
        return rc;
    if (!rc)
        rc = plugin_plan_file(r, &s, folder, path);
    if (!rc && s.metadata.n && r->out.item[r->out.n - 1].planned)
        rc = plan_metadata(r, &s, stem);
    stored_fini(&s);
    return rc;
}

struct subpaths {
    struct arena *a;
    const char **path;
    size_t n;
};

static enum err_code add_subpath(const char *subpath, void *arg)
{
    struct subpaths *s = arg;
    const char **more = arena_grow(s->a, s->path, s->n, sizeof(char *));

    if (!more || !(more[s->n] = arena_copy_text(s->a, subpath)))
        return ERR_NOMEM;
    s->path = more;
    s->n++;
    return ERR_OK;
}

/* Sub-agents are written before the session itself, so that a listed session has all of them. */
static enum err_code plan_agents(struct retrieving *r, struct reprise_plugin_key key)
{
    struct subpaths s = { .a = &r->out.arena };
    enum err_code rc = plugin_subkeys(r->p, &key, add_subpath, &s, r->e);

    for (size_t i = 0; i < s.n && !rc; i++) {
        key.subpath = s.path[i];
        rc = is_plain_subpath(key.subpath)
                 ? plan_agent(r, &key)
                 : err_set(r->e, ERR_UNSAFE, r->ref->path.p,
                           "retrieve: a sub-agent's name cannot be part of a path");
    }
    return rc;
}

static enum err_code plan_session(struct retrieving *r)
{
    struct arena *a = &r->out.arena;
    struct reprise_plugin_key key;
    CLEANUP(stored_fini) struct stored s = { .reorders = false };
    const char *path = NULL;

    TRY(plugin_key_of(r->p, r->ref, a, &key, r->e));
    if (!host_id_is_plain(r->ref->id))
        return err_set(r->e, ERR_UNSAFE, r->ref->path.p,
                       "retrieve: its id cannot be a file's name");
    TRY(read_stored(r, &key, &s));
    if (!s.rows.n)
        return err_set(r->e, ERR_NOT_FOUND, r->ref->path.p, "retrieve: it has no rows");
    TRY(local_folder(r->p, r->ref, buf_slice(&s.rows), a, &r->folder, r->e));
    path = arena_format(a, "%s/%s.jsonl", r->folder, key.session);
    if (!path)
        return err_nomem(r->e);
    TRY(plan_agents(r, key));
    return plugin_plan_file(r, &s, r->folder, path);
}

enum err_code plugin_retrieve(const struct store *st, const struct session_ref *ref,
                              const struct retrieve_request *req, struct change *c,
                              struct retrieved *out, struct err *e)
{
    struct retrieving r = { .p = plugin_of(st), .ref = ref, .req = req, .change = c, .e = e };
    enum err_code rc = req->at.n ? err_set(e, ERR_UNSUPPORTED, ref->path.p,
                                           "retrieve: its store keeps no checkpoints")
                                 : plan_session(&r);

    if (rc)
        retrieved_fini(&r.out);
    else
        *out = r.out;
    return rc;
}

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
    enum err_code rc = local_folder(p, ref, buf_slice(&t.bytes), &a, &here.folder, e);

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

static const struct setting *find_setting(struct slice name)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (slice_eq(name, slice_of(settings[i].name)))
            return &settings[i];
    return NULL;
}

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
    const struct setting *s = find_setting(setting->key);
    AUTO_BUF row = { 0 };
    int64_t last;

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
