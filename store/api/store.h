#ifndef STORE_API_STORE_H
#define STORE_API_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/agent_hooks.h"
#include "store/api/checkpoint.h"
#include "store/api/env.h"
#include "store/api/finding.h"
#include "store/api/restore.h"
#include "store/api/session.h"
#include "store/api/transcript.h"
#include "store/api/usage.h"

struct change;      /* store/journal/change.h */
struct rewind_plan; /* store/rewind/plan/rewind.h */
struct edit;        /* store/api/edit.h */
struct edit_query;
struct host_create; /* store/api/host.h, as all of host_* */
struct host_created;
struct host_append;
struct host_appended;
struct host_checkpoint;
struct host_checkpointed;
struct host_setting;

/* One interface over every system that keeps sessions on disk.
 *
 * A store is one opened place that holds sessions of one system. All calls on it are const in effect: several threads
 * may describe and load from one store at once. Reading calls write nothing. Changes are planned here and done by
 * store/journal/ and store/rewind/; only the last members, for hosts, write at once.
 *
 * The order of calls: open -> enumerate -> describe (any number, any thread) -> tail, load, messages, restore ->
 * close. Rows and transcripts do not outlive their store.
 *
 * The caller owns the struct that a call fills in, and releases it with the function that the struct's header names
 * for it (transcript_free, transcript_blocks_fini, restore_fini, rewind_plan_fini, ...). After a failure there is
 * nothing to release. */

/* Called once per session, in no order; the ref and its texts are valid during the call only. Return false to stop. */
typedef bool session_ref_fn(const struct session_ref *ref, void *arg);
/* Called for each place or session that cannot be read and is skipped; the error is valid during the call. */
typedef void unreadable_fn(const struct err *why, void *arg);
/* Called with one complete message as a JSON object, valid during the call. A code ends the walk and is returned. */
typedef enum err_code json_fn(struct slice json, void *arg, struct err *e);

/* ---- the members of struct store_ops ---- */

/* Opens a store at a path (a configuration directory, a repository, ...). ERR_NOT_FOUND is a normal result. Creates
 * nothing. path NULL: the default place according to the environment. */
typedef enum err_code store_open_fn(const struct store_env *env, const char *path,
                                    struct store **out, struct err *e);
typedef void store_close_fn(struct store *st);

/* Names, sizes and mtimes only: opens a transcript only to prove a very long path (claude.md 1.2). A folder that cannot
 * be read is left out. */
typedef enum err_code store_enumerate_fn(const struct store *st, const struct scope *scope,
                                         session_ref_fn *fn, void *arg, struct err *e);

/* Optional. Names the folders that enumerate leaves out because they cannot be read, but not those that do not exist. */
typedef enum err_code store_unreadable_fn(const struct store *st, const struct scope *scope,
                                          unreadable_fn *fn, void *arg, struct err *e);

/* The lite read of one session: at most two windows of it are read. A session that is not to be listed is not an error:
 * row->hidden contains the reason, and the row is still filled in, except for HIDDEN_EMPTY, _SIDECHAIN and _UNREADABLE.
 * The previous contents of the row are discarded (so ref must not be row->ref). ERR_NOT_FOUND: the file is gone. */
typedef enum err_code store_describe_fn(const struct store *st, const struct scope *scope,
                                        const struct session_ref *ref, struct session_row *row,
                                        struct err *e);

/* Optional. Completes a described row with what only a scan of the whole file finds: a title or tag between the windows.
 * Called in the background for rows that need it (session_wants_title). *found: the row was completed. */
typedef enum err_code store_full_scan_fn(const struct store *st, const struct session_ref *ref,
                                         const atomic_bool *cancel, struct session_row *row,
                                         bool *found, struct err *e);

/* The session with exactly this id, as the system itself would look it up in the scope; *ref is in the arena. ERR_USAGE
 * if the id is not valid in this system. */
typedef enum err_code store_find_fn(const struct store *st, const struct scope *scope,
                                    struct slice id, struct arena *a, struct session_ref *ref,
                                    struct err *e);

/* Optional, for systems in which several folders may have a session with the same id: delivers all of them as enumerate
 * does. NULL: find finds the only one. */
typedef enum err_code store_find_each_fn(const struct store *st, const struct scope *scope,
                                         struct slice id, session_ref_fn *fn, void *arg,
                                         struct err *e);

/* Optional. Finds many ids as find does, but faster than one call for each. For ids that are not found, are not ids of the
 * system, or are in several folders, ref[i].store stays NULL. The refs are the caller's, all zero. */
typedef enum err_code store_find_many_fn(const struct store *st, const struct scope *scope,
                                         const struct slice *id, size_t n, struct arena *a,
                                         struct session_ref *ref, struct err *e);

/* Optional. The session with its transcript or directory at an absolute path, wherever that is;
 * *ref is in the arena. ERR_NOT_FOUND: nothing of this system is there. */
typedef enum err_code store_at_path_fn(const struct store *st, struct slice path, struct arena *a,
                                       struct session_ref *ref, struct err *e);

/* Optional. What else the system records about the session (store/api/session.h). May read more than describe does. */
typedef enum err_code store_facts_fn(const struct store *st, const struct session_ref *ref,
                                     struct session_facts *out, struct err *e);

/* The end of the conversation, read from the last `bytes` of the file. ERR_CANCELLED if the flag (which may be NULL) is
 * raised during a wait for a server. */
typedef enum err_code store_tail_fn(const struct store *st, const struct session_ref *ref,
                                    size_t bytes, const atomic_bool *cancel,
                                    struct transcript **out, struct err *e);

/* Optional, for stores on a server. Like tail, for the row of the conversation with this id, about `bytes` before it
 * and some after it. ERR_NOT_FOUND: no row has the id. */
typedef enum err_code store_around_fn(const struct store *st, const struct session_ref *ref,
                                      struct slice id, size_t bytes, const atomic_bool *cancel,
                                      struct transcript **out, struct err *e);

/* The whole conversation, through the line index. */
typedef enum err_code store_load_fn(const struct store *st, const struct session_ref *ref,
                                    const atomic_bool *cancel, struct transcript **out,
                                    struct err *e);

/* Optional, together. The branches that leave that conversation, newest first; and one branch,
 * read like the conversation, up to its last message. ERR_NOT_FOUND: no such message. */
typedef enum err_code store_branches_fn(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct branch_list *out,
                                        struct err *e);
typedef enum err_code store_load_branch_fn(const struct store *st, const struct session_ref *ref,
                                           struct id128 leaf, const atomic_bool *cancel,
                                           struct transcript **out, struct err *e);

/* Splits one row into blocks for a reader. */
typedef enum err_code store_blocks_fn(const struct store *st, struct slice row,
                                      struct block_list *out, struct err *e);

/* Optional. The texts that `blocks` would find in a row, without decoding them: for a search that only counts. Returns
 * false if the row has to be decoded, because it is not valid JSON or has an unusual form. */
typedef bool store_raw_texts_fn(struct slice row, struct raw_texts *out);

/* The conversation that a resume would restore, oldest first, one JSON object for each message.
 * Messages that the agent adds when it loads a session are left to `restore`. */
typedef enum err_code store_messages_fn(const struct store *st, const struct session_ref *ref,
                                        const struct message_query *q, json_fn *fn, void *arg,
                                        struct err *e);

/* Optional. Ids of the sub-agents, each in the arena. */
typedef enum err_code store_subagents_fn(const struct store *st, const struct session_ref *ref,
                                         struct arena *a, struct slice **ids, size_t *n,
                                         struct err *e);

/* Optional. The same sub-agents, described. Reads a bounded part of each. */
typedef enum err_code store_describe_subagents_fn(const struct store *st,
                                                  const struct session_ref *ref,
                                                  const atomic_bool *cancel,
                                                  struct subagent_list *out, struct err *e);

/* Optional. A sub-agent's transcript as a session of its own, for tail, load and blocks. */
typedef enum err_code store_subagent_fn(const struct store *st, const struct session_ref *ref,
                                        struct slice agent, struct arena *a,
                                        struct session_ref *out, struct err *e);

/* Optional. The tokens that the session's transcripts record (store/api/usage.h), in no order: those of its
 * conversation with all branches, and of its sub-agents. One record for each answer of a model; the rows of one answer,
 * or copies of it, may be reported several times with the same `answer` and `request`, because the reader counts them
 * once. Reads whole files; ERR_CANCELLED if the flag is raised (it may be NULL). A sub-agent that cannot be read is
 * left out. NULL: the system's transcripts record no tokens. */
typedef enum err_code store_usage_fn(const struct store *st, const struct session_ref *ref,
                                     const atomic_bool *cancel, usage_fn *fn, void *arg,
                                     struct err *e);

/* Optional. Everything a host needs to continue (store/api/restore.h). at may be empty. */
typedef enum err_code store_restore_fn(const struct store *st, const struct session_ref *ref,
                                       struct slice at, struct restore *out, struct err *e);

/* Optional. Plans to put the session's transcript where its agent looks for it (store/api/restore.h), for systems that
 * keep it elsewhere. ERR_NOT_FOUND: no such checkpoint, or none that keeps a transcript. */
typedef enum err_code store_retrieve_fn(const struct store *st, const struct session_ref *ref,
                                        const struct retrieve_request *req, struct change *c,
                                        struct retrieved *out, struct err *e);

/* Optional. The agent that continues the session, as the configuration names it ("claude"): for
 * systems that hold sessions of several agents. NULL: not known. Static text. */
typedef const char *store_agent_fn(const struct store *st, const struct session_ref *ref);

/* Optional. The variable by which the agent finds this store. *name NULL: the agent looks there by default; *value
 * NULL: the variable has to be unset. Both are static or live as long as the store. */
typedef enum err_code store_agent_variable_fn(const struct store *st, const char **name,
                                              const char **value, struct err *e);

/* Changes: all optional. Each one plans: it adds steps to the change (store/journal/change.h) and does nothing itself,
 * so that the same plan can be shown, done and undone. Texts are WTF-8. */

/* ERR_USAGE if the title is blank. */
typedef enum err_code store_rename_fn(const struct store *st, const struct session_ref *ref,
                                      struct slice title, struct change *c, struct err *e);

/* tag empty with clear set: the tag is removed. ERR_USAGE if nothing is left of the tag after it is cleaned. */
typedef enum err_code store_tag_fn(const struct store *st, const struct session_ref *ref,
                                   struct slice tag, bool clear, struct change *c, struct err *e);
typedef enum err_code store_archive_fn(const struct store *st, const struct scope *scope,
                                       const struct session_ref *ref, bool archived,
                                       struct change *c, struct err *e);

/* The session will be continued after this message; empty: with an empty conversation. ERR_NOT_FOUND: no
 * such message. */
typedef enum err_code store_resume_at_fn(const struct store *st, const struct session_ref *ref,
                                         struct slice message, struct change *c, struct err *e);

/* A new session with ids of its own, a copy of this one or of its beginning. The copy is made here, in a staging place;
 * the change moves it to its final place, and an undo removes it. A plan that is not carried out must be discarded
 * (change_discard_fork). ERR_NOT_FOUND: no such message, or no messages. */
typedef enum err_code store_fork_fn(const struct store *st, const struct session_ref *ref,
                                    const struct fork_request *req, struct change *c,
                                    struct fork_result *out, struct err *e);

/* The message no longer counts: its row is blanked in place, even while another program writes. cut: the row is removed
 * from the file as the system itself would do it, which only works while no program has the session open. The rows
 * after it then name a missing parent, and readers bridge that. ERR_NOT_FOUND: no such message. */
typedef enum err_code store_tombstone_fn(const struct store *st, const struct session_ref *ref,
                                         struct slice message, bool cut, struct change *c,
                                         struct err *e);

/* The name of the folder in which the agent looks for the sessions of a directory; .p is NULL if out of memory. */
typedef struct slice store_folder_of_fn(const struct store *st, struct slice directory,
                                        struct arena *a);
/* Plans that the session names another directory, `to`. The steps do not move its files. */
typedef enum err_code store_set_directory_fn(const struct store *st, const struct session_ref *ref,
                                             struct slice from, struct slice to, struct change *c,
                                             struct err *e);
/* Plans the mark by which the agent finds a folder that folder_of named, if neither it nor the change has one. */
typedef enum err_code store_adopt_fn(const struct store *st, struct slice folder,
                                     struct slice directory, struct change *c, struct err *e);

/* Appends the metadata that listings need again, so that it is where they look. *appended may be 0: nothing to do. */
typedef enum err_code store_reappend_fn(const struct store *st, const struct session_ref *ref,
                                        struct change *c, size_t *appended, struct err *e);

/* Every file and directory that belongs to this session, the transcript first; absolute, in the arena. all: also what
 * the system's own delete leaves behind. No parts: this session cannot be deleted. */
typedef enum err_code store_parts_fn(const struct store *st, const struct session_ref *ref,
                                     bool all, struct arena *a, const char ***part, size_t *n,
                                     struct err *e);

/* Optional, with parts: the refs that are deleted with them, in the arena. A session without
 * parts cannot be deleted, and out->stays contains the reason. */
typedef enum err_code store_owned_refs_fn(const struct store *st, const struct session_ref *ref,
                                          struct arena *a, struct owned_refs *out, struct err *e);

/* Optional. The directory of the saved copies of a session's files, which the system's own cleanup removes without
 * the session; absolute, in the arena. It need not exist. */
typedef enum err_code store_copies_fn(const struct store *st, const struct session_ref *ref,
                                      struct arena *a, const char **dir, struct err *e);

/* Optional, for stores that are not on this machine: deletes the session at once and for good, with its sub-agents. */
typedef enum err_code store_remove_fn(const struct store *st, const struct session_ref *ref,
                                      struct err *e);

/* Optional, for stores that wait for a server. While it is on, running and new calls that only read return
 * ERR_CANCELLED soon. */
typedef void store_interrupt_fn(const struct store *st, bool on);

/* Optional, for the same stores: returns true if a call has been waiting for the server for a second or more. Never
 * waits. */
typedef bool store_silent_fn(const struct store *st);

/* Optional. Reports whether a program is writing to the session. Called before every operation during which no program
 * may write. */
typedef enum err_code store_live_fn(const struct store *st, const struct session_ref *ref,
                                    struct live *out, struct err *e);

/* Optional. The same for many sessions; data that does not depend on the session is read once. */
typedef enum err_code store_live_many_fn(const struct store *st,
                                         const struct session_ref *const ref[], size_t n,
                                         struct live out[], struct err *e);

/* Optional, for agents that publish what their sessions do. Delivers what they publish (store/proc/live.h), also about
 * sessions that have no transcript yet; each entry is valid during the call. The function returns false to stop. */
struct live_entry;
typedef bool running_fn(const struct live_entry *entry, void *arg);
typedef void store_running_fn(const struct store *st, running_fn *fn, void *arg);

/* Looking for damage: optional. Reports each defect of a session, in no order, and changes nothing. An error means that
 * the session cannot be read at all. */
typedef enum err_code store_check_fn(const struct store *st, const struct session_ref *ref,
                                     const atomic_bool *cancel, finding_fn *fn, void *arg,
                                     struct err *e);

/* Optional. Adds the step that joins what FINDING_LOST_PART names; none if the conversation is whole. */
typedef enum err_code store_reconnect_fn(const struct store *st, const struct session_ref *ref,
                                         struct change *c, const atomic_bool *cancel,
                                         struct err *e);

/* Like check, for files in the scope's folders that belong to no session. */
typedef enum err_code store_check_store_fn(const struct store *st, const struct scope *scope,
                                           finding_fn *fn, void *arg, struct err *e);

/* Optional. Leftovers of sessions of the scope whose transcripts are gone; if the scope is all projects, also those that
 * only an id identifies. ERR_IO: a directory cannot be read, so it is not known which transcripts are gone. */
typedef enum err_code store_leftovers_fn(const struct store *st, const struct scope *scope,
                                         leftover_fn *fn, void *arg, struct err *e);

/* Called with one edit, valid during the call. A non-zero result ends the walk and is returned. */
typedef enum err_code edit_fn(const struct edit *edit, void *arg, struct err *e);

/* Optional. What the session and its sub-agents did to files (store/api/edit.h): the edits of each transcript in its
 * order. A system whose tool calls have the usual forms uses tool_edits_loaded
 * (store/systems/common/edits/tool_edits.h). */
typedef enum err_code store_edits_fn(const struct store *st, const struct session_ref *ref,
                                     const struct edit_query *q, edit_fn *fn, void *arg,
                                     struct err *e);

/* Rewind: optional. The points of the session, oldest first. */
typedef enum err_code store_checkpoints_fn(const struct store *st, const struct session_ref *ref,
                                           struct checkpoint_list *out, struct err *e);

/* Optional. Finds checkpoints by a user's commit in any form that git accepts, or by the id of a checkpoint or its
 * unique beginning, each with all commits that name it. ERR_NOT_FOUND: no such commit or checkpoint, or the commit
 * names none. */
typedef enum err_code store_origins_fn(const struct store *st, struct slice name,
                                       struct checkpoint_origins *out, struct err *e);

/* Optional. Completes points that checkpoints returned with the number of lines that each turn
 * added and removed. This is slow and runs in the background. */
typedef enum err_code store_count_lines_fn(const struct store *st, const struct session_ref *ref,
                                           const atomic_bool *cancel, struct checkpoint_list *list,
                                           struct err *e);

/* The contents of each file at a point (an id, or its unique beginning), for the engine in
 * store/rewind/. ERR_NOT_FOUND: no point with this id can be restored. */
typedef enum err_code store_plan_fn(const struct store *st, const struct session_ref *ref,
                                    struct slice point, struct rewind_plan *out, struct err *e);

/* For systems whose points come after their turns (checkpoint.after): the contents of each
 * changed file before the point's turn, and in `last` those after it. */
typedef enum err_code store_plan_turn_fn(const struct store *st, const struct session_ref *ref,
                                         struct slice point, struct rewind_plan *out,
                                         struct err *e);

/* Optional. For systems whose plan goes back further than the point, because they keep no better record: the contents
 * of each file at the point itself, as far as they can be inferred from the conversation. The plan's notes mention
 * it. */
typedef enum err_code store_plan_inferred_fn(const struct store *st, const struct session_ref *ref,
                                             struct slice point, struct rewind_plan *out,
                                             struct err *e);

/* Optional. The same by the system's own rule for which files are removed, if ours is more
 * careful (Entire also removes files that git ignores, and keeps files that are in HEAD). */
typedef enum err_code store_plan_own_fn(const struct store *st, const struct session_ref *ref,
                                        struct slice point, struct rewind_plan *out, struct err *e);

/* Optional. The conversation's half of a rewind: fills plan->conversation (and, in a plan without files, the
 * whole id of the point and its time) so that the conversation ends before the message of the
 * point. The plan consists of steps (store/journal/step.h), as every change does: shortening a
 * log is a TAIL from that offset on with no bytes and the rest as old, rewriting a document is
 * a PUT. Nothing is done here. ERR_NOT_FOUND: no such message in the current conversation. */
typedef enum err_code store_plan_conversation_fn(const struct store *st,
                                                 const struct session_ref *ref, struct slice point,
                                                 struct rewind_plan *plan, struct err *e);

/* Optional. Moves the system's own git refs back with the files of a plan: adds steps to plan->conversation, which is
 * CONVERSATION_REFS if the conversation stays. ERR_UNSUPPORTED: no ref of the point can be moved. */
typedef enum err_code store_plan_refs_fn(const struct store *st, const struct session_ref *ref,
                                         struct rewind_plan *plan, struct err *e);

/* Optional. The id by which the session's agent knows it, if that differs from its id here; it is a part of `id`. */
typedef struct slice store_agent_id_fn(struct slice id);

/* Writing, for hosts: all optional. Called through store/api/host.h, which documents them and
 * checks everything that does not depend on the system; each one writes at once. */
typedef enum err_code store_make_fn(const struct store_env *env, const char *path, struct err *e);
typedef enum err_code store_create_fn(const struct store *st, const struct host_create *req,
                                      struct arena *a, struct host_created *out, struct err *e);
typedef enum err_code store_append_fn(const struct store *st, const struct session_ref *ref,
                                      const struct host_append *req, struct arena *a,
                                      struct host_appended *out, struct err *e);
typedef enum err_code store_checkpoint_fn(const struct store *st, const struct session_ref *ref,
                                          const struct host_checkpoint *req, struct arena *a,
                                          struct host_checkpointed *out, struct err *e);
typedef enum err_code store_set_fn(const struct store *st, const struct session_ref *ref,
                                   const struct host_setting *setting, size_t n, struct err *e);
/* Optional. See host_unpersisted. */
typedef const char *store_unpersisted_fn(const struct store *st);
/* Optional. What a person should know about the settings of the agent, such as a value that is not understood, and the
 * file they are in; both are valid while the store is open. NULL: nothing. */
typedef const char *store_settings_note_fn(const struct store *st, const char **path);

/* For sessions that a host keeps open (store/host/host_session.h): all optional. */

/* Returns true if this row puts a new session on disk, which it is not before. NULL: a session is on disk once it is
 * created. */
typedef bool store_begins_fn(struct slice row);
/* Checks a row that will be appended later, and adds the members that do not depend on the session: an id, and the time
 * of the call. *complete and *id (empty: no id) are in the row itself or in the arena. Does no I/O; any thread may call
 * it at any time. */
typedef enum err_code store_host_row_fn(const struct store *st, struct slice row, bool transcript,
                                        struct arena *a, struct slice *complete, struct slice *id,
                                        struct err *e);

/* The changes of a session that its agent can make with a command of its own. */
enum store_command {
    STORE_COMMAND_RENAME,
    STORE_COMMAND_ARCHIVE,
    STORE_COMMAND_UNARCHIVE,
    STORE_COMMAND_DELETE,
    STORE_COMMANDS
};

/* One per on-disk system. A member marked optional may be NULL, which is the only way to declare that the system does
 * not support it: there is no second list of capabilities that could disagree.
 *
 * A host adds a store of its own by filling in one of these: name, open, close, enumerate, describe, find, tail, load,
 * blocks and messages are required. If the store is not on a disk, a ref's path is whatever the store itself
 * understands. The calls in store/host/, store/query/listing.h and store/query/resolve.h work over any struct store; a
 * list of systems that also opens it by name is the host's own. */
struct store_ops {
    const char *name; /* "claude"; the store's own name, if it was opened with store_open_named() */
    const char *format; /* the system ("claude") of a store with a name of its own, else NULL */
    const char *label;  /* "Claude Code"; NULL: the name will do */
    /* the folder below a store's path that is watched for new folders with sessions; NULL: the path itself */
    const char *folders;
    /* the folder below a store's path in which its agents publish what they do; NULL: none */
    const char *running_folder;
    /* sessions with equal times are listed by ascending id; else descending (claude.md 2.6) */
    bool ties_ascending;
    /* Plans name the other session that changed a file since (rewind_target.other); else store/rewind/plan/plan.h
     * searches the checkpoints of other sessions. */
    bool finds_other_sessions;
    /* Checkpoints may be those of a sub-agent's task (host_checkpoint.task). */
    bool has_task_checkpoints;
    bool has_dialects;    /* host_create.dialect may be given */
    bool has_documents;   /* a session has documents besides its logs, which create makes */
    bool accepts_fork_id; /* fork_request.id may be given */
    /* Optional. The keys of a session's rows, if a ref's path that ends with ".jsonl" is a file with one row per line,
     * which a search then reads directly. NULL: a search uses load. */
    const struct index_keys *row_keys;
    /* With `check`: a ref's path is a log (store/log/log_damage.h), or one document, whose damaged lines are reported. */
    const struct log_rules *log_rules;
    bool one_document;
    bool size_unknown; /* its rows are in a database with those of others */
    bool only_read;    /* a copy, from which no agent resumes (store_ops_only_read) */
    /* The sessions are on a server. They may be copies of local sessions; both are then one session. Calls may wait for
     * the server. */
    bool remote;
    /* Optional. The command that resumes a session, unless one is configured; words as there: {id}, {cwd}, {path}. */
    const char *resume_command;
    /* The agent also accepts the path of a transcript for {id} in that command. */
    bool opens_paths;
    /* Optional. The command that opens a session with SESSION_BACKGROUND. */
    const char *attach_command;
    /* Optional: the command with which the agent forks a session itself; only printed for systems with `fork`. */
    const char *fork_command;
    /* Optional, for systems without rename, archive or parts, because the agent keeps an index elsewhere: the commands
     * with which the agent does that itself, without a terminal; words as above, and {title}. */
    const char *change_command[STORE_COMMANDS];
    /* Optional, with a command that deletes: what it removes, as parts, for copies in the trash. NULL: it is in a database. */
    store_parts_fn *deleted_parts;

    /* Optional, without parts and deleted_parts: all files of a session, as parts, for copies (store/keep/, store/bundle/).
     * NULL: they are in a database, in a repository or on a server. */
    store_parts_fn *files;
    /* Optional. Documents of several sessions that describe needs to read one: only copies of them are made. */
    store_parts_fn *shared;
    /* Optional. The form of the hooks that run `reprise snapshot` (store/snapshots/), and of the servers that it starts. */
    const struct agent_hooks *hooks;
    const char *no_hooks; /* optional, without `hooks`: why no hook of the agent can run it */
    const struct compose_ops *compose; /* optional: store/api/compose.h */
    const struct agent_mcp *mcp;

    /* Why a member below is NULL, or a row lacks an ability, for a person: read by store_unsupported_reason(). */
    const char *why[ABILITIES];

    store_open_fn *open;
    store_close_fn *close;
    store_enumerate_fn *enumerate;
    store_unreadable_fn *unreadable;
    store_describe_fn *describe;
    store_full_scan_fn *full_scan;
    store_find_fn *find;
    store_find_each_fn *find_each;
    store_find_many_fn *find_many;
    store_at_path_fn *at_path;
    store_facts_fn *facts;
    store_tail_fn *tail;
    store_around_fn *around;
    store_load_fn *load;
    /* Optional. The same rows without MESSAGE_LEFT_OUT, if that is quicker. */
    store_load_fn *load_path;
    store_branches_fn *branches;
    store_load_branch_fn *load_branch;
    store_blocks_fn *blocks;
    store_raw_texts_fn *raw_texts;
    store_messages_fn *messages;
    store_subagents_fn *subagents;
    store_describe_subagents_fn *describe_subagents;
    store_subagent_fn *subagent;
    store_usage_fn *usage;
    store_restore_fn *restore;
    store_retrieve_fn *retrieve;
    store_agent_fn *agent;
    store_agent_variable_fn *agent_variable;
    store_rename_fn *rename;
    store_tag_fn *tag;
    store_archive_fn *archive;
    store_resume_at_fn *resume_at;
    store_fork_fn *fork;
    store_tombstone_fn *tombstone;
    store_reappend_fn *reappend;
    /* Optional, together: sessions are in a folder named after their directory, and can follow it when it moved. */
    store_folder_of_fn *folder_of;
    store_set_directory_fn *set_directory;
    store_adopt_fn *adopt; /* optional: folders alone are enough */
    store_parts_fn *parts;
    store_owned_refs_fn *owned_refs;
    store_copies_fn *copies;
    store_remove_fn *remove;
    store_interrupt_fn *interrupt;
    store_silent_fn *silent;
    store_live_fn *live;
    store_live_many_fn *live_many;
    store_running_fn *running;
    store_check_fn *check;
    store_reconnect_fn *reconnect;
    store_check_store_fn *check_store;
    store_place_fn *place;
    store_leftovers_fn *leftovers;
    store_gone_fn *gone;
    store_edits_fn *edits;
    store_checkpoints_fn *checkpoints;
    store_origins_fn *origins;
    store_count_lines_fn *count_lines;
    store_plan_fn *plan;
    store_plan_turn_fn *plan_turn;
    store_plan_inferred_fn *plan_inferred;
    store_plan_own_fn *plan_own;
    store_plan_conversation_fn *plan_conversation;
    store_plan_refs_fn *plan_refs;
    store_agent_id_fn *agent_id;
    store_make_fn *make;
    store_create_fn *create;
    store_append_fn *append;
    store_checkpoint_fn *checkpoint;
    store_set_fn *set;
    store_begins_fn *begins;
    store_host_row_fn *host_row;
    /* how long the system's own agent collects rows before it writes them; 0: 100 */
    uint32_t drain_ms;
    size_t queue_rows; /* and how many may wait; 0: 4096 */
    store_unpersisted_fn *unpersisted;
    store_settings_note_fn *settings_note;
};

/* Systems embed this as their first member named base. */
struct store {
    const struct store_ops *ops;
    const struct store_env *env; /* borrowed */
    char *path;                  /* absolute; owned by the system, freed in its close */
};

/* All systems, NULL-terminated, in the order in which they are tried (store/systems/registry.c). */
extern const struct store_ops *const store_systems[];
const struct store_ops *store_system(struct slice name); /* NULL: no such system */
/* A find_each that goes through all sessions of the scope. */
store_find_each_fn store_find_each_listed;
/* Returns false if the store does not know how large the session is. */
bool store_has_size(const struct session_ref *ref);
void store_close(struct store *st); /* NULL is fine */
/* Calls ops->restore. ERR_UNSUPPORTED: the system has no such call. */
MUST_CHECK enum err_code store_restore(const struct session_ref *ref, struct slice at,
                                       struct restore *out, struct err *e);
/* Opens a store with a name of its own, which is shown wherever other stores show their system's. The arena contains
 * its table of operations and must outlive the store. */
MUST_CHECK enum err_code store_open_named(const struct store_ops *ops, const struct store_env *env,
                                          const char *path, const char *name, struct arena *a,
                                          struct store **out, struct err *e);
void store_ops_only_read(struct store_ops *ops, const char *why); /* a literal, as each reason */
bool store_changes_at_once(const struct store_ops *ops); /* for good, because it is not in files */
bool store_can_rewind(const struct store_ops *ops); /* by its own copies, or by our snapshots */
/* Which of CAN_RENAME, CAN_ARCHIVE and CAN_DELETE only the agent's own commands support. */
unsigned store_agent_abilities(const struct store_ops *ops);
/* Called after describe. With scope->all_kinds, shows a row that is hidden because it is a sub-agent's, is empty, or
 * was started by a command: `hidden` becomes `kind`. With scope->runs_agents, adds what the agent's commands can do. */
void store_admit_row(struct session_row *row, const struct scope *scope);
/* The system ("claude"), whatever the name of the store. */
const char *store_format(const struct store_ops *ops);
/* Lists everything that belongs to a session. NULL: sessions are in no files of their own. */
store_parts_fn *store_session_parts(const struct store_ops *ops);
/* Describes the sub-agents, with the system's own member or else with its others. Without any, the list is empty. */
enum err_code store_describe_subagents(const struct session_ref *ref, const atomic_bool *cancel,
                                       struct subagent_list *out, struct err *e);
/* The reason why a system has no member for an ability (one bit of enum session_can), in its own words; the screen and
 * the error of a command show the same text. A literal; NULL if the system gives no reason. */
const char *store_unsupported_reason(const struct store_ops *ops, unsigned ability);
/* Sets ERR_UNSUPPORTED for a session: what was requested ("rename"), and the reason. */
MUST_CHECK enum err_code store_unsupported_error(const struct session_ref *ref, unsigned ability,
                                                 const char *what, struct err *e);

#endif
