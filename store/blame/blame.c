#include "store/blame/blame.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/io/file.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/libgit2.h"
#include "store/git/repo.h"

/* ---- commits ---- */

/* Git records seconds, so a commit may seem older than an edit in the same second. */
static int64_t blame_commit_ms(const git_commit *commit)
{
    return (int64_t)git_commit_time(commit) * 1000 + 999;
}

/* The blob of the file at this path below the work tree; all zero if the commit does not have the file. */
static git_oid blame_blob_in(git_repository *repo, const git_commit *commit, const char *path)
{
    git_oid id = { { 0 } };
    AUTO_TREE *tree = NULL;
    CLEANUP(git_tree_entry_free_at) git_tree_entry *entry = NULL;

    if (!repo_tree(repo, git_commit_tree_id(commit), &tree, NULL) &&
        !git_tree_entry_bypath(&entry, tree, path))
        git_oid_cpy(&id, git_tree_entry_id(entry));
    return id;
}

/* A merge that took the file from one of its parents did not change it. */
static bool changed_file(git_repository *repo, const git_commit *commit, const char *path)
{
    git_oid now = blame_blob_in(repo, commit, path);
    unsigned parents = git_commit_parentcount(commit);

    for (unsigned i = 0; i < parents; i++) {
        AUTO_COMMIT *parent = NULL;

        if (git_commit_parent(&parent, commit, i))
            return false;
        git_oid was = blame_blob_in(repo, parent, path);

        if (git_oid_equal(&was, &now))
            return false;
    }
    return parents > 0 || !git_oid_is_zero(&now);
}

enum err_code blame_commits_read(const char *path, int64_t since_ms, struct blame_commits *out,
                                 struct err *e)
{
    CLEANUP(blame_commits_fini) struct blame_commits c = { .n = 0 };
    AUTO_REPO *repo = NULL;
    CLEANUP(git_revwalk_free_at) git_revwalk *walk = NULL;
    char dir[PATH_MAX];
    git_oid id;

    *out = c;

    /* A file outside a repository has no commits, which is not an error. */
    if (!path_parent(path, dir) || repo_open(dir, &repo, NULL))
        return ERR_OK;
    const char *top = git_repository_workdir(repo);
    size_t n = top ? strlen(top) : 0;

    if (!n || strncmp(path, top, n) != 0 || git_revwalk_new(&walk, repo) ||
        git_revwalk_push_head(walk))
        return ERR_OK;

    /* The newest commits come first, so that the first one that is too old ends the walk. */
    git_revwalk_sorting(walk, GIT_SORT_TIME);
    for (size_t i = 0; i < BLAME_COMMITS_MAX && !git_revwalk_next(&id, walk); i++) {
        AUTO_COMMIT *commit = NULL;
        struct blame_commit *list;

        if (git_commit_lookup(&commit, repo, &id) || blame_commit_ms(commit) < since_ms)
            break;
        if (!changed_file(repo, commit, path + n))
            continue;
        const char *summary = git_commit_summary(commit);

        NEED(list = arena_grow(&c.arena, c.commit, c.n, sizeof *list));
        c.commit = list;
        list += c.n++;
        list->time_ms = blame_commit_ms(commit);
        list->subject = arena_copy(&c.arena, slice_of(summary ? summary : ""));
        git_oid_tostr(list->id, sizeof list->id, &id);
        NEED(!c.arena.failed);
    }
    HAND_OVER(out, c);
    return ERR_OK;
}

void blame_commits_fini(struct blame_commits *c)
{
    arena_fini(&c->arena);
    *c = (struct blame_commits){ .n = 0 };
}

const struct blame_commit *blame_commits_after(const struct blame_commits *c, int64_t time_ms)
{
    const struct blame_commit *after = NULL;

    for (size_t i = 0; i < c->n && c->commit[i].time_ms >= time_ms; i++)
        after = &c->commit[i];
    return after;
}

/* ---- replaying ---- */

/* The files that are replayed: all names that the file had. */
struct replayed {
    struct blame_history *h;
    const struct blame_query *q;
    struct {
        const char *path;
        struct blame_text text;
    } file[64];
    size_t n;
    struct blame_budget budget;
};

/* A few seconds. */
static const uint64_t replay_bytes_max = UINT64_C(4) << 30;

enum { REPLAYED_MAX = 64, AHEAD = 8, AHEAD_MS = 5000 };

/* The text of the file with this name; NULL if there are too many names. The names of the query are one file. */
static struct blame_text *replayed_text(struct replayed *r, const char *path)
{
    for (size_t i = 1; i < r->q->paths; i++)
        if (strcmp(r->q->path[i], path) == 0)
            path = r->q->path[0];
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->file[i].path, path) == 0)
            return &r->file[i].text;
    if (r->n == REPLAYED_MAX)
        return NULL;
    r->file[r->n].path = path;
    r->file[r->n].text = (struct blame_text){ .states = { .wanted = true }, .budget = &r->budget };
    return &r->file[r->n++].text;
}

/* Whatever is known about a file moves with it; a file that had its new name is gone. */
static enum err_code replay_rename(struct replayed *r, const struct edit *edit, struct err *e)
{
    size_t n = r->n;

    for (size_t i = 0; i < n; i++) {
        struct blame_text *from = &r->file[i].text, *to;
        const char *name =
            blame_history_renamed(r->file[i].path, edit->path, edit->to, &r->h->arena);

        NEED(!r->h->arena.failed);
        /* A file that is known to be gone cannot have been renamed. */
        if (!name || from->absent || !(to = replayed_text(r, name)) || to == from)
            continue;
        blame_text_fini(to);
        *to = *from;
        *from = (struct blame_text){ .states = { .wanted = true }, .budget = &r->budget };
        TRY(blame_text_remove(from, e));
    }
    return ERR_OK;
}

/* Returns true if the edit applies to the present text, as far as is known. */
static bool blame_follows(const struct blame_text *t, const struct edit *edit)
{
    AUTO_BUF b = { 0 };
    struct slice plain;

    if (edit->before_known != EDIT_TEXT)
        return true;
    return blame_text_plain(edit->before, &b, &plain) == ERR_OK &&
           blame_text_is(t, EDIT_TEXT, plain);
}

/* Sessions that work at the same time record their edits a little late, and not always in the order in which they were
 * done. If the next edit does not apply to the present text, but one of those that follow shortly does, that one is
 * next. */
static void choose_next(struct replayed *r, size_t at)
{
    struct blame_event *event = r->h->event, next = event[at];
    const struct blame_text *t = replayed_text(r, next.edit.path);

    if (!t || !t->known || next.edit.before_known != EDIT_TEXT || blame_follows(t, &next.edit))
        return;
    for (size_t i = at + 1; i < r->h->n && i <= at + AHEAD; i++) {
        struct blame_event other = event[i];

        if (other.edit.time_ms - next.edit.time_ms > AHEAD_MS)
            return;
        if (other.edit.before_known != EDIT_TEXT || strcmp(other.edit.path, next.edit.path) != 0 ||
            other.session == next.session || !blame_follows(t, &other.edit))
            continue;
        memmove(&event[at + 1], &event[at], (i - at) * sizeof *event);
        event[at] = other;
        return;
    }
}

static enum err_code replay(struct replayed *r, struct err *e)
{
    struct blame_history *h = r->h;

    for (size_t i = 0; i < h->n; i++) {
        struct blame_text *t;

        choose_next(r, i);
        const struct edit *edit = &h->event[i].edit;

        if (h->event[i].has_hash) {
            if ((t = replayed_text(r, edit->path)))
                TRY(blame_text_restore(t, h->event[i].sha256, e));
        } else if (edit->kind == EDIT_RENAME) {
            TRY(replay_rename(r, edit, e));
        } else if (edit->kind ==
                   EDIT_DELETE) { /* a file was deleted, or a directory with all that is in it */
            for (size_t k = 0; k < r->n; k++)
                if (blame_history_renamed(r->file[k].path, edit->path, "", &h->arena))
                    TRY(blame_text_remove(&r->file[k].text, e));
            NEED(!h->arena.failed);
        } else if ((t = replayed_text(r, edit->path))) {
            TRY(blame_text_edit(t, edit, (uint32_t)i, e));
        }
    }
    return ERR_OK;
}

/* ---- the file ---- */

/* Reads the file, or takes the query's text, and finds its lines. */
static enum err_code read_blamed_file(struct blame *b, const struct blame_query *q, struct err *e)
{
    CLEANUP(file_close) struct file f = { .fd = -1 };
    const char *path = q->path[0];
    struct slice rest, line;
    size_t cap = 0;
    bool torn;

    if (q->text) {
        NEED(!buf_add(&b->file, *q->text));
    } else {
        TRY(file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e));
        if (f.id.size > BLAME_FILE_MAX)
            return err_set(e, ERR_UNSUPPORTED, path,
                           "the file is too large to be compared by line");
        TRY(file_read_all(AT_FDCWD, path, FILE_FOLLOW, BLAME_FILE_MAX, &b->file, e));
    }
    rest = buf_slice(&b->file);
    if (rest.n && memchr(rest.p, '\0', rest.n))
        return err_set(e, ERR_UNSUPPORTED, path, "the file is not text");
    while (slice_line(&rest, &line, &torn)) {
        if (b->lines == BLAME_LINES_MAX)
            return err_set(e, ERR_UNSUPPORTED, path, "the file has too many lines");
        NEED(array_reserve(b->line, cap, b->lines + 1));

        /* Lines are compared with those of sessions, which have no carriage return. */
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        b->line[b->lines++] = line;
    }
    return ERR_OK;
}

static void replayed_free(struct replayed *r)
{
    for (size_t i = 0; i < r->n; i++)
        blame_text_fini(&r->file[i].text);
    free(r);
}

DEFINE_CLEANUP(struct replayed, replayed_free);

enum err_code blame_file(struct store *const stores[], size_t n, const struct blame_query *q,
                         struct blame *out, struct err *e)
{
    CLEANUP(blame_fini) struct blame b = { .lines = 0 };

    assert(q->paths > 0);
    TRY(read_blamed_file(&b, q, e));
    TRY(blame_history_read(stores, n, q, &b.history, e));
    while (q->until_ms && b.history.n &&
           b.history.event[b.history.n - 1].edit.time_ms > q->until_ms)
        b.history.n--;

    /* Replays the history, and takes the owners of the lines from the text that results. */
    CLEANUP(replayed_free_at) struct replayed *r = calloc(1, sizeof *r);
    struct blame_text *t;

    NEED(r);
    r->h = &b.history;
    r->q = q;
    r->budget.left = replay_bytes_max;
    TRY(replay(r, e));
    t = replayed_text(r, q->path[0]);
    if (!t) /* more names than are followed */
        return err_set(e, ERR_UNSUPPORTED, q->path[0], "the file had too many names");
    TRY(blame_text_observe(t, buf_slice(&b.file), e));
    NEED(b.owner = malloc((b.lines + 1) * sizeof *b.owner));
    for (size_t i = 0; i < b.lines; i++)
        b.owner[i] = i < t->lines ? t->owner[i] : BLAME_NOBODY;
    b.stopped = r->budget.stopped;

    HAND_OVER(out, b);
    return ERR_OK;
}

void blame_fini(struct blame *b)
{
    blame_history_fini(&b->history);
    buf_fini(&b->file);
    free(b->line);
    free(b->owner);
    *b = (struct blame){ .lines = 0 };
}

const struct blame_event *blame_event_of(const struct blame *b, size_t line)
{
    return line < b->lines && b->owner[line] != BLAME_NOBODY ? &b->history.event[b->owner[line]]
                                                             : NULL;
}

bool blame_same_turn(const struct blame_event *x, const struct blame_event *y)
{
    return x == y || (x && y && x->session == y->session && slice_eq(x->edit.turn, y->edit.turn));
}

const struct session_ref *blame_session_of(const struct blame *b, size_t line)
{
    const struct blame_event *event = blame_event_of(b, line);

    return event ? b->history.ref[event->session] : NULL;
}

struct slice blame_first_line(struct slice prompt)
{
    struct slice line;
    bool torn;

    while (slice_line(&prompt, &line, &torn)) {
        while (line.n && (unsigned char)*line.p <= ' ')
            line = (struct slice){ line.p + 1, line.n - 1 };
        if (line.n)
            return line;
    }
    return SLICE("");
}
