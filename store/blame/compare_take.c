#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/api/store.h"
#include "store/blame/compare.h"
#include "store/fs/path.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"
#include "store/rewind/record/host_work.h"
#include "store/rewind/record/records.h"

/* One plan while it is made. */
struct taking {
    const struct compared_sessions *c;
    const struct compare_take *take;
    struct rewind_plan *plan;
    struct rewind_inspected look;
    bool found_hunk;
};

/* ---- the directory ---- */

static bool take_contains(struct slice dir, const char *cwd)
{
    char name[PATH_MAX], real_dir[PATH_MAX], real_cwd[PATH_MAX];

    if (dir.n == 0 || dir.n >= sizeof name)
        return false;
    memcpy(name, dir.p, dir.n);
    name[dir.n] = '\0';
    return realpath(name, real_dir) && realpath(cwd, real_cwd) &&
           path_under(slice_of(real_cwd), slice_of(real_dir));
}

/* ---- one file ---- */

/* Texts of sessions have "\n" at the end of each line, and no byte order mark. */
static struct slice take_with_ends(struct arena *a, struct slice present, struct slice text,
                                   const char **why)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t lines = 0, crlf = 0, lines_of_text = 0, n = 0;
    const bool marked = present.n >= 3 && memcmp(present.p, mark, 3) == 0;

    for (size_t i = 0; i < present.n; i++) {
        lines += present.p[i] == '\n';
        crlf += present.p[i] == '\n' && i > 0 && present.p[i - 1] == '\r';
    }

    /* If all lines end in the same way, the text of the session can get the same ends. */
    if (memchr(present.p, '\0', present.n))
        *why = "it is not text";
    else if (crlf > 0 && crlf < lines)
        *why = "its lines end in different ways, which sessions do not record";
    if (*why || (crlf == 0 && !marked))
        return text;
    for (size_t i = 0; i < text.n; i++)
        lines_of_text += text.p[i] == '\n';
    char *out = arena_alloc(a, text.n + lines_of_text + sizeof mark);

    if (!out)
        return (struct slice){ NULL, 0 };
    if (marked) {
        memcpy(out, mark, 3);
        n = 3;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' && crlf > 0)
            out[n++] = '\r';
        out[n++] = text.p[i];
    }
    return (struct slice){ out, n };
}

/* Returns true if this session left the file as it is; a missing file counts if the session deleted it. */
static bool take_is_left(const struct taking *x, const struct compared_state *s)
{
    if (!s->changed || !s->known)
        return false;
    if (s->absent || !x->look.seen.exists)
        return s->absent && !x->look.seen.exists;
    return x->look.present.held && source_same_text(buf_slice(&x->look.present.bytes), s->text);
}

/* What the sessions last knew of the file. seen has room for the hash of the present one. */
static void take_last(const struct taking *x, const struct compared_file *f,
                      char seen[SHA256_BYTES * 2 + 1], struct rewind_target *t)
{
    const struct compared_state *other = &f->side[1 - x->take->side];

    hasher_hex(x->look.seen.sha256, seen);
    if (take_is_left(x, &f->side[0]) || take_is_left(x, &f->side[1])) {
        t->has_last = true;
        t->last_absent = !x->look.seen.exists;
        t->last = (struct rewind_source){ .sha256 = seen };
    } else if (other->changed && other->known) {
        t->has_last = true;
        t->last_absent = other->absent;
        t->last = (struct rewind_source){ .bytes = other->text };
    } else if (!x->look.seen.exists && !other->changed) {
        t->has_last = t->last_absent = true;
    }
}

/* Replaces the wanted bytes by the present ones with one hunk of the difference. */
static enum err_code take_one_hunk(struct taking *x, struct rewind_target *t, struct err *e)
{
    CLEANUP(linediff_fini) struct linediff d = { 0 };
    const struct slice present = buf_slice(&x->look.present.bytes);

    x->found_hunk = true;
    TRY(linediff_make(present, t->source.bytes, REWIND_CONTEXT, &d, e));
    if (x->take->hunk == 0 || x->take->hunk > d.hunks)
        return err_set(e, ERR_NOT_FOUND, t->path, "compare: it has %zu hunk%s", d.hunks,
                       d.hunks == 1 ? "" : "s");
    bool *chosen = arena_zalloc(&x->plan->arena, d.hunks * sizeof *chosen);

    NEED(chosen);
    chosen[x->take->hunk - 1] = true;
    t->mixed = true;
    return linediff_apply_hunks(&d, present, chosen, &x->plan->arena, &t->source.bytes, e);
}

static enum err_code compare_take_one(struct taking *x, const struct compared_file *f,
                                      struct err *e)
{
    const struct compared_state *s = &f->side[x->take->side];
    struct arena *a = &x->plan->arena;
    char name[PATH_MAX], seen[SHA256_BYTES * 2 + 1];
    struct rewind_target t = { .want = s->absent ? REWIND_ABSENT : REWIND_BYTES };

    if (f->path.n >= sizeof name)
        return ERR_OK;
    memcpy(name, f->path.p, f->path.n);
    name[f->path.n] = '\0';
    t.path = path_normalize(x->plan->root, name, a);
    NEED(t.path);
    const bool one_hunk = x->take->hunk_path && strcmp(t.path, x->take->hunk_path) == 0;

    if (!s->known) {
        t.want = REWIND_UNKNOWN;
        t.why = "the session does not record the whole text";
        return rewind_plan_add(x->plan, &t, e);
    }
    TRY(rewind_inspect(x->plan, &t, &x->look, e));
    if (x->look.rule) { /* the preview refuses it */
        t.source.bytes = s->text;
        return rewind_plan_add(x->plan, &t, e);
    }
    const bool exists = x->look.seen.exists;

    take_last(x, f, seen, &t);
    if (t.want == REWIND_BYTES && exists && take_is_left(x, s)) {
        t.source.bytes = buf_slice(&x->look.present.bytes); /* it is so already */
    } else if (t.want == REWIND_BYTES && exists && !x->look.present.held) {
        t.want = REWIND_UNKNOWN;
        t.why = "it is too large to be compared with a text";
    } else if (t.want == REWIND_BYTES && exists) {
        t.source.bytes = take_with_ends(a, buf_slice(&x->look.present.bytes), s->text, &t.why);
        NEED(t.source.bytes.p || t.why);
        t.want = t.why ? REWIND_UNKNOWN : REWIND_BYTES;
    } else if (t.want == REWIND_BYTES) {
        t.source.bytes = s->text.p ? s->text : SLICE("");
    }
    t.conflict = t.want == REWIND_UNKNOWN;
    if (t.want == REWIND_BYTES && memmem(s->text.p, s->text.n, "\xEF\xBF\xBD", 3))
        t.doubt = "its text has characters that replace bytes that the session does not record";
    if (one_hunk && t.want == REWIND_BYTES && exists)
        TRY(take_one_hunk(x, &t, e));
    return rewind_plan_add(x->plan, &t, e);
}

/* ---- the plan ---- */

static enum err_code take_begin(const struct session_ref ref[2], struct taking *x, struct err *e)
{
    struct rewind_plan *plan = x->plan;
    struct session_ref *own = arena_zalloc(&plan->arena, sizeof *own);
    size_t owner = x->take->side;

    /* The sessions name their directories themselves. One counts only if the program was started
     * in it, and it is not above the repository there. If both directories contain that place, the
     * inner one counts. The change belongs to the session whose directory it is: an undo finds it
     * there. */
    const struct store_env *env = ref[owner].store->env;
    const char *root = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < 2; i++) {
        const size_t k = i == 0 ? x->take->side : 1 - x->take->side;
        const struct slice dir = x->c->side[k].cwd;

        if (dir.n <= longest || !env->cwd || !take_contains(dir, env->cwd))
            continue;
        root = arena_copy(&x->plan->arena, dir).p;
        NEED(root);
        longest = dir.n;
        owner = k;
    }
    if (!root || rewind_root_is_above(env, root))
        return err_set(e, ERR_UNSAFE, env->cwd ? env->cwd : "",
                       "compare: this is the project of neither session; -C DIR takes the files "
                       "into that directory of one of them");
    TRY(rewind_plan_root(env, x->plan, root, e));

    plan->system = ref[owner].store->ops->name;
    plan->format = arena_copy_text(&plan->arena, store_format(ref[owner].store->ops));
    plan->session = arena_copy(&plan->arena, ref[owner].id).p;
    plan->point = arena_format(&plan->arena, "files of %.*s", SLICE_ARG(ref[x->take->side].id));
    plan->point_ms = TIME_NONE;
    NEED(own && plan->format && plan->session && plan->point &&
         session_ref_copy(&plan->arena, &ref[owner], own));
    plan->ref = own;
    return rewind_plan_origin(&ref[owner], plan, e);
}

enum err_code compare_take_plan(const struct session_ref ref[2], const struct compared_sessions *c,
                                const struct compare_take *take, struct rewind_plan *out,
                                struct err *e)
{
    const struct store_env *env = ref[take->side].store->env;
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    struct taking x = { .c = c, .take = take, .plan = &plan };

    if (c->side[take->side].no_files)
        return err_set(e, ERR_UNSUPPORTED, "",
                       "compare: it is not known which files it changed: %s",
                       c->side[take->side].no_files);
    TRY(take_begin(ref, &x, e));
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->files && !rc; i++)
        if (c->file[i].side[take->side].changed &&
            (take->only.n == 0 || slice_eq(c->file[i].path, take->only)))
            rc = compare_take_one(&x, &c->file[i], e);
    rewind_inspected_fini(&x.look);
    TRY(rc);
    if (take->hunk_path && !x.found_hunk)
        return err_set(e, ERR_NOT_FOUND, take->hunk_path, "compare: it has no hunks");

    /* The plan is completed like that of a rewind. */
    TRY(rewind_plan_note_modes(&plan, e));
    TRY(rewind_plan_known_state(env, &plan, e));
    TRY(host_work_add(env, &plan, e));
    TRY(rewind_plan_hold(env, &plan, e));
    HAND_OVER(out, plan);
    return ERR_OK;
}
