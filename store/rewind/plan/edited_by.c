#include <string.h>

#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"

/* Who changed a file after the session's last recorded work on it: a later session, a command of the session itself
 * that names the file, or else a person. A project that moved took all of its files with it. */

/* What the session's own records show about one file. */
struct own_work {
    int64_t edit_ms, command_ms; /* the newest; 0: none */
    const char *command;         /* its first line */
};

struct own_works {
    struct rewind_preview *preview;
    const char **path;
    struct own_work *work; /* of each path */
    size_t *entry;         /* its number in the preview */
    size_t n;
};

enum { COMMAND_SHOWN = 80 };

/* The name of the file is a word of the command, or the end of a path in it. */
static bool command_names(struct slice command, const char *path)
{
    static const char ends[] = " \t\n;&|<>()'\"`=*/";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);

    for (const char *p = command.p, *end = command.p + command.n;
         n && (p = memmem(p, (size_t)(end - p), name, n)); p++)
        if ((p == command.p || memchr(ends, p[-1], sizeof ends - 1)) &&
            (p + n == end || memchr(ends, p[n], sizeof ends - 1)))
            return true;
    return false;
}

static enum err_code note_own_work(const struct edit *edit, void *arg, struct err *e)
{
    struct own_works *w = arg;
    bool command = edit->kind == EDIT_SEEN && edit->after_known == EDIT_UNKNOWN;

    if (edit->time_ms == TIME_NONE || (edit->kind == EDIT_SEEN && !command))
        return ERR_OK;
    for (size_t i = 0; i < w->n; i++) {
        const struct edit_query of_file = { .path = &w->path[i], .paths = 1 };
        struct own_work *work = &w->work[i];

        if (!edit_wanted(&of_file, edit))
            continue;
        if (!command && edit->time_ms >= work->edit_ms)
            work->edit_ms = edit->time_ms;
        if (!command || edit->time_ms < work->command_ms ||
            !command_names(edit->command, w->path[i]))
            continue;
        const char *newline = memchr(edit->command.p, '\n', edit->command.n);
        size_t n = newline ? (size_t)(newline - edit->command.p) : edit->command.n;
        struct slice shown = { edit->command.p, n < COMMAND_SHOWN ? n : COMMAND_SHOWN };

        work->command_ms = edit->time_ms;
        work->command = arena_copy(&w->preview->arena, shown).p;
        if (!work->command)
            return err_nomem(e);
    }
    return ERR_OK;
}

static enum err_code read_own_work(struct own_works *w, struct err *e)
{
    const struct session_ref *ref = w->preview->plan->ref;
    struct edit_query q = { .path = w->path, .paths = w->n, .reads = true, .files_only = true };

    if (!ref || !ref->store->ops->edits)
        return ERR_OK;
    enum err_code rc = ref->store->ops->edits(ref->store, ref, &q, note_own_work, w, NULL);

    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code explain(struct rewind_preview *p, struct rewind_entry *x,
                             const struct own_work *own, struct err *e)
{
    const struct rewind_other *other = x->target->other;
    const char *did = x->seen.exists ? "changed" : "deleted", *why;

    if (p->moved && rewind_is_inside(p->plan, x->target->path)) {
        why =
            arena_format(&p->arena, "the project moved or was deleted: %s is gone", p->plan->root);
    } else if (own->command && own->command_ms >= own->edit_ms &&
               (!other || other->at_ms < own->command_ms)) {
        x->by_command = true;
        why =
            arena_format(&p->arena, "%s since by a command of the session: %s", did, own->command);
    } else if (other && other->at_ms > own->edit_ms && x->seen.exists) {
        x->later = other;
        why = arena_format(&p->arena, "changed later by \"%s\"",
                           other->title ? other->title : other->session);
    } else {
        return ERR_OK;
    }
    x->why = why;
    return why ? ERR_OK : err_nomem(e);
}

enum err_code rewind_explain_edited(struct rewind_preview *p, struct err *e)
{
    struct own_works w = { .preview = p };
    struct arena *a = &p->arena;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < p->n; i++)
        w.n += p->entry[i].rule == REWIND_RULE_EDITED;
    if (w.n == 0)
        return ERR_OK;
    w.path = arena_zalloc(a, w.n * sizeof *w.path);
    w.work = arena_zalloc(a, w.n * sizeof *w.work);
    w.entry = arena_zalloc(a, w.n * sizeof *w.entry);
    if (!w.path || !w.work || !w.entry)
        return err_nomem(e);
    w.n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->entry[i].rule == REWIND_RULE_EDITED) {
            w.path[w.n] = p->entry[i].target->path;
            w.entry[w.n++] = i;
        }
    rc = read_own_work(&w, e);
    for (size_t i = 0; i < w.n && !rc; i++)
        rc = explain(p, &p->entry[w.entry[i]], &w.work[i], e);
    return rc;
}
