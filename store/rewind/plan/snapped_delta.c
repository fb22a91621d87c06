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
    bool has_all_dirs; /* snapped_is_dir also knows those of the notes in common */
    struct snapped_notes notes;
};

/* Two sides, and who is told what differs. */
struct snapped_pair {
    struct snapped *s;
    struct snapped_side x, y;
    size_t turn;
    const struct snapped_turn *t;
    delta_fn *fn;
};

static void snapped_pair_fini(struct snapped_pair *p)
{
    snapped_notes_fini(&p->x.notes);
    snapped_notes_fini(&p->y.notes);
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

/* Makes the directories of all notes known, those of the notes in common, too. */
static enum err_code index_all_dirs(struct snapped_side *x, struct err *e)
{
    struct slice rest = buf_slice(&x->notes.text), path;
    struct snapped_note note;
    uint32_t number;

    while (!x->has_all_dirs && next_note(&rest, &note, &path)) {
        if (!path.n)
            continue;
        TRY(index_above(&x->notes, &note, path, e));
        if (note.kind == 'd' || note.kind == 'm')
            NEED(!slice_set_add(&x->notes.above_empty, path, &number));
    }
    x->has_all_dirs = true;
    return ERR_OK;
}

static enum err_code read_sides(struct snapped_pair *p, const struct snapshot *from,
                                const struct snapshot *to, struct err *e)
{
    TRY(load_notes(p->s, from, &p->x.notes, e));
    TRY(load_notes(p->s, to, &p->y.notes, e));
    struct slice x_notes = buf_slice(&p->x.notes.text), y_notes = buf_slice(&p->y.notes.text);

    if (slice_eq(from->notes, to->notes))
        return ERR_OK;
    snapped_notes_trim(&x_notes, &y_notes);
    TRY(index_notes(&p->x.notes, x_notes, e));
    TRY(index_notes(&p->y.notes, y_notes, e));

    /* Whether a path without files is a directory also depends on the notes in common. */
    if (p->x.notes.has_dirs || p->y.notes.has_dirs) {
        TRY(index_all_dirs(&p->x, e));
        TRY(index_all_dirs(&p->y, e));
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
        d->left = d->was = (unsigned)git_tree_entry_filemode_raw(is);
        d->id = d->was_id = *git_tree_entry_id(is);
    }
    git_tree_entry_free(was);
    git_tree_entry_free(is);
    return same;
}

/* A note on a directory came, went or changed. The directory itself changed if it is there with the note and was not there
 * before, or the other way round, or if its permissions differ. Otherwise it may have lost its last entry, or have got its
 * first one. */
static bool is_dir_delta(const struct snapped_pair *p, const char *path, struct snapped_delta *d)
{
    const struct snapped_side *x = &p->x, *y = &p->y;
    unsigned was_mode, mode;
    const bool was = snapped_is_dir(x->tree, &x->notes, path, &was_mode),
               is = snapped_is_dir(y->tree, &y->notes, path, &mode),
               was_empty = snapped_notes_find(&x->notes, slice_of(path))->kind == 'd';

    d->left = is ? S_IFDIR : 0;
    d->removed = !is;
    d->empty = snapped_notes_find(&y->notes, slice_of(path))->kind == 'd';
    if (was && is && was_mode != mode && x->notes.has_dir_modes && y->notes.has_dir_modes)
        return true;
    if (was && is)
        d->kind = DELTA_FILLED;
    return was && is ? was_empty != d->empty
           : is      ? d->empty
                     : was && !snapped_mode_at(y->tree, path);
}

/* Reports the directories above a path that came or went with it. */
static enum err_code report_dirs_above(struct snapped_pair *p, const char *path, struct err *e)
{
    struct snapped_side *x = &p->x, *y = &p->y;
    unsigned mode;

    for (size_t n = strlen(path); n > 0; n--) {
        if (path[n - 1] != '/')
            continue;
        AUTO_FREE char *dir = strndup(path, n - 1);

        NEED(dir);
        unsigned left = snapped_mode_at(y->tree, dir);

        if (S_ISDIR(left) && S_ISDIR(snapped_mode_at(x->tree, dir)))
            break;
        TRY(index_all_dirs(x, e));
        TRY(index_all_dirs(y, e));
        bool was = snapped_is_dir(x->tree, &x->notes, dir, &mode),
             is = snapped_is_dir(y->tree, &y->notes, dir, &mode);
        const struct snapped_delta d = {
            .path = dir, .kind = DELTA_WITH_ENTRIES, .removed = !is, .left = is ? S_IFDIR : 0
        };

        if (was && is)
            break;
        if (was != is && (is || !left)) /* a file in its place is a difference of its own */
            TRY(p->fn(p->s, &d, p->turn, p->t, e));
    }
    return ERR_OK;
}

/* Reports the paths of `x` whose notes differ from those of `y`. Those with two notes are reported once. */
static enum err_code report_notes(struct snapped_pair *p, const struct snapped_side *x,
                                  const struct snapped_side *y, struct err *e)
{
    for (uint32_t i = 0; i < x->notes.paths.n; i++) {
        const struct slice path = x->notes.paths.text[i];
        const struct snapped_note *a = &x->notes.note[i], *b = snapped_notes_find(&y->notes, path);
        struct snapped_delta d = { .path = path.p };

        if (b->kind && (x->is_second || (a->kind == b->kind && a->number == b->number)))
            continue;
        if ((a->kind == 'f' || b->kind == 'f') && is_mode_delta(&p->x, &p->y, path.p, &d))
            TRY(p->fn(p->s, &d, p->turn, p->t, e));
        else if ((strchr("dm", a->kind) || (b->kind && strchr("dm", b->kind))) &&
                 is_dir_delta(p, path.p, &d))
            TRY(p->fn(p->s, &d, p->turn, p->t, e));
        if (!b->kind && strchr("dis", a->kind))
            TRY(report_dirs_above(p, path.p, e));
    }
    return ERR_OK;
}

/* A file that went may have made room for a directory. */
static enum err_code report_git_delta(struct snapped_pair *p, const git_diff_delta *from,
                                      struct err *e)
{
    struct snapped_delta d = { .path =
                                   from->new_file.path ? from->new_file.path : from->old_file.path,
                               .removed = from->status == GIT_DELTA_DELETED,
                               .left = from->new_file.mode,
                               .id = from->new_file.id,
                               .was = from->old_file.mode,
                               .was_id = from->old_file.id };
    unsigned mode;

    if (d.removed) {
        TRY(index_all_dirs(&p->y, e));
        d.left = snapped_is_dir(p->y.tree, &p->y.notes, d.path, &mode) ? S_IFDIR : 0;
        d.empty = d.left && snapped_notes_find(&p->y.notes, slice_of(d.path))->kind == 'd';
    }
    TRY(p->fn(p->s, &d, p->turn, p->t, e));
    return from->status == GIT_DELTA_DELETED || from->status == GIT_DELTA_ADDED
               ? report_dirs_above(p, d.path, e)
               : ERR_OK;
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
    CLEANUP(snapped_pair_fini)
    struct snapped_pair p = {
        .s = s, .x.tree = a, .y = { .tree = b, .is_second = true }, .turn = turn, .t = t, .fn = fn
    };

    TRY(read_sides(&p, from, to, e));
    git_diff_options_init(&how, GIT_DIFF_OPTIONS_VERSION);
    how.flags = GIT_DIFF_INCLUDE_TYPECHANGE; /* a link and a file are one path */
    int answer = git_diff_tree_to_tree(&diff, s->repo, a, b, &how);
    enum err_code rc = answer ? repo_error(e, answer, s->log.dir, "compare snapshots") : ERR_OK;

    for (size_t i = 0, n = rc ? 0 : git_diff_num_deltas(diff); i < n && !rc; i++)
        rc = report_git_delta(&p, git_diff_get_delta(diff, i), e);
    git_diff_free(diff);
    TRY(rc);
    TRY(report_notes(&p, &p.x, &p.y, e));
    return report_notes(&p, &p.y, &p.x, e);
}
