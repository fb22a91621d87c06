#ifndef TESTS_SUPPORT_INDEX_FIXTURE_H
#define TESTS_SUPPORT_INDEX_FIXTURE_H

#include "tests/test.h"

#include "lite/scan/index.h"

/* Helpers for tests of the line index. */

enum { USER = 1, ASSISTANT = 2 };
enum { META = 1, SIDE = 2 };

static const char *const kinds[] = { "user", "assistant", NULL };
static const char *const marks[] = { "isMeta", "side", NULL };
static const struct index_keys keys = { .type = "type",
                                        .id = "uuid",
                                        .parent = "parentUuid",
                                        .time = "timestamp",
                                        .kinds = kinds,
                                        .marks = marks };

#define ID "11111111-2222-4333-8444-555555555555"

static inline struct index indexed(struct slice text, unsigned flags)
{
    struct index ix = { 0 };

    assert_int_equal(index_bytes(&ix, text, 0, &keys, flags, NULL), ERR_OK);
    return ix;
}

static inline void indexed_same(const struct index *a, const struct index *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->torn_tail, b->torn_tail);
    assert_int_equal(a->broken, b->broken);
    for (size_t i = 0; i < a->n; i++)
        assert_memory_equal(&a->line[i], &b->line[i], sizeof *a->line);
}

#endif
