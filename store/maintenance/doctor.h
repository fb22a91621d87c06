#ifndef STORE_MAINTENANCE_DOCTOR_H
#define STORE_MAINTENANCE_DOCTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/api/finding.h"
#include "store/api/store.h"

/* Looks for damage, and for what a person may wonder about: in one session, or in all of a scope, in what lies around
 * them, and in what reprise itself keeps. Nothing is changed unless asked to; then only what cannot harm: a torn last
 * line of a quiet session gets its newline, metadata is appended again, and what a crash cut short is brought to its
 * end. The repairs of a session are one change, which can be taken back; where one of them cannot be done, a change each. */
struct doctor {
    const struct store_env *env;
    struct store *const *store;
    size_t stores;
    struct scope scope;
    const struct session_ref *only; /* this session; NULL: all of the scope and what is our own */
    bool fix;
    const atomic_bool *cancel; /* may be NULL */
};

/* Findings come in the order of the sessions, newest first. ERR_FORMAT: the one session that was named cannot be
 * read. */
MUST_CHECK enum err_code doctor_examine(const struct doctor *d, finding_fn *fn, void *arg,
                                        struct err *e);

/* Interrupted or damaged changes, rewinds and trash of our own (doctor_own.c); fixed when asked to. */
MUST_CHECK enum err_code doctor_own(const struct doctor *d, finding_fn *fn, void *arg,
                                    struct err *e);

struct finding_list {
    struct arena arena; /* owns everything */
    struct finding *finding;
    size_t n;
};

/* Copies it; a finding_fn. */
MUST_CHECK enum err_code doctor_list_add(const struct finding *f, void *list, struct err *e);

/* ---- private to store/maintenance/ ---- */

/* doctor_fix.c: repairs what can be repaired in one session and marks what was. What cannot be done now is said in
 * the finding; only memory fails. */
MUST_CHECK enum err_code doctor_fix(const struct doctor *d, const struct session_ref *ref,
                                    struct finding_list *list, struct err *e);
#endif
