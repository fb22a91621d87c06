#ifndef STORE_SYSTEMS_CLAUDE_SHOW_BLOCKS_H
#define STORE_SYSTEMS_CLAUDE_SHOW_BLOCKS_H

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/transcript.h"

/* One row being taken apart: its top-level values, and the blocks found so far. Shared by blocks.c and
 * blocks_user.c only. The first failure (memory) sticks in rc, and is asked once at the end. */
enum blocks_top {
    TOP_TYPE,
    TOP_MESSAGE,
    TOP_META,
    TOP_SUMMARY,
    TOP_API_ERROR,
    TOP_RESULT,
    TOP_SUBTYPE,
    TOP_CONTENT,
    TOP_LEVEL,
    TOP_ATTACHMENT,
    TOP_COUNT
};

struct blocks {
    struct slice top[TOP_COUNT]; /* raw; empty where there is none */
    struct block_list *out;
    enum err_code rc;
};

void blocks_add(struct blocks *r, struct block b);
void blocks_note(struct blocks *r, struct slice name, struct slice text);
/* Two texts with something between them where both say something; borrows or lives in the arena. */
struct slice blocks_joined(struct blocks *r, struct slice a, const char *between, struct slice b);
/* What stands between <tag> and </tag>. */
bool blocks_tagged(struct slice text, const char *tag, struct slice *inside);
/* A text in the person's place: what was typed, or what the client put there in the person's name. */
void blocks_user_text(struct blocks *r, struct slice text);

#endif
