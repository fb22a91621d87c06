#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/cline/cline.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/saved_states.h"

/* A rewind with Cline's checkpoints. Before a prompt, Cline makes a commit of the project in the
 * project's repository: its tree contains the files that git tracks, and the tree of its third
 * parent the others. If nothing had changed, or if the commit failed, Cline records HEAD instead,
 * whose files need not be those of the project. A checkpoint does not show who made a change. So a
 * file is rewound if a call of the agent changed it, and the state that the calls left is computed
 * by applying them to the file of the checkpoint. If the present file differs from that, a person
 * or a command changed it, or the checkpoint was HEAD and not the project; then it is held back. */

enum { FILE_MOST = 32 << 20, POINTS_MOST = 100000 };

struct point {
    int64_t run, time_ms; /* the number of the prompt, from 1 */
    struct slice commit;  /* 40 hex digits */
    bool is_stash;        /* else HEAD */
};

/* An edit, and the turn that it belongs to. */
struct kept_edit {
    const char *path, *to;
    enum edit_kind kind;
    int64_t time_ms, turn;
    struct edit_replacement *replacement;
    size_t replacements;
    struct slice after;
    bool has_after;
};

struct history {
    struct file_history files; /* its arena owns everything */
    struct point *point;
    size_t points;
    int64_t *run; /* the number of each prompt of `files` */
    struct kept_edit *change;
    size_t changes;
    git_repository *repo; /* NULL: none */
    const char *root;     /* its work tree, with a slash at its end */
    bool contents;        /* wanted; else only which files were written */
    git_oid blob;         /* the last one read: a file is often the same in several checkpoints */
    struct slice bytes;   /* its bytes */
};

/* ---- the checkpoints of the session ---- */

static enum err_code cline_add_point(struct history *h, struct slice json, struct err *e)
{
    struct arena *a = &h->files.states.arena;
    struct slice run, time, commit;
    struct point p = { .time_ms = TIME_NONE }, *list;

    if (!json_get(json, "runCount", &run) || !json_int(run, &p.run) || p.run < 1 ||
        !json_get_text(json, "ref", a, &commit) || commit.n != GIT_OID_HEXSZ ||
        !slice_is_of(commit, "0123456789abcdef") || h->points == POINTS_MOST)
        return ERR_OK;
    if (json_get(json, "createdAt", &time) && !json_int(time, &p.time_ms))
        p.time_ms = TIME_NONE;
    p.is_stash = json_get_is(json, "kind", "stash");
    p.commit = arena_copy(a, commit);
    list = arena_grow(a, h->point, h->points, sizeof *list);
    if (!list || a->failed)
        return err_nomem(e);
    h->point = list;
    list[h->points++] = p;
    return ERR_OK;
}

/* The checkpoint of a prompt. A checkpoint that would record the same HEAD again is not written, so
 * the previous one is used. NULL: no checkpoint. */
static const struct point *point_of(const struct history *h, int64_t run)
{
    const struct point *best = NULL;

    for (size_t i = 0; i < h->points; i++)
        if (h->point[i].run <= run && (!best || h->point[i].run >= best->run))
            best = &h->point[i];
    return best && (best->run == run || !best->is_stash) ? best : NULL;
}

/* ---- the prompts ---- */

static enum err_code cline_read_row(struct history *h, struct slice row, int64_t *run,
                                    struct err *e)
{
    struct arena *a = &h->files.states.arena;
    struct file_point p = { .time_ms = cline_time(row), .turn = -1 };
    int64_t *list, n;
    struct slice value;

    if (cline_role_is(row, "assistant"))
        return slice_has(row, "\"run_commands\"")
                   ? file_history_shell(&h->files, p.time_ms, SLICE(""), NULL, e)
                   : ERR_OK;
    p.prompt = cline_prompt(row, a);

    /* The number of a person's prompts that the message represents: after a compaction, it may be
     * several. */
    bool is_prompt = p.prompt.n > 0;

    *run += json_at(row, "metadata.userRunSpan", &value) && json_int(value, &n) && n >= 0 &&
                    n < POINTS_MOST
                ? n
                : is_prompt;

    if (!p.prompt.n || !json_get_text(row, "id", a, &p.id))
        return a->failed ? err_nomem(e) : ERR_OK;
    list = arena_grow(a, h->run, h->files.n, sizeof *list);
    if (!list)
        return err_nomem(e);
    h->run = list;
    list[h->files.n] = *run;
    if (point_of(h, *run))
        p.turn = *run;
    return file_history_point(&h->files, p, e);
}

static enum err_code cline_read_prompts(struct history *h, struct err *e)
{
    struct document_rows c;
    struct slice rest, line;
    int64_t run = 0;
    bool torn;
    enum err_code rc = cline_chat_read(h->files.ref, DOCUMENT_MOST, &c, e);

    if (rc)
        return rc;
    rest = buf_slice(&c.lines);
    while (!rc && slice_line(&rest, &line, &torn))
        if (json_valid(line))
            rc = cline_read_row(h, line, &run, e);
    document_rows_fini(&c);
    h->files.no_turn =
        "Cline made no checkpoint for this prompt: it does so only in git repositories";
    return rc;
}

/* ---- the edits ---- */

/* A sub-agent's edit belongs to the turn that was running. */
static int64_t run_of(const struct history *h, const struct edit *edit)
{
    int64_t run = 0;

    for (size_t i = 0; i < h->files.n; i++) {
        const struct file_point *p = &h->files.point[i];

        if (slice_eq(p->id, edit->turn))
            return h->run[i];
        if (p->time_ms <= edit->time_ms)
            run = h->run[i];
    }
    return run;
}

static enum err_code cline_add_edit(const struct edit *edit, void *arg, struct err *e)
{
    struct history *h = arg;
    struct arena *a = &h->files.states.arena;
    struct kept_edit c = { .kind = edit->kind,
                           .time_ms = edit->time_ms,
                           .turn = run_of(h, edit),
                           .replacements = edit->replacements,
                           .has_after = edit->after_known == EDIT_TEXT };
    struct kept_edit *list = arena_grow(a, h->change, h->changes, sizeof *list);

    c.path = file_history_path(&h->files, slice_of(edit->path));
    c.to = edit->to ? file_history_path(&h->files, slice_of(edit->to)) : NULL;
    c.after = arena_copy(a, edit->after);
    c.replacement = arena_zalloc(a, (c.replacements + 1) * sizeof *c.replacement);
    for (size_t i = 0; c.replacement && i < c.replacements; i++) {
        c.replacement[i] = edit->replacement[i];
        c.replacement[i].old_text = arena_copy(a, edit->replacement[i].old_text);
        c.replacement[i].new_text = arena_copy(a, edit->replacement[i].new_text);
    }
    if (!list || !c.path || a->failed)
        return err_nomem(e);
    h->change = list;
    list[h->changes++] = c;
    return ERR_OK;
}

/* ---- what a checkpoint has ---- */

static const char why_gone[] = "Cline's checkpoint is no longer in the repository";

static bool cline_read_blob(struct history *h, const git_oid *id, struct slice *out)
{
    struct buf bytes = { 0 };

    if (!h->bytes.p || !git_oid_equal(&h->blob, id)) {
        if (repo_blob(h->repo, id, FILE_MOST, &bytes, NULL)) {
            buf_fini(&bytes);
            return false;
        }
        h->blob = *id;
        h->bytes = arena_copy(&h->files.states.arena, buf_slice(&bytes));
        buf_fini(&bytes);
    }
    *out = h->bytes;
    return true;
}

/* Sets the content from a tree. Returns false if it is not in it. */
static bool cline_read_entry(struct history *h, git_tree *tree, const char *name,
                             struct saved_state *x)
{
    git_tree_entry *entry = NULL;
    int answer = tree ? git_tree_entry_bypath(&entry, tree, name) : GIT_ENOTFOUND;
    bool found = answer != GIT_ENOTFOUND;
    unsigned mode = answer ? 0 : (unsigned)git_tree_entry_filemode_raw(entry);

    if (answer) {
        x->why = why_gone;
    } else if ((mode & 0170000) != 0100000) {
        x->why = "it was a link or a directory";
    } else if (cline_read_blob(h, git_tree_entry_id(entry), &x->bytes)) {
        x->content = SAVED_BYTES;
        x->runs = (mode & 0100) != 0;
    } else {
        x->why = why_gone;
    }
    git_tree_entry_free(entry);
    return found;
}

static bool is_removed(const struct history *h, const char *path, int64_t turn)
{
    for (size_t i = 0; i < h->changes; i++) {
        const struct kept_edit *c = &h->change[i];

        if (c->turn >= turn && (c->kind == EDIT_DELETE || c->kind == EDIT_RENAME) &&
            (strcmp(c->path, path) == 0 || (c->to && strcmp(c->to, path) == 0)))
            return true;
    }
    return false;
}

/* Returns true if a file that is not in the checkpoint did not exist: the first edit from the turn
 * on created it, or moved another file to its place. */
static bool was_absent(const struct history *h, const struct point *p, const char *path,
                       int64_t turn)
{
    for (size_t i = 0; i < h->changes; i++) {
        const struct kept_edit *c = &h->change[i];

        if (c->turn >= turn && strcmp(c->path, path) == 0)
            return c->kind == EDIT_WRITE;
        if (c->turn >= turn && c->to && strcmp(c->to, path) == 0) {
            /* git lists the untracked files below the directory, without the ignored ones. */
            size_t n = strlen(h->files.cwd);
            int ignored = 1;

            return p->is_stash && strncmp(path, h->files.cwd, n) == 0 && path[n] == '/' &&
                   git_ignore_path_is_ignored(&ignored, h->repo, path + strlen(h->root)) == 0 &&
                   !ignored;
        }
    }
    return false;
}

static void cline_read_file(struct history *h, const struct point *p, const char *path,
                            int64_t turn, struct saved_state *x)
{
    const char *name = path + strlen(h->root);
    git_tree *tree, *others;

    /* The tree with the tracked files, and the one with the others; NULL if there were no
     * others. */
    git_oid id;
    git_commit *commit = NULL, *parent = NULL;
    bool ok = git_oid_fromstrn(&id, p->commit.p, p->commit.n) == 0 &&
              git_commit_lookup(&commit, h->repo, &id) == 0;

    tree = others = NULL;
    if (ok)
        ok = repo_tree(h->repo, git_commit_tree_id(commit), &tree, NULL) == ERR_OK;
    if (ok && p->is_stash && git_commit_parentcount(commit) > 2)
        ok = git_commit_parent(&parent, commit, 2) == 0 &&
             repo_tree(h->repo, git_commit_tree_id(parent), &others, NULL) == ERR_OK;
    git_commit_free(parent);
    git_commit_free(commit);

    if (!ok) {
        x->why = why_gone;
    } else if (!cline_read_entry(h, tree, name, x) && !cline_read_entry(h, others, name, x)) {
        x->why = "Cline's checkpoint does not contain it: git ignores it, or it was created later";
        if (was_absent(h, p, path, turn))
            x->content = SAVED_ABSENT;
    } else if (x->content == SAVED_BYTES && repo_converts(h->repo, name, path)) {
        x->content = SAVED_UNKNOWN;
        x->why = "git converts this file, so its checkpoint need not have its bytes";
    }
    git_tree_free(tree);
    git_tree_free(others);
}

/* ---- the states ---- */

/* Adds the copies of all turns up to that of an edit; later ones would show a person's changes as
 * the session's. */
static enum err_code add_copies(struct history *h, const char *path, int64_t turn, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < h->files.n && !rc; i++) {
        const struct file_point *at = &h->files.point[i];

        if (at->turn >= 0 && at->turn <= turn &&
            !saved_states_has(&h->files.states, path, at->turn)) {
            /* Add what the file was before a turn. */
            const struct point *p = point_of(h, at->turn);
            struct saved_state x = { .turn = at->turn, .content = SAVED_UNKNOWN };

            x.time_ms = p->run == at->turn && p->time_ms != TIME_NONE ? p->time_ms : at->time_ms;
            if (!h->repo || strncmp(path, h->root, strlen(h->root)) != 0)
                x.why = "it is not in the repository that has Cline's checkpoints";
            else if (!p->is_stash && is_removed(h, path, at->turn))
                x.why = "Cline recorded only the commit at that time";
            else
                cline_read_file(h, p, path, at->turn, &x);
            rc = saved_states_add(&h->files.states, path, &x, e);
        }
    }
    return rc;
}

static enum err_code cline_add_write(struct history *h, const struct kept_edit *c, const char *path,
                                     struct saved_state x, struct err *e)
{
    x.is_write = true;
    x.turn = c->turn;
    x.time_ms = c->time_ms;
    return saved_states_add(&h->files.states, path, &x, e);
}

static enum err_code cline_add_change(struct history *h, const struct kept_edit *c, struct err *e)
{
    struct saved_state made = {
        .content = SAVED_BYTES, .bytes = c->after, .has_found = true, .found = SLICE("")
    };
    struct saved_state gone = { .content = SAVED_ABSENT };
    enum err_code rc = h->contents ? add_copies(h, c->path, c->turn, e) : ERR_OK;

    if (!rc && h->contents && c->to)
        rc = add_copies(h, c->to, c->turn, e);
    if (rc)
        return rc;
    if (c->kind == EDIT_WRITE && c->has_after)
        return cline_add_write(h, c, c->path, made, e);
    if (c->kind != EDIT_DELETE && c->kind != EDIT_RENAME) {
        struct saved_state x = { .time_ms = c->time_ms,
                                 .content = SAVED_UNKNOWN,
                                 .why = "its last edit is not recorded" };

        rc = c->replacements ? ERR_OK : cline_add_write(h, c, c->path, x, e);

        for (size_t i = 0; i < c->replacements && !rc; i++) {
            if (saved_states_edit(&h->files.states, c->path, c->replacement[i].old_text,
                                  c->replacement[i].new_text, c->replacement[i].all, &x))
                return err_nomem(e);
            rc = cline_add_write(h, c, c->path, x, e);
        }
        return rc;
    }
    if (c->to) {
        made = saved_states_newest(&h->files.states, c->path);
        made.has_found = made.is_first = false;
        rc = cline_add_write(h, c, c->to, made, e);
    }
    return rc ? rc : cline_add_write(h, c, c->path, gone, e);
}

/* ---- members ---- */

static enum err_code cline_history_read(struct history *h, const struct store *st,
                                        const struct session_ref *ref, bool contents, struct err *e)
{
    const struct edit_query everything = { .paths = 0 };
    const char *root;

    *h = (struct history){ .files = { .ref = ref }, .contents = contents };

    /* What the session's own file says: its directory, and its checkpoints. */
    struct arena *a = &h->files.states.arena;
    struct buf session = { 0 };
    struct slice cwd, list, key, value;
    struct json_iter it;
    enum err_code rc = cline_session_read(h->files.ref, &session);

    if (!rc && json_get_text(buf_slice(&session), "cwd", a, &cwd) && cwd.n && cwd.p[0] == '/' &&
        !memchr(cwd.p, '\0', cwd.n))
        h->files.cwd = arena_copy(a, cwd).p;
    if (!rc && json_at(buf_slice(&session), "metadata.checkpoint.history", &list) &&
        json_type(list) == JSON_ARRAY && json_iter_open(&it, list))
        while (!rc && json_iter_next(&it, &key, &value))
            rc = cline_add_point(h, value, e);
    buf_fini(&session);
    rc = rc || a->failed ? err_nomem(e) : ERR_OK;

    if (!rc)
        rc = cline_read_prompts(h, e);
    if (!rc)
        rc = cline_edits(st, ref, &everything, cline_add_edit, h, e);

    /* Without the repository, the states before the turns are unknown, which is not an error. */
    if (!rc && contents && h->files.cwd && !repo_open(h->files.cwd, &h->repo, NULL)) {
        root = git_repository_workdir(h->repo);
        h->root = root ? arena_copy_text(&h->files.states.arena, root) : NULL;
        if (!h->root) {
            repo_close(h->repo);
            h->repo = NULL;
        }
    }
    for (size_t i = 0; i < h->changes && !rc; i++)
        rc = cline_add_change(h, &h->change[i], e);
    repo_close(h->repo);
    if (!rc && h->files.states.arena.failed)
        rc = err_nomem(e);
    if (rc)
        saved_states_fini(&h->files.states);
    return rc;
}

enum err_code cline_checkpoints(const struct store *st, const struct session_ref *ref,
                                struct checkpoint_list *out, struct err *e)
{
    struct history h;

    TRY(cline_history_read(&h, st, ref, false, e));
    return file_history_checkpoints(&h.files, out, e);
}

enum err_code cline_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                         struct rewind_plan *out, struct err *e)
{
    struct history h;

    TRY(cline_history_read(&h, st, ref, true, e));
    return file_history_plan(&h.files, point, h.files.cwd, out, e);
}

/* ---- edits: the result of a call shows that the file was not there before ---- */

static void cline_fill_edit(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    (void)a, (void)counts;
    if (edit->kind != EDIT_REPLACE || edit->replacements != 1 ||
        !slice_has(row, "File created successfully at: "))
        return;
    edit->kind = EDIT_WRITE;
    edit->after = edit->replacement->new_text;
    edit->after_known = EDIT_TEXT;
    edit->replacements = 0;
}

enum err_code cline_edits(const struct store *st, const struct session_ref *ref,
                          const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    return tool_edits_rows(st, ref, cline_load, q, cline_fill_edit, fn, arg, e);
}
