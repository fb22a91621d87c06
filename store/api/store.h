#ifndef STORE_API_STORE_H
#define STORE_API_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/checkpoint.h"
#include "store/api/env.h"
#include "store/api/finding.h"
#include "store/api/restore.h"
#include "store/api/session.h"
#include "store/api/transcript.h"

struct change;      /* store/journal/change.h */
struct rewind_plan; /* store/rewind/plan/rewind.h */
struct host_create; /* store/api/host.h, as all of host_* */
struct host_created;
struct host_append;
struct host_appended;
struct host_checkpoint;
struct host_checkpointed;
struct host_setting;

/* One interface over every system that keeps sessions on disk.
 *
 * A store is one opened place that holds sessions of one system. All calls on it are const in effect:
 * several threads may describe and load from one store at once. What reads writes nothing. Changes are planned here
 * and done by store/journal/ and store/rewind/; only the last members, for hosts, write at once.
 *
 * The order of calls: open -> enumerate -> describe (any number, any thread) -> tail, load, messages,
 * restore -> close. Rows and transcripts do not outlive their store.
 *
 * What a call fills in is the caller's, to be ended by the function that the struct's header names for it
 * (transcript_free, transcript_blocks_fini, restore_fini, rewind_plan_fini, ...); after a failure there is nothing new to end. */

/* Called once per session, in no order; the ref and its texts are valid during the call only. Return false
 * to stop. */
typedef bool session_ref_fn(const struct session_ref *ref, void *arg);
/* Called for each place that cannot be read; the error is valid during the call. */
typedef void trouble_fn(const struct err *trouble, void *arg);

/* Called with one complete message as a JSON object, valid during the call. A non-zero code ends the walk and is
 * returned. */
typedef enum err_code json_fn(struct slice json, void *arg, struct err *e);

/* One per on-disk system. A member marked optional may be NULL, and NULL is the only way to say "cannot":
 * there is no second list of capabilities to fall out of step.
 *
 * A host adds a store of its own by filling in one of these: name, open, close, enumerate, describe, find, tail,
 * load, blocks and messages are needed, the rest is as much as it can. Where nothing lies on a disk a ref's path is
 * whatever the store itself understands. The calls in store/host/, store/query/listing.h and store/query/resolve.h work over any
 * struct store; a list of systems that also opens it by name is the host's own. */
struct store_ops {
    const char *name; /* "claude" */
    /* below a store's path: where folders with sessions appear, to be watched; NULL: in the path itself */
    const char *folders;
    /* sessions of one moment are listed by id upwards; else downwards (claude.md 2.6) */
    bool ties_upwards;

    /* Plans say themselves which other session changed a file since (rewind_target.other); else store/rewind/plan/plan.h
     * asks the checkpoints of the others. */
    bool names_others;

    /* Opens a store at a path (a configuration directory, a repository, ...). ERR_NOT_FOUND is a normal
     * answer. Creates nothing. path NULL: where the environment says it lies by default. */
    enum err_code (*open)(const struct store_env *env, const char *path, struct store **out,
                          struct err *e);
    void (*close)(struct store *st);

    /* Names, sizes and mtimes only: opens no transcript (but for the proof that claude.md 1.2 asks of very
     * long paths). A folder that cannot be read is left out. */
    enum err_code (*enumerate)(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e);
    /* Optional. Names the folders of the scope that enumerate leaves out because they cannot be read. One that is
     * not there is none of them. */
    enum err_code (*unreadable)(const struct store *st, const struct scope *scope, trouble_fn *fn,
                                void *arg, struct err *e);
    /* The lite read of one session: at most two windows of it are read. A session that is not to be
     * listed is not an error: row->hidden says why, and but for HIDDEN_EMPTY, _SIDECHAIN and _UNREADABLE
     * the row is filled all the same. What was in row is forgotten (so ref must not be row->ref).
     * ERR_NOT_FOUND: the file is gone. */
    enum err_code (*describe)(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row,
                              struct err *e);
    /* Optional. Completes a described row with what only a look through the whole file shows: a title or tag between
     * the windows. For rows that want one (session_wants_title), in the background; *found: the row got something. */
    enum err_code (*deep)(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct session_row *row, bool *found,
                          struct err *e);
    /* The session with exactly this id, as the system itself would look it up in the scope; *ref lives in
     * the arena. ERR_USAGE when this cannot be an id of the system. */
    enum err_code (*find)(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e);

    /* Optional. As find answers each of many ids, in less time than asking for one after the other; those that it
     * does not find, or that are no ids, keep ref[i].store NULL. The refs are the caller's, all zero. */
    enum err_code (*find_many)(const struct store *st, const struct scope *scope,
                               const struct slice *id, size_t n, struct arena *a,
                               struct session_ref *ref, struct err *e);

    /* Optional. The session whose transcript or directory lies at an absolute path, wherever that is; *ref
     * lives in the arena. ERR_NOT_FOUND: nothing of this system is there. */
    enum err_code (*at_path)(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e);

    /* The end of the conversation, read from the last `bytes` of the file. */
    enum err_code (*tail)(const struct store *st, const struct session_ref *ref, size_t bytes,
                          struct transcript **out, struct err *e);
    /* The whole conversation, through the line index. */
    enum err_code (*load)(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e);
    /* Optional, together. What leaves that conversation, the newest first; and one of them read like it, to its last
     * message. ERR_NOT_FOUND: there is no such message. */
    enum err_code (*branches)(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, struct branch_list *out, struct err *e);
    enum err_code (*load_branch)(const struct store *st, const struct session_ref *ref,
                                 struct id128 leaf, const atomic_bool *cancel,
                                 struct transcript **out, struct err *e);
    /* Takes one row's bytes apart for a reader. */
    enum err_code (*blocks)(const struct store *st, struct slice row, struct block_list *out,
                            struct err *e);

    /* The conversation that a resume would restore, oldest first, in the words of CLI.md `messages`; what the agent only
     * makes up when it loads is left to `restore`. */
    enum err_code (*messages)(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e);
    /* Optional. Ids of the sub-agents, each in the arena. */
    enum err_code (*subagents)(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e);
    /* Optional. The same sub-agents, with what is known about each of them. Reads a bounded part of each. */
    enum err_code (*describe_subagents)(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct subagent_list *out,
                                        struct err *e);
    /* Optional. A sub-agent's transcript as a session of its own, for tail, load and blocks. */
    enum err_code (*subagent)(const struct store *st, const struct session_ref *ref,
                              struct slice agent, struct arena *a, struct session_ref *out,
                              struct err *e);
    /* Optional. Everything a host needs to go on (store/api/restore.h). at may be empty. */
    enum err_code (*restore)(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e);

    /* Optional. Plans putting the session's transcript where its agent looks for it (store/api/restore.h), for systems that
     * keep it elsewhere. ERR_NOT_FOUND: no such checkpoint, or none that keeps one. */
    enum err_code (*retrieve)(const struct store *st, const struct session_ref *ref,
                              const struct retrieve_request *req, struct change *c,
                              struct retrieved *out, struct err *e);
    /* Optional. Who goes on with the session, as the configuration names it ("claude"): for systems that hold sessions of
     * several agents. NULL: not known. Static text. */
    const char *(*agent)(const struct store *st, const struct session_ref *ref);
    /* Optional. The variable by which the agent finds this store; *name NULL: it looks there by itself, *value NULL: the
     * variable has to be unset. Both static or as long as the store. */
    enum err_code (*agent_variable)(const struct store *st, const char **name, const char **value,
                                    struct err *e);

    /* Changes: all optional. Each plans: it adds steps to the change (store/journal/change.h) and does nothing
     * itself, so that the same plan can be shown, done and taken back. Texts are WTF-8. */

    /* ERR_USAGE for a title of nothing but blanks. */
    enum err_code (*rename)(const struct store *st, const struct session_ref *ref,
                            struct slice title, struct change *c, struct err *e);
    /* tag empty with clear set: no tag any more. ERR_USAGE for a tag of which nothing is left once cleaned. */
    enum err_code (*tag)(const struct store *st, const struct session_ref *ref, struct slice tag,
                         bool clear, struct change *c, struct err *e);
    enum err_code (*archive)(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, bool archived, struct change *c,
                             struct err *e);
    /* The session will be continued after this message; empty: with an empty conversation. ERR_NOT_FOUND: no
     * such message. */
    enum err_code (*resume_at)(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e);
    /* A new session with ids of its own, a copy of this one or of its beginning. The copy is made here, apart; the
     * change gives it its place, and taking the change back takes it away again. A plan that is not carried out is
     * to be dropped (change_discard_fork). ERR_NOT_FOUND: no such message, or none at all. */
    enum err_code (*fork)(const struct store *st, const struct session_ref *ref,
                          const struct fork_request *req, struct change *c, struct fork_result *out,
                          struct err *e);
    /* The message no longer counts: its row is blanked where it lies, beside a live writer too. cut: taken out of
     * the file as the system itself would, which only works while nobody has the session open. What followed it
     * hangs on a missing row from then on, and readers bridge that. ERR_NOT_FOUND: no such message. */
    enum err_code (*tombstone)(const struct store *st, const struct session_ref *ref,
                               struct slice message, bool cut, struct change *c, struct err *e);
    /* Moves the metadata that listings live on back to where they look. *appended may be 0: nothing to do. */
    enum err_code (*reappend)(const struct store *st, const struct session_ref *ref,
                              struct change *c, size_t *appended, struct err *e);
    /* Every file and directory that is this session's, the transcript first; absolute, in the arena. all:
     * also what the system's own delete leaves behind. None: this one cannot be deleted. */
    enum err_code (*parts)(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e);

    /* Optional, with parts: the refs that go with them, in the arena. A session without parts cannot be deleted, and
     * out->stays says why. */
    enum err_code (*owned_refs)(const struct store *st, const struct session_ref *ref,
                                struct arena *a, struct owned_refs *out, struct err *e);

    /* Optional. The directory of the saved copies of a session's files, which the system's own cleanup removes without
     * the session; absolute, in the arena. It need not exist. */
    enum err_code (*copies)(const struct store *st, const struct session_ref *ref, struct arena *a,
                            const char **dir, struct err *e);

    /* Optional. Reports whether a program is writing to the session. Called before anything that needs it quiet. */
    enum err_code (*live)(const struct store *st, const struct session_ref *ref, struct live *out,
                          struct err *e);
    /* Optional. The same for many sessions; what does not depend on the session is read once. */
    enum err_code (*live_many)(const struct store *st, const struct session_ref *const ref[],
                               size_t n, struct live out[], struct err *e);

    /* Looking for damage: optional. Hands over what is wrong with a session, in no order, and changes nothing. An
     * error: the session cannot be read at all. */
    enum err_code (*check)(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e);
    /* The same for what lies in the scope's folders and belongs to no session. */
    enum err_code (*check_store)(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e);
    /* Optional. What sessions of the scope left behind whose transcripts are gone (store/api/finding.h); of every project
     * also what nothing but an id belongs to. ERR_IO: somewhere one cannot look, so none can be said to be gone. */
    enum err_code (*leftovers)(const struct store *st, const struct scope *scope, leftover_fn *fn,
                               void *arg, struct err *e);

    /* Going back: optional. The points of the session, oldest first. */
    enum err_code (*checkpoints)(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e);
    /* Optional. Completes points, which checkpoints gave, with the lines that each turn added and removed. That takes its
     * time: in the background. */
    enum err_code (*count_lines)(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e);
    /* What each file was at a point (an id, or its unique beginning), for the engine in store/rewind/. ERR_NOT_FOUND:
     * this is no point one can go back to. */
    enum err_code (*plan)(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e);
    /* For systems whose points lie behind their turns (checkpoint.after): what the point's turn found of each file that it
     * changed, and in `last` what it left. */
    enum err_code (*plan_turn)(const struct store *st, const struct session_ref *ref,
                               struct slice point, struct rewind_plan *out, struct err *e);
    /* Optional. The same where plan goes back further than to the point, because the system keeps no better record: what
     * each file was at the point itself, as far as the conversation lets one infer it. Said so in the plan's notes. */
    enum err_code (*plan_inferred)(const struct store *st, const struct session_ref *ref,
                                   struct slice point, struct rewind_plan *out, struct err *e);
    /* Optional. The same by the system's own rule of which files go, where ours is kinder (Entire's removes what git
     * ignores, too, and keeps what HEAD has). */
    enum err_code (*plan_own)(const struct store *st, const struct session_ref *ref,
                              struct slice point, struct rewind_plan *out, struct err *e);
    /* Optional. The conversation's part of going back: fills talk (and, of a plan without files, the whole id of the
     * point and its time) so that the conversation ends before the message of the point. What is done is told in steps
     * (store/journal/step.h), as every change is: a log that ends in fewer bytes is a TAIL from that offset on with no
     * bytes and the rest as old, a document with other bytes is a PUT. Nothing is done here. ERR_NOT_FOUND: no such
     * message in the conversation as it stands. */
    enum err_code (*plan_conversation)(const struct store *st, const struct session_ref *ref,
                                       struct slice point, struct rewind_plan *plan, struct err *e);

    /* Optional. Lets the system's own git refs go back with the files of a plan: adds steps to its talk, which is CONVERSATION_REFS
     * where the conversation stays. ERR_UNSUPPORTED: no ref of the point can. */
    enum err_code (*plan_refs)(const struct store *st, const struct session_ref *ref,
                               struct rewind_plan *plan, struct err *e);

    /* Optional. Why a member above is NULL, or a row without it, by its ability (enum session_can): in the system's own
     * words, for a person. A literal; NULL: nothing to add. Asked through store_unsupported_reason(). */
    const char *(*unsupported)(unsigned ability);

    /* Optional. The id by which the session's agent knows it, where that is not its own; a part of it. */
    struct slice (*agent_id)(struct slice id);

    /* Writing, for hosts: all optional. Called through store/api/host.h, which says what they do and has checked
     * what does not depend on the system; each does its work at once. */
    enum err_code (*make)(const struct store_env *env, const char *path, struct err *e);
    enum err_code (*create)(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e);
    enum err_code (*append)(const struct store *st, const struct session_ref *ref,
                            const struct host_append *req, struct arena *a,
                            struct host_appended *out, struct err *e);
    enum err_code (*checkpoint)(const struct store *st, const struct session_ref *ref,
                                const struct host_checkpoint *req, struct arena *a,
                                struct host_checkpointed *out, struct err *e);
    enum err_code (*set)(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e);
};

/* Systems embed this as their first member named base. */
struct store {
    const struct store_ops *ops;
    const struct store_env *env; /* borrowed */
    char *path;                  /* absolute; owned by the system, freed in its close */
};

/* All systems, NULL-terminated, in the order in which they are asked: store/systems/registry.c. */
extern const struct store_ops *const store_systems[];
const struct store_ops *store_system(struct slice name); /* NULL: no such system */
void store_close(struct store *st);                      /* NULL is fine */

/* Why a system has no member for an ability (one bit of enum session_can), in its own words: the same on the screen and
 * in a command's error. A literal; NULL if the system adds nothing to the fact. */
const char *store_unsupported_reason(const struct store_ops *ops, unsigned ability);
/* ERR_UNSUPPORTED for a session: what was wanted ("rename"), and the reason. */
MUST_CHECK enum err_code store_unsupported_error(const struct session_ref *ref, unsigned ability,
                                                 const char *what, struct err *e);

#endif
