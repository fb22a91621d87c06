#ifndef TUI_DATA_NAME_LIST_H
#define TUI_DATA_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Names: of sub-agents, sessions, things in the trash. */
struct name_list {
    struct arena arena;
    struct slice *name; /* in the arena */
    size_t n;
};

struct name_list *name_list_new(void);
/* Copies the name. False if out of memory: the list is then as before. */
bool name_list_add(struct name_list *list, struct slice name);
void name_list_fini(struct name_list *list);
void name_list_free(struct name_list *list); /* NULL is fine */

/* What went wrong while listing. */
struct problem {
    const char *system; /* static text; NULL if it is about no system */
    struct err err;
};

struct problem_list {
    struct problem *problem; /* owned */
    size_t n, cap;
};

struct problem_list *problem_list_new(void);
bool problem_list_add(struct problem_list *list, const char *system, const struct err *e);
/* NULL is an empty list. */
bool problem_list_same(const struct problem_list *a, const struct problem_list *b);
void problem_list_free(struct problem_list *list);

#endif
