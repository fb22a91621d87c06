#ifndef STORE_SYSTEMS_CODEX_INFER_H
#define STORE_SYSTEMS_CODEX_INFER_H

#include "store/systems/codex/changes.h"

/* Codex keeps no copies of files, but its patches record what they found: the whole text of a
 * deleted file, the absence of an added file, and for other files the replaced lines. So the state
 * of a file at a point is inferred, from two sides:
 *
 *   what came before   the text of an added file, or of the commit on which the thread began, and the patches up to the point
 *   what came after    the text of a deleted file, or the present file; the patches since are taken out of it, each exactly
 *                      where it was
 *
 * If both sides give the same text, only the patches changed the file, and its state is proven. One
 * side alone does not exclude that the file was changed between two prompts by a person, or by a
 * command, whose changes are not recorded. Then the file is held back, unless all relevant changes
 * were made within the turn. */

struct codex_state {
    bool known, absent;
    /* a command that may have changed it ran on the way */
    bool passed;
    /* the text begins with that of the commit, which need not be what the thread found */
    bool from_commit;
    struct slice text;
};

struct codex_inference {
    const struct codex_changes *c;
    struct codex_commit commit;
    struct arena *arena; /* for the texts */
    size_t from;         /* the line of the point */
};

struct codex_before {
    struct codex_state state;
    bool seen;         /* the present file is part of the proof */
    bool was_free;     /* more than an addition shows that there was no file */
    const char *why;   /* why it is not known */
    bool is_late;      /* a later turn found it so */
    bool is_assumed;   /* only the addition shows that there was no file */
    const char *doubt; /* why it may have been different; NULL: no doubt */
};

/* The state of a file before change i, its first one since the point. */
MUST_CHECK enum err_code codex_infer_before(struct codex_inference *p, size_t i,
                                            struct codex_before *out, struct err *e);
/* The state after the changes of a file from i on; `before` is the state before them. After a command that may have
 * changed the file, it is known only if the present file is in it. */
MUST_CHECK enum err_code codex_infer_last(struct codex_inference *p, size_t i,
                                          struct codex_state before, struct codex_state *out,
                                          struct err *e);
/* The present file; not known if it cannot be read. */
MUST_CHECK enum err_code codex_infer_present(struct codex_inference *p, const char *path,
                                             struct codex_state *out, struct err *e);
/* Returns whether the present file is the later state of the file that change i moved there. */
MUST_CHECK enum err_code codex_infer_is_moved(struct codex_inference *p, size_t i, bool *out,
                                              struct err *e);

#endif
