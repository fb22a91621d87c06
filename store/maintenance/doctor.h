#ifndef STORE_MAINTENANCE_DOCTOR_H
#define STORE_MAINTENANCE_DOCTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/api/finding.h"
#include "store/api/store.h"

/* Looks for damage and for other things that a person may want to know: in one session or in all sessions of a scope,
 * in the files around them, and in what reprise itself keeps. Nothing is changed unless `fix` is set, and then only
 * what the findings name (finding.repair): damaged lines are repaired (store/log/log_damage.h) and a torn last line gets
 * its newline unless the session is in use, metadata is appended again, and what a crash interrupted is completed. The
 * damaged lines of a session are repaired by one change and the rest by another one, and both can be undone; if a
 * repair fails, each of the others is a change of its own. */
struct doctor {
    const struct store_env *env;
    struct store *const *store;
    size_t stores;
    struct scope scope;
    const struct session_ref *only; /* this session; NULL: the whole scope and our own files */
    /* Looks only for misplaced sessions whose ids begin with this; NULL: for everything. */
    const char *misplaced;
    bool fix;
    /* FINDING_LOST_PART is fixable: the parts of the conversation are joined, as a change of its own. Only with `only`. */
    bool reconnect;
    const atomic_bool *cancel; /* may be NULL */
};

/* Passes findings to fn in the order of the sessions, newest first. ERR_FORMAT: the session in `only` cannot be
 * read. */
MUST_CHECK enum err_code doctor_examine(const struct doctor *d, finding_fn *fn, void *arg,
                                        struct err *e);

/* A part of doctor_examine (misplaced.c): transcripts of a store in places where their agent does not look for them.
 * With `only`, just that one. *moved is set if one of them was moved. */
MUST_CHECK enum err_code doctor_misplaced(const struct doctor *d, const struct store *st,
                                          finding_fn *fn, void *arg, bool *moved, struct err *e);
/* A part of doctor_examine (doctor_own.c): interrupted or damaged changes and rewinds of our own, and damaged trash. */
MUST_CHECK enum err_code doctor_own(const struct doctor *d, finding_fn *fn, void *arg,
                                    struct err *e);

struct finding_list {
    struct arena arena; /* owns everything */
    struct finding *finding;
    size_t n;
};

/* A finding_fn that adds a copy to the list. */
MUST_CHECK enum err_code doctor_list_add(const struct finding *f, void *list, struct err *e);
/* Marks a finding of the list as fixed, or adds the reason why the change (rc, why) failed. */
MUST_CHECK enum err_code doctor_settle(struct finding_list *list, struct finding *f,
                                       enum err_code rc, struct err *why, struct err *e);

#endif
