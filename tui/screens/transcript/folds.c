#include "lite/base/array.h"
#include "tui/screens/transcript/layout.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BITS = 12 };

static uint64_t fold_key(int64_t offset, unsigned block, enum line_part part)
{
    return (uint64_t)offset << (BLOCK_BITS + 1) | (block & ((1u << BLOCK_BITS) - 1)) << 1 |
           (unsigned)part;
}

struct fold_part {
    uint64_t key;
    int part;
};

void folds_fini(struct folds *f)
{
    free(f->chosen);
    free(f->part);
    *f = (struct folds){ 0 };
}

/* The index of the key, or where it would be inserted. */
static size_t find_fold(const struct folds *f, uint64_t k)
{
    size_t low = 0, n = f->n;

    while (n) {
        size_t half = n / 2;

        if (f->chosen[low + half] < k) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

static bool is_chosen(const struct folds *f, uint64_t k)
{
    size_t at = find_fold(f, k);

    return at < f->n && f->chosen[at] == k;
}

static struct fold_part *find_fold_part(const struct folds *f, uint64_t key)
{
    for (size_t i = 0; i < f->parts; i++)
        if (f->part[i].key == key)
            return &f->part[i];
    return NULL;
}

bool folds_toggle(struct folds *f, int64_t offset, unsigned block, enum line_part part)
{
    uint64_t k = fold_key(offset, block, part);
    struct fold_part *shown = find_fold_part(f, k);
    size_t at = find_fold(f, k);

    if (shown)
        shown->part = 0;

    if (at < f->n && f->chosen[at] == k) {
        memmove(f->chosen + at, f->chosen + at + 1, (f->n - at - 1) * sizeof *f->chosen);
        f->n--;
    } else {
        if (!array_reserve(f->chosen, f->cap, f->n + 1))
            return false;
        memmove(f->chosen + at + 1, f->chosen + at, (f->n - at) * sizeof *f->chosen);
        f->chosen[at] = k;
        f->n++;
    }
    f->stamp++;
    return true;
}

bool folds_open(const struct folds *f, enum block_kind kind, int64_t offset, unsigned block,
                enum line_part part)
{
    bool open = f->level == FOLD_NOTHING;

    if (part == PART_BLOCK && kind == BLOCK_THINKING)
        open = f->thinking;
    else if (part == PART_BLOCK && (kind == BLOCK_PROMPT || kind == BLOCK_TEXT))
        open = f->level != FOLD_ALL;

    return open != is_chosen(f, fold_key(offset, block, part));
}

int folds_part(const struct folds *f, enum block_kind kind, int64_t offset, unsigned block)
{
    const struct fold_part *found = find_fold_part(f, fold_key(offset, block, PART_MORE));

    if (!folds_open(f, kind, offset, block, PART_MORE))
        return FOLDS_FIRST_LINES;
    return found ? found->part : 0;
}

bool folds_all_chosen(const struct folds *f, int64_t offset, unsigned block)
{
    uint64_t key = fold_key(offset, block, PART_MORE);

    return find_fold_part(f, key) || (f->level != FOLD_NOTHING && is_chosen(f, key));
}

bool folds_set_part(struct folds *f, int64_t offset, unsigned block, int part)
{
    uint64_t key = fold_key(offset, block, PART_MORE);
    struct fold_part *found = find_fold_part(f, key);

    if (!found) {
        if (!array_reserve(f->part, f->part_cap, f->parts + 1))
            return false;
        found = &f->part[f->parts++];
    }
    *found = (struct fold_part){ key, part };
    f->stamp++;
    return true;
}

bool folds_cycle(struct folds *f, enum block_kind kind, int64_t offset, unsigned block, bool cut)
{
    bool open = folds_open(f, kind, offset, block, PART_BLOCK);
    bool more = folds_open(f, kind, offset, block, PART_MORE);
    bool open_next = !open || (cut && !more);

    if (open != open_next && !folds_toggle(f, offset, block, PART_BLOCK))
        return false;
    return more == (open && open_next) || folds_toggle(f, offset, block, PART_MORE);
}
