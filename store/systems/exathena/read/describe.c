#include <fcntl.h>

#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "lite/io/window.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/read/event.h"

/* The lite read of one session: its begin tells the first prompt and when it was made, its end the last prompt, the
 * last activity and whether somebody waits for an answer. */

struct reading {
    const struct exathena *x;
    struct session_row *row;
    struct window *w;
    struct arena *a;
    bool ended; /* who had the last word is known */
    bool ok;    /* false: out of memory */
};

/* A look before a parse: most lines are no prompts. */
static bool may_be_prompt(struct slice line)
{
    return slice_has(line, "\"user");
}

static bool read_event_line(struct reading *r, struct slice line, struct event *ev)
{
    return line.n && event_read(line, r->a, ev);
}

static bool is_prompt_event(struct reading *r, const struct event *ev, struct slice *text)
{
    if (!slice_eq(ev->role, SLICE("user")))
        return false;
    r->ok &= event_said(ev, r->a, text);
    return text->n > 0;
}

/* False when the window has no prompt that ends in it. */
static bool read_head(struct reading *r)
{
    struct slice rest = r->w->head, line, text;
    struct event ev;
    bool torn, cut = r->w->file.id.size > (int64_t)r->w->head.n;

    while (r->ok && slice_line(&rest, &line, &torn)) {
        bool dated = r->row->created_ms != TIME_NONE;

        if ((torn && cut) || (dated && !may_be_prompt(line)) || !read_event_line(r, line, &ev))
            continue;
        if (!dated && !time_parse(ev.ts, &r->row->created_ms))
            r->row->created_ms = TIME_NONE;
        if (is_prompt_event(r, &ev, &text)) {
            r->row->first_prompt = text;
            return true;
        }
    }
    return false;
}

/* Who had the last word: a person and a tool wait for an answer. */
static void note_end(struct reading *r, const struct event *ev)
{
    if (slice_eq(ev->role, SLICE("user")) || slice_eq(ev->role, SLICE("tool")))
        r->row->flags |= SESSION_INTERRUPTED;
}

/* False when the window has no prompt. */
static bool read_tail_events(struct reading *r)
{
    struct slice rest = r->w->tail, line, text;
    struct event ev;
    bool torn;

    while (r->ok && slice_last_line(&rest, &line, &torn)) {
        bool dated = r->row->activity_ms != TIME_NONE;

        if ((dated && r->ended && !may_be_prompt(line)) || !read_event_line(r, line, &ev))
            continue;
        if (!dated && !time_parse(ev.ts, &r->row->activity_ms))
            r->row->activity_ms = TIME_NONE;
        if (!r->ended && ev.role.n)
            note_end(r, &ev);
        r->ended |= ev.role.n > 0;
        if (is_prompt_event(r, &ev, &text)) {
            r->row->last_prompt = text;
            return true;
        }
    }
    return false;
}

static void read_windows(struct reading *r)
{
    struct session_row *row = r->row;

    if (!read_head(r) && r->ok && !window_widen(r->w, NULL))
        read_head(r);
    if (!read_tail_events(r) && r->ok && !r->w->wide && !window_widen(r->w, NULL))
        read_tail_events(r);
    row->summary = row->first_prompt.n ? row->first_prompt : row->last_prompt;
    if (!row->summary.n)
        row->summary = row->ref.id;
    row->cwd = r->x->homeless ? SLICE("") : slice_of(r->x->project);
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    row->flags |= (r->w->torn_tail ? SESSION_TORN : 0U) | (r->w->shrank ? SESSION_CHANGED : 0U) |
                  (window_shows_damage(r->w) ? SESSION_DAMAGED : 0U);
    row->can = CAN_RESUME | CAN_FORK | CAN_REWIND | CAN_DELETE;
}

static void keep_event_text(struct reading *r, struct slice *text)
{
    *text = text->n ? arena_copy(&r->row->arena, *text) : SLICE("");
    r->ok &= text->p != NULL;
}

static void keep_event_texts(struct reading *r)
{
    struct session_row *row = r->row;
    struct slice *const texts[] = { &row->ref.id,      &row->ref.path,     &row->ref.folder,
                                    &row->summary,     &row->cwd,          &row->first_prompt,
                                    &row->last_prompt, &row->custom_title, &row->git_branch,
                                    &row->tag,         &row->model,        &row->agent_name,
                                    &row->parent_id };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        keep_event_text(r, texts[i]);
}

enum err_code exathena_describe(const struct store *st, const struct scope *scope,
                                const struct session_ref *ref, struct session_row *row,
                                struct err *e)
{
    struct reading r = { .x = exathena_of(st), .row = row, .ok = true };
    struct scratch *scratch;
    enum err_code rc = window_pool_acquire(r.x->scratch, &scratch, e);

    (void)scope;
    if (rc)
        return rc;
    r.w = &scratch->window;
    r.a = &scratch->arena;
    session_row_reset(row);
    row->ref = *ref;
    rc = window_open(r.w, AT_FDCWD, ref->path.p, WINDOW_BRIEF, e);
    if (!rc) {
        row->ref.file = r.w->file.id;
        read_windows(&r);
    } else if (rc != ERR_NOMEM && rc != ERR_NOT_FOUND) {
        row->hidden = HIDDEN_UNREADABLE;
        rc = ERR_OK;
    }
    if (!rc)
        keep_event_texts(&r);
    if (!rc && !r.ok)
        rc = err_nomem(e);
    window_pool_release(r.x->scratch, scratch);
    return rc;
}
