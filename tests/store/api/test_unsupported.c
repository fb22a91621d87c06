#include "tests/test.h"

#include "store/api/store.h"
#include "store/systems/goat/goat.h"

/* An operation that is NULL, and the ability that it stands for. */
struct member {
    const char *name;
    size_t at;
    unsigned ability;
};

#define MEMBER(name, ability)                                                                      \
    {                                                                                              \
#name, offsetof(struct store_ops, name), ability                                           \
    }

static const struct member members[] = {
    MEMBER(rename, CAN_RENAME),
    MEMBER(tag, CAN_TAG),
    MEMBER(archive, CAN_ARCHIVE),
    MEMBER(resume_at, CAN_RESUME_AT),
    MEMBER(fork, CAN_FORK),
    MEMBER(plan, CAN_REWIND),
    MEMBER(parts, CAN_DELETE),
    MEMBER(tombstone, CAN_TOMBSTONE),
    MEMBER(reappend, CAN_REAPPEND),
    MEMBER(retrieve, CAN_RETRIEVE),
    MEMBER(set, CAN_SET),
    MEMBER(subagents, CAN_HAVE_AGENTS),
    MEMBER(checkpoints, CAN_REWIND),
    MEMBER(branches, CAN_HAVE_BRANCHES),
};

static bool is_null(const struct store_ops *ops, const struct member *m)
{
    void (*fn)(void);

    memcpy(&fn, (const char *)ops + m->at, sizeof fn);
    return !fn;
}

/* Every operation that a system lacks is explained in the system's own words, in a line that fits on a screen. */
TEST(every_null_operation_has_an_explanation)
{
    size_t nulls = 0;

    for (size_t s = 0; store_systems[s]; s++) {
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
            const char *why = store_unsupported_reason(store_systems[s], members[i].ability);

            if (!is_null(store_systems[s], &members[i]))
                continue;
            nulls++;
            if (!why || strlen(why) > 72)
                fail_msg("%s: %s: %s", store_systems[s]->name, members[i].name,
                         why ? why : "(nothing)");
        }
    }
    assert_true(nulls >= 34);
}

TEST(a_refusal_names_the_operation_and_the_reason)
{
    static const struct store_ops silent = { .name = "silent" };
    const struct store goat = { .ops = &goat_ops }, mute = { .ops = &silent };
    struct session_ref ref = { .store = &goat, .path = SLICE("/s/x") };
    struct err e;

    assert_int_equal(store_unsupported_error(&ref, CAN_TAG, "tag", &e), ERR_UNSUPPORTED);
    assert_string_equal(e.path, "/s/x");
    assert_string_equal(e.text, "tag: Go sessions have no tags");
    ref.store = &mute;
    assert_int_equal(store_unsupported_error(&ref, CAN_TAG, "tag", &e), ERR_UNSUPPORTED);
    assert_string_equal(e.text, "tag: not possible for sessions of silent");
}
