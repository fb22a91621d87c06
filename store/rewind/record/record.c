#include "store/rewind/record/record.h"
#include "lite/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/journal/change.h"
#include "store/journal/record.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"

/* A later start executes a record, perhaps after a crash and with a newer version of the program.
 * So it is not trusted: its owner, its paths and its sizes are checked each time it is read.
 *
 *   owner -> plan -> marks: the last one that exists is the phase -> outcomes, from the commit mark
 *
 * The same tables of fields write and read a plan, and a field that older records lack is optional
 * or depends on the version. A mark that cannot be examined is an error and not a missing mark,
 * because without INTENT everything would be discarded. A lack of memory must not look like damage,
 * because a damaged record is left alone, and is never repaired. */

enum { PLAN_MAX = 256 << 20 };

/* clang-format off */
static const char *const action_names[] = {
    [REWIND_RESTORE] = "restore", [REWIND_CREATE] = "create", [REWIND_DELETE] = "delete",
};
static const char *const mark_names[] = {
    [TX_PLANNED] = "plan", [TX_INTENT] = "intent", [TX_COMMITTED] = "commit", [TX_DONE] = "done",
};
/* clang-format on */

void rewind_tx_progress(const struct rewind_tx *tx, size_t done)
{
    if (tx->progress)
        tx->progress(done, 2 * tx->n, tx->progress_arg);
}

void rewind_tx_temp_name(const struct rewind_tx *tx, size_t i, char out[64])
{
    snprintf(out, 64, ".reprise-%.32s-%zu.tmp", tx->id, i);
}

void rewind_tx_path(const char *dir, const char *name, char out[TX_PATH_MAX])
{
    snprintf(out, TX_PATH_MAX, "%s/%s", dir, name);
}

static int64_t record_ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct file_id rewind_tx_file_id(const struct stat *st)
{
    return (struct file_id){ .dev = st->st_dev,
                             .ino = st->st_ino,
                             .size = st->st_size,
                             .mtime_ns = record_ns_of(st->st_mtim),
                             .ctime_ns = record_ns_of(st->st_ctim) };
}

struct file_id rewind_tx_seen_id(const struct rewind_seen *s)
{
    return (struct file_id){ .dev = s->dev,
                             .ino = s->ino,
                             .size = s->size,
                             .mtime_ns = s->mtime_ns,
                             .ctime_ns = s->ctime_ns };
}

/* In one expression, since it does not matter which of them differs. */
bool rewind_tx_same_file(struct file_id a, struct file_id b)
{
    return ((a.dev ^ b.dev) | (a.ino ^ b.ino) | (uint64_t)(a.size ^ b.size)) == 0;
}

void rewind_tx_fini(struct rewind_tx *tx)
{
    rewind_conversation_fini(&tx->conversation);
    arena_fini(&tx->arena);
    *tx = (struct rewind_tx){ 0 };
}

enum err_code rewind_tx_open_error(const struct rewind_tx_entry *x, struct err *e)
{
    if (errno == ENOENT || errno == ELOOP || errno == ENXIO || errno == ENOTDIR)
        return err_set(e, ERR_STALE, x->path, "it changed since the preview");
    return err_sys(e, x->path, "open");
}

bool rewind_tx_has_attrs(const struct rewind_tx *tx)
{
    return tx->version >= 3;
}

bool rewind_tx_has_root(const struct rewind_tx *tx)
{
    return tx->version >= 4;
}

bool rewind_tx_is_exact(const struct rewind_tx *tx)
{
    return tx->version >= 5;
}

/* ---- the plan ---- */

/* clang-format off */
#define ENTRY(key, kind, member) RECORD_FIELD(key, kind, struct rewind_tx_entry, member)
static const struct record_field entry_fields[] = {
    ENTRY("path", RECORD_TEXT, path),           ENTRY("root", RECORD_TEXT, root),
    RECORD_ENUM("do", struct rewind_tx_entry, action, action_names),
    ENTRY("mode", RECORD_INT, mode),            ENTRY("dirs", RECORD_INT, dirs),
    ENTRY("modeOnly", RECORD_BOOL, mode_only),  ENTRY("mtime", RECORD_INT, mtime_ns),
    ENTRY("wanted", RECORD_HASH, wanted),       ENTRY("adopts", RECORD_OPTIONAL, adopts),
    ENTRY("mixed", RECORD_FLAG, mixed),         ENTRY("exists", RECORD_BOOL, seen.exists),
    ENTRY("dev", RECORD_INT, seen.dev),         ENTRY("ino", RECORD_INT, seen.ino),
    ENTRY("size", RECORD_INT, seen.size),       ENTRY("seenMtime", RECORD_INT, seen.mtime_ns),
    ENTRY("seenMode", RECORD_INT, seen.mode),   ENTRY("seen", RECORD_HASH, seen.sha256),
};
#define PLAN(key, kind, member) RECORD_FIELD(key, kind, struct rewind_tx, member)
static const struct record_field plan_fields[] = {
    PLAN("version", RECORD_INT, version),       PLAN("at", RECORD_INT, at_ms),
    PLAN("system", RECORD_TEXT, system),        PLAN("session", RECORD_TEXT, session),
    PLAN("point", RECORD_TEXT, point),          PLAN("undoes", RECORD_OPTIONAL, undoes),
    PLAN("project", RECORD_OPTIONAL, project),  PLAN("store", RECORD_OPTIONAL, store),
    PLAN("title", RECORD_OPTIONAL, title),      PLAN("stays", RECORD_FLAG, cut_short),
};
#define CONVERSATION(key, member) RECORD_FIELD(key, RECORD_INT, struct rewind_conversation, member)
static const struct record_field conversation_fields[] = {
    CONVERSATION("kept", kept), CONVERSATION("dropped", dropped), CONVERSATION("added", added),
};
#define ROOT(key, member) RECORD_FIELD(key, RECORD_INT, struct root_id, member)
static const struct record_field root_fields[] = {
    ROOT("rootDev", dev), ROOT("rootIno", ino), ROOT("rootFs", fs), ROOT("rootBorn", born_ns),
};
static const struct record_table entry_table = RECORD_TABLE(struct rewind_tx_entry, entry_fields);
static const struct record_table plan_table = RECORD_TABLE(struct rewind_tx, plan_fields);
static const struct record_table conversation_table =
    RECORD_TABLE(struct rewind_conversation, conversation_fields);
static const struct record_table root_table = RECORD_TABLE(struct root_id, root_fields);
/* clang-format on */

/* A rewind of files alone has no conversation. */
static bool put_plan(cJSON *root, const struct rewind_tx *tx, struct buf *scratch)
{
    static const struct root_id none = { 0 };
    const struct rewind_conversation *t = &tx->conversation;
    cJSON *list = cJSON_AddArrayToObject(root, "entries");

    if (!list || !record_put(root, &plan_table, tx, scratch) ||
        (t->how != CONVERSATION_NONE &&
         (!cJSON_AddStringToObject(root, "talk", rewind_conversation_name(t->how)) ||
          !record_put(root, &conversation_table, t, scratch))) ||
        !beneath_dirs_write(root, &tx->dirs, scratch) ||
        (tx->settled &&
         !record_put_list(root, "settled", &record_paths, tx->settled, tx->settled_n, scratch)) ||
        (rewind_tx_has_root(tx) &&
         !record_put(root, &root_table, tx->root_id ? tx->root_id : &none, scratch)))
        return false;
    for (size_t i = 0; i < tx->n; i++) {
        cJSON *o = cJSON_CreateObject();

        if (!cJSON_AddItemToArray(list, o) ||
            !record_put(o, &entry_table, &tx->entry[i], scratch) ||
            (rewind_tx_has_was(&tx->entry[i]) &&
             !record_json_set_attrs(o, &tx->entry[i].was, scratch)))
            return false;
    }
    return true;
}

enum err_code rewind_tx_write_plan(const struct rewind_tx *tx, struct err *e)
{
    AUTO_BUF scratch = { 0 };
    cJSON *root = cJSON_CreateObject();
    char *text = put_plan(root, tx, &scratch) ? cJSON_PrintUnformatted(root) : NULL;
    enum err_code rc =
        text ? disk_replace_file(tx->dir, "plan", slice_of(text), 0600, e) : err_nomem(e);

    cJSON_free(text);
    cJSON_Delete(root);
    return rc;
}

static bool get_plan(const cJSON *root, struct rewind_tx *tx)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "entries");
    const cJSON *how = cJSON_GetObjectItemCaseSensitive(root, "talk");
    struct rewind_conversation *t = &tx->conversation;
    struct arena *a = &tx->arena;
    struct root_id *id = arena_zalloc(a, sizeof *id);

    tx->entry = arena_zalloc(a, sizeof *tx->entry * (size_t)(cJSON_GetArraySize(list) + 1));
    if (!id || !tx->entry || !cJSON_IsArray(list) || !record_get(root, &plan_table, tx, a) ||
        tx->version < 1 || tx->version > TX_VERSION ||
        (how && (!cJSON_IsString(how) || !rewind_conversation_parse(how->valuestring, &t->how) ||
                 !record_get(root, &conversation_table, t, a))) ||
        !record_get_list(root, "settled", &record_paths, &tx->settled, &tx->settled_n, a) ||
        (rewind_tx_has_attrs(tx) && !beneath_dirs_read(root, a, &tx->dirs)) ||
        (rewind_tx_has_root(tx) && !record_get(root, &root_table, id, a)))
        return false;
    tx->root_id = id->ino ? id : NULL;
    /* Our own paths were checked when they were written; a path that was corrupted on disk must not lead to another
     * place. */
    for (const cJSON *o = list->child; o; o = o->next) {
        struct rewind_tx_entry *x = &tx->entry[tx->n++];

        if (!record_get(o, &entry_table, x, a) || pathrule_forbids(slice_of(x->path), true) ||
            !path_under(slice_of(x->path), slice_of(x->root)))
            return false;
        if (x->adopts) { /* "old/<n>.live": no other name is ever followed */
            const char *slash = strchr(x->adopts, '/');
            size_t dir = slash ? (size_t)(slash - x->adopts) : 0;

            if (!tx->undoes || (dir != 3 && dir != 4) ||
                (strncmp(x->adopts, "old", dir) != 0 && strncmp(x->adopts, "undo", dir) != 0) ||
                strcmp(slash + 1 + strspn(slash + 1, "0123456789"), ".live") != 0)
                return false;
        }
        x->root_id = tx->project && strcmp(x->root, tx->project) == 0 ? tx->root_id : NULL;
        if (rewind_tx_has_attrs(tx) && rewind_tx_has_was(x) && !record_json_attrs(o, a, &x->was))
            return false;
    }
    return rewind_tx_backup_layout(tx);
}

/* Running out of memory must not be reported as a damaged record. */
static enum err_code parse_plan(struct slice text, const char *path, struct rewind_tx *tx,
                                struct err *e)
{
    cJSON *root = cJSON_ParseWithLength(text.p, text.n);
    bool sound = get_plan(root, tx) && !rewind_tx_place_temps(tx, NULL),
         memory = !tx->arena.failed && (root || !json_valid(text));

    cJSON_Delete(root);
    if (!memory)
        return err_nomem(e);
    return sound ? ERR_OK
                 : err_set(e, ERR_FORMAT, path,
                           "the record of a rewind is damaged, or was made by a newer reprise");
}

/* ---- marks ---- */

enum err_code rewind_tx_write_mark(const struct rewind_tx *tx, const char *name, struct err *e)
{
    return disk_replace_file(tx->dir, name, SLICE(""), 0600, e);
}

bool rewind_tx_has_mark(const struct rewind_tx *tx, const char *name)
{
    char path[TX_PATH_MAX];

    rewind_tx_path(tx->dir, name, path);
    return access(path, F_OK) == 0;
}

enum err_code rewind_tx_mark(struct rewind_tx *tx, enum rewind_tx_phase phase, struct err *e)
{
    char *letters = malloc(tx->n + 1);

    if (!letters)
        return err_nomem(e);
    for (size_t i = 0; i < tx->n; i++) {
        const struct rewind_tx_entry *x = &tx->entry[i];

        letters[i] = x->outcome == REWIND_CONFLICT ? 'c' : x->unknown ? 'u' : 'd';
    }
    struct slice text = { letters, phase == TX_COMMITTED ? tx->n : 0 };
    enum err_code rc = disk_replace_file(tx->dir, mark_names[phase], text, 0600, e);

    free(letters);
    if (!rc)
        tx->phase = phase;
    return rc;
}

/* A mark that cannot be examined may exist, which is an error, because without INTENT everything would be discarded. */
static enum err_code find_mark(const char *dir, const char *name, bool *found, struct err *e)
{
    char path[TX_PATH_MAX];
    struct file f;

    *found = false;
    rewind_tx_path(dir, name, path);
    enum err_code rc = file_open(AT_FDCWD, path, 0, &f, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    *found = true;
    file_close(&f);
    return ERR_OK;
}

/* The commit mark has the outcome of each entry. */
static enum err_code read_outcomes(struct rewind_tx *tx, struct err *e)
{
    AUTO_BUF text = { 0 };
    char path[TX_PATH_MAX];

    rewind_tx_path(tx->dir, "commit", path);

    TRY(file_read_all(AT_FDCWD, path, 0, PLAN_MAX, &text, e));
    if (text.n != tx->n)
        return err_set(e, ERR_FORMAT, path, "the record of a rewind is damaged");
    for (size_t i = 0; i < tx->n; i++) {
        tx->entry[i].outcome = text.p[i] == 'c' ? REWIND_CONFLICT : REWIND_DONE;
        tx->entry[i].unknown = text.p[i] == 'u';
    }
    return ERR_OK;
}

enum err_code rewind_tx_check_own(const char *dir, struct err *e)
{
    static const char *const names[] = { "plan",      "intent", "commit", "cleaned", "done",
                                         "abandoned", "kept",   "old",    "undo",    "talk" };
    char path[TX_PATH_MAX];
    enum err_code rc = disk_check_own(dir, e);

    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++) {
        rewind_tx_path(dir, names[i], path);
        rc = disk_check_own(path, e);
        rc = rc == ERR_NOT_FOUND ? ERR_OK : rc;
    }
    return rc;
}

enum err_code rewind_tx_read(const char *dir, const char *id, struct rewind_tx *out, struct err *e)
{
    struct rewind_tx tx = { 0 };
    AUTO_BUF text = { 0 };
    bool found;

    tx.dir = arena_copy_text(&tx.arena, dir);
    tx.id = arena_copy_text(&tx.arena, id);
    const char *path = arena_format(&tx.arena, "%s/plan", dir);
    enum err_code rc = tx.arena.failed ? err_nomem(e) : rewind_tx_check_own(dir, e);

    if (rc == ERR_UNSAFE) /* treated as a damaged one */
        rc = err_set(e, ERR_FORMAT, dir, "the record of a rewind is another user's");
    if (!rc)
        rc = file_read_all(AT_FDCWD, path, 0, PLAN_MAX, &text, e);
    if (!rc)
        rc = parse_plan(buf_slice(&text), path, &tx, e);
    tx.begun = tx.n;
    for (int p = TX_PLANNED; p <= TX_DONE && !rc; p++) {
        rc = find_mark(tx.dir, mark_names[p], &found, e);
        if (!rc && found)
            tx.phase = (enum rewind_tx_phase)p;
    }
    if (!rc)
        rc = find_mark(tx.dir, "abandoned", &tx.abandoned, e);
    if (!rc && tx.phase >= TX_COMMITTED)
        rc = read_outcomes(&tx, e);
    if (rc)
        rewind_tx_fini(&tx);
    else
        *out = tx;
    return rc;
}

enum err_code rewind_tx_read_in(const char *records, const char *id, struct rewind_tx *out,
                                struct err *e)
{
    char dir[TX_PATH_MAX];

    rewind_tx_path(records, id, dir);
    return rewind_tx_read(dir, id, out, e);
}

/* The decision about the files decides the whole rewind. The change of the conversation may be refused (a program has
 * the log open, or the conversation continued), and files may not be refused once INTENT exists: so the
 * conversation's part is done before it, durably, and is undone by whoever drops the rest.
 *
 *   plan -> staged files -> talk/record -> its steps -> talk/record -> INTENT -> files -> ...
 *                           crash here: its steps are undone           | it stays
 *
 * If another program wrote to the conversation between the crash and the recovery, its old end has no place to go
 * back to. The record then becomes that of a rewind of the conversation alone: it has the old end and says what
 * happened. */

/* clang-format off */
static const char *const words[] = {
    [CONVERSATION_NONE] = "none", [CONVERSATION_TRUNCATE] = "truncate", [CONVERSATION_RESUME_AT] = "resume-at", [CONVERSATION_FORK] = "fork",
    [CONVERSATION_REFS] = "refs",
};
/* clang-format on */

bool rewind_conversation_moves(enum conversation_change how)
{
    return how != CONVERSATION_NONE && how != CONVERSATION_REFS;
}

const char *rewind_conversation_name(enum conversation_change how)
{
    return words[how];
}

bool rewind_conversation_parse(const char *word, enum conversation_change *how)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *how = (enum conversation_change)i;
            return true;
        }
    return false;
}

void rewind_conversation_fini(struct rewind_conversation *t)
{
    change_free(t->change);
    *t = (struct rewind_conversation){ 0 };
}

enum err_code rewind_tx_conversation_do(struct change_log *log, struct rewind_tx *tx, struct err *e)
{
    char dir[TX_PATH_MAX];

    rewind_tx_path(tx->dir, "talk", dir);
    return tx->conversation.change ? change_part_do(log, dir, tx->conversation.change, e) : ERR_OK;
}

enum err_code rewind_tx_conversation_undo(const struct rewind_tx *tx, enum rollback *how,
                                          struct err *e)
{
    char dir[TX_PATH_MAX];

    *how = ROLLBACK_DONE;
    rewind_tx_path(tx->dir, "talk", dir);
    return tx->conversation.how == CONVERSATION_NONE ? ERR_OK : change_part_roll_back(dir, how, e);
}

enum err_code rewind_tx_conversation_inverse(const struct rewind_tx *tx,
                                             struct rewind_conversation *out, struct err *e)
{
    char dir[TX_PATH_MAX];
    struct change *done;

    if (tx->conversation.how == CONVERSATION_NONE)
        return ERR_OK;
    rewind_tx_path(tx->dir, "talk", dir);
    TRY(change_part_read(dir, &done, e));
    *out = (struct rewind_conversation){ .change = change_inverse(done, "undo"),
                                         .how = tx->conversation.how,
                                         .kept = tx->conversation.kept - tx->conversation.added +
                                                 tx->conversation.dropped,
                                         .dropped = tx->conversation.added,
                                         .added = tx->conversation.dropped };
    change_free(done);
    return out->change ? ERR_OK : err_nomem(e);
}
