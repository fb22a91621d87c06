#ifndef TUI_SCREENS_DIFF_H
#define TUI_SCREENS_DIFF_H

#include "tui/screens/flow.h"

/* What an edit changed, line by line: from the patch a system recorded, or worked out from the texts before and
 * after. */
struct diff_line {
    char sign;      /* ' ', '+', '-'; '@': a hunk begins, text says where; '\\': a remark */
    int64_t number; /* of the line in the new file (of a removed one: in the old); 0: not known */
    struct slice text;
};

struct diff {
    struct arena arena;     /* decoded texts of a patch */
    struct diff_line *line; /* owned; texts borrow from what was compared, or from the arena */
    size_t n, cap;
    size_t added, removed;
    enum err_code rc;
};

/* Both append, so that a call with several edits makes one diff. */
void diff_of_patch(struct diff *d, struct slice patch_json);
void diff_of_texts(struct diff *d, struct slice before, struct slice after);
void diff_fini(struct diff *d);

struct diff_look {
    int width;
    bool ascii;
    struct margin margin;
    size_t max_lines; /* of the diff; 0: all */
};

/* Lines with their numbers; what changed within a line stands out. Answers how many lines were left out. */
size_t diff_lay(struct sheet *s, const struct diff_look *how, const struct diff *d);

#endif
