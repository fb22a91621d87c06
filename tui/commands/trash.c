#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/journal/change.h"
#include "store/maintenance/trash.h"
#include "store/query/listing.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* ---- delete ---- */

/* One session is an object, several are an array of them. */
static void write_deleted_json(const struct trash_list *list, struct out *o)
{
    if (list->n != 1)
        out_open(o, NULL, '[');
    for (size_t i = 0; i < list->n; i++) {
        const struct trash_item *item = &list->item[i];

        out_open(o, NULL, '{');
        out_string(o, "trashId", item->trash_id);
        out_string(o, "sessionId", item->session);
        out_int(o, "files", item->files);
        out_int(o, "bytes", item->bytes);
        out_string(o, "stays", item->stays);
        list->n == 1 ? out_end(o, '}') : out_close(o, '}');
    }
    if (list->n != 1)
        out_end(o, ']');
}

static enum err_code trash_to_trash(struct invocation *in, const struct trash_request *request,
                                    size_t n, struct err *e)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(trash_list_fini) struct trash_list list = { 0 };
    char size[HUMAN_SIZE];

    TRY(change_log_open(&in->world->env, &log, e));
    TRY(trash_add(log, &in->world->env, "delete", request, n, &list, e));
    in->done = true;
    if (in->out.wants_json)
        write_deleted_json(&list, &in->out);
    else {
        int64_t bytes = 0;

        for (size_t i = 0; i < list.n; i++)
            bytes += list.item[i].bytes;
        human_size(bytes, size);
        out_addf(&in->out, "moved to trash: %zu session%s, %s" OUT_UNDO_WITH "\n", list.n,
                 list.n == 1 ? "" : "s", size, change_log_made(log));
        for (size_t i = 0; i < list.n; i++)
            if (list.item[i].stays)
                out_addf(&in->out, "%s: %s\n", list.item[i].session, list.item[i].stays);
    }
    return ERR_OK;
}

/* If one of several sessions cannot be deleted, the others still are, and each failure is reported. */
struct deletion {
    struct invocation *in;
    size_t sessions, gone;
};

static void note_deletion(struct deletion *d, enum err_code rc, const struct err *problem)
{
    d->gone += rc == ERR_OK;
    if (rc && d->sessions > 1)
        out_report(d->in->err_fd, problem);
}

/* e contains the last failure. */
static enum err_code end_deletion(const struct deletion *d, struct err *e)
{
    size_t left = d->sessions - d->gone;

    if (d->gone && !d->in->out.wants_json)
        out_addf(&d->in->out, "deleted for good: %zu session%s\n", d->gone,
                 d->gone == 1 ? "" : "s");
    d->in->done = left == 0;
    if (!left || d->sessions == 1)
        return left ? e->code : ERR_OK;
    enum err_code code = e->code;

    if (out_flush(&d->in->out, e))
        return e->code;
    return err_set(e, code, "delete", "%zu of %zu sessions were not deleted", left, d->sessions);
}

static enum err_code destroy(struct invocation *in, struct trash_request *request, size_t n,
                             struct err *e)
{
    struct deletion d = { in, n, 0 };

    for (size_t i = 0; i < n; i++) {
        enum err_code rc = trash_request_destroy(&request[i], e);

        if (!rc)
            request[d.gone] = request[i];
        note_deletion(&d, rc, e);
    }
    if (in->out.wants_json && (d.gone || n != 1)) {
        bool list = n != 1;

        if (list)
            out_open(&in->out, NULL, '[');
        for (size_t i = 0; i < d.gone; i++) {
            out_open(&in->out, NULL, '{');
            out_member(&in->out, "sessionId", request[i].id);
            list ? out_close(&in->out, '}') : out_end(&in->out, '}');
        }
        if (list)
            out_end(&in->out, ']');
    }
    return end_deletion(&d, e);
}

/* The sessions to delete. */
struct leaving {
    struct sessions *s;
    const struct session_ref **ref; /* each once */
    struct slice *title;
    struct trash_request *request;
    size_t n;
};

static size_t count_stored(const struct leaving *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        n += l->ref[i]->store->ops->remote;
    return n;
}

/* Sessions of stores that are not files have no trash: they are deleted for good, and only if that was requested. */
static enum err_code remove_stored(struct invocation *in, const struct leaving *l, bool permanently,
                                   struct err *e)
{
    struct deletion d = { in, l->n, 0 };

    if (count_stored(l) < l->n)
        return err_set(e, ERR_USAGE, "delete",
                       "local sessions and those of a store cannot be deleted by one command");

    /* All are checked before the first one is deleted, because a deletion cannot be undone. */
    for (size_t i = 0; i < l->n; i++)
        if (!permanently || !l->ref[i]->store->ops->remove)
            return store_unsupported_error(l->ref[i], CAN_DELETE, "delete", e);
    for (size_t i = 0; i < l->n; i++) {
        enum err_code rc = l->ref[i]->store->ops->remove(l->ref[i]->store, l->ref[i], e);

        /* The deleted ones are moved to the front, where the answer finds them. */
        if (!rc)
            l->ref[d.gone] = l->ref[i];
        note_deletion(&d, rc, e);
    }
    if (in->out.wants_json && d.gone) {
        const struct session_ref *const *ref = l->ref;

        out_open(&in->out, NULL, '[');
        for (size_t i = 0; i < d.gone; i++) {
            out_open(&in->out, NULL, '{');
            out_string(&in->out, "system", ref[i]->store->ops->name);
            out_member(&in->out, "sessionId", ref[i]->id);
            out_close(&in->out, '}');
        }
        out_end(&in->out, ']');
    }
    return end_deletion(&d, e);
}

/* The trash keeps the title; a session that cannot be described has none. */
static enum err_code read_session_title(size_t i, struct session_row *row, void *arg, struct err *e)
{
    struct leaving *l = arg;

    l->title[i] = arena_copy(&l->s->arena, row ? session_row_title(row) : SLICE(""));
    return l->title[i].p ? ERR_OK : err_nomem(e);
}

/* A lease shows whether a program has a file open, so leases are only taken after all sessions have
 * been described. */
static enum err_code make_requests(struct leaving *l, unsigned what, struct err *e)
{
    struct err why = { 0 };
    struct arena *a = &l->s->arena;
    size_t i;

    TRY(describe_pool_run(&l->s->scope, l->ref, l->n, DESCRIBE_POOL_AHEAD, read_session_title, l,
                          e));
    enum err_code rc =
        trash_request_make_all(l->ref, l->title, l->n, what, a, l->request, &i, &why);

    if (rc == ERR_LOCKED && !trash_request_make(l->ref[i], l->title[i], what | TRASH_REQUEST_UNSURE,
                                                a, &l->request[i], NULL))
        return err_set(e, rc, l->ref[i]->path.p, "%s (--force deletes it anyway)", why.text);
    if (rc && e)
        *e = why;
    return rc;
}

enum err_code trash_delete_run(struct invocation *in, struct err *e)
{
    const bool permanently = option_given(&in->options, OPTION_PERMANENTLY);
    const size_t n = (size_t)in->argc;
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };
    struct leaving l = { .s = &s };
    struct session_ref *ref = NULL;

    /* The sessions that are named, each once. */
    TRY(sessions_open(in, true, &s, e));
    TRY(sessions_find_all(&s, in->argv, n, &ref, e));
    NEED(l.ref = arena_alloc(&s.arena, (n + 1) * sizeof *l.ref));
    NEED(l.title = arena_zalloc(&s.arena, (n + 1) * sizeof *l.title));
    NEED(l.request = arena_zalloc(&s.arena, (n + 1) * sizeof *l.request));
    for (size_t i = 0; i < n; i++) {
        bool once = false;

        TRY(sessions_is_first(&s, &ref[i], &once, e));
        if (once)
            l.ref[l.n++] = &ref[i];
    }

    const struct by_agent agents = { .what = STORE_COMMAND_DELETE, .ref = l.ref, .n = l.n };
    bool by_agents = false;

    TRY(by_agent_check(&agents, &by_agents, e));
    if (by_agents)
        return by_agent_run(in, &agents, e);
    if (count_stored(&l))
        return remove_stored(in, &l, permanently, e);
    TRY(make_requests(&l,
                      (permanently ? TRASH_REQUEST_OWN : TRASH_REQUEST_ALL) |
                          (option_given(&in->options, OPTION_FORCE) ? TRASH_REQUEST_UNSURE : 0),
                      e));
    return permanently ? destroy(in, l.request, l.n, e) : trash_to_trash(in, l.request, l.n, e);
}

/* ---- trash list ---- */

static void write_trashed_json(const struct trash_item *item, struct out *o)
{
    out_open(o, NULL, '{');
    out_string(o, "trashId", item->trash_id);
    out_string(o, "system", item->system);
    out_string(o, "sessionId", item->session);
    out_string(o, "title", item->title);
    out_string(o, "path", item->path);
    out_int(o, "deletedAt", item->deleted_ms);
    out_int(o, "files", item->files);
    out_int(o, "bytes", item->bytes);
    out_close(o, '}');
}

/* The name of an item for people: the title, or the path if it was not a session. */
static struct slice trash_item_name(const struct trash_item *item)
{
    return slice_of(item->title[0] ? item->title : item->path);
}

static void write_trash(struct invocation *in, const struct trash_list *list)
{
    struct out *o = &in->out;
    char age[HUMAN_AGE], size[HUMAN_SIZE];

    if (o->wants_json) {
        out_open(o, NULL, '[');
        for (size_t i = 0; i < list->n; i++)
            write_trashed_json(&list->item[i], o);
        out_end(o, ']');
        return;
    }
    for (size_t i = 0; i < list->n; i++) {
        const struct trash_item *item = &list->item[i];
        int64_t now_ms = in->world->env.now_ms;

        human_age(now_ms, item->deleted_ms, age);
        human_size(item->bytes, size);
        out_addf(o, "%8s  %-20s  %8s  ", age, item->trash_id, size);
        out_text(o, slice_of(item->session));
        out_line(o, "  ", trash_item_name(item));
    }
    if (list->n == 0)
        out_addf(o, "the trash is empty\n");
}

/* ---- trash restore, trash empty ---- */

static enum err_code restore_item(struct invocation *in, const struct trash_list *list,
                                  struct err *e)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;

    if (in->argc < 2)
        return err_set(e, ERR_USAGE, "trash restore", "needs an id; see reprise trash list");
    const struct trash_item *item = trash_find(list, in->argv[1]);

    if (!item)
        return err_set(e, ERR_NOT_FOUND, in->argv[1],
                       "restore: not in the trash; see reprise trash list");

    const bool join = option_given(&in->options, OPTION_JOIN) && trash_can_join(item);

    TRY(change_log_open(&in->world->env, &log, e));
    const enum err_code rc = join ? trash_join(log, item, e) : trash_restore(log, item, e);

    if (rc == ERR_STALE && !join && trash_can_join(item))
        return err_set(
            e, rc, item->path,
            "restore: a newer transcript exists; --join puts the deleted rows in front of it");
    TRY(rc);
    in->done = true;
    if (in->out.wants_json) {
        write_trashed_json(item, &in->out);
        out_addf(&in->out, "\n");
        return ERR_OK;
    }
    out_addf(&in->out, join ? "joined with the newer transcript: " : "restored: ");
    out_text(&in->out, trash_item_name(item));
    out_addf(&in->out, OUT_UNDO_WITH "\n", change_log_made(log));
    return ERR_OK;
}

static enum err_code empty_trash(struct invocation *in, const struct trash_list *list,
                                 struct err *e)
{
    const char *age = in->options.older_than;
    int64_t before = INT64_MAX, items = 0, bytes = 0;
    struct out *o = &in->out;
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    char size[HUMAN_SIZE];

    if (age && !human_time_parse(slice_of(age), in->world->env.now_ms, &before))
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not an age; write 30d, 12h or 2w", age);
    /* The log is locked, so no deletion is undone while its sessions are removed. */
    TRY(change_log_open(&in->world->env, &log, e));
    for (size_t i = 0; i < list->n; i++)
        if (list->item[i].deleted_ms < before) {
            TRY(trash_destroy(&in->world->env, &list->item[i], e));
            items++;
            bytes += list->item[i].bytes;
        }
    in->done = items > 0;
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_int(o, "sessions", items);
        out_int(o, "bytes", bytes);
        out_end(o, '}');
        return ERR_OK;
    }
    human_size(bytes, size);
    out_addf(o, "deleted for good: %" PRId64 " session%s, %s\n", items, items == 1 ? "" : "s",
             size);
    return ERR_OK;
}

enum err_code trash_run(struct invocation *in, struct err *e)
{
    const char *what = in->argc ? in->argv[0] : "list";
    CLEANUP(trash_list_fini) struct trash_list list = { 0 };

    if (in->argc > 1 && strcmp(what, "restore") != 0)
        return command_unexpected(in, 1, e); /* `empty ID` must not empty the whole trash */
    TRY(trash_read(&in->world->env, &list, e));
    if (strcmp(what, "restore") == 0)
        return restore_item(in, &list, e);
    if (strcmp(what, "empty") == 0)
        return empty_trash(in, &list, e);
    if (strcmp(what, "list") != 0)
        return err_set(e, ERR_USAGE, "", "trash has no \"%.80s\"; use list, restore or empty",
                       what);
    write_trash(in, &list);
    return ERR_OK;
}
