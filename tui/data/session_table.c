#include "tui/data/session_table.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/api/store.h"

static uint32_t hash_bytes(struct slice s)
{
    const uint64_t prime = 0x9e3779b97f4a7c15u;
    uint64_t h = s.n * prime, word = 0;

    for (; s.n >= sizeof word; s = (struct slice){ s.p + sizeof word, s.n - sizeof word }) {
        memcpy(&word, s.p, sizeof word);
        h = (h ^ word) * prime;
        h ^= h >> 32;
    }
    word = 0;
    if (s.n > 0)
        memcpy(&word, s.p, s.n);
    h = (h ^ word) * prime;
    return (uint32_t)(h >> 32);
}

/* The slot of the key in a table: that of its entry, or the free one where it would be inserted. */
static size_t table_slot(const struct session_table *r, bool by_path, struct slice key,
                         uint32_t hash)
{
    const uint32_t *table = by_path ? r->by_path : r->by_id;
    size_t i = hash & (r->table - 1);

    for (; table[i] != 0; i = (i + 1) & (r->table - 1)) {
        const struct session_entry *e = &r->entry[table[i] - 1];

        if ((by_path ? e->path_hash : e->id_hash) == hash &&
            slice_eq(by_path ? e->ref.path : e->ref.id, key))
            break;
    }
    return i;
}

/* Fills a larger table from a smaller one. No two of its entries are equal, so no text is
 * compared. */
static void move_table(const struct session_table *r, bool by_path, uint32_t *to, size_t size)
{
    const uint32_t *from = by_path ? r->by_path : r->by_id;

    for (size_t i = 0; i < r->table; i++) {
        if (from[i] == 0)
            continue;
        const struct session_entry *e = &r->entry[from[i] - 1];
        size_t at = (by_path ? e->path_hash : e->id_hash) & (size - 1);

        while (to[at] != 0)
            at = (at + 1) & (size - 1);
        to[at] = from[i];
    }
}

/* Tables are at most half full. The slot of an id contains the first entry that had it. */
static bool resize_tables(struct session_table *r)
{
    size_t size = r->table ? r->table : 64;

    while (size < 2 * (r->n + 1))
        size *= 2;
    if (size == r->table)
        return true;
    uint32_t *by_path = calloc(size, sizeof *by_path), *by_id = calloc(size, sizeof *by_id);

    if (!by_path || !by_id) {
        free(by_path);
        free(by_id);
        return false;
    }
    move_table(r, true, by_path, size);
    move_table(r, false, by_id, size);
    free(r->by_path);
    free(r->by_id);
    r->by_path = by_path;
    r->by_id = by_id;
    r->table = size;
    return true;
}

static bool may_be_listed(const struct session_entry *e)
{
    return !e->gone && !e->hidden;
}

/* Updates the sort key after a change of the entry. */
static void update_sort_key(struct session_table *r, uint32_t entry)
{
    const struct session_entry *e = &r->entry[entry];

    r->sort_key[entry] = (struct session_sort_key){
        .time_ms = session_entry_time(e),
        .created_ms = e->row ? e->row->created_ms : TIME_NONE,
        .bytes = session_entry_bytes(e),
        .listed = may_be_listed(e) && !e->copy,
        .pinned = e->row && session_tags_include(e->row->tag, SLICE(TAG_PINNED)),
    };
}

void session_table_fini(struct session_table *r)
{
    for (size_t i = 0; i < r->n; i++)
        session_row_free(r->entry[i].row);
    free(r->entry);
    free(r->sort_key);
    free(r->by_path);
    free(r->by_id);
    arena_fini(&r->arena);
    *r = (struct session_table){ 0 };
}

static bool add_session_entry(struct session_table *r, const struct session_ref *ref,
                              uint32_t path_hash, unsigned listing)
{
    struct session_entry new = {
        .seen = listing, .path_hash = path_hash, .id_hash = hash_bytes(ref->id), .stale = true
    };

    /* Both arrays have one capacity. */
    size_t entries = r->cap, keys = r->cap;

    if (!array_reserve(r->entry, entries, r->n + 1) || !array_reserve(r->sort_key, keys, r->n + 1))
        return false;
    r->cap = entries;
    if (!resize_tables(r) || !session_ref_copy(&r->arena, ref, &new.ref))
        return false;
    uint32_t e = (uint32_t)r->n;
    size_t id = table_slot(r, false, new.ref.id, new.id_hash);

    new.same_id = e;
    if (r->by_id[id] == 0) {
        r->by_id[id] = e + 1;
    } else { /* joins the ring of its id */
        struct session_entry *first = &r->entry[r->by_id[id] - 1];

        new.same_id = first->same_id;
        first->same_id = e;
    }
    r->by_path[table_slot(r, true, new.ref.path, path_hash)] = e + 1;
    r->entry[e] = new;
    update_sort_key(r, e);
    r->n++;
    r->stale++;
    return true;
}

static uint32_t find_hashed(const struct session_table *r, struct slice path, uint32_t hash)
{
    if (r->table == 0)
        return ENTRY_NONE;
    return r->by_path[table_slot(r, true, path, hash)] -
           1; /* 0, a free place, wraps to ENTRY_NONE */
}

static void set_stale(struct session_table *r, struct session_entry *e, bool stale)
{
    if (e->stale == stale)
        return;
    e->stale = stale;
    r->stale = stale ? r->stale + 1 : r->stale - 1;
}

/* A last line without a newline is not damage while an agent is writing it. */
static bool session_row_is_damaged(const struct session_row *row)
{
    unsigned damage = SESSION_DAMAGED | SESSION_CHANGED;

    if (!(row->flags & SESSION_LIVE))
        damage |= SESSION_TORN;
    return row->hidden == HIDDEN_DAMAGED || row->hidden == HIDDEN_UNREADABLE ||
           (row->hidden == HIDDEN_NOT && row->flags & damage);
}

static void session_table_note_damage(struct session_table *r, struct session_entry *e,
                                      bool damaged)
{
    if (e->damaged) {
        r->damaged--;
        r->unlisted -= e->hidden;
    }
    e->damaged = damaged;
    if (damaged) {
        r->damaged++;
        r->unlisted += e->hidden;
    }
}

static void update_seen_entry(struct session_table *r, uint32_t entry,
                              const struct session_ref *ref, unsigned listing)
{
    struct session_entry *e = &r->entry[entry];
    const struct file_id *a = &e->ref.file, *b = &ref->file;
    bool changed =
        a->dev != b->dev || a->ino != b->ino || a->size != b->size || a->mtime_ns != b->mtime_ns;

    e->ref.file = ref->file;
    e->ref.store = ref->store;
    e->seen = listing;
    e->asked = false; /* an answer to an older listing is dropped */
    /* The file does not show the state of a running session. */
    if (changed || e->gone || !e->row || e->row->flags & SESSION_LIVE)
        set_stale(r, e, true);
    e->gone = false;
    update_sort_key(r, entry);
}

bool session_table_update(struct session_table *r, const struct ref_list *refs, unsigned listing)
{
    for (size_t i = 0; i < refs->n; i++) {
        uint32_t hash = hash_bytes(refs->ref[i].path);
        uint32_t e = find_hashed(r, refs->ref[i].path, hash);

        if (e != ENTRY_NONE)
            update_seen_entry(r, e, &refs->ref[i], listing);
        else if (!add_session_entry(r, &refs->ref[i], hash, listing))
            return false;
    }
    return true;
}

static void set_copy(struct session_table *r, uint32_t entry, bool copy)
{
    r->entry[entry].copy = copy;
    update_sort_key(r, entry);
}

static bool is_remote(const struct session_entry *e)
{
    return e->ref.store && e->ref.store->ops->remote;
}

/* Returns true if x is shown rather than y, a copy on the same side: it changed later, or the store lists it first. */
static bool precedes(const struct session_table *r, uint32_t x, uint32_t y)
{
    const struct session_ref *a = &r->entry[x].ref, *b = &r->entry[y].ref;
    int64_t a_ns = session_recent_ns(a), b_ns = session_recent_ns(b);

    if (a_ns != b_ns)
        return a_ns > b_ns;
    int folders = r->all ? slice_compare(a->folder, b->folder) : 0;

    return folders ? folders < 0 : x < y;
}

/* Only one of the entries with one id (and system) is listed; the others are copies. */
static void session_table_choose_copy(struct session_table *r, uint32_t e)
{
    uint32_t here = ENTRY_NONE, there = ENTRY_NONE, i = e;

    if (r->entry[e].same_id == e) {
        set_copy(r, e, false);
        return;
    }

    /* All of them are marked as copies; the best one is then listed again. */
    do {
        const struct session_entry *other = &r->entry[i];
        uint32_t *best = is_remote(other) ? &there : &here;

        if (other->ref.store == r->entry[e].ref.store ||
            is_remote(other) != is_remote(&r->entry[e])) {
            set_copy(r, i, true);
            if (may_be_listed(other) && (*best == ENTRY_NONE || precedes(r, i, *best)))
                *best = i;
        }
        i = other->same_id;
    } while (i != e);
    if (here == ENTRY_NONE && there == ENTRY_NONE)
        return;

    /* If a session is in two places, the one with the newer last message is listed, else the local one, and records where
     * else it is. (The time at which a store received the last row does not help, because a copy is always newer than
     * its original.) */
    const bool both = here != ENTRY_NONE && there != ENTRY_NONE;
    const struct session_row *row = both ? r->entry[here].row : NULL;
    const struct session_row *remote = both ? r->entry[there].row : NULL;
    const uint32_t best =
        here == ENTRY_NONE || (row && remote && remote->activity_ms > row->activity_ms) ? there
                                                                                        : here;

    const struct store *also = both ? r->entry[best == here ? there : here].ref.store : NULL;

    r->entry[best].ref.also = also;
    if (r->entry[best].row)
        r->entry[best].row->ref.also = also;
    set_copy(r, best, false);
}

void session_table_remove_unseen(struct session_table *r, unsigned listing)
{
    for (size_t i = 0; i < r->n; i++) {
        struct session_entry *e = &r->entry[i];

        if (e->seen == listing)
            continue;
        e->gone = true;
        session_table_note_damage(r, e, false);
        set_stale(r, e, false);
        session_table_choose_copy(r, (uint32_t)i);
    }
}

/* A title in the middle of a file stays there while the file grows, so gigabytes are not read again
 * after each new line. */
static void keep_full_scan(struct session_entry *e, struct session_row *row)
{
    const struct session_row *old = e->row;
    bool grown = old && row && old->ref.file.ino == row->ref.file.ino &&
                 old->ref.file.dev == row->ref.file.dev && old->ref.file.size <= row->ref.file.size;

    e->fully_scanned = e->fully_scanned && grown;
    if (e->fully_scanned)
        row->flags |= old->flags & SESSION_PARTIAL;
    if (!e->fully_scanned || !session_wants_title(row) || old->custom_title.n == 0)
        return;
    struct slice title = arena_copy(&row->arena, old->custom_title);

    if (!title.p)
        return;
    row->custom_title = row->summary = title;
    row->shown_title = (struct slice){ NULL, 0 };
    row->flags = (row->flags & ~(unsigned)SESSION_AI_TITLE) | (old->flags & SESSION_AI_TITLE);
    if (row->tag.n == 0 && old->tag.n > 0)
        row->tag = arena_copy(&row->arena, old->tag);
}

void session_table_set_row(struct session_table *r, uint32_t entry, struct session_row *row)
{
    struct session_entry *e = &r->entry[entry];

    keep_full_scan(e, row);
    session_table_note_damage(r, e, false); /* while it is still known whether it was listed */
    session_row_free(e->row);
    e->row = row;
    e->made++;
    e->has_disk_usage = false;
    e->asked = false;
    e->gone = row == NULL;
    set_stale(r, e, false);
    e->hidden = row && row->hidden != HIDDEN_NOT;
    session_table_note_damage(r, e, row && session_row_is_damaged(row));
    if (row)
        e->ref.file = row->ref.file; /* what the row was made from */
    session_table_choose_copy(r, entry);
}

void session_table_set_bytes(struct session_table *r, uint32_t entry, int64_t bytes)
{
    r->entry[entry].bytes = bytes;
    update_sort_key(r, entry);
}

uint32_t session_table_by_id(const struct session_table *r, struct slice id)
{
    uint32_t at = r->table == 0 ? 0 : r->by_id[table_slot(r, false, id, hash_bytes(id))];

    for (uint32_t i = at - 1; at != 0;) {
        if (session_table_is_listed(r, i))
            return i;
        i = r->entry[i].same_id;
        if (i == at - 1)
            break;
    }
    return ENTRY_NONE;
}

void session_table_reread(struct session_table *r, uint32_t entry)
{
    if (!r->entry[entry].gone)
        set_stale(r, &r->entry[entry], true);
    r->entry[entry].asked = false;
}

void session_table_invalidate(struct session_table *r, struct slice id)
{
    uint32_t at = r->table == 0 ? 0 : r->by_id[table_slot(r, false, id, hash_bytes(id))];

    if (at == 0)
        return;
    uint32_t first = at - 1, i = first;

    do {
        session_table_reread(r, i);
        i = r->entry[i].same_id;
    } while (i != first);
}

bool session_table_is_listed(const struct session_table *r, uint32_t entry)
{
    return r->sort_key[entry].listed;
}

uint32_t session_table_find(const struct session_table *r, struct slice path)
{
    return find_hashed(r, path, hash_bytes(path));
}

int64_t session_entry_time(const struct session_entry *e)
{
    int64_t active_ms = e->row ? e->row->activity_ms : TIME_NONE;

    return active_ms != TIME_NONE ? active_ms : e->ref.file.mtime_ns / 1000000;
}

int64_t session_entry_bytes(const struct session_entry *e)
{
    return e->bytes > e->ref.file.size ? e->bytes : e->ref.file.size;
}

struct slice session_entry_title(const struct session_entry *e)
{
    return e->row ? session_row_title(e->row) : (struct slice){ 0 };
}

struct slice session_entry_cwd(const struct session_entry *e)
{
    return e->row ? e->row->cwd : (struct slice){ 0 };
}
