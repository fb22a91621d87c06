#include <fcntl.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/crush/crush.h"

/* A rewind to a prompt: each file with a version since then gets the last content that the session
 * saved before the prompt, or its version 0. Commands are not recorded. */

enum { FILE_MOST = 64 << 20 };

struct planning {
    struct crush_versions versions;
    const struct crush_prompt *prompt;
    struct rewind_plan *plan;
    bool emptied; /* a file gets its first version, which is empty */
    struct err *e;
};

/* ---- the point ---- */

/* ---- the versions of one file ---- */

struct kept {
    const struct crush_version *version; /* by number */
    size_t n, before;                    /* how many are older than the point */
};

static size_t edits_since(const struct planning *p, struct slice path)
{
    size_t n = 0;

    for (size_t i = 0; i < p->versions.edits; i++) {
        const struct crush_edit *x = &p->versions.edit[i];

        n += slice_eq(x->path, path) && x->time_ms >= p->prompt->time_ms;
    }
    return n;
}

static bool crush_has_crlf(struct slice text)
{
    return slice_has(text, "\r\n");
}

/* Crush's edit tool stores texts with Unix line ends but writes the line ends of the file. */
static bool was_converted(const char *path, struct slice kept)
{
    struct buf present = { 0 };
    bool is = !crush_has_crlf(kept) && memchr(kept.p ? kept.p : "", '\n', kept.n) &&
              file_read_all(AT_FDCWD, path, 0, FILE_MOST, &present, NULL) == ERR_OK &&
              crush_has_crlf(buf_slice(&present));

    buf_fini(&present);
    return is;
}

/* ---- targets ---- */

static void crush_hold(struct rewind_target *t, const char *why)
{
    t->want = REWIND_UNKNOWN;
    t->why = why;
}

static enum err_code crush_add_file(struct planning *p, const struct kept *k)
{
    struct rewind_target t = { .path = k->version->path.p, .want = REWIND_BYTES };

    if (k->n == k->before)
        return ERR_OK; /* not changed since */

    const struct crush_version *wanted = &k->version[k->before ? k->before - 1 : 0];
    size_t later = k->n - (k->before ? k->before : 1);

    t.source.bytes = wanted->content;
    if (!k->before && wanted->number != 0) {
        crush_hold(&t, "Crush did not keep its state from before the session's first edit");
    } else if (k->before && later > edits_since(p, wanted->path)) {
        crush_hold(&t, "it was changed by hand between two edits, and Crush does not record when");
    } else if (was_converted(t.path, wanted->content)) {
        crush_hold(&t, "Crush saved it with other line ends");
    } else if (!k->before && wanted->content.n == 0) {
        p->emptied = true;
    }

    t.has_last = t.want != REWIND_UNKNOWN && k->n > 1;
    t.last.bytes = k->version[k->n - 1].content;
    return rewind_plan_add(p->plan, &t, p->e);
}

static enum err_code crush_add_notes(struct planning *p)
{
    TRY(rewind_plan_note(
        p->plan, "Crush keeps the files that its tools edit: changes by commands stay", p->e));
    if (p->emptied)
        TRY(rewind_plan_note(
            p->plan, "Crush records a missing file as an empty one: such a file becomes empty",
            p->e));
    return ERR_OK;
}

static enum err_code crush_open_plan(struct planning *p, const struct session_ref *ref,
                                     struct slice point)
{
    struct arena *a = &p->plan->arena;
    const struct sqlite_place *place = sqlite_store_place(ref);
    enum err_code rc = crush_versions_read(ref, true, &p->versions, p->e);

    if (!rc) {
        struct point_search s = { .id = point };

        for (size_t i = 0; i < p->versions.prompts; i++)
            point_search_offer(&s, p->versions.prompt[i].id, i);
        if (s.hits != 1)
            rc = point_search_error(&s, "", "prompts", "the session has no prompt", p->e);
        else
            p->prompt = &p->versions.prompt[s.at];
    }
    if (rc)
        return rc;
    p->plan->system = crush_ops.name;
    p->plan->session = arena_copy(a, ref->id).p;
    p->plan->point = arena_copy(a, p->prompt->id).p;
    p->plan->point_ms = p->prompt->time_ms;
    rc = rewind_plan_root(ref->store->env, p->plan, place ? place->project : NULL, p->e);
    return rc || (p->plan->session && p->plan->point) ? rc : err_nomem(p->e);
}

enum err_code crush_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                         struct rewind_plan *out, struct err *e)
{
    struct rewind_plan plan = { .point_ms = TIME_NONE };
    struct planning p = { .plan = &plan, .e = e };
    enum err_code rc = crush_open_plan(&p, ref, point);

    (void)st;
    for (size_t at = 0; !rc && at < p.versions.n;) {
        /* Times are in seconds, so a version of the same second counts as work of the prompt. */
        struct kept k = { &p.versions.version[at], 0, 0 };

        while (at < p.versions.n && slice_eq(p.versions.version[at].path, k.version->path)) {
            const struct crush_version *v = &p.versions.version[at++];

            k.before +=
                k.before == k.n && v->time_ms != TIME_NONE && v->time_ms < p.prompt->time_ms;
            k.n++;
        }

        rc = crush_add_file(&p, &k);
    }
    if (!rc)
        rc = crush_add_notes(&p);
    crush_versions_fini(&p.versions);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}

/* ---- the points ---- */

enum err_code crush_checkpoints(const struct store *st, const struct session_ref *ref,
                                struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { .n = 0 };
    struct crush_versions v;

    (void)st;
    TRY(crush_versions_read(ref, false, &v, e));
    list.arena = v.arena; /* it owns the texts */
    list.checkpoint = arena_zalloc(&list.arena, (v.prompts + 1) * sizeof *list.checkpoint);
    for (size_t i = 0; list.checkpoint && i < v.prompts; i++) {
        const struct crush_prompt *p = &v.prompt[i];
        int64_t to = i + 1 < v.prompts ? v.prompt[i + 1].time_ms : INT64_MAX;
        struct slice last = SLICE("");
        size_t n = 0;

        for (size_t k = 0; k < v.n; k++) {
            const struct crush_version *x = &v.version[k];

            if (x->time_ms < p->time_ms || x->time_ms >= to || (last.n && slice_eq(last, x->path)))
                continue;
            last = x->path;
            n++;
        }
        list.checkpoint[list.n++] = (struct checkpoint){ .id = p->id,
                                                         .message = p->id,
                                                         .prompt = p->text,
                                                         .time_ms = p->time_ms,
                                                         .kind = CHECKPOINT_TURN,
                                                         .files = n,
                                                         .shell = true };
    }
    if (!list.checkpoint) {
        checkpoint_list_fini(&list);
        return err_nomem(e);
    }
    *out = list;
    return ERR_OK;
}
