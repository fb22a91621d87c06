#include "store/systems/entire/write/committed_write.h"

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

enum { HOOK_MAX = 1 << 20 };

static bool wants_signature(git_config *config)
{
    int yes = 0;

    return git_config_get_bool(&yes, config, "commit.gpgsign") == 0 && yes;
}

/* Entire's own hooks can be recognised; the commit already has what they would add. */
static bool is_entires(const char *path)
{
    struct buf text = { 0 };
    bool yes = file_read_all(AT_FDCWD, path, FILE_FOLLOW, HOOK_MAX, &text, NULL) == ERR_OK &&
               slice_has(buf_slice(&text), "Entire CLI hooks");

    buf_fini(&text);
    return yes;
}

/* core.hooksPath is relative to the work tree. */
static const char *hooks_dir(git_repository *repo, git_config *config, struct arena *a)
{
    const char *set = NULL, *root = git_repository_workdir(repo);

    if (git_config_get_string(&set, config, "core.hooksPath") || !*set)
        return arena_format(a, "%shooks", git_repository_commondir(repo));
    return set[0] == '/' ? arena_format(a, "%s", set)
                         : arena_format(a, "%s%s", root ? root : "", set);
}

static const char *a_hook(git_repository *repo, git_config *config, struct arena *a)
{
    static const char *const names[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
                                         "post-commit" };
    const char *dir = hooks_dir(repo, config, a);

    for (size_t i = 0; dir && i < sizeof names / sizeof *names; i++) {
        const char *path = arena_format(a, "%s/%s", dir, names[i]);

        if (path && access(path, X_OK) == 0 && !is_entires(path))
            return names[i];
    }
    return NULL;
}

const char *autocommit_skipped_note(git_repository *repo, struct arena *a)
{
    git_config *config = NULL;

    if (git_repository_config_snapshot(&config, repo))
        return NULL;
    const char *hook = a_hook(repo, config, a);
    bool sign = wants_signature(config);

    git_config_free(config);
    if (hook)
        return arena_format(a, "the hooks of git were not run (%s)%s", hook,
                            sign ? ", and the commit is not signed" : "");
    return sign ? "the commit is not signed" : NULL;
}

enum { SETTINGS_MAX = 1 << 20 };

/* ---- which strategy ---- */

/* The last setting is used; older versions called the strategy "dual". */
static void read_settings(const char *root, const char *name, bool *wanted)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct slice strategy;
    const char *path = arena_format(&a, "%s/.entire/%s", root, name);

    if (path && file_read_all(AT_FDCWD, path, 0, SETTINGS_MAX, &text, NULL) == ERR_OK &&
        json_get_text(buf_slice(&text), "strategy", &a, &strategy))
        *wanted = slice_eq(strategy, SLICE("auto-commit")) || slice_eq(strategy, SLICE("dual"));
    buf_fini(&text);
    arena_fini(&a);
}

bool autocommit_wanted(const struct view *v)
{
    bool wanted = false;

    if (v->root) {
        read_settings(v->root, "settings.json", &wanted);
        read_settings(v->root, "settings.local.json", &wanted);
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

static enum err_code look_at_head(struct committing *c)
{
    const char *where = c->v->store->base.path;
    bool there;

    if (git_repository_state(c->v->repo) != GIT_REPOSITORY_STATE_NONE)
        return err_set(c->e, ERR_UNSUPPORTED, where,
                       "commit a checkpoint: a merge, a rebase or the like is in progress");
    enum err_code rc = repo_ref(c->v->repo, "HEAD", &there, &c->head, c->e);

    return rc || there
               ? rc
               : err_set(c->e, ERR_FORMAT, where, "commit a checkpoint: there is no commit yet");
}

/* Makes the tree of HEAD with the present files. */
static enum err_code make_commit_tree(struct committing *c)
{
    const struct names_list *names = &c->out->touched;
    struct treewrite t;
    git_oid base;

    if (!view_head_tree(c->v, &base))
        return err_set(c->e, ERR_FORMAT, c->v->store->base.path,
                       "commit a checkpoint: HEAD has no tree");
    enum err_code rc = treewrite_open(c->v->repo, &base, &t, c->e);

    if (rc)
        return rc;
    for (size_t i = 0; i < names->n && !rc; i++)
        rc = treewrite_add_filtered(&t, c->v->root, names->name[i].p, c->e);
    if (!rc)
        rc = treewrite_finish(&t, &c->tree, c->e);
    treewrite_close(&t);
    c->out->made = !rc && !git_oid_equal(&c->tree, &base);
    return rc;
}

/* The branch that HEAD is on, or "HEAD" itself if it is detached. */
static enum err_code name_branch(struct committing *c, const char **ref)
{
    git_reference *head = NULL;

    if (git_repository_head(&head, c->v->repo))
        return err_set(c->e, ERR_FORMAT, c->v->store->base.path,
                       "commit a checkpoint: HEAD names no branch");
    *ref = arena_format(&c->v->arena, "%s", git_reference_name(head));
    git_reference_free(head);
    return *ref ? ERR_OK : err_nomem(c->e);
}

static enum err_code move_branch(struct committing *c, const char *message)
{
    git_signature *sig = NULL;
    struct commit_text text = {
        .tree = c->tree, .parent = &c->head, .parents = 1, .message = slice_of(message)
    };
    const char *ref,
        *why = arena_format(&c->v->arena, "commit: %.*s", (int)strcspn(message, "\n"), message);
    enum err_code rc = why ? name_branch(c, &ref) : err_nomem(c->e);

    if (!rc)
        rc = treewrite_author(c->v->repo, &sig, &text.author, c->e);
    text.committer = text.author;
    if (!rc)
        rc = treewrite_commit(c->v->repo, &text, &c->out->commit, c->e);
    if (!rc)
        rc = repo_ref_move(c->v->repo, ref, &c->head, &c->out->commit, why, c->e);
    git_signature_free(sig);
    return rc;
}

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
    struct arena *a = &c->v->arena;
    struct slice subject = c->req->subject.n ? c->req->subject
                           : c->req->task ? temporary_task_subject(c->req->task, c->req->prompt, a)
                                          : temporary_subject(c->req->prompt, a);
    enum err_code rc = committed_generate_id(c->out->checkpoint, c->e);
    /* Entire writes no final newline. */
    const char *message = subject.p ? arena_format(a, "%.*s\n\nEntire-Checkpoint: %s",
                                                   SLICE_ARG(subject), c->out->checkpoint)
                                    : NULL;

    if (rc)
        return rc;
    return message ? move_branch(c, message) : err_nomem(c->e);
}

/* ---- the checkpoint ---- */

static enum err_code settle_state(struct committing *c, int64_t lines)
{
    const struct view *v = c->v;
    struct arena *a = &c->v->arena;
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, &c->out->commit);
    struct slice base = state_text(a, (struct slice){ hex, GIT_OID_HEXSZ });
    struct slice id = slice_of(c->out->checkpoint);
    const struct go_json_member set[] = {
        { "base_commit", base },
        { "attribution_base_commit", base },
        { "checkpoint_transcript_start", state_number(a, lines) },
        { "condensed_transcript_lines", SLICE("") },
        { "transcript_lines_at_start", SLICE("") },
        { "last_checkpoint_id", state_text(a, id) },
        { "last_interaction_time", state_time(a, env_now_ms(v->store->base.env)) },
    };

    return state_change(v->store->states, v->session->state, set, sizeof set / sizeof *set, c->e);
}

static enum err_code write_metadata(struct committing *c)
{
    struct collected_checkpoint g;
    struct buf prompt = { 0 };
    git_oid made;
    enum err_code rc = condense_collect(c->v, &g, c->e);

    if (!rc && c->req->prompt.n && redact_text(c->req->prompt, &prompt, NULL))
        rc = err_nomem(c->e);
    g.s.checkpoint = slice_of(c->out->checkpoint);
    g.s.strategy = SLICE("auto-commit");
    g.s.shadow = SLICE("");
    g.s.count = 1;
    g.s.touched = c->out->touched;
    if (c->req->task) {
        g.s.task = c->req->task->tool_use;
        g.s.record = c->req->task;
        g.s.subject = temporary_task_subject(c->req->task, c->req->prompt, &c->v->arena);
        rc = rc || g.s.subject.p ? rc : err_nomem(c->e);
    }
    if (prompt.n)
        g.s.prompt = buf_slice(&prompt);
    if (!rc)
        rc = committed_write(c->v->repo, &g.s, &made, c->e);
    if (!rc)
        rc = settle_state(c, g.lines);
    buf_fini(&prompt);
    condense_collected_fini(&g);
    return rc;
}

/* Returns true if an earlier call made this commit for the session and was interrupted after it: the state still
 * has the commit before it as base. Its index entries and its checkpoint may be missing. */
static bool was_cut_short(struct committing *c)
{
    const struct entire_state *s = c->v->session->state;
    git_commit *head = NULL;
    struct slice message, id = SLICE("");
    char hex[GIT_OID_HEXSZ + 1] = "";

    if (git_commit_lookup(&head, c->v->repo, &c->head))
        return false;
    const char *raw = git_commit_message_raw(head);

    message = (struct slice){ raw ? raw : "", raw ? strlen(raw) : 0 };
    if (git_commit_parentcount(head) == 1)
        git_oid_tostr(hex, sizeof hex, git_commit_parent_id(head, 0));
    bool ours = hex[0] && slice_eq(s->base, (struct slice){ hex, GIT_OID_HEXSZ }) &&
                entire_trailer_checkpoint(&message, &id) && id.n == ENTIRE_HEX_ID &&
                !slice_eq(s->last_checkpoint, id);

    if (ours)
        snprintf(c->out->checkpoint, sizeof c->out->checkpoint, "%.*s", SLICE_ARG(id));
    git_commit_free(head);
    return ours;
}

enum err_code autocommit_write(struct view *v, const struct temporary_request *req,
                               struct autocommitted *out, struct err *e)
{
    struct autocommitted made = { .touched = { .a = &v->arena } };
    struct committing c = { .v = v, .req = req, .out = &made, .e = e };
    enum err_code rc = look_at_head(&c);

    if (!rc)
        rc = temporary_names(v, req, &made.touched, e);
    if (!rc)
        rc = make_commit_tree(&c);
    bool unfinished = !rc && !made.made && was_cut_short(&c);

    if (!rc && !made.made)
        made.commit = c.head;
    /* The commit comes first: a missing checkpoint is handled everywhere, but one that no commit names would stay
     * forever. */
    if (!rc && made.made)
        rc = commit_checkpoint(&c);
    made.made = made.made || unfinished;
    if (!rc && made.made)
        rc = update_index(&c);
    if (!rc && made.made)
        rc = write_metadata(&c);
    if (!rc)
        *out = made;
    return rc;
}
