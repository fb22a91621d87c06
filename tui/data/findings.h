#ifndef TUI_DATA_FINDINGS_H
#define TUI_DATA_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/maintenance/doctor.h"

/* What a check for damage found; handed over by the worker to the view that asked. */
struct findings {
    struct finding_list list; /* owns the texts */
    const char **system;      /* in its arena, beside the findings: whose each is; static texts */
};

struct findings *findings_new(void); /* NULL if out of memory */
MUST_CHECK enum err_code findings_add(struct findings *fs, const char *system,
                                      const struct finding *f, struct err *e);
void findings_free(struct findings *fs); /* NULL is fine */
/* How many can be repaired and are not repaired yet. */
size_t findings_fixable(const struct findings *fs);

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
