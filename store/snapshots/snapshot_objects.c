#include "store/snapshots/snapshot_objects.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/base/time.h"
#include "lite/io/file.h"

enum {
    PACK_VERSION = 2,
    PACK_HEADER = 12,
    PIECE = 256 << 10,
    /* The index of a pack: a magic number, its version, 256 ends, the ids, their checksums, where they are. */
    INDEX_VERSION = 2,
    INDEX_ENDS = 8,
    INDEX_IDS = INDEX_ENDS + 256 * 4,
    LOOK_UPS = 64, /* after so many new objects, the ids of the other packs are read as a whole */
};
static const uint8_t index_magic_of_git[4] = { 0xff, 't', 'O', 'c' };

enum err_code snapshot_object_id(git_object_t type, struct slice bytes, uint8_t oid[SNAPSHOT_OID],
                                 struct err *e)
{
    char head[40];
    int n =
        snprintf(head, sizeof head, "%s %zu", type == GIT_OBJECT_TREE ? "tree" : "blob", bytes.n);
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

/* ---- the objects that are there ---- */

static uint32_t read_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Opens the index of a pack. One that is damaged, or whose pack is gone, has no objects: they are written again. */
static void open_known(struct known_pack *known, int dir, const char *name)
{
    uint8_t head[INDEX_IDS];
    char pack[NAME_MAX + 2];
    const size_t n = strlen(name);
    struct stat st;
    AUTO_FD fd = -1;

    *known = (struct known_pack){ .fd = -1 };
    if (n < 4 || strcmp(name + n - 4, ".idx") != 0)
        return;
    snprintf(pack, sizeof pack, "%.*s.pack", (int)(n - 4), name);
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) || faccessat(dir, pack, F_OK, 0) ||
        pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, index_magic_of_git, 4) != 0 || read_u32(head + 4) != INDEX_VERSION)
        return;
    for (size_t i = 0; i < 256; i++) {
        known->ends[i] = read_u32(head + INDEX_ENDS + i * 4);
        if (i && known->ends[i] < known->ends[i - 1])
            return;
    }
    if (st.st_size < INDEX_IDS + (off_t)known->ends[255] * SNAPSHOT_OID)
        return;
    known->fd = fd;
    fd = -1;
}

static int compare_oids(const void *left, const void *right)
{
    return memcmp(left, right, SNAPSHOT_OID);
}

static bool known_read(const struct known_pack *known, uint32_t from, uint32_t n, char *out)
{
    const size_t bytes = (size_t)n * SNAPSHOT_OID;

    return pread(known->fd, out, bytes, INDEX_IDS + (off_t)from * SNAPSHOT_OID) == (ssize_t)bytes;
}

/* For a few objects, only the ids that begin with the same byte are read. A first snapshot has many objects, and after each
 * attempt that was given up there is one more pack to look in, so that whole lists are then read, once. */
static bool known_has(struct snapshot_pack *p, struct known_pack *known, const uint8_t *oid)
{
    const uint32_t from = oid[0] ? known->ends[oid[0] - 1] : 0, n = known->ends[oid[0]] - from;

    if (!known->ids && p->n >= LOOK_UPS) {
        char *all = arena_alloc(&p->arena, (size_t)known->ends[255] * SNAPSHOT_OID);

        known->ids = all && known_read(known, 0, known->ends[255], all) ? all : NULL;
    }
    if (known->ids)
        return bsearch(oid, known->ids + (size_t)from * SNAPSHOT_OID, n, SNAPSHOT_OID,
                       compare_oids);
    p->look_up.n = 0;
    return n && !buf_reserve(&p->look_up, (size_t)n * SNAPSHOT_OID) &&
           known_read(known, from, n, p->look_up.p) &&
           bsearch(oid, p->look_up.p, n, SNAPSHOT_OID, compare_oids);
}

static enum err_code pack_open(struct snapshot_pack *p, struct err *e)
{
    char folder[PATH_MAX];

    if (p->is_open)
        return ERR_OK;
    snprintf(folder, sizeof folder, "%s/objects/pack", p->repo);
    if (!p->anew && !p->known) {
        /* The packs that are there already, so that no object is written twice. */
        AUTO_DIR *d = opendir(folder);

        if (!d)
            return err_sys(e, folder, "snapshot: read the packs");
        for (const struct dirent *x; (errno = 0, x = readdir(d)) != NULL;) {
            struct known_pack *more = arena_grow(&p->arena, p->known, p->known_n, sizeof *more);

            NEED(p->known = more);
            open_known(&p->known[p->known_n], dirfd(d), x->d_name);
            p->known_n += p->known[p->known_n].fd >= 0;
        }
        TRY(errno ? err_sys(e, folder, "snapshot: read the packs") : ERR_OK);
    }
    TRY(disk_new_open(folder, 0400, &p->body, e));
    p->is_open = true;

    /* The number of objects, which follows the version, is known at the end. */
    p->end = PACK_HEADER;
    const uint8_t header[PACK_HEADER] = { 'P', 'A', 'C', 'K', 0, 0, 0, PACK_VERSION };

    return disk_write(p->body.fd, (struct slice){ (const char *)header, sizeof header }, NULL,
                      folder, e);
}

bool snapshot_pack_has(struct snapshot_pack *p, const uint8_t oid[SNAPSHOT_OID])
{
    if (pack_open(p, NULL))
        return false;
    if (slice_set_find(&p->added, (struct slice){ (const char *)oid, SNAPSHOT_OID }) !=
        SLICE_SET_NONE)
        return true;
    for (size_t i = 0; i < p->known_n; i++)
        if (known_has(p, &p->known[i], oid))
            return true;
    return false;
}

/* ---- the new pack ---- */

/* Writes what is collected. */
static enum err_code pack_flush(struct snapshot_pack *p, struct err *e)
{
    TRY(disk_write(p->body.fd, buf_slice(&p->packed), NULL, p->repo, e));
    p->packed.n = 0;
    return ERR_OK;
}

/* Adds the bytes to what is collected, as a stream of zlib. */
static enum err_code pack_compress(struct snapshot_pack *p, struct slice bytes, bool compresses,
                                   struct err *e)
{
    z_stream *z = &p->stream[compresses];
    const uLong bound = compressBound((uLong)bytes.n);
    int rc = Z_OK;

    /* The bytes are at most those of one file, which is far below what these numbers hold. */
    NEED(bytes.n <= UINT32_MAX / 2 && !buf_reserve(&p->packed, bound));
    if (!p->has_stream[compresses])
        rc = deflateInit(z, compresses ? Z_BEST_SPEED : Z_NO_COMPRESSION);
    else
        rc = deflateReset(z);
    NEED(rc == Z_OK);
    p->has_stream[compresses] = true;
    z->next_in = (Bytef *)bytes.p;
    z->avail_in = (uInt)bytes.n;
    z->next_out = (Bytef *)p->packed.p + p->packed.n;
    z->avail_out = (uInt)bound;
    NEED(deflate(z, Z_FINISH) == Z_STREAM_END);
    p->packed.n += z->total_out;
    return ERR_OK;
}

enum err_code snapshot_pack_put(struct snapshot_pack *p, git_object_t type, struct slice bytes,
                                const uint8_t oid[SNAPSHOT_OID], struct err *e)
{
    uint32_t number;
    size_t before = p->added.n, head_n;
    struct timespec began, ended;

    TRY(pack_open(p, e));
    if (snapshot_pack_has(p, oid))
        return ERR_OK;

    /* The time is measured because finishing the pack takes at most as long again, and has to end before the deadline. */
    clock_gettime(CLOCK_MONOTONIC, &began);
    struct packed_object *list = arena_grow(&p->arena, p->object, p->n, sizeof *list);
    const struct slice key =
        arena_copy(&p->arena, (struct slice){ (const char *)oid, SNAPSHOT_OID });

    NEED(list && key.p && !slice_set_add(&p->added, key, &number) && p->added.n > before);
    p->object = list;

    /* The length of an object and its type, seven bits at a time. */
    const size_t from = p->packed.n;
    uint8_t head[16];

    head[0] = (uint8_t)((unsigned)type << 4 | (bytes.n & 15));
    head_n = 1;
    for (size_t rest = bytes.n >> 4; rest; rest >>= 7) {
        head[head_n - 1] |= 0x80;
        head[head_n++] = rest & 0x7f;
    }
    NEED(!buf_add(&p->packed, (struct slice){ (const char *)head, head_n }));

    /* Most of a tree is ids, which do not become smaller; compressing those of a large project would take as long as the
     * rest of its first snapshot. A pruning has the time. */
    TRY(pack_compress(p, bytes, type != GIT_OBJECT_TREE || p->anew, e));
    struct packed_object *object = &p->object[p->n++];
    const size_t packed = p->packed.n - from;

    memcpy(object->oid, oid, SNAPSHOT_OID);
    object->crc = (uint32_t)crc32(0, (const Bytef *)p->packed.p + from, (uInt)packed);
    object->at = p->end;
    p->end += (int64_t)packed;
    p->bytes += (int64_t)bytes.n;
    if (p->packed.n >= PIECE)
        TRY(pack_flush(p, e));
    clock_gettime(CLOCK_MONOTONIC, &ended);
    p->spent_ns += time_ns(ended) - time_ns(began);
    return ERR_OK;
}

enum err_code snapshot_pack_add(struct snapshot_pack *p, git_object_t type, struct slice bytes,
                                uint8_t oid[SNAPSHOT_OID], struct err *e)
{
    TRY(snapshot_object_id(type, bytes, oid, e));
    return snapshot_pack_put(p, type, bytes, oid, e);
}

static void put_u32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Makes the index, as gitformat-pack(5) describes it. An offset of more than 31 bits is in a list of its own. */
static enum err_code make_pack_index(struct snapshot_pack *p, const uint8_t sum[SNAPSHOT_OID],
                                     struct buf *out, struct err *e)
{
    const size_t n = p->n;
    size_t far = 0;

    qsort(p->object, n, sizeof *p->object, compare_oids);
    for (size_t i = 0; i < n; i++)
        far += p->object[i].at > INT32_MAX;
    const size_t crcs = INDEX_IDS + n * SNAPSHOT_OID, places = crcs + n * 4, fars = places + n * 4,
                 end = fars + far * 8;

    NEED(!buf_reserve(out, end + (size_t)2 * SNAPSHOT_OID));
    uint8_t *x = (uint8_t *)out->p;

    memcpy(x, index_magic_of_git, 4);
    put_u32(x + 4, INDEX_VERSION);
    far = 0;
    for (size_t i = 0, byte = 0; byte < 256; byte++) {
        while (i < n && p->object[i].oid[0] == byte)
            i++;
        put_u32(x + INDEX_ENDS + byte * 4, (uint32_t)i);
    }
    for (size_t i = 0; i < n; i++) {
        const struct packed_object *object = &p->object[i];
        const bool is_far = object->at > INT32_MAX;

        memcpy(x + INDEX_IDS + i * SNAPSHOT_OID, object->oid, SNAPSHOT_OID);
        put_u32(x + crcs + i * 4, object->crc);
        put_u32(x + places + i * 4, is_far ? (uint32_t)far | 0x80000000u : (uint32_t)object->at);
        if (is_far) {
            put_u32(x + fars + far * 8, (uint32_t)(object->at >> 32));
            put_u32(x + fars + far * 8 + 4, (uint32_t)object->at);
            far++;
        }
    }
    memcpy(x + end, sum, SNAPSHOT_OID);
    out->n = end + SNAPSHOT_OID;
    if (!digest_of(DIGEST_SHA1, buf_slice(out), x + out->n))
        return digest_error(e);
    out->n += SNAPSHOT_OID;
    return ERR_OK;
}

enum err_code snapshot_pack_finish(struct snapshot_pack *p, struct err *e)
{
    char folder[PATH_MAX], hex[SNAPSHOT_OID * 2 + 1], name[SNAPSHOT_OID * 2 + 16];
    uint8_t sum[SNAPSHOT_OID];
    AUTO_BUF index = { 0 };

    if (!p->n)
        return ERR_OK;
    snprintf(folder, sizeof folder, "%s/objects/pack", p->repo);

    /* Writes the number of objects into the pack, and the SHA-1 of it all to its end. */
    CLEANUP(digest_fini) struct digest sha1 = { 0 };
    const struct file body = { .fd = p->body.fd };
    uint8_t count[4];
    size_t got;

    TRY(pack_flush(p, e));
    put_u32(count, p->n);
    if (pwrite(p->body.fd, count, sizeof count, PACK_HEADER - 4) != (ssize_t)sizeof count)
        return err_sys(e, p->repo, "snapshot: write a pack");
    digest_begin(&sha1, DIGEST_SHA1);
    NEED(!buf_reserve(&p->packed, PIECE));
    for (int64_t at = 0;; at += (int64_t)got) {
        TRY(err_at(e, file_read(&body, at, p->packed.p, PIECE, &got, e), p->repo));
        if (!got)
            break;
        digest_add(&sha1, (struct slice){ p->packed.p, got });
    }
    if (!digest_end(&sha1, sum))
        return digest_error(e);
    TRY(disk_write(p->body.fd, (struct slice){ (const char *)sum, SNAPSHOT_OID }, NULL, p->repo,
                   e));

    TRY(make_pack_index(p, sum, &index, e));
    digest_hex(sum, SNAPSHOT_OID, hex);

    /* git looks for an index first, so the pack gets its name before that. */
    p->is_open = false;
    snprintf(name, sizeof name, "pack-%s.pack", hex);
    TRY(disk_new_replace(&p->body, name, e));
    snprintf(name, sizeof name, "pack-%s.idx", hex);
    return disk_replace_file(folder, name, buf_slice(&index), 0400, e);
}

void snapshot_pack_fini(struct snapshot_pack *p)
{
    if (p->is_open)
        disk_new_discard(&p->body);
    for (size_t i = 0; i < p->known_n; i++)
        close(p->known[i].fd);
    for (size_t i = 0; i < COUNT_OF(p->stream); i++)
        if (p->has_stream[i])
            deflateEnd(&p->stream[i]);
    slice_set_fini(&p->added);
    arena_fini(&p->arena);
    buf_fini(&p->packed);
    buf_fini(&p->look_up);
    *p = (struct snapshot_pack){ .n = 0 };
}
