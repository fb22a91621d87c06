#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/git/repo.h"
#include "store/rewind/plan/snapped.h"

/* ---- notes ---- */

enum { NOTES_MAX = 64 << 20 };

/* Takes the next note from `rest`: its kind, its number and its path, which ends with a NUL byte. Returns false at the
 * end. */
static bool next_note(struct slice *rest, struct snapped_note *note, struct slice *path)
{
    const char *stop = rest->n ? memchr(rest->p, '\0', rest->n) : NULL;
    const char *text = rest->p;
    char *end;

    if (!stop)
        return false;
    note->kind = *text;
    note->number = (unsigned)strtoul(text + 1, &end, 8);
    *path = *end == ' ' ? (struct slice){ end + 1, (size_t)(stop - end - 1) }
                        : (struct slice){ stop, 0 };
    *rest = (struct slice){ stop + 1, rest->n - (size_t)(stop + 1 - text) };
    return true;
}

static enum err_code load_notes(const struct snapped *s, const struct snapshot *x,
                                struct snapped_notes *out, struct err *e)
{
    struct snapped_note first = { .kind = '\0' };
    struct slice path, rest;
    git_oid id;

    if (!x->notes.n || git_oid_fromstrn(&id, x->notes.p, x->notes.n))
        return ERR_OK;
    TRY(repo_blob(s->repo, &id, NOTES_MAX, &out->text, e));
    rest = buf_slice(&out->text);
    out->has_dir_modes = next_note(&rest, &first, &path) && first.kind == 'v';
    return ERR_OK;
}

static enum err_code add_above(struct slice_set *above, struct slice path, struct err *e)
{
    uint32_t number;

    for (size_t i = path.n - 1, known = SIZE_MAX; i > 0 && known != above->n; i--) {
        if (path.p[i] != '/')
            continue;
        known = above->n;
        NEED(!slice_set_add(above, (struct slice){ path.p, i }, &number));
    }
    return ERR_OK;
}

/* Remembers the directories above what a note names. */
static enum err_code index_above(struct snapped_notes *n, const struct snapped_note *note,
                                 struct slice path, struct err *e)
{
    return note->kind == 'd'                        ? add_above(&n->above_empty, path, e)
           : note->kind == 'i' || note->kind == 's' ? add_above(&n->above_left_out, path, e)
                                                    : ERR_OK;
}

/* Remembers the notes by their paths. */
static enum err_code index_notes(struct snapped_notes *n, struct slice rest, struct err *e)
{
    struct snapped_note note;
    struct slice path;
    uint32_t number;

    while (next_note(&rest, &note, &path)) {
        if (!path.n)
            continue;
        NEED(n->note = arena_grow(&n->arena, n->note, n->paths.n, sizeof *n->note));
        NEED(!slice_set_add(&n->paths, path, &number));
        n->note[number] = note;
        n->left_out += note.kind == 'i' || note.kind == 's';
        n->has_dirs |= note.kind == 'd' || note.kind == 'm';
        TRY(index_above(n, &note, path, e));
    }
    return ERR_OK;
}

enum err_code snapped_notes_read(const struct snapped *s, const struct snapshot *x,
                                 struct snapped_notes *out, struct err *e)
{
    TRY(load_notes(s, x, out, e));
    return index_notes(out, buf_slice(&out->text), e);
}

const struct snapped_note *snapped_notes_find(const struct snapped_notes *n, struct slice path)
{
    static const struct snapped_note none;
    uint32_t number = slice_set_find(&n->paths, path);

    return number == SLICE_SET_NONE ? &none : &n->note[number];
}

void snapped_notes_fini(struct snapped_notes *n)
{
    buf_fini(&n->text);
    slice_set_fini(&n->paths);
    slice_set_fini(&n->above_empty);
    slice_set_fini(&n->above_left_out);
    arena_fini(&n->arena);
}

unsigned snapped_mode_at(const git_tree *tree, const char *path)
{
    git_tree_entry *entry = NULL;
    unsigned mode = git_tree_entry_bypath(&entry, tree, path) == 0
                        ? (unsigned)git_tree_entry_filemode_raw(entry)
                        : 0;

    git_tree_entry_free(entry);
    return mode;
}

bool snapped_is_dir(const git_tree *tree, const struct snapped_notes *n, const char *path,
                    unsigned *mode)
{
    const struct slice of = slice_of(path);
    const struct snapped_note *note = snapped_notes_find(n, of);

    *mode = note->kind == 'd' || note->kind == 'm' ? note->number : 0755;
    return note->kind == 'd' || note->kind == 'm' ||
           slice_set_find(&n->above_empty, of) != SLICE_SET_NONE ||
           slice_set_find(&n->above_left_out, of) != SLICE_SET_NONE ||
           S_ISDIR(snapped_mode_at(tree, path));
}

/* ---- what changed ---- */

/* One of two snapshots that are compared, with the notes that the other one does not have. */
struct snapped_side {
    const git_tree *tree;
    bool is_second;
    struct snapped_notes notes;
};

static void snapped_side_fini(struct snapped_side *x)
{
    snapped_notes_fini(&x->notes);
}

/* Leaves out the notes at both ends that two texts have in common, because there may be one for each file. */
static void snapped_notes_trim(struct slice *a, struct slice *b)
{
    size_t same = 0, whole = 0, n = a->n < b->n ? a->n : b->n;

    if (!n)
        return;
    for (; same < n && a->p[same] == b->p[same]; same++)
        if (!a->p[same])
            whole = same + 1;
    *a = (struct slice){ a->p + whole, a->n - whole };
    *b = (struct slice){ b->p + whole, b->n - whole };
    n = a->n < b->n ? a->n : b->n;
    for (same = whole = 0; same < n && a->p[a->n - 1 - same] == b->p[b->n - 1 - same]; same++)
        if (!a->p[a->n - 1 - same])
            whole = same;
    a->n -= whole;
    b->n -= whole;
}

static enum err_code read_sides(const struct snapped *s, const struct snapshot *from,
                                const struct snapshot *to, struct snapped_side *x,
                                struct snapped_side *y, struct err *e)
{
    if (slice_eq(from->notes, to->notes))
        return ERR_OK;
    TRY(load_notes(s, from, &x->notes, e));
    TRY(load_notes(s, to, &y->notes, e));
    struct slice x_notes = buf_slice(&x->notes.text), y_notes = buf_slice(&y->notes.text);

    snapped_notes_trim(&x_notes, &y_notes);
    TRY(index_notes(&x->notes, x_notes, e));
    TRY(index_notes(&y->notes, y_notes, e));

    /* Whether a path without files is a directory also depends on the notes in common. */
    for (int i = 0; i < 2 && (x->notes.has_dirs || y->notes.has_dirs); i++) {
        struct snapped_notes *n = i ? &y->notes : &x->notes;
        struct slice rest = buf_slice(&n->text), path;
        struct snapped_note note;

        while (next_note(&rest, &note, &path))
            if (path.n)
                TRY(index_above(n, &note, path, e));
    }
    return ERR_OK;
}

/* A file of which only the permissions differ: all else is a difference of the trees. A file without a note has the
 * permissions that both trees show. */
static bool is_mode_delta(const struct snapped_side *x, const struct snapped_side *y,
                          const char *path, struct snapped_delta *d)
{
    git_tree_entry *was = NULL, *is = NULL;
    bool same = git_tree_entry_bypath(&was, x->tree, path) == 0 &&
                git_tree_entry_bypath(&is, y->tree, path) == 0 &&
                git_oid_equal(git_tree_entry_id(was), git_tree_entry_id(is)) &&
                git_tree_entry_filemode_raw(was) == git_tree_entry_filemode_raw(is);

    if (same) {
        d->left = (unsigned)git_tree_entry_filemode_raw(is);
        d->id = *git_tree_entry_id(is);
    }
    git_tree_entry_free(was);
    git_tree_entry_free(is);
    return same;
}

/* An empty directory that came, one with a note that went, or one whose permissions changed. The other ones come and go
 * with the files in them. */
static bool is_dir_delta(const struct snapped_side *x, const struct snapped_side *y,
                         const char *path, struct snapped_delta *d)
{
    unsigned was_mode, mode;
    const bool was = snapped_is_dir(x->tree, &x->notes, path, &was_mode),
               is = snapped_is_dir(y->tree, &y->notes, path, &mode);

    d->left = is ? S_IFDIR : 0;
    d->removed = !is;
    return was && is ? was_mode != mode && x->notes.has_dir_modes && y->notes.has_dir_modes
           : is      ? snapped_notes_find(&y->notes, slice_of(path))->kind == 'd'
                     : was && !snapped_mode_at(y->tree, path);
}

/* Reports the paths of `x` whose notes differ from those of `y`. Those with two notes are reported once. */
static enum err_code report_notes(struct snapped *s, const struct snapped_side *x,
                                  const struct snapped_side *y, size_t turn,
                                  const struct snapped_turn *t, delta_fn *fn, struct err *e)
{
    const struct snapped_side *first = x->is_second ? y : x, *second = x->is_second ? x : y;
    enum err_code rc = ERR_OK;

    for (uint32_t i = 0; i < x->notes.paths.n && !rc; i++) {
        const struct slice path = x->notes.paths.text[i];
        const struct snapped_note *a = &x->notes.note[i], *b = snapped_notes_find(&y->notes, path);
        struct snapped_delta d = { .path = path.p };

        if (b->kind && (x->is_second || (a->kind == b->kind && a->number == b->number)))
            continue;
        if ((a->kind == 'f' || b->kind == 'f') && is_mode_delta(first, second, path.p, &d))
            rc = fn(s, &d, turn, t, e);
        else if ((strchr("dm", a->kind) || (b->kind && strchr("dm", b->kind))) &&
                 is_dir_delta(first, second, path.p, &d))
            rc = fn(s, &d, turn, t, e);
    }
    return rc;
}

/* A file that went may have made room for a directory. */
static struct snapped_delta delta_of_git(const git_diff_delta *from, const struct snapped_side *y)
{
    struct snapped_delta d = { .path =
                                   from->new_file.path ? from->new_file.path : from->old_file.path,
                               .removed = from->status == GIT_DELTA_DELETED,
                               .left = from->new_file.mode,
                               .id = from->new_file.id };
    unsigned mode;

    if (d.removed)
        d.left = snapped_is_dir(y->tree, &y->notes, d.path, &mode) ? S_IFDIR : 0;
    return d;
}

enum err_code snapped_each_delta(struct snapped *s, const struct snapshot *from,
                                 const struct snapshot *to, size_t turn,
                                 const struct snapped_turn *t, delta_fn *fn, struct err *e)
{
    AUTO_TREE *a = NULL, *b = NULL;
    git_diff_options how;
    git_diff *diff = NULL;

    if (slice_eq(from->tree, to->tree) && slice_eq(from->notes, to->notes))
        return ERR_OK;
    TRY(snapped_tree(s, from, &a, e));
    TRY(snapped_tree(s, to, &b, e));
    CLEANUP(snapped_side_fini)
    struct snapped_side x = { .tree = a }, y = { .tree = b, .is_second = true };

    TRY(read_sides(s, from, to, &x, &y, e));
    git_diff_options_init(&how, GIT_DIFF_OPTIONS_VERSION);
    how.flags = GIT_DIFF_INCLUDE_TYPECHANGE; /* a link and a file are one path */
    int answer = git_diff_tree_to_tree(&diff, s->repo, a, b, &how);
    enum err_code rc = answer ? repo_error(e, answer, s->log.dir, "compare snapshots") : ERR_OK;

    for (size_t i = 0, n = rc ? 0 : git_diff_num_deltas(diff); i < n && !rc; i++) {
        const struct snapped_delta d = delta_of_git(git_diff_get_delta(diff, i), &y);

        rc = fn(s, &d, turn, t, e);
    }
    git_diff_free(diff);
    TRY(rc);
    TRY(report_notes(s, &x, &y, turn, t, fn, e));
    return report_notes(s, &y, &x, turn, t, fn, e);
}
