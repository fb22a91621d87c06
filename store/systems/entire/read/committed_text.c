#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "store/git/repo.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/committed.h"

/* The transcript of a committed checkpoint: one blob, or several that lost their last newline when they were cut
 * (entire.md 2.7). */

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

/* <path>, <path>.001, <path>.002, ... until one is missing. */
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

/* The folder of the session in the checkpoint: "0" of "0/metadata.json". */
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

/* v2 keeps what the agent wrote apart from the metadata, the newest of it in "current". */
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
    /* The hash of v2 in this tree is that of the compact form. */
    *verdict = rc || raw ? HASH_NONE : compare_hash(repo, tree, p, buf_slice(out));
    git_tree_free(tree);
    return rc;
}
