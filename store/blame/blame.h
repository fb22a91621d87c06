#ifndef STORE_BLAME_BLAME_H
#define STORE_BLAME_BLAME_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/blame/blame_text.h"
#include "store/fs/span.h"
#include "store/git/libgit2.h"
#include "store/query/listing.h"

/* ---- the edits (blame_history.c) ---- */

/* The edits of one file in all sessions, in order of time, and what rewinds and undos of reprise did to it. They
 * include the edits of files that were renamed to this file or had its name before. */

struct blame_event {
    struct edit edit; /* texts in the arena */
    /* EDIT_SEEN of a file that reprise itself restored: its text has this hash and is not in memory */
    bool has_hash;
    uint8_t sha256[SHA256_BYTES];
    size_t session; /* index into `ref` */
    size_t order;   /* the order in which it was read */
};

struct blame_history {
    struct arena arena; /* owns everything but the arrays */
    struct blame_event *event;
    size_t n, cap;
    const struct session_ref **ref;
    size_t refs, ref_cap;
    const char **name; /* the paths that the file had */
    size_t names, name_cap;
    uint64_t bytes; /* the size of all texts */
};

/* The names of a file that sessions may have recorded: the given one (relative to dir unless it is absolute), and that
 * with its links resolved. */
struct blame_paths {
    const char *path[2]; /* absolute and normalized; in the arena */
    size_t n;
};

MUST_CHECK enum err_code blame_paths_of(const char *dir, const char *name, struct arena *a,
                                        struct blame_paths *out, struct err *e);

struct blame_query {
    struct listing_query sessions; /* its page and sort are ignored */
    /* names of the file: as given, and with links resolved; absolute and normalized */
    const char *const *path;
    size_t paths;
    /* blame_file: this text instead of the file's, and only edits up to a time; NULL and 0: the present file */
    const struct slice *text;
    int64_t until_ms;
    const atomic_bool *cancel; /* may be NULL */
    /* called for a session that cannot be read and is skipped; may be NULL */
    unreadable_fn *trouble;
    void *trouble_arg;
};

MUST_CHECK enum err_code blame_history_read(struct store *const stores[], size_t n,
                                            const struct blame_query *q, struct blame_history *out,
                                            struct err *e);
void blame_history_fini(struct blame_history *h);

/* The sessions of a query, newest first, each once. They are described only if the query selects rows; check one that
 * matters with blame_history_wants. A non-zero result of fn ends the walk and is returned. */
typedef enum err_code blame_session_fn(const struct session_ref *ref, void *arg, struct err *e);
MUST_CHECK enum err_code blame_history_sessions(struct store *const stores[], size_t n,
                                                const struct blame_query *q, blame_session_fn *fn,
                                                void *arg, struct err *e);

/* Returns true if the query selects this session, which is in a folder of its scope. Reads both ends of it. */
bool blame_history_wants(const struct blame_query *q, const struct session_ref *ref);

/* Returns a path as it is after a rename, in the arena; NULL if the rename does not affect it (or if out of memory). */
const char *blame_history_renamed(const char *path, const char *from, const char *to,
                                  struct arena *a);

/* ---- who wrote each line (blame.c) ---- */

/* Which session, turn and prompt wrote each line of a file.
 *
 * The edits of all sessions are replayed in order of time (blame_history.c, blame_text.h), and the result is compared
 * with the file as it is now. A line that is still as an edit left it belongs to that edit, and every other line to no
 * session. */

struct blame {
    struct blame_history history;
    struct buf file;    /* as it is now */
    struct slice *line; /* without line ends; borrow from the file; owned */
    uint32_t *owner;    /* index into history.event, or BLAME_NOBODY; owned */
    size_t lines;
    /* Why some edits were not replayed, whose lines then belong to no session; NULL: all were. */
    const char *stopped;
};

/* q->path[0] is the file. ERR_NOT_FOUND: the file does not exist. ERR_UNSUPPORTED: it is too large, or not text.
 * ERR_UNSAFE: it is not a regular file. */
MUST_CHECK enum err_code blame_file(struct store *const stores[], size_t n,
                                    const struct blame_query *q, struct blame *out, struct err *e);
void blame_fini(struct blame *b);
/* Returns true if both are edits of one turn, or both are NULL. */
bool blame_same_turn(const struct blame_event *x, const struct blame_event *y);
/* The edit that wrote a line, and its session; NULL if no session wrote it. */
const struct blame_event *blame_event_of(const struct blame *b, size_t line);
const struct session_ref *blame_session_of(const struct blame *b, size_t line);

/* ---- the notes of git-ai (blame_notes.c) ---- */

/* Who wrote a line according to the notes that git-ai attaches to commits (refs/notes/ai): the sessions may be of other
 * people, machines and agents. */
struct blame_note {
    const char *commit; /* that has the note, in hex */
    struct slice tool, session,
        model;           /* an agent's session; the session and the model may be empty */
    struct slice author; /* a person, if tool is empty */
};

struct blame_notes {
    struct arena arena;
    const struct blame_note **line; /* by line of the file; NULL: no note names the file; owned */
    size_t n;
};

/* The notes of the commits of HEAD, as far back as BLAME_COMMITS_MAX, for the lines of a file that was blamed. A damaged
 * note, and what is noted under a former name of the file, is skipped. */
MUST_CHECK enum err_code blame_notes_read(const char *path, const struct blame *b,
                                          struct blame_notes *out, struct err *e);
void blame_notes_fini(struct blame_notes *notes);

#define BLAME_NOTES_REF "refs/notes/ai"
/* ERR_STALE: the commit has a note already. */
MUST_CHECK enum err_code blame_note_absent(git_repository *repo, const char *commit, struct err *e);

/* The note of a commit (blame_note_make.c). A zeroed struct is empty. */
struct blame_noted {
    struct arena arena;
    char commit[41];
    const char *git; /* the git directory that work trees share */
    /* the whole text, with a NUL behind it; empty: no session wrote a line of the commit */
    struct slice note;
    size_t files, lines, sessions; /* in the note */
    struct change *change;         /* owned; its id once the note is written */
};

/* Makes the note of a commit of the repository that contains dir. Only the sessions of the query count. Writes nothing.
 * ERR_NOT_FOUND: no repository or no such commit; ERR_UNSUPPORTED: a merge; ERR_STALE: it has a note already. */
MUST_CHECK enum err_code blame_note_make(struct store *const stores[], size_t n,
                                         const struct blame_query *q, const char *dir,
                                         const char *revision, struct blame_noted *out,
                                         struct err *e);
/* Attaches it to the commit, as a change that can be undone. */
MUST_CHECK enum err_code blame_note_write(const struct store_env *env, struct blame_noted *noted,
                                          struct err *e);
void blame_noted_fini(struct blame_noted *noted);

/* ---- what was touched (blame_touch.c) ---- */

/* Which files a session touched, and which sessions touched a file or directory: one entry for each turn and file. */

enum blame_touched {
    BLAME_CREATED = 1 << 0, /* there was no file before */
    BLAME_EDITED = 1 << 1,
    BLAME_DELETED = 1 << 2,
    BLAME_RENAMED = 1 << 3, /* to `to` */
};

struct blame_touch {
    size_t session; /* index into `ref` */
    const char *path, *to;
    struct slice turn, prompt; /* may be empty */
    struct slice message;      /* the message with the first edit; may be empty */
    struct slice agent;        /* the sub-agent that made the first edit; may be empty */
    int64_t time_ms;           /* when the last edit was made; TIME_NONE: unknown */
    unsigned did;              /* enum blame_touched */
    size_t edits;
    uint64_t added, removed; /* lines */
    /* why some of the edits were not replayed, whose lines are then counted only once or not at all; NULL: all were */
    const char *stopped;
};

struct blame_touches {
    struct arena arena; /* owns everything but the arrays */
    struct blame_touch *touch;
    size_t n, cap;
    const struct session_ref **ref;
    size_t refs, ref_cap;
};

/* What one session did, in the order of its turns. */
MUST_CHECK enum err_code blame_touches_of(const struct session_ref *ref, const atomic_bool *cancel,
                                          struct blame_touches *out, struct err *e);
/* The same, and each file as the edits of the session left it: its text if that is known, else what `known` and `absent`
 * say. Valid during the call. */
typedef enum err_code blame_left_fn(const char *path, const struct blame_text *left, void *arg,
                                    struct err *e);
MUST_CHECK enum err_code blame_touches_left(const struct session_ref *ref, blame_left_fn *fn,
                                            void *arg, struct blame_touches *out, struct err *e);
/* What all sessions of the query did to its paths, and below them, newest first. An edit that several sessions record,
 * because one was copied from the other, belongs to the older one. */
MUST_CHECK enum err_code blame_touches_read(struct store *const stores[], size_t n,
                                            const struct blame_query *q, struct blame_touches *out,
                                            struct err *e);
void blame_touches_fini(struct blame_touches *t);

/* ---- commits ---- */

/* The commits of a file, and the first one after an edit. */

struct blame_commit {
    char id[41];
    int64_t time_ms; /* when it was committed */
    struct slice subject;
};

struct blame_commits {
    struct arena arena;
    struct blame_commit *commit; /* those that changed the file, newest first */
    size_t n;
};

/* Reads the commits of HEAD that changed the file and are not older than since_ms, as far back as BLAME_COMMITS_MAX
 * commits. A file outside of a repository, or in one that cannot be read, has none. The only error is ERR_NOMEM. */
enum { BLAME_COMMITS_MAX = 20000 };
MUST_CHECK enum err_code blame_commits_read(const char *path, int64_t since_ms,
                                            struct blame_commits *out, struct err *e);
void blame_commits_fini(struct blame_commits *c);
/* The first commit that is not older than the edit; NULL if the file was not committed since. */
const struct blame_commit *blame_commits_after(const struct blame_commits *c, int64_t time_ms);

/* The first line of a prompt that is not blank. */
struct slice blame_first_line(struct slice prompt);

#endif
