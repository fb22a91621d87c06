#include "store/systems/entire/read/catalog.h"

#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "lite/base/id.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"

/* The transcript of a committed checkpoint is one blob, or several pieces without their final newline
 * (docs/formats/entire.md 2.7). */

enum { PIECE_MAX = 1 << 30, PIECES_MAX = 1000 };

void committed_content_hash(struct slice bytes, char out[CONTENT_HASH + 1])
{
    unsigned char hash[EVP_MAX_MD_SIZE] = { 0 };
    unsigned n = 0;
    int at = snprintf(out, CONTENT_HASH + 1, "sha256:");

    EVP_Digest(bytes.n ? bytes.p : "", bytes.n, hash, &n, EVP_sha256(), NULL);
    for (unsigned i = 0; i < 32; i++)
        at += snprintf(out + at, (size_t)(CONTENT_HASH + 1 - at), "%02x", hash[i]);
}

/* Reads <path>, <path>.001, <path>.002, ... until one is missing. */
static enum err_code read_pieces(git_repository *repo, const git_tree *tree, const char *path,
                                 struct buf *out, struct err *e)
{
    struct buf piece = { 0 };
    char name[600];
    enum err_code rc = repo_blob_at(repo, tree, path, PIECE_MAX, out, e);

    for (int i = 1; !rc && i < PIECES_MAX; i++) {
        snprintf(name, sizeof name, "%s.%03d", path, i);
        enum err_code more = repo_blob_at(repo, tree, name, PIECE_MAX, &piece, e);

        if (more == ERR_NOT_FOUND)
            break;
        rc = more ? more : buf_add_byte(out, '\n');
        if (!rc)
            rc = buf_add(out, buf_slice(&piece));
    }
    buf_fini(&piece);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

/* The length of the session's folder in the checkpoint: "0" in "0/metadata.json". */
static int folder_length(const struct point *p)
{
    const char *slash = memrchr(p->metadata.p, '/', p->metadata.n);

    return slash ? (int)(slash - p->metadata.p) : 0;
}

static enum err_code read_named(git_repository *repo, const git_tree *tree, const struct point *p,
                                struct buf *out, struct err *e)
{
    static const char *const names[] = { "full.jsonl", "full.log" };
    int folder = folder_length(p);
    enum err_code rc = ERR_NOT_FOUND;

    if (p->transcript.n)
        rc = read_pieces(repo, tree, p->transcript.p, out, e);
    for (size_t i = 0; rc == ERR_NOT_FOUND && i < sizeof names / sizeof *names; i++) {
        char path[600];

        snprintf(path, sizeof path, "%.*s%s%s", folder, p->metadata.p, folder ? "/" : "", names[i]);
        rc = read_pieces(repo, tree, path, out, e);
    }
    return rc;
}

static bool tree_of_ref(git_repository *repo, const char *ref, git_tree **out)
{
    git_oid tip;
    git_commit *c = NULL;
    int answer = repo_has_ref(repo, ref, &tip) ? git_commit_lookup(&c, repo, &tip) : GIT_ENOTFOUND;

    if (answer == 0)
        answer = git_commit_tree(out, c);
    git_commit_free(c);
    return answer == 0;
}

static enum err_code read_generation(git_repository *repo, const char *ref, const struct point *p,
                                     struct buf *out, struct err *e)
{
    git_tree *tree = NULL;
    char path[600];

    if (!tree_of_ref(repo, ref, &tree))
        return ERR_NOT_FOUND;
    snprintf(path, sizeof path, "%.2s/%s/%.*s/raw_transcript", p->id.p, p->id.p + 2,
             folder_length(p), p->metadata.p);
    enum err_code rc = read_pieces(repo, tree, path, out, e);

    git_tree_free(tree);
    return rc;
}

/* v2 keeps transcripts separate from the metadata, the newest in "current". */
static enum err_code read_raw(git_repository *repo, const struct point *p, struct buf *out,
                              struct err *e)
{
    git_reference_iterator *it = NULL;
    const char *name;
    enum err_code rc = read_generation(repo, ENTIRE_V2_FULL "current", p, out, e);

    if (rc != ERR_NOT_FOUND || git_reference_iterator_glob_new(&it, repo, ENTIRE_V2_FULL "*"))
        return rc;
    while (rc == ERR_NOT_FOUND && git_reference_next_name(&name, it) == 0)
        rc = read_generation(repo, name, p, out, e);
    git_reference_iterator_free(it);
    return rc;
}

static enum transcript_hash compare_hash(git_repository *repo, const git_tree *tree,
                                         const struct point *p, struct slice bytes)
{
    struct buf said = { 0 };
    char is[CONTENT_HASH + 1];
    enum transcript_hash verdict = HASH_NONE;

    if (p->hash.n && repo_blob_at(repo, tree, p->hash.p, 4096, &said, NULL) == ERR_OK) {
        committed_content_hash(bytes, is);
        while (said.n && (said.p[said.n - 1] == '\n' || said.p[said.n - 1] == '\r'))
            said.n--;
        verdict =
            slice_eq(buf_slice(&said), (struct slice){ is, CONTENT_HASH }) ? HASH_SAME : HASH_OTHER;
    }
    buf_fini(&said);
    return verdict;
}

enum err_code committed_transcript(git_repository *repo, const struct point *p, struct buf *out,
                                   enum transcript_hash *verdict, struct err *e)
{
    git_tree *tree = NULL;
    int answer = git_tree_lookup(&tree, repo, &p->tree);

    if (answer)
        return repo_error(e, answer, p->id.p, "read a checkpoint");
    enum err_code rc = p->source == POINT_V2 ? read_raw(repo, p, out, e) : ERR_NOT_FOUND;
    bool raw = rc == ERR_OK;

    if (rc == ERR_NOT_FOUND)
        rc = read_named(repo, tree, p, out, e);
    if (rc == ERR_NOT_FOUND)
        rc = err_set(e, rc, p->id.p, "read a checkpoint: it has no transcript");
    /* In v2, the hash in this tree refers to the compact form. */
    *verdict = rc || raw ? HASH_NONE : compare_hash(repo, tree, p, buf_slice(out));
    git_tree_free(tree);
    return rc;
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

static const char *const keys[] = { "session_id",
                                    "strategy",
                                    "created_at",
                                    "branch",
                                    "agent",
                                    "model",
                                    "tool_use_id",
                                    "files_touched",
                                    "checkpoint_transcript_start",
                                    "transcript_lines_at_start" };
enum { SESSION_ID, STRATEGY, CREATED, BRANCH, AGENT, MODEL, TOOL, FILES, START, OLD_START, KEYS };

static bool copy_json_text(struct reading *r, struct slice value, struct slice *out)
{
    struct slice text = SLICE("");

    if (json_type(value) == JSON_STRING && !json_text(value, r->a, &text))
        return false;
    *out = arena_copy(r->a, text);
    return out->p != NULL;
}

static size_t count_of(struct slice array)
{
    struct json_iter it;
    struct slice key, value;
    size_t n = 0;

    if (json_type(array) == JSON_ARRAY && json_iter_open(&it, array))
        while (json_iter_next(&it, &key, &value))
            n++;
    return n;
}

static enum err_code add_session(struct reading *r, struct point *p)
{
    struct slice value[KEYS], created;
    int64_t start = 0;

    json_get_each(buf_slice(&r->session), keys, KEYS, value);
    if (!copy_json_text(r, value[SESSION_ID], &p->session) ||
        !copy_json_text(r, value[STRATEGY], &p->strategy) ||
        !copy_json_text(r, value[BRANCH], &p->branch) ||
        !copy_json_text(r, value[AGENT], &p->agent) ||
        !copy_json_text(r, value[MODEL], &p->model) || !copy_json_text(r, value[TOOL], &p->task) ||
        !copy_json_text(r, value[CREATED], &created))
        return err_nomem(r->e);
    if (!entire_session_id_ok(p->session))
        return complain(r, p->id, "a session id that cannot be the name of a file");
    if (!entire_tool_id_ok(p->task))
        p->task = SLICE("");
    if (!time_parse(created, &p->time_ms))
        p->time_ms = TIME_NONE;
    if ((!json_int(value[START], &start) || start == 0) && !json_int(value[OLD_START], &start))
        start = 0;
    p->transcript_start = start;
    p->files = count_of(value[FILES]);
    p->text = SLICE("");
    r->sessions++;
    return point_add(r->points, r->a, p) ? err_nomem(r->e) : ERR_OK;
}

/* ---- a checkpoint ---- */

/* The path in an entry of sessions[], relative to the checkpoint's folder; "" if it is missing. */
static bool inner_of(struct reading *r, struct slice session, const char *key, struct slice id,
                     struct slice *out)
{
    struct slice named, inner;

    *out = SLICE("");
    if (json_get_text(session, key, r->a, &named) && entire_inner_path(named, id, &inner))
        *out = arena_copy(r->a, inner);
    return out->p != NULL;
}

static enum err_code read_session(struct reading *r, const git_tree *folder, struct point *p)
{
    enum err_code rc =
        repo_blob_at(r->repo, folder, p->metadata.p, DOCUMENT_MAX, &r->session, r->e);

    if (rc == ERR_NOMEM)
        return rc;
    r->bytes += r->session.n;
    if (rc)
        return complain(r, p->id, "the metadata of a session is missing or damaged");
    if (!json_valid(buf_slice(&r->session)))
        return complain(r, p->id, "the metadata of a session is not a JSON document");
    return add_session(r, p);
}

/* The numbered folder of a path ("0/metadata.json"); empty if it is in none. */
static struct slice folder_number(struct slice inner)
{
    size_t n = 0;

    while (n < inner.n && inner.p[n] >= '0' && inner.p[n] <= '9')
        n++;
    return n && n < inner.n && inner.p[n] == '/' ? (struct slice){ inner.p, n } : SLICE("");
}

/* Reads a numbered folder by the usual names of its files. */
static enum err_code read_numbered(struct reading *r, const git_tree *folder, struct point *p,
                                   const char *number)
{
    struct {
        struct slice *at;
        const char *name;
    } files[] = {
        { &p->metadata, "metadata.json" },
        { &p->transcript, "full.jsonl" },
        { &p->prompt, "prompt.txt" },
        { &p->hash, "content_hash.txt" },
    };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = arena_format(r->a, "%s/%s", number, files[i].name);

        if (!path)
            return err_nomem(r->e);
        *files[i].at = slice_of(path);
    }
    return read_session(r, folder, p);
}

static bool is_number(const char *name)
{
    return *name && strspn(name, "0123456789") == strlen(name);
}

static bool is_read(const struct reading *r, size_t from, const char *number)
{
    for (size_t i = from; i < r->points->n; i++)
        if (slice_eq(folder_number(r->points->point[i].metadata), slice_of(number)))
            return true;
    return false;
}

/* Reads the numbered folders that the list omits or names differently, which are those without a
 * point since `from`. */
static enum err_code read_rest(struct reading *r, const git_tree *folder, struct point *p,
                               size_t from, size_t *n)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && !r->full && i < git_tree_entrycount(folder); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(folder, i);
        const char *name = git_tree_entry_name(x);

        if (!is_number(name) || git_tree_entry_type(x) != GIT_OBJECT_TREE || is_read(r, from, name))
            continue;
        rc = read_numbered(r, folder, p, name);
        ++*n;
        if (!rc)
            rc = check_full(r);
    }
    return rc;
}

static enum err_code read_listed(struct reading *r, const git_tree *folder, struct point *p,
                                 struct slice listed)
{
    if (!inner_of(r, listed, "metadata", p->id, &p->metadata) ||
        !inner_of(r, listed, "transcript", p->id, &p->transcript) ||
        !inner_of(r, listed, "prompt", p->id, &p->prompt) ||
        !inner_of(r, listed, "content_hash", p->id, &p->hash))
        return err_nomem(r->e);
    if (p->metadata.n == 0)
        return complain(r, p->id, "the root document names a path outside of its checkpoint");
    return read_session(r, folder, p);
}

static enum err_code read_sessions(struct reading *r, const git_tree *folder, struct point *p,
                                   size_t *n)
{
    struct slice sessions, key, listed;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    *n = 0;
    if (!json_get(buf_slice(&r->root), "sessions", &sessions) ||
        json_type(sessions) != JSON_ARRAY || !json_iter_open(&it, sessions))
        return ERR_OK;
    for (; !rc && !r->full && json_iter_next(&it, &key, &listed); ++*n) {
        rc = read_listed(r, folder, p, listed);
        if (!rc)
            rc = check_full(r);
    }
    return rc;
}

/* The oldest checkpoints do not list sessions; the only one is in the folder itself. */
static enum err_code read_single(struct reading *r, const git_tree *folder, struct point *p)
{
    p->metadata = SLICE("metadata.json");
    p->transcript = SLICE("full.jsonl");
    p->prompt = SLICE("prompt.txt");
    p->hash = SLICE("content_hash.txt");
    return read_session(r, folder, p);
}

static enum err_code read_folder(struct reading *r, const git_oid *id_of_tree, struct point p)
{
    git_tree *folder = NULL;
    size_t n, from = r->points->n;

    if (repo_tree(r->repo, id_of_tree, &folder, NULL))
        return complain(r, p.id, "its folder is missing or damaged");
    enum err_code rc = repo_blob_at(r->repo, folder, "metadata.json", DOCUMENT_MAX, &r->root, r->e);

    r->bytes += r->root.n;
    p.tree = *id_of_tree;
    p.time_ms = TIME_NONE;
    if (rc && rc != ERR_NOMEM)
        rc = complain(r, p.id, "its metadata.json is missing or damaged");
    else if (!rc && !json_valid(buf_slice(&r->root)))
        rc = complain(r, p.id, "its metadata.json is not a JSON document");
    else if (!rc) {
        rc = read_sessions(r, folder, &p, &n);
        if (!rc)
            rc = read_rest(r, folder, &p, from, &n);
        if (!rc && n == 0)
            rc = read_single(r, folder, &p);
    }
    git_tree_free(folder);
    return rc;
}

/* Copies id. A checkpoint that was already read from another place is skipped. */
static enum err_code read_checkpoint(struct reading *r, enum point_source source, struct slice id,
                                     const git_oid *tree)
{
    struct point p = { .source = source, .id = arena_copy(r->a, id) };
    struct id128 key = id128_of(id);
    uint32_t number;

    if (r->full || idset_has(&r->seen, key))
        return ERR_OK;
    if (check_full(r))
        return ERR_NOMEM;
    if (r->full)
        return ERR_OK;
    r->checkpoints++;
    if (!p.id.p || idset_add(&r->seen, key, &number))
        return err_nomem(r->e);
    return read_folder(r, tree, p);
}

/* ---- the places of checkpoints ---- */

/* Reads <id[0:2]>/<id[2:]>/ below the root of a branch. */
static enum err_code read_shard(struct reading *r, enum point_source source, const char *front,
                                const git_oid *tree)
{
    git_tree *shard = NULL;
    enum err_code rc = ERR_OK;

    if (repo_tree(r->repo, tree, &shard, NULL))
        return complain(r, (struct slice){ front, 2 }, "a folder of checkpoints is damaged");
    for (size_t i = 0; !rc && !r->full && i < git_tree_entrycount(shard); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(shard, i);
        const char *name = git_tree_entry_name(x);
        char id[ENTIRE_ULID + 1];
        int n = snprintf(id, sizeof id, "%s%s", front, name);
        struct slice text = { id, n > 0 ? (size_t)n : 0 };

        /* Checkpoints with the newer ids have separate refs and are not on a branch. */
        if (text.n == ENTIRE_HEX_ID && entire_checkpoint_id_ok(text) &&
            git_tree_entry_type(x) == GIT_OBJECT_TREE)
            rc = read_checkpoint(r, source, text, git_tree_entry_id(x));
    }
    git_tree_free(shard);
    return rc;
}

static enum err_code read_branch(struct reading *r, enum point_source source, const char *ref)
{
    git_tree *root = NULL;
    git_oid tip;
    enum err_code rc = ERR_OK;

    if (!repo_has_ref(r->repo, ref, &tip))
        return ERR_OK;
    git_commit *c = NULL;

    if (git_commit_lookup(&c, r->repo, &tip) == 0) {
        if (repo_tree(r->repo, git_commit_tree_id(c), &root, NULL))
            root = NULL;
        git_commit_free(c);
    }
    if (!root)
        return point_problem_add(r->problems, r->a, ref, "its commit is missing or damaged")
                   ? err_nomem(r->e)
                   : ERR_OK;
    for (size_t i = 0; !rc && i < git_tree_entrycount(root); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(root, i);

        if (strlen(git_tree_entry_name(x)) == 2 && git_tree_entry_type(x) == GIT_OBJECT_TREE)
            rc = read_shard(r, source, git_tree_entry_name(x), git_tree_entry_id(x));
    }
    git_tree_free(root);
    return rc;
}

static enum err_code read_ref(struct reading *r, const char *name)
{
    struct slice id;
    git_oid tip;
    git_commit *c = NULL;

    if (!entire_ref_checkpoint(slice_of(name), &id) || !repo_has_ref(r->repo, name, &tip))
        return ERR_OK;
    if (git_commit_lookup(&c, r->repo, &tip))
        return complain(r, id, "its ref names no commit");
    enum err_code rc = read_checkpoint(r, POINT_REF, id, git_commit_tree_id(c));

    git_commit_free(c);
    return rc;
}

static enum err_code read_refs(struct reading *r)
{
    git_reference_iterator *it = NULL;
    const char *name;
    enum err_code rc = ERR_OK;

    if (git_reference_iterator_glob_new(&it, r->repo, ENTIRE_REFS "*"))
        return ERR_OK;
    while (!rc && git_reference_next_name(&name, it) == 0)
        rc = read_ref(r, name);
    git_reference_iterator_free(it);
    return rc;
}

enum err_code committed_read(git_repository *repo, struct arena *a, struct point_list *points,
                             struct problem_list *problems, struct err *e)
{
    struct reading r = { .repo = repo, .a = a, .points = points, .problems = problems, .e = e };
    git_oid tip;
    enum err_code rc = read_refs(&r);

    if (!rc)
        rc = read_branch(&r, POINT_V1,
                         repo_has_ref(repo, ENTIRE_V1, &tip) ? ENTIRE_V1 : ENTIRE_V1_REMOTE);
    if (!rc)
        rc = read_branch(&r, POINT_V2, ENTIRE_V2);
    buf_fini(&r.root);
    buf_fini(&r.session);
    idset_fini(&r.seen);
    return rc;
}
