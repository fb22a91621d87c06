#ifndef STORE_SNAPSHOTS_SNAPSHOT_OBJECTS_H
#define STORE_SNAPSHOTS_SNAPSHOT_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/disk.h"
#include "store/git/libgit2.h"
#include "store/snapshots/snapshot_index.h"

/* An object of the pack that is being made. */
struct packed_object {
    uint8_t oid[SNAPSHOT_OID]; /* first, by which they are sorted */
    uint32_t crc;              /* The checksum of its bytes in the pack. */
    int64_t at;
};

/* A pack of the repository: where the ids that begin with each byte end in its sorted list. */
struct known_pack {
    int fd;
    uint32_t ends[256];
    const char *ids; /* that list, in the arena of the new pack; NULL: not read */
};

/* The objects of a snapshot that our repository lacks become one pack: one file and its index to sync, however many
 * there are. The index is written here, and not by libgit2, whose start takes longer than the usual snapshot and which
 * reads and inflates the whole pack again. */
struct snapshot_pack {
    const char *repo;     /* our bare repository, borrowed */
    struct disk_new body; /* the pack so far */
    bool is_open;
    bool anew; /* objects are added although the repository has them: a pack that replaces others */
    uint32_t n;
    int64_t bytes;                /* uncompressed */
    int64_t spent_ns;             /* what adding them took; finishing takes at most as long again */
    struct packed_object *object; /* in the arena */
    int64_t end;                  /* the length of the pack so far */
    struct slice_set added;       /* their ids, which are in the arena */
    struct known_pack *known;     /* the packs of `repo`, read when the first object is added */
    size_t known_n;
    struct arena arena;
    struct buf packed;  /* what is not yet in `body` */
    struct buf look_up; /* ids of a known pack */
    /* Begun once: beginning one takes longer than compressing a small file. The first one stores, the second compresses. */
    z_stream stream[2];
    bool has_stream[2];
};

/* Adds an object whose id is known (snapshot_object_id), unless it is there already. */
MUST_CHECK enum err_code snapshot_pack_put(struct snapshot_pack *p, git_object_t type,
                                           struct slice bytes, const uint8_t oid[SNAPSHOT_OID],
                                           struct err *e);
/* The same, and gives the object its id. */
MUST_CHECK enum err_code snapshot_pack_add(struct snapshot_pack *p, git_object_t type,
                                           struct slice bytes, uint8_t oid[SNAPSHOT_OID],
                                           struct err *e);
/* Returns true if the object is in the repository or was added. */
bool snapshot_pack_has(struct snapshot_pack *p, const uint8_t oid[SNAPSHOT_OID]);
/* Makes the pack durable. Without objects it does nothing. */
MUST_CHECK enum err_code snapshot_pack_finish(struct snapshot_pack *p, struct err *e);
void snapshot_pack_fini(struct snapshot_pack *p);
/* The id that git gives to an object with these bytes. */
MUST_CHECK enum err_code snapshot_object_id(git_object_t type, struct slice bytes,
                                            uint8_t oid[SNAPSHOT_OID], struct err *e);
/* Makes an empty bare repository, unless there is one. */
MUST_CHECK enum err_code snapshot_repository_make(const char *repo, struct err *e);

#endif
