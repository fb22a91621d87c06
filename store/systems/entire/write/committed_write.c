#include "store/systems/entire/write/committed_write.h"
#include "lite/base/digest.h"
#include "store/git/repo.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/redact/redact.h"
#include "store/systems/common/go_json.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/catalog.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/temporary.h"
#include "store/systems/entire/write/treewrite.h"

/* One checkpoint has one folder on the branch and may have several sessions in it, each in a numbered folder. A session is
 * written into the tree of the present tip, so that whatever else is there stays, byte for byte; the root document is
 * edited and keeps members that we do not know. Then the branch moves by compare-and-swap. If another program was
 * faster, everything is done again from the new tip, because it may have written the same checkpoint. */

enum { TRIES = 5, DOCUMENT_MAX = 16 << 20, CHUNK = 50 << 20 };

const char committed_first_message[] =
    "Initialize metadata branch\n\nThis branch stores session metadata.\n";

/* A checkpoint being written. */
struct writing {
    const struct committed_session *s;
    struct treewrite tree;
    struct arena arena;
    struct slice root; /* the former metadata.json of the checkpoint; empty if there was none */
    char folder[64];   /* "ab/cdef012345" */
    int number;        /* the session's number in the checkpoint */
    bool again;        /* the session is in the checkpoint already */
    int64_t count;     /* checkpoints of all sessions */
    struct entire_tokens tokens; /* the sum of the other sessions' tokens */
    struct names_list touched;
    struct err *e;
};

enum err_code committed_generate_id(char out[13], struct err *e)
{
    unsigned char r[6];

    if (getentropy(r, sizeof r))
        return err_sys(e, "a checkpoint", "generate an id");
    for (size_t i = 0; i < sizeof r; i++)
        snprintf(out + 2 * i, 3, "%02x", r[i]);
    return ERR_OK;
}

enum err_code committed_message(const struct committed_session *s, struct buf *out)
{
    char task[256] = "";

    if (s->finalize)
        return buf_addf(out, "Finalize transcript for Checkpoint: %.*s", SLICE_ARG(s->checkpoint));
    if (s->task.n)
        snprintf(task, sizeof task, "%.2s/%.*s/tasks/%.*s", s->checkpoint.p,
                 (int)s->checkpoint.n - 2, s->checkpoint.p + 2, SLICE_ARG(s->task));
    const struct {
        const char *front;
        struct slice text;
        const char *end;
    } parts[] = {
        { "Checkpoint: ", s->checkpoint, "\n\n" },   { "", s->subject, "\n\n" },
        { TRAILER_SESSION ": ", s->session, "\n" },  { TRAILER_STRATEGY ": ", s->strategy, "\n" },
        { TRAILER_AGENT ": ", s->agent, "\n" },      { TRAILER_BRANCH ": ", s->shadow, "\n" },
        { TRAILER_TASK ": ", slice_of(task), "\n" },
    };

    /* An empty text leaves out its whole line. */
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (!parts[i].text.n)
            continue;
        TRY(buf_add(out, slice_of(parts[i].front)));
        TRY(buf_add(out, parts[i].text));
        TRY(buf_add(out, slice_of(parts[i].end)));
    }
    return ERR_OK;
}

/* ---- what is in the checkpoint already ---- */

/* Reads one listed session. If it is ours, its folder is used again; otherwise its files and checkpoints are
 * added. */
static enum err_code read_former_session(struct writing *w, const git_tree *tree,
                                         struct slice listed)
{
    static const char *const keys[] = { "session_id", "checkpoints_count", "files_touched",
                                        "token_usage" };
    struct slice named, inner, value[4];
    struct entire_tokens tokens;
    AUTO_BUF json = { 0 };
    char path[700];
    int64_t n;
    int number = 0;
    size_t at = 0;

    if (!json_get_text(listed, "metadata", &w->arena, &named) ||
        !entire_inner_path(named, w->s->checkpoint, &inner))
        return ERR_OK;

    /* 2 for "2/metadata.json"; -1 if there is no number. */
    for (; at < inner.n && at < 6 && inner.p[at] >= '0' && inner.p[at] <= '9'; at++)
        number = number * 10 + (inner.p[at] - '0');
    if (!at || at >= inner.n || inner.p[at] != '/')
        number = -1;
    snprintf(path, sizeof path, "%s/%.*s", w->folder, SLICE_ARG(inner));
    enum err_code rc = repo_blob_at(w->tree.repo, tree, path, DOCUMENT_MAX, &json, NULL);

    if (rc == ERR_NOMEM)
        return err_nomem(w->e);
    if (!rc) {
        json_get_each(buf_slice(&json), keys, 4, value);
        if (number >= 0 && slice_eq(json_text_of(value[0], &w->arena), w->s->session)) {
            w->again = true;
            w->number = number;
        } else {
            w->count += json_int(value[1], &n) ? n : 0;
            tokens = entire_tokens_read(value[3]);
            entire_tokens_add(&w->tokens, &tokens);
            if (!names_add_json(&w->touched, value[2]))
                return err_nomem(w->e);
        }
    }

    /* A session whose document cannot be read still keeps its folder. */
    if (!w->again && number >= w->number)
        w->number = number + 1;
    return ERR_OK;
}

/* Reads what is in the checkpoint already; a new one has no root document. */
static enum err_code entire_read_root(struct writing *w, const git_oid *base)
{
    AUTO_TREE *tree = NULL;
    AUTO_BUF json = { 0 };
    char path[80];
    struct slice listed;
    struct json_iter it;
    int answer = git_tree_lookup(&tree, w->tree.repo, base);

    if (answer)
        return repo_error(w->e, answer, ENTIRE_V1, "write a checkpoint");
    snprintf(path, sizeof path, "%s/metadata.json", w->folder);
    enum err_code rc = repo_blob_at(w->tree.repo, tree, path, DOCUMENT_MAX, &json, NULL);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    /* A document that cannot be read is not replaced, because it lists the sessions of others. */
    if (rc)
        return rc == ERR_NOMEM
                   ? err_nomem(w->e)
                   : err_set(w->e, rc, path, "write a checkpoint: read what is in it already");
    if (!json_valid(buf_slice(&json)))
        return err_set(w->e, ERR_FORMAT, path, "write a checkpoint: its root document is damaged");
    w->root = arena_copy(&w->arena, buf_slice(&json));
    if (!w->root.p)
        return err_nomem(w->e);
    json_list_open(&it, w->root, "sessions");
    while (json_list_next(&it, &listed))
        TRY(read_former_session(w, tree, listed));
    return ERR_OK;
}

/* ---- documents ---- */

static enum err_code session_document(const struct committed_session *s, struct arena *a,
                                      struct buf *out)
{
    struct go_json_document g;
    struct slice tokens = entire_tokens_json(&s->tokens, a);
    char created[TIME_TEXT];

    time_format(s->created_ms, created);
    go_json_document_init(&g, out);
    go_json_document_open(&g, '{');
    go_json_document_member(&g, "cli_version", SLICE("reprise " REPRISE_VERSION));
    go_json_document_member(&g, "checkpoint_id", s->checkpoint);
    go_json_document_member(&g, "session_id", s->session);
    go_json_document_member(&g, "strategy", s->strategy);
    go_json_document_member(&g, "created_at", slice_of(created));
    go_json_document_member(&g, "branch", s->branch);
    go_json_document_key(&g, "checkpoints_count");
    go_json_document_int(&g, s->count);
    go_json_document_key(&g, "files_touched");
    go_json_document_open(&g, '[');
    for (size_t i = 0; i < s->touched.n; i++)
        go_json_document_text(&g, s->touched.name[i]);
    go_json_document_close(&g, ']');
    go_json_document_member(&g, "agent", s->agent);
    go_json_document_member(&g, "turn_id", s->turn_id);
    if (s->task.n) {
        go_json_document_key(&g, "is_task");
        go_json_document_value(&g, SLICE("true"));
        go_json_document_member(&g, "tool_use_id", s->task);
    }

    /* The start is written under its older name, too. */
    if (s->transcript_start > 0) {
        go_json_document_key(&g, "checkpoint_transcript_start");
        go_json_document_int(&g, s->transcript_start);
        go_json_document_key(&g, "transcript_lines_at_start");
        go_json_document_int(&g, s->transcript_start);
    }
    if (tokens.n) {
        go_json_document_key(&g, "token_usage");
        go_json_document_value(&g, tokens);
    }
    go_json_document_close(&g, '}');
    go_json_document_end(&g);
    return tokens.p ? g.rc : ERR_NOMEM;
}

static void put_path(struct go_json_document *g, const struct writing *w, const char *key,
                     const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "/%s/%d/%s", w->folder, w->number, name);
    go_json_document_member(g, key, slice_of(path));
}

/* The listed sessions, unchanged, and ours unless it is among them. */
static struct slice listed_sessions(struct writing *w)
{
    AUTO_BUF out = { 0 };
    struct go_json_document g;
    struct json_iter it;
    struct slice listed;

    go_json_document_init(&g, &out);
    go_json_document_open(&g, '[');
    json_list_open(&it, w->root, "sessions");
    while (json_list_next(&it, &listed))
        go_json_document_value(&g, listed);
    if (!w->again) {
        go_json_document_open(&g, '{');
        put_path(&g, w, "metadata", "metadata.json");
        put_path(&g, w, "transcript", "full.jsonl");
        go_json_document_key(&g, "context");
        go_json_document_text(&g, SLICE(""));
        put_path(&g, w, "content_hash", "content_hash.txt");
        put_path(&g, w, "prompt", "prompt.txt");
        go_json_document_close(&g, '}');
    }
    go_json_document_close(&g, ']');
    return g.rc ? (struct slice){ NULL, 0 } : arena_copy(&w->arena, buf_slice(&out));
}

static enum err_code root_document(struct writing *w, struct buf *out)
{
    static const char *const order[] = { "cli_version", "checkpoint_id",     "strategy",
                                         "branch",      "checkpoints_count", "files_touched",
                                         "sessions",    "token_usage",       NULL };
    const struct committed_session *s = w->s;
    const char *count = arena_format(&w->arena, "%lld", (long long)(w->count + s->count));
    struct entire_tokens tokens = w->tokens;

    entire_tokens_add(&tokens, &s->tokens);
    const struct go_json_member set[] = {
        { "cli_version", state_text(&w->arena, SLICE("reprise " REPRISE_VERSION)) },
        { "checkpoint_id", state_text(&w->arena, s->checkpoint) },
        { "strategy", state_text(&w->arena, s->strategy) },
        { "branch", s->branch.n ? state_text(&w->arena, s->branch) : SLICE("") },
        { "checkpoints_count", { count, count ? strlen(count) : 0 } },
        { "files_touched", state_list(&w->arena, w->touched.name, w->touched.n) },
        { "sessions", listed_sessions(w) },
        { "token_usage", entire_tokens_json(&tokens, &w->arena) },
    };

    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (!set[i].value.p)
            return ERR_NOMEM;
    return go_json_document_edit(w->root.n ? w->root : SLICE("{}"), order, set,
                                 sizeof set / sizeof *set, out);
}

/* ---- files ---- */

static enum err_code entire_put_bytes(struct writing *w, const char *name, struct slice bytes)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%d/%s", w->folder, w->number, name);
    return treewrite_add_bytes(&w->tree, path, bytes, w->e);
}

/* Writes the transcript and what belongs to it. A transcript of more than 50 MiB is written in pieces, cut at line ends,
 * each without its final newline. */
static enum err_code put_conversation(struct writing *w)
{
    struct slice rest = w->s->transcript;
    char hash[CONTENT_HASH + 1], name[40] = "full.jsonl";

    for (int i = 1;; i++) {
        const char *nl = rest.n > CHUNK ? memrchr(rest.p, '\n', CHUNK) : NULL;
        size_t n = nl ? (size_t)(nl - rest.p) : rest.n;

        TRY(entire_put_bytes(w, name, (struct slice){ rest.p, n }));
        if (!nl)
            break;
        rest.p += n + 1;
        rest.n -= n + 1;
        snprintf(name, sizeof name, "full.jsonl.%03d", i);
    }
    if (slice_eq(w->s->strategy, SLICE("manual-commit"))) {
        if (!committed_content_hash(w->s->transcript, hash))
            return digest_error(w->e);
        TRY(entire_put_bytes(w, "content_hash.txt", (struct slice){ hash, CONTENT_HASH }));
    }
    return w->s->prompt.n ? entire_put_bytes(w, "prompt.txt", w->s->prompt) : ERR_OK;
}

/* Writes to the root of the checkpoint. The sub-agent's transcript is redacted, like the session's. */
static enum err_code put_task(struct writing *w)
{
    const struct temporary_task *task = w->s->record;
    AUTO_BUF json = { 0 };
    AUTO_BUF rows = { 0 };
    char path[700];

    if (temporary_task_document(task, w->s->session, true, &json) ||
        redact_json_rows(task->transcript, &rows, NULL))
        return err_nomem(w->e);
    snprintf(path, sizeof path, "%s/tasks/%.*s/checkpoint.json", w->folder, SLICE_ARG(w->s->task));
    TRY(treewrite_add_bytes(&w->tree, path, buf_slice(&json), w->e));
    if (!task->agent.n || !rows.n)
        return ERR_OK;
    snprintf(path, sizeof path, "%s/tasks/%.*s/agent-%.*s.jsonl", w->folder, SLICE_ARG(w->s->task),
             SLICE_ARG(task->agent));
    return treewrite_add_bytes(&w->tree, path, buf_slice(&rows), w->e);
}

/* Writes the transcript of a session again that is in the checkpoint: all pieces of the present one are removed. */
static enum err_code put_again(struct writing *w)
{
    char path[200];
    int n = snprintf(path, sizeof path, "%s/%d/full.jsonl", w->folder, w->number);

    if (!w->again)
        return err_set(w->e, ERR_NOT_FOUND, w->folder,
                       "write a checkpoint: the session is not in it");
    for (int i = 0; i < 1000; i++) {
        treewrite_remove(&w->tree, path);
        snprintf(path + n, sizeof path - (size_t)n, ".%03d", i + 1);
    }
    return put_conversation(w);
}

/* Writes the session into its numbered folder, which is emptied first, and the root document. */
static enum err_code put_checkpoint(struct writing *w)
{
    AUTO_BUF session = { 0 };
    AUTO_BUF root = { 0 };
    struct err *e = w->e;
    char path[100];

    snprintf(path, sizeof path, "%s/%d", w->folder, w->number);
    TRY(treewrite_remove_folder(&w->tree, path, e));
    NEED(!session_document(w->s, &w->arena, &session));
    TRY(entire_put_bytes(w, "metadata.json", buf_slice(&session)));
    TRY(put_conversation(w));
    if (w->s->record)
        TRY(put_task(w));
    NEED(!root_document(w, &root));
    snprintf(path, sizeof path, "%s/metadata.json", w->folder);
    return treewrite_add_bytes(&w->tree, path, buf_slice(&root), e);
}

static void writing_fini(struct writing *w)
{
    treewrite_close(&w->tree);
    arena_fini(&w->arena);
}

/* ---- the branch ---- */

/* A local branch starts at the branch of origin, or else at a commit of an empty tree without a parent. */
static enum err_code begin_branch(git_repository *repo, const struct author *who, git_oid *tip,
                                  struct err *e)
{
    CLEANUP(treewrite_close) struct treewrite t = { .index = NULL };
    struct commit_text c = { .author = *who,
                             .committer = *who,
                             .message = slice_of(committed_first_message) };
    bool there;

    TRY(repo_ref(repo, ENTIRE_V1_REMOTE, &there, tip, e));
    if (!there) {
        TRY(treewrite_open(repo, NULL, &t, e));
        TRY(treewrite_finish(&t, &c.tree, e));
        TRY(treewrite_commit(repo, &c, tip, e));
    }
    return repo_ref_move(repo, ENTIRE_V1, NULL, tip, "entire: begin", e);
}

enum err_code committed_begin(git_repository *repo, struct err *e)
{
    CLEANUP(git_signature_free_at) git_signature *sig = NULL;
    struct author who;
    git_oid tip;
    bool there;

    TRY(repo_ref(repo, ENTIRE_V1, &there, &tip, e));
    if (there)
        return ERR_OK;
    TRY(treewrite_author(repo, &sig, &who, e));
    enum err_code rc = begin_branch(repo, &who, &tip, e);

    return rc == ERR_STALE ? ERR_OK : rc; /* another program was faster */
}

/* Writes the checkpoint on top of the present tip. ERR_STALE: another program moved the branch. */
static enum err_code write_at_tip(git_repository *repo, const struct committed_session *s,
                                  const struct author *who, git_oid *out, struct err *e)
{
    struct commit_text c = { .author = *who, .committer = *who, .parents = 1 };
    AUTO_BUF message = { 0 };
    AUTO_COMMIT *at = NULL;
    git_oid tip;
    bool there;

    TRY(repo_ref(repo, ENTIRE_V1, &there, &tip, e));
    if (!there)
        TRY(begin_branch(repo, who, &tip, e));
    int answer = git_commit_lookup(&at, repo, &tip);

    if (answer)
        return repo_error(e, answer, ENTIRE_V1, "write a checkpoint");

    const git_oid *base = git_commit_tree_id(at);

    CLEANUP(writing_fini) struct writing w = { .s = s, .root = SLICE(""), .e = e };

    TRY(treewrite_open(repo, base, &w.tree, e));
    w.touched.a = &w.arena;
    snprintf(w.folder, sizeof w.folder, "%.2s/%.*s", s->checkpoint.p, (int)s->checkpoint.n - 2,
             s->checkpoint.p + 2);
    TRY(entire_read_root(&w, base));

    /* The root document names the files of all sessions, those of the former ones first. */
    for (size_t i = 0; i < s->touched.n; i++)
        NEED(names_add(&w.touched, s->touched.name[i]));
    TRY(s->finalize ? put_again(&w) : put_checkpoint(&w));
    TRY(treewrite_finish(&w.tree, &c.tree, e));

    NEED(!committed_message(s, &message));
    c.parent = &tip;
    c.message = buf_slice(&message);
    TRY(treewrite_commit(repo, &c, out, e));

    /* The branch moves only from the tip that was read above. */
    return repo_ref_move(repo, ENTIRE_V1, &tip, out, "entire: checkpoint", e);
}

enum err_code committed_write(git_repository *repo, const struct committed_session *s,
                              git_oid *commit, struct err *e)
{
    CLEANUP(git_signature_free_at) git_signature *sig = NULL;
    struct author who;
    enum err_code rc = ERR_STALE;

    assert(entire_checkpoint_id_ok(s->checkpoint));
    if (s->by)
        who = *s->by;
    else
        TRY(treewrite_author(repo, &sig, &who, e));
    for (int i = 0; i < TRIES && rc == ERR_STALE; i++)
        rc = write_at_tip(repo, s, &who, commit, e);
    return rc;
}
