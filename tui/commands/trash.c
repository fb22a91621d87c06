#include <inttypes.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/fs/copy.h"
#include "store/maintenance/trash.h"
#include "store/maintenance/trash_request.h"
#include "store/query/describe_pool.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"
#include "tui/text/when.h"

static void trash_item_json(struct jsonout *j, const struct trash_item *item)
{
    jsonout_open(j, '{');
    jsonout_member(j, "trashId", slice_of(item->trash_id));
    jsonout_member(j, "sessionId", slice_of(item->session));
    jsonout_key(j, "files");
    jsonout_int(j, item->files);
    jsonout_key(j, "bytes");
    jsonout_int(j, item->bytes);
    if (item->stays)
        jsonout_member(j, "stays", slice_of(item->stays));
    jsonout_close(j, '}');
}

static enum err_code write_delete_text(struct invocation *in, const struct trash_list *list,
                                       const char *size, struct err *e)
{
    enum err_code rc =
        out_addf(&in->out, e, "moved to trash: %zu session%s, %s (undo with: reprise undo)\n",
                 list->n, list->n == 1 ? "" : "s", size);

    for (size_t i = 0; i < list->n && !rc; i++)
        if (list->item[i].stays)
            rc = out_addf(&in->out, e, "%s: %s\n", list->item[i].session, list->item[i].stays);
    return rc;
}

static enum err_code write_delete_answer(struct invocation *in, const struct trash_list *list,
                                         struct err *e)
{
    struct jsonout j;
    char size[SIZE_TEXT];
    int64_t bytes = 0;

    for (size_t i = 0; i < list->n; i++)
        bytes += list->item[i].bytes;
    text_size(bytes, size);
    if (!option_given(&in->options, OPTION_JSON))
        return write_delete_text(in, list, size, e);
    jsonout_init(&j, &in->out.buf);
    if (list->n != 1)
        jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++)
        trash_item_json(&j, &list->item[i]);
    if (list->n != 1)
        jsonout_close(&j, ']');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code to_trash(struct invocation *in, const struct trash_request *request, size_t n,
                              struct err *e)
{
    struct change_log *log;
    struct trash_list list;
    enum err_code rc = change_log_open(&in->world->env, &log, e);

    if (rc)
        return rc;
    rc = trash_add(log, &in->world->env, "delete", request, n, &list, e);
    change_log_close(log);
    if (rc)
        return rc;
    in->done = true;
    rc = write_delete_answer(in, &list, e);
    trash_list_fini(&list);
    return rc;
}

static enum err_code remove_ref(const struct owned_ref *ref, struct err *e)
{
    struct step drop = { .kind = STEP_REF,
                         .path = ref->git,
                         .to = ref->name,
                         .old = slice_of(ref->tip),
                         .absent = true };

    return step_do(&drop, NULL, e);
}

static enum err_code remove_all(const struct trash_request *r, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t k = 0; k < r->owned_refs_n && !rc; k++)
        rc = remove_ref(&r->owned_refs[k], e);
    for (size_t k = 0; k < r->parts && !rc; k++)
        rc = copy_remove(r->part[k], e);
    return rc;
}

/* The vendor's own delete: transcript and side folder, at once and for good. */
static enum err_code is_permanent(struct invocation *in, const struct trash_request *request,
                                  size_t n, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc; i++)
        rc = remove_all(&request[i], e);
    if (rc)
        return rc;
    in->done = true;
    if (!option_given(&in->options, OPTION_JSON))
        return out_addf(&in->out, e, "deleted for good: %zu session%s\n", n, n == 1 ? "" : "s");
    struct jsonout j;

    jsonout_init(&j, &in->out.buf);
    if (n != 1)
        jsonout_open(&j, '[');
    for (size_t i = 0; i < n; i++) {
        jsonout_open(&j, '{');
        jsonout_member(&j, "sessionId", request[i].id);
        jsonout_close(&j, '}');
    }
    if (n != 1)
        jsonout_close(&j, ']');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

/* What is asked to go. */
struct leaving {
    struct sessions *s;
    const struct session_ref **ref; /* each once */
    struct slice *title;
    struct trash_request *request;
    size_t n;
};

static enum err_code find_leaving(struct invocation *in, struct leaving *l, struct err *e)
{
    struct session_ref *ref = NULL;
    size_t n = (size_t)in->argc;
    enum err_code rc = sessions_find_all(l->s, in->argv, n, &ref, e);

    l->ref = arena_alloc(&l->s->arena, (n + 1) * sizeof *l->ref);
    l->title = arena_zalloc(&l->s->arena, (n + 1) * sizeof *l->title);
    l->request = arena_zalloc(&l->s->arena, (n + 1) * sizeof *l->request);
    if (!rc && (!l->ref || !l->title || !l->request))
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++) {
        bool once = false;

        rc = sessions_is_first(l->s, &ref[i], &once, e);
        if (!rc && once)
            l->ref[l->n++] = &ref[i];
    }
    return rc;
}

/* The title is for the trash; a session that cannot be described goes without. */
static enum err_code read_session_title(size_t i, const struct session_row *row, void *arg,
                                        struct err *e)
{
    struct leaving *l = arg;

    l->title[i] = arena_copy(&l->s->arena, row ? session_row_title(row) : SLICE(""));
    return l->title[i].p ? ERR_OK : err_nomem(e);
}

/* A lease on a file shows whether a program has it open: nobody may be describing it any more. */
static enum err_code make_requests(struct leaving *l, unsigned what, struct err *e)
{
    struct err why = { 0 };
    struct arena *a = &l->s->arena;
    size_t i;
    enum err_code rc = describe_pool_run(&l->s->scope, l->ref, l->n, DESCRIBE_POOL_AHEAD,
                                         read_session_title, l, e);

    if (rc)
        return rc;
    rc = trash_request_make_all(l->ref, l->title, l->n, what, a, l->request, &i, &why);
    if (rc == ERR_LOCKED && !trash_request_make(l->ref[i], l->title[i], what | TRASH_REQUEST_UNSURE,
                                                a, &l->request[i], NULL))
        return err_set(e, rc, l->ref[i]->path.p, "%s (--force deletes it anyway)", why.text);
    if (rc && e)
        *e = why;
    return rc;
}

enum err_code delete_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    bool permanently = option_given(&in->options, OPTION_PERMANENTLY);
    struct leaving l = { .s = &s };
    enum err_code rc = sessions_open(in, true, &s, e);

    if (rc)
        return rc;
    rc = find_leaving(in, &l, e);
    if (!rc)
        rc =
            make_requests(&l,
                          (permanently ? TRASH_REQUEST_OWN : TRASH_REQUEST_ALL) |
                              (option_given(&in->options, OPTION_FORCE) ? TRASH_REQUEST_UNSURE : 0),
                          e);
    if (!rc)
        rc = permanently ? is_permanent(in, l.request, l.n, e) : to_trash(in, l.request, l.n, e);
    sessions_close(&s);
    return rc;
}

/* ---- list ---- */

static void trashed_item_json(struct jsonout *j, const struct trash_item *item)
{
    jsonout_open(j, '{');
    jsonout_member(j, "trashId", slice_of(item->trash_id));
    jsonout_member(j, "system", slice_of(item->system));
    jsonout_member(j, "sessionId", slice_of(item->session));
    jsonout_member(j, "title", slice_of(item->title));
    jsonout_member(j, "path", slice_of(item->path));
    jsonout_key(j, "deletedAt");
    jsonout_int(j, item->deleted_ms);
    jsonout_key(j, "files");
    jsonout_int(j, item->files);
    jsonout_key(j, "bytes");
    jsonout_int(j, item->bytes);
    jsonout_close(j, '}');
}

static enum err_code list_json(struct out *out, const struct trash_list *list, struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++)
        trashed_item_json(&j, &list->item[i]);
    jsonout_close(&j, ']');
    return j.rc ? err_nomem(e) : out_add(out, SLICE("\n"), e);
}

/* What a person knows it by; of what was no session, where it was. */
static struct slice trash_item_name(const struct trash_item *item)
{
    return slice_of(item->title[0] ? item->title : item->path);
}

static enum err_code list_line(struct out *out, const struct trash_item *item, int64_t now_ms,
                               struct err *e)
{
    char age[WHEN_AGE], size[SIZE_TEXT];

    when_age(now_ms, item->deleted_ms, age);
    text_size(item->bytes, size);
    enum err_code rc = out_addf(out, e, "%8s  %-20s  %8s  ", age, item->trash_id, size);

    if (!rc)
        rc = out_text(out, slice_of(item->session), e);
    if (!rc)
        rc = out_add(out, SLICE("  "), e);
    if (!rc)
        rc = out_text(out, trash_item_name(item), e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code list_text(struct out *out, const struct trash_list *list, int64_t now_ms,
                               struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc; i++)
        rc = list_line(out, &list->item[i], now_ms, e);
    if (!rc && list->n == 0)
        rc = out_add(out, SLICE("the trash is empty\n"), e);
    return rc;
}

static enum err_code list_items(struct invocation *in, const struct trash_list *list, struct err *e)
{
    return option_given(&in->options, OPTION_JSON)
               ? list_json(&in->out, list, e)
               : list_text(&in->out, list, in->world->env.now_ms, e);
}

/* ---- restore, empty ---- */

static const struct trash_item *find_item(const struct trash_list *list, const char *id)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->item[i].trash_id, id) == 0 || strcmp(list->item[i].session, id) == 0)
            return &list->item[i];
    return NULL;
}

static enum err_code answer_one(struct invocation *in, const struct trash_item *item, bool joined,
                                struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON)) {
        enum err_code rc =
            out_add(&in->out,
                    joined ? SLICE("joined with the newer transcript: ") : SLICE("restored: "), e);

        if (!rc)
            rc = out_text(&in->out, trash_item_name(item), e);
        return rc ? rc : out_add(&in->out, SLICE(" (undo with: reprise undo)\n"), e);
    }
    jsonout_init(&j, &in->out.buf);
    trashed_item_json(&j, item);
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code restore_item(struct invocation *in, const struct trash_list *list,
                                  struct err *e)
{
    struct change_log *log;

    if (in->argc < 2)
        return err_set(e, ERR_USAGE, "trash restore",
                       "trash id required (see: reprise trash list)");
    const struct trash_item *item = find_item(list, in->argv[1]);

    if (!item)
        return err_set(e, ERR_NOT_FOUND, in->argv[1], "restore: not in the trash");
    enum err_code rc = change_log_open(&in->world->env, &log, e);

    if (rc)
        return rc;
    bool join = option_given(&in->options, OPTION_JOIN) && trash_can_join(item);

    rc = join ? trash_join(log, item, e) : trash_restore(log, &in->world->env, item, e);
    change_log_close(log);
    if (rc == ERR_STALE && !join && trash_can_join(item))
        rc = err_set(
            e, rc, item->path,
            "restore: a newer transcript exists; --join puts the deleted rows in front of it");
    in->done = !rc;
    return rc ? rc : answer_one(in, item, join, e);
}

static enum err_code empty_answer(struct invocation *in, int64_t items, int64_t bytes,
                                  struct err *e)
{
    struct jsonout j;
    char size[SIZE_TEXT];

    text_size(bytes, size);
    if (!option_given(&in->options, OPTION_JSON))
        return out_addf(&in->out, e, "deleted for good: %" PRId64 " session%s, %s\n", items,
                        items == 1 ? "" : "s", size);
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_key(&j, "sessions");
    jsonout_int(&j, items);
    jsonout_key(&j, "bytes");
    jsonout_int(&j, bytes);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code empty_trash(struct invocation *in, const struct trash_list *list,
                                 struct err *e)
{
    const char *age = in->options.older_than;
    int64_t before = INT64_MAX, items = 0, bytes = 0;
    struct change_log *log;

    if (age && !when_parse(slice_of(age), in->world->env.now_ms, &before))
        return err_set(e, ERR_USAGE, age, "trash empty: not an age (30d, 12h, 2w)");
    /* The lock of the log: nobody undoes a deletion while its sessions go. */
    enum err_code rc = change_log_open(&in->world->env, &log, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < list->n && !rc; i++) {
        if (list->item[i].deleted_ms >= before)
            continue;
        rc = trash_destroy(&in->world->env, &list->item[i], e);
        items += !rc;
        bytes += rc ? 0 : list->item[i].bytes;
    }
    change_log_close(log);
    in->done = !rc && items;
    return rc ? rc : empty_answer(in, items, bytes, e);
}

enum err_code trash_run(struct invocation *in, struct err *e)
{
    const char *what = in->argv[0];
    struct trash_list list;
    enum err_code rc = trash_read(&in->world->env, &list, e);

    if (rc)
        return rc;
    if (strcmp(what, "list") == 0)
        rc = list_items(in, &list, e);
    else if (strcmp(what, "restore") == 0)
        rc = restore_item(in, &list, e);
    else if (strcmp(what, "empty") == 0)
        rc = empty_trash(in, &list, e);
    else
        rc = err_set(e, ERR_USAGE, what, "trash: use list, restore or empty");
    trash_list_fini(&list);
    return rc;
}
