#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/scan/field.h"
#include "store/api/env.h"
#include "store/systems/plugin/plugin.h"

/* The rows of a session as a file without a name, which Claude Code's system reads. They go there as they arrive, so that
 * a session may be larger than the memory that a reader should take. */

enum { PIECE = 256 << 10, IN_MEMORY = 8 << 20 };

/* ---- the file ---- */

static enum err_code copy_to_disk(const struct plugin_text *t, const struct disk_new *to)
{
    const struct file from = { .fd = t->file.fd };
    AUTO_BUF piece = { 0 };
    size_t got = 1;

    if (buf_reserve(&piece, PIECE))
        return ERR_NOMEM;
    for (int64_t at = 0; got; at += (int64_t)got) {
        TRY(file_read(&from, at, piece.p, PIECE, &got, NULL));
        TRY(disk_write(to->fd, (struct slice){ piece.p, got }, NULL, to->path, NULL));
    }
    return ERR_OK;
}

/* Rows that take too much memory go to a file below the state directory, whose name a kill never leaves behind. If that
 * cannot be written, they stay in memory. */
static void move_to_disk(const struct plugin_store *p, struct plugin_text *t)
{
    const struct store_env *env = p->base.env;
    struct disk_new *copy = malloc(sizeof *copy);
    char dir[PATH_MAX];

    t->stays = true;
    if (!copy || env_state_path(env, "changes", dir, NULL) ||
        disk_own_dir(env->state_dir, dir, NULL) || disk_new_open(dir, 0600, copy, NULL)) {
        free(copy);
        return;
    }
    if (copy_to_disk(t, copy)) {
        disk_new_discard(copy);
        free(copy);
        return;
    }
    fs_memory_file_close(&t->file);
    t->copy = copy;
    t->file.fd = copy->fd;
    fs_fd_path(copy->fd, t->file.path);
}

static enum err_code plugin_text_write(const struct plugin_store *p, struct plugin_text *t,
                                       struct err *e)
{
    TRY(disk_write(t->file.fd, buf_slice(&t->bytes), NULL, t->ref->path.p, e));
    t->n += (int64_t)t->bytes.n;
    t->bytes.n = 0;
    if (t->n > IN_MEMORY && !t->stays)
        move_to_disk(p, t);
    return ERR_OK;
}

void plugin_text_close(struct plugin_text *t)
{
    if (t->copy) {
        t->file.fd = -1;
        disk_new_discard(t->copy);
    }
    fs_memory_file_close(&t->file);
    free(t->copy);
    t->copy = NULL;
    buf_fini(&t->bytes);
    arena_fini(&t->arena);
}

/* ---- the rows ---- */

struct gathering {
    const struct plugin_store *p;
    struct plugin_text *out;
    size_t rows, most;
    bool agent; /* the document about a sub-agent is not one of its rows */
    struct err why;
};

bool plugin_is_agent_metadata(struct slice row)
{
    return row.n < 1 << 16 && json_get_is(row, "type", "agent_metadata");
}

static enum err_code plugin_gather_row(int64_t position, struct slice row, void *arg)
{
    struct gathering *g = arg;
    struct plugin_text *t = g->out;
    const size_t before = t->bytes.n;

    (void)position;
    if (g->rows++ == g->most)
        return ERR_CANCELLED;
    if (g->agent && plugin_is_agent_metadata(row))
        return ERR_OK;
    TRY(plugin_row_add(&t->bytes, row, plugin_reorders(g->p)));
    if (!t->dir.n) {
        const struct slice line = { t->bytes.p + before, t->bytes.n - before };

        if (!field_first(line, true, "cwd", &t->arena, &t->dir) ||
            (t->dir.n && !(t->dir = arena_copy(&t->arena, t->dir)).p))
            return ERR_NOMEM;
    }
    return t->bytes.n < PIECE ? ERR_OK : plugin_text_write(g->p, t, &g->why);
}

void plugin_text_lend(const struct plugin_store *p, struct plugin_text *t)
{
    t->lent = *t->ref;
    t->lent.store = p->claude;
    t->lent.path = slice_of(t->file.path);
    t->lent.alone = t->lent.nameless = true;
}

/* *more: there are more rows than `most`, and nothing is open. */
static enum err_code open_rows(const struct plugin_store *p, const struct session_ref *ref,
                               size_t most, const atomic_bool *cancel, struct plugin_text *out,
                               bool *more, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct reprise_plugin_key key;
    struct gathering g = { .p = p, .out = out, .most = most };

    *more = false;
    *out = (struct plugin_text){ .file.fd = -1, .ref = ref };
    TRY(plugin_key_of(p, ref, &a, &key, e));
    g.agent = key.subpath != NULL;
    TRY(fs_memory_file_open(&out->file, SLICE(""), e));
    enum err_code rc = plugin_read(p, &key, 0, cancel, plugin_gather_row, &g, e);

    if (rc && g.why.code && e)
        *e = g.why;
    *more = rc == ERR_CANCELLED && g.rows > most;
    if (!rc && g.rows == 0)
        rc = err_set(e, ERR_NOT_FOUND, ref->path.p, "read the session: it has no rows");
    if (!rc)
        rc = plugin_text_write(p, out, e);
    if (rc)
        plugin_text_close(out);
    else
        plugin_text_lend(p, out);
    return *more ? ERR_OK : rc;
}

enum err_code plugin_text_open(const struct plugin_store *p, const struct session_ref *ref,
                               const atomic_bool *cancel, struct plugin_text *out, struct err *e)
{
    bool more;

    return open_rows(p, ref, SIZE_MAX, cancel, out, &more, e);
}

enum err_code plugin_text_error(const struct plugin_text *t, enum err_code rc, struct err *e)
{
    if (rc && e && strcmp(e->path, t->file.path) == 0)
        snprintf(e->path, sizeof e->path, "%.*s", SLICE_ARG(t->ref->path));
    return rc;
}

enum err_code plugin_text_keep(struct plugin_text *t, struct transcript *made,
                               struct transcript **out, struct err *e)
{
    char *path = strndup(t->ref->path.p, t->ref->path.n);
    const struct file from = { .fd = t->file.fd };
    size_t got = 0;
    enum err_code rc = path ? ERR_OK : err_nomem(e);

    if (!rc && t->n) { /* the transcript outlives the file */
        rc = buf_reserve(&t->bytes, (size_t)t->n)
                 ? err_nomem(e)
                 : file_read(&from, 0, t->bytes.p, (size_t)t->n, &got, e);
        t->bytes.n = got;
    }
    if (!rc && buf_reserve(&t->bytes, 1))
        rc = err_nomem(e);
    if (rc) {
        free(path);
        transcript_free(made);
        return rc;
    }
    free(made->path);
    made->path = path;
    made->bytes = t->bytes;
    made->id = t->ref->file;
    made->relative_offsets = true;
    t->bytes = (struct buf){ 0 };
    *out = made;
    return ERR_OK;
}

/* ---- for readers of everything outside this folder ---- */

enum err_code plugin_copy_open(const struct session_ref *ref, size_t most, struct plugin_copy *out,
                               struct err *e)
{
    struct plugin_text *t = malloc(sizeof *t);

    *out = (struct plugin_copy){ .text = t };
    NEED(t);
    enum err_code rc = open_rows(plugin_of(ref->store), ref, most, NULL, t, &out->more, e);

    if (rc || out->more) {
        free(t);
        out->text = NULL;
    } else {
        out->ref = t->lent;
    }
    return rc;
}

void plugin_copy_close(struct plugin_copy *copy)
{
    if (copy->text)
        plugin_text_close(copy->text);
    free(copy->text);
    *copy = (struct plugin_copy){ .text = NULL };
}
