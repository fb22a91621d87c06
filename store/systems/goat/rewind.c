#include <ctype.h>
#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/api/checkpoint.h"
#include "store/fs/path.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/manifest.h"
#include "store/systems/goat/metadata.h"

/* The points of a session, and the contents of each file at one of them. A rewind restores the
 * files of that checkpoint and no others, as the host's own does. */

struct planner {
    const struct session_ref *ref;
    struct arena arena;
    struct goat_points points;
    struct goat_turns turns;
    struct goat_writes writes; /* only for a plan */
    const char *cwd;           /* NULL: not recorded */
};

static void goat_planner_close(struct planner *p)
{
    goat_writes_fini(&p->writes);
    goat_points_fini(&p->points);
    goat_turns_fini(&p->turns);
    arena_fini(&p->arena);
}

/* The caller closes the planner, also after a failure. */
static enum err_code goat_planner_open(struct planner *p, const struct session_ref *ref,
                                       struct err *e)
{
    struct goat_metadata m;

    *p = (struct planner){ .ref = ref };
    const char *path = goat_path(ref, GOAT_METADATA, &p->arena);

    NEED(path && !goat_metadata_read(AT_FDCWD, path, &p->arena, &m));
    if (!m.why && m.text[GOAT_CWD].n && m.text[GOAT_CWD].p[0] == '/' &&
        !memchr(m.text[GOAT_CWD].p, '\0', m.text[GOAT_CWD].n))
        NEED(p->cwd = arena_copy(&p->arena, m.text[GOAT_CWD]).p);
    TRY(goat_points_read(ref, &p->points, e));
    return goat_turns_read(ref, &p->turns, e);
}

/* ---- which point ---- */

static bool goat_is_end(const struct goat_point *point)
{
    return slice_eq(point->id, SLICE(GOAT_SESSION_END));
}

/* The prompt of a checkpoint: some hosts name the checkpoint after the message, others do not. */
static const struct goat_turn *turn_of_point(const struct planner *p,
                                             const struct goat_point *point)
{
    const struct goat_turn *turn = goat_turns_find(&p->turns, point->id);

    return turn || goat_is_end(point) ? turn : goat_turns_at(&p->turns, point->time_ms);
}

/* The first checkpoint of a message. */
static const struct goat_point *point_of_message(const struct planner *p, struct slice id,
                                                 size_t *hits)
{
    const struct goat_point *found = NULL;
    const struct goat_turn *of = NULL;

    for (size_t i = 0; i < p->points.n; i++) {
        const struct goat_turn *turn = turn_of_point(p, &p->points.point[i]);
        bool same = turn && slice_eq(turn->id, id);
        bool begins = turn && jsonl_id_has_prefix(turn->id, id);

        if ((!same && !begins) || turn == of)
            continue;
        ++*hits;
        of = turn;
        if (!found)
            found = &p->points.point[i];
    }
    return found;
}

static enum err_code goat_find_point(const struct planner *p, struct slice id,
                                     const struct goat_point **out, struct err *e)
{
    struct point_search s = { .id = id };

    for (size_t i = 0; i < p->points.n; i++)
        point_search_offer(&s, p->points.point[i].id, i);
    *out = s.hits ? &p->points.point[s.at] : point_of_message(p, id, &s.hits);
    return s.hits == 1
               ? ERR_OK
               : point_search_error(&s, p->ref->path.p, "checkpoints", "checkpoint not found:", e);
}

/* ---- targets ---- */

/* The absolute path without empty parts and ".". ".." is kept, and the engine refuses it. */
static const char *goat_clean_path(struct planner *p, struct slice path)
{
    bool whole = path.n && path.p[0] == '/';
    char *full =
             arena_format(&p->arena, "%s/%.*s", whole || !p->cwd ? "" : p->cwd, SLICE_ARG(path)),
         *to = full;

    for (const char *part = full; part && *part;) {
        const char *end = strchrnul(part + 1, '/');
        size_t n = (size_t)(end - part); /* including the slash before it */

        if (n > 1 && !(n == 2 && part[1] == '.')) {
            memmove(to, part, n);
            to += n;
        }
        part = end;
    }
    if (full)
        *to = '\0';
    return full;
}

static void refuse_target(struct rewind_target *t, const char *why)
{
    t->want = REWIND_UNKNOWN;
    t->why = why;
    t->source = (struct rewind_source){ 0 };
}

/* The contents that the session itself left: those that its tools wrote, or those in the checkpoint
 * at its end. A checkpoint before a turn only contains what that turn found. */
static void put_last(struct planner *p, struct rewind_target *t)
{
    const struct goat_left *left = goat_writes_find(&p->writes, t->path);

    if (!left || !(left->known || left->saved))
        return;
    t->has_last = true;
    if (left->touched && left->known) {
        t->last.bytes = left->bytes;
        return;
    }
    t->last_absent = left->saved->was == GOAT_WAS_ABSENT;
    t->last.sha256 = t->last_absent ? NULL : left->saved->hash;
    t->last_is_older = left->touched || !goat_is_end(left->point);
}

static enum err_code target_of(struct planner *p, const struct goat_point *point,
                               const struct goat_saved *s, struct rewind_target *t, struct err *e)
{
    bool there;

    *t = (struct rewind_target){ .path = goat_clean_path(p, s->path) };
    if (!t->path)
        return err_nomem(e);
    if (memchr(s->path.p, '\0', s->path.n) || s->path.n == 0)
        refuse_target(t, "the checkpoint's name for it is not a path");
    else if (s->path.p[0] != '/' && !p->cwd)
        refuse_target(t, "the session does not record its directory");
    else if (s->was == GOAT_WAS_UNKNOWN)
        refuse_target(t, s->why);
    else if (s->was == GOAT_WAS_ABSENT)
        t->want = REWIND_ABSENT;
    else {
        t->want = REWIND_BYTES;
        t->source.sha256 = s->hash;
        t->source.file = goat_blob(&p->points, point, s->hash, &p->arena, &there);
        if (!t->source.file)
            return err_nomem(e);
    }
    if (t->want != REWIND_UNKNOWN)
        put_last(p, t);
    return ERR_OK;
}

static bool wants_same(const struct rewind_target *a, const struct rewind_target *b)
{
    return a->want == b->want && a->want != REWIND_UNKNOWN &&
           (a->want == REWIND_ABSENT || strcmp(a->source.sha256, b->source.sha256) == 0);
}

/* Returns true if a project's folder is named after the directory. Hosts flatten "/", or all
 * characters except letters and digits, and keep the first '-' or not (goat.md B5). */
static bool is_named_after(struct slice folder, struct slice dir)
{
    for (; folder.n && *folder.p == '-'; folder.n--)
        folder.p++;
    for (; dir.n && !isalnum((unsigned char)*dir.p) && *dir.p > 0; dir.n--)
        dir.p++;
    while (folder.n && dir.n) {
        uint32_t a = utf8_next(&folder, false), b = utf8_next(&dir, false);
        bool plain = b < 0x80 && isalnum((int)b);

        if (a != b && (a != '-' || plain))
            return false;
        if (a == '-' && b > 0xFFFF && folder.n && *folder.p == '-') /* two UTF-16 units */
            utf8_next(&folder, false);
    }
    return folder.n == 0 && dir.n == 0;
}

/* The path, or the nearest directory above it that the folder is named after; or NULL. */
static const char *named_dir(struct planner *p, const char *path)
{
    struct slice dir = slice_of(path ? path : "");

    while (dir.n && !is_named_after(p->ref->folder, dir)) {
        const char *slash = memrchr(dir.p, '/', dir.n);

        dir.n = slash ? (size_t)(slash - dir.p) : 0;
    }
    return dir.n ? arena_copy(&p->arena, dir).p : NULL;
}

/* The directory in the session's metadata is trusted only as far as the folder's name confirms it.
 * A folder that is not named after a directory confirms nothing; then the directory is used unless
 * it is above the one that the program was started in. */
static const char *root_of(struct planner *p)
{
    const struct store_env *env = p->ref->store->env;
    struct slice folder = p->ref->folder;
    const char *said = p->cwd ? path_normalize("", p->cwd, &p->arena) : NULL;
    const char *root = folder.n ? named_dir(p, env ? env->cwd : NULL) : NULL;

    if (!root && folder.n)
        root = named_dir(p, said);
    if (root || (folder.n && *folder.p == '-') || !said)
        return root;
    return rewind_root_is_above(env, said) ? NULL : said;
}

static enum err_code goat_fill_plan(struct planner *p, const struct goat_point *point,
                                    struct rewind_plan *plan, struct err *e)
{
    struct arena *a = &plan->arena;
    CLEANUP(slice_set_fini) struct slice_set seen = { 0 };
    uint32_t number;

    plan->system = goat_ops.name;
    NEED(plan->session = arena_copy(a, p->ref->id).p);
    NEED(plan->point = arena_copy(a, point->id).p);
    plan->point_ms = point->time_ms;
    TRY(rewind_plan_root(p->ref->store->env, plan, root_of(p), e));
    for (size_t i = 0; i < point->n; i++) {
        struct rewind_target t;

        /* If a path occurs twice and both entries agree, one is used; otherwise neither is. */
        TRY(target_of(p, point, &point->saved[i], &t, e));
        NEED(!slice_set_add(&seen, slice_of(t.path), &number));
        if (number == plan->n)
            TRY(rewind_plan_add(plan, &t, e));
        else if (!wants_same(&plan->target[number], &t))
            refuse_target(&plan->target[number], "the checkpoint contradicts itself about it");
    }
    return goat_is_end(point)
               ? rewind_plan_note(
                     plan, "these are the files as of the session's end, not before a turn", e)
               : ERR_OK;
}

enum err_code goat_plan(const struct store *st, const struct session_ref *ref, struct slice id,
                        struct rewind_plan *out, struct err *e)
{
    CLEANUP(goat_planner_close) struct planner p = { .ref = NULL };
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    const struct goat_point *point;

    (void)st;
    TRY(goat_planner_open(&p, ref, e));
    TRY(goat_find_point(&p, id, &point, e));
    if (point->why)
        return err_set(e, ERR_NOT_FOUND, point->dir, "rewind: %s", point->why);
    TRY(goat_writes_read(ref, &p.points, p.cwd, &p.writes, e));
    TRY(goat_fill_plan(&p, point, &plan, e));
    HAND_OVER(out, plan);
    return ERR_OK;
}

/* ---- the conversation's half ---- */

enum err_code goat_prompt_of(const struct session_ref *ref, struct slice id, struct arena *a,
                             struct slice *prompt, int64_t *time_ms, struct err *e)
{
    CLEANUP(goat_planner_close) struct planner p = { .ref = NULL };
    const struct goat_point *point;

    TRY(goat_planner_open(&p, ref, e));
    const struct goat_turn *turn = goat_turns_find(&p.turns, id);

    if (!turn && goat_find_point(&p, id, &point, NULL) == ERR_OK)
        turn = turn_of_point(&p, point);
    if (!turn)
        turn = goat_turns_begins(&p.turns, id);
    if (!turn)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "rewind: no prompt belongs to %.*s",
                       (int)(id.n > 64 ? 64 : id.n), id.p);
    NEED((*prompt = arena_copy(a, turn->id)).p);
    *time_ms = turn->time_ms;
    return ERR_OK;
}

/* ---- all points ---- */

static const char *goat_why_not(struct planner *p, const struct goat_point *point)
{
    if (point->why)
        return point->why;
    for (size_t i = 0; i < point->n; i++) {
        bool there = true;

        if (point->saved[i].was == GOAT_WAS_THERE)
            goat_blob(&p->points, point, point->saved[i].hash, &p->arena, &there);
        if (!there)
            return "saved copies of this point are gone";
    }
    return NULL;
}

enum err_code goat_checkpoints(const struct store *st, const struct session_ref *ref,
                               struct checkpoint_list *out, struct err *e)
{
    CLEANUP(goat_planner_close) struct planner p = { .ref = NULL };
    CLEANUP(checkpoint_list_fini) struct checkpoint_list list = { 0 };
    struct arena *a = &list.arena;

    (void)st;
    TRY(goat_planner_open(&p, ref, e));
    NEED(list.checkpoint = arena_zalloc(a, sizeof *list.checkpoint * (p.points.n + 1)));
    for (size_t i = 0; i < p.points.n; i++) {
        const struct goat_point *point = &p.points.point[i];
        const struct goat_turn *turn = turn_of_point(&p, point);
        struct checkpoint *c = &list.checkpoint[list.n++];

        *c = (struct checkpoint){ .id = arena_copy(a, point->id),
                                  .time_ms = point->time_ms,
                                  .kind =
                                      goat_is_end(point) ? CHECKPOINT_SESSION_END : CHECKPOINT_TURN,
                                  .files = point->n,
                                  .why = goat_why_not(&p, point) };
        NEED(c->id.p);
        if (turn) {
            NEED((c->message = arena_copy(a, turn->id)).p);
            NEED((c->prompt = arena_copy(a, turn->prompt)).p);
        }
    }
    HAND_OVER(out, list);
    return ERR_OK;
}

/* The lines that each turn changed, as far as the checkpoints show: the difference between each
 * file of a checkpoint and the same file in the next checkpoint that has it. A turn with a file
 * that no later checkpoint has gets no counts, because the contents after it are unknown. */

struct counting {
    const struct goat_points *points;
    struct arena scratch;
    struct source_content before, after;
};

static const struct goat_saved *saved_in(const struct goat_point *point, struct slice path)
{
    for (size_t i = 0; i < point->n; i++)
        if (slice_eq(point->saved[i].path, path))
            return &point->saved[i];
    return NULL;
}

/* Returns false if the contents are unknown. */
static bool read_saved(struct counting *k, size_t point, const struct goat_saved *s,
                       struct source_content *out)
{
    struct rewind_source source = { .sha256 = s->hash };
    bool there = false;

    out->bytes.n = 0;
    if (s->was != GOAT_WAS_THERE)
        return s->was == GOAT_WAS_ABSENT;
    source.file = goat_blob(k->points, &k->points->point[point], s->hash, &k->scratch, &there);
    return source.file && there && source_read(&source, NULL, out, NULL) == ERR_OK && out->held;
}

static bool count_file(struct counting *k, size_t point, const struct goat_saved *was,
                       struct checkpoint *c)
{
    size_t at;
    unsigned added, removed;
    bool binary;

    /* The file in the next checkpoint that has it, which is number *at. */
    const struct goat_points *points = k->points;
    size_t from = point + 1;
    struct slice path = was->path;
    const struct goat_saved *next = NULL;

    for (at = from; at < points->n && !(next = saved_in(&points->point[at], path)); ++at)
        ;

    if (!next || !read_saved(k, point, was, &k->before) || !read_saved(k, at, next, &k->after) ||
        linediff_count(buf_slice(&k->before.bytes), buf_slice(&k->after.bytes), &added, &removed,
                       &binary, NULL))
        return false;
    c->insertions += binary ? 0 : added;
    c->deletions += binary ? 0 : removed;
    c->removed += was->was == GOAT_WAS_THERE && next->was == GOAT_WAS_ABSENT;
    return true;
}

enum err_code goat_count_lines(const struct store *st, const struct session_ref *ref,
                               const atomic_bool *cancel, struct checkpoint_list *list,
                               struct err *e)
{
    struct goat_points points;
    struct counting k = { .points = &points };
    enum err_code rc = goat_points_read(ref, &points, e);

    (void)st;
    if (rc)
        return rc;
    for (size_t i = 0; i < points.n && i < list->n && !rc; i++) {
        struct checkpoint *c = &list->checkpoint[i];

        if (cancel && atomic_load(cancel))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "count lines");
        else if (!c->why && slice_eq(c->id, points.point[i].id)) {
            const struct goat_point *point = &k.points->point[i];

            /* A turn has counts only if all of its files can be compared. */
            c->insertions = c->deletions = c->removed = 0;
            c->counted = c->kind == CHECKPOINT_TURN && point->n > 0;
            for (size_t f = 0; f < point->n && c->counted; f++)
                c->counted = count_file(&k, i, &point->saved[f], c);
            arena_reset(&k.scratch);
        }
    }
    source_content_fini(&k.before);
    source_content_fini(&k.after);
    arena_fini(&k.scratch);
    goat_points_fini(&points);
    return rc;
}
