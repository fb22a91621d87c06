#ifndef STORE_SYSTEMS_COMMON_COMPOSE_ROWS_H
#define STORE_SYSTEMS_COMMON_COMPOSE_ROWS_H

#include "lite/json/jsonout.h"
#include "store/api/compose.h"

/* What the agents' writers of continued conversations share (store/api/compose.h). */

/* A UUID of version 7: it begins with the time. */
void compose_generate_v7(int64_t time_ms, char out[HOST_ID]);
/* An object, or a line that is one, at the end of the rows. */
void compose_open(struct compose *c, struct jsonout *j);
void compose_close_line(struct compose *c, struct jsonout *j);
/* A member even if the text is empty. */
void compose_text(struct jsonout *j, const char *key, struct slice text);
/* Opens an object or array that is a member. */
void compose_member(struct jsonout *j, const char *key, char bracket);

/* What an agent calls its tools and the members of their input. */
struct compose_names {
    const char *tool[COMPOSE_REPLACE + 1]; /* by meaning */
    const char *path, *command, *content, *old_text, *new_text;
    const char *all; /* NULL: its tool replaces one occurrence only */
};
/* The input of a call, as a member. */
void compose_input(struct jsonout *j, const char *key, const struct compose_call *call,
                   const struct compose_names *names);

#endif
