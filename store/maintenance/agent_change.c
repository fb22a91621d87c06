#include "store/maintenance/agent_change.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/buf.h"
#include "store/journal/change.h"
#include "store/maintenance/trash.h"
#include "store/proc/live.h"
#include "store/proc/spawn.h"
#include "store/rewind/plan/origin.h"

enum { TIMEOUT_MS = 120000, OUTPUT_MOST = 4 << 20, SAID_MOST = 200 };

static const struct scope everywhere = { .all = true };

const char *agent_change_name(enum store_command what)
{
    static const char *const names[] = {
        [STORE_COMMAND_RENAME] = "rename",
        [STORE_COMMAND_ARCHIVE] = "archive",
        [STORE_COMMAND_UNARCHIVE] = "unarchive",
        [STORE_COMMAND_DELETE] = "delete",
    };

    return names[what];
}

unsigned agent_change_ability(enum store_command what)
{
    return what == STORE_COMMAND_RENAME   ? CAN_RENAME
           : what == STORE_COMMAND_DELETE ? CAN_DELETE
                                          : CAN_ARCHIVE;
}

static bool keeps_copy(const struct agent_change *a)
{
    return a->what == STORE_COMMAND_DELETE && !a->permanently && a->ref->store->ops->deleted_parts;
}

const char *agent_change_consequence(const struct agent_change *a)
{
    switch (a->what) {
    case STORE_COMMAND_RENAME: return "Undo does not cover this: rename the session again instead.";
    case STORE_COMMAND_ARCHIVE: return "Undo does not cover this: unarchive the session instead.";
    case STORE_COMMAND_UNARCHIVE: return "Undo does not cover this: archive the session instead.";
    default:
        return keeps_copy(a) ? "A copy of its files is kept in the trash; undo restores them."
                             : "This cannot be undone: no copy is kept.";
    }
}

static enum err_code check_quiet(const struct agent_change *a, struct err *e)
{
    struct live live;
    enum err_code rc = live_check(&a->ref, 1, &live, e);
    bool unknown_is_fine = a->what != STORE_COMMAND_DELETE || a->unsure;

    if (rc || live.state == LIVE_QUIET || (live.state == LIVE_UNKNOWN && unknown_is_fine))
        return rc;
    return err_set(e, ERR_LOCKED, a->ref->path.p, "%s: an agent may be writing to it (%s)",
                   agent_change_name(a->what), live.why ? live.why : "it is registered");
}

/* ---- the copy ---- */

/* Without files of its own there is no item. */
static enum err_code keep_copy(const struct store_env *env, const struct agent_change *a,
                               struct trash_list *kept, struct err *e)
{
    struct arena arena = { 0 };
    struct change_origin origin = { 0 };
    struct change_log *log = NULL;
    struct trash_request request;
    enum err_code rc = origin_of(a->ref, &arena, &origin, e);

    if (!rc)
        rc = trash_request_make_kept(a->ref, slice_of(origin.title ? origin.title : ""), &arena,
                                     &request, e);
    if (!rc && request.parts) {
        rc = change_log_open(env, &log, e);
        if (!rc)
            rc = trash_keep(env, &request, kept, e);
        change_log_close(log);
    }
    arena_fini(&arena);
    return rc;
}

/* After a failure. If the copies are still needed, they stay, and the text mentions them. */
static enum err_code drop_copy(const struct trash_list *kept, enum err_code why, struct err *e)
{
    bool needed = false;

    if (!kept->n)
        return why;
    if (trash_forget(kept, &needed, NULL) || needed)
        err_wrap(e, why, "a copy of the session is in the trash");
    return why;
}

/* ---- the command ---- */

/* The end of an escape sequence that begins at i. */
static size_t skip_sequence(struct slice text, size_t i)
{
    bool parameters = i + 1 < text.n && text.p[i + 1] == '[';

    i += 2;
    while (parameters && i < text.n && !(text.p[i] >= '@' && text.p[i] <= '~'))
        i++;
    return i + parameters;
}

/* The last line that the command printed, without colours. */
static void last_line(struct slice text, char out[SAID_MOST])
{
    size_t n = 0;

    out[0] = '\0';
    while (text.n && (unsigned char)text.p[text.n - 1] <= ' ')
        text.n--;
    for (size_t i = 0; i < text.n;) {
        if (text.p[i] == '\033') {
            i = skip_sequence(text, i);
            continue;
        }
        if (text.p[i] == '\n')
            n = 0;
        else if (n + 1 < SAID_MOST)
            out[n++] = text.p[i];
        out[n] = '\0';
        i++;
    }
}

static enum err_code run_command(const struct agent_change *a, struct err *e)
{
    struct buf out = { 0 }, errors = { 0 };
    const struct spawn s = { .argv = a->argv,
                             .dir = a->dir,
                             .timeout_ms = TIMEOUT_MS,
                             .max = OUTPUT_MOST,
                             .variable = a->variable,
                             .value = a->value,
                             .errors = &errors };
    enum err_code rc = spawn_read(&s, &out, e);
    char said[SAID_MOST];

    last_line(buf_slice(&errors), said);
    if (rc == ERR_IO && said[0])
        rc = err_set(e, rc, a->ref->path.p, "%s: %s: %s", agent_change_name(a->what), a->argv[0],
                     said);
    else if (rc)
        rc = err_wrap(e, rc, "%s", agent_change_name(a->what));
    buf_fini(&out);
    buf_fini(&errors);
    return rc;
}

/* ---- the result ---- */

static bool shows_result(const struct agent_change *a, const struct store *st,
                         const struct session_ref *now)
{
    struct session_row *row = session_row_new();
    bool archived, shows = row && !st->ops->describe(st, &everywhere, now, row, NULL);

    archived = shows && row->flags & SESSION_ARCHIVED;
    session_row_free(row);
    return shows &&
           (a->what == STORE_COMMAND_RENAME || archived == (a->what == STORE_COMMAND_ARCHIVE));
}

/* The store is opened again, because the present one may be a picture of an earlier moment. Whether a title is the new
 * one is not checked: the agent may have cleaned it. */
static bool is_done(const struct store_env *env, const struct agent_change *a)
{
    const struct store *was = a->ref->store;
    struct store *st = NULL;
    struct session_ref now = { 0 };
    struct arena arena = { 0 };
    enum err_code rc = was->ops->open(env, was->path, &st, NULL);
    bool done;

    if (!rc)
        rc = st->ops->find(st, &everywhere, a->ref->id, &arena, &now, NULL);
    done = a->what == STORE_COMMAND_DELETE ? rc == ERR_NOT_FOUND : !rc && shows_result(a, st, &now);
    arena_fini(&arena);
    store_close(st);
    return done;
}

/* NULL if out of memory. */
static const char *description_of(const struct agent_change *a, bool kept, struct arena *arena)
{
    switch (a->what) {
    case STORE_COMMAND_RENAME: return arena_format(arena, "renamed to %.*s", SLICE_ARG(a->title));
    case STORE_COMMAND_ARCHIVE: return "archived";
    case STORE_COMMAND_UNARCHIVE: return "unarchived";
    default: return kept ? "deleted; a copy is in the trash" : "deleted for good";
    }
}

/* c has the session as it was before the command. */
static enum err_code note(const struct store_env *env, const struct agent_change *a,
                          const struct trash_list *kept, struct change *c, struct err *e)
{
    struct change_log *log = NULL;
    enum err_code rc = change_log_open(env, &log, e);

    c->text = description_of(a, kept->n > 0, &c->arena);
    c->command = arena_copy_text(&c->arena, a->line);
    if (!rc && (!c->text || !c->command))
        rc = err_nomem(e);
    for (size_t k = 0; kept->n && k < kept->item->parts && !rc; k++) {
        const struct step move = { .kind = STEP_MOVE,
                                   .path = kept->item->from[k],
                                   .to = kept->item->part[k] };

        rc = change_add(c, &move, e);
    }
    if (!rc)
        rc = change_note(log, c, e);
    change_log_close(log);
    return rc;
}

static void fill_in(struct agent_changed *out, const struct change *c,
                    const struct trash_list *kept)
{
    *out = (struct agent_changed){ .bytes = kept->n ? kept->item->bytes : 0 };
    snprintf(out->id, sizeof out->id, "%s", c->id);
    snprintf(out->trash_id, sizeof out->trash_id, "%s", kept->n ? kept->item->trash_id : "");
}

static enum err_code run_and_note(const struct store_env *env, const struct agent_change *a,
                                  struct trash_list *kept, struct change *c,
                                  struct agent_changed *out, struct err *e)
{
    enum err_code rc = keeps_copy(a) ? keep_copy(env, a, kept, e) : ERR_OK;
    bool done;

    if (!rc && keeps_copy(a) && !kept->n)
        rc =
            err_set(e, ERR_IO, a->ref->path.p, "delete: there is no file to copy; nothing was run");
    if (rc)
        return rc;
    rc = run_command(a, e);
    done = (!rc || a->what == STORE_COMMAND_DELETE) && is_done(env, a);
    if (!rc && !done)
        rc = err_set(e, ERR_IO, a->ref->path.p, "%s: %s reported no error, but nothing changed",
                     agent_change_name(a->what), a->argv[0]);
    if (!done)
        return drop_copy(kept, rc, e);
    rc = note(env, a, kept, c, e);
    if (!rc)
        fill_in(out, c, kept);
    return rc ? err_wrap(e, rc, "the agent's command succeeded, but it was not recorded") : ERR_OK;
}

enum err_code agent_change_run(const struct store_env *env, const struct agent_change *a,
                               struct agent_changed *out, struct err *e)
{
    struct trash_list kept = { 0 };
    struct change *c = change_new(agent_change_name(a->what));
    enum err_code rc = c ? check_quiet(a, e) : err_nomem(e);

    if (!rc)
        rc = origin_add_session(c, a->ref, e);
    if (!rc)
        rc = run_and_note(env, a, &kept, c, out, e);
    trash_list_fini(&kept);
    change_free(c);
    return rc;
}
