#include "store/maintenance/project_find.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/api/edit.h"
#include "store/fs/path.h"
#include "store/git/identity.h"
#include "store/maintenance/project_move.h"
#include "store/maintenance/project_note.h"
#include "store/query/listing.h"

/* A directory that was moved leaves no new address. So likely places are compared with everything
 * that is known of it, and a person decides: no directory is changed here.
 *
 *   sessions -> evidence: notes, commits, remotes, edited files -> places -> rank -> the best few
 *
 * The order of enum find_rank is the order of certainty, on which the sorting and the choice at the
 * end depend. A proof that a place is another project (earlier sessions there, or another first
 * commit) counts before any likeness of files or names. The disk is not searched: a few directories
 * are listed, one level deep, with limits on time and number. */

enum {
    FIND_MS = 3000,         /* for the directories */
    FIND_DIRS = 20000,      /* that are looked at */
    FIND_SESSIONS = 8,      /* of the project, which are read */
    FIND_SESSION = 8 << 20, /* and the size of the largest */
    FIND_HEAD = 64 << 10,   /* where agents record a commit */
    FIND_FILES = 64,
    FIND_HEX = 40,
    FIND_URL = 1000,
};

/* The ways in which a place is like the directory, the surest first. */
enum find_rank {
    RANK_SAME,
    RANK_WORKTREE,
    RANK_FIRST,
    RANK_REMOTE,
    RANK_COMMIT,
    RANK_FILES,
    RANK_NAME
};

/* A directory of other sessions, and since when it has any. */
struct find_other {
    const char *dir;
    int64_t since_ms;
};

struct finding_project {
    struct project_places *out;
    const struct store_env *env;
    /* The nearest directory that exists, and the one in it that is gone: the directory itself, or one above it. */
    const char *above, *top;
    struct session_ref ref[FIND_SESSIONS]; /* of its sessions, in no order */
    size_t refs;
    int64_t last_ms; /* when it was last worked in; TIME_NONE: not known */
    struct find_other *other;
    size_t others;
    const struct session_ref *const *each;

    struct project_notes notes;
    struct repo_identity known; /* remotes, of all that is known of it */
    const char **commit;
    size_t commits;
    const char **file; /* relative to it */
    size_t files;
    int64_t until_ms;
    size_t left;
};

void project_places_fini(struct project_places *p)
{
    arena_fini(&p->arena);
    *p = (struct project_places){ .n = 0 };
}

/* Other directories that are gone with it may be those of other projects. */
static bool find_is_about(const struct finding_project *f, const char *dir)
{
    const struct slice it = slice_of(dir), gone = slice_of(f->out->gone);
    const struct scope named = { .project = gone };

    return path_under(it, gone) || session_scope_has(&named, it) ||
           (path_under(gone, it) && path_under(it, slice_of(f->top)));
}

/* ---- its sessions ---- */

static enum err_code find_from_row(size_t i, struct session_row *row, void *arg, struct err *e)
{
    struct finding_project *f = arg;
    struct arena *a = &f->out->arena;
    const char *dir = row && row->cwd.n ? arena_copy(a, row->cwd).p : NULL;

    if (!dir || dir[0] != '/')
        return a->failed ? err_nomem(e) : ERR_OK;
    if (!find_is_about(f, dir)) {
        size_t k = 0;

        while (k < f->others && strcmp(f->other[k].dir, dir) != 0)
            k++;
        if (k == f->others) {
            NEED(f->other = arena_grow(a, f->other, k, sizeof *f->other));
            f->other[f->others++] = (struct find_other){ dir, row->created_ms };
        } else if (row->created_ms < f->other[k].since_ms) {
            f->other[k].since_ms = row->created_ms;
        }
        return ERR_OK;
    }
    if (row->activity_ms > f->last_ms)
        f->last_ms = row->activity_ms;
    if (f->refs < FIND_SESSIONS)
        NEED(session_ref_copy(a, f->each[i], &f->ref[f->refs++]));
    return ERR_OK;
}

/* ---- what is known of it ---- */

/* Adds each text that follows the key of a member in the rows of a transcript. In a text of such a row, the quotes would be
 * escaped. */
static bool find_values(struct finding_project *f, struct slice bytes, const char *key, size_t most,
                        const char ***list, size_t *n)
{
    const size_t length = strlen(key);

    for (const char *p = bytes.p, *end = bytes.p + bytes.n;
         (p = memmem(p, (size_t)(end - p), key, length));) {
        p += length;
        const char *quote = memchr(p, '"', (size_t)(end - p));
        const size_t size = quote ? (size_t)(quote - p) : 0;
        bool known = !size || size > most || memchr(p, '\\', size) || memchr(p, '\0', size);

        for (size_t i = 0; i < *n && !known; i++)
            known = slice_eq((struct slice){ p, size }, slice_of((*list)[i]));
        if (!known && !arena_add_text(&f->out->arena, list, n,
                                      arena_copy(&f->out->arena, (struct slice){ p, size }).p))
            return false;
    }
    return true;
}

static enum err_code find_recorded(struct finding_project *f, const struct session_ref *ref,
                                   struct err *e)
{
    static const char *const keys[] = { "\"commit_hash\":\"", "\"headCommit\":\"",
                                        "\"git_commit\":\"", "\"gitCommit\":\"" };
    AUTO_BUF head = { 0 };
    struct file file;

    if (file_open(AT_FDCWD, ref->path.p, 0, &file, NULL))
        return ERR_OK;
    const enum err_code rc = file_read_part(&file, 0, FIND_HEAD, &head, NULL);
    bool ok = rc != ERR_NOMEM;

    for (size_t i = 0; !rc && ok && i < COUNT_OF(keys); i++)
        ok = find_values(f, buf_slice(&head), keys[i], FIND_HEX, &f->commit, &f->commits);
    if (!rc && ok)
        ok = find_values(f, buf_slice(&head), "\"repository_url\":\"", FIND_URL, &f->known.remote,
                         &f->known.remotes);
    file_close(&file);
    return ok ? ERR_OK : err_nomem(e);
}

static enum err_code find_edited(const struct edit *edit, void *arg, struct err *e)
{
    struct finding_project *f = arg;
    const size_t n = strlen(f->out->gone);

    if (edit->kind == EDIT_DELETE || edit->kind == EDIT_SEEN || f->files == FIND_FILES ||
        !path_under(slice_of(edit->path), slice_of(f->out->gone)) || !edit->path[n])
        return ERR_OK;
    for (size_t i = 0; i < f->files; i++)
        if (strcmp(f->file[i], edit->path + n + 1) == 0)
            return ERR_OK;
    NEED(arena_add_text(&f->out->arena, &f->file, &f->files,
                        arena_copy_text(&f->out->arena, edit->path + n + 1)));
    return ERR_OK;
}

static enum err_code find_evidence(struct finding_project *f, struct err *e)
{
    const struct edit_query all = { .paths = 0 };

    for (size_t i = 0; i < f->refs; i++) {
        const struct session_ref *ref = &f->ref[i];

        TRY(find_recorded(f, ref, e));
        if (ref->store->ops->edits && ref->file.size <= FIND_SESSION &&
            ref->store->ops->edits(ref->store, ref, &all, find_edited, f, e) == ERR_NOMEM)
            return err_nomem(e);
    }
    TRY(project_notes_read(f->env, &f->notes, e));
    for (size_t i = 0; i < f->notes.n; i++)
        for (size_t k = 0; k < f->notes.note[i].remotes && find_is_about(f, f->notes.note[i].dir);
             k++)
            NEED(arena_add_text(&f->out->arena, &f->known.remote, &f->known.remotes,
                                arena_copy_text(&f->out->arena, f->notes.note[i].remote[k])));
    return ERR_OK;
}

/* ---- a place ---- */

struct find_place {
    const char *from, *to;
    const char *at; /* where the directory itself would be */
};

/* It is a linked work tree whose repository still has the former place on record. */
static bool find_is_worktree(const struct find_place *p, struct arena *a)
{
    AUTO_BUF link = { 0 };
    AUTO_BUF record = { 0 };
    const struct slice mark = SLICE("gitdir: ");
    const char *git = arena_format(a, "%s/.git", p->at);
    const char *gone = arena_format(a, "%s%s/.git", p->from, p->at + strlen(p->to));

    if (!git || !gone || file_read_all(AT_FDCWD, git, 0, PATH_MAX, &link, NULL) ||
        !buf_cstr(&link) || strncmp(link.p, mark.p, mark.n) != 0 || link.p[mark.n] != '/')
        return false;
    const char *dir = link.p + mark.n;
    const char *path = arena_format(a, "%.*s/gitdir", (int)strcspn(dir, "\n"), dir);

    return path && !file_read_all(AT_FDCWD, path, 0, PATH_MAX, &record, NULL) &&
           buf_cstr(&record) && strcspn(record.p, "\n") == strlen(gone) &&
           memcmp(record.p, gone, strlen(gone)) == 0;
}

/* Sessions were there before the directory was last worked in, so that it was another one at that time. */
static bool find_is_other(const struct finding_project *f, const char *at)
{
    for (size_t i = 0; i < f->others; i++)
        if (f->other[i].since_ms != TIME_NONE && f->other[i].since_ms < f->last_ms &&
            path_under(slice_of(f->other[i].dir), slice_of(at)))
            return true;
    return false;
}

/* Compares repositories. *why stays NULL if they have nothing in common; false: they are known to be two. */
static bool find_compare(struct finding_project *f, const struct find_place *p, const char **why,
                         int *rank, struct err *e, enum err_code *rc)
{
    struct arena *a = &f->out->arena;
    const char *first = NULL;
    struct repo_identity has;
    char real[PATH_MAX];

    /* To find the first commit takes long, so it is only looked for if there is one to compare it with. */
    for (size_t i = 0; i < f->notes.n && !first; i++)
        first = find_is_about(f, f->notes.note[i].dir) ? f->notes.note[i].first : NULL;
    *rc = repo_identify(p->at, a, first ? NULL : "", &has, e);

    /* A repository around the place has other places, too. */
    if (*rc || !has.root || !realpath(p->to, real) ||
        !path_under(slice_of(has.root), slice_of(real)))
        return true;
    if (first && has.first) {
        *why = "it has the same first commit";
        *rank = RANK_FIRST;
        return strcmp(first, has.first) == 0;
    }
    const struct repo_identity remotes = { .remote = has.remote, .remotes = has.remotes };

    if (repo_identity_matches(&f->known, &remotes)) {
        *why = "it has the same remote";
        *rank = RANK_REMOTE;
        return true;
    }
    for (size_t i = 0; i < f->commits; i++)
        if (repo_has_commit(p->at, f->commit[i])) {
            *why =
                arena_format(a, "it has the commit %.10s, which was recorded there", f->commit[i]);
            *rank = RANK_COMMIT;
            return true;
        }
    return !f->commits || !has.commit;
}

/* Compares names and files, which say less. */
static const char *find_resemble(struct finding_project *f, const struct find_place *p, int *rank)
{
    const char *name = strrchr(f->out->gone, '/');
    const char *other =
        arena_format(&f->out->arena, "%.*s%s", (int)(strrchr(p->at, '/') - p->at), p->at, name);
    const struct scope at = { .project = slice_of(p->at) };
    const bool same = other && session_scope_has(&at, slice_of(other));
    size_t there = 0;
    struct stat st;

    for (size_t i = 0; i < f->files; i++) {
        char path[PATH_MAX];

        there += snprintf(path, sizeof path, "%s/%s", p->at, f->file[i]) < (int)sizeof path &&
                 lstat(path, &st) == 0;
    }
    *rank = f->files ? RANK_FILES : RANK_NAME;
    if (f->files)
        return there * 2 < f->files || there < (same ? 1 : 2)
                   ? NULL
                   : arena_format(&f->out->arena,
                                  "%zu of %zu files that its sessions changed are there", there,
                                  f->files);
    return same ? "it has the same name" : NULL;
}

static int find_order(const void *x, const void *y)
{
    const struct project_place *a = x, *b = y;

    return a->rank != b->rank ? a->rank - b->rank : strcmp(a->to, b->to);
}

/* Adds a place; of too many, the least sure one is left out. */
static enum err_code find_add(struct finding_project *f, const struct find_place *p,
                              const char *why, int rank, struct err *e)
{
    struct project_places *out = f->out;
    struct arena *a = &out->arena;
    struct project_place x = { arena_copy_text(a, p->from), arena_copy_text(a, p->to), why, rank };

    NEED(x.from && x.to && why);
    if (!out->place)
        NEED(out->place = arena_zalloc(a, (PROJECT_PLACES + 1) * sizeof *out->place));
    out->place[out->n++] = x;
    qsort(out->place, out->n, sizeof *out->place, find_order);
    if (out->n > PROJECT_PLACES)
        out->n = PROJECT_PLACES;
    return ERR_OK;
}

static enum err_code find_judge(struct finding_project *f, const char *from, const char *to,
                                struct err *e)
{
    struct find_place p = { .from = from, .to = to };
    char at[PATH_MAX];
    const char *why = NULL;
    enum err_code rc = ERR_OK;
    struct stat st;
    int rank = RANK_SAME;

    if (!f->left || time_clock_ms(CLOCK_MONOTONIC) > f->until_ms)
        return ERR_OK;
    f->left--;
    if (snprintf(at, sizeof at, "%s%s", to, f->out->gone + strlen(from)) >= (int)sizeof at ||
        lstat(at, &st) || !S_ISDIR(st.st_mode) || path_under(slice_of(f->out->gone), slice_of(at)))
        return ERR_OK;
    for (size_t i = 0; i < f->out->n; i++)
        if (strcmp(f->out->place[i].to, to) == 0)
            return ERR_OK;
    p.at = at;

    /* The directory was noted, and has only another name now. */
    for (size_t i = 0; i < f->notes.n; i++) {
        const struct project_note *x = &f->notes.note[i];
        const struct root_id *was = &x->id;
        struct root_id now;
        char path[PATH_MAX];
        AUTO_FD fd = -1;

        if (!was->ino || !path_under(slice_of(x->dir), slice_of(p.from)) ||
            !find_is_about(f, x->dir) ||
            snprintf(path, sizeof path, "%s%s", p.to, x->dir + strlen(p.from)) >=
                (int)sizeof path ||
            beneath_root(path, &fd, NULL) || beneath_root_id(fd, path, &now, NULL))
            continue;
        if (was->ino == now.ino && (was->dev == now.dev || (was->fs && was->fs == now.fs)) &&
            (!was->born_ns || !now.born_ns || was->born_ns == now.born_ns))
            return find_add(f, &p, "it is the same directory under another name", rank, e);
    }

    if (find_is_worktree(&p, &f->out->arena))
        return find_add(f, &p, "it is the work tree that git knows by the former name",
                        RANK_WORKTREE, e);
    if (find_is_other(f, at) || !find_compare(f, &p, &why, &rank, e, &rc))
        return rc;
    if (!rc && !why)
        why = find_resemble(f, &p, &rank);
    return rc || !why ? rc : find_add(f, &p, why, rank, e);
}

/* ---- where ---- */

/* Judges each directory in a directory, with `below` added to its path. */
static enum err_code find_among(struct finding_project *f, const char *in, const char *from,
                                const char *below, struct err *e)
{
    AUTO_DIR *d = opendir(in);
    enum err_code rc = ERR_OK;

    for (const struct dirent *x = d ? readdir(d) : NULL; x && f->left && !rc; x = readdir(d)) {
        char path[PATH_MAX];

        if (x->d_name[0] != '.' && (x->d_type == DT_DIR || x->d_type == DT_UNKNOWN) &&
            snprintf(path, sizeof path, "%s/%s%s", in[1] ? in : "", x->d_name, below) <
                (int)sizeof path)
            rc = find_judge(f, from, path, e);
    }
    return rc;
}

static enum err_code find_all_places(struct finding_project *f, struct err *e)
{
    const char *gone = f->out->gone, *name = strrchr(gone, '/'), *home = f->env->home;
    char up[PATH_MAX];

    /* It was renamed, or one above it; or it was moved into a directory beside it, or beside the one that it was in. */
    TRY(find_among(f, f->above, f->top, "", e));
    TRY(find_among(f, f->above, gone, name, e));
    if (path_parent(f->above, up)) {
        TRY(find_among(f, up, gone, "", e));
        TRY(find_among(f, up, gone, name, e));
    }
    if (home) {
        TRY(find_among(f, home, gone, "", e));
        TRY(find_among(f, home, gone, name, e));
    }
    for (size_t i = 0; i < f->others; i++)
        TRY(find_judge(f, gone, f->other[i].dir, e));

    /* Names and files do not count beside what is surer. */
    struct project_places *out = f->out;

    while (out->n && out->place[out->n - 1].rank >= RANK_FILES &&
           out->place[0].rank < out->place[out->n - 1].rank)
        out->n--;
    return ERR_OK;
}

enum err_code project_find(struct store *const stores[], size_t n, const struct store_env *env,
                           const char *gone, struct project_places *out, struct err *e)
{
    struct finding_project f = { .out = out, .env = env, .last_ms = TIME_NONE, .left = FIND_DIRS };
    struct arena *a = &out->arena;
    const char *slash;

    *out = (struct project_places){ .n = 0 };
    enum err_code rc = (out->gone = path_normalize(env->cwd, gone, a)) ? ERR_OK : err_nomem(e);

    if (!rc && path_is_dir(out->gone))
        rc = err_set(e, ERR_USAGE, gone, "move: the directory exists; name the new one, too");
    f.above = f.top = out->gone;
    while (!rc && !path_is_dir(f.above)) {
        f.top = f.above;
        slash = strrchr(f.above, '/');
        f.above = slash == f.above ? "/" : arena_format(a, "%.*s", (int)(slash - f.above), f.above);
        if (!f.above)
            rc = err_nomem(e);
    }
    if (!rc)
        rc = project_each_row(stores, n, find_from_row, &f, &f.each, e);
    if (!rc)
        rc = find_evidence(&f, e);
    f.until_ms = time_clock_ms(CLOCK_MONOTONIC) + FIND_MS;
    if (!rc)
        rc = find_all_places(&f, e);
    project_notes_fini(&f.notes);
    if (rc)
        project_places_fini(out);
    return rc;
}
