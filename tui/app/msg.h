#ifndef TUI_APP_MSG_H
#define TUI_APP_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/transcript.h"
#include "store/blame/compare.h"
#include "store/maintenance/project_find.h"
#include "store/maintenance/sweep.h"
#include "store/maintenance/trash.h"
#include "store/proc/terminal.h"
#include "store/rewind/plan/turn_files.h"
#include "tui/app/key.h"
#include "tui/data/blame_rows.h"
#include "tui/data/board_rows.h"
#include "tui/data/change_request.h"
#include "tui/data/conversation.h"
#include "tui/data/findings.h"
#include "tui/data/log_rows.h"
#include "tui/data/preview.h"
#include "tui/data/ref_list.h"
#include "tui/data/search_hits.h"
#include "tui/data/usage_groups.h"

/* Where a session could be resumed. NUL-terminated, owned. The first choice that exists is the
 * session's own directory unless `missing`. */
struct resume_dirs {
    bool missing;        /* the session's directory is gone */
    bool only_moved;     /* the agent finds the session nowhere else than where its project is */
    char *session_dir;   /* as recorded in the session; NULL if it is not recorded */
    char *main_worktree; /* the main work tree of its repository; NULL: none, or this one */
    char *present_dir;   /* where reprise was started */
    struct project_places places; /* where the session's directory may be now */
};

void msg_resume_dirs_free(struct resume_dirs *p);

/* The events that the screen reacts to. update() is the only reader.
 *
 * Ownership: update() takes over everything that a message points to, even if the message is late
 * and dropped; only `paste` and the text of a notice are borrowed for the call. A message that is
 * never delivered is freed with msg_fini.
 *
 * An answer has the generation of the effect that requested it. If no view waits for it any more,
 * update() drops it; the sender need not know this. */
enum msg_kind {
    MSG_TICK, /* only the time; sent when model_wake_ms is reached */
    MSG_KEY,
    MSG_PASTE,
    MSG_MOUSE,
    MSG_RESIZE,        /* also the very first message */
    MSG_CONTINUE,      /* back from suspension or from the editor */
    MSG_FILES_CHANGED, /* something under the listed folders appeared, grew or vanished */
    MSG_SILENCE,       /* a server has not answered for a second, or answers again */
    MSG_NOTICE, /* the result of an effect that has no other answer: copied, printed, opened */

    MSG_SESSIONS,  /* EFFECT_LIST: a batch of sessions; the first one early, with few */
    MSG_LISTED,    /* EFFECT_LIST: that was the last batch */
    MSG_DESCRIBED, /* EFFECT_DESCRIBE: all its rows, or some of them; each is answered once */
    MSG_DISK_USAGE, /* EFFECT_DISK_USAGE: all its rows, or some; each is answered once, with bytes and no row */
    MSG_FULL_SCAN,       /* EFFECT_FULL_SCAN: the same, with a row only where something was found */
    MSG_TRANSCRIPT,      /* EFFECT_TAIL, EFFECT_LOAD */
    MSG_PASSAGES,        /* EFFECT_READ: all requested rows, or the first of them */
    MSG_FOUND,           /* EFFECT_SEARCH: hits in order; the last message is marked `done` */
    MSG_CONTENT,         /* EFFECT_GREP: some sessions; the last message is marked `done` */
    MSG_USAGE,           /* EFFECT_USAGE */
    MSG_SUBAGENTS,       /* EFFECT_SUBAGENTS */
    MSG_BRANCHES,        /* EFFECT_BRANCHES */
    MSG_TERMINAL,        /* EFFECT_TERMINAL */
    MSG_RESUME_DIRS,     /* EFFECT_RESUME_DIRS */
    MSG_CHECKPOINTS,     /* EFFECT_CHECKPOINTS, EFFECT_TURN_LINES */
    MSG_PREVIEW,         /* EFFECT_PREVIEW */
    MSG_COMPARISON,      /* EFFECT_COMPARE */
    MSG_TURN_FILES,      /* EFFECT_TURN_FILES */
    MSG_TURN_FILE,       /* EFFECT_TURN_FILE */
    MSG_REWIND_DONE,     /* EFFECT_REWIND, EFFECT_UNDO_REWIND */
    MSG_BLAME,           /* EFFECT_BLAME */
    MSG_BISECT_OUTPUT,   /* EFFECT_BISECT: what the command writes, and the verdicts */
    MSG_BISECTED,        /* EFFECT_BISECT: the id of the turn that was found, if one was */
    MSG_DELETE_ESTIMATE, /* EFFECT_ESTIMATE_DELETE */
    MSG_SWEEP,           /* EFFECT_SWEEP */
    MSG_TRASH,           /* EFFECT_TRASH */
    MSG_LOG,             /* EFFECT_LOG */
    MSG_BOARD,           /* EFFECT_BOARD */
    MSG_USAGE_GROUPS,    /* EFFECT_USAGE_GROUPS */
    MSG_COMPARED,        /* EFFECT_COMPARE_SESSIONS */
    MSG_FINDINGS,        /* EFFECT_CHECK_SESSION, EFFECT_CHECK_STORE */
    MSG_CHANGED,         /* EFFECT_CHANGE: done, or the reason why not */
    MSG_EXPORTED,        /* EFFECT_EXPORT: the file was written */
    MSG_PROGRESS,        /* any long question: at most ten per second */
    MSG_FAILED,          /* any question: it will not be answered */
};

struct msg {
    enum msg_kind kind;
    unsigned generation; /* the generation of the answered effect; 0: no effect */
    int64_t now_ms;      /* when it happened; set in every message */
    union {
        struct key key;
        struct slice paste; /* borrowed */
        struct buf text;    /* BISECT_OUTPUT, BISECTED */
        struct mouse mouse;
        struct {
            int rows, cols;
        } size;
        struct {
            bool error;        /* stays until read */
            struct slice text; /* borrowed */
        } notice;
        bool logged;        /* FILES_CHANGED: perhaps by reprise itself, in another terminal */
        const char *silent; /* the name of its store, a static text; NULL: all answer */
        struct ref_list *sessions;
        struct {
            struct problem_list *problems; /* NULL: none */
            size_t worktrees; /* other worktrees of the repository that were searched */
        } listed;
        struct described_list *described;
        struct conversation *conversation; /* one hold is handed over */
        struct passage_list *passages;
        struct search_hits *found;
        struct content_hits *content;
        struct conversation_usage *token_usage;
        struct subagent_list *subagents;
        struct branch_list *branches;
        struct agent_terminal terminal;
        struct resume_dirs *place;
        struct checkpoint_list *checkpoints;
        struct preview *preview; /* one hold is handed over */
        struct comparison *comparison;
        struct turn_files *turn_files;
        struct {
            struct buf text; /* owned */
            const char *why; /* why it is not shown, a static text; NULL: it is */
        } turn_file;
        struct rewind_summary rewind_summary;
        struct blame_rows *blame;
        struct delete_estimate usage;
        struct sweep *sweep;
        struct {
            struct trash_list *list;
            /* sessions that can be read where they are now, by their place in the list */
            struct ref_list *refs;
        } trash;
        struct log_rows *log;
        struct board_rows *board;
        struct usage_groups *usage_groups;
        struct compared_sessions *compared;
        struct findings *findings;
        struct change_result *changed;
        struct {
            int64_t bytes;
            size_t secrets, unread; /* replaced; sub-agents that could not be read */
            size_t files, failed; /* the files of several sessions, and how many sessions failed */
        } exported;
        struct {
            int64_t done, total; /* bytes or things; total 0: not known */
        } progress;
        struct err error;
    } u;
};

/* Returns true if the message answers the question of generation `asked` (0: nothing was asked),
 * either with the wanted kind or with MSG_FAILED. */
bool msg_answers(const struct msg *m, unsigned asked, enum msg_kind kind);
/* Frees what an undelivered message contains. */
void msg_fini(struct msg *m);

#endif
