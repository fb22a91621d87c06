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

void folds_fini(struct folds *f)
{
    free(f->chosen);
    *f = (struct folds){ 0 };
}

void folds_level(struct folds *f, enum fold_level level)
{
    f->level = level;
    f->n = 0;
    f->stamp++;
}

void folds_thinking(struct folds *f, bool open)
{
    f->thinking = open;
    f->stamp++;
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

bool folds_toggle(struct folds *f, int64_t offset, unsigned block, enum line_part part)
{
    uint64_t k = fold_key(offset, block, part);
    size_t at = find_fold(f, k);

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

static bool open_at_level(const struct folds *f, enum block_kind kind)
{
    switch (kind) {
    case BLOCK_PROMPT:
    case BLOCK_TEXT: return f->level != FOLD_ALL;
    case BLOCK_THINKING: return f->thinking;
    default: return f->level == FOLD_NOTHING;
    }
}

bool folds_open(const struct folds *f, enum block_kind kind, int64_t offset, unsigned block,
                enum line_part part)
{
    bool open = part == PART_BLOCK && open_at_level(f, kind);

    return open != is_chosen(f, fold_key(offset, block, part));
}
