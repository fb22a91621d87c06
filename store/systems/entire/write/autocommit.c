#include "store/systems/entire/write/committed_write.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/redact/redact.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/treewrite.h"

/* A checkpoint by auto-commit: the commit comes first, then the index, then the metadata, then the state. A missing
 * checkpoint is handled everywhere, but one that no commit names would stay forever; so an interruption leaves a commit
 * that names a checkpoint which may be missing, and the state with the commit before it as base. The next call finds
 * that pair (was_cut_short) and completes what is missing, although nothing has changed since. */

enum { HOOK_MAX = 1 << 20 };

DEFINE_CLEANUP(git_config, git_config_free);

const char *autocommit_skipped_note(git_repository *repo, struct arena *a)
{
    static const char *const names[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
                                         "post-commit" };
    CLEANUP(git_config_free_at) git_config *config = NULL;
    const char *set = NULL, *root = git_repository_workdir(repo), *dir, *hook = NULL;
    int sign = 0;

    if (git_repository_config_snapshot(&config, repo))
        return NULL;
    if (git_config_get_bool(&sign, config, "commit.gpgsign"))
        sign = 0;
    if (git_config_get_string(&set, config, "core.hooksPath") || !*set)
        dir = arena_format(a, "%shooks", git_repository_commondir(repo));
    else /* relative to the work tree */
        dir = arena_format(a, "%s%s", set[0] == '/' || !root ? "" : root, set);

    /* Entire's own hooks can be recognised; the commit already has what they would add. */
    for (size_t i = 0; dir && !hook && i < COUNT_OF(names); i++) {
        const char *path = arena_format(a, "%s/%s", dir, names[i]);
        AUTO_BUF text = { 0 };

        if (path && access(path, X_OK) == 0 &&
            (file_read_all(AT_FDCWD, path, FILE_FOLLOW, HOOK_MAX, &text, NULL) ||
             !slice_has(buf_slice(&text), "Entire CLI hooks")))
            hook = names[i];
    }
    if (hook)
        return arena_format(a, "the hooks of git were not run (%s)%s", hook,
                            sign ? ", and the commit is not signed" : "");
    return sign ? "the commit is not signed" : NULL;
}

enum { SETTINGS_MAX = 1 << 20 };

/* ---- which strategy ---- */

bool autocommit_wanted(const struct view *v)
{
    static const char *const names[] = { "settings.json", "settings.local.json" };
    bool wanted = false;

    /* The last setting is used; older versions called the strategy "dual". */
    for (size_t i = 0; v->root && i < COUNT_OF(names); i++) {
        AUTO_ARENA a = { 0 };
        AUTO_BUF text = { 0 };
        struct slice strategy;
        const char *path = arena_format(&a, "%s/.entire/%s", v->root, names[i]);

        if (path && file_read_all(AT_FDCWD, path, 0, SETTINGS_MAX, &text, NULL) == ERR_OK &&
            json_get_text(buf_slice(&text), "strategy", &a, &strategy))
            wanted = slice_eq(strategy, SLICE("auto-commit")) || slice_eq(strategy, SLICE("dual"));
    }
    return wanted;
}

/* ---- the commit ---- */

struct committing {
    struct view *v;
    const struct temporary_request *req;
    struct autocommitted *out;
    git_oid head, tree;
    struct err *e;
};

/* Updates the entries of these files, so that `git status` shows no changes. */
static enum err_code update_index(struct committing *c)
{
    const struct names_list *names = &c->out->touched;
    git_index *index = NULL;
    int answer = git_repository_index(&index, c->v->repo);

    if (!answer)
        answer = git_index_read(index, 1);
    for (size_t i = 0; i < names->n && !answer; i++) {
        git_index_entry entry = { .path = names->name[i].p };
        unsigned mode;

        /* The entry describes the file in the commit, not the one on disk. Because its size is 0,
         * git will compare the file. */
        if (view_tree_entry(c->v, &c->tree, entry.path, &entry.id, &mode)) {
            entry.mode = mode;
            answer = git_index_add(index, &entry);
        } else
            answer = git_index_remove_bypath(index, entry.path);
    }
    if (!answer)
        answer = git_index_write(index);
    git_index_free(index);
    return answer ? repo_error(c->e, answer, c->v->root,
                               "the commit was made, but the index was not updated")
                  : ERR_OK;
}

static enum err_code commit_checkpoint(struct committing *c)
{
    CLEANUP(git_signature_free_at) git_signature *sig = NULL;
    CLEANUP(git_reference_free_at) git_reference *head = NULL;
    struct err *e = c->e;
    struct arena *a = &c->v->arena;
    struct slice subject = c->req->subject.n ? c->req->subject
                           : c->req->task ? temporary_task_subject(c->req->task, c->req->prompt, a)
                                          : temporary_subject(c->req->prompt, a);
    struct commit_text text = { .tree = c->tree, .parent = &c->head, .parents = 1 };
    const char *message, *why;

    TRY(committed_generate_id(c->out->checkpoint, e));
    /* Entire writes no final newline. */
    NEED(subject.p && (message = arena_format(a, "%.*s\n\nEntire-Checkpoint: %s",
                                              SLICE_ARG(subject), c->out->checkpoint)));
    NEED(why = arena_format(a, "commit: %.*s", (int)strcspn(message, "\n"), message));

    /* The branch that HEAD is on, or "HEAD" itself if it is detached. */
    if (git_repository_head(&head, c->v->repo))
        return err_set(e, ERR_FORMAT, c->v->store->base.path,
                       "commit a checkpoint: HEAD names no branch");
    TRY(treewrite_author(c->v->repo, &sig, &text.author, e));
    text.committer = text.author;
    text.message = slice_of(message);
    TRY(treewrite_commit(c->v->repo, &text, &c->out->commit, e));
    return repo_ref_move(c->v->repo, git_reference_name(head), &c->head, &c->out->commit, why, e);
}

/* ---- the checkpoint ---- */

static enum err_code settle_after_commit(struct committing *c, int64_t lines)
{
    const struct view *v = c->v;
    struct arena *a = &c->v->arena;
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, &c->out->commit);
    struct slice base = state_text(a, (struct slice){ hex, GIT_OID_HEXSZ });
    const struct go_json_member set[] = {
        { "base_commit", base },
        { "attribution_base_commit", base },
        { "checkpoint_transcript_start", state_number(a, lines) },
        { "condensed_transcript_lines", SLICE("") },
        { "transcript_lines_at_start", SLICE("") },
        { "last_checkpoint_id", state_text(a, slice_of(c->out->checkpoint)) },
        { "last_interaction_time", state_time(a, env_now_ms(v->store->base.env)) },
    };

    return state_change(v->store->states, v->session->state, set, COUNT_OF(set), c->e);
}

static enum err_code write_metadata(struct committing *c)
{
    CLEANUP(condense_collected_fini) struct collected_checkpoint g = { .lines = 0 };
    AUTO_BUF prompt = { 0 };
    struct err *e = c->e;
    git_oid made;

    TRY(condense_collect(c->v, &g, e));
    g.s.checkpoint = slice_of(c->out->checkpoint);
    g.s.strategy = SLICE("auto-commit");
    g.s.shadow = SLICE("");
    g.s.count = 1;
    g.s.touched = c->out->touched;
    if (c->req->task) {
        g.s.task = c->req->task->tool_use;
        g.s.record = c->req->task;
        g.s.subject = temporary_task_subject(c->req->task, c->req->prompt, &c->v->arena);
        NEED(g.s.subject.p);
    }
    if (c->req->prompt.n) {
        NEED(!redact_text(c->req->prompt, &prompt, NULL));
        if (prompt.n)
            g.s.prompt = buf_slice(&prompt);
    }
    TRY(committed_write(c->v->repo, &g.s, &made, e));
    return settle_after_commit(c, g.lines);
}

/* Returns true if an earlier call made this commit for the session and was interrupted after it: the state still
 * has the commit before it as base. Its index entries and its checkpoint may be missing. */
static bool was_cut_short(struct committing *c)
{
    const struct entire_state *s = c->v->session->state;
    AUTO_COMMIT *head = NULL;
    struct slice message, id;
    char hex[GIT_OID_HEXSZ + 1];

    if (git_commit_lookup(&head, c->v->repo, &c->head) || git_commit_parentcount(head) != 1)
        return false;
    const char *raw = git_commit_message_raw(head);

    message = slice_of(raw ? raw : "");
    git_oid_tostr(hex, sizeof hex, git_commit_parent_id(head, 0));
    if (!slice_eq(s->base, (struct slice){ hex, GIT_OID_HEXSZ }) ||
        !entire_trailer_checkpoint(&message, &id) || id.n != ENTIRE_HEX_ID ||
        slice_eq(s->last_checkpoint, id))
        return false;
    snprintf(c->out->checkpoint, sizeof c->out->checkpoint, "%.*s", SLICE_ARG(id));
    return true;
}

enum err_code autocommit_write(struct view *v, const struct temporary_request *req,
                               struct autocommitted *out, struct err *e)
{
    struct autocommitted made = { .touched = { .a = &v->arena } };
    struct committing c = { .v = v, .req = req, .out = &made, .e = e };
    CLEANUP(treewrite_close) struct treewrite t = { .index = NULL };
    const char *where = v->store->base.path;
    git_oid base;
    bool there;

    assert(v->session->state && v->root);
    if (git_repository_state(v->repo) != GIT_REPOSITORY_STATE_NONE)
        return err_set(e, ERR_UNSUPPORTED, where,
                       "commit a checkpoint: a merge, a rebase or the like is in progress");
    TRY(repo_ref(v->repo, "HEAD", &there, &c.head, e));
    if (!there)
        return err_set(e, ERR_FORMAT, where, "commit a checkpoint: there is no commit yet");
    TRY(temporary_names(v, req, &made.touched, e));

    /* Make the tree of HEAD with the present files. */
    if (!view_head_tree(v, &base))
        return err_set(e, ERR_FORMAT, where, "commit a checkpoint: HEAD has no tree");
    TRY(treewrite_open(v->repo, &base, &t, e));
    for (size_t i = 0; i < made.touched.n; i++)
        TRY(treewrite_add_filtered(&t, v->root, made.touched.name[i].p, e));
    TRY(treewrite_finish(&t, &c.tree, e));

    if (!git_oid_equal(&c.tree, &base)) {
        made.made = true;
        TRY(commit_checkpoint(&c));
    } else {
        made.commit = c.head;
        made.made = was_cut_short(&c);
    }
    if (made.made) {
        TRY(update_index(&c));
        TRY(write_metadata(&c));
    }
    *out = made;
    return ERR_OK;
}
