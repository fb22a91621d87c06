#include <stdio.h>
#include <string.h>

#include "store/rewind/plan/plan.h"
#include "store/rewind/record/records.h"

/* ---- what is undone ---- */

/* An entry of one of the logs. */
struct back_entry {
    struct undo_target target;
    const char *undoes;  /* NULL: it is no undo */
    const char *session; /* "claude:5e55…"; NULL: it has several */
    bool undone;
    bool cancelled; /* by an undo that is in effect */
};

/* An entry that has to be undone. */
struct kept_entry {
    size_t entry;
    bool held; /* its undo is kept as well, so it will be in effect when its turn comes */
};

/* Both logs, walked from the newest entry to the named one. */
struct back_walk {
    const struct shown *shown;
    const char *id;
    struct back_to *out;
    struct rewind_records rewinds;
    size_t next; /* the next of the records */
    struct back_entry *met;
    size_t met_n;
    struct kept_entry *kept; /* oldest first */
    size_t kept_n;
    bool found, found_elsewhere, done;
    enum err_code rc;
    struct err *e;
};

/* Ids of both logs sort by time. */
static void meet_entry(struct back_walk *w, const struct back_entry *x, bool elsewhere)
{
    struct arena *a = &w->out->arena;
    int order = strcmp(x->target.id, w->id);

    w->done = order <= 0;
    w->found = w->found || order == 0;
    if (order < 0)
        return;
    if (elsewhere) {
        w->found_elsewhere = w->found_elsewhere || (order == 0 && !x->undone);
        w->out->elsewhere += !x->undone;
        return;
    }
    struct back_entry *list = arena_grow(a, w->met, w->met_n, sizeof *list);

    if (!list) {
        w->rc = err_nomem(w->e);
        return;
    }
    w->met = list;
    list[w->met_n] = *x;
    list[w->met_n].undoes = arena_copy_text(a, x->undoes);
    list[w->met_n++].session = arena_copy_text(a, x->session);
    if (a->failed)
        w->rc = err_nomem(w->e);
}

static void meet_rewinds_after(struct back_walk *w, const char *id)
{
    for (; !w->done && !w->rc && w->next < w->rewinds.n; w->next++) {
        const struct rewind_record *r = &w->rewinds.record[w->next];
        char session[512];

        if (strcmp(r->id, id) <= 0)
            return;
        snprintf(session, sizeof session, "%s:%s", r->system, r->session);
        const struct back_entry x = { .target = undo_target_of_rewind(r),
                                      .undoes = r->undoes,
                                      .session = session,
                                      .undone = r->undone || r->empty };

        meet_entry(w, &x, origin_of_rewind(w->shown, r) != ORIGIN_SHOWN);
    }
}

static bool meet_change(const struct change *c, bool undone, void *arg)
{
    struct back_walk *w = arg;

    meet_rewinds_after(w, c->id);
    if (!w->done && !w->rc) {
        const struct back_entry x = { .target = undo_target_of_change(c),
                                      .undoes = c->undoes,
                                      .session = c->sessions_n == 1 ? c->sessions[0] : NULL,
                                      .undone = undone };

        meet_entry(w, &x, !origin_shows_change(w->shown, c));
    }
    return !w->done && !w->rc;
}

static bool keep_entry(struct back_walk *w, size_t entry)
{
    struct kept_entry *list = arena_grow(&w->out->arena, w->kept, w->kept_n, sizeof *list);

    if (!list)
        return false;
    w->kept = list;
    list[w->kept_n++] = (struct kept_entry){ .entry = entry };
    return true;
}

/* Returns what the undo undid, or NULL if it is not kept. *between: something that is kept between the two may concern
 * the same session. */
static struct kept_entry *find_kept(struct back_walk *w, const struct back_entry *undo,
                                    bool *between)
{
    for (size_t i = w->kept_n; i > 0; i--) {
        const struct back_entry *x = &w->met[w->kept[i - 1].entry];
        int order = strcmp(x->target.id, undo->undoes);

        if (order <= 0)
            return order == 0 ? &w->kept[i - 1] : NULL;
        *between =
            *between || !x->session || !undo->session || strcmp(x->session, undo->session) == 0;
    }
    return NULL;
}

/* Decides what becomes of an undo whose own entry has been met. */
static bool meet_undo(struct back_walk *w, size_t at)
{
    const struct back_entry *undo = &w->met[at];
    bool between = false;
    struct kept_entry *k = find_kept(w, undo, &between);

    /* An undo that cancelled out an entry may have undone a part of it, and this one undid the rest. */
    if (!k) {
        size_t i = at + 1;

        while (i < w->met_n && strcmp(w->met[i].target.id, undo->undoes) != 0)
            i++;
        return i == w->met_n || w->met[i].cancelled || keep_entry(w, at);
    }

    /* If it undid a part, undoing the entry does the rest. */
    if (!w->met[k->entry].undone && !undo->undone)
        return true;

    /* If another change came between the two, it was made on top of the entry, and can be undone exactly only if the
     * entry is in effect. */
    if (between) {
        k->held = true;
        return keep_entry(w, at);
    }
    w->met[k->entry].cancelled = !undo->undone;
    memmove(k, k + 1, (size_t)(w->kept + w->kept_n - (k + 1)) * sizeof *k);
    w->kept_n--;
    return true;
}

/* Finds what has to be undone, so that undoing it from the newest to the oldest leads back through the states in which
 * each was made. An undo cancels out what it undid. */
static enum err_code choose_entries(struct back_walk *w)
{
    struct back_to *b = w->out;

    for (size_t i = w->met_n; i > 0; i--) {
        const struct back_entry *x = &w->met[i - 1];
        bool own = !x->undoes || strcmp(x->undoes, w->id) < 0;

        if (!(own ? keep_entry(w, i - 1) : meet_undo(w, i - 1)))
            return err_nomem(w->e);
    }
    b->entry = arena_zalloc(&b->arena, (w->kept_n + 1) * sizeof *b->entry);
    b->held = arena_zalloc(&b->arena, w->kept_n + 1);
    if (!b->entry || !b->held)
        return err_nomem(w->e);
    for (size_t i = w->kept_n; i > 0; i--) {
        const struct back_entry *x = &w->met[w->kept[i - 1].entry];

        b->entry[b->n] = x->target;
        b->held[b->n] = w->kept[i - 1].held;
        b->n += !x->undone || b->held[b->n];
    }
    return ERR_OK;
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
    TRY(choose_entries(w));
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
    struct change *undone; /* the steps in the stores of all undos so far */
    struct left_file *left;
    size_t left_n;
    bool left_unknown;
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

static enum err_code back_to_check_rewind(struct back_check *k, const char *id, bool held,
                                          struct err *e)
{
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    CLEANUP(rewind_preview_fini) struct rewind_preview p = { 0 };
    struct err *why = &k->b->why;

    /* This one is undone now. It is compared when its turn comes, and so are the files of all older ones. */
    k->left_unknown = k->left_unknown || held;
    if (held)
        return ERR_OK;
    TRY(rewind_undo_plan(k->env, id, &plan, why));
    TRY(rewind_preview(&plan, &undo_options, &p, why));
    for (size_t i = 0; i < p.n && !k->left_unknown; i++)
        TRY(back_to_check_file(k, &p.entry[i], e));
    if (plan.conversation.change &&
        change_undo_check_steps(plan.conversation.change, k->undone, why))
        return err_set(why, ERR_STALE, plan.session, "undo a rewind: its session has continued");
    return ERR_OK;
}

/* Some conflicts show only when the newer entries are undone. The apply then redoes those. */
static enum err_code check_entries(const struct store_env *env, struct change_log *log,
                                   struct back_to *b, struct err *e)
{
    CLEANUP(change_free_at) struct change *undone = change_new("undo");
    struct back_check k = { .env = env, .b = b, .undone = undone };
    enum err_code rc = ERR_OK;

    NEED(undone);
    for (b->at = 0; b->at < b->n; b->at++) {
        const struct undo_target *x = &b->entry[b->at];

        rc = x->kind == UNDO_TARGET_CHANGE ? change_undo_check(log, x->id, undone, &b->why)
                                           : back_to_check_rewind(&k, x->id, b->held[b->at], e);
        if (rc)
            return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    }
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
static enum err_code undo_rewind_whole(const struct store_env *env, const char *id, bool held,
                                       char made[40], struct err *e)
{
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    CLEANUP(rewind_preview_fini) struct rewind_preview p = { 0 };
    CLEANUP(rewind_result_fini) struct rewind_result result = { 0 };

    /* The undo of one that is held may have found nothing to change, and then cannot be undone. */
    TRY(held ? rewind_undo_plan_again(env, id, &plan, e) : rewind_undo_plan(env, id, &plan, e));
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
            rc = x->rewind ? undo_rewind_whole(env, id, false, ignored, e)
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
    for (; n < b->n && !rc; n++) {
        done[n].rewind = b->entry[n].kind != UNDO_TARGET_CHANGE;
        rc = done[n].rewind ? undo_rewind_whole(env, b->entry[n].id, b->held[n], done[n].id, e)
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
