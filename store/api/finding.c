#include "store/api/finding.h"

/* clang-format off */
static const char *const names[FINDING_KINDS] = {
    [FINDING_TORN_TAIL] = "torn-tail",
    [FINDING_NUL_BYTES] = "nul-bytes",
    [FINDING_SPLICED_LINE] = "spliced-line",
    [FINDING_BROKEN_LINE] = "broken-line",
    [FINDING_DANGLING_PARENT] = "dangling-parent",
    [FINDING_CYCLE] = "cycle",
    [FINDING_DUPLICATE_ID] = "duplicate-id",
    [FINDING_METADATA] = "metadata-outside-window",
    [FINDING_MISSING_BACKUP] = "missing-backup",
    [FINDING_WRONG_BACKUP] = "wrong-backup",
    [FINDING_ORPHAN_FOLDER] = "orphan-folder",
    [FINDING_ORPHAN_BACKUPS] = "orphan-backups",
    [FINDING_UNREADABLE] = "unreadable",
    [FINDING_HIDDEN] = "hidden",
    [FINDING_EXPIRES] = "expires",
    [FINDING_UNFINISHED_CHANGE] = "unfinished-change",
    [FINDING_DAMAGED_CHANGE] = "damaged-change",
    [FINDING_UNFINISHED_REWIND] = "unfinished-rewind",
    [FINDING_DAMAGED_REWIND] = "damaged-rewind",
    [FINDING_DAMAGED_TRASH] = "damaged-trash",
    [FINDING_CHECKSUM] = "checksum",
    [FINDING_ORPHAN_BRANCH] = "orphan-branch",
    [FINDING_STUCK] = "stuck",
    [FINDING_CONCURRENT] = "concurrent",
    [FINDING_SETTINGS] = "settings",
    [FINDING_SPLIT_LINE] = "split-line",
    [FINDING_NO_SESSION] = "no-session",
    [FINDING_POISONED_ROW] = "poisoned-row",
    [FINDING_SPACED_ROW] = "spaced-row",
    [FINDING_LOST_PART] = "lost-part",
    [FINDING_MISPLACED] = "misplaced",
};
/* clang-format on */

const char *finding_name(enum finding_kind kind)
{
    return names[kind];
}
