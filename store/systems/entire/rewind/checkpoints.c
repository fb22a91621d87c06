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
    AUTO_BUF text = { 0 };
    char cut[PROMPT_BYTES + 4];

    if (!point_prompts_read(v->repo, p, &text))
        return;
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

/* Writes a point as Entire's own list of rewind points does; empty if its commit is unknown. Returns false if out of
 * memory. */
static bool make_point_json(const struct view *v, const struct point *p, const struct link *link,
                            struct arena *a, struct slice *out)
{
    bool shadow = p->source == POINT_SHADOW;
    const git_oid *id = shadow ? &p->commit : link ? &link->commit : NULL;
    AUTO_COMMIT *c = NULL;
    AUTO_BUF text = { 0 };
    struct jsonout j;
    char hex[GIT_OID_HEXSZ + 1], folder[700] = "";
    const char *tasks = p->task.n ? "/tasks/" : "";

    *out = SLICE("");
    if (!id || git_commit_lookup(&c, v->repo, id))
        return true;
    git_oid_tostr(hex, sizeof hex, id);
    /* The folder of the metadata is in the tree of a shadow commit; that of an auto-commit is on the metadata branch. */
    if (shadow)
        snprintf(folder, sizeof folder, "%s%s%s", p->metadata.p, tasks, p->task.p);
    else if (slice_eq(p->strategy, SLICE("auto-commit")) && p->id.n == ENTIRE_HEX_ID)
        snprintf(folder, sizeof folder, "%.2s/%s%s%s", p->id.p, p->id.p + 2, tasks, p->task.p);

    jsonout_init(&j, &text);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", (struct slice){ hex, GIT_OID_HEXSZ });
    jsonout_key(&j, "message");
    jsonout_text(&j, shadow ? p->text : link->subject);
    jsonout_key(&j, "metadata_dir");
    jsonout_text(&j, slice_of(folder));
    put_date(&j, git_commit_author(c));
    jsonout_bool_member(&j, "is_task_checkpoint", p->task.n > 0);
    if (p->task.n)
        jsonout_member(&j, "tool_use_id", p->task);
    jsonout_bool_member(&j, "is_logs_only", is_logs_only(v, p, id));
    if (!shadow)
        jsonout_member(&j, "condensation_id", p->id);
    if (p->session.n)
        jsonout_member(&j, "session_id", p->session);
    put_prompt(&j, v, p);
    jsonout_close(&j, '}');
    if (j.rc)
        return false;
    *out = arena_copy(a, buf_slice(&text));
    return out->p != NULL;
}

/* Lists checkpoints. Each is the state at the end of a turn: its prompt is the one that was
 * answered, and its files are those that changed in the turn. */

static const char no_commit[] =
    "no commit of this repository names it; only its conversation is left";

static const char too_large[] = "its tree is too large to be read";

static enum err_code entire_add_point(const struct view *v, const struct links *links,
                                      const struct point *p, struct checkpoint_list *list,
                                      struct err *e)
{
    bool shadow = p->source == POINT_SHADOW;
    const struct link *link = shadow ? NULL : point_link_find(links, p->id);
    struct checkpoint *c = &list->checkpoint[list->n++];
    CLEANUP(view_turn_close) struct view_turn t = { .diff = NULL };
    AUTO_BUF text = { 0 };
    struct slice prompt = p->text;
    size_t files = p->files;
    const char *why = shadow || link ? NULL : no_commit;

    /* A shadow commit does not record how many files it changed. */
    if (shadow) {
        files = 0;
        if (view_turn_open(v, p, NULL, &t))
            for (size_t i = 0; i < git_diff_num_deltas(t.diff); i++)
                files += view_is_work(git_diff_get_delta(t.diff, i));
        if (t.too_large)
            why = too_large;
    }

    /* The prompt is that of the turn; for a sub-agent's task the subject that Entire made of it. */
    if (p->task.n == 0 && point_prompts_read(v->repo, p, &text))
        prompt = point_prompts_last(buf_slice(&text));
    if (prompt.n == 0 && link)
        prompt = link->subject;

    *c = (struct checkpoint){ .id = arena_copy(&list->arena, p->id),
                              .prompt = arena_copy(&list->arena, prompt),
                              .message = SLICE(""),
                              .time_ms = p->time_ms,
                              .kind = !shadow     ? CHECKPOINT_COMMIT
                                      : p->task.n ? CHECKPOINT_TASK
                                                  : CHECKPOINT_TURN,
                              .after = true,
                              .files = files,
                              .why = why };
    NEED(c->id.p && c->prompt.p && make_point_json(v, p, link, &list->arena, &c->record));
    return ERR_OK;
}

enum err_code entire_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    CLEANUP(checkpoint_list_fini) struct checkpoint_list list = { 0 };
    CLEANUP(view_close) struct view v = { 0 };
    struct links links = { 0 };

    TRY(view_open(st, ref, &v, e));
    NEED(list.checkpoint = arena_zalloc(&list.arena, sizeof *list.checkpoint * (v.session->n + 1)));
    if (v.session->committed)
        TRY(point_links_read(v.repo, &v.arena, &links, e));
    for (size_t i = 0; i < v.session->n; i++)
        TRY(entire_add_point(&v, &links, &v.session->point[i], &list, e));

    /* Points may be missing if a part of the session's shadow branch cannot be read. */
    const struct shadow_list *all = &v.catalog->shadows;
    bool cut = v.session->state && view_shadow_is_unread(&v);

    for (size_t i = 0; i < all->n && !cut; i++)
        cut = all->shadow[i].cut && view_owns_shadow(&v, &all->shadow[i]);
    list.incomplete =
        cut ? "not all of its shadow branch can be read (reprise doctor says why)" : NULL;
    HAND_OVER(out, list);
    return ERR_OK;
}

/* Counts the lines that each turn added and removed. The counts are only shown, so a turn that
 * cannot be read is left out. */

static void count_point_turn(const struct view *v, const struct point *p, const struct link *link,
                             struct checkpoint *c)
{
    CLEANUP(view_turn_close) struct view_turn t = { .diff = NULL };

    c->insertions = c->deletions = c->removed = 0;
    c->counted = view_turn_open(v, p, link, &t);
    for (size_t i = 0; c->counted && i < git_diff_num_deltas(t.diff); i++) {
        git_patch *patch = NULL;
        size_t added = 0, removed = 0;

        const git_diff_delta *delta = git_diff_get_delta(t.diff, i);

        if (!view_is_work(delta))
            continue;
        c->counted = git_patch_from_diff(&patch, t.diff, i) == 0 &&
                     (!patch || git_patch_line_stats(NULL, &added, &removed, patch) == 0);
        git_patch_free(patch);
        if (c->counted) {
            c->insertions += (unsigned)added;
            c->deletions += (unsigned)removed;
            c->removed += delta->status == GIT_DELTA_DELETED;
        }
    }
}

enum err_code entire_count_lines(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e)
{
    CLEANUP(view_close) struct view v = { 0 };
    struct links links = { 0 };

    TRY(view_open(st, ref, &v, e));
    if (v.session->committed)
        TRY(point_links_read(v.repo, &v.arena, &links, e));
    for (size_t i = 0; i < v.session->n; i++) {
        const struct point *p = &v.session->point[i];

        if (cancel && atomic_load(cancel))
            return err_set(e, ERR_CANCELLED, ref->path.p, "count lines");
        /* The points are those of the list unless the session was continued in the meantime. */
        if (i < list->n && slice_eq(list->checkpoint[i].id, p->id) && !list->checkpoint[i].why)
            count_point_turn(&v, p,
                             p->source == POINT_SHADOW ? NULL : point_link_find(&links, p->id),
                             &list->checkpoint[i]);
    }
    return ERR_OK;
}
