#ifndef STORE_REWIND_PLAN_LOOK_H
#define STORE_REWIND_PLAN_LOOK_H

#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/source.h"

/* What lies at a path of the work tree, looked at once and through nothing but real directories. */
struct look {
    struct rewind_seen seen;
    enum rewind_rule rule;         /* why it cannot be touched; REWIND_RULE_NONE otherwise */
    const char *why;               /* a static text */
    struct source_content present; /* when seen.exists and the rule is none */
    struct span file;              /* the open file, when its content was read */
    bool is_open;
    struct beneath_at at; /* of its directory */
    bool is_mount;        /* its bytes can be read and written, but its name cannot be moved */
};

/* root_fd, root: see beneath.h; real_parent may be NULL. Fails only for want of memory or descriptors: whatever is in
 * the way is a rule. Reuses what *out has. */
MUST_CHECK enum err_code look_at(int root_fd, const char *root, const char *path,
                                 const char *real_parent, struct look *out, struct err *e);
void look_fini(struct look *l);
/* Does another program have it open for writing right now? */
bool look_is_written(const struct look *l);
/* The same for a target of a plan, with the root that it is reached from (sides.c). */
MUST_CHECK enum err_code rewind_look(const struct rewind_plan *plan, const struct rewind_target *t,
                                     struct look *out, struct err *e);

#endif
