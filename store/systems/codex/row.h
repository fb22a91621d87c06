#ifndef STORE_SYSTEMS_CODEX_ROW_H
#define STORE_SYSTEMS_CODEX_ROW_H

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "store/log/logfile.h"

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
    CODEX_CALL, /* of a tool, by the model */
    CODEX_RESULT,
    CODEX_CHANGE,   /* files were changed by a patch */
    CODEX_COMMAND,  /* a command was run */
    CODEX_SUMMARY,  /* the conversation was compacted */
    CODEX_TASK,     /* an agent writes to another */
    CODEX_NOTE,     /* an error, an aborted turn */
    CODEX_ROLLBACK, /* the last turns no longer count */
    CODEX_TOKENS,   /* of one answer of the model */
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

#endif
