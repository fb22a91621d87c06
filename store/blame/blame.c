#include "store/blame/blame.h"

#include <fcntl.h>
#include <git2.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/io/file.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"

struct commit_walk {
    git_repository *repo;
    const char *path; /* below the work tree */
    int64_t since_ms;
    struct blame_commits *out;
};

/* Git records seconds, so a commit may seem older than an edit in the same second. */
static int64_t commit_ms(const git_commit *commit)
{
    return (int64_t)git_commit_time(commit) * 1000 + 999;
}

/* The file's blob in a commit; all zero if the commit does not have the file. */
static git_oid blob_in(const struct commit_walk *w, const git_commit *commit)
{
    git_oid id = { { 0 } };
    git_tree *tree = NULL;
    git_tree_entry *entry = NULL;

    if (!repo_tree(w->repo, git_commit_tree_id(commit), &tree, NULL) &&
        !git_tree_entry_bypath(&entry, tree, w->path))
        git_oid_cpy(&id, git_tree_entry_id(entry));
    git_tree_entry_free(entry);
    git_tree_free(tree);
    return id;
}

/* A merge that took the file from one of its parents did not change it. */
static bool changed_file(const struct commit_walk *w, const git_commit *commit)
{
    git_oid now = blob_in(w, commit);
    unsigned parents = git_commit_parentcount(commit);
    bool changed = parents > 0 || !git_oid_is_zero(&now);

    for (unsigned i = 0; i < parents && changed; i++) {
        git_commit *parent = NULL;

        if (git_commit_parent(&parent, commit, i))
            return false;
        git_oid was = blob_in(w, parent);

        changed = !git_oid_equal(&was, &now);
        git_commit_free(parent);
    }
    return changed;
}

static enum err_code add_commit(struct commit_walk *w, const git_commit *commit, struct err *e)
{
    struct blame_commits *c = w->out;
    struct blame_commit *list = arena_grow(&c->arena, c->commit, c->n, sizeof *list);
    const char *summary = git_commit_summary((git_commit *)(uintptr_t)commit);

    if (!list)
        return err_nomem(e);
    c->commit = list;
    list[c->n].time_ms = commit_ms(commit);
    list[c->n].subject = arena_copy(&c->arena, slice_of(summary ? summary : ""));
    git_oid_tostr(list[c->n].id, sizeof list[c->n].id, git_commit_id(commit));
    c->n++;
    return c->arena.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code walk_commits(struct commit_walk *w, git_revwalk *walk, struct err *e)
{
    git_oid id;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < BLAME_COMMITS_MAX && !rc && !git_revwalk_next(&id, walk); i++) {
        git_commit *commit = NULL;

        if (git_commit_lookup(&commit, w->repo, &id))
            break;
        bool old = commit_ms(commit) < w->since_ms;

        if (!old && changed_file(w, commit))
            rc = add_commit(w, commit, e);
        git_commit_free(commit);
        if (old)
            break;
    }
    return rc;
}

/* The path below the work tree; NULL if it is not in it. */
static const char *path_below(git_repository *repo, const char *path)
{
    const char *top = git_repository_workdir(repo);
    size_t n = top ? strlen(top) : 0;

    return n && strncmp(path, top, n) == 0 ? path + n : NULL;
}

enum err_code blame_commits_read(const char *path, int64_t since_ms, struct blame_commits *out,
                                 struct err *e)
{
    struct commit_walk w = { .since_ms = since_ms, .out = out };
    char dir[PATH_MAX];
    git_revwalk *walk = NULL;
    enum err_code rc = ERR_OK;

    *out = (struct blame_commits){ .n = 0 };
    if (!path_parent(path, dir) || repo_open(dir, &w.repo, NULL))
        return ERR_OK;
    w.path = path_below(w.repo, path);
    if (w.path && !git_revwalk_new(&walk, w.repo) && !git_revwalk_push_head(walk)) {
        git_revwalk_sorting(walk, GIT_SORT_TIME);
        rc = walk_commits(&w, walk, e);
    }
    git_revwalk_free(walk);
    repo_close(w.repo);
    if (rc)
        blame_commits_fini(out);
    return rc;
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

/* The names of the query are one file. */
static struct blame_text *text_of(struct replayed *r, const char *path)
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

/* ---- renames and directories ---- */

/* What is known about a file moves with it; a file that had its new name is gone. */
static enum err_code move_text(struct replayed *r, size_t i, const char *to, struct err *e)
{
    struct blame_text *target = text_of(r, to), *from = &r->file[i].text;

    if (!target || target == from)
        return ERR_OK;
    blame_text_fini(target);
    *target = *from;
    *from = (struct blame_text){ .states = { .wanted = true }, .budget = &r->budget };
    return blame_text_remove(from, e);
}

static enum err_code replay_rename(struct replayed *r, const struct edit *edit, struct err *e)
{
    size_t n = r->n;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        const char *to = blame_history_renamed(r->file[i].path, edit->path, edit->to, &r->h->arena);

        if (r->h->arena.failed)
            return err_nomem(e);
        /* A file that is known to be gone cannot have been renamed. */
        if (to && !r->file[i].text.absent)
            rc = move_text(r, i, to, e);
    }
    return rc;
}

static enum err_code replay_delete(struct replayed *r, const struct edit *edit, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < r->n && !rc; i++)
        if (blame_history_renamed(r->file[i].path, edit->path, "", &r->h->arena))
            rc = blame_text_remove(&r->file[i].text, e);
    return rc || !r->h->arena.failed ? rc : err_nomem(e);
}

/* ---- order ---- */

static bool follows(const struct blame_text *t, const struct edit *edit)
{
    struct buf b = { 0 };
    struct slice plain;
    bool is = edit->before_known != EDIT_TEXT || !blame_text_plain(edit->before, &b, &plain);

    if (is && edit->before_known == EDIT_TEXT)
        is = blame_text_is(t, EDIT_TEXT, plain);
    buf_fini(&b);
    return is;
}

/* Sessions that work at the same time record their edits a little late, and not always in the order in which they were
 * done. If the next edit does not apply to the present text, but one of those that follow shortly does, that one is
 * next. */
static void choose_next(struct replayed *r, size_t at)
{
    struct blame_event *event = r->h->event, next = event[at];
    const struct blame_text *t = text_of(r, next.edit.path);

    if (!t || !t->known || next.edit.before_known != EDIT_TEXT || follows(t, &next.edit))
        return;
    for (size_t i = at + 1; i < r->h->n && i <= at + AHEAD; i++) {
        struct blame_event other = event[i];

        if (other.edit.time_ms - next.edit.time_ms > AHEAD_MS)
            return;
        if (other.edit.before_known != EDIT_TEXT || strcmp(other.edit.path, next.edit.path) != 0 ||
            other.session == next.session || !follows(t, &other.edit))
            continue;
        memmove(&event[at + 1], &event[at], (i - at) * sizeof *event);
        event[at] = other;
        return;
    }
}

static enum err_code replay(struct replayed *r, struct err *e)
{
    struct blame_history *h = r->h;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < h->n && !rc; i++) {
        choose_next(r, i);
        const struct edit *edit = &h->event[i].edit;
        struct blame_text *t;

        if (h->event[i].has_hash)
            rc = (t = text_of(r, edit->path)) ? blame_text_restore(t, h->event[i].sha256, e)
                                              : ERR_OK;
        else if (edit->kind == EDIT_RENAME)
            rc = replay_rename(r, edit, e);
        else if (edit->kind == EDIT_DELETE)
            rc = replay_delete(r, edit, e);
        else if ((t = text_of(r, edit->path)))
            rc = blame_text_edit(t, edit, (uint32_t)i, e);
    }
    return rc;
}

/* ---- the file ---- */

static enum err_code read_file(const char *path, struct buf *out, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e);

    if (rc)
        return rc;
    int64_t size = f.id.size;

    file_close(&f);
    if (size > BLAME_FILE_MAX)
        return err_set(e, ERR_UNSUPPORTED, path, "the file is too large to be compared by line");
    rc = file_read_all(AT_FDCWD, path, FILE_FOLLOW, BLAME_FILE_MAX, out, e);
    if (!rc && out->n && memchr(out->p, '\0', out->n))
        rc = err_set(e, ERR_UNSUPPORTED, path, "the file is not text");
    return rc;
}

static enum err_code split_lines(struct blame *b, const char *path, struct err *e)
{
    struct slice rest = buf_slice(&b->file), line;
    size_t cap = 0;
    bool torn;

    while (slice_line(&rest, &line, &torn)) {
        if (b->lines == BLAME_LINES_MAX)
            return err_set(e, ERR_UNSUPPORTED, path, "the file has too many lines");
        if (!array_reserve(b->line, cap, b->lines + 1))
            return err_nomem(e);
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        b->line[b->lines++] = line;
    }
    return ERR_OK;
}

static enum err_code copy_owners(struct blame *b, struct replayed *r, const struct blame_query *q,
                                 struct err *e)
{
    struct blame_text *t = text_of(r, q->path[0]);
    enum err_code rc;

    if (!t) /* more names than are followed */
        return err_set(e, ERR_UNSUPPORTED, q->path[0], "the file had too many names");
    rc = blame_text_observe(t, buf_slice(&b->file), e);
    if (rc)
        return rc;
    b->owner = malloc((b->lines + 1) * sizeof *b->owner);
    if (!b->owner)
        return err_nomem(e);
    for (size_t i = 0; i < b->lines; i++)
        b->owner[i] = i < t->lines ? t->owner[i] : BLAME_NOBODY;
    return ERR_OK;
}

static enum err_code blame_lines(struct blame *b, const struct blame_query *q, struct err *e)
{
    struct replayed *r = calloc(1, sizeof *r);
    enum err_code rc = r ? ERR_OK : err_nomem(e);

    if (!rc) {
        r->h = &b->history;
        r->q = q;
        r->budget.left = replay_bytes_max;
        rc = replay(r, e);
    }
    if (!rc)
        rc = copy_owners(b, r, q, e);
    b->stopped = r ? r->budget.stopped : NULL;
    for (size_t i = 0; r && i < r->n; i++)
        blame_text_fini(&r->file[i].text);
    free(r);
    return rc;
}

enum err_code blame_file(struct store *const stores[], size_t n, const struct blame_query *q,
                         struct blame *out, struct err *e)
{
    struct blame b = { .lines = 0 };
    enum err_code rc = read_file(q->path[0], &b.file, e);

    if (!rc)
        rc = split_lines(&b, q->path[0], e);
    if (!rc)
        rc = blame_history_read(stores, n, q, &b.history, e);
    if (!rc)
        rc = blame_lines(&b, q, e);
    if (rc)
        blame_fini(&b);
    else
        *out = b;
    return rc;
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

const struct session_ref *blame_session_of(const struct blame *b, size_t line)
{
    const struct blame_event *event = blame_event_of(b, line);

    return event ? b->history.ref[event->session] : NULL;
}
