#ifndef TESTS_SUPPORT_TALK_H
#define TESTS_SUPPORT_TALK_H

#include "folder.h"
#include "lite/buf.h"
#include "store/session.h"

/* A transcript of Claude Code that a test writes row by row, in a temporary folder. Ids are short words;
 * "" as a parent is null. */
struct talk {
    struct folder folder;
    struct buf text;
    char path[4096];
    unsigned rows; /* written so far; row n is timed n seconds */
};

void talk_begin(struct talk *t);
void talk_end(struct talk *t);
/* One that has begun: u1 a1 u2 a2. */
struct talk talk_two_turns(void);
/* Any bytes. */
void talk_raw(struct talk *t, const char *bytes);
/* {"type","uuid","parentUuid","timestamp", rest}; rest is members as JSON text, or "". */
void talk_row(struct talk *t, const char *type, const char *id, const char *parent,
              const char *rest);
void talk_user(struct talk *t, const char *id, const char *parent);      /* says its id */
void talk_assistant(struct talk *t, const char *id, const char *parent); /* message.id is "m-" id */
/* Writes the file and answers what a listing would say about it; valid until talk_end. */
struct session_ref talk_ref(struct talk *t);

#endif
