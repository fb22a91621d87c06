#ifndef STORE_SYSTEMS_COMMON_ROW_TABLE_H
#define STORE_SYSTEMS_COMMON_ROW_TABLE_H

#include <stddef.h>

#include "store/systems/common/jsonl.h"

/* The rows of an agent's logs as a table: which message each kind of row is, and which blocks a reader sees in it. A
 * system sets jsonl_format.rows instead of `judge` and `read`, and row_table_blocks as its member `blocks`. Functions
 * that a table names do the rest. tests/store/systems/tiny is a complete example.
 *
 * A path names a member of an object, and members in it, with dots ("message.role"); "a|b" is the first of two paths
 * that leads to something. A condition is one of
 *
 *   "is_error"                              the value is `true`
 *   "status=error", "status!=ok"            the value is this text, or is not, or is missing
 *   "type^=image/"                          it is a text that begins so
 *   "input:any", "input:none"               there is such a value, or not
 *   "input:text", "input:false"             the value is a text, or `false`
 *
 * or several of them, joined with "&", that all hold. Whatever is NULL or zero does not apply. */

/* A block, or with `each` any number of them. */
struct row_block {
    enum block_kind kind;
    /* Path of its text: a string, or a list of parts whose texts are joined. */
    const char *text;
    /* Only texts of parts of this type, in the member with that name. A string is of the type "text". */
    const char *part;
    /* One block for each element of this list, or for this object; other paths then begin at the element. */
    const char *each;
    /* With `each`: the first of these blocks whose condition holds, instead of this one; the list ends with
     * ROW_BLOCKS_END. A string in place of the elements is a text of the kind of the first of these blocks, or passed
     * to its `put`; with `when`, it is skipped. */
    const struct row_block *parts;
    const char *when; /* condition; with `each`, of the element */
    const char *call, *name, *input;
    const char *arguments; /* instead of `input`: the path of a string that contains the input */
    const char *drop;      /* a member of the input that is not shown */
    struct slice (*read)(struct slice object, struct arena *a); /* instead of `text` */
    void (*put)(struct block_list *b, struct slice object);     /* instead of all other members */
    const char *base64;      /* path of an image's bytes, for its size */
    bool empty;              /* it is a block even if its text is empty or missing */
    const char *failed;      /* condition */
    const char *failures[2]; /* how the text of a result begins that failed */
};

/* The end of a list of blocks. */
#define ROW_BLOCKS_END                                                                             \
    {                                                                                              \
        .text = NULL                                                                               \
    }
/* The calls of a message in the form of OpenAI's chat completions. */
#define ROW_TOOL_CALLS                                                                             \
    {                                                                                              \
        BLOCK_TOOL_CALL, .each = "tool_calls", .call = "id", .name = "function.name",              \
                         .arguments = "function.arguments"                                         \
    }

/* For row_block.read: the object itself, as JSON. */
struct slice row_whole(struct slice object, struct arena *a);
/* For row_block.put and row_kind.put: the seam of a compaction. */
void row_put_compaction(struct block_list *b, struct slice object);

/* A member of a row that a list shows: ROW_FACT(cwd, "environment.directory"). */
struct row_fact {
    size_t field; /* the offset of a member in struct jsonl_row_facts */
    const char *path;
};
#define ROW_FACT(field, path)                                                                      \
    {                                                                                              \
        offsetof(struct jsonl_row_facts, field), path                                              \
    }
enum { ROW_FACTS = 6, ROW_BLOCKS = 6 };

/* One kind of row. */
struct row_kind {
    const char *role;       /* the text under the key of the types (index_keys); NULL: any */
    enum message_kind kind; /* MESSAGE_OTHER: not shown, and read only for its facts */
    uint16_t flags;         /* enum message_flags */
    const char *when;       /* condition */
    const char *starts;     /* the text of its first block begins so */
    bool (*fits)(struct slice row); /* what no condition can say */
    /* It belongs to no turn: it does not answer, and nothing answers it. */
    bool silent;
    bool shown; /* a row of the kind MESSAGE_OTHER is a message of that kind */
    struct row_block blocks[ROW_BLOCKS];
    struct row_fact facts[ROW_FACTS];
    /* What the person wrote, if that is not the text of the block that is a prompt. */
    struct slice (*prompt)(struct slice row, struct arena *a);
    enum message_kind untyped;                           /* of a row without a prompt */
    void (*put)(struct block_list *b, struct slice row); /* instead of `blocks` */
    /* Completes the facts for a list with what no path leads to. */
    void (*read)(struct slice row, struct arena *a, struct jsonl_row_facts *out);
};

/* The first kind that fits counts; rows that none fits are left out. */
struct row_table {
    const struct row_kind *kind;
    size_t n;
    struct row_fact facts[ROW_FACTS]; /* what rows of every kind say, before those of their kind */
    /* The blocks of a row that has no others; row_blank: an empty note. */
    const struct row_block *otherwise;
    /* The object that has the contents of every row. A row without it is shown as it is. NULL: the row itself. */
    const char *contents;
    /* The member, the first of the marks of index_keys, that names the sub-agent which wrote a row. Such rows have the
     * flag MESSAGE_LEFT_OUT, and say only the time to a list. NULL: sub-agents have logs of their own. */
    const char *agent;

    /* The time of a row, if it is not in the member that index_keys names. */
    int64_t (*time)(struct slice row, struct arena *a);
};

/* For jsonl_load and jsonl_describe, as jsonl_format.judge and .read. */
MUST_CHECK enum err_code row_table_judge(const struct jsonl_format *format, struct logfile *log,
                                         size_t line, struct message *m, bool *keep, struct err *e);
/* valid: the row is known to be valid JSON. */
MUST_CHECK enum err_code row_table_read(const struct jsonl_format *format, struct slice row,
                                        bool valid, struct arena *a, struct jsonl_row_facts *out);
store_blocks_fn row_table_blocks;
/* The same for rows of another form than those of the store. */
MUST_CHECK enum err_code row_table_show(const struct jsonl_format *format, struct slice row,
                                        struct block_list *out, struct err *e);
extern const struct row_block row_blank[]; /* for row_table.otherwise */

/* The kind of a row that is valid JSON; NULL: no kind fits. */
const struct row_kind *row_table_kind(const struct jsonl_format *format, struct slice row,
                                      struct arena *a);

/* The blocks of any object. The list ends with ROW_BLOCKS_END. */
void row_blocks_put(struct block_list *b, const struct row_block *block, struct slice object);
/* A string, or the texts of a list of parts, a line for each; see row_block.part. Borrowed or in the arena. */
struct slice row_text(struct slice object, const char *path, const char *part, struct arena *a);
/* Returns true if the object meets the condition. */
bool row_is(struct slice object, const char *condition);
/* Finds the value at a path. Returns false and empties *value if it is missing. */
bool row_value(struct slice object, const char *path, struct slice *value);

#endif
