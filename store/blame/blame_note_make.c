#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/json/jsonout.h"
#include "store/blame/blame.h"
#include "store/git/libgit2.h"
#include "store/git/repo.h"
#include "store/journal/change.h"
#include "store/rewind/diff/linediff.h"

/* The note of one commit, as git-ai would have written it (the form is described in blame_notes.c): the lines that the
 * commit added to each file, and the turns of sessions that wrote them. */

enum { KEY_HEX = 14, KEY_TEXT = 2 + KEY_HEX + 1, NOTED_FILES_MAX = 2000 };

struct note_session {
    const struct session_ref *ref; /* in the arena of the result */
    char key[KEY_TEXT];
};

struct note_making {
    struct blame_noted *out;
    struct store *const *store;
    size_t stores;
    const struct blame_query *q;
    git_repository *repo;
    const char *top; /* the work tree, with a slash at its end */
    int64_t until_ms;
    struct note_session *session; /* owned */
    size_t sessions, cap;
    struct buf text; /* the attestations */
};

/* A prefix, and the first digits of a hash of three texts with colons between them. */
static enum err_code note_key(const char *prefix, const char *tool, struct slice id,
                              struct slice more, struct arena *a, char out[KEY_TEXT], struct err *e)
{
    const char *text =
        arena_format(a, "%s:%.*s%s%.*s", tool, SLICE_ARG(id), more.n ? ":" : "", SLICE_ARG(more));
    uint8_t sum[DIGEST_MOST];

    NEED(text);
    if (!digest_of(DIGEST_SHA256, slice_of(text), sum))
        return digest_error(e);
    memcpy(out, prefix, 2);
    digest_hex(sum, KEY_HEX / 2, out + 2);
    return ERR_OK;
}

/* Adds a session unless it is there. */
static enum err_code note_session_of(struct note_making *m, const struct session_ref *ref,
                                     const char **key, struct err *e)
{
    struct note_session *s = m->session;

    for (size_t i = 0; i < m->sessions; i++)
        if (s[i].ref->store->ops == ref->store->ops && slice_eq(s[i].ref->id, ref->id)) {
            *key = s[i].key;
            return ERR_OK;
        }
    struct session_ref *copy = arena_alloc(&m->out->arena, sizeof *copy);

    NEED(copy && session_ref_copy(&m->out->arena, ref, copy) &&
         array_reserve(m->session, m->cap, m->sessions + 1));
    s = &m->session[m->sessions];
    s->ref = copy;
    TRY(note_key("s_", ref->store->ops->name, ref->id, SLICE(""), &m->out->arena, s->key, e));
    *key = s->key;
    m->sessions++;
    return ERR_OK;
}

/* The lines from `line` on that belong to the same turn as a line, and are among those that were added, as ranges. */
static enum err_code note_ranges(struct note_making *m, const struct blame *b, const bool *added,
                                 size_t line, bool *done, struct err *e)
{
    const struct blame_event *turn = blame_event_of(b, line);
    const char *mark = " ";

    for (size_t i = line, end; i < b->lines; i = end) {
        end = i + 1;
        if (done[i] || !added[i] || !blame_same_turn(turn, blame_event_of(b, i)))
            continue;
        while (end < b->lines && !done[end] && added[end] &&
               blame_same_turn(turn, blame_event_of(b, end)))
            end++;
        for (size_t k = i; k < end; k++)
            done[k] = true;
        m->out->lines += end - i;
        NEED(!(end - i > 1 ? buf_addf(&m->text, "%s%zu-%zu", mark, i + 1, end)
                           : buf_addf(&m->text, "%s%zu", mark, i + 1)));
        mark = ",";
    }
    NEED(!buf_add_byte(&m->text, '\n'));
    return ERR_OK;
}

/* One file of the commit. was: its text before it, NULL if it is new. */
static enum err_code note_file(struct note_making *m, const char *name, struct slice was,
                               struct slice now, struct err *e)
{
    CLEANUP(blame_fini) struct blame b = { .lines = 0 };
    CLEANUP(linediff_fini) struct linediff d = { .lines = 0 };
    AUTO_ARENA a = { 0 };
    struct blame_query q = *m->q;
    const char *path = arena_format(&a, "%s%s", m->top, name);
    bool *added, *done, named = false;

    /* Find the lines that are new. */
    NEED(path);
    TRY(linediff_make(was, now, 0, &d, e));
    if (!d.insertions || d.binary)
        return ERR_OK;
    q.path = &path;
    q.paths = 1;
    q.text = &now;
    q.until_ms = m->until_ms;
    TRY(blame_file(m->store, m->stores, &q, &b, e));
    NEED((added = arena_alloc(&a, 2 * b.lines + 1)));
    memset(added, 0, 2 * b.lines + 1);
    done = added + b.lines;
    for (size_t i = 0; i < d.lines; i++)
        if (d.line[i].sign == '+' && d.line[i].new_line - 1 < b.lines)
            added[d.line[i].new_line - 1] = true;

    /* One entry for each turn that wrote some of them. */
    for (size_t i = 0; i < b.lines; i++) {
        const struct blame_event *event = blame_event_of(&b, i);
        const char *session;
        char trace[KEY_TEXT];

        if (!event || !added[i] || done[i])
            continue;
        const struct session_ref *ref = blame_session_of(&b, i);

        TRY(note_session_of(m, ref, &session, e));
        TRY(note_key("t_", ref->store->ops->name, ref->id, event->edit.turn, &a, trace, e));
        if (!named)
            NEED(!buf_addf(&m->text, strpbrk(name, " \t") ? "\"%s\"\n" : "%s\n", name));
        m->out->files += !named;
        named = true;
        NEED(!buf_addf(&m->text, "  %s::%s", session, trace));
        TRY(note_ranges(m, &b, added, i, done, e));
    }
    return ERR_OK;
}

/* The files that differ between the commit and its first parent. */
static enum err_code note_changed_files(struct note_making *m, const git_commit *commit,
                                        struct err *e)
{
    AUTO_TREE *now = NULL, *was = NULL;
    AUTO_COMMIT *parent = NULL;
    CLEANUP(git_diff_free_at) git_diff *diff = NULL;
    int answer;

    TRY(repo_tree(m->repo, git_commit_tree_id(commit), &now, e));
    if (git_commit_parentcount(commit)) {
        if ((answer = git_commit_parent(&parent, commit, 0)))
            return repo_error(e, answer, m->out->commit, "blame: read the parent");
        TRY(repo_tree(m->repo, git_commit_tree_id(parent), &was, e));
    }
    TRY(repo_tree_fits(m->repo, git_commit_tree_id(commit),
                       parent ? git_commit_tree_id(parent) : NULL, e));
    if ((answer = git_diff_tree_to_tree(&diff, m->repo, was, now, NULL)))
        return repo_error(e, answer, m->out->commit, "blame: compare with the parent");
    if (git_diff_num_deltas(diff) > NOTED_FILES_MAX)
        return err_set(e, ERR_UNSUPPORTED, m->out->commit,
                       "blame: the commit changes more than %d files", NOTED_FILES_MAX);
    for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
        const git_diff_delta *delta = git_diff_get_delta(diff, i);
        const unsigned mode = delta->new_file.mode;
        AUTO_BUF before = { 0 }, after = { 0 };

        /* The form has no place for such names. */
        if ((mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE) ||
            strpbrk(delta->new_file.path, "\"\n") || delta->new_file.path[0] == ' ' ||
            repo_blob(m->repo, &delta->new_file.id, BLAME_FILE_MAX, &after, NULL) ||
            (after.n && memchr(after.p, '\0', after.n)))
            continue;
        if (delta->status != GIT_DELTA_ADDED)
            TRY(repo_blob(m->repo, &delta->old_file.id, BLAME_FILE_MAX, &before, e));
        TRY(note_file(m, delta->new_file.path, buf_slice(&before), buf_slice(&after), e));
    }
    return ERR_OK;
}

/* The JSON object behind the attestations. */
static enum err_code note_metadata(struct note_making *m, const git_commit *commit, struct err *e)
{
    const git_signature *author = git_commit_author(commit);
    AUTO_ARENA a = { 0 };
    const char *person = author ? arena_format(&a, "%s <%s>", author->name, author->email) : "";
    struct jsonout j;

    NEED(person && !buf_add(&m->text, SLICE("---\n")));
    jsonout_init(&j, &m->text);
    jsonout_open(&j, '{');
    jsonout_member(&j, "schema_version", SLICE("authorship/3.0.0"));
    jsonout_member(&j, "base_commit_sha", slice_of(m->out->commit));
    jsonout_key(&j, "prompts");
    jsonout_open(&j, '{');
    jsonout_close(&j, '}');
    jsonout_key(&j, "sessions");
    jsonout_open(&j, '{');
    for (size_t i = 0; i < m->sessions; i++) {
        const struct session_ref *ref = m->session[i].ref;
        CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
        static const struct scope everywhere = { .all = true };

        NEED(row);

        /* A session that cannot be described has an entry all the same, only without its model. */
        const bool described = !ref->store->ops->describe(ref->store, &everywhere, ref, row, NULL);

        jsonout_key(&j, m->session[i].key);
        jsonout_open(&j, '{');
        jsonout_key(&j, "agent_id");
        jsonout_open(&j, '{');
        jsonout_member(&j, "tool", slice_of(ref->store->ops->name));
        jsonout_member(&j, "id", ref->id);
        jsonout_member(&j, "model", described && row->model.n ? row->model : SLICE("unknown"));
        jsonout_close(&j, '}');
        jsonout_member(&j, "human_author", slice_of(person));
        jsonout_close(&j, '}');
        NEED(!change_add_session(m->out->change, ref->store->ops->name, ref->id, NULL));
    }
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    NEED(!j.rc && !buf_add_byte(&m->text, '\n'));
    return ERR_OK;
}

static void note_making_fini(struct note_making *m)
{
    repo_close(m->repo);
    free(m->session);
    buf_fini(&m->text);
}

enum err_code blame_note_make(struct store *const stores[], size_t n, const struct blame_query *q,
                              const char *dir, const char *revision, struct blame_noted *out,
                              struct err *e)
{
    CLEANUP(note_making_fini)
    struct note_making m = { .out = out, .store = stores, .stores = n, .q = q };
    AUTO_COMMIT *commit = NULL;
    CLEANUP(git_object_free_at) git_object *named = NULL;

    *out = (struct blame_noted){ .files = 0 };
    TRY(repo_open(dir, &m.repo, e));
    m.top = git_repository_workdir(m.repo);
    if (!m.top)
        return err_set(e, ERR_UNSUPPORTED, dir, "blame: the repository has no work tree");
    if (git_revparse_single(&named, m.repo, revision) ||
        git_object_peel((git_object **)&commit, named, GIT_OBJECT_COMMIT))
        return err_set(e, ERR_NOT_FOUND, "", "no commit \"%.80s\"", revision);
    git_oid_tostr(out->commit, sizeof out->commit, git_commit_id(commit));
    if (git_commit_parentcount(commit) > 1)
        return err_set(e, ERR_UNSUPPORTED, out->commit,
                       "blame: a merge has no note: its lines were written in its parents");
    TRY(blame_note_absent(m.repo, out->commit, e));

    /* Git records seconds. */
    m.until_ms = (int64_t)git_commit_time(commit) * 1000 + 999;
    NEED(out->change = change_new("note"));
    NEED(out->git = arena_copy_text(&out->arena, git_repository_commondir(m.repo)));
    TRY(note_changed_files(&m, commit, e));
    out->sessions = m.sessions;
    if (m.sessions)
        TRY(note_metadata(&m, commit, e));
    NEED((out->note = arena_copy(&out->arena, buf_slice(&m.text))).p || !m.text.n);
    return ERR_OK;
}

/* Makes the objects, which nothing names yet, and then moves the ref as a change that can be undone. */
enum err_code blame_note_write(const struct store_env *env, struct blame_noted *noted,
                               struct err *e)
{
    AUTO_REPO *repo = NULL;
    AUTO_COMMIT *tip = NULL;
    CLEANUP(git_signature_free_at) git_signature *who = NULL;
    char from[GIT_OID_HEXSZ + 1], to[GIT_OID_HEXSZ + 1];
    git_oid id, commit, made;
    bool there;
    int answer;

    TRY(repo_open(noted->git, &repo, e));
    TRY(blame_note_absent(repo, noted->commit, e));
    TRY(repo_ref(repo, BLAME_NOTES_REF, &there, &id, e));

    /* If git has no identity configured, the note is signed by the program. */
    if ((there && (answer = git_commit_lookup(&tip, repo, &id))) ||
        (answer = git_oid_fromstr(&commit, noted->commit)) ||
        ((answer = git_signature_default(&who, repo)) &&
         (answer = git_signature_now(&who, "reprise", "reprise@localhost"))) ||
        (answer =
             git_note_commit_create(&made, NULL, repo, tip, who, who, &commit, noted->note.p, 0)))
        return repo_error(e, answer, noted->git, "blame: make the note");

    /* The ref moves only if it still names the commit that was read, or is still absent. */
    git_oid_tostr(from, sizeof from, &id);
    git_oid_tostr(to, sizeof to, &made);
    const struct step move = { .kind = STEP_REF,
                               .path = noted->git,
                               .to = BLAME_NOTES_REF,
                               .bytes = { to, GIT_OID_HEXSZ },
                               .old = { there ? from : NULL, there ? GIT_OID_HEXSZ : 0 },
                               .old_absent = !there };

    noted->change->text = arena_format(&noted->change->arena, "%.12s has a note", noted->commit);
    NEED(noted->change->text);
    TRY(change_add(noted->change, &move, e));
    return change_do(env, noted->change, e);
}

void blame_noted_fini(struct blame_noted *noted)
{
    change_free(noted->change);
    arena_fini(&noted->arena);
    *noted = (struct blame_noted){ .files = 0 };
}
