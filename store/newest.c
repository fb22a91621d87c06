#include "store/newest.h"

#include <string.h>

#include "store/rewind/rewind.h"
#include "store/stamp.h"

struct looking {
    bool undos; /* for the newest of all; else for the newest that stands and is no undo */
    struct newest found;
    bool is_undo;
};

static void take(struct looking *l, enum newest_kind kind, const char *id, int64_t at_ms,
                 bool is_undo)
{
    l->found = (struct newest){ .kind = kind, .at_ms = at_ms };
    memcpy(l->found.id, id, strnlen(id, sizeof l->found.id - 1));
    l->is_undo = is_undo;
}

static bool newest_change(const struct change *c, bool undone, void *arg)
{
    struct looking *l = arg;
    bool is_undo = strcmp(c->kind, "undo") == 0;

    if (!l->undos && (undone || is_undo))
        return true;
    take(l, NEWEST_CHANGE, c->id, c->at_ms, is_undo && !undone);
    return false;
}

/* Of two of the same time the change is meant. */
static void newest_rewind(struct looking *l, const struct rewind_records *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct rewind_record *r = &list->record[i];

        if (!l->undos && (r->undone || r->undoes))
            continue;
        if (l->found.kind == NEWEST_NONE || stamp_of(r->id) > stamp_of(l->found.id))
            take(l, NEWEST_REWIND, r->id, r->at_ms, r->undoes && !r->undone);
        return;
    }
}

/* A record that cannot be read, damaged or of a newer reprise, may be of what the person means. */
static enum err_code check_unread(const struct looking *l, const char *unread, struct err *e)
{
    return stamp_of(unread) > stamp_of(l->found.id)
               ? err_set(
                     e, ERR_STALE, unread,
                     "take back: the newest record cannot be read (a newer reprise's?); name the "
                     "change to take back")
               : ERR_OK;
}

static enum err_code look(const struct store_env *env, struct change_log *log, struct looking *l,
                          struct err *e)
{
    struct rewind_records list;
    enum err_code rc = change_list(log, newest_change, l, e);

    if (!rc)
        rc = rewind_records_read(env, &list, e);
    if (rc)
        return rc;
    newest_rewind(l, &list);
    rc = check_unread(l, change_log_unread(log), e);
    if (!rc)
        rc = check_unread(l, list.unread, e);
    rewind_records_fini(&list);
    return rc;
}

enum err_code newest_standing(const struct store_env *env, struct change_log *log,
                              struct newest *out, struct err *e)
{
    struct looking l = { .undos = false };
    enum err_code rc = look(env, log, &l, e);

    if (!rc)
        *out = l.found;
    return rc;
}

enum err_code newest_undo(const struct store_env *env, struct change_log *log, struct newest *out,
                          struct err *e)
{
    struct looking l = { .undos = true };
    enum err_code rc = look(env, log, &l, e);

    if (!rc)
        *out = l.is_undo ? l.found : (struct newest){ .kind = NEWEST_NONE };
    return rc;
}
