#include <stdlib.h>
#include <string.h>

#include "store/rewind/record/record.h"
#include "store/rewind/record/records.h"

/* ---- what was undone ---- */

/* The part of a rewind that one undo restored, if that undo was not undone since. */
struct undo_effect {
    const char *undoes;
    const char **path; /* sorted */
    size_t n;
    bool all, conversation;
};

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_path(const char *const *path, size_t n, const char *wanted)
{
    return n > 0 && bsearch(&wanted, path, n, sizeof *path, compare_text) != NULL;
}

bool rewind_undone_can_undo(const struct rewind_record *r, const char *path)
{
    return !r->partly || has_path(r->undoable, r->undoable_n, path);
}

static bool is_taken(const struct undone *u, const char *id, const char *path)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->effect[i].undoes, id) == 0 &&
            (u->effect[i].all || has_path(u->effect[i].path, u->effect[i].n, path)))
            return true;
    return false;
}

/* Texts of a tx do not outlive it. */
static bool add_taken_path(struct undone *u, const char **list, size_t *n, const char *path)
{
    list[*n] = arena_copy(u->arena, slice_of(path)).p;
    return list[(*n)++] != NULL;
}

/* For a record that is an undo and still in effect, at least in part. */
static bool note_undo(struct undone *u, const struct rewind_tx *tx, const struct rewind_record *r,
                      bool has_undos)
{
    struct undo_effect *list = arena_grow(u->arena, u->effect, u->n, sizeof *list), t = { 0 };
    bool ok = list != NULL;

    t.undoes = arena_copy(u->arena, slice_of(tx->undoes)).p;
    t.path = arena_zalloc(u->arena, sizeof *t.path * (r->undoable_n + tx->settled_n + 1));
    t.all = !tx->settled && !has_undos;
    t.conversation = tx->conversation.how != CONVERSATION_NONE && !r->conversation_undone;
    ok = ok && t.undoes && t.path;
    for (size_t i = 0; i < r->undoable_n && ok; i++)
        t.path[t.n++] = r->undoable[i];
    for (size_t i = 0; i < tx->settled_n && ok; i++)
        ok = add_taken_path(u, t.path, &t.n, tx->settled[i]);
    if (!ok)
        return false;
    qsort(t.path, t.n, sizeof *t.path, compare_text);
    u->effect = list;
    u->effect[u->n++] = t;
    return true;
}

bool rewind_undone_mark(struct undone *u, const struct rewind_tx *tx, struct rewind_record *r)
{
    const char *id = tx->id;
    bool found = false;

    r->conversation_undone = false;
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->effect[i].undoes, id) == 0) {
            found = true;
            r->conversation_undone = r->conversation_undone || u->effect[i].conversation;
        }
    bool has_undos = found, ok = true;

    /* A record that neither was undone nor undoes another needs no list of what is left. */
    if (!has_undos && !tx->undoes)
        return true;
    r->undoable = arena_zalloc(u->arena, sizeof *r->undoable * (tx->n + 1));
    if (!r->undoable)
        return false;
    for (size_t i = 0; i < tx->n && ok; i++)
        if (tx->entry[i].outcome == REWIND_DONE && !is_taken(u, tx->id, tx->entry[i].path))
            ok = add_taken_path(u, r->undoable, &r->undoable_n, tx->entry[i].path);
    if (!ok)
        return false;
    qsort(r->undoable, r->undoable_n, sizeof *r->undoable, compare_text);
    r->undone = has_undos && r->undoable_n == 0 &&
                (tx->conversation.how == CONVERSATION_NONE || r->conversation_undone);
    r->partly = has_undos && !r->undone;
    return !tx->undoes || r->undone || note_undo(u, tx, r, has_undos);
}

/* ---- the plan of an undo ---- */

static enum err_code record_undo_add_target(struct rewind_plan *plan, const struct rewind_tx *tx,
                                            size_t i, struct err *e)
{
    const struct rewind_tx_entry *x = &tx->entry[i];
    char wanted[SHA256_BYTES * 2 + 1], seen[SHA256_BYTES * 2 + 1], kept[TX_PATH_MAX];
    struct tx_live live;

    if (x->outcome != REWIND_DONE)
        return ERR_OK;
    hasher_hex(x->wanted, wanted);
    hasher_hex(x->seen.sha256, seen);
    struct rewind_target t = { .path = x->path,
                               .exact = rewind_tx_is_exact(tx),
                               .want = x->seen.exists ? REWIND_BYTES : REWIND_ABSENT,
                               .prune = x->action == REWIND_CREATE ? x->dirs : 0,
                               .has_mode = true,
                               .mode = x->seen.mode & 07777,
                               .has_mtime = true,
                               .mtime_ns = x->seen.mtime_ns,
                               .has_last = true,
                               .last_absent = x->action == REWIND_DELETE,
                               .last = { .sha256 = wanted } };

    if (rewind_tx_has_was(x) && rewind_tx_has_attrs(tx))
        t.like = &x->was;
    if (t.want == REWIND_BYTES) {
        t.source = rewind_tx_backup_source(tx, i, kept);
        t.source.sha256 = seen;
        if (rewind_tx_find_live(tx, i, &live)) {
            /* The file itself, as it is now. */
            t.source = (struct rewind_source){ .file = live.path, .grows = true };
            t.adopts = live.name;
            t.mode = live.st.st_mode & 07777;
            t.mtime_ns = rewind_tx_file_id(&live.st).mtime_ns;
        }
    }
    enum err_code rc = rewind_plan_add(plan, &t, e);

    if (rc || !t.adopts)
        return rc;
    /* Nothing is reported if the file is unchanged, because a program then merely had it open. */
    int64_t more = live.st.st_size - x->seen.size;

    if (more == 0 && rewind_tx_file_id(&live.st).mtime_ns == x->seen.mtime_ns)
        return ERR_OK;
    const char *how = "the old file was written to after the rewind, and is restored as it is now";
    const char *text =
        more > 0 ? arena_format(&plan->arena,
                                "%lld bytes were written to the old file after the rewind, and "
                                "are restored with it: %s",
                                (long long)more, x->path)
                 : arena_format(&plan->arena, "%s: %s", how, x->path);

    return text ? rewind_plan_note(plan, text, e) : err_nomem(e);
}

/* r NULL: all of it, whatever was undone already. */
static enum err_code plan_from(struct rewind_tx *tx, const struct rewind_record *r,
                               struct rewind_plan *out, struct err *e)
{
    struct rewind_plan plan = { .point_ms = tx->at_ms };
    enum err_code rc = ERR_OK;

    plan.system = arena_copy_text(&plan.arena, tx->system);
    plan.session = arena_copy_text(&plan.arena, tx->session);
    plan.point = arena_copy_text(&plan.arena, tx->id);
    plan.undoes = arena_copy_text(&plan.arena, tx->id);
    plan.root = arena_copy_text(&plan.arena, tx->project);
    plan.store = arena_copy_text(&plan.arena, tx->store);
    plan.title = arena_copy_text(&plan.arena, tx->title);
    if (tx->root_id) {
        struct root_id *id = arena_alloc(&plan.arena, sizeof *id);

        if (id)
            *id = *tx->root_id;
        plan.root_id = id;
    }
    beneath_dirs_add_all(&plan.dirs, &plan.arena, &tx->dirs);
    if (plan.arena.failed)
        rc = err_nomem(e);
    for (size_t i = 0; i < tx->n && !rc; i++)
        if (!r || rewind_undone_can_undo(r, tx->entry[i].path))
            rc = record_undo_add_target(&plan, tx, i, e);

    /* The conversation may have been undone already, before some of the files. */
    if (!rc && !(r && r->conversation_undone))
        rc = rewind_tx_conversation_inverse(tx, &plan.conversation, e);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}

/* Finds the named record, or the newest that is still in effect: undos are skipped, and rewinds
 * that were undone. */
static enum err_code choose_undo_record(const struct rewind_records *list, const char *id,
                                        bool again, const struct rewind_record **out, struct err *e)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct rewind_record *r = &list->record[i];

        if (id ? strcmp(r->id, id) != 0 : r->undone || r->undoes || r->interrupted || r->empty)
            continue;
        if (r->interrupted)
            return err_set(e, ERR_LOCKED, id,
                           "undo a rewind: it is not finished; for the reason see reprise rewinds");
        if (r->undone && !again)
            return err_set(e, ERR_STALE, id, "undo: it was undone already");
        *out = r;
        return ERR_OK;
    }
    if (id && id[0] && strcmp(id, list->unread) == 0)
        return err_set(e, ERR_FORMAT, id,
                       "undo a rewind: its record is damaged, or was made by a newer reprise");
    return id ? err_set(e, ERR_NOT_FOUND, "", "no change has the id \"%.64s\"; see reprise log", id)
              : err_set(e, ERR_NOT_FOUND, "", "nothing left to undo");
}

static enum err_code undo_plan(const struct store_env *env, const char *id, bool again,
                               struct rewind_plan *out, struct err *e)
{
    struct rewind_records list;
    char dir[PATH_MAX];
    const struct rewind_record *chosen;
    struct rewind_tx tx;

    TRY(rewind_records_read_newest(env, SIZE_MAX, id && id[0] ? id : NULL, &list, e));
    enum err_code rc = choose_undo_record(&list, id, again, &chosen, e);

    if (!rc)
        rc = env_state_path(env, "rewinds", dir, e);
    if (!rc)
        rc = rewind_tx_read_in(dir, chosen->id, &tx, e);
    if (!rc) {
        rc = plan_from(&tx, chosen->undone ? NULL : chosen, out, e);
        rewind_tx_fini(&tx);
    }
    rewind_records_fini(&list);
    if (!rc && (rc = rewind_plan_hold(env, out, e)))
        rewind_plan_fini(out);
    return rc;
}

enum err_code rewind_undo_plan(const struct store_env *env, const char *id, struct rewind_plan *out,
                               struct err *e)
{
    return undo_plan(env, id, false, out, e);
}

enum err_code rewind_undo_plan_again(const struct store_env *env, const char *id,
                                     struct rewind_plan *out, struct err *e)
{
    return undo_plan(env, id, true, out, e);
}
