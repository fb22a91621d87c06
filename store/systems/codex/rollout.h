#ifndef STORE_SYSTEMS_CODEX_ROLLOUT_H
#define STORE_SYSTEMS_CODEX_ROLLOUT_H

#include "lite/base/buf.h"
#include "store/api/store.h"

/* The logs of a store as files. A rollout has an id of its own: that of its thread, or after a revert the one behind
 * the underscore. Both begin with a time, so that the newest rollout of a thread has the greatest id. */
struct rollout {
    struct slice thread, id; /* in the path */
    struct slice path;       /* NUL-terminated */
    struct file_id file;
    bool packed;   /* .jsonl.zst */
    bool archived; /* below archived_sessions */
};

struct rollouts {
    struct arena arena; /* owns everything */
    struct rollout *rollout;
    size_t n;
};

/* Reads the thread and the rollout out of a file's name. Returns false if it is not that of a rollout. */
bool rollout_name(struct slice name, struct rollout *out);
/* All rollouts, by thread, the newest of each last. If a rollout has a plain and a packed file, the plain one counts, as for the
 * program. Folders that cannot be read are left out, and named if fn is given. */
MUST_CHECK enum err_code rollouts_read(const char *store, trouble_fn *fn, void *arg,
                                       struct rollouts *out, struct err *e);
void rollouts_fini(struct rollouts *r);
/* NULL: no rollout has this id. */
const struct rollout *rollouts_find(const struct rollouts *r, struct slice id);
/* The time in the first digits of an id. */
int64_t rollout_born_ms(struct slice id);
/* NULL: the thread has no rollout. */
const struct rollout *rollouts_newest(const struct rollouts *r, struct slice thread);

/* The first `max` bytes of a rollout's text, appended to out; *whole: that is all of it. A damaged
 * archive gives the text before its fault, and *whole is unset. */
MUST_CHECK enum err_code rollout_text(const char *path, size_t max, struct buf *out, bool *whole,
                                      struct err *e);

/* Whether a rollout continues another one: its first line, or the beginning of it, refers to a part of that one. */
struct rollout_base {
    struct slice id; /* of a rollout; empty: it continues none */
    int64_t end;     /* so many bytes of its text precede */
};
void rollout_base_read(struct slice first_line, struct arena *a, struct rollout_base *out);

/* The whole text of a thread, with what its logs continue before them, appended to out. ERR_FORMAT with the reason: a
 * log that is continued is missing, ends elsewhere or continues itself; ERR_UNSUPPORTED: it is too large. */
MUST_CHECK enum err_code rollout_compose(const char *store, const char *path, struct buf *out,
                                         struct err *e);
/* The same with everything that the thread's own logs have, reverted turns included. */
MUST_CHECK enum err_code rollout_compose_done(const char *store, const char *path, struct buf *out,
                                              struct err *e);

#endif
