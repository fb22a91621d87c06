#ifndef TUI_DATA_FINDINGS_H
#define TUI_DATA_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/maintenance/doctor.h"

/* The findings of a check for damage; the worker passes them to the view that requested it. */
struct findings {
    struct finding_list list; /* owns the texts */
    const char **system;      /* in its arena, parallel to the findings: the system of each; static
                                 texts */
    const struct store *
        *store; /* the same: the store of each; NULL: it is about what reprise keeps itself */
};

struct findings *findings_new(void); /* NULL if out of memory */
MUST_CHECK enum err_code findings_add(struct findings *fs, const char *system,
                                      const struct store *store, const struct finding *f,
                                      struct err *e);
void findings_free(struct findings *fs); /* NULL is fine */
/* The number of findings that can be repaired and are not repaired yet. */
size_t findings_fixable(const struct findings *fs);

/* A problem met while listing. */
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
/* NULL counts as an empty list. */
bool problem_list_same(const struct problem_list *a, const struct problem_list *b);
void problem_list_free(struct problem_list *list);

#endif
