#ifndef TUI_SCREENS_TRANSCRIPT_FOLDS_H
#define TUI_SCREENS_TRANSCRIPT_FOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/api/transcript.h"
#include "tui/widgets/styled_text.h"

/* The folds of a conversation. A block is identified by the offset of its row in the file, so that
 * choices survive when the tail of a session is replaced by the whole session. */

enum fold_level {
    FOLD_TOOLS,   /* tools, thinking and notes folded to one line each */
    FOLD_NOTHING, /* all open except thinking; notes without content are shown, too */
    FOLD_ALL,     /* prompts, and one line of each answer */
    FOLD_LEVELS
};

struct folds {
    enum fold_level level;
    bool thinking;    /* thinking is open */
    uint64_t *chosen; /* owned, sorted: what a person opened or closed against the level */
    size_t n, cap;
    unsigned stamp; /* changes with every change, so that earlier layouts are outdated */
};

void folds_fini(struct folds *f);
/* Sets the level; single choices are forgotten. */
void folds_level(struct folds *f, enum fold_level level);
void folds_thinking(struct folds *f, bool open);
/* Returns false if out of memory. */
bool folds_toggle(struct folds *f, int64_t offset, unsigned block, enum line_part part);
bool folds_open(const struct folds *f, enum block_kind kind, int64_t offset, unsigned block,
                enum line_part part);

#endif
