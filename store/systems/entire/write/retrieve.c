#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/digest.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/api/restore.h"
#include "store/fs/path.h"
#include "store/git/repo.h"
#include "store/journal/change.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"

/* ---- other agents ---- */

/* Where a transcript has to be is a rule of each agent: Claude Code and Gemini name a folder after the directory, Codex
 * a file after the time at which the session began. If the agent has a file for the session already, that is the one,
 * whatever its name is; otherwise the name is made by the rules. */

/* The path at which agents other than Claude Code look for the transcript of a session (docs/formats/other-
 * agents.md; for Gemini as Entire resolves it). It depends only on this machine and on the session's id, which is
 * a plain file name. */
struct agent_session {
    struct slice agent; /* display name: "Gemini CLI" */
    struct slice id;
    struct slice transcript;
    const char *root; /* the work tree */
};

struct path_search {
    const struct agent_session *s;
    const char *home;
    struct arena *a;
    const char *path, *folder;
    struct err *e;
};

/* Returns true if the name ends in "-<what>.json" or "-<what>.jsonl". */
static bool ends_with_id(const char *name, struct slice what)
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
static const char *newest_match(struct path_search *p, const char *dir, const char *front,
                                struct slice end)
{
    AUTO_DIR *d = dir ? opendir(dir) : NULL;
    const struct dirent *x;
    const char *best = NULL;

    while (d && (x = readdir(d)))
        if (strncmp(x->d_name, front, strlen(front)) == 0 && ends_with_id(x->d_name, end) &&
            (!best || strcmp(x->d_name, best) > 0))
            best = arena_format(p->a, "%s", x->d_name);
    return best ? arena_format(p->a, "%s/%s", dir, best) : NULL;
}

/* ---- Gemini CLI ---- */

/* The directory of a project: the one that the agent named after the hash of the path, or else the
 * one that Entire would use. */
static const char *gemini_folder(struct path_search *p)
{
    uint8_t sum[SHA256_BYTES];
    char hex[SHA256_BYTES * 2 + 1];
    size_t length = strlen(p->s->root);
    char *plain = arena_alloc(p->a, length + 1);

    if (!plain || !digest_of(DIGEST_SHA256, slice_of(p->s->root), sum))
        return NULL;
    digest_hex(sum, sizeof sum, hex);
    const char *own = arena_format(p->a, "%s/.gemini/tmp/%s", p->home, hex);

    if (!own || (path_is_dir(own)))
        return own;
    for (size_t i = 0; i <= length; i++) {
        char c = p->s->root[i];
        bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        plain[i] = kept || c == '\0' ? c : '-';
    }
    return arena_format(p->a, "%s/.gemini/tmp/%s", p->home, plain);
}

static enum err_code place_gemini(struct path_search *p)
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
static const char *find_rollout(struct path_search *p, const char *dir, int depth)
{
    if (depth == 0)
        return newest_match(p, dir, "rollout-", p->s->id);
    AUTO_DIR *d = dir ? opendir(dir) : NULL;
    const struct dirent *x;
    const char *found = NULL;

    while (d && !found && (x = readdir(d)))
        if (x->d_name[0] >= '0' && x->d_name[0] <= '9')
            found = find_rollout(p, arena_format(p->a, "%s/%s", dir, x->d_name), depth - 1);
    return found;
}

static enum err_code place_codex(struct path_search *p)
{
    const char *sessions = arena_format(p->a, "%s/.codex/sessions", p->home);
    struct slice rest = p->s->transcript, line, payload, text;
    char t[TIME_TEXT] = "";
    bool torn;
    int64_t ms;

    if (!sessions)
        return err_nomem(p->e);
    p->path = find_rollout(p, sessions, 3);
    if (p->path) {
        p->folder = sessions;
        return ERR_OK;
    }

    /* A new file is named after the time at which the session began, which is in its first row. */
    if (slice_line(&rest, &line, &torn) &&
        ((json_get(line, "payload", &payload) &&
          json_get_text(payload, "timestamp", p->a, &text)) ||
         json_get_text(line, "timestamp", p->a, &text)) &&
        time_parse(text, &ms) && ms >= 0)
        time_format(ms, t);
    if (strlen(t) != 24) /* a year has four digits */
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

/* Agents by their display names and by those of old checkpoints. */
static const struct agent {
    const char *name, *section; /* its section in our configuration */
    enum err_code (*place)(struct path_search *p);
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
    struct path_search p = { .s = s, .home = env->home, .a = a, .e = e };
    const struct agent *agent = find_agent(s->agent);
    struct slice rest = s->transcript, line, v, version;
    bool torn;

    /* Later checkpoints may contain a short form that only Entire reads. */
    bool is_short = slice_line(&rest, &line, &torn) && json_get(line, "v", &v) &&
                    json_type(v) == JSON_NUMBER && json_get(line, "cli_version", &version);

    if (!agent || !agent->place || is_short)
        return err_set(e, ERR_UNSUPPORTED, s->id.p,
                       "retrieve: it is not known where its agent keeps transcripts");
    if (!env->home || env->home[0] != '/')
        return err_set(e, ERR_NOT_FOUND, "", "retrieve: HOME is not set");
    TRY(agent->place(&p));
    *path = p.path;
    *folder = p.folder;
    return ERR_OK;
}

/* ---- retrieving ---- */

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
                                  struct slice id, struct retrieve_item *item, struct err *e)
{
    const struct entire *x = r->view.store;
    struct arena *a = &r->out.arena;
    AUTO_FREE char *config = NULL;

    TRY(config_dir_default(x->base.env, &config, e));
    NEED(item->folder = arena_format(a, "%s/projects", config));
    /* The path in the state is used only if it follows the same rules. */
    if (s && s->state &&
        entire_conversation_is_claude_path(s->state->transcript_path, item->folder, id))
        item->path = arena_format(a, "%s", s->state->transcript_path.p);
    else
        item->path = entire_conversation_claude_path(
            item->folder, r->view.root ? r->view.root : x->common, id, a);
    NEED(item->path);
    return ERR_OK;
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
    AUTO_ARENA a = { 0 };
    bool torn;

    while (slice_line(&rest, &line, &torn)) {
        if (json_get_text(line, "uuid", &a, &id) && slice_eq(id, uuid))
            return (struct slice){ text.p, (size_t)(rest.p - text.p) };
        arena_reset(&a);
    }
    return text;
}

/* ---- the plan ---- */

static enum err_code judge_item(struct retrieving *r, const struct point *p,
                                const struct catalog_session *s, struct retrieve_item *item,
                                const struct entire_conversation *conversation)
{
    const struct entire *x = r->view.store;
    struct arena *a = &r->out.arena;
    AUTO_BUF here = { 0 };
    struct slice kept = buf_slice(&conversation->bytes), id = entire_agent_id(p->session), uuid;
    const struct agent_session other = { .agent = item->agent,
                                         .id = id,
                                         .transcript = kept,
                                         .root = r->view.root ? r->view.root : x->common };
    /* Rows of other agents may look the same, but do not belong among those of Claude Code. */
    bool claude = conversation->claude && entire_conversation_may_be_claude(item->agent);
    enum err_code rc =
        claude ? place_claude(r, s, id, item, r->e)
               : find_agent_path(x->base.env, &other, a, &item->path, &item->folder, r->e);

    if (rc) /* if the path is unknown, the item is reported and left out */
        return rc == ERR_UNSUPPORTED ? ERR_OK : rc;
    if (entire_conversation_task_end(r->view.repo, p, a, &uuid))
        kept = up_to(kept, uuid);
    rc = file_read_all(AT_FDCWD, item->path, 0, LOCAL_MAX, &here, r->e);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    bool exists = rc == ERR_OK;

    item->state = exists ? compare_transcripts(buf_slice(&here), kept, claude) : RETRIEVE_NEW;
    item->redacted = p->source != POINT_SHADOW;
    item->planned = item->state == RETRIEVE_NEW || item->state == RETRIEVE_NEWER ||
                    (r->req->overwrite && item->state == RETRIEVE_LOCAL_NEWER);
    if (!item->planned)
        return ERR_OK;
    const struct step write = { .kind = STEP_PUT,
                                .path = item->path,
                                .bytes = kept,
                                .old = buf_slice(&here),
                                .old_absent = !exists,
                                .mtime_ns = INT64_MIN,
                                .mode = exists ? 0 : 0600,
                                .with_dir = !exists };

    return change_add(r->change, &write, r->e);
}

/* *found: the point has a transcript. */
static enum err_code entire_add_item(struct retrieving *r, const struct point *p, bool *found)
{
    const struct catalog_session *s = catalog_find(r->view.catalog, p->session);
    struct slice agent = p->agent.n || !s ? p->agent : entire_conversation_agent(s);
    struct arena *a = &r->out.arena;
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;
    struct retrieve_item *item;
    enum err_code rc = entire_conversation_open_at(r->view.repo, p, &conversation, r->e);

    *found = rc == ERR_OK;
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    item = arena_grow(a, r->out.item, r->out.n, sizeof *item);
    if (!item)
        return err_nomem(r->e);
    r->out.item = item;
    item += r->out.n++;
    *item = (struct retrieve_item){ .session = arena_copy(a, p->session),
                                    .agent = arena_copy(a, agent),
                                    .state = RETRIEVE_NOT_OURS };
    if (!item->session.p || !item->agent.p)
        return err_nomem(r->e);
    return judge_item(r, p, s, item, &conversation);
}

static void retrieving_close(struct retrieving *r)
{
    view_close(&r->view);
    retrieved_fini(&r->out);
}

enum err_code entire_retrieve(const struct store *st, const struct session_ref *ref,
                              const struct retrieve_request *req, struct change *c,
                              struct retrieved *out, struct err *e)
{
    CLEANUP(retrieving_close) struct retrieving r = { .req = req, .change = c, .e = e };
    const struct point *p;
    bool found = false, any = false;

    TRY(view_open(st, ref, &r.view, e));
    if (!req->at.n) {
        /* The newest point that has a transcript. */
        for (size_t i = r.view.session->n; i-- > 0 && !found;)
            TRY(entire_add_item(&r, &r.view.session->point[i], &found));
        if (!found)
            return err_set(e, ERR_NOT_FOUND, r.view.store->base.path,
                           "retrieve: no checkpoint of the session has a transcript");
    } else {
        /* All sessions of a committed checkpoint, or the only one of a shadow commit. */
        const struct point_list *all = &r.view.catalog->points;

        TRY(view_point(&r.view, req->at, &p, e));
        if (p->source == POINT_SHADOW)
            TRY(entire_add_item(&r, p, &any));
        for (size_t i = 0; p->source != POINT_SHADOW && i < all->n; i++)
            if (all->point[i].source != POINT_SHADOW && slice_eq(all->point[i].id, p->id)) {
                TRY(entire_add_item(&r, &all->point[i], &found));
                any = any || found;
            }
        if (!any)
            return err_set(e, ERR_NOT_FOUND, p->id.p, "retrieve: the checkpoint has no transcript");
    }
    HAND_OVER(out, r.out);
    return ERR_OK;
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
