#include "store/systems/goat/goat.h"

#include <string.h>
#include <strings.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/rewind/plan/source.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/manifest.h"
#include "store/systems/goat/metadata.h"

/* A host writes the prompt and the checkpoint almost at the same time, in either order. */
enum { SAME_MOMENT_MS = 1000 };

struct reading {
    const struct goat_points *points;
    const char *cwd;
    struct goat_writes *w;
    struct arena scratch; /* owns the texts of one row */
};

/* The file's entry in the table; NULL if out of memory. */
static struct goat_left *left_of_path(struct reading *r, struct slice said)
{
    struct goat_writes *w = r->w;
    bool whole = said.n && said.p[0] == '/';
    const char *text = arena_copy(&w->arena, said).p, *path;
    size_t before = w->path.n;
    uint32_t number;

    if (!text || !(path = path_normalize(whole || !r->cwd ? "" : r->cwd, text, &w->arena)) ||
        slice_set_add(&w->path, slice_of(path), &number))
        return NULL;
    if (w->path.n == before)
        return &w->left[number];
    struct goat_left *list = arena_grow(&w->arena, w->left, before, sizeof *list);

    if (!list)
        return NULL;
    w->left = list;
    w->left[number] = (struct goat_left){ 0 };
    return &w->left[number];
}

static bool goat_is_plain_path(struct slice path)
{
    return path.n && !memchr(path.p, '\0', path.n);
}

static enum err_code add_points(struct reading *r)
{
    for (size_t i = 0; i < r->points->n; i++) {
        const struct goat_point *point = &r->points->point[i];

        for (size_t k = 0; k < point->n; k++) {
            const struct goat_saved *s = &point->saved[k];
            struct goat_left *left;

            if (s->was == GOAT_WAS_UNKNOWN || !goat_is_plain_path(s->path))
                continue;
            if (!(left = left_of_path(r, s->path)))
                return ERR_NOMEM;
            left->point = point;
            left->saved = s;
        }
    }
    return ERR_OK;
}

/* ---- tools ---- */

static bool only_reads(struct slice name)
{
    static const char *const words[] = { "read", "view", "grep", "glob", "list", "search", "ls" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_has_folded(name, words[i]) && !slice_has_folded(name, "write") &&
            !slice_has_folded(name, "edit"))
            return true;
    return false;
}

/* The contents before an edit: those that a tool wrote, else those that the checkpoint saved. */
static enum err_code base_of(struct reading *r, struct goat_left *left, struct slice *out,
                             bool *known)
{
    struct source_content content = { 0 };
    struct rewind_source source = { 0 };
    bool there = false;

    *out = left->bytes;
    *known = left->known;
    if (left->touched || !left->saved || left->saved->was != GOAT_WAS_THERE)
        return ERR_OK;
    source.sha256 = left->saved->hash;
    source.file = goat_blob(r->points, left->point, left->saved->hash, &r->scratch, &there);
    if (!source.file)
        return ERR_NOMEM;
    if (there && source_read(&source, NULL, &content, NULL) == ERR_OK && content.held) {
        *out = arena_copy(&r->scratch, buf_slice(&content.bytes));
        *known = out->p != NULL;
    }
    source_content_fini(&content);
    return ERR_OK;
}

static enum err_code goat_add_edit(struct reading *r, struct slice input, struct goat_left *left)
{
    struct slice old, with, base;
    struct buf text = { 0 };
    bool known;
    bool has_texts = json_get_text(input, "old_string", &r->scratch, &old) &&
                     json_get_text(input, "new_string", &r->scratch, &with);
    enum err_code rc = has_texts ? base_of(r, left, &base, &known) : ERR_OK;

    left->touched = true;
    left->known = false;
    if (rc || !has_texts || !known)
        return rc;
    rc = edit_replace_text(base, old, with, json_get_true(input, "replace_all"), &r->w->replayed,
                           &text, &left->known);
    if (!rc && left->known)
        left->bytes = arena_copy(&r->w->arena, buf_slice(&text));
    buf_fini(&text);
    return rc || r->w->arena.failed ? ERR_NOMEM : ERR_OK;
}

static enum err_code goat_add_call(struct reading *r, const struct block *call, int64_t at_ms)
{
    static const char *const names[] = { "file_path", "path", "filePath" };
    struct slice path = { NULL, 0 }, content;

    for (size_t i = 0; i < sizeof names / sizeof *names && !path.p; i++)
        if (!json_get_text(call->input, names[i], &r->scratch, &path))
            path = (struct slice){ NULL, 0 };
    if (!goat_is_plain_path(path) || only_reads(call->name))
        return ERR_OK;
    struct goat_left *left = left_of_path(r, path);

    if (!left)
        return ERR_NOMEM;
    if (left->point && left->point->time_ms != TIME_NONE && at_ms != TIME_NONE &&
        at_ms < left->point->time_ms - SAME_MOMENT_MS)
        return ERR_OK; /* the checkpoint has the result */
    if (!slice_has_folded(call->name, "write") ||
        !json_get_text(call->input, "content", &r->scratch, &content))
        return goat_add_edit(r, call->input, left);
    left->touched = left->known = true;
    left->bytes = arena_copy(&r->w->arena, content);
    return left->bytes.p ? ERR_OK : ERR_NOMEM;
}

static enum err_code read_call_row(struct reading *r, const struct store *st, struct slice row,
                                   int64_t at_ms)
{
    struct block_list blocks = { 0 };
    enum err_code rc = goat_blocks(st, row, &blocks, NULL);

    for (size_t i = 0; i < blocks.n && !rc; i++)
        if (blocks.block[i].kind == BLOCK_TOOL_CALL && blocks.block[i].input.n)
            rc = goat_add_call(r, &blocks.block[i], at_ms);
    transcript_blocks_fini(&blocks);
    arena_reset(&r->scratch);
    return rc;
}

enum err_code goat_writes_read(const struct session_ref *ref, const struct goat_points *points,
                               const char *cwd, struct goat_writes *out, struct err *e)
{
    struct goat_writes w = { 0 };
    struct reading r = { .points = points, .cwd = cwd, .w = &w };
    enum err_code rc = add_points(&r);

    if (rc)
        rc = err_nomem(e);
    if (!rc && points->n) {
        struct transcript *t = NULL;
        struct buf row = { 0 };
        rc = jsonl_load(ref->store, ref, NULL, &t, e);

        for (size_t i = 0; !rc && i < t->n; i++) {
            if (t->message[i].kind != MESSAGE_ASSISTANT || t->message[i].flags & MESSAGE_BROKEN)
                continue;
            rc = transcript_read(t, i, &row, e);
            if (!rc && read_call_row(&r, ref->store, buf_slice(&row), t->message[i].time_ms))
                rc = err_nomem(e);
        }
        buf_fini(&row);
        transcript_free(t);
    }
    arena_fini(&r.scratch);
    if (rc)
        goat_writes_fini(&w);
    else
        *out = w;
    return rc;
}

void goat_writes_fini(struct goat_writes *w)
{
    slice_set_fini(&w->path);
    arena_fini(&w->arena);
    *w = (struct goat_writes){ 0 };
}

const struct goat_left *goat_writes_find(const struct goat_writes *w, const char *path)
{
    uint32_t number = slice_set_find(&w->path, slice_of(path));

    return number == SLICE_SET_NONE ? NULL : &w->left[number];
}

/* The results of tools record only whether they failed, so an edit is known by its call; what a file was is in the
 * checkpoints. */

static enum err_code put_saved(struct tool_edits *t, const struct goat_points *points,
                               const struct goat_point *point, const struct goat_saved *saved,
                               struct arena *a, struct err *e)
{
    struct edit edit = { .kind = EDIT_SEEN, .time_ms = point->time_ms };
    struct source_content content = { 0 };
    struct rewind_source source = { .sha256 = saved->hash };
    bool there = false;
    enum err_code rc = ERR_OK;

    if (saved->was == GOAT_WAS_UNKNOWN || !saved->path.n ||
        memchr(saved->path.p, '\0', saved->path.n) || point->time_ms == TIME_NONE)
        return ERR_OK;
    edit.path = arena_copy(a, saved->path).p;
    edit.after_known = EDIT_ABSENT;
    if (saved->was == GOAT_WAS_THERE) {
        source.file = goat_blob(points, point, saved->hash, a, &there);
        if (!there || source_read(&source, NULL, &content, NULL) || !content.held)
            edit.after_known = EDIT_UNKNOWN;
        else
            edit.after_known = EDIT_TEXT;
        edit.after = buf_slice(&content.bytes);
    }

    /* A copy that cannot be read shows nothing about the file. */
    if (edit.path && edit.after_known != EDIT_UNKNOWN)
        rc = tool_edits_put(t, &edit, e);
    source_content_fini(&content);
    return rc;
}

static enum err_code put_points(const struct store *st, const struct session_ref *ref,
                                struct tool_edits *t, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_row *row = session_row_new();
    struct goat_points points;
    struct arena a = { 0 };
    enum err_code rc = row ? goat_points_read(ref, &points, e) : err_nomem(e);

    if (rc) {
        session_row_free(row);
        return rc;
    }
    if (st->ops->describe(st, &everywhere, ref, row, NULL) == ERR_OK && row->cwd.n)
        t->cwd = arena_copy(&row->arena, row->cwd).p;
    for (size_t i = 0; i < points.n && !rc; i++)
        for (size_t k = 0; k < points.point[i].n && !rc; k++)
            rc = put_saved(t, &points, &points.point[i], &points.point[i].saved[k], &a, e);
    tool_edits_fini(t);
    arena_fini(&a);
    goat_points_fini(&points);
    session_row_free(row);
    return rc;
}

struct counted {
    const struct session_ref *ref;
    edit_fn *fn;
    void *arg;
    size_t n;
    int64_t forked_ms;
};

/* The time at which a fork was made; TIME_NONE if the session is not a fork. */
static int64_t forked_ms(const struct session_ref *ref)
{
    struct arena a = { 0 };
    struct goat_metadata m;
    bool is = goat_metadata_of(ref, &a, &m) == ERR_OK && !m.why && m.text[GOAT_PARENT].n > 0;
    int64_t ms = is ? m.created_ms : TIME_NONE;

    arena_fini(&a);
    return ms;
}

/* Rows older than the fork were copied. */
static enum err_code goat_count_edit(const struct edit *edit, void *arg, struct err *e)
{
    struct counted *c = arg;
    struct edit marked = *edit;

    c->forked_ms = c->n ? c->forked_ms : forked_ms(c->ref);
    c->n++;
    marked.copied = edit->time_ms < c->forked_ms;
    return c->fn(&marked, c->arg, e);
}

/* The checkpoints are read if the session edited the file. */
enum err_code goat_edits(const struct store *st, const struct session_ref *ref,
                         const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct tool_edits t = { .q = q, .fn = fn, .arg = arg };
    struct counted c = { .ref = ref, .fn = fn, .arg = arg };
    enum err_code rc = goat_has_log(ref)
                           ? tool_edits_files(st->ops, ref, q, NULL, goat_count_edit, &c, e)
                           : ERR_OK;

    return rc || !c.n || !q->seen ? rc : put_points(st, ref, &t, e);
}
