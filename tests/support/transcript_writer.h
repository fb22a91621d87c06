#ifndef TESTS_SUPPORT_TRANSCRIPT_WRITER_H
#define TESTS_SUPPORT_TRANSCRIPT_WRITER_H

#include "lite/base/buf.h"
#include "store/api/session.h"
#include "support/folder.h"

/* A transcript of Claude Code that a test writes row by row, in a temporary folder. Ids are short words;
 * "" as a parent is null. */
struct transcript_writer {
    struct folder folder;
    struct buf text;
    char path[4096];
    unsigned rows; /* rows written so far; row n has a time of n seconds */
};

void transcript_writer_begin(struct transcript_writer *t);
void transcript_writer_end(struct transcript_writer *t);
/* Begins with u1 a1 u2 a2. */
struct transcript_writer transcript_writer_two_turns(void);
/* Any bytes. */
void transcript_writer_raw(struct transcript_writer *t, const char *bytes);
/* {"type","uuid","parentUuid","timestamp", rest}; rest is members as JSON text, or "". */
void transcript_writer_row(struct transcript_writer *t, const char *type, const char *id,
                           const char *parent, const char *rest);
void transcript_writer_user(struct transcript_writer *t, const char *id,
                            const char *parent); /* its text is its id */
void transcript_writer_assistant(struct transcript_writer *t, const char *id,
                                 const char *parent); /* message.id is "m-" id */
/* Writes the file and returns its ref as a listing would; valid until transcript_writer_end. */
struct session_ref transcript_writer_ref(struct transcript_writer *t);

#endif
