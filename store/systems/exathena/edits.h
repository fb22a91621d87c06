#ifndef STORE_SYSTEMS_EXATHENA_EDITS_H
#define STORE_SYSTEMS_EXATHENA_EDITS_H

#include "store/api/store.h"

/* What a log records of the changes to files: the edits of its tools and the calls of commands, with the prompts
 * between them. A tool's result may contain the file before and after the edit (`edit` always, `write` since v0.12.2,
 * with an empty text for a new file); for other edits only the path is known. */
struct exathena_prompt {
    struct slice id, text;
    size_t line;
    int64_t time_ms;
};

struct exathena_edit {
    const char *path; /* absolute, lexically clean */
    size_t line;
    int64_t at;                 /* offset of that line in the log, */
    uint32_t length;            /* and its length */
    bool known;                 /* before and after are recorded */
    struct slice before, after; /* filled in by exathena_history_read_texts */
};

struct exathena_history {
    struct arena arena; /* owns everything */
    struct exathena_prompt *prompt;
    size_t prompts;
    struct exathena_edit *edit; /* in the order of the log */
    size_t edits;
    size_t *shell; /* lines with a call of a command */
    size_t shells;
};

MUST_CHECK enum err_code exathena_history_read(const struct session_ref *ref, const char *project,
                                               struct exathena_history *out, struct err *e);
void exathena_history_fini(struct exathena_history *s);

/* Both return NULL if there is no such edit. The first one is searched from line `from` on. */
const struct exathena_edit *exathena_history_last_edit(const struct exathena_history *s,
                                                       const char *path);
const struct exathena_edit *exathena_history_first_edit(const struct exathena_history *s,
                                                        const char *path, size_t from);
/* Reads before and after of an edit that has `known` set, into the arena. ERR_STALE: the log changed since it was
 * read. */
MUST_CHECK enum err_code exathena_history_read_texts(const struct session_ref *ref,
                                                     const char *project, struct exathena_edit *w,
                                                     struct arena *a, struct err *e);

#endif
