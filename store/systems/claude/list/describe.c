#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/scan/field.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* The lite read of one session (claude.md 2): at most the first and the last 64 KiB of its file. The tail comes first. If
 * it has the title, the first 4 KiB of the head are usually enough, and the rest is read only if a field is still missing;
 * without a title there the whole head is searched for one, so it is read at once. */

/* The same table serves both windows; in the head only the titles are searched. */
enum field_number {
    TITLE,
    AI_TITLE,
    TAG,
    LAST_PROMPT,
    MOVED,
    AGENT_NAME,
    AGENT_SETTING,
    AGENT_COLOR,
    MODE,
    PULL_REQUEST,
    BRANCH,
    ENTRY,
    TIMES,
    MODEL,
    SNAPSHOTS,
    FORKED,
    GLUED,
    CONTINUED,
    WORKTREE,
    FIELDS,
    HEAD_FIELDS = TAG,
};

/* One describe under way. Texts point into the windows or the scratch arena until keep_describe_texts copies them. */
struct describing {
    const struct claude *c;
    const struct scope *scope;
    struct window *w;
    struct arena *a;
    struct session_row *row;
    struct field_value tail[FIELDS];
    struct slice project; /* the project of the session's folder */
    struct restorable_files tracked;
    struct last_turn turn;
    int64_t newest_ms;
    struct slice newest; /* as written */
    bool has_side;       /* the session has a side folder */
    bool may_continue;   /* the tail may name a session that continues this one */
    struct buf front;    /* more of the file than the window has */
    bool ok;             /* false: out of memory */
};

#define TIMES_TEXT "\"timestamp\":\""

static const struct field fields[FIELDS] = {
    [TITLE] = { FIELD_LOOSE, "customTitle", "custom-title" },
    [AI_TITLE] = { FIELD_LOOSE, "aiTitle", "ai-title" },
    [TAG] = { FIELD_LOOSE, "tag", "tag" },
    [LAST_PROMPT] = { FIELD_ROW, "lastPrompt", NULL },
    [MOVED] = { FIELD_ROW, "relocatedCwd", "relocated" },
    [AGENT_NAME] = { FIELD_ROW, "agentName", "agent-name" },
    [AGENT_SETTING] = { FIELD_ROW, "agentSetting", "agent-setting" },
    [AGENT_COLOR] = { FIELD_ROW, "agentColor", "agent-color" },
    [MODE] = { FIELD_ROW, "mode", "mode" },
    [PULL_REQUEST] = { FIELD_ROW, "prUrl", "pr-link" },
    [BRANCH] = { FIELD_RAW, "gitBranch", NULL },
    [ENTRY] = { FIELD_RAW, "entrypoint", NULL },
    [TIMES] = { FIELD_SEEN, TIMES_TEXT, NULL },
    [MODEL] = { FIELD_SEEN, "\"model\":", NULL },
    [SNAPSHOTS] = { FIELD_SEEN, "\"type\":\"file-history-", NULL },
    [FORKED] = { FIELD_SEEN, "\"forkedFrom\":", NULL },
    [GLUED] = { FIELD_SEEN, "{\"parentUuid\":", NULL },
    [CONTINUED] = { FIELD_SEEN, "\"type\":\"continued-in\"", NULL },
    [WORKTREE] = { FIELD_SEEN, "\"type\":\"worktree-state\"", NULL },
};

static const struct field summary_field = { FIELD_ROW, "summary", NULL };

struct claude_tables {
    struct field_set tail, head, summary;
};

struct claude_tables *claude_tables_new(void)
{
    struct claude_tables *t = malloc(sizeof *t);

    if (!t)
        return NULL;
    field_set_init(&t->tail, fields, FIELDS);
    field_set_init(&t->head, fields, HEAD_FIELDS);
    field_set_init(&t->summary, &summary_field, 1);
    return t;
}

void claude_tables_free(struct claude_tables *t)
{
    free(t);
}

bool claude_titles_read(const struct claude *c, struct slice window, struct arena *a,
                        struct claude_titles *out)
{
    struct field_value title[HEAD_FIELDS];

    if (!field_set_last(&c->tables->head, window, a, title, NULL, NULL))
        return false;
    *out = (struct claude_titles){ title[TITLE].text, title[AI_TITLE].text, title[TITLE].found };
    return true;
}

/* ---- the head ---- */

/* Returns true if the head and the tail are the same bytes: the whole file. */
static bool is_whole_file(const struct describing *r)
{
    return r->w->tail.p == r->w->head.p;
}

static struct slice whole_head(struct describing *r)
{
    if (window_widen(r->w, NULL))
        r->row->flags |= SESSION_CHANGED;
    return r->w->head;
}

/* The complete rows; once the head is fully read, also its last row, even if it is cut. */
static struct slice claude_describe_known_rows(const struct describing *r)
{
    struct slice head = r->w->head;
    const char *end = r->w->wide ? NULL : memrchr(head.p, '\n', head.n);

    if (!r->w->wide)
        head.n = end ? (size_t)(end + 1 - head.p) : 0;
    return head;
}

/* The first raw value of a key in the head; .p is NULL if the head has no such key. */
static struct slice claude_first_value(struct describing *r, const char *key)
{
    struct slice text = { NULL, 0 };

    r->ok &= field_first(r->w->head, r->w->wide, key, r->a, &text);
    if (!text.p && !r->w->wide)
        r->ok &= field_first(whole_head(r), true, key, r->a, &text);
    return text;
}

/* The same for a field of the tail. If the tail is the whole file and lacks it, so does the head. */
static struct slice first_unless_in_tail(struct describing *r, enum field_number field)
{
    if (is_whole_file(r) && !r->tail[field].found)
        return (struct slice){ NULL, 0 };
    return claude_first_value(r, fields[field].key);
}

/* ---- the tail ---- */

enum { TIME_USUAL = sizeof "2026-03-01T10:00:02.000Z" - 1 };

/* The tail may begin inside a message that is longer than it. The time is the row's own, not one of an object in it,
 * if from its key on the row is the end of an object. */
static bool is_time_of_cut_row(struct describing *r, struct slice row, const char *key)
{
    const char *object = arena_format(r->a, "{%.*s", (int)(row.p + row.n - key), key);

    r->ok &= object != NULL;
    return object && json_valid(slice_of(object));
}

/* Only a row's own timestamp counts, and it is examined only if it would be the newest. */
static void see_time(struct describing *r, struct slice window, size_t at)
{
    const char *from = window.p + at + sizeof TIMES_TEXT - 1;
    const char *end = memchr(from, '"', (size_t)(window.p + window.n - from));
    struct slice text, own, row;
    int64_t ms;

    if (!end)
        return;
    text = (struct slice){ from, (size_t)(end - from) };
    /* Most timestamps have the usual form and need no more than this comparison. */
    if (text.n == TIME_USUAL && r->newest.n == TIME_USUAL &&
        memcmp(text.p, r->newest.p, TIME_USUAL) <= 0)
        return;
    row = field_row(window, at);
    if (!time_parse(text, &ms) || ms <= r->newest_ms)
        return;
    if (row.p == r->w->tail.p && !is_whole_file(r)
            ? !is_time_of_cut_row(r, row, window.p + at)
            : !json_get(row, "timestamp", &own) || own.p + 1 != text.p)
        return;
    r->newest_ms = ms;
    r->newest = text;
}

static bool see(size_t field, struct slice window, size_t at, void *arg)
{
    struct describing *r = arg;

    switch (field) {
    case TIMES: see_time(r, window, at); return false;
    case MODEL: {
        /* Rows after the last message do not belong to a turn yet, so only answers up to
                 * it count. */
        const struct slice last = r->turn.row;

        if (!last.p || window.p + at >= last.p + last.n)
            return false;
        r->ok &= last_turn_model(field_row(window, at), r->a, &r->turn.model);
        return r->turn.model.p != NULL;
    }
    case SNAPSHOTS: return claude_restorable_add(&r->tracked, field_row(window, at), r->a);
    case CONTINUED: return r->may_continue = true;
    case WORKTREE:
        return claude_worktree_of(field_row(window, at), r->a, &r->row->worktree_path, &r->ok);
    case FORKED:
        r->ok &= claude_forked_from(field_row(window, at), r->a, &r->row->parent_id);
        return r->row->parent_id.p;
    default:
        /* If a row begins inside another one, where no value can begin, the other one was cut
              * off. */
        if (at == 0 || strchr(":,[\n", window.p[at - 1]) || json_valid(field_row(window, at)))
            return false;
        r->row->flags |= SESSION_DAMAGED;
        return true;
    }
}

/* Sessions that the agent's own list leaves out, although each of them can be opened. */

static bool is_listed_text(struct slice text, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (slice_eq(text, slice_of(names[i])))
            return true;
    return false;
}

static bool is_programmatic(struct describing *r)
{
    static const char *const entries[] = { "sdk-cli", "sdk-ts", "sdk-py", NULL };
    static const char *const kinds[] = { "daemon", "daemon-worker", NULL };
    struct slice text = { NULL, 0 }, row;

    /* Usually the key is absent, so the whole head is searched for it only if the caller asks. */
    if (r->scope->leave_programmatic)
        text = first_unless_in_tail(r, ENTRY);
    else
        r->ok &= field_first(r->w->head, true, "entrypoint", r->a, &text);

    if (is_listed_text(text.p ? text : r->tail[ENTRY].text, entries))
        return true;

    /* The first message of the head has the kind of the session. */
    static const char key[] = "\"parentUuid\":";
    struct slice head = claude_describe_known_rows(r);
    const char *p = head.n ? slice_find(head.p, head.n, key, sizeof key - 1) : NULL;

    if (!p && !r->w->wide) {
        head = whole_head(r);
        p = slice_find(head.p, head.n, key, sizeof key - 1);
    }
    row = p ? field_row(head, (size_t)(p - head.p)) : (struct slice){ NULL, 0 };
    r->ok &= field_first(row.n ? row : whole_head(r), true, "sessionKind", r->a, &text);
    return is_listed_text(text, kinds);
}

static bool is_continued(struct describing *r)
{
    struct slice id;

    if (!r->may_continue)
        return false;
    r->ok &= claude_continued_in(r->w->tail, r->a, &id);
    return r->ok && id.p && claude_continuation_exists(&r->row->ref, id, r->a);
}

static bool is_elsewhere(struct describing *r)
{
    struct slice own = r->tail[MOVED].text;

    if (r->scope->all)
        return false;
    if (!r->tail[MOVED].found)
        r->ok &= claude_first_cwd(claude_describe_known_rows(r), r->a, &own);
    if (!own.p && !r->w->wide)
        r->ok &= claude_first_cwd(whole_head(r), r->a, &own);
    return r->ok && claude_folder_collides(r->scope, r->project, own, r->a);
}

static void claude_set_hidden(struct describing *r)
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

static bool is_sidechain(struct describing *r)
{
    struct slice head = r->w->head;

    if (!memchr(head.p, '\n', head.n))
        head = whole_head(r);
    struct slice first = field_row(head, 0);

    return slice_has(first, "\"isSidechain\":true") || slice_has(first, "\"isSidechain\": true");
}

static struct slice or_else(struct slice first, struct slice second)
{
    return first.n ? first : second;
}

/* The types of both kinds of title rows end like this; most heads contain neither. */
#define TITLE_TYPES_END "-title\""

/* A title that a person set, wherever it is, takes precedence over one that the agent generated. */
static void claude_read_titles(struct describing *r)
{
    struct session_row *row = r->row;
    struct claude_titles head = { { NULL, 0 }, { NULL, 0 }, false };
    struct slice side = { NULL, 0 };

    if (!r->tail[TITLE].found && r->has_side)
        r->ok &= sidecar_title(&row->ref, r->a, &side);
    row->custom_title = or_else(r->tail[TITLE].text, side);
    if (row->custom_title.n)
        return;
    if (!is_whole_file(r) && slice_has(whole_head(r), TITLE_TYPES_END))
        r->ok &= claude_titles_read(r->c, r->w->head, r->a, &head);
    row->custom_title = head.custom;
    if (row->custom_title.n)
        return;
    row->custom_title = or_else(r->tail[AI_TITLE].text, head.ai);
    if (row->custom_title.n)
        row->flags |= SESSION_AI_TITLE;
}

static void claude_read_summary(struct describing *r)
{
    struct session_row *row = r->row;
    struct field_value summary = { 0 };

    row->last_prompt = r->tail[LAST_PROMPT].text;
    row->summary = or_else(row->custom_title, row->last_prompt);
    if (row->summary.n)
        return;
    r->ok &= field_set_last(&r->c->tables->summary, r->w->tail, r->a, &summary, NULL, NULL);
    row->summary = or_else(summary.text, row->first_prompt);
    if (!row->summary.n)
        row->summary = prompt_media(whole_head(r));
}

static void read_place_and_time(struct describing *r)
{
    struct session_row *row = r->row;

    if (r->newest_ms == TIME_NONE && r->c->base.ops != &claude_ops)
        r->newest_ms = last_turn_leaf_ms(r->w->tail);

    row->git_branch = r->tail[BRANCH].text;
    if (!row->git_branch.n)
        row->git_branch = first_unless_in_tail(r, BRANCH);
    row->cwd = r->tail[MOVED].text;
    if (!row->cwd.n)
        row->cwd = or_else(claude_first_value(r, "cwd"), r->project);
    if (!time_parse(claude_first_value(r, "timestamp"), &row->created_ms))
        row->created_ms = TIME_NONE;
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (r->c->retention_ms != TIME_NONE)
        row->expires_ms = row->modified_ms + r->c->retention_ms;
    row->activity_ms = r->newest_ms == TIME_NONE ? row->modified_ms : r->newest_ms;
}

static void read_archived(struct describing *r)
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
    asked = sidecar_has_prompt_after(r->w->tail, mark.at_ms, r->a, &ok);
    if (ok && !asked && !is_whole_file(r))
        asked = sidecar_has_prompt_after(whole_head(r), mark.at_ms, r->a, &ok);
    r->ok &= ok;
    if (!asked)
        r->row->flags |= SESSION_ARCHIVED;
}

/* ---- what only we show ---- */

enum { FORK_BYTES = 4096 };

static void read_extras(struct describing *r)
{
    struct session_row *row = r->row;
    struct slice head = r->w->head;
    const char *fork = NULL;

    row->model = r->turn.model;
    row->agent_name = r->tail[AGENT_NAME].text;
    row->agent_setting = r->tail[AGENT_SETTING].text;
    row->agent_color = r->tail[AGENT_COLOR].text;
    row->mode = r->tail[MODE].text;
    r->ok &= claude_pull_request(r->tail[PULL_REQUEST].row, r->a, row);
    row->restorable = r->tracked.n;

    /* A fork's first rows name the session they were copied from; later rows do not. */
    if (!row->parent_id.n && head.n)
        fork = slice_find(head.p, head.n < FORK_BYTES ? head.n : FORK_BYTES, "\"forkedFrom\":", 13);
    if (fork)
        r->ok &=
            claude_forked_from(field_row(head, (size_t)(fork - head.p)), r->a, &row->parent_id);
    if (row->parent_id.n)
        row->flags |= SESSION_FORK;

    if (r->turn.interrupted)
        row->flags |= SESSION_INTERRUPTED;
    if (r->w->torn_tail)
        row->flags |= SESSION_TORN;
    if (r->w->shrank)
        row->flags |= SESSION_CHANGED;
    if (window_shows_damage(r->w))
        row->flags |= SESSION_DAMAGED;
}

/* ---- the row ---- */

static void keep_describe_text(struct describing *r, struct slice *text)
{
    if (!text->n) {
        *text = (struct slice){ "", 0 };
        return;
    }
    *text = arena_copy(&r->row->arena, *text);
    r->ok &= text->p != NULL;
}

static void keep_describe_texts(struct describing *r)
{
    struct session_row *row = r->row;
    struct slice *const texts[] = { &row->ref.id,        &row->ref.path,     &row->ref.folder,
                                    &row->custom_title,  &row->first_prompt, &row->last_prompt,
                                    &row->git_branch,    &row->cwd,          &row->tag,
                                    &row->model,         &row->agent_name,   &row->parent_id,
                                    &row->agent_color,   &row->mode,         &row->agent_setting,
                                    &row->worktree_path, &row->pr_url,       &row->pr_repository };
    const char *summary = row->summary.p;
    struct slice *same = NULL;

    /* The summary is usually one of the other texts, which is then stored once. */
    for (size_t i = 3; i < 6 && !same; i++)
        same = row->summary.n && texts[i]->p == summary ? texts[i] : NULL;
    arena_fit(&row->arena, (const struct slice *const *)texts, sizeof texts / sizeof *texts);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        keep_describe_text(r, texts[i]);
    if (same)
        row->summary = *same;
    else
        keep_describe_text(r, &row->summary);
    r->ok &= !r->ok || prompt_without_tags(row->summary, &row->arena, &row->shown_title);
}

static void claude_read_windows(struct describing *r)
{
    struct session_row *row = r->row;
    struct slice quoted;

    /* Usually the last message has the newest time: reading it first saves examining the
     * others. */
    r->ok &= last_turn_read(r->w->tail, r->a, &r->turn);
    quoted = r->turn.timestamp;
    if (json_type(quoted) == JSON_STRING && quoted.n >= 2) {
        r->newest = (struct slice){ quoted.p + 1, quoted.n - 2 };
        if (!time_parse(r->newest, &r->newest_ms))
            r->newest = (struct slice){ NULL, 0 };
    }

    r->ok &= field_set_last(&r->c->tables->tail, r->w->tail, r->a, r->tail, see, r);

    if (!r->tail[TITLE].found)
        whole_head(r);
    else if (window_read_front(r->w, NULL))
        row->flags |= SESSION_CHANGED;
    if (is_sidechain(r)) {
        /* Nothing of it is shown, so nothing of its tail is kept. */
        row->flags &= (unsigned)SESSION_CHANGED;
        row->parent_id = row->worktree_path = (struct slice){ NULL, 0 };
        row->hidden = HIDDEN_SIDECHAIN;
        return;
    }
    claude_read_titles(r);

    struct prompt prompt = { 0 };

    r->ok &= prompt_first(claude_describe_known_rows(r), r->a, &prompt);
    if (!prompt.text.p && !r->w->wide) {
        prompt = (struct prompt){ 0 };
        r->ok &= prompt_first(whole_head(r), r->a, &prompt);
    }
    if (!prompt.text.p && !is_whole_file(r) && r->c->base.ops != &claude_ops)
        r->ok &= r->w->whole.p ? prompt_first(r->w->whole, r->a, &prompt)
                               : prompt_first_of_file(&r->w->file, &r->front, r->a, &prompt);
    r->row->first_prompt = prompt_or_command(&prompt);

    claude_read_summary(r);
    row->tag = r->tail[TAG].text;
    read_place_and_time(r);
    read_archived(r);
    read_extras(r);
    if (row->summary.n)
        claude_set_hidden(r);
    else
        row->hidden = HIDDEN_EMPTY;
}

enum err_code claude_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct describing r = {
        .c = claude_of(st), .scope = scope, .row = row, .newest_ms = TIME_NONE
    };
    struct scratch *scratch;
    enum err_code rc = window_pool_acquire(r.c->scratch, &scratch, e);

    if (rc)
        return rc;
    r.w = &scratch->window;
    r.a = &scratch->arena;
    r.ok = true;
    session_row_reset(row);
    row->ref = *ref;
    row->ref.alone = false;
    row->ref.preread = (struct slice){ NULL, 0 };
    if (ref->preread.n)
        window_hold(r.w, &ref->file, ref->preread);
    else
        rc = window_open(r.w, AT_FDCWD, ref->path.p,
                         (ref->nameless ? FILE_FOLLOW : 0) | WINDOW_TAIL_FIRST, e);
    if (rc && rc != ERR_NOMEM && rc != ERR_NOT_FOUND) {
        row->hidden = HIDDEN_UNREADABLE;
        rc = ERR_OK;
    } else if (!rc && r.w->file.id.size == 0) {
        rc = err_set(e, ERR_NOT_FOUND, ref->path.p, "describe: the file is empty");
    } else if (!rc) {
        row->ref.file = r.w->file.id;
    }
    if (!rc) {
        r.project = claude_project_of(r.c, scope, ref->folder, r.a);
        r.has_side = sidecar_folder_exists(ref, r.a);
        if (row->hidden == HIDDEN_NOT)
            claude_read_windows(&r);
        r.ok &= live_cache_show(r.c->live, row);
        row->can = claude_abilities(r.c, row);

        /* The texts are in the windows and the arena, which another session uses next. */
        keep_describe_texts(&r);
        if (!r.ok)
            rc = err_nomem(e);
    }
    buf_fini(&r.front);
    window_pool_release(r.c->scratch, scratch);
    return rc;
}
