#ifndef STORE_SYSTEMS_CLAUDE_CHECK_CHECK_H
#define STORE_SYSTEMS_CLAUDE_CHECK_CHECK_H

#include "store/api/finding.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/claude.h"

/* One session that is looked through for damage (store_ops.check). */
struct check {
    const struct store *store;
    const struct session_ref *ref;
    const char *path; /* of the transcript in hand: the session's or a sub-agent's */
    struct claude_log log;
    struct arena arena; /* of the texts of findings */
    finding_fn *fn;
    void *arg;
    size_t told[FINDING_KINDS];
};

/* So that a ruined file of a million lines gives no million findings: of each kind so many are told one by one, and
 * the others at the end as a number. */
enum { CHECK_REPORT_MAX = 200 };

/* Hands over a finding about a line (from 0), or about the file (CHECK_NO_LINE). */
#define CHECK_NO_LINE SIZE_MAX
MUST_CHECK enum err_code check_report(struct check *k, enum finding_kind kind, size_t line,
                                      const char *why, struct err *e);
/* why may be NULL: out of memory. */

/* check_lines.c: torn, spliced, broken, NULs. */
MUST_CHECK enum err_code check_lines(struct check *k, struct err *e);
/* check_chain.c: dangling parents, circles, duplicates. */
MUST_CHECK enum err_code check_chain(struct check *k, struct err *e);
/* check_backups.c: the saved copies that the session's snapshots name. */
MUST_CHECK enum err_code check_backups(struct check *k, const atomic_bool *cancel, struct err *e);

#endif
