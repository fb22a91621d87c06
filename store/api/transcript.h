#ifndef STORE_API_TRANSCRIPT_H
#define STORE_API_TRANSCRIPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/scan/index.h"

/* The conversation of one session as a person reads it: the rows on the path from the newest leaf
 * to the root, oldest first. Rows are offsets in the file; their bytes are read when they are
 * shown.
 *
 * A transcript is whole (made from the line index of the file) or a tail (made quickly from the
 * last bytes, for a preview or for the first screenful of a 2 GB file; `partial` is then set, and
 * the rows before it are unknown). It does not change after it was made, so threads may share
 * it. */

enum message_kind {
    MESSAGE_USER,
    MESSAGE_ASSISTANT,
    MESSAGE_SYSTEM,
    MESSAGE_ATTACHMENT,
    MESSAGE_TOOL, /* systems that store tool results as rows of their own */
    MESSAGE_OTHER,
};

enum message_flags {
    MESSAGE_META = 1 << 0,     /* written by the agent in the user's name; not a prompt */
    MESSAGE_SEAM = 1 << 1,     /* a compaction boundary: the part above was summarised */
    MESSAGE_SUMMARY = 1 << 2,  /* the summary below a seam */
    MESSAGE_BRANCHED = 1 << 3, /* another branch leaves here that is not shown */
    MESSAGE_BROKEN = 1 << 4,   /* a line that does not parse, shown in its place */
    /* its parent is not in the file: the messages before it are missing */
    MESSAGE_GAP = 1 << 5,
    MESSAGE_ASIDE = 1 << 6, /* a branch leaves the path of a resume here */
    MESSAGE_LEAF = 1 << 7,  /* a resume continues after this one; only if there are branches */
    /* a resume loads nothing of the part that ends here: it was cleared */
    MESSAGE_CLEARED = 1 << 8,
    /* it parses, but a member has a type that its program does not accept */
    MESSAGE_MISTYPED = 1 << 9,
    /* a resume does not load it, though it parses */
    MESSAGE_LEFT_OUT = 1 << 10,
};

struct message {
    int64_t offset; /* the offset of its line in the file */
    uint32_t length;
    uint32_t line; /* number of the line, from 0; only in a whole transcript */
    int64_t time_ms;
    struct id128 id;
    uint8_t kind;   /* enum message_kind */
    uint16_t flags; /* enum message_flags */
};

struct transcript {
    struct message *message; /* owned; oldest first */
    size_t n;
    bool partial;          /* made from the tail only, */
    bool uncertain;        /* and rows above it may change which messages these are */
    bool torn_tail;        /* the file ended without a newline */
    bool unfinished;       /* the last line was being written and is not a message */
    int64_t unfinished_at; /* the offset of that line */
    size_t lines;          /* lines in the file (whole) or in the part that was read */
    size_t broken;         /* lines that do not parse */
    /* How many messages a resume restores, and how many it leaves out because rows follow the wrong ones
     * (store_ops.reconnect). lost 0: none, or only a part was read. */
    size_t restored, lost;
    /* offsets count from the beginning of the part that was read, so in another reading a message is identified by its
     * id and not by its offset */
    bool relative_offsets;
    int64_t size;      /* the size of the file when it was read */
    struct file_id id; /* shows whether the file is still the same */
    char *path;        /* owned: where to read the lines */
    /* owned: the lines, if they are not in a file (but in a git blob); path then names the
     * session's transcript, and offsets are offsets in these bytes. p NULL: in the file */
    struct buf bytes;
};

void transcript_free(struct transcript *t); /* NULL is fine */
DEFINE_CLEANUP(struct transcript, transcript_free);
struct index;
/* Records how the file ended. */
void transcript_set_end(struct transcript *t, const struct index *ix);
/* The bytes of one row, replacing the contents of out. ERR_STALE if the line is no longer in the
 * file (it was truncated or replaced). */
MUST_CHECK enum err_code transcript_read(const struct transcript *t, size_t i, struct buf *out,
                                         struct err *e);

struct message_query {
    struct slice session; /* only for error texts */
    struct slice agent;   /* a sub-agent of it; empty: the conversation itself */
    bool ref_is_agent;    /* with agent: the ref is that of the sub-agent's own transcript */
    bool system_messages; /* system rows too */
    bool as_sdk; /* as the vendor's SDK returns them, which ignores where a resume continues */
    bool has_limit;
    int64_t limit, offset;       /* as in the vendor's SDK; limit <= 0: no limit */
    const atomic_bool *cancel;   /* may be NULL */
    struct message_reach *reach; /* only the newest messages are needed; NULL: all */
    struct slice after; /* for plain_messages: only the messages after the one with this id */
};

/* How far back messages are needed, for stores that would have to read the others from a server or a long file. Other
 * stores ignore it. */
struct message_reach {
    size_t least; /* the minimum number of messages that are passed on */
    /* The id of a message: it and that many before it are needed, and those after it may be left out. Empty: the newest
     * ones are needed. */
    struct slice before;
    bool partial; /* out: there may be messages before the first one */
    /* For a file that has the end of the conversation: this many bytes at its end are read (0: all). If they may
     * contain fewer messages, `enough` is set to false and no messages are passed on. */
    size_t bytes;
    bool enough;
};

/* The part [*from, *to) of n messages that a query asks for. As in JavaScript's slice, a negative offset counts from
 * the end. */
void transcript_page(const struct message_query *q, size_t n, size_t *from, size_t *to);

/* The parts of a row, for a reader; the same for all systems. */
enum block_kind {
    BLOCK_PROMPT,  /* a person's prompt */
    BLOCK_COMMAND, /* a slash command or "! shell" line of the person's */
    BLOCK_TEXT,    /* the agent's text: markdown */
    BLOCK_THINKING,
    BLOCK_TOOL_CALL,   /* name, input, call_id */
    BLOCK_TOOL_RESULT, /* call_id, text, failed */
    BLOCK_IMAGE,       /* media type in name, size in bytes */
    BLOCK_DOCUMENT,
    BLOCK_NOTE, /* something the agent's program wrote: system row, attachment; dim */
    BLOCK_SEAM, /* compaction boundary, branch point, missing part */
    BLOCK_RAW,  /* a row we cannot read: its bytes */
};

struct block {
    enum block_kind kind;
    bool failed;          /* a tool result that is an error, an interrupted call */
    struct slice text;    /* decoded WTF-8; not cleaned for a terminal */
    struct slice name;    /* tool name; media type; sub-type of a note */
    struct slice input;   /* the input of a tool call: the raw JSON object */
    struct slice call_id; /* joins a call and its result */
    struct slice agent;   /* a tool call that started a sub-agent: its id, else empty */
    int64_t bytes;        /* the size in bytes of an image or document, decoded; else 0 */
    /* For a tool result that changed a file: the raw JSON of its structured patch, an array of {oldStart, oldLines,
     * newStart, newLines, lines[]}; else empty */
    struct slice patch;
};

/* Blocks of one row, in order. Texts borrow from the row's bytes or are in the arena. */
struct block_list {
    struct arena arena;
    struct block *block; /* in the arena */
    size_t n, cap;
};

MUST_CHECK enum err_code transcript_block_add(struct block_list *list, const struct block *b);
/* The same for a caller that checks only at the end whether the list's arena has failed. */
void transcript_block_put(struct block_list *list, struct block b);
/* The seam of a compaction, and the summary that stands for the messages above it; an empty one is not recorded. */
void transcript_block_put_compaction(struct block_list *list, struct slice summary);
/* Adds a block with this text, unless it is empty. */
void transcript_block_put_text(struct block_list *list, enum block_kind kind, struct slice text);
void transcript_blocks_fini(struct block_list *list);

/* Texts as they are between the quotes in a row, each with the kind of the block that it is the text or input of. */
enum { RAW_TEXTS = 64 };

struct raw_text {
    int kind; /* enum block_kind */
    struct slice text;
};

struct raw_texts {
    struct raw_text text[RAW_TEXTS];
    size_t n;
};

/* A conversation that was continued from an earlier message is a tree. A resume continues one path
 * through it; a branch leaves that path and runs up to a last message of its own. */
struct branch {
    struct id128 leaf; /* its last message */
    /* the message after which it leaves the path; zero: it begins with a root of its own */
    struct id128 from;
    int64_t time_ms;     /* the time of the last message; TIME_NONE: unknown */
    size_t messages;     /* that are not on the path */
    struct slice prompt; /* its first prompt; may be empty */
    struct slice last;   /* the last prompt before its last message; may be empty */
    /* the same two ids as the transcript has them, for hosts; in the list's arena */
    struct slice leaf_name, from_name;
};

struct branch_list {
    struct arena arena; /* owns everything */
    struct branch *branch;
    size_t n;
};

static inline void branch_list_fini(struct branch_list *list)
{
    arena_fini(&list->arena);
    *list = (struct branch_list){ 0 };
}

#endif
