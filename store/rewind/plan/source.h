#ifndef STORE_REWIND_PLAN_SOURCE_H
#define STORE_REWIND_PLAN_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/fs/hasher.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"

/* The bytes of both sides of a rewind: those that are wanted, and those that lie in the work tree. */

/* Up to here they are held in memory; what is larger only passes through. */
enum { SOURCE_CONTENT_HELD_MAX = 16 << 20 };

struct source_content {
    struct buf bytes; /* when it is held */
    bool held;
    int64_t size;
    uint8_t sha256[SHA256_BYTES];
    struct hasher hasher; /* kept, like the buffer, from file to file */
};

void source_content_fini(struct source_content *c);

/* Reads a span and hashes it; replaces what was in out. like (may be NULL): where the bytes are the same as its bytes,
 * so is the hash, and is not made again. ERR_STALE: the file changed its size while it was read. */
MUST_CHECK enum err_code source_content_read(const struct span *s,
                                             const struct source_content *like,
                                             struct source_content *out, struct err *e);
bool source_content_same(const struct source_content *a, const struct source_content *b);

/* Opens the wanted bytes; span_close them. ERR_FORMAT with a text for a person when they are missing, short, a link or
 * no regular file. */
MUST_CHECK enum err_code source_open(const struct rewind_source *s, struct span *out,
                                     struct err *e);
/* ERR_FORMAT when the hash is not what the source's checksum says. */
MUST_CHECK enum err_code source_check(const struct rewind_source *s,
                                      const uint8_t sha256[SHA256_BYTES], struct err *e);
/* Opens, reads and checks: a rewind refuses a file whose saved copy answers ERR_FORMAT. */
MUST_CHECK enum err_code source_read(const struct rewind_source *s,
                                     const struct source_content *like, struct source_content *out,
                                     struct err *e);

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
MUST_CHECK enum err_code rewind_look_at(int root_fd, const char *root, const char *path,
                                        const char *real_parent, struct look *out, struct err *e);
void rewind_look_fini(struct look *l);
/* Does another program have it open for writing right now? */
bool rewind_look_is_written(const struct look *l);
/* The same for a target of a plan, with the root that it is reached from (sides.c). */
MUST_CHECK enum err_code rewind_look(const struct rewind_plan *plan, const struct rewind_target *t,
                                     struct look *out, struct err *e);

/* Both sides of one file of a preview: what lies there, and what a rewind would put there. Empty where there is no
 * file on that side. */
struct rewind_sides {
    struct buf present, wanted;
};

/* Reads what the preview read, in the way it did. ERR_STALE: another content lies there by now. ERR_FORMAT: the
 * saved copy is not to be had, or something else is in the way. ERR_UNSUPPORTED: too large to be looked at line by line. */
MUST_CHECK enum err_code rewind_sides_read(const struct rewind_plan *plan,
                                           const struct rewind_entry *entry,
                                           struct rewind_sides *out, struct err *e);
void rewind_sides_fini(struct rewind_sides *s);

#endif
