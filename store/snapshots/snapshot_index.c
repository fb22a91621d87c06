#include "store/snapshots/snapshot_index.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"

/* The file is the memory of a machine about its own disk, so it has this machine's byte order: a header, the entries, the
 * names. It is made again whenever it does not fit. */

struct index_header {
    char magic[8];
    uint32_t entry_size, n;
    uint64_t names_n;
    int64_t git_index_ns, rules_ns;
    uint8_t notes[SNAPSHOT_OID];
    uint32_t complete;
    uint32_t checksum; /* the checksum of everything after the header */
    uint32_t spare;
};

static const char index_magic[8] = "RPSNAP1";
enum { INDEX_MAX = 1 << 30 };

void snapshot_index_fini(struct snapshot_index *x)
{
    if (!x->file.p) {
        free(x->entry);
        buf_fini(&x->names);
    }
    buf_fini(&x->file);
    *x = (struct snapshot_index){ .n = 0 };
}

enum err_code snapshot_index_add_again(struct snapshot_index *x, const struct snapshot_entry *entry)
{
    assert(!x->file.p);
    if (x->n == x->cap) {
        uint32_t cap = x->cap ? x->cap * 2 : 256;
        struct snapshot_entry *more = cap > x->cap ? realloc(x->entry, cap * sizeof *more) : NULL;

        if (!more)
            return ERR_NOMEM;
        x->entry = more;
        x->cap = cap;
    }
    x->entry[x->n++] = *entry;
    x->files += entry->kind == SNAPSHOT_FILE || entry->kind == SNAPSHOT_LINK;
    return ERR_OK;
}

enum err_code snapshot_index_add(struct snapshot_index *x, const struct snapshot_entry *entry,
                                 struct slice name)
{
    struct snapshot_entry named = *entry;

    if (x->names.n + name.n > UINT32_MAX || buf_add(&x->names, name))
        return ERR_NOMEM;
    named.name_at = (uint32_t)(x->names.n - name.n);
    named.name_n = (uint16_t)name.n;
    return snapshot_index_add_again(x, &named);
}

enum err_code snapshot_index_copy(struct snapshot_index *x, const struct snapshot_index *from,
                                  uint32_t n)
{
    const uint32_t cap = from->n + from->n / 8 + 1; /* it usually becomes about as long */
    struct snapshot_entry *entry = malloc(cap * sizeof *entry);

    if (!entry || buf_add(&x->names, buf_slice(&from->names))) {
        free(entry);
        return ERR_NOMEM;
    }
    memcpy(entry, from->entry, n * sizeof *entry);
    x->entry = entry;
    x->n = n;
    x->cap = cap;
    for (uint32_t i = 0; i < n; i++)
        x->files += entry[i].kind == SNAPSHOT_FILE || entry[i].kind == SNAPSHOT_LINK;
    return ERR_OK;
}

struct slice snapshot_entry_name(const struct snapshot_index *x, const struct snapshot_entry *entry)
{
    return entry->name_n ? (struct slice){ x->names.p + entry->name_at, entry->name_n } : SLICE("");
}

void snapshot_index_forget(struct snapshot_index *x, struct slice path)
{
    uint32_t i = 1, end = x->n;

    x->complete = false;
    while (i < end) {
        const struct slice name = snapshot_entry_name(x, &x->entry[i]);
        const uint32_t after = i + 1 + x->entry[i].below;

        if (path.n < name.n || memcmp(path.p, name.p, name.n) ||
            (path.n > name.n && path.p[name.n] != '/')) {
            i = after;
        } else if (path.n > name.n) {
            path = (struct slice){ path.p + name.n + 1, path.n - name.n - 1 };
            end = after;
            i++;
        } else {
            for (; i < after; i++) {
                memset(x->entry[i].oid, 0, SNAPSHOT_OID);
                x->entry[i].borrowed = 0;
                x->entry[i].racy = 1;
            }
            return;
        }
    }
}

/* Against a damaged disk, not against a person: the directory is the user's own. The entries are whole words, so the names
 * can follow with the sum of the entries. */
static uint64_t index_sum(uint64_t sum, struct slice bytes)
{
    uint64_t word;

    for (size_t i = 0; i < bytes.n; i += sizeof word) {
        size_t n = bytes.n - i < sizeof word ? bytes.n - i : sizeof word;

        word = 0;
        memcpy(&word, bytes.p + i, n);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    return sum;
}

/* Returns true if every name is inside of the names, and every directory ends where its parent goes on. */
static bool index_is_sound(const struct snapshot_index *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct snapshot_entry *t = &x->entry[i];

        if (t->kind > SNAPSHOT_SKIPPED || t->name_at > x->names.n ||
            t->name_n > x->names.n - t->name_at || t->below > x->n - i - 1 ||
            (t->below && t->kind != SNAPSHOT_DIR))
            return false;
        for (uint32_t child = i + 1; t->kind == SNAPSHOT_DIR && child <= i + t->below;) {
            uint32_t after = child + 1 + x->entry[child].below;

            if (x->entry[child].below > x->n || after > i + 1 + t->below)
                return false;
            child = after;
        }
    }
    return !x->n || (x->entry[0].kind == SNAPSHOT_DIR && x->entry[0].below == x->n - 1);
}

enum err_code snapshot_index_read(const char *path, struct snapshot_index *out, struct err *e)
{
    CLEANUP(snapshot_index_fini) struct snapshot_index x = { .n = 0 };
    struct index_header h;
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, INDEX_MAX, &x.file, NULL);

    *out = (struct snapshot_index){ .n = 0 };
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc || x.file.n < sizeof h)
        return ERR_OK;
    memcpy(&h, x.file.p, sizeof h);
    const struct slice body = { x.file.p + sizeof h, x.file.n - sizeof h };

    /* The entries are those of memory, so a file from a program with other entries is not read. */
    if (memcmp(h.magic, index_magic, sizeof h.magic) || h.entry_size != sizeof *x.entry ||
        h.n > body.n / sizeof *x.entry || h.names_n != body.n - h.n * sizeof *x.entry || !h.n ||
        h.checksum != (uint32_t)index_sum(body.n, body))
        return ERR_OK;
    x.entry = (void *)(x.file.p + sizeof h);
    x.n = h.n;
    x.names = (struct buf){ .p = x.file.p + sizeof h + h.n * sizeof *x.entry, .n = h.names_n };
    x.complete = h.complete;
    x.git_index_ns = h.git_index_ns;
    x.rules_ns = h.rules_ns;
    memcpy(x.notes, h.notes, sizeof h.notes);
    for (uint32_t i = 0; i < x.n; i++)
        x.files += x.entry[i].kind == SNAPSHOT_FILE || x.entry[i].kind == SNAPSHOT_LINK;
    if (index_is_sound(&x))
        HAND_OVER(out, x);
    return ERR_OK;
}

enum err_code snapshot_index_write(struct snapshot_index *x, const char *dir, const char *name,
                                   struct err *e)
{
    AUTO_BUF names = { 0 };
    struct disk_new f;
    struct index_header h = { .entry_size = sizeof *x->entry,
                              .n = x->n,
                              .git_index_ns = x->git_index_ns,
                              .rules_ns = x->rules_ns,
                              .complete = x->complete };

    /* One that was read has no other names. */
    if (!x->file.p) {
        NEED(!buf_reserve(&names, x->names.n));
        for (uint32_t i = 0; i < x->n; i++) {
            const struct slice text = snapshot_entry_name(x, &x->entry[i]);

            x->entry[i].name_at = (uint32_t)names.n;
            NEED(!buf_add(&names, text));
        }
        buf_fini(&x->names);
        HAND_OVER(&x->names, names);
    }
    const struct slice entries = { (const char *)x->entry, x->n * sizeof *x->entry };
    const struct slice part[] = { { (const char *)&h, sizeof h }, entries, buf_slice(&x->names) };

    memcpy(h.magic, index_magic, sizeof h.magic);
    memcpy(h.notes, x->notes, sizeof h.notes);
    h.names_n = part[2].n;
    h.checksum = (uint32_t)index_sum(index_sum(entries.n + part[2].n, entries), part[2]);
    TRY(disk_new_open(dir, 0600, &f, e));
    for (size_t i = 0; i < COUNT_OF(part); i++) {
        enum err_code rc = disk_write(f.fd, part[i], NULL, dir, e);

        if (rc) {
            disk_new_discard(&f);
            return rc;
        }
    }
    return disk_new_replace(&f, name, e);
}
