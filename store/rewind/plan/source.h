#ifndef STORE_REWIND_PLAN_SOURCE_H
#define STORE_REWIND_PLAN_SOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/fs/span.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"

/* The bytes of both sides of a rewind: the wanted ones and those in the work tree. */

/* Up to this size they are held in memory; larger contents are only streamed. */
enum { SOURCE_CONTENT_HELD_MAX = 16 << 20 };

struct source_content {
    struct buf bytes; /* if held */
    bool held;
    int64_t size;
    uint32_t kind;
    uint8_t sha256[SHA256_BYTES];
    struct hasher hasher; /* kept, like the buffer, from file to file */
};

void source_content_fini(struct source_content *c);

/* Compares texts as an editor would: without a byte order mark, and with any line ends. A file that is not UTF-8 was
 * decoded from another encoding, so only its ASCII is compared. */
bool source_same_text(struct slice file, struct slice text);
bool source_content_same(const struct source_content *a, const struct source_content *b);
/* Makes the hash of a file's bytes that of a link or a directory. */
void source_mark_kind(uint32_t kind, uint8_t sha256[SHA256_BYTES]);
/* The hash of every directory. */
MUST_CHECK enum err_code source_dir_sha256(uint8_t sha256[SHA256_BYTES], struct err *e);

/* Opens the wanted bytes; the caller closes them with span_close. ERR_FORMAT with a text for a person if they are
 * missing, too short, a link or not a regular file. */
MUST_CHECK enum err_code source_open(const struct rewind_source *s, struct span *out,
                                     struct err *e);
/* ERR_FORMAT if the hash differs from the source's checksum. */
MUST_CHECK enum err_code source_check(const struct rewind_source *s,
                                      const uint8_t sha256[SHA256_BYTES], struct err *e);
/* Opens, reads and checks. A rewind refuses a file whose saved copy causes ERR_FORMAT. */
MUST_CHECK enum err_code source_read(const struct rewind_source *s,
                                     const struct source_content *like, struct source_content *out,
                                     struct err *e);

/* Reads the text of a link, at most PATH_MAX bytes. Returns false with errno, EINVAL if it is not a link. */
bool source_read_link(int dir, const char *name, char text[PATH_MAX], size_t *n);

/* The file at a path of the work tree, examined once and only through real directories. */
struct rewind_inspected {
    struct rewind_seen seen;
    enum rewind_rule rule; /* why it cannot be touched, or REWIND_RULE_NONE */
    const char *why;       /* a static text */
    /* If seen.exists and the rule is none, or for a link or a directory, for which it is set. */
    struct source_content present;
    struct span file; /* the open file, if its content was read */
    bool is_open;
    int dir;      /* its directory, or the lowest of those above it that exist */
    bool has_dir; /* it is open */
};

/* Examines a path. For root_fd and root see beneath_parent; real_parent may be NULL. It fails only if out of memory or
 * descriptors; any obstacle is reported as a rule. Buffers of *out are reused. */
MUST_CHECK enum err_code rewind_inspect_at(int root_fd, const char *root, const char *path,
                                           const char *real_parent, struct rewind_inspected *out,
                                           struct err *e);
void rewind_inspected_fini(struct rewind_inspected *l);
/* Returns true if it is a link or a directory that can be told from another one, so that the rule is none for an exact
 * target. */
bool rewind_inspected_has_kind(const struct rewind_inspected *l);
/* What cannot be tried without changing something. */
struct rewind_step {
    int dir;     /* the directory of the file, or the lowest of those above it that exist */
    int present; /* the open file, if there is one */
    enum rewind_action action;
    bool mode_only;
};

/* Returns why this process may not do it, as a static text for a person, and sets *sys to the errno that the attempt
 * would fail with. NULL: nothing forbids it. */
const char *rewind_forbidden(const struct rewind_step *step, int *sys);
/* Returns true if another program has the file open for writing right now. */
bool rewind_inspected_is_written(const struct rewind_inspected *l);
/* rewind_inspect_at for a target of a plan, from the right root. */
MUST_CHECK enum err_code rewind_inspect(const struct rewind_plan *plan,
                                        const struct rewind_target *t, struct rewind_inspected *out,
                                        struct err *e);

/* Sets x->edited if a person changed the present file since the session last knew it, and x->unproven if it is not
 * known whose work the file is: a rewind replaces either only with consent. Neither is set if there is no file, which
 * cannot be lost, nor if only the mode would change. `last` is a buffer for the bytes that the session last knew. */
MUST_CHECK enum err_code hand_edit_find(const struct source_content *present,
                                        struct source_content *last, struct rewind_entry *x,
                                        struct err *e);

/* Both sides of one previewed file: the present content and what a rewind would put there. Empty if there is no file
 * on that side. */
struct rewind_sides {
    struct buf present, wanted;
};

/* Reads both sides in the same way as the preview. ERR_STALE: the content changed. ERR_FORMAT: the saved copy is
 * unavailable, or something else is in the way. ERR_UNSUPPORTED: too large to be compared line by line. */
MUST_CHECK enum err_code rewind_sides_read(const struct rewind_plan *plan,
                                           const struct rewind_entry *entry,
                                           struct rewind_sides *out, struct err *e);
void rewind_sides_fini(struct rewind_sides *s);

#endif
