#include "store/systems/claude/write/host_write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/append_journal.h"
#include "store/log/logfile.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/fork/fork.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/write/metarow.h"
#include "store/systems/common/config_dir.h"

enum err_code claude_add_metarows(const struct session_ref *ref, const struct metarows *near_end,
                                  const struct claude_write_leaf *leaf, struct buf *rows,
                                  struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct metarows m = *near_end;
    size_t coming = rows->n, again;
    bool said = m.row[METAROW_LAST_PROMPT].found;

    /* Metadata that the lines themselves contain is not written again in its older form. */
    struct slice lines = buf_slice(rows);
    struct slice line, type;
    bool torn;

    while (slice_line(&lines, &line, &torn)) {
        if (!json_get(line, "type", &type))
            continue;
        for (int t = 0; t < METAROW_TYPES; t++)
            if (json_string_is(type, metarow_names[t])) {
                m.row[t].found = false;
                said |= t == METAROW_LAST_PROMPT;
            }
    }

    if (leaf && leaf->unknown)
        m.row[METAROW_LAST_PROMPT].found = false;
    else
        TRY(metarows_set_leaf(&m, ref->path.p, coming, leaf ? &leaf->id : NULL, &a, e));
    if (leaf && leaf->wanted && !leaf->unknown && leaf->id.n && !said &&
        metarow_write(METAROW_LAST_PROMPT, "leafUuid", leaf->id, ref->id, rows))
        return err_nomem(e);
    if (metarows_reappend(&m, coming, METAROW_TYPES, rows, &again))
        return err_nomem(e);
    return ERR_OK;
}

struct writing {
    const struct session_ref *ref;
    struct slice lines;
};

static enum err_code compose_metadata_rows(void *arg, struct buf *rows, struct err *e)
{
    const struct writing *w = arg;
    AUTO_ARENA a = { 0 };
    struct metarows m;

    TRY(metarows_of(w->ref->path.p, &a, &m, e));
    if (buf_add(rows, w->lines))
        return err_nomem(e);
    return claude_add_metarows(w->ref, &m, NULL, rows, e);
}

enum err_code claude_write_rows(const struct store_env *env, const struct session_ref *ref,
                                struct slice lines, struct err *e)
{
    struct writing w = { ref, lines };

    return journal_append(env, ref->path.p, APPEND_FOLLOW, compose_metadata_rows, &w, NULL, e);
}

/* ---- creating a session ---- */

/* A session as a host creates it. The client itself creates the file with the first message; a host whose commands
 * are separate processes needs it before, so it begins with the row that the client writes first (`mode`), and is not
 * listed until it has a message, as in the client's own lists. The row also keeps what the first message will need:
 * the directory, which cannot be derived from the folder's name, and the title, which in a row of its own would put
 * the empty session on the lists. */

enum { FILE_MODE = 0600, FOLDER_MODE = 0700 };

enum err_code claude_make(const struct store_env *env, const char *path, struct err *e)
{
    AUTO_FREE char *config = NULL;

    TRY(config_dir_named(env, path, &config, e));
    return disk_make_dir(config, FOLDER_MODE, e);
}

/* The folder for the sessions of a directory, created if necessary. */
static enum err_code make_folder(const struct claude *c, struct slice cwd, struct arena *a,
                                 const char **folder, struct err *e)
{
    const char *dir = arena_copy(a, cwd).p;
    char *real = dir ? realpath(dir, NULL) : NULL;
    const char *project = real ? real : dir;
    struct slice name = { 0 };

    if (project)
        name = claude_present_folder(c, slice_of(project), a);
    free(real);
    *folder = name.p ? arena_format(a, "%s/%s", c->projects, name.p) : NULL;
    if (!*folder)
        return err_nomem(e);
    return disk_make_dir(*folder, FOLDER_MODE, e);
}

enum err_code claude_creation_text(const char *path, const char *key, struct arena *a,
                                   struct slice *text, struct err *e)
{
    struct buf row = { 0 };
    struct slice value = { NULL, 0 };
    struct file f;
    int64_t begin;
    enum err_code rc = file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e);

    *text = value;
    if (rc)
        return rc;
    rc = log_find_line(&f, 0, &row, &begin, e);
    file_close(&f);
    if (!rc && claude_value_is(buf_slice(&row), "type", "mode") &&
        json_get_text(buf_slice(&row), key, a, &value) && !(*text = arena_copy(a, value)).p)
        rc = err_nomem(e);
    buf_fini(&row);
    return err_at(e, rc, path);
}

enum err_code claude_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e)
{
    const struct claude *c = claude_of(st);
    char drawn[UUID_STR_LEN];
    struct buf rows = { 0 };
    const char *folder;
    struct host_created made = { .id = req->id };

    fork_generate_id(drawn);
    if (!made.id.n)
        made.id = (struct slice){ drawn, CLAUDE_ID };
    made.id = arena_copy(a, made.id);
    enum err_code rc = made.id.p ? host_id_is_new(st, made.id, a, "create", e) : err_nomem(e);

    if (!rc)
        rc = make_folder(c, req->cwd, a, &folder, e);
    const char *name = rc ? NULL : arena_format(a, "%s" CLAUDE_SUFFIX, made.id.p);

    if (name)
        made.path.p = arena_format(a, "%s/%s", folder, name);
    if (!rc && (!made.path.p || host_first_row(made.id, req->cwd, req->title, &rows) ||
                buf_add_byte(&rows, '\n')))
        rc = err_nomem(e);
    if (!rc)
        rc = disk_create_file(folder, name, buf_slice(&rows), FILE_MODE, e);
    buf_fini(&rows);
    if (rc)
        return rc;
    made.path.n = strlen(made.path.p);

    /* The first row of a session has no place for a model or a parent. */
    made.unsaved = (req->model.n ? HOST_MODEL : 0U) | (req->parent.n ? HOST_PARENT : 0U);
    *out = made;
    return ERR_OK;
}

/* ---- settings ---- */

/* Metadata that a host can set: each is a row {type, key: text, sessionId}, the newest of a type counts, and an empty
 * text removes it (claude.md 2). */
static const struct claude_setting {
    const char *name; /* in `reprise set` */
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

enum err_code claude_set(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e)
{
    AUTO_BUF rows = { 0 };

    for (size_t i = 0; i < n; i++) {
        const struct host_setting *s = &setting[i];
        size_t k = 0;

        while (k < COUNT_OF(settings) && !slice_eq(s->key, slice_of(settings[k].name)))
            k++;
        if (k == COUNT_OF(settings))
            return err_set(e, ERR_USAGE, "", "set: Claude Code sessions have no setting %.*s",
                           SLICE_ARG(s->key));
        NEED(!metarow_write(settings[k].type, settings[k].key, s->value, ref->id, &rows));
    }
    return claude_write_rows(st->env, ref, buf_slice(&rows), e);
}

bool claude_incoming_row_text(struct slice row, const char *key, struct arena *a, struct slice *out)
{
    struct slice value, text;

    if (!json_get(row, key, &value) || json_type(value) != JSON_STRING || value.n <= 2)
        return true;
    if (!json_text(value, a, &text) || !(text = arena_copy(a, text)).p)
        return false;
    *out = text;
    return true;
}

enum err_code claude_incoming_row_read(struct appending *w, struct slice row,
                                       struct incoming_row *g, struct err *e)
{
    char drawn[UUID_STR_LEN];
    struct slice type;

    *g = (struct incoming_row){ .row = row };
    if (!json_get(row, "type", &type) || json_type(type) != JSON_STRING)
        return err_set(e, ERR_USAGE, "", "append: a row of a Claude Code session needs a type");
    g->message =
        claude_value_is(row, "type", "user") || claude_value_is(row, "type", "assistant") ||
        claude_value_is(row, "type", "system") || claude_value_is(row, "type", "attachment");
    if (!claude_incoming_row_text(row, "uuid", w->a, &g->id))
        return err_nomem(e);

    /* A progress row is not stored, but later rows may name its id as that of their parent. */
    if (json_string_is(type, "progress")) {
        g->left_out = true;
        w->left_out++;
        return ERR_OK;
    }
    g->named = g->id.n > 0;
    if (g->message && !g->named) {
        fork_generate_id(drawn);
        g->id = arena_copy(w->a, (struct slice){ drawn, CLAUDE_ID });
        if (!g->id.p)
            return err_nomem(e);
    }

    /* As in the client, a row whose isSidechain is false is not a sub-agent's, whatever else it
     * contains. */
    struct slice side, parent;
    bool has_side = json_get(g->row, "isSidechain", &side), aside = has_side && claude_truthy(side);

    if (!claude_incoming_row_text(g->row, "agentId", w->a, &g->agent))
        return err_nomem(e);
    bool chained = g->message || claude_value_is(g->row, "type", "progress");

    if (chained ? has_side && !aside
                : !claude_value_is(g->row, "type", "content-replacement") &&
                      !claude_value_is(g->row, "type", "fork-context-ref"))
        g->agent.n = 0;
    g->aside = g->agent.n || (chained && aside);
    if (g->agent.n && !claude_is_agent_id(g->agent))
        return err_set(e, ERR_USAGE, "", "append: not a valid id of a sub-agent");
    if (g->aside && !g->agent.n && g->message && !json_get(g->row, "parentUuid", &parent))
        return err_set(e, ERR_USAGE, "",
                       "append: a row of a sub-agent needs its agentId, or a parentUuid");
    return ERR_OK;
}

struct slice claude_incoming_row_quote(struct slice text, struct arena *a)
{
    struct buf out = { 0 };
    struct jsonout j;
    struct slice kept = { NULL, 0 };

    jsonout_init(&j, &out);
    jsonout_text(&j, text);
    if (!j.rc)
        kept = arena_copy(a, buf_slice(&out));
    buf_fini(&out);
    return kept;
}

enum err_code claude_incoming_row_complete(const struct incoming_row *g,
                                           const struct json_edit member[], size_t n,
                                           struct buf *out)
{
    const struct slice row = g->row;
    struct json_edit lacking[INCOMING_ROW_MEMBERS];
    struct slice there;
    size_t lacks = 0;

    for (size_t i = 0; i < n; i++) {
        if (!member[i].value.p)
            return ERR_NOMEM;
        if (!json_get(row, member[i].name, &there) ||
            (g->message && !g->named && strcmp(member[i].name, "uuid") == 0) ||
            (g->reparented && strcmp(member[i].name, "parentUuid") == 0))
            lacking[lacks++] = member[i];
    }
    return lacks ? json_edit(out, row, lacking, lacks) : buf_add(out, row);
}

enum err_code claude_incoming_row_refuse_stream(struct err *e)
{
    return err_set(e, ERR_UNSUPPORTED, "", "append: Claude Code sessions have only one stream");
}

/* The client creates the file of a session with its first message (seed 002); earlier rows are only metadata. */
bool claude_begins(struct slice row)
{
    return claude_value_is(row, "type", "user") || claude_value_is(row, "type", "assistant");
}

enum err_code claude_host_row(const struct store *st, struct slice row, bool transcript,
                              struct arena *a, struct slice *complete, struct slice *id,
                              struct err *e)
{
    struct appending w = { .st = st, .a = a };
    struct buf out = { 0 };
    struct incoming_row g;
    char now[TIME_TEXT];
    enum err_code rc = transcript ? claude_incoming_row_refuse_stream(e)
                                  : claude_incoming_row_read(&w, row, &g, e);

    if (rc)
        return rc;
    time_format(env_now_ms(st->env), now);
    const struct json_edit member[] = {
        { .name = "uuid", .value = claude_incoming_row_quote(g.id, a) },
        { .name = "timestamp", .value = claude_incoming_row_quote(slice_of(now), a) },
    };

    *id = g.left_out ? (struct slice){ NULL, 0 } : g.id;
    *complete = row;

    /* Only messages have an id and a time to complete. */
    if (!g.message)
        return ERR_OK;
    if (claude_incoming_row_complete(&g, member, 2, &out) ||
        !(*complete = arena_copy(a, buf_slice(&out))).p)
        rc = err_nomem(e);
    buf_fini(&out);
    return rc;
}
