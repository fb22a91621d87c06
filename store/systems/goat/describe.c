#include <fcntl.h>
#include <string.h>

#include "lite/base/slice.h"
#include "lite/base/utf8.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/fs/file_at.h"
#include "store/systems/goat/entry.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/metadata.h"

/* The lite read of one session: its metadata, and the ends of its log for the prompts. The counts
 * in the metadata are not trusted (a resume sets them to 0, goat.md B1). */

struct describing {
    const struct goat *g;
    struct window *w;
    struct arena *a;
    struct session_row *row;
    struct goat_metadata m;
    int64_t newest_ms; /* of the messages; TIME_NONE */
    bool ok;           /* false: out of memory */
};

/* ---- the ends of the log ---- */

enum { FRONT = 512 };

/* Rules out most lines by their bytes, without parsing them: the role is usually near the front. */
static bool may_be_prompt(struct slice line)
{
    struct slice front = { line.p, line.n < FRONT ? line.n : FRONT };

    return slice_has(front, "\"role\":\"") ? slice_has(front, "\"user\"")
                                           : slice_has(line, "\"user\"");
}

static bool read_log_line(struct slice line, struct goat_entry *e)
{
    line = utf8_js_trim(line);
    if (json_type(line) != JSON_OBJECT || !json_valid(line))
        return false;
    goat_entry_read(line, e);
    return e->shape != GOAT_NOTHING && !goat_entry_fault(e);
}

/* The words of a prompt; .n is 0 for any other row. */
static struct slice prompt_words(struct describing *d, const struct goat_entry *e)
{
    struct slice text = { NULL, 0 };

    if (goat_entry_role(e) == GOAT_USER)
        d->ok &= goat_entry_text(e, d->a, &text);
    return utf8_js_trim(text);
}

static struct slice first_prompt(struct describing *d)
{
    struct slice rest, line, found = { NULL, 0 };
    struct goat_entry e;
    bool torn;

    for (int stage = 0; stage < 2 && !found.n; stage++) {
        if (stage == 1 && (d->w->wide || window_widen(d->w, NULL)))
            break;
        rest = d->w->head;
        while (!found.n && slice_line(&rest, &line, &torn))
            if (may_be_prompt(line) && read_log_line(line, &e))
                found = prompt_words(d, &e);
    }
    return found;
}

static void take_end(struct describing *d, const struct goat_entry *e, bool *ended)
{
    enum goat_role role = goat_entry_role(e);
    struct slice time = e->timestamp;
    int64_t ns;

    if (d->newest_ms == TIME_NONE && json_type(time) == JSON_STRING && time.n > 2 &&
        goat_time((struct slice){ time.p + 1, time.n - 2 }, &ns) && ns)
        d->newest_ms = ns / 1000000;
    *ended = role != GOAT_OTHER && role != GOAT_SYSTEM;
    if (*ended && (role != GOAT_ASSISTANT || goat_entry_calls(e)))
        d->row->flags |= SESSION_INTERRUPTED;
}

/* Searches backwards for the end and the last prompt, up to the beginning of the tail. */
static void look_back(struct describing *d, bool *ended)
{
    struct slice rest = d->w->tail, line;
    bool torn;

    while (slice_last_line(&rest, &line, &torn) && (!*ended || !d->row->last_prompt.n)) {
        bool asked = !d->row->last_prompt.n && may_be_prompt(line);
        struct goat_entry e;

        if ((*ended && !asked) || !read_log_line(line, &e))
            continue;
        if (!*ended)
            take_end(d, &e, ended);
        if (asked)
            d->row->last_prompt = prompt_words(d, &e);
    }
}

/* Reads how the conversation ended, and its last prompt. */
static void read_tail_lines(struct describing *d)
{
    bool ended = false;

    look_back(d, &ended);
    if ((!ended || !d->row->last_prompt.n) && !d->w->wide && !window_widen(d->w, NULL))
        look_back(d, &ended);
}

static enum err_code read_log(struct describing *d, struct err *e)
{
    const struct session_ref *ref = &d->row->ref;
    enum err_code rc = window_open(d->w, AT_FDCWD, ref->path.p, WINDOW_BRIEF, e);

    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        return rc;
    if (rc) {
        d->row->hidden = HIDDEN_UNREADABLE;
        return ERR_OK;
    }
    d->row->ref.file = d->w->file.id;
    d->row->first_prompt = first_prompt(d);
    read_tail_lines(d);
    d->row->flags |= d->w->torn_tail ? SESSION_TORN : 0;
    d->row->flags |= d->w->shrank ? SESSION_CHANGED : 0;
    d->row->flags |= window_shows_damage(d->w) ? SESSION_DAMAGED : 0;
    return ERR_OK;
}

/* ---- the metadata ---- */

static void read_metadata(struct describing *d)
{
    struct session_row *row = d->row;
    const struct slice *text = d->m.text;

    row->dialect = goat_dialects[d->m.dialect].name;
    row->custom_title = utf8_js_trim(text[GOAT_TITLE]);
    row->cwd = text[GOAT_CWD];
    row->model = text[GOAT_MODEL];
    row->agent_name = text[GOAT_AGENT];
    row->parent_id = text[GOAT_PARENT];
    row->created_ms = d->m.created_ms;
    if (!slice_eq(text[GOAT_ID], row->ref.id))
        row->recorded_id = text[GOAT_ID];
    row->flags |= row->parent_id.n ? SESSION_FORK : 0;
    row->flags |= d->m.bom ? SESSION_DAMAGED : 0;
}

static enum err_code open_metadata(struct describing *d, struct buf *bytes, struct err *e)
{
    if (goat_metadata_of(&d->row->ref, bytes, d->a, &d->m))
        return err_nomem(e);
    bool there = true;

    if (d->m.why && !file_at_stat(d->row->ref.path.p, &there, NULL, NULL) && !there)
        return err_set(e, ERR_NOT_FOUND, d->row->ref.path.p, "describe: it is gone");
    if (d->m.why) {
        d->row->hidden = HIDDEN_DAMAGED;
        d->row->problem = d->m.why;
    }
    return ERR_OK;
}

/* ---- together ---- */

static void set_times(struct describing *d)
{
    struct session_row *row = d->row;
    int64_t updated = d->m.updated_ns ? d->m.updated_ns / 1000000 : TIME_NONE;

    row->modified_ms = session_modified_ms(&row->ref.file);
    /* TIME_NONE is the smallest value */
    row->activity_ms = d->newest_ms > updated ? d->newest_ms : updated;
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
}

static void set_summary(struct session_row *row)
{
    row->summary = row->custom_title.n   ? row->custom_title
                   : row->first_prompt.n ? row->first_prompt
                   : row->last_prompt.n  ? row->last_prompt
                   : row->agent_name.n   ? row->agent_name
                                         : SLICE("(no messages)");
}

static unsigned can_do(const struct session_row *row)
{
    const struct store_ops *ops = row->ref.store->ops;
    unsigned whole = ops->parts ? CAN_DELETE : 0;

    if (row->hidden == HIDDEN_UNREADABLE || row->hidden == HIDDEN_DAMAGED)
        return whole;
    return whole | CAN_RESUME | (ops->rename ? CAN_RENAME : 0) | (ops->fork ? CAN_FORK : 0) |
           (ops->plan ? CAN_REWIND : 0);
}

static enum err_code describe_from_log(struct describing *d, const struct scope *scope,
                                       struct buf *bytes, struct err *e)
{
    struct session_row *row = d->row;
    bool has_log = goat_has_log(&row->ref);
    enum err_code rc = open_metadata(d, bytes, e);

    if (!rc && has_log)
        rc = read_log(d, e);
    if (rc)
        return rc;
    read_metadata(d);
    set_times(d);
    set_summary(row);
    if (row->hidden == HIDDEN_NOT && !goat_in_scope(scope, row->cwd, d->a))
        row->hidden = HIDDEN_COLLISION;
    row->can = can_do(row);
    return session_row_keep(row) && d->ok ? ERR_OK : err_nomem(e);
}

enum err_code goat_describe(const struct store *st, const struct scope *scope,
                            const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct describing d = { .g = goat_of(st), .row = row, .newest_ms = TIME_NONE, .ok = true };
    struct buf bytes = { 0 };
    struct scratch *scratch;
    enum err_code rc = window_pool_acquire(d.g->scratch, &scratch, e);

    if (rc)
        return rc;
    d.w = &scratch->window;
    d.a = &scratch->arena;
    session_row_reset(row);
    row->ref = *ref;
    rc = describe_from_log(&d, scope, &bytes, e);
    row->ref.told = (struct slice){ NULL, 0 };
    buf_fini(&bytes);
    window_pool_release(d.g->scratch, scratch);
    return rc;
}
