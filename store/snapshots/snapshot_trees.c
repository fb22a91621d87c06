#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/snapshots/snapshot.h"
#include "store/snapshots/snapshot_walk.h"

static const uint8_t no_oid[SNAPSHOT_OID];

/* One line of a tree, with what git sorts it by. */
struct tree_line {
    struct slice name;
    const struct snapshot_entry *entry;
};

/* git sorts a directory as if its name ended with a slash. */
static int compare_tree_lines(const void *left, const void *right)
{
    const struct tree_line *a = left, *b = right;
    size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
    int d = memcmp(a->name.p, b->name.p, n);

    if (d)
        return d;
    int next_a = a->name.n > n                    ? (unsigned char)a->name.p[n]
                 : a->entry->kind == SNAPSHOT_DIR ? '/'
                                                  : 0;
    int next_b = b->name.n > n                    ? (unsigned char)b->name.p[n]
                 : b->entry->kind == SNAPSHOT_DIR ? '/'
                                                  : 0;
    return next_a - next_b;
}

/* Makes the tree of a directory whose children have their ids. */
static enum err_code make_tree(struct snapshot_walk *w, uint32_t dir, struct err *e)
{
    struct snapshot_index *x = &w->now;
    struct snapshot_entry *root = &x->entry[dir];
    AUTO_FREE struct tree_line *line = malloc((root->below + 1) * sizeof *line);
    size_t n = 0;

    NEED(line);
    for (uint32_t i = dir + 1; i <= dir + root->below; i += 1 + x->entry[i].below) {
        const struct snapshot_entry *child = &x->entry[i];

        if (child->kind == SNAPSHOT_FILE || child->kind == SNAPSHOT_LINK ||
            (child->kind == SNAPSHOT_DIR && memcmp(child->oid, no_oid, SNAPSHOT_OID) != 0))
            line[n++] = (struct tree_line){ snapshot_entry_name(x, child), &x->entry[i] };
    }
    qsort(line, n, sizeof *line, compare_tree_lines);
    w->bytes.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct snapshot_entry *child = line[i].entry;
        const char *mode = child->kind == SNAPSHOT_DIR    ? "40000"
                           : child->kind == SNAPSHOT_LINK ? "120000"
                           : child->mode & 0100           ? "100755"
                                                          : "100644";

        NEED(!buf_addf(&w->bytes, "%s ", mode) && !buf_add(&w->bytes, line[i].name) &&
             !buf_add_byte(&w->bytes, '\0') &&
             !buf_add(&w->bytes, (struct slice){ (const char *)child->oid, SNAPSHOT_OID }));
    }
    if (n || dir == 0)
        return snapshot_pack_add(&w->pack, GIT_OBJECT_TREE, buf_slice(&w->bytes), root->oid, e);
    memset(root->oid, 0, SNAPSHOT_OID);
    return ERR_OK;
}

/* Adds one note: what kind, a number in octal, and the path of the entry. */
static enum err_code add_entry_note(struct buf *notes, char kind, unsigned number,
                                    const struct buf *path, struct err *e)
{
    NEED(!buf_addf(notes, "%c%o ", kind, number) && !buf_add(notes, buf_slice(path)) &&
         !buf_add_byte(notes, '\0'));
    return ERR_OK;
}

/* Adds the notes on a directory and everything in it; w->path is its path. */
static enum err_code note_dir(struct snapshot_walk *w, uint32_t dir, struct buf *notes,
                              struct err *e)
{
    const struct snapshot_index *x = &w->now;
    size_t path_n = w->path.n;

    for (uint32_t i = dir + 1; i <= dir + x->entry[dir].below; i += 1 + x->entry[i].below) {
        const struct snapshot_entry *t = &x->entry[i];
        unsigned mode = t->mode & 07777;

        w->path.n = path_n;
        NEED(!(path_n && buf_add_byte(&w->path, '/')) &&
             !buf_add(&w->path, snapshot_entry_name(x, t)));

        /* A tree records neither these permissions nor an empty directory, nor what was left out. */
        if (t->kind == SNAPSHOT_FILE && mode != 0644 && mode != 0755)
            TRY(add_entry_note(notes, 'f', mode, &w->path, e));
        else if (t->kind == SNAPSHOT_DIR && !t->below)
            TRY(add_entry_note(notes, 'd', mode, &w->path, e));
        else if (t->kind == SNAPSHOT_DIR && mode != 0755)
            TRY(add_entry_note(notes, 'm', mode, &w->path, e));
        else if (t->kind == SNAPSHOT_IGNORED)
            TRY(add_entry_note(notes, 'i', mode, &w->path, e));
        else if (t->kind == SNAPSHOT_SKIPPED)
            TRY(add_entry_note(notes, 's', t->why, &w->path, e));
        if (t->kind == SNAPSHOT_DIR)
            TRY(note_dir(w, i, notes, e));
    }
    w->path.n = path_n;
    return ERR_OK;
}

enum err_code snapshot_walk_trees(struct snapshot_walk *w, struct err *e)
{
    AUTO_BUF notes = { 0 };

    memcpy(w->now.notes, w->old->notes, SNAPSHOT_OID);
    if (!w->stale)
        return ERR_OK;

    /* A blob that was only in the project's own repository is copied when the file is another one
     * now: as long as it is in the work tree, git has it too. */
    CLEANUP(slice_set_fini) struct slice_set still = { .n = 0 };
    const struct snapshot_index *from = w->last->n ? w->last : w->old;
    uint32_t number;

    for (uint32_t i = 0; w->last->n && i < w->now.n; i++)
        if (w->now.entry[i].borrowed)
            NEED(!slice_set_add(&still,
                                (struct slice){ (const char *)w->now.entry[i].oid, SNAPSHOT_OID },
                                &number));
    for (uint32_t i = 0; i < from->n; i++) {
        const struct snapshot_entry *t = &from->entry[i];

        if (!t->borrowed ||
            (from == w->old
                 ? w->kept[i] == WALK_KEPT
                 : slice_set_find(&still, (struct slice){ (const char *)t->oid, SNAPSHOT_OID }) !=
                       SLICE_SET_NONE))
            continue;
        TRY(snapshot_walk_check_time(w, e));
        TRY(snapshot_borrow_copy(&w->borrow, t->oid, &w->pack, e));
    }

    for (uint32_t i = w->now.n; i > 0; i--)
        if (w->now.entry[i - 1].stale) {
            TRY(snapshot_walk_check_time(w, e));
            TRY(make_tree(w, i - 1, e));
            w->now.entry[i - 1].stale = 0;
        }
    memset(w->now.notes, 0, SNAPSHOT_OID);
    w->path.n = 0;
    TRY(add_entry_note(&notes, 'v', SNAPSHOT_NOTES_VERSION, &w->path, e));
    TRY(note_dir(w, 0, &notes, e));
    return notes.n
               ? snapshot_pack_add(&w->pack, GIT_OBJECT_BLOB, buf_slice(&notes), w->now.notes, e)
               : ERR_OK;
}
