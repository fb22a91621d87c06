#ifndef TUI_DATA_CONVERSATION_H
#define TUI_DATA_CONVERSATION_H

#include <stdatomic.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "store/api/session.h"
#include "store/api/transcript.h"

/* What workers and the model hand each other. Everything here is filled by one thread, handed over through
 * a message or an effect, and from then on belongs to the receiver alone. The one exception is a
 * conversation: it never changes, is shared, and dies with its last holder. */

/* Sessions to look at: refs whose texts were copied into the arena. */
struct ref_list {
    struct arena arena;
    struct session_ref *ref; /* owned */
    /* owned; whose ref that is, in the asker's own numbers; 0 where nobody asked */
    uint32_t *entry;
    size_t n, cap;
    struct slice agent; /* in the arena; a sub-agent of the first session, else empty */
};

struct ref_list *ref_list_new(void);
/* Copies the ref with its texts. False without memory (the list is then as before). */
bool ref_list_add(struct ref_list *list, const struct session_ref *ref, uint32_t entry);
/* A list of one session and perhaps one of its sub-agents (agent may be empty). NULL without memory. */
struct ref_list *ref_list_one(const struct session_ref *ref, struct slice agent);
struct ref_list *ref_list_copy(const struct ref_list *list); /* NULL without memory */
void ref_list_free(struct ref_list *list);                   /* NULL is fine */

/* The answer to one ref of a describe effect: a row, or why there is none (ERR_NOT_FOUND: it is gone). */
struct described {
    uint32_t entry;
    struct session_row *row; /* owned; NULL with an error */
    enum err_code code;
    int64_t bytes; /* of all its files; only where weights were asked for */
};

struct described_list {
    struct described *item; /* owned */
    size_t n, cap;
};

struct described_list *described_list_new(size_t cap);
void described_list_free(struct described_list *list); /* frees the rows that are still in it */

/* A transcript that is shared: the view shows it while a worker reads rows of it. */
struct conversation {
    atomic_uint holders;
    const struct store *store;
    struct transcript *transcript; /* owned */
};

/* Takes the transcript over, with one holder: the caller. NULL without memory (the transcript is freed). */
struct conversation *conversation_new(const struct store *store, struct transcript *transcript);
struct conversation *conversation_retain(struct conversation *c);
void conversation_free(struct conversation *c); /* NULL is fine */

/* Rows of a conversation, read and taken apart: first, first + 1, ... */
struct passage {
    size_t message;           /* place in transcript.message */
    struct buf bytes;         /* the raw row; blocks borrow from it */
    struct block_list blocks; /* empty when the row could not be read */
    struct err error;
};

struct passage_list {
    struct passage *passage; /* owned */
    size_t n, cap;
};

struct passage_list *passage_list_new(size_t cap);
void passage_fini(struct passage *p);
void passage_list_free(struct passage_list *list); /* NULL is fine */

/* Names: of sub-agents, sessions, things in the trash; and what went wrong while listing. */
struct name_list {
    struct arena arena;
    struct slice *name; /* in the arena */
    size_t n;
};

struct name_list *name_list_new(void);
/* Copies the name. False without memory: the list is then as before. */
bool name_list_add(struct name_list *list, struct slice name);
void name_list_fini(struct name_list *list);
void name_list_free(struct name_list *list); /* NULL is fine */

struct problem {
    const char *system; /* whose; static text, NULL: nobody's */
    struct err err;
};

struct problem_list {
    struct problem *problem; /* owned */
    size_t n, cap;
};

struct problem_list *problem_list_new(void);
bool problem_list_add(struct problem_list *list, const char *system, const struct err *e);
/* NULL is a list of none. */
bool problem_list_same(const struct problem_list *a, const struct problem_list *b);
void problem_list_free(struct problem_list *list);

/* Where a session could be taken up again. NUL-terminated, owned. The first choice that exists is the
 * session's own directory unless `missing`. */
struct resume_dirs {
    bool missing;        /* the session's directory is gone */
    char *session_dir;   /* as the session says; NULL: it does not say */
    char *main_worktree; /* of its repository, when it exists and is another one; else NULL */
    char *present_dir;   /* where reprise was started */
};

void resume_dirs_free(struct resume_dirs *p);

#endif
