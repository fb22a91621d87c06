#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/fs/scratch.h"
#include "store/log/damage_scan.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/archived.h"
#include "store/systems/claude/list/describe_fields.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/list/last_turn.h"
#include "store/systems/claude/list/prompt.h"
#include "store/systems/claude/list/sidecar.h"

/* The lite read of one session (claude.md 2). */

/* ---- fields ---- */

static bool is_sidechain(struct claude_describe_state *r)
{
    struct slice head = r->w->head;

    if (!memchr(head.p, '\n', head.n))
        head = describe_whole_head(r);
    struct slice first = field_row(head, 0);

    return slice_has(first, "\"isSidechain\":true") || slice_has(first, "\"isSidechain\": true");
}

static struct slice or_else(struct slice first, struct slice second)
{
    return first.n ? first : second;
}

/* Both kinds of title rows have this in their type; most heads have neither. */
#define TITLE_TYPES_END "-title\""

/* A title set by a person, wherever it stands, goes before one that the agent made up. */
static void read_titles(struct claude_describe_state *r)
{
    struct session_row *row = r->row;
    struct field_value head[HEAD_FIELDS] = { 0 };
    struct slice side = { NULL, 0 };

    if (!r->tail[TITLE].found && r->has_side)
        r->ok &= sidecar_title(&row->ref, r->a, &side);
    row->custom_title = or_else(r->tail[TITLE].text, side);
    if (row->custom_title.n)
        return;
    if (describe_is_whole_file(r))
        memcpy(head, r->tail, sizeof head);
    else if (slice_has(describe_whole_head(r), TITLE_TYPES_END))
        r->ok &= field_set_last(&r->c->tables.head, r->w->head, r->a, head, NULL, NULL);
    row->custom_title = head[TITLE].text;
    if (row->custom_title.n)
        return;
    row->custom_title = or_else(r->tail[AI_TITLE].text, head[AI_TITLE].text);
    if (row->custom_title.n)
        row->flags |= SESSION_AI_TITLE;
}

static void read_summary(struct claude_describe_state *r)
{
    struct session_row *row = r->row;
    struct field_value summary = { 0 };

    row->last_prompt = r->tail[LAST_PROMPT].text;
    row->summary = or_else(row->custom_title, row->last_prompt);
    if (row->summary.n)
        return;
    r->ok &= field_set_last(&r->c->tables.summary, r->w->tail, r->a, &summary, NULL, NULL);
    row->summary = or_else(summary.text, row->first_prompt);
    if (!row->summary.n)
        row->summary = prompt_media(describe_whole_head(r));
}

static void read_prompt(struct claude_describe_state *r)
{
    struct prompt prompt = { 0 };

    r->ok &= prompt_first(describe_known_rows(r), r->a, &prompt);
    if (!prompt.text.p && !r->w->wide) {
        prompt = (struct prompt){ 0 };
        r->ok &= prompt_first(describe_whole_head(r), r->a, &prompt);
    }
    r->row->first_prompt = prompt.text.p ? prompt.text : prompt.command;
}

static void read_place_and_time(struct claude_describe_state *r)
{
    struct session_row *row = r->row;

    row->git_branch = r->tail[BRANCH].text;
    if (!row->git_branch.n)
        row->git_branch = describe_first_unless_in_tail(r, BRANCH);
    row->cwd = r->tail[MOVED].text;
    if (!row->cwd.n)
        row->cwd = or_else(describe_first_value(r, "cwd"), r->project);
    if (!time_parse(describe_first_value(r, "timestamp"), &row->created_ms))
        row->created_ms = TIME_NONE;
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (r->c->retention_ms != TIME_NONE)
        row->expires_ms = row->modified_ms + r->c->retention_ms;
    row->activity_ms = r->newest_ms == TIME_NONE ? row->modified_ms : r->newest_ms;
}

static void read_archived(struct claude_describe_state *r)
{
    struct archive_mark mark;
    bool asked = false, ok = true;

    if (!r->has_side)
        return;
    r->ok &= sidecar_archive_mark(&r->row->ref, r->a, &mark);
    if (!r->ok || !mark.known)
        return;
    r->row->flags |= SESSION_ARCHIVED_KNOWN;
    if (!mark.archived)
        return;
    asked = archived_prompt_after(r->w->tail, mark.at_ms, r->a, &ok);
    if (ok && !asked && !describe_is_whole_file(r))
        asked = archived_prompt_after(describe_whole_head(r), mark.at_ms, r->a, &ok);
    r->ok &= ok;
    if (!asked)
        r->row->flags |= SESSION_ARCHIVED;
}

/* ---- what the agent's own list does not show ---- */

enum { FORK_BYTES = 4096 };

/* A fork's first rows name where they were copied from; rows that follow do not. */
static void read_fork(struct claude_describe_state *r)
{
    struct slice head = r->w->head, front = { head.p, head.n < FORK_BYTES ? head.n : FORK_BYTES };
    const char *p = NULL;

    if (!r->row->parent_id.n && front.n)
        p = find_bytes(front.p, front.n, "\"forkedFrom\":", 13);
    if (p)
        r->ok &=
            claude_forked_from(field_row(head, (size_t)(p - head.p)), r->a, &r->row->parent_id);
    if (r->row->parent_id.n)
        r->row->flags |= SESSION_FORK;
}

static void read_extras(struct claude_describe_state *r)
{
    struct session_row *row = r->row;

    row->model = r->turn.model;
    row->agent_name = r->tail[AGENT_NAME].text;
    row->restorable = r->tracked.n;
    read_fork(r);
    if (r->turn.interrupted)
        row->flags |= SESSION_INTERRUPTED;
    if (r->w->torn_tail)
        row->flags |= SESSION_TORN;
    if (r->w->shrank)
        row->flags |= SESSION_CHANGED;
    if (damage_scan_windows(r->w))
        row->flags |= SESSION_DAMAGED;
}

/* ---- together ---- */

static void keep_describe_text(struct claude_describe_state *r, struct slice *text)
{
    if (!text->n) {
        *text = (struct slice){ "", 0 };
        return;
    }
    *text = arena_copy(&r->row->arena, *text);
    r->ok &= text->p != NULL;
}

static void keep_describe_texts(struct claude_describe_state *r)
{
    struct session_row *row = r->row;
    struct slice *const texts[] = { &row->ref.id,       &row->ref.path,     &row->ref.folder,
                                    &row->custom_title, &row->first_prompt, &row->last_prompt,
                                    &row->git_branch,   &row->cwd,          &row->tag,
                                    &row->model,        &row->agent_name,   &row->parent_id };
    const char *summary = row->summary.p;
    struct slice *same = NULL;

    /* The summary mostly is one of the others: kept once. */
    for (size_t i = 3; i < 6 && !same; i++)
        same = row->summary.n && texts[i]->p == summary ? texts[i] : NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        keep_describe_text(r, texts[i]);
    if (same)
        row->summary = *same;
    else
        keep_describe_text(r, &row->summary);
}

static void read_windows(struct claude_describe_state *r)
{
    struct session_row *row = r->row;

    if (is_sidechain(r)) {
        row->hidden = HIDDEN_SIDECHAIN;
        return;
    }
    describe_scan_tail(r);
    read_titles(r);
    read_prompt(r);
    read_summary(r);
    row->tag = r->tail[TAG].text;
    read_place_and_time(r);
    read_archived(r);
    read_extras(r);
    if (row->summary.n)
        claude_set_hidden(r);
    else
        row->hidden = HIDDEN_EMPTY;
}

static enum err_code open_windows(struct window *w, const struct session_ref *ref,
                                  struct session_row *row, struct err *e)
{
    enum err_code rc = window_open(w, AT_FDCWD, ref->path.p, 0, e);

    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        return rc;
    if (rc)
        row->hidden = HIDDEN_UNREADABLE;
    else if (w->file.id.size == 0)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "describe: the file is empty");
    else
        row->ref.file = w->file.id;
    return ERR_OK;
}

/* Most sessions have none, and it takes one look to know that nothing is in it. */
static bool has_side_folder(const struct session_ref *ref, struct arena *a)
{
    if (ref->alone)
        return false;
    struct slice path = claude_side_path(ref, "", a);

    return !path.p || access(path.p, F_OK) == 0;
}

/* What the system has a member for. A transcript that cannot be read (a link is one) is left alone altogether. */
static unsigned can_do(const struct claude *c, const struct session_row *row)
{
    const struct store_ops *ops = c->base.ops;

    if (row->hidden == HIDDEN_UNREADABLE)
        return 0;
    return CAN_RESUME | (ops->rename ? CAN_RENAME : 0) | (ops->tag ? CAN_TAG : 0) |
           (ops->fork ? CAN_FORK : 0) | (ops->archive ? CAN_ARCHIVE : 0) |
           (ops->parts ? CAN_DELETE : 0) | (ops->resume_at ? CAN_RESUME_AT : 0) |
           (ops->plan ? CAN_REWIND : 0);
}

static void mark_live(const struct claude *c, struct session_row *row)
{
    struct live live = live_cache_lookup(c->live, row->ref.id);

    if (live.state != LIVE_RUNNING)
        return;
    row->flags |= SESSION_LIVE;
    row->live_pid = live.pid;
}

enum err_code claude_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct claude_describe_state r = {
        .c = claude_of(st), .scope = scope, .row = row, .newest_ms = TIME_NONE
    };
    struct scratch *scratch;
    enum err_code rc = scratch_acquire(r.c->scratch, &scratch, e);

    if (rc)
        return rc;
    r.w = &scratch->window;
    r.a = &scratch->arena;
    r.ok = true;
    session_row_reset(row);
    row->ref = *ref;
    row->ref.alone = false;
    rc = open_windows(r.w, ref, row, e);
    if (!rc) {
        r.project = claude_project_of(r.c, scope, ref->folder, r.a);
        r.has_side = has_side_folder(ref, r.a);
        if (row->hidden == HIDDEN_NOT)
            read_windows(&r);
        mark_live(r.c, row);
        row->can = can_do(r.c, row);
        keep_describe_texts(&r);
        if (!r.ok)
            rc = err_nomem(e);
    }
    scratch_release(r.c->scratch, scratch);
    return rc;
}
