#include "store/systems/entire/read/catalog.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/base/id.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"

/* Committed checkpoints were pushed and fetched, so nothing in them is trusted: ids and paths are checked before they are
 * used, a damaged document is a problem that is listed and hides only its own session, and the limits below bound what
 * a hostile branch can cost. All layouts are read: sessions[] in the root document, numbered folders that
 * it omits, and files in the checkpoint's own folder. The same checkpoint may be in its own ref, on v1 and on v2; only
 * the first of these is read, in this order.
 *
 * The transcript of a checkpoint is one blob, or several pieces without their final newline (docs/formats/entire.md
 * 2.7). */

enum { PIECE_MAX = 1 << 30, PIECES_MAX = 1000 };

bool committed_content_hash(struct slice bytes, char out[CONTENT_HASH + 1])
{
    uint8_t hash[SHA256_BYTES];

    if (!digest_of(DIGEST_SHA256, bytes, hash))
        return false;
    memcpy(out, "sha256:", sizeof "sha256:" - 1);
    digest_hex(hash, sizeof hash, out + sizeof "sha256:" - 1);
    return true;
}

/* Reads <path>, <path>.001, <path>.002, ... until one is missing. */
static enum err_code entire_read_pieces(git_repository *repo, const git_tree *tree,
                                        const char *path, struct buf *out, struct err *e)
{
    AUTO_BUF piece = { 0 };
    char name[600];

    TRY(repo_blob_at(repo, tree, path, PIECE_MAX, out, e));
    for (int i = 1; i < PIECES_MAX; i++) {
        snprintf(name, sizeof name, "%s.%03d", path, i);
        enum err_code rc = repo_blob_at(repo, tree, name, PIECE_MAX, &piece, e);

        if (rc == ERR_NOT_FOUND)
            break;
        TRY(rc);
        NEED(!buf_add_byte(out, '\n') && !buf_add(out, buf_slice(&piece)));
    }
    return ERR_OK;
}

/* The length of the session's folder in the checkpoint: "0" in "0/metadata.json". */
static int folder_length(const struct point *p)
{
    const char *slash = memrchr(p->metadata.p, '/', p->metadata.n);

    return slash ? (int)(slash - p->metadata.p) : 0;
}

static enum err_code read_generation(git_repository *repo, const char *ref, const struct point *p,
                                     struct buf *out, struct err *e)
{
    AUTO_COMMIT *c = NULL;
    AUTO_TREE *tree = NULL;
    git_oid tip;
    char path[600];

    if (!repo_has_ref(repo, ref, &tip) || git_commit_lookup(&c, repo, &tip) ||
        git_commit_tree(&tree, c))
        return ERR_NOT_FOUND;
    snprintf(path, sizeof path, "%.2s/%s/%.*s/raw_transcript", p->id.p, p->id.p + 2,
             folder_length(p), p->metadata.p);
    return entire_read_pieces(repo, tree, path, out, e);
}

/* v2 keeps transcripts separate from the metadata, the newest in "current". */
static enum err_code read_raw(git_repository *repo, const struct point *p, struct buf *out,
                              struct err *e)
{
    AUTO_REFS *it = NULL;
    const char *name;
    enum err_code rc = read_generation(repo, ENTIRE_V2_FULL "current", p, out, e);

    if (rc != ERR_NOT_FOUND || git_reference_iterator_glob_new(&it, repo, ENTIRE_V2_FULL "*"))
        return rc;
    while (rc == ERR_NOT_FOUND && git_reference_next_name(&name, it) == 0)
        rc = read_generation(repo, name, p, out, e);
    return rc;
}

enum err_code committed_transcript(git_repository *repo, const struct point *p, struct buf *out,
                                   enum transcript_hash *verdict, struct err *e)
{
    static const char *const names[] = { "full.jsonl", "full.log" };
    AUTO_TREE *tree = NULL;
    AUTO_BUF recorded = { 0 };
    char path[600], hash[CONTENT_HASH + 1];
    int folder = folder_length(p), answer = git_tree_lookup(&tree, repo, &p->tree);
    enum err_code rc = ERR_NOT_FOUND;

    assert(p->source != POINT_SHADOW);
    *verdict = HASH_NONE;
    if (answer)
        return repo_error(e, answer, p->id.p, "read a checkpoint");

    /* In v2, the hash in this tree refers to the compact form, so nothing is compared. */
    if (p->source == POINT_V2 && (rc = read_raw(repo, p, out, e)) != ERR_NOT_FOUND)
        return rc;

    /* The transcript is the file that the root document names, or one of the usual names. */
    if (p->transcript.n)
        rc = entire_read_pieces(repo, tree, p->transcript.p, out, e);
    for (size_t i = 0; rc == ERR_NOT_FOUND && i < COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%.*s%s%s", folder, p->metadata.p, folder ? "/" : "", names[i]);
        rc = entire_read_pieces(repo, tree, path, out, e);
    }
    if (rc == ERR_NOT_FOUND)
        return err_set(e, rc, p->id.p, "read a checkpoint: it has no transcript");
    TRY(rc);

    /* Compare it with the recorded hash, if there is one. */
    if (p->hash.n == 0 || repo_blob_at(repo, tree, p->hash.p, 4096, &recorded, NULL))
        return ERR_OK;
    while (recorded.n && strchr("\r\n", recorded.p[recorded.n - 1]))
        recorded.n--;
    if (!committed_content_hash(buf_slice(out), hash))
        return digest_error(e);
    *verdict = slice_eq(buf_slice(&recorded), (struct slice){ hash, CONTENT_HASH }) ? HASH_SAME
                                                                                    : HASH_OTHER;
    return ERR_OK;
}

/* Limits, because a few hundred objects can name a million checkpoints, and one document a million
 * sessions. */
enum { DOCUMENT_MAX = 16 << 20, CHECKPOINTS_MAX = 50000, SESSIONS_MAX = 100000 };
static const size_t documents_max = (size_t)1 << 30; /* bytes of all documents */

struct reading {
    git_repository *repo;
    struct arena *a;
    struct point_list *points;
    struct problem_list *problems;
    struct buf root, session;            /* documents; the buffers are reused */
    struct idset seen;                   /* checkpoints that have been read */
    size_t checkpoints, sessions, bytes; /* read so far */
    bool full;                           /* a limit is reached */
    struct err *e;
};

static void reading_fini(struct reading *r)
{
    buf_fini(&r->root);
    buf_fini(&r->session);
    idset_fini(&r->seen);
}

static enum err_code complain(struct reading *r, struct slice id, const char *why)
{
    char name[64];

    snprintf(name, sizeof name, "checkpoint %.*s", SLICE_ARG(id));
    return point_problem_add(r->problems, r->a, name, why) ? err_nomem(r->e) : ERR_OK;
}

/* Reports only once that a limit is reached. */
static enum err_code check_full(struct reading *r)
{
    static const char *const why = "too many checkpoints: the limits are 50,000 checkpoints, "
                                   "100,000 sessions and 1 GB; the others are not listed";

    if (r->full || (r->checkpoints < CHECKPOINTS_MAX && r->sessions < SESSIONS_MAX &&
                    r->bytes < documents_max))
        return ERR_OK;
    r->full = true;
    r->problems->cut = why;
    return point_problem_add(r->problems, r->a, git_repository_path(r->repo), why) ? err_nomem(r->e)
                                                                                   : ERR_OK;
}

/* ---- the metadata of a session ---- */

/* ---- a checkpoint ---- */

/* Reads the document that p->metadata names, and adds the session in it as a point. */
static enum err_code entire_read_session(struct reading *r, const git_tree *folder, struct point *p)
{
    static const char *const keys[] = {
        "session_id",
        "strategy",
        "branch",
        "agent",
        "model",
        "tool_use_id",
        "created_at",
        "checkpoint_transcript_start",
        "transcript_lines_at_start",
    };
    enum { TEXTS = 7, START = TEXTS, OLD_START, KEYS };
    struct slice created, value[KEYS],
        json, *const text[TEXTS] = { &p->session, &p->strategy, &p->branch, &p->agent,
                                     &p->model,   &p->task,     &created };
    struct json_iter files;
    enum err_code rc =
        repo_blob_at(r->repo, folder, p->metadata.p, DOCUMENT_MAX, &r->session, r->e);

    if (rc == ERR_NOMEM)
        return rc;
    json = buf_slice(&r->session);
    r->bytes += json.n;
    if (rc)
        return complain(r, p->id, "the metadata of a session is missing or damaged");
    if (!json_valid(json))
        return complain(r, p->id, "the metadata of a session is not a JSON document");

    /* Texts are copied; a missing one is empty. */
    json_get_each(json, keys, KEYS, value);
    for (size_t i = 0; i < TEXTS; i++)
        *text[i] = arena_copy(r->a, json_text_of(value[i], r->a));
    if (r->a->failed)
        return err_nomem(r->e);
    if (!entire_session_id_ok(p->session))
        return complain(r, p->id, "a session id that cannot be the name of a file");
    if (!entire_tool_id_ok(p->task))
        p->task = SLICE("");
    p->text = SLICE("");
    if (!time_parse(created, &p->time_ms))
        p->time_ms = TIME_NONE;

    /* The points of a checkpoint share *p, so a missing number must not keep the one before it. Older documents have
     * the start under another name, and some have both, the new one with 0. */
    p->transcript_start = 0;
    if (!json_int(value[START], &p->transcript_start) || p->transcript_start == 0)
        json_int(value[OLD_START], &p->transcript_start);
    p->files = 0;
    json_list_open(&files, json, "files_touched");
    while (json_list_next(&files, &value[0]))
        p->files++;

    r->sessions++;
    return point_add(r->points, r->a, p) ? err_nomem(r->e) : ERR_OK;
}

/* The files of a session: their keys in the root document's sessions[], and their usual names. */
static const struct {
    const char *key, *name;
    size_t at;
} session_files[] = {
    { "metadata", "metadata.json", offsetof(struct point, metadata) },
    { "transcript", "full.jsonl", offsetof(struct point, transcript) },
    { "prompt", "prompt.txt", offsetof(struct point, prompt) },
    { "content_hash", "content_hash.txt", offsetof(struct point, hash) },
};

static struct slice *session_file(struct point *p, size_t i)
{
    return (struct slice *)(void *)((char *)p + session_files[i].at);
}

/* Reads the session in a folder ("3/", or "" for the checkpoint's own) by the usual names of its files. */
static enum err_code read_usual(struct reading *r, const git_tree *folder, struct point *p,
                                const char *front)
{
    for (size_t i = 0; i < COUNT_OF(session_files); i++) {
        const char *path = arena_format(r->a, "%s%s", front, session_files[i].name);

        if (!path)
            return err_nomem(r->e);
        *session_file(p, i) = slice_of(path);
    }
    return entire_read_session(r, folder, p);
}

/* Returns true if a point since `from` was read from the numbered folder ("3", in the path "3/metadata.json"). */
static bool entire_is_read(const struct reading *r, size_t from, const char *number)
{
    size_t n = strlen(number);

    for (size_t i = from; i < r->points->n; i++) {
        struct slice path = r->points->point[i].metadata;

        if (slice_starts(path, number) && path.n > n && path.p[n] == '/')
            return true;
    }
    return false;
}

/* Reads the session of an entry of the root document's sessions[]. */
static enum err_code entire_read_listed(struct reading *r, const git_tree *folder, struct point *p,
                                        struct slice listed)
{
    struct slice named, inner;

    for (size_t i = 0; i < COUNT_OF(session_files); i++)
        *session_file(p, i) = json_get_text(listed, session_files[i].key, r->a, &named) &&
                                      entire_inner_path(named, p->id, &inner)
                                  ? arena_copy(r->a, inner)
                                  : SLICE("");
    if (r->a->failed)
        return err_nomem(r->e);
    if (p->metadata.n == 0)
        return complain(r, p->id, "the root document names a path outside of its checkpoint");
    return entire_read_session(r, folder, p);
}

/* Reads the sessions that the root document lists; then the numbered folders that it omits or names differently; or, if
 * there is neither, the only session of the oldest checkpoints, whose files are in the folder itself. */
static enum err_code read_sessions(struct reading *r, const git_tree *folder, struct point *p)
{
    size_t from = r->points->n, n = 0;
    struct slice listed;
    struct json_iter it;
    char front[32];

    json_list_open(&it, buf_slice(&r->root), "sessions");
    for (; !r->full && json_list_next(&it, &listed); n++) {
        TRY(entire_read_listed(r, folder, p, listed));
        TRY(check_full(r));
    }
    for (size_t i = 0; !r->full && i < git_tree_entrycount(folder); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(folder, i);
        const char *name = git_tree_entry_name(x);

        if (!*name || name[strspn(name, "0123456789")] ||
            git_tree_entry_type(x) != GIT_OBJECT_TREE || entire_is_read(r, from, name) ||
            (size_t)snprintf(front, sizeof front, "%s/", name) >= sizeof front)
            continue;
        TRY(read_usual(r, folder, p, front));
        TRY(check_full(r));
        n++;
    }
    return n ? ERR_OK : read_usual(r, folder, p, "");
}

/* Copies id. A checkpoint that was already read from another place is skipped. */
static enum err_code entire_read_checkpoint(struct reading *r, enum point_source source,
                                            struct slice id, const git_oid *tree)
{
    struct point p = { .source = source, .id = arena_copy(r->a, id) };
    struct id128 key = id128_of(id);
    uint32_t number;

    if (r->full || idset_has(&r->seen, key))
        return ERR_OK;
    TRY(check_full(r));
    if (r->full)
        return ERR_OK;
    r->checkpoints++;
    if (!p.id.p || idset_add(&r->seen, key, &number))
        return err_nomem(r->e);

    /* Its folder, and the metadata of the checkpoint. */
    AUTO_TREE *folder = NULL;

    if (repo_tree(r->repo, tree, &folder, NULL))
        return complain(r, p.id, "its folder is missing or damaged");
    enum err_code rc = repo_blob_at(r->repo, folder, "metadata.json", DOCUMENT_MAX, &r->root, r->e);

    if (rc == ERR_NOMEM)
        return rc;
    r->bytes += r->root.n;
    if (rc)
        return complain(r, p.id, "its metadata.json is missing or damaged");
    if (!json_valid(buf_slice(&r->root)))
        return complain(r, p.id, "its metadata.json is not a JSON document");
    p.tree = *tree;
    p.time_ms = TIME_NONE;
    return read_sessions(r, folder, &p);
}

/* ---- the places of checkpoints ---- */

/* Reads <id[0:2]>/<id[2:]>/ below the root of a branch. */
static enum err_code read_shard(struct reading *r, enum point_source source, const char *front,
                                const git_oid *tree)
{
    AUTO_TREE *shard = NULL;
    char id[ENTIRE_ULID + 1];

    if (repo_tree(r->repo, tree, &shard, NULL))
        return complain(r, (struct slice){ front, 2 }, "a folder of checkpoints is damaged");
    for (size_t i = 0; !r->full && i < git_tree_entrycount(shard); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(shard, i);
        int n = snprintf(id, sizeof id, "%s%s", front, git_tree_entry_name(x));
        struct slice text = { id, n > 0 ? (size_t)n : 0 };

        /* Checkpoints with the newer ids have separate refs and are not on a branch. */
        if (text.n == ENTIRE_HEX_ID && entire_checkpoint_id_ok(text) &&
            git_tree_entry_type(x) == GIT_OBJECT_TREE)
            TRY(entire_read_checkpoint(r, source, text, git_tree_entry_id(x)));
    }
    return ERR_OK;
}

static enum err_code entire_read_branch(struct reading *r, enum point_source source,
                                        const char *ref)
{
    AUTO_COMMIT *c = NULL;
    AUTO_TREE *root = NULL;
    git_oid tip;

    if (!repo_has_ref(r->repo, ref, &tip))
        return ERR_OK;
    if (git_commit_lookup(&c, r->repo, &tip) ||
        repo_tree(r->repo, git_commit_tree_id(c), &root, NULL))
        return point_problem_add(r->problems, r->a, ref, "its commit is missing or damaged")
                   ? err_nomem(r->e)
                   : ERR_OK;
    for (size_t i = 0; i < git_tree_entrycount(root); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(root, i);

        if (strlen(git_tree_entry_name(x)) == 2 && git_tree_entry_type(x) == GIT_OBJECT_TREE)
            TRY(read_shard(r, source, git_tree_entry_name(x), git_tree_entry_id(x)));
    }
    return ERR_OK;
}

enum err_code committed_read(git_repository *repo, struct arena *a, struct point_list *points,
                             struct problem_list *problems, struct err *e)
{
    CLEANUP(reading_fini)
    struct reading r = { .repo = repo, .a = a, .points = points, .problems = problems, .e = e };
    AUTO_REFS *it = NULL;
    const char *name;
    git_oid tip;

    /* The checkpoints that have a ref each. */
    if (git_reference_iterator_glob_new(&it, repo, ENTIRE_REFS "*"))
        it = NULL;
    while (it && git_reference_next_name(&name, it) == 0) {
        AUTO_COMMIT *c = NULL;
        struct slice id;

        if (!entire_ref_checkpoint(slice_of(name), &id) || !repo_has_ref(repo, name, &tip))
            continue;
        if (git_commit_lookup(&c, repo, &tip))
            TRY(complain(&r, id, "its ref names no commit"));
        else
            TRY(entire_read_checkpoint(&r, POINT_REF, id, git_commit_tree_id(c)));
    }

    TRY(entire_read_branch(&r, POINT_V1,
                           repo_has_ref(repo, ENTIRE_V1, &tip) ? ENTIRE_V1 : ENTIRE_V1_REMOTE));
    return entire_read_branch(&r, POINT_V2, ENTIRE_V2);
}
