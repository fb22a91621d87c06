#ifndef STORE_SYSTEMS_COMMON_SAVED_STATES_H
#define STORE_SYSTEMS_COMMON_SAVED_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/store.h"
#include "store/rewind/plan/former.h"
#include "store/rewind/plan/rewind.h"

/* What a session recorded about the files that it changed, over time, for agents that keep a copy of each file from
 * before they edit it. A reader adds states; saved_states_plan then chooses, for each file, its state at a turn.
 *
 * The copies are trusted unless the session itself contradicts them: the text that the next edit found has to be that
 * of the copy, and a copy from before the last edit cannot be the result of that edit. A contradicted file is held
 * back, and so is one whose copy was made after the turn, if a command could have changed the file in between, or if
 * the copy differs from the result of the session's last edit before the turn. Without a copy, or with one that is older
 * than the turn and wrong, what the first edit of the turn found is the file, if its bytes are certain. */

enum saved_content {
    SAVED_UNKNOWN, /* `why` contains the reason */
    SAVED_ABSENT,
    SAVED_FILE,  /* a copy on disk */
    SAVED_BYTES, /* in memory */
};

struct saved_state {
    int64_t time_ms;
    /* The state is that before this turn; for a write, the turn that it belongs to. Turns are numbered in order of
     * time. */
    int64_t turn;
    bool is_write; /* the content after an edit; else a saved copy */
    /* when a copy was made, which may be used again for later turns; 0: not known */
    int64_t saved_ms;
    /* A saved copy from before the session's first edit of the file, which is valid for all earlier turns. */
    bool is_first;
    enum saved_content content;
    const char *file, *sha256;
    struct slice bytes;
    bool runs; /* SAVED_BYTES: the file could be executed */
    const char *why;
    bool found_absent;  /* for a write: it created the file */
    bool has_found;     /* for a write: `found` is the text before it, "" if there was no file */
    struct slice found; /* decoded, so line ends and broken UTF-8 may differ from the file's */
};

struct saved_path {
    const char *path; /* absolute */
    struct saved_state *state;
    size_t n;
};

/* A shell command, whose changes are not recorded. */
struct saved_shell {
    int64_t time_ms;
    struct slice command; /* empty: not known */
    const char *dir;      /* NULL: not known */
};

struct saved_states {
    struct arena arena; /* owns everything but `number`; readers may put their texts there */
    struct saved_path *path;
    size_t n;
    uint64_t replayed; /* bytes that edits left, of all edits */
    struct slice_set number;
    struct saved_shell *shell;
    size_t shells;
    bool keeps_modes; /* a copy has the mode of its original */
    /* among several copies in a turn, the oldest counts; otherwise the one that was added last */
    bool keeps_oldest;
};

/* Adds a state of the file. Only one saved copy of a turn is kept. Texts and paths must live as long as the states. */
MUST_CHECK enum err_code saved_states_add(struct saved_states *s, const char *path,
                                          const struct saved_state *state, struct err *e);
/* Returns true if there is a saved copy of the turn. */
bool saved_states_has(const struct saved_states *s, const char *path, int64_t turn);
/* The newest state of the file; SAVED_UNKNOWN if nothing was added. */
struct saved_state saved_states_newest(const struct saved_states *s, const char *path);
/* The newest state of one that is not younger than the time. NULL: there is no such state. */
const struct saved_state *saved_states_by(const struct saved_path *p, int64_t time_ms);
/* Adds the bytes of a state to a buffer. Returns false if they are not known or too many. */
bool saved_state_read(const struct saved_state *x, struct buf *out);
enum { SAVED_COMPARED_MOST = 32 << 20 };
/* Computes the result of an edit at out->time_ms: the newest state of the file until then with `old` replaced, once or
 * everywhere. SAVED_UNKNOWN if that state is not known or does not contain it. ERR_NOMEM. */
MUST_CHECK enum err_code saved_states_edit(struct saved_states *s, const char *path,
                                           struct slice old, struct slice new, bool all,
                                           struct saved_state *out);
MUST_CHECK enum err_code saved_states_shell(struct saved_states *s, const struct saved_shell *shell,
                                            struct err *e);
/* Adds a target for each file that was saved or written from the turn on, which began at plan->point_ms. */
MUST_CHECK enum err_code saved_states_plan(struct saved_states *s, int64_t turn,
                                           struct rewind_plan *plan, struct err *e);
/* The number of files that were written in this turn. */
size_t saved_states_written(const struct saved_states *s, int64_t turn);
void saved_states_fini(struct saved_states *s);

/* ---- with prompts (file_history.c) ---- */

/* The prompts of a session and the states that its files had between them, for agents that number
 * their turns: what a reader of such a log collects, and the checkpoints and plans that follow from it. */

struct file_point {
    struct slice id, prompt;
    int64_t time_ms;
    /* -1: its turn was not recorded, and `no_turn` is the reason why it cannot be rewound to */
    int64_t turn;
};

/* A call of a tool that writes a file, until its result. */
struct file_call {
    struct slice id;
    const char *path; /* NULL: none that could be a file */
    bool whole;       /* `new` is all of the file; else it replaces `old` */
    bool all;         /* it replaces every `old` */
    struct slice old, new;
};

/* A zeroed struct with a ref is an empty history; readers embed it as their first member. */
struct file_history {
    const struct session_ref *ref;
    struct saved_states states; /* its arena owns all texts */
    const char *cwd;            /* NULL: not recorded */
    struct former former;       /* what it read about files there is about those of cwd */
    const char *no_turn;
    struct file_point *point; /* in the order of the log */
    size_t n;
    struct file_call *call;
    size_t calls;
};

/* The path of a file that the log names, in the arena, without the links below the directory that lead to it; NULL: no
 * path, or out of memory. */
const char *file_history_path(struct file_history *h, struct slice name);
/* Adds a prompt; its texts are copied. */
MUST_CHECK enum err_code file_history_point(struct file_history *h, struct file_point point,
                                            struct err *e);
/* Adds a call, whose texts are copied. */
MUST_CHECK enum err_code file_history_call(struct file_history *h, const struct file_call *call,
                                           struct err *e);
/* The newest call with this id. NULL: there is no such call. */
const struct file_call *file_history_call_of(const struct file_history *h, struct slice id);
/* Sets the bytes that a call left in its file. ERR_NOMEM. */
MUST_CHECK enum err_code file_history_written(struct file_history *h, const struct file_call *call,
                                              struct saved_state *out, struct err *e);
/* Returns true for the name of a saved copy: <`digits` hexadecimal digits>@v<number>. */
bool file_history_is_version(struct slice name, size_t digits);
/* Adds a shell command that ran in dir (NULL: the session's directory). */
MUST_CHECK enum err_code file_history_shell(struct file_history *h, int64_t time_ms,
                                            struct slice command, const char *dir, struct err *e);

/* store_ops.checkpoints and .plan, from a history that was read; both empty it. Points are those of the present
 * conversation. root: the directory of the session, or NULL. */
MUST_CHECK enum err_code file_history_checkpoints(struct file_history *h,
                                                  struct checkpoint_list *out, struct err *e);
MUST_CHECK enum err_code file_history_plan(struct file_history *h, struct slice point,
                                           const char *root, struct rewind_plan *out,
                                           struct err *e);

#endif
