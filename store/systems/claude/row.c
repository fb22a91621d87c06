#include <fcntl.h>
#include <string.h>

#include "lite/field.h"
#include "lite/json.h"
#include "lite/time.h"
#include "lite/utf8.h"
#include "store/systems/claude/archived.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/continued.h"
#include "store/systems/claude/discover.h"
#include "store/systems/claude/prompt.h"
#include "store/systems/claude/proof.h"
#include "store/systems/claude/recent.h"
#include "store/systems/claude/row.h"
#include "store/systems/claude/scratch.h"
#include "store/systems/claude/sidecar.h"

/* The lite read of one session (claude.md 2). */

/* The same table serves both windows: in the head only the titles are asked for. */
enum field_number {
    TITLE,
    AI_TITLE,
    TAG,
    LAST_PROMPT,
    MOVED,
    AGENT_NAME,
    BRANCH,
    TIMES,
    SNAPSHOTS,
    FORKED,
    GLUED,
    FIELDS,
    HEAD_FIELDS = TAG,
};

static const struct field fields[FIELDS] = {
    [TITLE] = { FIELD_LOOSE, "customTitle", "custom-title" },
    [AI_TITLE] = { FIELD_LOOSE, "aiTitle", "ai-title" },
    [TAG] = { FIELD_LOOSE, "tag", "tag" },
    [LAST_PROMPT] = { FIELD_ROW, "lastPrompt", NULL },
    [MOVED] = { FIELD_ROW, "relocatedCwd", "relocated" },
    [AGENT_NAME] = { FIELD_ROW, "agentName", "agent-name" },
    [BRANCH] = { FIELD_RAW, "gitBranch", NULL },
    [TIMES] = { FIELD_SEEN, "\"timestamp\":\"", NULL },
    [SNAPSHOTS] = { FIELD_SEEN, "\"type\":\"file-history-", NULL },
    [FORKED] = { FIELD_SEEN, "\"forkedFrom\":", NULL },
    [GLUED] = { FIELD_SEEN, "{\"parentUuid\":", NULL },
};

static const struct field summary_field = { FIELD_ROW, "summary", NULL };

void row_tables_init(struct row_tables *t)
{
    field_set_init(&t->tail, fields, FIELDS);
    field_set_init(&t->head, fields, HEAD_FIELDS);
    field_set_init(&t->summary, &summary_field, 1);
}

/* One describe under way. Texts point into the windows or the scratch arena until `keep` copies them. */
struct reading {
    const struct claude *c;
    const struct scope *scope;
    struct window *w;
    struct arena *a;
    struct session_row *row;
    struct field_value tail[FIELDS];
    struct slice project; /* that the session's folder stands for */
    struct tracked tracked;
    int64_t newest_ms;
    bool ok; /* false: out of memory */
};

static bool is_whole(const struct reading *r)
{
    return r->w->tail.p == r->w->head.p;
}

/* ---- what the pass over the tail sees on its way ---- */

/* Only a row's own timestamp counts, and it is only looked at closely where it would be the newest. */
static void see_time(struct reading *r, struct slice row, size_t at)
{
    size_t from = at + strlen(fields[TIMES].key);
    const char *end = memchr(row.p + from, '"', row.n - from);
    struct slice own, text;
    int64_t ms;

    if (!end || !time_parse((struct slice){ row.p + from, (size_t)(end - row.p) - from }, &ms) ||
        ms <= r->newest_ms)
        return;
    if (json_get(row, "timestamp", &own) && json_type(own) == JSON_STRING &&
        json_text(own, r->a, &text) && time_parse(text, &ms) && ms > r->newest_ms)
        r->newest_ms = ms;
}

/* A row that begins inside of another one, where no value can begin: the other one was cut off. */
static bool see_glued(struct reading *r, struct slice row, size_t at)
{
    if (at == 0 || strchr(":,[", row.p[at - 1]) || json_valid(row))
        return false;
    r->row->flags |= SESSION_DAMAGED;
    return true;
}

static bool see(size_t field, struct slice row, size_t at, void *arg)
{
    struct reading *r = arg;

    switch (field) {
    case TIMES: see_time(r, row, at); return false;
    case SNAPSHOTS: return tracked_add(&r->tracked, row, r->a);
    case FORKED: r->ok &= fork_origin(row, r->a, &r->row->parent_id); return r->row->parent_id.p;
    default: return see_glued(r, row, at);
    }
}

/* ---- fields ---- */

static bool is_sidechain(struct slice head)
{
    struct slice first = field_row(head, 0);

    return slice_has(first, "\"isSidechain\":true") || slice_has(first, "\"isSidechain\": true");
}

static struct slice or_else(struct slice first, struct slice second)
{
    return first.n ? first : second;
}

/* A title set by a person, wherever it stands, goes before one that the agent made up. */
static void read_titles(struct reading *r)
{
    struct session_row *row = r->row;
    struct field_value head[HEAD_FIELDS];
    struct slice side = { NULL, 0 };

    if (!r->tail[TITLE].found)
        r->ok &= sidecar_title(&row->ref, r->a, &side);
    row->custom_title = or_else(r->tail[TITLE].text, side);
    if (row->custom_title.n)
        return;
    if (is_whole(r))
        memcpy(head, r->tail, sizeof head);
    else
        r->ok &= field_set_last(&r->c->tables.head, r->w->head, r->a, head, NULL, NULL);
    row->custom_title =
        or_else(or_else(head[TITLE].text, r->tail[AI_TITLE].text), head[AI_TITLE].text);
}

static void read_summary(struct reading *r)
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
        row->summary = prompt_media(r->w->head);
}

static void read_prompt(struct reading *r)
{
    struct prompt prompt = { 0 };

    r->ok &= prompt_first(r->w->head, r->a, &prompt);
    r->row->first_prompt = prompt.text.p ? prompt.text : prompt.command;
}

static struct slice first_in_head(struct reading *r, const char *key)
{
    struct slice text = { NULL, 0 };

    r->ok &= field_first(r->w->head, true, key, r->a, &text);
    return text;
}

static void read_place_and_time(struct reading *r)
{
    struct session_row *row = r->row;

    row->git_branch = or_else(r->tail[BRANCH].text, (struct slice){ NULL, 0 });
    if (!row->git_branch.n)
        row->git_branch = first_in_head(r, "gitBranch");
    row->cwd = r->tail[MOVED].text;
    if (!row->cwd.n)
        row->cwd = or_else(first_in_head(r, "cwd"), r->project);
    if (!time_parse(first_in_head(r, "timestamp"), &row->created_ms))
        row->created_ms = TIME_NONE;
    row->modified_ms = session_modified_ms(&row->ref.file);
    row->activity_ms = r->newest_ms == TIME_NONE ? row->modified_ms : r->newest_ms;
}

static void read_archived(struct reading *r)
{
    struct archive_mark mark;
    bool asked = false, ok = true;

    r->ok &= sidecar_archive_mark(&r->row->ref, r->a, &mark);
    if (!r->ok || !mark.known)
        return;
    r->row->flags |= SESSION_ARCHIVED_KNOWN;
    if (!mark.archived)
        return;
    asked = archived_prompt_after(r->w->tail, mark.at_ms, r->a, &ok);
    if (ok && !asked && !is_whole(r))
        asked = archived_prompt_after(r->w->head, mark.at_ms, r->a, &ok);
    r->ok &= ok;
    if (!asked)
        r->row->flags |= SESSION_ARCHIVED;
}

/* ---- what only a list asks ---- */

static bool is_one_of(struct slice text, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (text.n == strlen(names[i]) && memcmp(text.p, names[i], text.n) == 0)
            return true;
    return false;
}

/* The first row of the conversation; without one, the head as it is. */
static struct slice chain_row(struct slice head)
{
    const char *p = memmem(head.p, head.n, "\"parentUuid\":", 13);

    return p ? field_row(head, (size_t)(p - head.p)) : head;
}

static bool is_programmatic(struct reading *r)
{
    static const char *const entries[] = { "sdk-cli", "sdk-ts", "sdk-py", NULL };
    static const char *const kinds[] = { "daemon", "daemon-worker", NULL };
    struct slice text = first_in_head(r, "entrypoint");

    if (!text.p)
        r->ok &= field_last(r->w->tail, "entrypoint", r->a, &text);
    if (is_one_of(text, entries))
        return true;
    r->ok &= field_first(chain_row(r->w->head), true, "sessionKind", r->a, &text);
    return is_one_of(text, kinds);
}

static bool is_continued(struct reading *r)
{
    struct slice id;

    r->ok &= continued_in(r->w->tail, r->a, &id);
    return r->ok && id.p && continued_target_lives(&r->row->ref, id, r->a);
}

static bool is_elsewhere(struct reading *r)
{
    struct slice own;

    if (r->scope->all)
        return false;
    r->ok &= session_own_cwd(r->w->head, r->w->tail, r->a, &own);
    return r->ok && claude_collides(r->scope, r->project, own, r->a);
}

static void read_hidden(struct reading *r)
{
    struct session_row *row = r->row;

    if (is_programmatic(r))
        row->flags |= SESSION_PROGRAMMATIC;
    if (r->scope->leave_programmatic && (row->flags & SESSION_PROGRAMMATIC))
        row->hidden = HIDDEN_PROGRAMMATIC;
    else if (is_continued(r))
        row->hidden = HIDDEN_CONTINUED;
    else if (is_elsewhere(r))
        row->hidden = HIDDEN_COLLISION;
}

/* ---- what the agent's own list does not show ---- */

enum { FORK_BYTES = 4096 };

/* A fork's first rows name where they were copied from; rows that follow do not. */
static void read_fork(struct reading *r)
{
    struct slice head = r->w->head, front = { head.p, head.n < FORK_BYTES ? head.n : FORK_BYTES };
    const char *p = NULL;

    if (!r->row->parent_id.n && front.n)
        p = memmem(front.p, front.n, "\"forkedFrom\":", 13);
    if (p)
        r->ok &= fork_origin(field_row(head, (size_t)(p - head.p)), r->a, &r->row->parent_id);
    if (r->row->parent_id.n)
        r->row->flags |= SESSION_FORK;
}

static void read_extras(struct reading *r)
{
    struct session_row *row = r->row;
    struct last_turn turn;

    r->ok &= last_turn_read(r->w->tail, r->a, &turn);
    row->model = turn.model;
    row->agent_name = r->tail[AGENT_NAME].text;
    row->restorable = r->tracked.n;
    read_fork(r);
    if (turn.interrupted)
        row->flags |= SESSION_INTERRUPTED;
    if (r->w->torn_tail)
        row->flags |= SESSION_TORN;
    if (r->w->shrank)
        row->flags |= SESSION_CHANGED;
    if (windows_show_damage(r->w))
        row->flags |= SESSION_DAMAGED;
}

/* ---- together ---- */

static void keep(struct reading *r, struct slice *text)
{
    if (!text->n) {
        *text = (struct slice){ "", 0 };
        return;
    }
    *text = arena_copy(&r->row->arena, *text);
    r->ok &= text->p != NULL;
}

static void keep_texts(struct reading *r)
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
        keep(r, texts[i]);
    if (same)
        row->summary = *same;
    else
        keep(r, &row->summary);
}

static void read_windows(struct reading *r)
{
    struct session_row *row = r->row;

    if (is_sidechain(r->w->head)) {
        row->hidden = HIDDEN_SIDECHAIN;
        return;
    }
    r->ok &= field_set_last(&r->c->tables.tail, r->w->tail, r->a, r->tail, see, r);
    read_titles(r);
    read_prompt(r);
    read_summary(r);
    row->tag = r->tail[TAG].text;
    read_place_and_time(r);
    read_archived(r);
    read_extras(r);
    if (row->summary.n)
        read_hidden(r);
    else
        row->hidden = HIDDEN_EMPTY;
}

static enum err_code open_windows(struct window *w, const struct session_ref *ref,
                                  struct session_row *row, struct err *e)
{
    enum err_code rc = window_open(w, AT_FDCWD, ref->path.p, 0, e);

    if (!rc)
        rc = window_widen(w, e);
    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        return rc;
    if (rc)
        row->hidden = HIDDEN_UNREADABLE;
    else if (w->file.id.size == 0)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "describe: the file is empty");
    else
        row->ref.file = w->file.id;
    window_close(w);
    return ERR_OK;
}

static unsigned can_do(const struct claude *c, const struct session_row *row)
{
    unsigned can = row->hidden == HIDDEN_UNREADABLE ? 0 : CAN_RESUME;

    (void)c;
    return can;
}

enum err_code claude_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct reading r = { .c = claude_of(st), .scope = scope, .row = row, .newest_ms = TIME_NONE };
    struct scratch *scratch;
    enum err_code rc = scratch_take(r.c->scratch, &scratch, e);

    if (rc)
        return rc;
    r.w = &scratch->window;
    r.a = &scratch->arena;
    r.ok = true;
    session_row_reset(row);
    row->ref = *ref;
    rc = open_windows(r.w, ref, row, e);
    if (!rc) {
        r.project = claude_project_of(r.c, scope, ref->folder, r.a);
        if (row->hidden == HIDDEN_NOT)
            read_windows(&r);
        row->can = can_do(r.c, row);
        keep_texts(&r);
        if (!r.ok)
            rc = err_set(e, ERR_NOMEM, ref->path.p, "describe");
    }
    scratch_give(r.c->scratch, scratch);
    return rc;
}
