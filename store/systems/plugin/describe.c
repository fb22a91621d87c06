#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/window.h"
#include "store/systems/plugin/plugin.h"

/* The row of a session in a list, from the first and the last rows of its transcript. */

enum {
    HEAD_BYTES = 16 << 10, /* what is requested for one session */
    TAIL_BYTES = 32 << 10,
    TAIL_ROWS = 64,
};

static enum err_code add_head_row(int64_t position, struct slice row, void *arg)
{
    struct plugin_ends *x = arg;

    if (!x->paged && x->head.n >= WINDOW_BYTES) {
        x->whole = false;

        /* Keeps the last rows of at least WINDOW_BYTES, which is what describing a file reads of
         * its end. */
        struct buf *tail = &x->tail;

        TRY(plugin_row_add(tail, row, x->reorders));
        if (tail->n > x->kept + 3 * (size_t)WINDOW_BYTES) {
            const size_t most = tail->n - WINDOW_BYTES;
            const char *end = memrchr(tail->p, '\n', most);
            const size_t gone = end ? (size_t)(end + 1 - tail->p) : 0;

            memmove(tail->p, tail->p + gone, tail->n - gone);
            tail->n -= gone;
            x->kept = tail->n;
        }
        return ERR_OK;
    }
    if (x->paged && x->head.n && x->head.n + row.n > HEAD_BYTES) {
        x->whole = false;
        return ERR_CANCELLED;
    }
    x->last = position;
    return plugin_row_add(&x->head, row, x->reorders);
}

static enum err_code add_tail_row(int64_t position, struct slice row, void *arg)
{
    struct plugin_ends *x = arg;

    return position > x->last ? plugin_row_add(&x->tail, row, x->reorders) : ERR_OK;
}

enum err_code plugin_read_ends(const struct plugin_store *p, const struct session_ref *ref,
                               const atomic_bool *cancel, struct plugin_ends *x, struct err *e)
{
    struct arena a = { 0 };
    struct reprise_plugin_key key;
    enum err_code rc = plugin_key_of(p, ref, &a, &key, e);

    x->whole = true;
    x->paged = p->table.page != NULL;
    if (!rc)
        rc = plugin_read(p, &key, 0, cancel, add_head_row, x, e);
    if (rc == ERR_CANCELLED && !x->whole)
        rc = ERR_OK;
    if (!rc && !x->whole && x->paged)
        rc = plugin_page(p, &key, 0, TAIL_ROWS, TAIL_BYTES, cancel, add_tail_row, x, e);
    arena_fini(&a);
    return rc;
}

enum err_code plugin_describe_rows(const struct plugin_store *p, const struct session_ref *ref,
                                   struct plugin_ends *x, struct session_row *row, struct err *e)
{
    const struct scope everything = { .all = true };
    struct fs_memory_file file;
    struct session_ref lent = *ref;
    enum err_code rc = ERR_OK;

    if (buf_add(&x->head, buf_slice(&x->tail)))
        return err_nomem(e);
    TRY(fs_memory_file_open(&file, buf_slice(&x->head), e));
    lent.store = p->claude;
    lent.path = slice_of(file.path);
    lent.alone = lent.nameless = true;
    rc = claude_ops.describe(p->claude, &everything, &lent, row, e);
    fs_memory_file_close(&file);

    /* Without a time in its rows it has that of the unnamed file, which is now. */
    if (!rc && row->activity_ms == row->modified_ms)
        row->activity_ms = TIME_NONE;
    return rc;
}

static enum err_code hide(const struct scope *scope, struct session_row *row, struct err *e)
{
    AUTO_ARENA a = { 0 };
    size_t n;

    if (scope->leave_programmatic && row->flags & SESSION_PROGRAMMATIC) {
        row->hidden = HIDDEN_PROGRAMMATIC;
    } else if (!scope->all && !session_scope_has(scope, row->cwd)) {
        const char **project = plugin_projects_of(scope, &a, &n);

        if (!project)
            return err_nomem(e);
        if (!plugin_is_project_of(project, n, row->ref.folder))
            row->hidden = HIDDEN_COLLISION;
    }
    return ERR_OK;
}

enum err_code plugin_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct plugin_ends x = { .reorders = plugin_reorders(p), .row = row };
    struct file_id file = ref->file;
    enum err_code rc = plugin_find_ends(p, scope, ref, &file, &x, e);

    if (!rc && !x.made)
        rc = plugin_describe_rows(p, ref, &x, row, e);
    if (!rc) {
        /* Claude Code's system has described the unnamed file; this adds the facts about the
         * session. */
        struct arena *a = &row->arena;

        row->ref = (struct session_ref){ .store = &p->base,
                                         .id = arena_copy(a, ref->id),
                                         .path = arena_copy(a, ref->path),
                                         .folder = arena_copy(a, ref->folder),
                                         .file = file,
                                         .also = ref->also };

        /* The operations that a session of this store supports. */
        row->can = CAN_RESUME | CAN_FORK | (p->ops.set ? CAN_RENAME | CAN_TAG : 0) |
                   (p->ops.remove ? CAN_REMOVE : 0);

        row->flags &= ~(unsigned)(SESSION_LIVE | SESSION_TORN | SESSION_DAMAGED);
        row->live_pid = 0;
        row->restorable = 0;
        row->expires_ms = TIME_NONE;
        row->modified_ms = session_modified_ms(&file);
        if (row->activity_ms == TIME_NONE)
            row->activity_ms = row->modified_ms;

        rc = a->failed ? err_nomem(e) : ERR_OK;
    }
    if (!rc && row->hidden == HIDDEN_NOT)
        rc = hide(scope, row, e);
    buf_fini(&x.head);
    buf_fini(&x.tail);
    return rc;
}
