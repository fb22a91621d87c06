#include "tui/roster.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(struct slice s)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
    return h ^ h >> 32;
}

static struct slice key_of(const struct entry *e, bool by_path)
{
    return by_path ? e->ref.path : e->ref.id;
}

/* The place of the key in a table: of its entry, or the free one where it would go. */
static size_t place_in(const struct roster *r, bool by_path, struct slice key)
{
    const uint32_t *table = by_path ? r->by_path : r->by_id;
    size_t i = hash_bytes(key) & (r->table - 1);

    while (table[i] != 0 && !slice_eq(key_of(&r->entry[table[i] - 1], by_path), key))
        i = (i + 1) & (r->table - 1);
    return i;
}

/* Tables are at most half full. An id's place holds the first entry that had it. */
static bool grow_tables(struct roster *r)
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
    free(r->by_path);
    free(r->by_id);
    r->by_path = by_path;
    r->by_id = by_id;
    r->table = size;
    for (size_t i = 0; i < r->n; i++) {
        size_t id = place_in(r, false, r->entry[i].ref.id);

        by_path[place_in(r, true, r->entry[i].ref.path)] = (uint32_t)i + 1;
        if (by_id[id] == 0)
            by_id[id] = (uint32_t)i + 1;
    }
    return true;
}

static bool grow_entries(struct roster *r)
{
    if (r->n < r->cap)
        return true;
    size_t cap = r->cap ? r->cap * 2 : 64;
    struct entry *entry = reallocarray(r->entry, cap, sizeof *entry);

    if (!entry)
        return false;
    r->entry = entry;
    r->cap = cap;
    return true;
}

void roster_fini(struct roster *r)
{
    for (size_t i = 0; i < r->n; i++)
        session_row_free(r->entry[i].row);
    free(r->entry);
    free(r->by_path);
    free(r->by_id);
    arena_fini(&r->arena);
    *r = (struct roster){ 0 };
}

static bool copy_ref(struct roster *r, const struct session_ref *ref, struct session_ref *out)
{
    *out = *ref;
    out->id = arena_copy(&r->arena, ref->id);
    out->path = arena_copy(&r->arena, ref->path);
    out->folder = arena_copy(&r->arena, ref->folder);
    return out->id.p && out->path.p && out->folder.p;
}

static bool add_entry(struct roster *r, const struct session_ref *ref, unsigned listing)
{
    struct session_ref copy;

    if (!grow_entries(r) || !grow_tables(r) || !copy_ref(r, ref, &copy))
        return false;
    uint32_t e = (uint32_t)r->n;
    size_t id = place_in(r, false, copy.id);
    uint32_t same = e;

    if (r->by_id[id] == 0) {
        r->by_id[id] = e + 1;
    } else { /* joins the ring of its id */
        struct entry *first = &r->entry[r->by_id[id] - 1];

        same = first->same_id;
        first->same_id = e;
    }
    r->by_path[place_in(r, true, copy.path)] = e + 1;
    r->entry[e] = (struct entry){ .ref = copy, .seen = listing, .same_id = same, .stale = true };
    r->n++;
    r->stale++;
    return true;
}

static bool same_file(const struct file_id *a, const struct file_id *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

static void set_stale(struct roster *r, struct entry *e, bool stale)
{
    if (e->stale == stale)
        return;
    e->stale = stale;
    r->stale = stale ? r->stale + 1 : r->stale - 1;
}

static void see_again(struct roster *r, struct entry *e, const struct session_ref *ref,
                      unsigned listing)
{
    bool changed = !same_file(&e->ref.file, &ref->file);

    e->ref.file = ref->file;
    e->ref.store = ref->store;
    e->seen = listing;
    e->asked = false; /* an answer to an older listing is dropped */
    if (changed || e->gone || !e->row)
        set_stale(r, e, true);
    e->gone = false;
}

bool roster_see(struct roster *r, const struct ref_list *refs, unsigned listing)
{
    for (size_t i = 0; i < refs->n; i++) {
        uint32_t e = roster_find(r, refs->ref[i].path);

        if (e != ENTRY_NONE)
            see_again(r, &r->entry[e], &refs->ref[i], listing);
        else if (!add_entry(r, &refs->ref[i], listing))
            return false;
    }
    return true;
}

static bool may_be_listed(const struct entry *e)
{
    return !e->gone && !(e->row && e->row->hidden != HIDDEN_NOT);
}

static bool newer(const struct entry *a, const struct entry *b)
{
    if (a->ref.file.mtime_ns != b->ref.file.mtime_ns)
        return a->ref.file.mtime_ns > b->ref.file.mtime_ns;
    return a->ref.path.n < b->ref.path.n;
}

/* Of the entries with one id (and system), the newest that can be listed is; the others are copies. */
static void choose_copy(struct roster *r, uint32_t e)
{
    uint32_t best = ENTRY_NONE, i = e;

    if (r->entry[e].same_id == e) {
        r->entry[e].copy = false;
        return;
    }
    do {
        struct entry *other = &r->entry[i];

        if (other->ref.store == r->entry[e].ref.store) {
            other->copy = true;
            if (may_be_listed(other) && (best == ENTRY_NONE || newer(other, &r->entry[best])))
                best = i;
        }
        i = other->same_id;
    } while (i != e);
    if (best != ENTRY_NONE)
        r->entry[best].copy = false;
}

void roster_sweep(struct roster *r, unsigned listing)
{
    for (size_t i = 0; i < r->n; i++) {
        struct entry *e = &r->entry[i];

        if (e->seen == listing)
            continue;
        e->gone = true;
        set_stale(r, e, false);
        choose_copy(r, (uint32_t)i);
    }
}

void roster_set_row(struct roster *r, uint32_t entry, struct session_row *row)
{
    struct entry *e = &r->entry[entry];

    session_row_free(e->row);
    e->row = row;
    e->made++;
    e->asked = false;
    e->gone = row == NULL;
    set_stale(r, e, false);
    if (row)
        e->ref.file = row->ref.file; /* what the row was made from */
    choose_copy(r, entry);
}

bool roster_listed(const struct roster *r, uint32_t entry)
{
    return may_be_listed(&r->entry[entry]) && !r->entry[entry].copy;
}

uint32_t roster_find(const struct roster *r, struct slice path)
{
    if (r->table == 0)
        return ENTRY_NONE;
    return r->by_path[place_in(r, true, path)] - 1; /* 0, a free place, wraps to ENTRY_NONE */
}

int64_t entry_time(const struct entry *e)
{
    if (e->row && e->row->activity_ms != TIME_NONE)
        return e->row->activity_ms;
    return e->ref.file.mtime_ns / 1000000;
}

struct slice entry_title(const struct entry *e)
{
    return e->row ? e->row->summary : (struct slice){ 0 };
}
