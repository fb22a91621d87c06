#include <string.h>

#include "store/rewind/plan/plan.h"
#include "store/rewind/record/records.h"

/* ---- what is undone ---- */

/* Both logs, walked from the newest entry to the named one. */
struct back_walk {
    const struct shown *shown;
    const char *id;
    struct back_to *out;
    struct rewind_records rewinds;
    size_t next;          /* the next of the records */
    const char **revived; /* they will be in effect again, because what undid them is undone */
    size_t revived_n;
    bool found, found_elsewhere, done;
    enum err_code rc;
    struct err *e;
};

struct back_entry {
    struct undo_target target;
    bool undone;
    const char *undoes; /* NULL: it is no undo */
    bool elsewhere;
};

/* Ids of both logs sort by time. An undo cancels out what it undid, unless that is older than the named entry. */
static void meet_entry(struct back_walk *w, const struct back_entry *x)
{
    const char *id = x->target.id;
    int order = strcmp(id, w->id);
    bool revived = false;

    w->done = order <= 0;
    w->found = w->found || order == 0;
    for (size_t i = 0; i < w->revived_n && !revived; i++)
        revived = strcmp(w->revived[i], id) == 0;
    if (order < 0 || (x->undone && !revived))
        return;
    if (x->elsewhere) {
        w->found_elsewhere = w->found_elsewhere || order == 0;
        w->out->elsewhere++;
    } else if (!x->undoes || strcmp(x->undoes, w->id) < 0) {
        struct back_to *b = w->out;
        struct undo_target *list = arena_grow(&b->arena, b->entry, b->n, sizeof *list);

        if (!list ||
            (x->undoes && !arena_add_text(&b->arena, &w->revived, &w->revived_n, x->undoes)))
            w->rc = err_nomem(w->e);
        else {
            b->entry = list;
            b->entry[b->n++] = x->target;
            w->rc = ERR_OK;
        }
    }
}

static void meet_rewinds_after(struct back_walk *w, const char *id)
{
    for (; !w->done && !w->rc && w->next < w->rewinds.n; w->next++) {
        const struct rewind_record *r = &w->rewinds.record[w->next];
        const struct back_entry x = { .target = undo_target_of_rewind(r),
                                      .undone = r->undone || r->empty,
                                      .undoes = r->undoes,
                                      .elsewhere = origin_of_rewind(w->shown, r) != ORIGIN_SHOWN };

        if (strcmp(r->id, id) <= 0)
            return;
        meet_entry(w, &x);
    }
}

static bool meet_change(const struct change *c, bool undone, void *arg)
{
    struct back_walk *w = arg;

    meet_rewinds_after(w, c->id);
    if (!w->done && !w->rc) {
        const struct back_entry x = { .target = undo_target_of_change(c),
                                      .undone = undone,
                                      .undoes = c->undoes,
                                      .elsewhere = !origin_shows_change(w->shown, c) };

        meet_entry(w, &x);
    }
    return !w->done && !w->rc;
}

static enum err_code collect_entries(const struct store_env *env, struct change_log *log,
                                     struct back_walk *w)
{
    TRY(rewind_records_read_newest(env, SIZE_MAX, w->id, &w->rewinds, w->e));
    enum err_code rc = change_list(log, meet_change, w, w->e);

    if (!rc)
        meet_rewinds_after(w, "");
    rewind_records_fini(&w->rewinds);
    if (rc || w->rc)
        return rc ? rc : w->rc;
    if (!w->found)
        return err_set(w->e, ERR_NOT_FOUND, "", "no change has the id \"%.64s\"; see reprise log",
                       w->id);
    if (w->found_elsewhere)
        return err_set(w->e, ERR_NOT_FOUND, w->id, "it was made elsewhere: add --all");
    return w->out->n ? ERR_OK
                     : err_set(w->e, ERR_NOT_FOUND, w->id,
                               "it was undone already, and nothing was changed since");
}

/* ---- whether it can be undone ---- */

/* The files as the undos of the newer rewinds will leave them. */
struct left_file {
    const char *path;
    bool absent;
    const char *sha256; /* NULL: not known */
};

struct back_check {
    const struct store_env *env;
    struct back_to *b;
    struct left_file *left;
    size_t left_n;
    bool conversation; /* a rewind of a conversation is among the newer ones */
};

static enum err_code back_to_check_file(struct back_check *k, const struct rewind_entry *x,
                                        struct err *e)
{
    const struct rewind_target *t = x->target;
    struct arena *a = &k->b->arena;
    struct left_file *left = NULL;
    bool continues = x->action != REWIND_REFUSED;

    for (size_t i = 0; i < k->left_n && !left; i++)
        if (strcmp(k->left[i].path, t->path) == 0)
            left = &k->left[i];

    /* The newer undos have to leave the file as the older rewind left it. */
    if (left && (left->absent || t->last_absent))
        continues = left->absent && t->last_absent;
    else if (left)
        continues = !left->sha256 || !t->last.sha256 || strcmp(left->sha256, t->last.sha256) == 0;
    if (!continues)
        return err_set(&k->b->why, ERR_STALE, t->path, "undo a rewind: %s",
                       left || !x->why ? "the file was edited between two rewinds" : x->why);
    if (!left) {
        struct left_file *list = arena_grow(a, k->left, k->left_n, sizeof *list);

        if (!list)
            return err_nomem(e);
        k->left = list;
        left = &k->left[k->left_n++];
    }
    *left = (struct left_file){ .path = arena_copy_text(a, t->path),
                                .absent = t->want == REWIND_ABSENT,
                                .sha256 = arena_copy_text(a, t->source.sha256) };
    return a->failed ? err_nomem(e) : ERR_OK;
}

static const struct rewind_options undo_options = { .allow_outside = true,
                                                    .allow_sensitive = true };

static enum err_code back_to_check_rewind(struct back_check *k, size_t at, struct err *e)
{
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    CLEANUP(rewind_preview_fini) struct rewind_preview p = { 0 };
    struct err *why = &k->b->why;

    TRY(rewind_undo_plan(k->env, k->b->entry[at].id, &plan, why));
    TRY(rewind_preview(&plan, &undo_options, &p, why));
    if (at == 0 && plan.conversation.change && change_is_stale(plan.conversation.change))
        return err_set(why, ERR_STALE, plan.session, "undo a rewind: its session has continued");
    for (size_t i = 0; i < p.n; i++)
        TRY(back_to_check_file(k, &p.entry[i], e));
    k->conversation = k->conversation || plan.conversation.change;
    return ERR_OK;
}

/* Some conflicts show only when the newer entries are undone. The apply then redoes those. */
static enum err_code check_entries(const struct store_env *env, struct change_log *log,
                                   struct back_to *b, struct err *e)
{
    struct back_check k = { .env = env, .b = b };
    enum err_code rc = ERR_OK;
    const char **ids = arena_zalloc(&b->arena, (b->n + 1) * sizeof *ids);

    NEED(ids);
    for (size_t i = 0; i < b->n && !rc;) {
        size_t n = 0, at = 0;

        /* Changes that follow each other are checked together. */
        for (; i + n < b->n && b->entry[i + n].kind == UNDO_TARGET_CHANGE; n++)
            ids[n] = b->entry[i + n].id;
        if (n > 0 && !k.conversation)
            rc = change_undo_all_check(log, ids, n, &at, &b->why);
        else if (n == 0)
            rc = back_to_check_rewind(&k, i, e);
        b->at = i + at;
        i += n ? n : 1;
    }
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (!rc)
        b->why = (struct err){ 0 };
    return ERR_OK;
}

void back_to_fini(struct back_to *b)
{
    arena_fini(&b->arena);
    *b = (struct back_to){ 0 };
}

enum err_code back_to_plan(const struct store_env *env, const struct shown *shown, const char *id,
                           struct back_to *out, struct err *e)
{
    CLEANUP(back_to_fini) struct back_to b = { 0 };
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct back_walk w = { .shown = shown, .id = id, .out = &b, .e = e };

    TRY(change_log_read(env, &log, e));
    TRY(collect_entries(env, log, &w));
    TRY(check_entries(env, log, &b, e));
    HAND_OVER(out, b);
    return ERR_OK;
}

/* ---- undoing it ---- */

/* Files that changed since the check are not skipped, because it is all or nothing. */
static enum err_code undo_rewind_whole(const struct store_env *env, const char *id, char made[40],
                                       struct err *e)
{
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    CLEANUP(rewind_preview_fini) struct rewind_preview p = { 0 };
    CLEANUP(rewind_result_fini) struct rewind_result result = { 0 };

    TRY(rewind_undo_plan(env, id, &plan, e));
    TRY(rewind_preview(&plan, &undo_options, &p, e));
    for (size_t i = 0; i < p.n; i++)
        if (p.entry[i].action == REWIND_REFUSED)
            return err_set(e, ERR_STALE, p.entry[i].target->path, "undo a rewind: %s",
                           p.entry[i].why);
    TRY(rewind_apply(env, &p, &result, e));
    memcpy(made, result.undo, sizeof result.undo);
    return result.conflicts ? err_set(e, ERR_STALE, id, "undo a rewind: files changed meanwhile")
                            : ERR_OK;
}

static enum err_code undo_one_change(const struct store_env *env, const char *id, char made[40],
                                     struct err *e)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(change_free_at) struct change *c = NULL;

    TRY(change_log_open(env, &log, e));
    TRY(change_undo(log, id, &c, e));
    memcpy(made, c->id, sizeof c->id);
    return ERR_OK;
}

struct back_made {
    char id[CHANGE_ID];
    bool rewind;
};

/* The last of what was made is undone first. */
static enum err_code take_back(const struct store_env *env, const struct back_made *made, size_t n,
                               struct err *e)
{
    char ignored[CHANGE_ID];
    enum err_code rc = ERR_OK;

    while (n > 0 && !rc) {
        const struct back_made *x = &made[--n];
        const char *id = x->id;

        if (id[0])
            rc = x->rewind ? undo_rewind_whole(env, id, ignored, e)
                           : undo_one_change(env, id, ignored, e);
    }
    return rc;
}

enum err_code back_to_apply(const struct store_env *env, struct back_to *b, const char ***made,
                            size_t *made_n, struct err *e)
{
    struct back_made *done = arena_zalloc(&b->arena, (b->n + 1) * sizeof *done);
    size_t n = 0;
    enum err_code rc = done ? ERR_OK : err_nomem(e);

    if (!rc && b->why.code) {
        if (e)
            *e = b->why;
        return b->why.code;
    }
    /* Each is a record of its own, since what a crash leaves of one can be completed by itself. */
    for (; n < b->n && !rc; n++) {
        done[n].rewind = b->entry[n].kind != UNDO_TARGET_CHANGE;
        rc = done[n].rewind ? undo_rewind_whole(env, b->entry[n].id, done[n].id, e)
                            : undo_one_change(env, b->entry[n].id, done[n].id, e);
    }
    if (rc)
        return take_back(env, done, n, NULL)
                   ? err_wrap(e, rc, "unfinished: some of it is undone, as the log shows")
                   : rc;
    *made = arena_zalloc(&b->arena, (n + 1) * sizeof **made);
    *made_n = 0;
    for (size_t i = n; i > 0 && *made; i--)
        if (done[i - 1].id[0])
            (*made)[(*made_n)++] = done[i - 1].id;
    return *made ? ERR_OK : err_nomem(e);
}
