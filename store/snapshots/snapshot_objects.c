#include "store/snapshots/snapshot_objects.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"

enum { PACK_VERSION = 2, PACK_HEADER = 12, PIECE = 256 << 10 };

DEFINE_CLEANUP(git_indexer, git_indexer_free);

static const char *object_word(git_object_t type)
{
    return type == GIT_OBJECT_TREE ? "tree" : "blob";
}

enum err_code snapshot_object_id(git_object_t type, struct slice bytes, uint8_t oid[SNAPSHOT_OID],
                                 struct err *e)
{
    char head[40];
    int n = snprintf(head, sizeof head, "%s %zu", object_word(type), bytes.n);
    CLEANUP(digest_fini) struct digest sha1 = { 0 };

    digest_begin(&sha1, DIGEST_SHA1);
    digest_add(&sha1, (struct slice){ head, (size_t)n + 1 });
    digest_add(&sha1, bytes);
    return digest_end(&sha1, oid) ? ERR_OK : digest_error(e);
}

enum err_code snapshot_repository_make(const char *repo, struct err *e)
{
    static const char *const folders[] = { "refs", "objects", "objects/pack" };
    char path[PATH_MAX];
    struct stat st;

    if ((size_t)snprintf(path, sizeof path, "%s/HEAD", repo) >= sizeof path)
        return err_set(e, ERR_UNSUPPORTED, repo, "snapshot: the path is too long");
    if (lstat(path, &st) == 0)
        return ERR_OK;
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", repo, folders[i]) >= sizeof path)
            return err_set(e, ERR_UNSUPPORTED, repo, "snapshot: the path is too long");
        TRY(disk_private_dir(path, e));
    }
    /* No branch is ever made: the log names the trees. git asks for a HEAD before it reads a repository. */
    return disk_replace_file(repo, "HEAD", SLICE("ref: refs/heads/none\n"), 0600, e);
}

/* The length of an object and its type, seven bits at a time. */
static size_t object_head(git_object_t type, size_t n, uint8_t out[16])
{
    size_t used = 0;

    out[0] = (uint8_t)((unsigned)type << 4 | (n & 15));
    for (n >>= 4; n; n >>= 7) {
        out[used++] |= 0x80;
        out[used] = n & 0x7f;
    }
    return used + 1;
}

static enum err_code pack_open(struct snapshot_pack *p, struct err *e)
{
    char objects[PATH_MAX];

    if (p->is_open)
        return ERR_OK;
    TRY(gitlib_ready(e));
    snprintf(objects, sizeof objects, "%s/objects", p->repo);
    if (!p->odb)
        TRY(loose_guard_open(objects, &p->odb, e));
    TRY(disk_new_open(p->repo, 0600, &p->body, e));
    p->is_open = true;
    return ERR_OK;
}

bool snapshot_pack_has(struct snapshot_pack *p, const uint8_t oid[SNAPSHOT_OID])
{
    git_oid id;

    memcpy(id.id, oid, SNAPSHOT_OID);
    return pack_open(p, NULL) == ERR_OK &&
           (slice_set_find(&p->added, (struct slice){ (const char *)oid, SNAPSHOT_OID }) !=
                SLICE_SET_NONE ||
            (!p->anew && git_odb_exists(p->odb, &id)));
}

enum err_code snapshot_pack_add(struct snapshot_pack *p, git_object_t type, struct slice bytes,
                                uint8_t oid[SNAPSHOT_OID], struct err *e)
{
    uint8_t head[16];
    uint32_t number;
    size_t before = p->added.n;
    struct timespec began, ended;

    TRY(snapshot_object_id(type, bytes, oid, e));
    TRY(pack_open(p, e));
    if (snapshot_pack_has(p, oid))
        return ERR_OK;

    /* The time is measured because finishing the pack takes about as long again, and has to end before the deadline. */
    clock_gettime(CLOCK_MONOTONIC, &began);
    const struct slice key =
        arena_copy(&p->arena, (struct slice){ (const char *)oid, SNAPSHOT_OID });

    NEED(key.p && !slice_set_add(&p->added, key, &number) && p->added.n > before);
    uLongf packed = compressBound(bytes.n);

    p->packed.n = 0;
    NEED(!buf_reserve(&p->packed, packed));
    NEED(compress2((Bytef *)p->packed.p, &packed, (const Bytef *)bytes.p, bytes.n, Z_BEST_SPEED) ==
         Z_OK);
    TRY(disk_write(p->body.fd, (struct slice){ (char *)head, object_head(type, bytes.n, head) },
                   NULL, p->repo, e));
    TRY(disk_write(p->body.fd, (struct slice){ p->packed.p, packed }, NULL, p->repo, e));
    p->n++;
    p->bytes += (int64_t)bytes.n;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    p->spent_ns += time_ns(ended) - time_ns(began);
    return ERR_OK;
}

/* Hands bytes of the pack to libgit2, and to the checksum that ends it. */
static enum err_code append_to_indexer(git_indexer *indexer, git_indexer_progress *progress,
                                       struct digest *sha1, struct slice bytes, const char *repo,
                                       struct err *e)
{
    int answer = git_indexer_append(indexer, bytes.p, bytes.n, progress);

    if (answer)
        return repo_error(e, answer, repo, "write a pack");
    digest_add(sha1, bytes);
    return ERR_OK;
}

enum err_code snapshot_pack_finish(struct snapshot_pack *p, struct err *e)
{
    char dir[PATH_MAX];
    uint8_t head[PACK_HEADER] = { 'P', 'A', 'C', 'K', 0, 0, 0, PACK_VERSION }, sum[SNAPSHOT_OID];
    CLEANUP(git_indexer_free_at) git_indexer *indexer = NULL;
    CLEANUP(digest_fini) struct digest sha1 = { 0 };
    git_indexer_progress progress = { 0 };
    struct file body = { .fd = p->body.fd };
    size_t got;

    if (!p->n)
        return ERR_OK;
    snprintf(dir, sizeof dir, "%s/objects/pack", p->repo);
    digest_begin(&sha1, DIGEST_SHA1);
    int answer = git_indexer_new(&indexer, dir, 0400, NULL, NULL);

    if (answer)
        return repo_error(e, answer, dir, "write a pack");

    /* The header ends with the number of objects, its highest byte first. */
    for (int i = 0; i < 4; i++)
        head[8 + i] = (uint8_t)(p->n >> (24 - 8 * i));
    TRY(append_to_indexer(indexer, &progress, &sha1, (struct slice){ (char *)head, sizeof head },
                          dir, e));

    /* The objects are copied in pieces, so a large snapshot needs no more memory than a small one. */
    p->packed.n = 0;
    NEED(!buf_reserve(&p->packed, PIECE));
    for (int64_t at = 0;; at += (int64_t)got) {
        TRY(err_at(e, file_read(&body, at, p->packed.p, PIECE, &got, e), dir));
        if (!got)
            break;
        TRY(append_to_indexer(indexer, &progress, &sha1, (struct slice){ p->packed.p, got }, dir,
                              e));
    }

    /* A pack ends with the SHA-1 of all that is before it, which the indexer compares. */
    if (!digest_end(&sha1, sum))
        return digest_error(e);
    answer = git_indexer_append(indexer, sum, sizeof sum, &progress);
    if (!answer)
        answer = git_indexer_commit(indexer, &progress);
    return answer ? repo_error(e, answer, dir, "write a pack") : disk_sync_dir(dir, e);
}

void snapshot_pack_fini(struct snapshot_pack *p)
{
    if (p->is_open)
        disk_new_discard(&p->body);
    git_odb_free(p->odb);
    slice_set_fini(&p->added);
    arena_fini(&p->arena);
    buf_fini(&p->packed);
    *p = (struct snapshot_pack){ .n = 0 };
}
