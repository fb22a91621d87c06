#include "store/rewind/plan/turn_files.h"

#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"

enum { TURN_FILES_MAX = 20000, TURN_TEXT_MAX = 4 << 20 };

static const char too_large[] = "it is too large to be shown", binary[] = "it is binary";

/* Growing arrays of the arena: doubled, the old one stays until the end. */
static struct turn_file *turn_files_add(struct turn_files *t, size_t *room)
{
    if (t->n == *room) {
        const size_t more = *room ? 2 * *room : 64;
        struct turn_file *file = arena_alloc(&t->arena, more * sizeof *file);

        if (!file)
            return NULL;
        if (t->n)
            memcpy(file, t->file, t->n * sizeof *file);
        t->file = file;
        *room = more;
    }
    t->file[t->n] = (struct turn_file){ .differs = false };
    return &t->file[t->n++];
}

static const char *turn_text_why(struct slice text)
{
    return memchr(text.p ? text.p : "", '\0', text.n) ? binary : NULL;
}

enum err_code turn_files_read_present(const char *path, struct buf *text, const char **why,
                                      struct err *e)
{
    struct stat st;

    *why = NULL;
    if (lstat(path, &st))
        return err_sys(e, path, "read");
    if (S_ISLNK(st.st_mode))
        *why = "it is a link";
    else if (S_ISDIR(st.st_mode))
        *why = "it is a directory";
    else if (!S_ISREG(st.st_mode))
        *why = "it is not a regular file";
    else if (st.st_size > TURN_TEXT_MAX)
        *why = too_large;
    if (*why)
        return ERR_OK;
    TRY(file_read_all(AT_FDCWD, path, 0, TURN_TEXT_MAX, text, e));
    *why = turn_text_why(buf_slice(text));
    return ERR_OK;
}

/* A file that is not shown is compared by its bytes all the same, or at least by its size. */
static bool turn_states_differ(const struct turn_state *a, const struct turn_state *b)
{
    if (a->exists != b->exists || !a->why != !b->why)
        return true;
    if (!a->why)
        return !slice_eq(a->text, b->text);
    return strcmp(a->why, b->why) != 0 || a->size != b->size ||
           (a->has_sum && b->has_sum && memcmp(a->sum, b->sum, sizeof a->sum) != 0);
}

/* A file that cannot be read has a state that is not shown; only memory ends it all. */
static enum err_code turn_state_present(struct turn_files *t, const char *path,
                                        struct turn_state *out, struct err *e)
{
    AUTO_BUF text = { 0 };
    struct err why = { 0 };
    struct stat st;

    if (lstat(path, &st))
        return ERR_OK; /* it does not exist */
    out->exists = true;
    const enum err_code rc = turn_files_read_present(path, &text, &out->why, &why);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (S_ISREG(st.st_mode))
        out->size = st.st_size;
    out->has_sum = text.n && digest_of(DIGEST_SHA256, buf_slice(&text), out->sum);
    if (rc)
        out->why = "it cannot be read";
    else if (!out->why)
        NEED((out->text = arena_copy(&t->arena, buf_slice(&text))).p);
    return ERR_OK;
}

static enum err_code turn_state_wanted(struct turn_files *t, const struct rewind_target *target,
                                       struct source_content *content, struct turn_state *out,
                                       struct err *e)
{
    struct err why = { 0 };

    if (target->want == REWIND_ABSENT)
        return ERR_OK;
    out->exists = true;

    /* A path that no rewind may touch is not read, either. */
    if (target->want == REWIND_UNKNOWN || pathrule_forbids(slice_of(target->path), target->exact)) {
        out->why = "what was in it is not known";
        return ERR_OK;
    }
    if (target->source.kind) {
        out->why = S_ISDIR(target->source.kind) ? "it is a directory" : "it is a link";
        return ERR_OK;
    }
    const enum err_code rc = source_read(&target->source, NULL, content, &why);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc) {
        out->why = "the saved copy cannot be read";
        return ERR_OK;
    }
    const struct slice text = buf_slice(&content->bytes);

    out->size = content->size;
    out->has_sum = true;
    memcpy(out->sum, content->sha256, sizeof out->sum);
    if (!content->held || text.n > TURN_TEXT_MAX)
        out->why = too_large;
    else if (!(out->why = turn_text_why(text)))
        NEED((out->text = arena_copy(&t->arena, text)).p);
    return ERR_OK;
}

static const struct rewind_target *turn_target_of(const struct rewind_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->target[i].path, path) == 0)
            return &plan->target[i];
    return NULL;
}

static struct slice turn_path_shown(const struct turn_files *t, const char *path)
{
    return t->root && path_under(slice_of(path), slice_of(t->root)) && path[strlen(t->root)] == '/'
               ? slice_of(path + strlen(t->root) + 1)
               : slice_of(path);
}

static int turn_files_by_path(const void *x, const void *y)
{
    const struct turn_file *a = x, *b = y;
    const size_t n = a->path.n < b->path.n ? a->path.n : b->path.n;
    const int order = memcmp(a->path.p, b->path.p, n);

    return order ? order : (a->path.n > b->path.n) - (a->path.n < b->path.n);
}

/* The files that one of the plans names, each with its two states. A file that only one of them names is at the other
 * point as it is now. */
static enum err_code turn_files_of_plans(struct turn_files *t, const struct rewind_plan plan[2],
                                         size_t *room, struct err *e)
{
    struct source_content content = { .held = false };
    enum err_code rc = ERR_OK;

    for (size_t k = 0; !rc && k < 2; k++)
        for (size_t i = 0; !rc && i < plan[k].n; i++) {
            const char *path = arena_copy_text(&t->arena, plan[k].target[i].path);
            struct turn_file *f;

            /* The file was added with the first plan. */
            if (path && k == 1 && turn_target_of(&plan[0], path))
                continue;
            f = path ? turn_files_add(t, room) : NULL;
            if (!f) {
                rc = err_nomem(e);
                break;
            }
            f->path = turn_path_shown(t, path);
            f->was_planned = true;
            for (size_t s = 0; !rc && s < 2; s++) {
                const struct rewind_target *target = turn_target_of(&plan[s], path);

                rc = target ? turn_state_wanted(t, target, &content, &f->state[s], e)
                            : turn_state_present(t, path, &f->state[s], e);
            }
            f->differs = turn_states_differ(&f->state[0], &f->state[1]);
        }
    source_content_fini(&content);
    return rc;
}

/* The other files of the project. */
static enum err_code turn_files_walk(struct turn_files *t, size_t *room, struct err *e)
{
    char *const roots[] = { (char *)t->root, NULL };
    const size_t planned = t->n;
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
    const FTSENT *f;
    enum err_code rc = ERR_OK;

    while (fts && !rc && (f = fts_read(fts))) {
        if (f->fts_level > 0 && strcmp(f->fts_name, ".git") == 0) {
            fts_set(fts, (FTSENT *)f, FTS_SKIP);
            continue;
        }
        if (f->fts_info != FTS_F && f->fts_info != FTS_SL && f->fts_info != FTS_SLNONE)
            continue;
        if (t->n >= TURN_FILES_MAX) {
            t->is_cut = true;
            break;
        }
        const struct turn_file key = { .path = turn_path_shown(t, f->fts_path) };

        /* Only the files of the plans are sorted, and only they can be found again. */
        if (planned && bsearch(&key, t->file, planned, sizeof key, turn_files_by_path))
            continue;
        struct turn_file *file = turn_files_add(t, room);

        if (!file || !(file->path = arena_copy(&t->arena, key.path)).p) {
            rc = err_nomem(e);
            break;
        }
        file->state[0].exists = file->state[1].exists = true;
    }
    if (fts)
        fts_close(fts);
    return rc;
}

enum err_code turn_files_read(const struct session_ref *ref, const struct slice point[2],
                              struct turn_files *out, struct err *e)
{
    struct rewind_plan plan[2] = { { .n = 0 }, { .n = 0 } };
    enum err_code rc = ERR_OK;
    size_t room = 0;

    *out = (struct turn_files){ .root = NULL };
    for (size_t k = 0; !rc && k < 2; k++) {
        if (!point[k].n)
            continue;
        rc = ref->store->ops->plan_inferred
                 ? rewind_plan_infer(ref, point[k], REWIND_CODE, &plan[k], e)
                 : rewind_plan_make(ref, point[k], REWIND_CODE, &plan[k], e);
        if (!rc && plan[k].root && !plan[k].wide && !out->root &&
            !(out->root = arena_copy_text(&out->arena, plan[k].root)))
            rc = err_nomem(e);
    }
    if (!rc)
        rc = turn_files_of_plans(out, plan, &room, e);

    /* turn_files_walk() searches the files of the plans. */
    if (!rc && out->n)
        qsort(out->file, out->n, sizeof *out->file, turn_files_by_path);
    if (!rc && out->root)
        rc = turn_files_walk(out, &room, e);
    if (!rc && out->n)
        qsort(out->file, out->n, sizeof *out->file, turn_files_by_path);
    for (size_t k = 0; k < 2; k++)
        rewind_plan_fini(&plan[k]);
    if (rc)
        turn_files_fini(out);
    return rc;
}

void turn_files_fini(struct turn_files *t)
{
    arena_fini(&t->arena);
    *t = (struct turn_files){ .root = NULL };
}

void turn_files_free(struct turn_files *t)
{
    if (t)
        turn_files_fini(t);
    free(t);
}
