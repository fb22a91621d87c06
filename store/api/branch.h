#ifndef STORE_API_BRANCH_H
#define STORE_API_BRANCH_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"

/* A conversation whose past was taken up again at an earlier message is a tree. What a resume goes on with is one way
 * through it; a branch is what leaves that way, up to its last message. */
struct branch {
    struct id128 leaf; /* its last message */
    /* the message of the way where it leaves; none: it has a beginning of its own */
    struct id128 from;
    int64_t time_ms;     /* of the last message; TIME_NONE: not known */
    size_t messages;     /* that the way does not have */
    struct slice prompt; /* how it begins, as far as somebody said something; may be empty */
    struct slice last;   /* the last prompt on the way to its last message; may be empty */
};

struct branch_list {
    struct arena arena; /* owns everything */
    struct branch *branch;
    size_t n;
};

static inline void branch_list_fini(struct branch_list *list)
{
    arena_fini(&list->arena);
    *list = (struct branch_list){ 0 };
}

#endif
