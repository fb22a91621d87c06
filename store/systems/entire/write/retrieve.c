#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <openssl/evp.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/api/restore.h"
#include "store/git/repo.h"
#include "store/journal/change.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"

/* ---- other agents ---- */

/* The path at which agents other than Claude Code look for the transcript of a session (docs/formats/other-
 * agents.md; for Gemini as Entire resolves it). It depends only on this machine and on the session's id, which is
 * a plain file name. */
struct agent_session {
    struct slice agent; /* display name: "Gemini CLI" */
    struct slice id;
    struct slice transcript;
    const char *root; /* the work tree */
};

struct placing {
    const struct agent_session *s;
    const char *home;
    struct arena *a;
    const char *path, *folder;
    struct err *e;
};

static bool is_agent_dir(const char *path)
{
    struct stat st;

    return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool name_starts_with(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* "-<what>.json" or "-<what>.jsonl" */
static bool ends(const char *name, struct slice what)
{
    static const char *const suffixes[] = { ".json", ".jsonl" };
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t k = strlen(suffixes[i]);

        if (n > what.n + k + 1 && strcmp(name + n - k, suffixes[i]) == 0 &&
            memcmp(name + n - k - what.n, what.p, what.n) == 0 && name[n - k - what.n - 1] == '-')
            return true;
    }
    return false;
}

/* The last file by name that begins and ends like this, or NULL. The names contain dates. */
static const char *newest_match(struct placing *p, const char *dir, const char *front,
                                struct slice end)
{
    DIR *d = dir ? opendir(dir) : NULL;
    const struct dirent *x;
    const char *best = NULL;

    while (d && (x = readdir(d)))
        if (name_starts_with(x->d_name, front) && ends(x->d_name, end) &&
            (!best || strcmp(x->d_name, best) > 0))
            best = arena_format(p->a, "%s", x->d_name);
    if (d)
        closedir(d);
    return best ? arena_format(p->a, "%s/%s", dir, best) : NULL;
}

/* ---- Gemini CLI ---- */

/* The directory of a project: the one that the agent named after the hash of the path, or else the
 * one that Entire would use. */
static const char *gemini_folder(struct placing *p)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char hex[65] = "";
    size_t length = strlen(p->s->root);
    char *plain = arena_alloc(p->a, length + 1);

    if (!plain || !EVP_Digest(p->s->root, length, sum, &n, EVP_sha256(), NULL))
        return NULL;
    for (unsigned i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    const char *own = arena_format(p->a, "%s/.gemini/tmp/%s", p->home, hex);

    if (!own || is_agent_dir(own))
        return own;
    for (size_t i = 0; i <= length; i++) {
        char c = p->s->root[i];
        bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        plain[i] = kept || c == '\0' ? c : '-';
    }
    return arena_format(p->a, "%s/.gemini/tmp/%s", p->home, plain);
}

static enum err_code place_gemini(struct placing *p)
{
    struct slice shown = { p->s->id.p, p->s->id.n < 8 ? p->s->id.n : 8 };

    p->folder = gemini_folder(p);
    const char *chats = p->folder ? arena_format(p->a, "%s/chats", p->folder) : NULL;

    if (!chats)
        return err_nomem(p->e);
    p->path = newest_match(p, chats, "session-", shown);
    if (!p->path)
        p->path = arena_format(p->a, "%s/%.*s.json", chats, SLICE_ARG(p->s->id));
    return p->path ? ERR_OK : err_nomem(p->e);
}

/* ---- Codex ---- */

/* Searches directories of years, months and days; depth: how many levels are left. */
static const char *find_rollout(struct placing *p, const char *dir, int depth)
{
    if (depth == 0)
        return newest_match(p, dir, "rollout-", p->s->id);
    DIR *d = opendir(dir);
    const struct dirent *x;
    const char *found = NULL;

    while (d && !found && (x = readdir(d)))
        if (x->d_name[0] >= '0' && x->d_name[0] <= '9')
            found = find_rollout(p, arena_format(p->a, "%s/%s", dir, x->d_name), depth - 1);
    if (d)
        closedir(d);
    return found;
}

/* The time at which the session began, from its first row. */
static bool began(struct slice transcript, struct arena *a, char out[TIME_TEXT])
{
    struct slice line, payload, stamp;
    bool torn;
    int64_t ms;

    if (!slice_line(&transcript, &line, &torn) ||
        (!(json_get(line, "payload", &payload) && json_get_text(payload, "timestamp", a, &stamp)) &&
         !json_get_text(line, "timestamp", a, &stamp)) ||
        !time_parse(stamp, &ms) || ms < 0)
        return false;
    time_format(ms, out);
    return strlen(out) == 24; /* the year has four digits */
}

static enum err_code place_codex(struct placing *p)
{
    const char *sessions = arena_format(p->a, "%s/.codex/sessions", p->home);
    char t[TIME_TEXT];

    if (!sessions)
        return err_nomem(p->e);
    p->path = find_rollout(p, sessions, 3);
    if (p->path) {
        p->folder = sessions;
        return ERR_OK;
    }
    if (!began(p->s->transcript, p->a, t))
        return err_set(p->e, ERR_UNSUPPORTED, p->s->id.p,
                       "retrieve: its first row does not record when it began");
    p->folder = arena_format(p->a, "%s/%.4s/%.2s", sessions, t, t + 5);
    p->path = p->folder
                  ? arena_format(p->a, "%s/%.2s/rollout-%.10sT%.2s-%.2s-%.2s-%.*s.jsonl", p->folder,
                                 t + 8, t, t + 11, t + 14, t + 17, SLICE_ARG(p->s->id))
                  : NULL;
    return p->path ? ERR_OK : err_nomem(p->e);
}

/* ---- all ---- */

/* Later checkpoints may contain a short form that only Entire reads. */
static bool is_short_form(struct slice transcript)
{
    struct slice line, v, version;
    bool torn;

    return slice_line(&transcript, &line, &torn) && json_get(line, "v", &v) &&
           json_type(v) == JSON_NUMBER && json_get(line, "cli_version", &version);
}

/* Agents by their display names and by those of old checkpoints. */
static const struct agent {
    const char *name, *section; /* of our configuration */
    enum err_code (*place)(struct placing *p);
} agents[] = {
    { "Claude Code", "claude", NULL },
    { "claude-code", "claude", NULL },
    { "Gemini CLI", "gemini", place_gemini },
    { "gemini", "gemini", place_gemini },
    { "Codex", "codex", place_codex },
    { "codex", "codex", place_codex },
    { "", "claude", NULL },
};

static const struct agent *find_agent(struct slice name)
{
    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++)
        if (slice_eq(name, slice_of(agents[i].name)))
            return &agents[i];
    return NULL;
}

/* *path: the file, the existing one if the session has one; *folder: the part of it that must exist except for the last
 * directory. Both are in the arena. ERR_UNSUPPORTED: unknown for this agent. ERR_NOT_FOUND: HOME is not set. */
static enum err_code find_agent_path(const struct store_env *env, const struct agent_session *s,
                                     struct arena *a, const char **path, const char **folder,
                                     struct err *e)
{
    struct placing p = { .s = s, .home = env->home, .a = a, .e = e };
    const struct agent *agent = find_agent(s->agent);

    if (!agent || !agent->place || is_short_form(s->transcript))
        return err_set(e, ERR_UNSUPPORTED, s->id.p,
                       "retrieve: it is not known where its agent keeps transcripts");
    if (!env->home || env->home[0] != '/')
        return err_set(e, ERR_NOT_FOUND, "", "retrieve: HOME is not set");
    enum err_code rc = agent->place(&p);

    *path = p.path;
    *folder = p.folder;
    return rc;
}

/* Retrieving writes the transcript of a checkpoint to where its agent looks for it. The path
 * depends on the local work tree and on the session's id, never on a path that was pushed. */

enum { LOCAL_MAX = 1 << 30 };

struct retrieving {
    struct view view;
    const struct retrieve_request *req;
    struct change *change;
    struct retrieved out;
    struct err *e;
};

/* ---- where it belongs ---- */

static enum err_code place_claude(struct retrieving *r, const struct catalog_session *s,
                                  struct slice id, struct retrieve_item *item)
{
    const struct entire *x = r->view.store;
    struct arena *a = &r->out.arena;
    char *config;
    enum err_code rc = config_dir_default(x->base.env, &config, r->e);
    const char *projects = rc ? NULL : arena_format(a, "%s/projects", config);

    if (rc)
        return rc;
    free(config);
    if (!projects)
        return err_nomem(r->e);
    item->folder = projects;
    /* The path in the state is used only if it follows the same rules. */
    if (s && s->state &&
        entire_conversation_is_claude_path(s->state->transcript_path, projects, id))
        item->path = arena_format(a, "%s", s->state->transcript_path.p);
    else
        item->path = entire_conversation_claude_path(
            projects, r->view.root ? r->view.root : x->common, id, a);
    return item->path ? ERR_OK : err_nomem(r->e);
}

/* For other agents, by their name. */
static enum err_code place_other(struct retrieving *r, const struct point *p,
                                 const struct entire_conversation *conversation,
                                 struct retrieve_item *item)
{
    const struct entire *x = r->view.store;
    const struct agent_session s = { .agent = item->agent,
                                     .id = entire_agent_id(p->session),
                                     .transcript = buf_slice(&conversation->bytes),
                                     .root = r->view.root ? r->view.root : x->common };

    return find_agent_path(x->base.env, &s, &r->out.arena, &item->path, &item->folder, r->e);
}

/* ---- which is newer ---- */

/* The newest time in a document, or in the rows of another agent. */
static int64_t newest_time(struct slice text)
{
    struct plain_rows rows;
    struct slice row;
    bool broken;
    int64_t ms = TIME_NONE;

    plain_rows_open(&rows, text);
    while (plain_rows_next(&rows, &row, &broken)) {
        int64_t at = broken ? TIME_NONE : plain_time(row);

        if (at != TIME_NONE && (ms == TIME_NONE || at > ms))
            ms = at;
    }
    return ms;
}

/* The time of the last row that has one, however long the row is. */
static int64_t last_row_time(struct slice text)
{
    int64_t ms = TIME_NONE;

    while (text.n && ms == TIME_NONE) {
        if (text.p[text.n - 1] == '\n')
            text.n--;
        const char *nl = text.n ? memrchr(text.p, '\n', text.n) : NULL;
        size_t at = nl ? (size_t)(nl + 1 - text.p) : 0;
        struct slice value, line = { text.p + at, text.n - at };

        if (json_get(line, "timestamp", &value) && json_type(value) == JSON_STRING &&
            !time_parse((struct slice){ value.p + 1, value.n - 2 }, &ms))
            ms = TIME_NONE;
        text.n = at;
    }
    return ms;
}

static enum retrieve_state compare_transcripts(struct slice here, struct slice kept, bool claude)
{
    int64_t local = claude ? last_row_time(here) : newest_time(here),
            checkpoint = claude ? last_row_time(kept) : newest_time(kept);

    if (slice_eq(here, kept))
        return RETRIEVE_UNCHANGED;
    if (local == TIME_NONE || checkpoint == TIME_NONE || local > checkpoint)
        return RETRIEVE_LOCAL_NEWER;
    return local == checkpoint ? RETRIEVE_UNCHANGED : RETRIEVE_NEWER;
}

/* ---- a sub-agent's point ---- */

/* The rows up to the one with this id, or all of them if it is missing. */
static struct slice up_to(struct slice text, struct slice uuid)
{
    struct slice rest = text, line, id;
    struct arena a = { 0 };
    bool torn;

    while (slice_line(&rest, &line, &torn)) {
        bool found = json_get_text(line, "uuid", &a, &id) && slice_eq(id, uuid);

        arena_reset(&a);
        if (found) {
            text.n = (size_t)(rest.p - text.p);
            break;
        }
    }
    arena_fini(&a);
    return text;
}

static struct slice cut_for_task(struct retrieving *r, const struct point *p, struct slice text)
{
    struct slice uuid;

    return entire_conversation_task_end(r->view.repo, p, &r->out.arena, &uuid) ? up_to(text, uuid)
                                                                               : text;
}

/* ---- the plan ---- */

static enum err_code plan_write(struct retrieving *r, struct retrieve_item *item, struct slice kept,
                                struct slice here, bool exists)
{
    struct step s = { .kind = STEP_PUT,
                      .path = item->path,
                      .bytes = kept,
                      .old = here,
                      .old_absent = !exists,
                      .mtime_ns = INT64_MIN,
                      .mode = exists ? 0 : 0600,
                      .with_dir = !exists };

    item->planned = item->state == RETRIEVE_NEW || item->state == RETRIEVE_NEWER ||
                    (r->req->overwrite && item->state == RETRIEVE_LOCAL_NEWER);
    return item->planned ? change_add(r->change, &s, r->e) : ERR_OK;
}

static enum err_code judge_item(struct retrieving *r, const struct point *p,
                                struct retrieve_item *item,
                                const struct entire_conversation *conversation)
{
    struct buf here = { 0 };
    struct slice kept = cut_for_task(r, p, buf_slice(&conversation->bytes));
    const struct catalog_session *s = catalog_find(r->view.catalog, p->session);
    /* Rows of other agents may look the same, but do not belong among those of Claude Code. */
    bool claude = conversation->claude && entire_conversation_may_be_claude(item->agent);
    enum err_code rc = claude ? place_claude(r, s, entire_agent_id(p->session), item)
                              : place_other(r, p, conversation, item);

    if (rc) /* if the path is unknown, the item is reported and left out */
        return rc == ERR_UNSUPPORTED ? ERR_OK : rc;
    rc = file_read_all(AT_FDCWD, item->path, 0, LOCAL_MAX, &here, r->e);
    bool exists = rc == ERR_OK;

    if (rc == ERR_NOT_FOUND)
        rc = ERR_OK;
    if (!rc) {
        item->state = exists ? compare_transcripts(buf_slice(&here), kept, claude) : RETRIEVE_NEW;
        item->redacted = p->source != POINT_SHADOW;
        rc = plan_write(r, item, kept, buf_slice(&here), exists);
    }
    buf_fini(&here);
    return rc;
}

/* *found: the point has a transcript. */
static enum err_code add_item(struct retrieving *r, const struct point *p, bool *found)
{
    struct arena *a = &r->out.arena;
    struct retrieve_item *more, *item;
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open_at(r->view.repo, p, &conversation, r->e);

    *found = rc == ERR_OK;
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    const struct catalog_session *s = catalog_find(r->view.catalog, p->session);
    struct slice agent = p->agent.n || !s ? p->agent : entire_conversation_agent(s);

    more = arena_grow(a, r->out.item, r->out.n, sizeof *more);
    if (more) {
        r->out.item = more;
        item = &more[r->out.n++];
        *item = (struct retrieve_item){ .session = arena_copy(a, p->session),
                                        .agent = arena_copy(a, agent),
                                        .state = RETRIEVE_NOT_OURS };
        if (!item->session.p || !item->agent.p)
            rc = err_nomem(r->e);
        else
            rc = judge_item(r, p, item, &conversation);
    } else {
        rc = err_nomem(r->e);
    }
    entire_conversation_close(&conversation);
    return rc;
}

/* All sessions of a committed checkpoint, or the only one of a shadow commit. */
static enum err_code add_all(struct retrieving *r, const struct point *p)
{
    const struct point_list *all = &r->view.catalog->points;
    bool found = false, any = false;
    enum err_code rc = ERR_OK;

    if (p->source == POINT_SHADOW)
        rc = add_item(r, p, &any);
    else
        for (size_t i = 0; i < all->n && !rc; i++)
            if (all->point[i].source != POINT_SHADOW && slice_eq(all->point[i].id, p->id)) {
                rc = add_item(r, &all->point[i], &found);
                any = any || found;
            }
    if (!rc && !any)
        rc = err_set(r->e, ERR_NOT_FOUND, p->id.p, "retrieve: the checkpoint has no transcript");
    return rc;
}

static enum err_code add_newest(struct retrieving *r)
{
    const struct catalog_session *s = r->view.session;
    bool found = false;
    enum err_code rc = ERR_OK;

    for (size_t i = s->n; i-- > 0 && !found && !rc;)
        rc = add_item(r, &s->point[i], &found);
    if (!rc && !found)
        rc = err_set(r->e, ERR_NOT_FOUND, r->view.store->base.path,
                     "retrieve: no checkpoint of the session has a transcript");
    return rc;
}

enum err_code entire_retrieve(const struct store *st, const struct session_ref *ref,
                              const struct retrieve_request *req, struct change *c,
                              struct retrieved *out, struct err *e)
{
    struct retrieving r = { .req = req, .change = c, .e = e };
    const struct point *p;
    enum err_code rc = view_open(st, ref, &r.view, e);

    if (rc)
        return rc;
    if (req->at.n) {
        rc = view_point(&r.view, req->at, &p, e);
        if (!rc)
            rc = add_all(&r, p);
    } else {
        rc = add_newest(&r);
    }
    view_close(&r.view);
    if (rc)
        retrieved_fini(&r.out);
    else
        *out = r.out;
    return rc;
}

/* ---- the agent that continues the session ---- */

const char *entire_agent(const struct store *st, const struct session_ref *ref)
{
    const struct catalog_session *s;
    AUTO_CATALOG *c = NULL;

    if (entire_session(st, ref->id, &c, &s, NULL))
        return NULL;
    const struct agent *agent = find_agent(entire_conversation_agent(s));

    return agent ? agent->section : NULL;
}
