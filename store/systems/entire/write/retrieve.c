#include "store/api/retrieve.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/journal/change.h"
#include "store/systems/common/configdir.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/plain_transcript.h"
#include "store/systems/entire/read/view.h"
#include "store/systems/entire/write/agent_transcripts.h"

/* The transcript of a checkpoint, put where its agent looks for it. The place follows from the work tree here and from
 * the session's id, never from a path that somebody pushed. */

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
    enum err_code rc = configdir_default(x->base.env, &config, r->e);
    const char *projects = rc ? NULL : arena_format(a, "%s/projects", config);

    if (rc)
        return rc;
    free(config);
    if (!projects)
        return err_nomem(r->e);
    item->folder = projects;
    /* What the state says counts only when it is such a place itself. */
    if (s && s->state &&
        entire_conversation_is_claude_path(s->state->transcript_path, projects, id))
        item->path = arena_format(a, "%s", s->state->transcript_path.p);
    else
        item->path = entire_conversation_claude_path(
            projects, r->view.root ? r->view.root : x->common, id, a);
    return item->path ? ERR_OK : err_nomem(r->e);
}

/* Another agent's, by its name. */
static enum err_code place_other(struct retrieving *r, const struct point *p,
                                 const struct entire_conversation *conversation,
                                 struct retrieve_item *item)
{
    const struct entire *x = r->view.store;
    const struct agent_session s = { .agent = item->agent,
                                     .id = entire_agent_id(p->session),
                                     .transcript = buf_slice(&conversation->bytes),
                                     .root = r->view.root ? r->view.root : x->common };

    return agent_transcript_path(x->base.env, &s, &r->out.arena, &item->path, &item->folder, r->e);
}

/* ---- which is newer ---- */

/* The newest time of one document, or of rows in another agent's form. */
static int64_t says_last(struct slice text)
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

/* The newest time at the end: that of the last row that has one, however long it is. */
static int64_t ends_at(struct slice text)
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
    int64_t local = claude ? ends_at(here) : says_last(here),
            checkpoint = claude ? ends_at(kept) : says_last(kept);

    if (slice_eq(here, kept))
        return RETRIEVE_UNCHANGED;
    if (local == TIME_NONE || checkpoint == TIME_NONE || local > checkpoint)
        return RETRIEVE_LOCAL_NEWER;
    return local == checkpoint ? RETRIEVE_UNCHANGED : RETRIEVE_NEWER;
}

/* ---- a sub-agent's point ---- */

/* The rows up to the one with this id; all of them when it is not there. */
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
    /* Rows of others may look the same, and no place of Claude Code's is theirs. */
    bool claude = conversation->claude && entire_conversation_may_be_claude(item->agent);
    enum err_code rc = claude ? place_claude(r, s, entire_agent_id(p->session), item)
                              : place_other(r, p, conversation, item);

    if (rc) /* of which it is not known where its agent looks: named, and left out */
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

/* *found: the point keeps a transcript. */
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

/* Everybody's of a committed checkpoint; of a shadow commit only its own. */
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
        rc = err_set(r->e, ERR_NOT_FOUND, p->id.p, "retrieve: the checkpoint keeps no transcript");
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
                     "retrieve: no checkpoint of the session keeps a transcript");
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

/* ---- who goes on with it ---- */

const char *entire_agent(const struct store *st, const struct session_ref *ref)
{
    static const struct {
        const char *name, *section;
    } agents[] = {
        { "Claude Code", "claude" },
        { "claude-code", "claude" },
        { "Gemini CLI", "gemini" },
        { "gemini", "gemini" },
        { "Codex", "codex" },
        { "codex", "codex" },
        { "", "claude" },
    };
    const struct catalog_session *s;
    struct catalog *c;
    const char *section = NULL;

    if (entire_session(st, ref->id, &c, &s, NULL))
        return NULL;
    struct slice agent = entire_conversation_agent(s);

    for (size_t i = 0; i < sizeof agents / sizeof *agents && !section; i++)
        if (slice_eq(agent, slice_of(agents[i].name)))
            section = agents[i].section;
    catalog_close(entire_of(st)->cache, c);
    return section;
}
