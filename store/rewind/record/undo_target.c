#include "store/rewind/record/records.h"

#include <stdio.h>
#include <string.h>

#include "store/journal/record.h"
#include "store/rewind/plan/rewind.h"

enum { NEWEST = 64 }; /* the records that are read first */

struct target_search {
    const struct store_env *env;
    const struct shown *shown;
    const char *id; /* the one that is named; NULL for the newest */
    bool undos;     /* the newest of all; else the newest in effect that is not an undo */
    struct rewind_records rewinds;
    size_t next; /* the next of the records */
    struct undo_target found;
    struct undo_target_others *others;
    bool is_undo, done;
};

/* ---- descriptions for a person ---- */

static void copy_cut(char *out, size_t cap, const char *text)
{
    size_t n = text ? strnlen(text, cap - 1) : 0;

    while (text && text[n] && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--; /* no half character */
    memcpy(out, text ? text : "", n);
    out[n] = '\0';
}

struct undo_target undo_target_of_change(const struct change *c)
{
    struct undo_target n = { .kind = UNDO_TARGET_CHANGE,
                             .at_ms = c->at_ms,
                             .sessions = c->sessions_n,
                             .by_agent = change_is_agents(c),
                             .spans = origin_spans_directories(c) };

    copy_cut(n.id, sizeof n.id, c->id);
    copy_cut(n.command, sizeof n.command, c->kind);
    copy_cut(n.text, sizeof n.text, c->text);
    if (c->sessions_n) {
        const struct change_origin *o = &c->origin[0];
        const char *session = c->sessions[0];
        const char *colon = session ? strchr(session, ':') : NULL;

        /* "claude:5e55…": the id is what follows the system's name. */
        copy_cut(n.title, sizeof n.title, o->title ? o->title : colon ? colon + 1 : session);
        copy_cut(n.dir, sizeof n.dir, o->dir);
    }
    return n;
}

struct undo_target undo_target_of_rewind(const struct rewind_record *r)
{
    struct undo_target n = { .kind = UNDO_TARGET_REWIND, .at_ms = r->at_ms, .sessions = 1 };

    copy_cut(n.id, sizeof n.id, r->id);
    copy_cut(n.command, sizeof n.command, r->undoes ? "undo" : "rewind");
    const size_t files = r->restored + r->created + r->deleted;

    snprintf(n.text, sizeof n.text, "%zu file%s%s", files, files == 1 ? "" : "s",
             rewind_conversation_moves(r->how) ? ", conversation too" : "");
    copy_cut(n.title, sizeof n.title, r->title ? r->title : r->session);
    copy_cut(n.dir, sizeof n.dir, r->project);
    return n;
}

void undo_target_phrase(const struct undo_target *n, char *out, size_t cap)
{
    bool plain = strcmp(n->command, "fork") == 0; /* a copy's id means nothing to a person */
    int at = snprintf(out, cap, "%s of \"%s\"", n->command, n->title);

    if (at >= 0 && (size_t)at < cap && n->sessions > 1 && !plain)
        at += snprintf(out + at, cap - (size_t)at, " and %zu more%s", n->sessions - 1,
                       n->spans ? " (other directories too)" : "");
    if (at >= 0 && (size_t)at < cap && !plain)
        snprintf(out + at, cap - (size_t)at, ": %s", n->text);
}

/* ---- the search ---- */

enum undo_chance { UNDO_POSSIBLE, UNDO_ALL_EDITED, UNDO_CONTINUED };

/* Returns UNDO_POSSIBLE if any part of it can be undone now. Files that were edited since cannot be
 * undone, nor can a conversation that was continued. */
static enum undo_chance undo_chance_of(struct target_search *l, const char *id)
{
    const struct rewind_options options = { .allow_outside = true, .allow_sensitive = true };
    struct rewind_plan plan = { 0 };
    struct rewind_preview p = { 0 };
    bool can = false, continued = false;

    if (rewind_undo_plan(l->env, id, &plan, NULL) == ERR_OK &&
        rewind_preview(&plan, &options, &p, NULL) == ERR_OK) {
        continued = plan.conversation.change && change_is_stale(plan.conversation.change);
        can = !continued && (plan.conversation.change || (p.n > 0 && p.refused == 0));
        for (size_t i = 0; i < p.n && !can; i++)
            can = p.entry[i].action != REWIND_REFUSED && p.entry[i].action != REWIND_UNCHANGED;
    }
    rewind_preview_fini(&p);
    rewind_plan_fini(&plan);
    return can ? UNDO_POSSIBLE : continued ? UNDO_CONTINUED : UNDO_ALL_EDITED;
}

static void undo_target_keep_first(struct undo_target *first, const struct undo_target *n)
{
    if (first->kind == UNDO_TARGET_NONE)
        *first = *n;
}

static void note_skipped(struct target_search *l, const struct undo_target *n,
                         enum origin_place place)
{
    l->others->gone_newer += place == ORIGIN_GONE;
    undo_target_keep_first(place == ORIGIN_GONE ? &l->others->gone : &l->others->elsewhere, n);
}

static void found(struct target_search *l, const struct undo_target *n, bool is_undo)
{
    l->found = *n;
    l->is_undo = is_undo;
    l->done = true;
}

static void undo_target_check_rewind(struct target_search *l, const struct rewind_record *r)
{
    struct undo_target n = undo_target_of_rewind(r);

    if (l->id) {
        if (strcmp(l->id, r->id) == 0)
            found(l, &n, r->undoes != NULL);
        return;
    }
    if (!l->undos && (r->undone || r->undoes || r->empty))
        return;
    enum origin_place place = origin_of_rewind(l->shown, r);
    bool doubtful =
        !l->undos && (r->partly || (rewind_conversation_moves(r->how) && !r->conversation_undone) ||
                      (l->shown && l->shown->skip_edited));

    if (place != ORIGIN_SHOWN) {
        note_skipped(l, &n, place);
        return;
    }
    switch (doubtful ? undo_chance_of(l, r->id) : UNDO_POSSIBLE) {
    case UNDO_POSSIBLE: found(l, &n, r->undoes && !r->undone); break;
    case UNDO_ALL_EDITED: undo_target_keep_first(&l->others->edited, &n); break;
    case UNDO_CONTINUED: undo_target_keep_first(&l->others->stuck, &n); break;
    }
}

/* If both have the same time, the change comes first. */
static void check_rewinds_after(struct target_search *l, int64_t stamp)
{
    for (; !l->done && l->next < l->rewinds.n; l->next++) {
        const struct rewind_record *r = &l->rewinds.record[l->next];

        if (record_id_time(r->id) <= stamp)
            return;
        undo_target_check_rewind(l, r);
    }
}

static bool see_change(const struct change *c, bool undone, void *arg)
{
    struct target_search *l = arg;
    bool is_undo = strcmp(c->kind, "undo") == 0;

    check_rewinds_after(l, record_id_time(c->id));
    if (l->done)
        return false;
    struct undo_target n = undo_target_of_change(c);

    if (l->id ? strcmp(l->id, c->id) != 0 : !l->undos && (undone || is_undo))
        return true;
    enum origin_place place = l->id ? ORIGIN_SHOWN : origin_of_change(l->shown, c);

    if (place == ORIGIN_SHOWN && !l->id && !l->undos && (n.by_agent || change_undo_is_stale(c)))
        undo_target_keep_first(&l->others->stuck, &n);
    else if (place == ORIGIN_SHOWN)
        found(l, &n, is_undo && !undone);
    else
        note_skipped(l, &n, place);
    return !l->done;
}

/* A record that cannot be read, because it is damaged or was made by a newer reprise, may be the
 * one that the person means. */
static enum err_code check_unread(const struct target_search *l, const char *unread, struct err *e)
{
    return record_id_time(unread) > record_id_time(l->found.id)
               ? err_set(e, ERR_STALE, unread,
                         "undo: the newest record cannot be read (from a newer reprise?); name the "
                         "change to undo")
               : ERR_OK;
}

/* One of the newest is meant almost always, so the others are read only if needed. */
static enum err_code scan_newest(struct change_log *log, struct target_search *l, size_t most,
                                 struct err *e)
{
    enum err_code rc = rewind_records_read_newest(l->env, most, NULL, &l->rewinds, e);

    l->next = 0;
    l->done = l->is_undo = false;
    l->found = (struct undo_target){ .kind = UNDO_TARGET_NONE };
    *l->others = (struct undo_target_others){ .gone_newer = 0 };
    if (rc)
        return rc;
    rc = change_list(log, see_change, l, e);
    if (!rc)
        check_rewinds_after(l, -1);
    /* A rewind that was not read may be what is looked for. */
    const struct rewind_records *r = &l->rewinds;
    const bool again =
        !rc && r->older &&
        (!l->done || (!l->id && (!r->n || record_id_time(l->found.id) <=
                                              record_id_time(r->record[r->n - 1].id))));

    if (!rc && !again && !l->id)
        rc = check_unread(l, change_log_unread(log), e);
    if (!rc && !again && !l->id)
        rc = check_unread(l, l->rewinds.unread, e);
    rewind_records_fini(&l->rewinds);
    return again ? scan_newest(log, l, SIZE_MAX, e) : rc;
}

static enum err_code scan_both_logs(struct change_log *log, struct target_search *l, struct err *e)
{
    struct undo_target_others ignored;

    if (!l->others)
        l->others = &ignored;
    return scan_newest(log, l, NEWEST, e);
}

enum err_code undo_target_find(const struct store_env *env, struct change_log *log,
                               const struct shown *shown, struct undo_target *out,
                               struct undo_target_others *others, struct err *e)
{
    struct target_search l = { .env = env, .shown = shown, .others = others };

    TRY(scan_both_logs(log, &l, e));
    *out = l.found;
    return ERR_OK;
}

enum err_code undo_target_find_redo(const struct store_env *env, struct change_log *log,
                                    const struct shown *shown, struct undo_target *out,
                                    struct undo_target_others *others, struct err *e)
{
    struct target_search l = { .env = env, .shown = shown, .others = others, .undos = true };

    TRY(scan_both_logs(log, &l, e));
    *out = l.is_undo ? l.found : (struct undo_target){ .kind = UNDO_TARGET_NONE };
    return ERR_OK;
}

enum err_code undo_target_by_id(const struct store_env *env, struct change_log *log, const char *id,
                                struct undo_target *out, struct err *e)
{
    struct target_search l = { .env = env, .id = id };

    TRY(scan_both_logs(log, &l, e));
    *out = l.found;
    return ERR_OK;
}
