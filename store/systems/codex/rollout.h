#ifndef STORE_SYSTEMS_CODEX_ROLLOUT_H
#define STORE_SYSTEMS_CODEX_ROLLOUT_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/log/logfile.h"

/* ---- rows (row.c) ---- */

/* One line of a rollout. Newer threads ("paginated") record what a person sees as
 * event_msg/item_completed, older ones as separate events; response_item is what the model sees,
 * and only its tool calls are shown, unless the log has no events. Lines of unknown kinds must be
 * accepted. */
enum codex_kind {
    CODEX_OTHER,   /* nothing for a reader */
    CODEX_META,    /* session_meta: only the first of a file is used */
    CODEX_CONTEXT, /* turn_context, thread_settings_applied: has the model */
    CODEX_BEGIN,   /* a turn begins ... */
    CODEX_END,     /* ... and ends */
    CODEX_PROMPT,
    CODEX_ANSWER,
    CODEX_THOUGHT,
    CODEX_CALL, /* the call of a tool, by the model */
    CODEX_RESULT,
    CODEX_CHANGE,   /* files were changed by a patch */
    CODEX_COMMAND,  /* a command was run */
    CODEX_SUMMARY,  /* the conversation was compacted */
    CODEX_TASK,     /* an agent writes to another */
    CODEX_NOTE,     /* an error, an aborted turn */
    CODEX_ROLLBACK, /* the last turns no longer count */
    CODEX_TOKENS,   /* the tokens of one answer of the model */
    CODEX_TOTALS,   /* tokens so far: the only record of older threads, and repeated */
    CODEX_ASKED,    /* a prompt and ... */
    CODEX_SAID, /* ... an answer as the model sees them: the only record of the oldest threads */
};

struct codex_row {
    enum codex_kind kind;
    struct slice payload, item; /* raw JSON; item is the payload itself if it has no item */
    struct slice time;          /* decoded */
};

/* Parses a line. Returns false if it is not a JSON object. Texts are in the arena or borrow from
 * the line. */
bool codex_row_read(struct slice line, struct arena *a, struct codex_row *out);
/* Whether rows belong to the thread that this one was forked from: they follow the header of the other thread. Old
 * versions wrote them below the header of the fork, all at once, with the time of the fork; after them the fork goes on
 * without another header. Initially zeroed; called for each row that was read, in the order of the log. */
struct codex_copies {
    bool copied;
    bool below;      /* the header of this thread came first */
    int64_t last_ms; /* the time of the newest copied row */
};
bool codex_row_is_copied(struct codex_copies *c, const struct codex_row *row, struct slice thread,
                         struct arena *a);
/* The text of a prompt, an answer, a thought, a task or a note. */
struct slice codex_row_text(const struct codex_row *row, struct arena *a);
/* The text of a prompt without its images, as Codex lists it. */
struct slice codex_row_prompt(const struct codex_row *row, struct arena *a);
/* The id of a row's item; for a row without items the id of its turn, or empty. */
struct slice codex_row_id(const struct codex_row *row, struct arena *a);
/* The id by which a rewind names the prompt in a line of the log: the id of its item, in older
 * threads the id of its turn, or else its time. It is in the arena. Reads other lines of the log. */
struct slice codex_prompt_id(struct logfile *log, size_t line, struct arena *a);

extern const struct index_keys codex_keys;

/* ---- logs (rollout.c) ---- */

/* The logs of a store as files. The id of a rollout is the id of its thread or, after a revert, the one after the
 * underscore. Both begin with a time, so the newest rollout of a thread has the greatest id. */
struct rollout {
    struct slice thread, id; /* in the path */
    struct slice path;       /* NUL-terminated */
    struct file_id file;
    bool packed;   /* .jsonl.zst */
    bool archived; /* below archived_sessions */
};

struct rollouts {
    struct arena arena; /* owns everything */
    struct rollout *rollout;
    size_t n;
};

/* Parses the thread and the rollout from a file's name. Returns false if it is not the name of a
 * rollout. */
bool rollout_name(struct slice name, struct rollout *out);
/* All rollouts, by thread, the newest of each last. If a rollout has a plain and a packed file, the
 * plain one is used, as the program does. Folders that cannot be read are left out. */
MUST_CHECK enum err_code rollouts_read(const char *store, struct rollouts *out, struct err *e);
/* Reports folders that cannot be read. */
MUST_CHECK enum err_code rollouts_report(const char *store, unreadable_fn *fn, void *arg,
                                         struct err *e);
void rollouts_fini(struct rollouts *r);
/* NULL: no rollout has this id. */
const struct rollout *rollouts_find(const struct rollouts *r, struct slice id);
/* The time in the first digits of an id. */
int64_t rollout_born_ms(struct slice id);
/* NULL: the thread has no rollout. */
const struct rollout *rollouts_newest(const struct rollouts *r, struct slice thread);

/* Appends the first `max` bytes of a rollout's text to out; *whole is true if this is all of it.
 * For a damaged archive, the text before the damage is appended and *whole is false. */
MUST_CHECK enum err_code rollout_text(const char *path, size_t max, struct buf *out, bool *whole,
                                      struct err *e);

/* The part of another rollout that a rollout continues, as recorded in its first line, of which the beginning is
 * enough. */
struct rollout_base {
    struct slice id; /* the id of the other rollout; empty: it does not continue one */
    int64_t end;     /* the number of bytes of its text that precede */
};
void rollout_base_read(struct slice first_line, struct arena *a, struct rollout_base *out);
/* The same, from the member "history_base" of its payload, which may be missing. */
void rollout_base_of(struct slice base, struct arena *a, struct rollout_base *out);

/* Appends the whole text of a thread to out, beginning with the logs that its own logs continue.
 * Returns ERR_FORMAT, with the reason, if a continued log is missing, ends elsewhere or continues
 * itself; ERR_UNSUPPORTED if it is too large. */
MUST_CHECK enum err_code rollout_compose(const char *store, const char *path, struct buf *out,
                                         struct err *e);
/* The same, with everything in the thread's own logs, reverted turns included. */
MUST_CHECK enum err_code rollout_compose_done(const char *store, const char *path, struct buf *out,
                                              struct err *e);

#endif
