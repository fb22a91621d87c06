#ifndef STORE_SYSTEMS_COMMON_JSONL_H
#define STORE_SYSTEMS_COMMON_JSONL_H

#include <stdatomic.h>

#include "lite/io/window.h"
#include "store/api/store.h"
#include "store/log/logfile.h"

/* The reading side of an agent that keeps each session as one JSONL file. An agent adds what is
 * specific to it: which names are ids, and how one of its rows is read. tests/store/systems/tiny is
 * a complete example. */

#define JSONL_SUFFIX ".jsonl"

/* ---- the files of a folder ---- */

struct jsonl_folder {
    const struct store *store;
    const char *path;               /* need not exist: then it has no sessions */
    bool (*is_id)(struct slice id); /* checks a file's name without its suffix */
};

/* The id in a file's name; it borrows from the name. Returns false if the file is not a session. */
bool jsonl_name_id(const struct jsonl_folder *f, const char *name, struct slice *id);
/* Hands over each session of the folder, in no order, without subfolders. No file is opened, and a
 * folder that cannot be read has no sessions. */
MUST_CHECK enum err_code jsonl_enumerate(const struct jsonl_folder *f, session_ref_fn *fn,
                                         void *arg, struct err *e);
/* The session with this id. The ref's texts are in the arena. ERR_NOT_FOUND: no regular file with
 * this name. */
MUST_CHECK enum err_code jsonl_find(const struct jsonl_folder *f, struct slice id, struct arena *a,
                                    struct session_ref *ref, struct err *e);
/* The same for a path, which is copied into the arena. */
MUST_CHECK enum err_code jsonl_ref_at(const struct store *st, const char *path, struct slice id,
                                      struct arena *a, struct session_ref *ref, struct err *e);

/* ---- the row of a list ---- */

/* The part of one row that a list needs. */
struct jsonl_said {
    int64_t time_ms; /* TIME_NONE: it has no time */
    /* it is a message; the last one determines how the conversation ended ... */
    bool speaks;
    bool waits;          /* ... and this one waits for an answer */
    struct slice prompt; /* the person's prompt; empty: it is not a prompt */
};

struct jsonl_format {
    /* Reads one row; texts borrow from it or are in the arena. ERR_FORMAT: it is not one of the
     * agent's rows and is skipped. */
    enum err_code (*read)(struct slice row, struct arena *a, struct jsonl_said *out);
    /* Bytes that every row with a prompt contains: rows without them need not be read. */
    const char *prompt_mark;
};

/* Fills a list's row from the first and the last bytes of the session's file: first and last prompt, times, how it ended,
 * whether it is damaged. The summary is the first prompt, else the last one, else the id. A file that cannot be opened is
 * HIDDEN_UNREADABLE; ERR_NOT_FOUND: it is gone. What the agent adds (cwd, can) is set afterwards. */
MUST_CHECK enum err_code jsonl_describe(struct window_pool *pool, const struct session_ref *ref,
                                        const struct jsonl_format *format, struct session_row *row,
                                        struct err *e);

/* ---- the conversation ---- */

/* A log whose lines become a transcript. */
struct jsonl_log {
    const char *path;
    const struct index_keys *keys;
    /* Classifies one line that is not blank: sets kind and flags of the message, whose place, id
     * and time are known. *keep is true before the call; a last line that is torn and
     * MESSAGE_BROKEN is left out in any case. */
    enum err_code (*judge)(struct logfile *log, size_t line, struct message *m, bool *keep,
                           struct err *e);
    bool empty; /* the session has no log: there are no lines */
};

MUST_CHECK enum err_code jsonl_load(const struct jsonl_log *l, const atomic_bool *cancel,
                                    struct transcript **out, struct err *e);
/* From the last `bytes` of the file; from up to 16 times as many if not one row is whole in them. */
MUST_CHECK enum err_code jsonl_tail(const struct jsonl_log *l, size_t bytes,
                                    struct transcript **out, struct err *e);

/* Called for each row; set *stop to end the walk after it. */
typedef enum err_code jsonl_row_fn(struct slice row, void *arg, bool *stop, struct err *e);
/* All rows that are not blank, oldest first. ERR_CANCELLED if the flag is raised (it may be NULL). */
MUST_CHECK enum err_code jsonl_each_row(const char *path, const struct index_keys *keys,
                                        const atomic_bool *cancel, jsonl_row_fn *fn, void *arg,
                                        struct err *e);

/* The part of the messages that a query asks for, while they are walked. */
struct jsonl_page {
    int64_t skip, left; /* left < 0: no limit */
    json_fn *fn;
    void *arg;
    bool full; /* the walk was ended because nothing more was asked for */
};

struct jsonl_page jsonl_page_of(const struct message_query *q, json_fn *fn, void *arg);
/* Hands over one message if it is in the page. ERR_CANCELLED, with `full` set: the page is complete. */
MUST_CHECK enum err_code jsonl_page_put(struct jsonl_page *p, struct slice json, struct err *e);

#endif
