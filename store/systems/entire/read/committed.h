#ifndef STORE_SYSTEMS_ENTIRE_READ_COMMITTED_H
#define STORE_SYSTEMS_ENTIRE_READ_COMMITTED_H

#include "lite/base/buf.h"
#include "store/systems/entire/read/point.h"

/* Committed checkpoints (entire.md 2.7, 3): metadata and transcripts, in one folder for each checkpoint, with one
 * numbered folder in it for each session. Found on entire/checkpoints/v1 (that of origin where there is no local
 * one), in one ref for each checkpoint, and on the v2 refs. The same checkpoint in two places counts once. */

/* One point for each session of each checkpoint. Sessions are found by sessions[].metadata: folders have gaps. */
MUST_CHECK enum err_code committed_read(git_repository *repo, struct arena *a,
                                        struct point_list *points, struct problem_list *problems,
                                        struct err *e);

/* The transcript of a committed point, its chunks joined, replacing what was in out. *verdict: what committed_content_hash.txt
 * says of it. ERR_NOT_FOUND: it has none. */
enum transcript_hash { HASH_NONE, HASH_SAME, HASH_OTHER };
MUST_CHECK enum err_code committed_transcript(git_repository *repo, const struct point *p,
                                              struct buf *out, enum transcript_hash *verdict,
                                              struct err *e);
/* "sha256:<64 hex>", as committed_content_hash.txt has it. */
enum { CONTENT_HASH = 71 };
void committed_content_hash(struct slice bytes, char out[CONTENT_HASH + 1]);

#endif
