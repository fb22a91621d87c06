#ifndef STORE_SYSTEMS_ENTIRE_READ_COMMITTED_H
#define STORE_SYSTEMS_ENTIRE_READ_COMMITTED_H

#include "lite/base/buf.h"
#include "store/systems/entire/read/point.h"

/* Committed checkpoints (docs/formats/entire.md 2.7, 3): metadata and transcripts, in one folder
 * for each checkpoint, with one numbered folder in it for each session. They are on
 * entire/checkpoints/v1 (if it does not exist locally, on that of origin), in one ref for each
 * checkpoint, and on the v2 refs. A checkpoint that is found in two places is listed once. */

/* Adds one point for each session of each checkpoint. */
MUST_CHECK enum err_code committed_read(git_repository *repo, struct arena *a,
                                        struct point_list *points, struct problem_list *problems,
                                        struct err *e);

/* Whether the transcript matches content_hash.txt. */
enum transcript_hash { HASH_NONE, HASH_SAME, HASH_OTHER };
/* Reads the transcript of a committed point and joins its pieces; replaces the content of out.
 * ERR_NOT_FOUND: it has none. */
MUST_CHECK enum err_code committed_transcript(git_repository *repo, const struct point *p,
                                              struct buf *out, enum transcript_hash *verdict,
                                              struct err *e);
/* "sha256:<64 hex>", the content of content_hash.txt. */
enum { CONTENT_HASH = 71 };
void committed_content_hash(struct slice bytes, char out[CONTENT_HASH + 1]);

#endif
