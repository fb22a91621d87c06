#include "store/systems/entire/write/committed_write.h"
#include "store/git/repo.h"

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
    int number;        /* of the session */
    bool again;        /* the session is in the checkpoint already */
    int64_t count;     /* checkpoints of all sessions */
    struct entire_tokens tokens; /* of the other sessions */
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
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && !rc; i++) {
        if (!parts[i].text.n)
            continue;
        rc = buf_add(out, slice_of(parts[i].front));
        if (!rc)
            rc = buf_add(out, parts[i].text);
        if (!rc)
            rc = buf_add(out, slice_of(parts[i].end));
    }
    return rc;
}

/* ---- what is in the checkpoint already ---- */

/* 2 for "2/metadata.json"; -1 if there is no number. */
static int folder_number(struct slice inner)
{
    int n = 0;
    size_t i = 0;

    for (; i < inner.n && i < 6 && inner.p[i] >= '0' && inner.p[i] <= '9'; i++)
        n = n * 10 + (inner.p[i] - '0');
    return i && i < inner.n && inner.p[i] == '/' ? n : -1;
}

/* Reads one listed session. If it is ours, its folder is used again; otherwise its files and checkpoints are
 * added. */
static enum err_code read_listed(struct writing *w, const git_tree *tree, struct slice listed)
{
    static const char *const keys[] = { "session_id", "checkpoints_count", "files_touched",
                                        "token_usage" };
    struct slice named, inner, value[4], id;
    struct entire_tokens tokens;
    struct buf json = { 0 };
    char path[700];
    int64_t n = 0;
    int number;

    if (!json_get_text(listed, "metadata", &w->arena, &named) ||
        !entire_inner_path(named, w->s->checkpoint, &inner))
        return ERR_OK;
    number = folder_number(inner);
    snprintf(path, sizeof path, "%s/%.*s", w->folder, SLICE_ARG(inner));
    enum err_code rc = repo_blob_at(w->tree.repo, tree, path, DOCUMENT_MAX, &json, NULL);

    if (!rc) {
        json_get_each(buf_slice(&json), keys, 4, value);
        if (json_type(value[0]) == JSON_STRING && json_text(value[0], &w->arena, &id) &&
            slice_eq(id, w->s->session) && number >= 0) {
            w->again = true;
            w->number = number;
        } else {
            w->count += json_int(value[1], &n) ? n : 0;
            tokens = entire_tokens_read(value[3]);
            entire_tokens_add(&w->tokens, &tokens);
            if (!names_add_json(&w->touched, value[2]))
                rc = ERR_NOMEM;
        }
    }
    if (!w->again && number >= w->number)
        w->number = number + 1;
    buf_fini(&json);
    return rc == ERR_NOMEM ? err_nomem(w->e) : ERR_OK;
}

static enum err_code read_root(struct writing *w, const git_oid *base)
{
    git_tree *tree = NULL;
    struct buf json = { 0 };
    char path[80];
    struct slice sessions, key, listed;
    struct json_iter it;
    int answer = git_tree_lookup(&tree, w->tree.repo, base);

    if (answer)
        return repo_error(w->e, answer, ENTIRE_V1, "write a checkpoint");
    snprintf(path, sizeof path, "%s/metadata.json", w->folder);
    enum err_code rc = repo_blob_at(w->tree.repo, tree, path, DOCUMENT_MAX, &json, NULL);

    if (!rc && json_valid(buf_slice(&json))) {
        w->root = arena_copy(&w->arena, buf_slice(&json));
        rc = w->root.p ? ERR_OK : err_nomem(w->e);
        if (!rc && json_get(w->root, "sessions", &sessions) && json_iter_open(&it, sessions))
            while (!rc && json_iter_next(&it, &key, &listed))
                rc = read_listed(w, tree, listed);
    } else if (rc != ERR_NOMEM) {
        rc = ERR_OK; /* a new checkpoint */
    }
    buf_fini(&json);
    git_tree_free(tree);
    return rc;
}

/* ---- documents ---- */

static void put_list(struct go_json_document *g, const struct names_list *l)
{
    go_json_document_key(g, "files_touched");
    go_json_document_open(g, '[');
    for (size_t i = 0; i < l->n; i++)
        go_json_document_text(g, l->name[i]);
    go_json_document_close(g, ']');
}

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
    put_list(&g, &s->touched);
    go_json_document_member(&g, "agent", s->agent);
    go_json_document_member(&g, "turn_id", s->turn_id);
    if (s->task.n) {
        go_json_document_key(&g, "is_task");
        go_json_document_value(&g, SLICE("true"));
        go_json_document_member(&g, "tool_use_id", s->task);
    }
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
    struct buf out = { 0 };
    struct go_json_document g;
    struct json_iter it;
    struct slice old, key, value, text = { NULL, 0 };

    go_json_document_init(&g, &out);
    go_json_document_open(&g, '[');
    if (json_get(w->root, "sessions", &old) && json_iter_open(&it, old))
        while (json_iter_next(&it, &key, &value))
            go_json_document_value(&g, value);
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
    if (!g.rc)
        text = arena_copy(&w->arena, buf_slice(&out));
    buf_fini(&out);
    return text;
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

static enum err_code put_bytes(struct writing *w, const char *name, struct slice bytes)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%d/%s", w->folder, w->number, name);
    return treewrite_add_bytes(&w->tree, path, bytes, w->e);
}

/* A transcript of more than 50 MiB is written in pieces, cut at line ends, each without its final newline. */
static enum err_code put_transcript(struct writing *w)
{
    struct slice rest = w->s->transcript;
    char name[40] = "full.jsonl";
    enum err_code rc = ERR_OK;

    for (int i = 1; !rc; i++) {
        const char *nl = rest.n > CHUNK ? memrchr(rest.p, '\n', CHUNK) : NULL;
        size_t n = nl ? (size_t)(nl - rest.p) : rest.n;

        rc = put_bytes(w, name, (struct slice){ rest.p, n });
        if (!nl)
            break;
        rest.p += n + 1;
        rest.n -= n + 1;
        snprintf(name, sizeof name, "full.jsonl.%03d", i);
    }
    return rc;
}

/* Removes all pieces of the present transcript. */
static void drop_transcript(struct writing *w)
{
    char path[200];
    int n = snprintf(path, sizeof path, "%s/%d/full.jsonl", w->folder, w->number);

    for (int i = 0; i < 1000; i++) {
        treewrite_remove(&w->tree, path);
        snprintf(path + n, sizeof path - (size_t)n, ".%03d", i + 1);
    }
}

static enum err_code put_said(struct writing *w)
{
    char hash[CONTENT_HASH + 1];
    bool hashed = slice_eq(w->s->strategy, SLICE("manual-commit"));
    enum err_code rc = put_transcript(w);

    committed_content_hash(w->s->transcript, hash);
    if (!rc && hashed)
        rc = put_bytes(w, "content_hash.txt", (struct slice){ hash, CONTENT_HASH });
    return rc || !w->s->prompt.n ? rc : put_bytes(w, "prompt.txt", w->s->prompt);
}

static enum err_code put_session(struct writing *w)
{
    struct buf json = { 0 };
    char folder[100];

    snprintf(folder, sizeof folder, "%s/%d", w->folder, w->number);
    enum err_code rc = treewrite_remove_folder(&w->tree, folder, w->e);

    if (!rc && session_document(w->s, &w->arena, &json))
        rc = err_nomem(w->e);
    if (!rc)
        rc = put_bytes(w, "metadata.json", buf_slice(&json));
    buf_fini(&json);
    return rc ? rc : put_said(w);
}

static enum err_code put_root(struct writing *w)
{
    struct buf json = { 0 };
    char path[100];
    enum err_code rc = root_document(w, &json) ? err_nomem(w->e) : ERR_OK;

    snprintf(path, sizeof path, "%s/metadata.json", w->folder);
    if (!rc)
        rc = treewrite_add_bytes(&w->tree, path, buf_slice(&json), w->e);
    buf_fini(&json);
    return rc;
}

static enum err_code put_task_file(struct writing *w, const char *name, struct slice bytes)
{
    char path[700];

    snprintf(path, sizeof path, "%s/tasks/%.*s/%s", w->folder, SLICE_ARG(w->s->task), name);
    return treewrite_add_bytes(&w->tree, path, bytes, w->e);
}

/* Writes to the root of the checkpoint. The sub-agent's transcript is redacted, like the session's. */
static enum err_code put_task(struct writing *w)
{
    const struct temporary_task *task = w->s->record;
    struct buf json = { 0 }, rows = { 0 };
    char name[300];
    enum err_code rc = ERR_OK;

    if (temporary_task_document(task, w->s->session, true, &json) ||
        redact_json_rows(task->transcript, &rows, NULL))
        rc = err_nomem(w->e);
    if (!rc)
        rc = put_task_file(w, "checkpoint.json", buf_slice(&json));
    snprintf(name, sizeof name, "agent-%.*s.jsonl", SLICE_ARG(task->agent));
    if (!rc && task->agent.n && rows.n)
        rc = put_task_file(w, name, buf_slice(&rows));
    buf_fini(&json);
    buf_fini(&rows);
    return rc;
}

static enum err_code put_all(struct writing *w)
{
    enum err_code rc = put_session(w);

    if (!rc && w->s->record)
        rc = put_task(w);
    return rc ? rc : put_root(w);
}

static enum err_code put_again(struct writing *w)
{
    if (!w->again)
        return err_set(w->e, ERR_NOT_FOUND, w->folder,
                       "write a checkpoint: the session is not in it");
    drop_transcript(w);
    return put_said(w);
}

static enum err_code make_checkpoint_tree(git_repository *repo, const struct committed_session *s,
                                          const git_oid *base, git_oid *out, struct err *e)
{
    struct writing w = { .s = s, .root = SLICE(""), .e = e };
    bool ok = true;
    enum err_code rc = treewrite_open(repo, base, &w.tree, e);

    if (rc)
        return rc;
    w.touched.a = &w.arena;
    snprintf(w.folder, sizeof w.folder, "%.2s/%.*s", s->checkpoint.p, (int)s->checkpoint.n - 2,
             s->checkpoint.p + 2);
    rc = read_root(&w, base);
    for (size_t i = 0; i < s->touched.n && ok; i++)
        ok = names_add(&w.touched, s->touched.name[i]);
    if (!rc && !ok)
        rc = err_nomem(e);
    if (!rc)
        rc = s->finalize ? put_again(&w) : put_all(&w);
    if (!rc)
        rc = treewrite_finish(&w.tree, out, e);
    treewrite_close(&w.tree);
    arena_fini(&w.arena);
    return rc;
}

/* ---- the branch ---- */

/* A local branch starts at the branch of origin, or else at a commit of an empty tree without a parent. */
static enum err_code begin_branch(git_repository *repo, const struct author *who, git_oid *tip,
                                  struct err *e)
{
    struct commit_text c = { .author = *who,
                             .committer = *who,
                             .message = { committed_first_message,
                                          strlen(committed_first_message) } };
    struct treewrite t;
    bool there;
    enum err_code rc = repo_ref(repo, ENTIRE_V1_REMOTE, &there, tip, e);

    if (!rc && !there) {
        rc = treewrite_open(repo, NULL, &t, e);
        if (!rc) {
            rc = treewrite_finish(&t, &c.tree, e);
            treewrite_close(&t);
        }
        if (!rc)
            rc = treewrite_commit(repo, &c, tip, e);
    }
    return rc ? rc : repo_ref_move(repo, ENTIRE_V1, NULL, tip, "entire: begin", e);
}

enum err_code committed_begin(git_repository *repo, struct err *e)
{
    git_signature *sig = NULL;
    struct author who;
    git_oid tip;
    bool there;
    enum err_code rc = repo_ref(repo, ENTIRE_V1, &there, &tip, e);

    if (rc || there)
        return rc;
    rc = treewrite_author(repo, &sig, &who, e);
    if (!rc)
        rc = begin_branch(repo, &who, &tip, e);
    git_signature_free(sig);
    return rc == ERR_STALE ? ERR_OK : rc; /* another program was faster */
}

static enum err_code try_once(git_repository *repo, const struct committed_session *s,
                              const struct author *who, git_oid *out, struct err *e)
{
    struct commit_text c = { .author = *who, .committer = *who, .parents = 1 };
    struct buf message = { 0 };
    git_commit *at = NULL;
    git_oid tip, base;
    bool there;
    enum err_code rc = repo_ref(repo, ENTIRE_V1, &there, &tip, e);

    if (!rc && !there)
        rc = begin_branch(repo, who, &tip, e);
    if (rc)
        return rc;
    int answer = git_commit_lookup(&at, repo, &tip);

    if (answer)
        return repo_error(e, answer, ENTIRE_V1, "write a checkpoint");
    base = *git_commit_tree_id(at);
    git_commit_free(at);
    rc = make_checkpoint_tree(repo, s, &base, &c.tree, e);
    if (!rc && committed_message(s, &message))
        rc = err_nomem(e);
    c.parent = &tip;
    c.message = buf_slice(&message);
    if (!rc)
        rc = treewrite_commit(repo, &c, out, e);
    if (!rc)
        rc = repo_ref_move(repo, ENTIRE_V1, &tip, out, "entire: checkpoint", e);
    buf_fini(&message);
    return rc;
}

enum err_code committed_write(git_repository *repo, const struct committed_session *s,
                              git_oid *commit, struct err *e)
{
    git_signature *sig = NULL;
    struct author who;
    enum err_code rc = ERR_OK;

    if (s->by)
        who = *s->by;
    else
        rc = treewrite_author(repo, &sig, &who, e);

    for (int i = 0; i < TRIES && !rc; i++) {
        rc = try_once(repo, s, &who, commit, e);
        if (rc != ERR_STALE)
            break;
        rc = i + 1 < TRIES ? ERR_OK : rc;
    }
    git_signature_free(sig);
    return rc;
}
