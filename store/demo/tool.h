#ifndef STORE_DEMO_TOOL_H
#define STORE_DEMO_TOOL_H

#include <stdbool.h>

#include "lite/base/buf.h"
#include "lite/json/jsonout.h"
#include "store/demo/play.h"

/* A tool call under way: its input, what the model is told and what the client keeps are collected,
 * then two rows are written. Order: init, members of `in`, call, members of `out` and says, answer. */
struct tool {
    const char *name;
    char id[32];
    char row[DEMO_UUID]; /* of the call */
    struct buf input;    /* written through in: an object, open from init to call */
    struct buf result;   /* written through out: toolUseResult, one value */
    struct buf text;     /* what the model reads */
    struct jsonout in, out;
    bool failed;
};

void tool_init(struct tool *t, struct play *p, const char *name);
void tool_fini(struct tool *t);
void tool_write_text(struct tool *t, const char *text);
void tool_call(struct play *p, struct tool *t);
void tool_write_result(struct play *p, struct tool *t);

void tool_member(struct jsonout *j, const char *key, struct slice text);
/* A path of the project, made absolute. */
void tool_member_path(struct play *p, struct jsonout *j, const char *key, const char *path);

#endif
