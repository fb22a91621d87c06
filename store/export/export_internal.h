#ifndef STORE_EXPORT_EXPORT_INTERNAL_H
#define STORE_EXPORT_EXPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "store/api/transcript.h"
#include "store/export/export.h"
#include "store/show/tool_call.h"

/* Shared by the reader of the session (export_session.c) and the writers of the formats. */

/* The document being written. The first failure sticks, and later calls do nothing. */
struct export_out {
    struct buf buf; /* not yet passed on */
    export_write_fn *write;
    void *arg;
    uint64_t bytes; /* passed on */
    enum err_code rc;
    struct err err; /* with rc, unless it is ERR_NOMEM */
};

void export_out_add(struct export_out *o, struct slice bytes);
void export_out_lit(struct export_out *o, const char *literal);
void export_out_addf(struct export_out *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Passes everything on. */
void export_out_flush(struct export_out *o);

enum export_speaker { EXPORT_NO_SPEAKER, EXPORT_USER, EXPORT_AGENT };

/* A message whose first block is about to be written. */
struct export_message {
    size_t section; /* 0: the session itself; else the number of the sub-agent */
    size_t number;  /* place in its conversation, from 1 */
    enum export_speaker speaker;
    bool again; /* the one before has the same speaker */
    int64_t time_ms;
};

/* A tool call with its result, or either alone. */
struct export_tool {
    const struct block *call;   /* NULL: the call is not in the document, or too far above */
    const struct block *result; /* NULL: no result, or too far below */
    struct hunks hunks;         /* the hunks of the call; none if n is 0 */
    struct slice subject;       /* one line; may be empty */
    struct slice command;       /* the command of a shell; may be empty */
    struct slice input;         /* the rest, one member per line; may be empty */
    struct slice output;        /* may be empty */
    bool open;                  /* in full */
    size_t section;             /* the section of the sub-agent that it started; 0: none */
};

/* Fills in what follows from the call: hunks, subject, command and input. Texts are in the blocks, the arena and the
 * buffer. The caller checks whether the arena failed. */
MUST_CHECK enum err_code export_tool_describe(struct export_tool *t, struct slice root,
                                              struct arena *a, struct buf *input);

/* The head of the document. Texts may be empty. */
struct export_head {
    struct slice title, id, project, branch, model;
    const char *system;
    int64_t created_ms, modified_ms; /* TIME_NONE: unknown */
};

struct export_section {
    size_t number;
    struct slice id, type, task; /* the last two may be empty */
};

struct export_note {
    struct slice name, text;
    bool failed, open;
    bool summary; /* the text sums up the conversation before a compaction: Markdown */
};

/* A format. All texts are passed as they are in the session, neither cleaned nor escaped. */
struct export_writer {
    void (*begin)(struct export_out *o, const struct export_head *head);
    const char *end; /* the end of the document */
    /* All sub-agents that follow, before the conversation. */
    void (*contents)(struct export_out *o, const struct export_section *section, size_t n);
    void (*section)(struct export_out *o, const struct export_section *section);
    void (*message)(struct export_out *o, const struct export_message *m);
    const char *message_end;
    void (*prompt)(struct export_out *o, struct slice text, bool command);
    void (*reply)(struct export_out *o, struct slice text, bool failed);
    void (*thinking)(struct export_out *o, struct slice text, bool open);
    void (*tool)(struct export_out *o, const struct export_tool *t);
    void (*media)(struct export_out *o, const struct block *b);
    void (*note)(struct export_out *o, const struct export_note *note);
    /* A place where the conversation was compacted, or something is missing; one line. */
    void (*seam)(struct export_out *o, struct slice text);
    void (*raw)(struct export_out *o, struct slice text);
};

extern const struct export_writer export_md, export_html, export_txt;

/* The part of a conversation that a request selects, and its rows, read one after the other. */
struct export_part {
    const struct session_ref *ref;
    const struct export_request *req;
    struct transcript *t; /* owned */
    size_t from, to;
};

/* Loads the conversation of the session, or the branch, and finds the part. `whole`: the whole conversation of a
 * sub-agent. */
MUST_CHECK enum err_code export_part_open(struct export_part *p, const struct session_ref *ref,
                                          const struct export_request *req, bool whole,
                                          struct err *e);
void export_part_close(struct export_part *p);
/* Returns true if the request is for a branch, or not for all messages. */
bool export_is_part(const struct export_request *req);
bool export_is_cancelled(const struct export_request *req);

/* JSONL: the rows of a session, or of a sub-agent (`whole`), as they are. */
MUST_CHECK enum err_code export_jsonl(struct export_out *o, const struct session_ref *ref,
                                      const struct export_request *req, bool whole,
                                      struct export_summary *sum, struct err *e);

/* Words that the formats share. */
const char *export_outcome(const struct export_tool *t,
                           char out[32]); /* "ok", "exit 2", "failed" */
/* Adds at most `max` bytes of a text as one line, in the way of a format. */
typedef void export_line_fn(struct export_out *o, struct slice text, size_t max);
/* "Sub-agent 2, reviewer: Look at the tests" */
void export_section_name(struct export_out *o, const struct export_section *s,
                         export_line_fn *line);
/* The label of an image or document between two texts of the format. */
void export_media(struct export_out *o, const char *before, const struct block *b,
                  export_line_fn *line, const char *after);
enum { EXPORT_TITLE_MAX = 200 };
enum { EXPORT_TIME = 32 };
void export_time(int64_t ms, char out[EXPORT_TIME]); /* "2026-03-01 10:00 UTC" */
/* Writes a fact about the session; `own`: the value is a text of ours and not of the session. */
typedef void export_fact_fn(struct export_out *o, const char *name, struct slice value, bool own);
/* Calls fn for those facts about the project, the model and the times that are known. */
void export_facts(struct export_out *o, const struct export_head *head, export_fact_fn *fn);

/* Splits a text of a session into pieces so that nothing in it acts on a reader's program or is hidden from the reader.
 * The pieces are valid UTF-8; a format still has to escape its special characters. The screen shows the same signs
 * (tui/text/clean.h):
 *
 *   C0 and DEL                                      ^[  ^G  ^H
 *   C1                                              <9B>
 *   bidi, zero-width, tag, format, unassigned       <U+202E>
 *   broken bytes, lone surrogates                   U+FFFD
 *   the CR of a CRLF, escapes that set a colour     left out
 *
 * Joiners and variation selectors stay where a cluster needs them: between the members of an emoji, and in scripts that
 * are spelt with them. */

enum export_piece_kind {
    EXPORT_PIECE_END,
    EXPORT_PIECE_TEXT,
    EXPORT_PIECE_SIGN,    /* ASCII in place of something else */
    EXPORT_PIECE_NEWLINE, /* "\n" */
};

struct export_walk {
    struct slice rest;
    uint32_t before; /* the character before, 0 at the beginning */
    char sign[16];
};

/* Reads the next piece. Its bytes are in the text or in the walk, until the next call. Tabs are text. */
enum export_piece_kind export_walk_next(struct export_walk *w, struct slice *piece);

/* Returns the text without blanks and line ends at its edges, and at most `max` bytes of it, without cutting a
 * character. */
struct slice export_trim_line(struct slice text, size_t max);
/* The length of the longest run of a character. */
size_t export_longest_run(struct slice text, char c);
/* Returns the text without blank lines and newlines at its end. */
struct slice export_trim_end(struct slice text);

#endif
