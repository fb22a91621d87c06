#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/blame/blame.h"
#include "store/fs/path.h"
#include "store/git/libgit2.h"
#include "store/git/repo.h"
#include "store/rewind/diff/linediff.h"

/* A note of git-ai (Git AI Standard, authorship/3.0.0) consists of lines and of a JSON object behind a line "---":
 *
 *   src/main.rs                                  a file as it is in the commit; in quotes if it has blanks
 *     s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-10,15 a session of "sessions" and its lines
 *     h_31dce776f88375 25-30                     a person of "humans"
 *     d9978a8723e02b52 40                        a session of "prompts", as older versions wrote it
 *   ---
 *   {"schema_version": "authorship/3.0.0", ...}
 *
 * The commits are read from the newest on. A line has the note of the newest commit that notes it and since which the
 * line has not changed. */

static const char notes_schema[] = "authorship/3.";
enum { NOTE_MOST = 8 << 20 };

/* The note of a commit: below one directory for each two digits, or fewer, as git chooses by the number of notes. */
static enum err_code find_note(git_repository *repo, const git_tree *tree, const char *id,
                               struct buf *out)
{
    char name[GIT_OID_HEXSZ + 4];
    enum err_code rc = ERR_NOT_FOUND;

    for (size_t fanout = 0; rc == ERR_NOT_FOUND && fanout < 4; fanout++) {
        size_t n = 0;

        for (size_t i = 0; i < GIT_OID_HEXSZ; i++) {
            name[n++] = id[i];
            if (i % 2 == 1 && i / 2 < fanout)
                name[n++] = '/';
        }
        name[n] = '\0';
        rc = repo_blob_at(repo, tree, name, NOTE_MOST, out, NULL);
    }
    return rc;
}

/* Returns NULL if the repository has no notes, or if they cannot be read. */
static git_tree *open_notes(git_repository *repo)
{
    AUTO_COMMIT *tip = NULL;
    git_tree *tree = NULL;
    git_oid id;

    return repo_has_ref(repo, BLAME_NOTES_REF, &id) && !git_commit_lookup(&tip, repo, &id) &&
                   !repo_tree(repo, git_commit_tree_id(tip), &tree, NULL)
               ? tree
               : NULL;
}

enum err_code blame_note_absent(git_repository *repo, const char *commit, struct err *e)
{
    AUTO_TREE *tree = open_notes(repo);
    AUTO_BUF note = { 0 };

    return tree && find_note(repo, tree, commit, &note) != ERR_NOT_FOUND
               ? err_set(e, ERR_STALE, commit,
                         "blame: the commit has a note already (git notes --ref ai show)")
               : ERR_OK;
}

/* The file as it was in a commit, compared with the present one: the present line of each of its lines, from 1; 0: it
 * was changed or removed. */
static enum err_code map_lines(struct slice was, struct slice now, struct arena *a, size_t **out,
                               size_t *lines, struct err *e)
{
    CLEANUP(linediff_fini) struct linediff d = { .lines = 0 };
    struct slice rest = was, line;
    size_t n = 0, old = 1, new = 1;
    bool torn;

    while (slice_line(&rest, &line, &torn))
        n++;
    NEED(*out = arena_alloc(a, (n + 2) * sizeof **out));
    memset(*out, 0, (n + 2) * sizeof **out);
    *lines = n;
    TRY(linediff_make(was, now, 0, &d, e));
    for (size_t i = 0; i <= d.hunks && !d.binary; i++) {
        const struct linediff_hunk *h = i < d.hunks ? &d.hunk[i] : NULL;
        /* a hunk without old lines is behind its first line */
        const size_t end = h ? h->old_start + (h->old_lines == 0) : n + 1;

        while (old < end && old <= n)
            (*out)[old++] = new ++;
        if (h) {
            old += h->old_lines;
            new += h->new_lines;
        }
    }
    return ERR_OK;
}

struct noting {
    struct blame_notes *out;
    struct slice metadata;
    const char *commit;
    const size_t *present; /* the present line of each line */
    size_t lines;
};

/* Who has an attestation's key; NULL if the metadata do not have it. */
static enum err_code note_author(struct noting *w, struct slice key, const struct blame_note **out,
                                 struct err *e)
{
    struct arena *a = &w->out->arena;
    const char *colons = slice_find(key.p, key.n, "::", 2);
    const char *maps = slice_starts(key, "s_")   ? "sessions"
                       : slice_starts(key, "h_") ? "humans"
                                                 : "prompts";
    const char *name = arena_format(a, "%.*s", colons ? (int)(colons - key.p) : (int)key.n, key.p);
    struct blame_note *note = arena_alloc(a, sizeof *note);
    struct slice map, record, agent = { NULL, 0 };

    NEED(name && note);
    *note = (struct blame_note){ .commit = w->commit };
    *out = NULL;
    if (!json_get(w->metadata, maps, &map) || !json_get(map, name, &record))
        return ERR_OK;
    json_get(record, "agent_id", &agent);
    note->tool = arena_copy(a, json_text_at(agent, "tool", a));
    note->session = arena_copy(a, json_text_at(agent, "id", a));
    note->model = arena_copy(a, json_text_at(agent, "model", a));
    note->author = arena_copy(a, json_text_at(record, "author", a));
    NEED(!a->failed);
    if (note->tool.n || note->author.n)
        *out = note;
    return ERR_OK;
}

/* One number of a list of ranges, and what follows it. */
static bool note_number(struct slice *rest, size_t *out)
{
    size_t n = 0, value = 0;

    for (; n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9'; n++)
        value = value > SIZE_MAX / 20 ? SIZE_MAX / 20 : value * 10 + (size_t)(rest->p[n] - '0');
    *out = value;
    *rest = (struct slice){ rest->p + n, rest->n - n };
    return n > 0;
}

/* "  KEY 1-4,9": the lines that are still as they were and have no newer note. */
static enum err_code note_attestation(struct noting *w, struct slice entry, struct err *e)
{
    const char *blank = entry.n ? memchr(entry.p, ' ', entry.n) : NULL;
    const struct blame_note *note = NULL;
    size_t first, last;

    if (!blank)
        return ERR_OK;
    struct slice rest = { blank + 1, (size_t)(entry.p + entry.n - blank - 1) };

    TRY(note_author(w, (struct slice){ entry.p, (size_t)(blank - entry.p) }, &note, e));
    while (note && note_number(&rest, &first)) {
        last = first;
        if (rest.n && rest.p[0] == '-') {
            rest = (struct slice){ rest.p + 1, rest.n - 1 };
            if (!note_number(&rest, &last))
                break;
        }
        for (size_t i = first ? first : 1; i <= last && i <= w->lines; i++)
            if (w->present[i] && w->present[i] <= w->out->n && !w->out->line[w->present[i] - 1])
                w->out->line[w->present[i] - 1] = note;
        if (!rest.n || rest.p[0] != ',')
            break;
        rest = (struct slice){ rest.p + 1, rest.n - 1 };
    }
    return ERR_OK;
}

/* The lines of a note between the name of the file and that of the next one; empty: it does not name the file. */
static struct slice attestations_of(struct slice note, const char *name)
{
    struct slice line, found = { NULL, 0 };
    bool torn;

    while (slice_line(&note, &line, &torn) && !slice_eq(line, SLICE("---"))) {
        const bool entry = line.n && line.p[0] == ' ';

        if (found.p && entry)
            found.n = (size_t)(line.p + line.n - found.p);
        else if (found.p)
            break;
        if (line.n > 1 && line.p[0] == '"' && line.p[line.n - 1] == '"')
            line = (struct slice){ line.p + 1, line.n - 2 };
        if (!entry && slice_eq(line, slice_of(name)))
            found = (struct slice){ note.p, 0 };
    }
    return found;
}

/* Takes what the note of a commit says about the file. */
static enum err_code take_note(struct noting *w, git_repository *repo, const git_commit *commit,
                               struct slice note, const char *name, const struct blame *b,
                               struct err *e)
{
    AUTO_TREE *tree = NULL;
    AUTO_BUF was = { 0 };
    struct slice rest = attestations_of(note, name), line;
    const char *divider = slice_find(note.p, note.n, "\n---\n", 5);
    size_t *present;
    bool torn;

    w->metadata = divider ? (struct slice){ divider + 5, (size_t)(note.p + note.n - divider - 5) }
                          : (struct slice){ NULL, 0 };
    if (!rest.n || !json_valid(w->metadata) ||
        !slice_starts(json_text_at(w->metadata, "schema_version", &w->out->arena), notes_schema) ||
        repo_tree(repo, git_commit_tree_id(commit), &tree, NULL) ||
        repo_blob_at(repo, tree, name, BLAME_FILE_MAX, &was, NULL))
        return ERR_OK;
    TRY(map_lines(buf_slice(&was), buf_slice(&b->file), &w->out->arena, &present, &w->lines, e));
    w->present = present;
    while (slice_line(&rest, &line, &torn)) {
        while (line.n && line.p[0] == ' ')
            line = (struct slice){ line.p + 1, line.n - 1 };
        TRY(note_attestation(w, line, e));
    }
    return ERR_OK;
}

enum err_code blame_notes_read(const char *path, const struct blame *b, struct blame_notes *out,
                               struct err *e)
{
    CLEANUP(blame_notes_fini) struct blame_notes notes = { .n = b->lines };
    AUTO_REPO *repo = NULL;
    AUTO_TREE *tree = NULL;
    CLEANUP(git_revwalk_free_at) git_revwalk *walk = NULL;
    char dir[PATH_MAX], hex[GIT_OID_HEXSZ + 1];
    git_oid id;

    /* Without a repository, or without notes, there is nothing to read. */
    *out = (struct blame_notes){ .n = 0 };
    if (!path_parent(path, dir) || !repo_may_be_found(dir) || repo_open(dir, &repo, NULL) ||
        !(tree = open_notes(repo)))
        return ERR_OK;
    const char *top = git_repository_workdir(repo);
    const size_t n = top ? strlen(top) : 0;

    if (!n || strncmp(path, top, n) != 0 || git_revwalk_new(&walk, repo) ||
        git_revwalk_push_head(walk))
        return ERR_OK;

    /* Take the notes of the commits, the newest first. */
    NEED(notes.line = calloc(b->lines + 1, sizeof *notes.line));
    git_revwalk_sorting(walk, GIT_SORT_TIME);
    for (size_t i = 0; i < BLAME_COMMITS_MAX && !git_revwalk_next(&id, walk); i++) {
        AUTO_COMMIT *commit = NULL;
        AUTO_BUF note = { 0 };

        git_oid_tostr(hex, sizeof hex, &id);
        if (find_note(repo, tree, hex, &note) || git_commit_lookup(&commit, repo, &id))
            continue;
        struct noting w = { .out = &notes, .commit = arena_copy_text(&notes.arena, hex) };

        NEED(w.commit);
        TRY(take_note(&w, repo, commit, buf_slice(&note), path + n, b, e));
    }
    HAND_OVER(out, notes);
    return ERR_OK;
}

void blame_notes_fini(struct blame_notes *notes)
{
    arena_fini(&notes->arena);
    free(notes->line);
    *notes = (struct blame_notes){ .n = 0 };
}
