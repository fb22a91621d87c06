#include <stdio.h>
#include <time.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/jsonout.h"
#include "store/api/checkpoint.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/point.h"

enum { PROMPT_BYTES = 60 };

/* The author's time in the author's time zone: RFC 3339, without fractions. */
static void put_date(struct jsonout *j, const git_signature *by)
{
    char text[64];
    int minutes = by->when.offset, away = minutes < 0 ? -minutes : minutes;
    time_t at = (time_t)by->when.time + minutes * 60;
    struct tm tm = { 0 };
    size_t n = gmtime_r(&at, &tm) ? strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm) : 0;

    if (minutes == 0)
        n += (size_t)snprintf(text + n, sizeof text - n, "Z");
    else
        n += (size_t)snprintf(text + n, sizeof text - n, "%c%02d:%02d", minutes < 0 ? '-' : '+',
                              away / 60 % 100, away % 60);
    jsonout_member(j, "date", (struct slice){ text, n });
}

/* The first prompt, shortened as Entire does. */
static void put_prompt(struct jsonout *j, const struct view *v, const struct point *p)
{
    struct buf text = { 0 };
    char cut[PROMPT_BYTES + 4];

    if (point_prompts_read(v->repo, p, &text)) {
        struct slice first = utf8_js_trim(point_prompts_first(buf_slice(&text)));

        if (first.n > PROMPT_BYTES) {
            size_t n = PROMPT_BYTES - 3;

            while (n && ((unsigned char)first.p[n] & 0xc0) == 0x80)
                n--; /* not within a character */
            first.n = (size_t)snprintf(cut, sizeof cut, "%.*s...", (int)n, first.p);
            first.p = cut;
        }
        if (first.n)
            jsonout_member(j, "session_prompt", first);
    }
    buf_fini(&text);
}

/* The folder of the metadata: in the tree of a shadow commit, or for an auto-commit on the metadata branch. */
static void put_folder(struct jsonout *j, const struct point *p)
{
    char path[700] = "";

    if (p->source == POINT_SHADOW)
        snprintf(path, sizeof path, "%s%s%s", p->metadata.p, p->task.n ? "/tasks/" : "", p->task.p);
    else if (slice_eq(p->strategy, SLICE("auto-commit")) && p->id.n == ENTIRE_HEX_ID)
        snprintf(path, sizeof path, "%.2s/%s%s%s", p->id.p, p->id.p + 2, p->task.n ? "/tasks/" : "",
                 p->task.p);
    jsonout_key(j, "metadata_dir");
    jsonout_text(j, slice_of(path));
}

/* Only an auto-commit that the main branch does not contain can be rewound to. */
static bool is_logs_only(const struct view *v, const struct point *p, const git_oid *commit)
{
    static const char *const mains[] = { ENTIRE_HEADS "main", "refs/remotes/origin/main",
                                         ENTIRE_HEADS "master", "refs/remotes/origin/master" };
    git_oid tip;

    if (p->source == POINT_SHADOW)
        return false;
    if (!slice_eq(p->strategy, SLICE("auto-commit")))
        return true;
    for (size_t i = 0; i < sizeof mains / sizeof *mains; i++)
        if (repo_has_ref(v->repo, mains[i], &tip))
            return git_oid_equal(&tip, commit) ||
                   git_graph_descendant_of(v->repo, &tip, commit) == 1;
    return false;
}

static void put_all(struct jsonout *j, const struct view *v, const struct point *p,
                    const git_commit *c, struct slice subject)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, git_commit_id(c));
    jsonout_open(j, '{');
    jsonout_member(j, "id", (struct slice){ hex, GIT_OID_HEXSZ });
    jsonout_key(j, "message");
    jsonout_text(j, subject);
    put_folder(j, p);
    put_date(j, git_commit_author(c));
    jsonout_bool_member(j, "is_task_checkpoint", p->task.n > 0);
    if (p->task.n)
        jsonout_member(j, "tool_use_id", p->task);
    jsonout_bool_member(j, "is_logs_only", is_logs_only(v, p, git_commit_id(c)));
    if (p->source != POINT_SHADOW)
        jsonout_member(j, "condensation_id", p->id);
    if (p->session.n)
        jsonout_member(j, "session_id", p->session);
    put_prompt(j, v, p);
    jsonout_close(j, '}');
}

static bool make_point_json(const struct view *v, const struct point *p, const struct link *link,
                            struct arena *a, struct slice *out)
{
    const git_oid *id = p->source == POINT_SHADOW ? &p->commit : link ? &link->commit : NULL;
    git_commit *c = NULL;
    struct buf text = { 0 };
    struct jsonout j;

    *out = SLICE("");
    if (!id || git_commit_lookup(&c, v->repo, id))
        return true;
    jsonout_init(&j, &text);
    put_all(&j, v, p, c, p->source == POINT_SHADOW ? p->text : link->subject);
    if (!j.rc)
        *out = arena_copy(a, buf_slice(&text));
    buf_fini(&text);
    git_commit_free(c);
    return !j.rc && out->p;
}

/* Lists checkpoints. Each is the state at the end of a turn: its prompt is the one that was
 * answered, and its files are those that changed in the turn. */

static const char no_commit[] =
    "no commit of this repository names it; only its conversation is left";

static const char too_large[] = "its tree is too large to be read";

/* The number of files that the shadow commit changed. *why is set if that is unknown and the point cannot be
 * restored. */
static size_t count_files(const struct view *v, const struct point *p, const char **why)
{
    struct view_turn t;
    size_t n = 0;

    if (p->source != POINT_SHADOW)
        return p->files;
    if (view_turn_open(v, p, NULL, &t))
        for (size_t i = 0; i < git_diff_num_deltas(t.diff); i++)
            n += view_is_work(git_diff_get_delta(t.diff, i));
    if (t.too_large)
        *why = too_large;
    view_turn_close(&t);
    return n;
}

/* The prompt of the turn; for a sub-agent's task the subject that Entire made of it. */
static bool turn_prompt(const struct view *v, const struct point *p, const struct link *link,
                        struct arena *a, struct slice *out)
{
    struct buf text = { 0 };
    struct slice prompt = p->text;

    if (p->task.n == 0 && point_prompts_read(v->repo, p, &text))
        prompt = point_prompts_last(buf_slice(&text));
    if (prompt.n == 0 && link)
        prompt = link->subject;
    *out = arena_copy(a, prompt);
    buf_fini(&text);
    return out->p != NULL;
}

static enum checkpoint_kind checkpoint_kind_of(const struct point *p)
{
    if (p->source != POINT_SHADOW)
        return CHECKPOINT_COMMIT;
    return p->task.n ? CHECKPOINT_TASK : CHECKPOINT_TURN;
}

static enum err_code add_point(const struct view *v, const struct links *links,
                               const struct point *p, struct checkpoint_list *list, struct err *e)
{
    struct checkpoint *c = &list->checkpoint[list->n++];
    const struct link *link = p->source == POINT_SHADOW ? NULL : point_link_find(links, p->id);
    const char *why = p->source == POINT_SHADOW || link ? NULL : no_commit;
    size_t files = count_files(v, p, &why);

    *c = (struct checkpoint){ .id = arena_copy(&list->arena, p->id),
                              .message = SLICE(""),
                              .time_ms = p->time_ms,
                              .kind = checkpoint_kind_of(p),
                              .after = true,
                              .files = files,
                              .why = why };
    return c->id.p && turn_prompt(v, p, link, &list->arena, &c->prompt) &&
                   make_point_json(v, p, link, &list->arena, &c->record)
               ? ERR_OK
               : err_nomem(e);
}

/* The reason why points of the session may be missing, or NULL. */
static const char *why_incomplete(const struct view *v)
{
    const struct shadow_list *all = &v->catalog->shadows;
    bool cut = v->session->state && view_shadow_is_unread(v);

    for (size_t i = 0; i < all->n && !cut; i++)
        cut = all->shadow[i].cut && view_owns_shadow(v, &all->shadow[i]);
    return cut ? "not all of its shadow branch can be read (reprise doctor says why)" : NULL;
}

enum err_code entire_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { 0 };
    struct links links = { 0 };
    struct view v;
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    list.checkpoint = arena_zalloc(&list.arena, sizeof *list.checkpoint * (v.session->n + 1));
    if (!list.checkpoint)
        rc = err_nomem(e);
    if (!rc && v.session->committed)
        rc = point_links_read(v.repo, &v.arena, &links, e);
    for (size_t i = 0; i < v.session->n && !rc; i++)
        rc = add_point(&v, &links, &v.session->point[i], &list, e);
    list.incomplete = why_incomplete(&v);
    view_close(&v);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}

/* Counts the lines that each turn added and removed. The counts are only shown, so a turn that
 * cannot be read is left out. */

static bool count_file(git_diff *diff, size_t i, struct checkpoint *c)
{
    git_patch *patch = NULL;
    size_t added = 0, removed = 0;
    bool ok = git_patch_from_diff(&patch, diff, i) == 0 &&
              (!patch || git_patch_line_stats(NULL, &added, &removed, patch) == 0);

    git_patch_free(patch);
    if (ok) {
        c->insertions += (unsigned)added;
        c->deletions += (unsigned)removed;
    }
    return ok;
}

static void count_point_turn(const struct view *v, const struct point *p, const struct link *link,
                             struct checkpoint *c)
{
    struct view_turn t;

    c->insertions = c->deletions = 0;
    c->counted = view_turn_open(v, p, link, &t);
    for (size_t i = 0; c->counted && i < git_diff_num_deltas(t.diff); i++)
        if (view_is_work(git_diff_get_delta(t.diff, i)))
            c->counted = count_file(t.diff, i, c);
    view_turn_close(&t);
}

/* The points are those of the list unless the session was continued in the meantime. */
static struct checkpoint *find_checkpoint(struct checkpoint_list *list, size_t i,
                                          const struct point *p)
{
    return i < list->n && slice_eq(list->checkpoint[i].id, p->id) ? &list->checkpoint[i] : NULL;
}

enum err_code entire_count_lines(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e)
{
    struct links links = { 0 };
    struct view v;
    enum err_code rc = view_open(st, ref, &v, e);

    if (rc)
        return rc;
    if (v.session->committed)
        rc = point_links_read(v.repo, &v.arena, &links, e);
    for (size_t i = 0; i < v.session->n && !rc; i++) {
        const struct point *p = &v.session->point[i];
        struct checkpoint *c = find_checkpoint(list, i, p);

        if (cancel && atomic_load(cancel))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "count lines");
        else if (c && !c->why)
            count_point_turn(&v, p,
                             p->source == POINT_SHADOW ? NULL : point_link_find(&links, p->id), c);
    }
    view_close(&v);
    return rc;
}
