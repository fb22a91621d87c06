#include "store/rewind/record/record.h"

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

/* Returns NULL if root is not the project's directory or its identity is not known. */
static const struct root_id *rewind_tx_root_id(const struct rewind_tx *tx, const char *root)
{
    return tx->root_id && tx->project && strcmp(root, tx->project) == 0 ? tx->root_id : NULL;
}

/* ---- writing ---- */

static bool record_write_entry_json(cJSON *list, const struct rewind_tx_entry *x,
                                    struct buf *scratch)
{
    cJSON *o = cJSON_CreateObject();
    const struct rewind_seen *s = &x->seen;

    if (!cJSON_AddItemToArray(list, o))
        return false; /* out of memory */
    bool ok = record_json_set_text(o, "path", x->path, scratch) &&
              record_json_set_text(o, "root", x->root, scratch) &&
              cJSON_AddStringToObject(o, "do", action_names[x->action]) &&
              record_json_set_int(o, "mode", x->mode) && record_json_set_int(o, "dirs", x->dirs) &&
              record_json_set_int(o, "modeOnly", x->mode_only) &&
              record_json_set_int(o, "mtime", x->mtime_ns) &&
              record_json_set_hash(o, "wanted", x->wanted);

    ok = ok && record_json_set_text(o, "adopts", x->adopts, scratch);
    return ok && (!x->mixed || record_json_set_int(o, "mixed", 1)) &&
           record_json_set_int(o, "exists", s->exists) &&
           record_json_set_int(o, "dev", (int64_t)s->dev) &&
           record_json_set_int(o, "ino", (int64_t)s->ino) &&
           record_json_set_int(o, "size", s->size) &&
           record_json_set_int(o, "seenMtime", s->mtime_ns) &&
           record_json_set_int(o, "seenMode", s->mode) &&
           record_json_set_hash(o, "seen", s->sha256) &&
           (x->action != REWIND_DELETE || record_json_set_attrs(o, &x->was, scratch));
}

static bool record_write_conversation_json(cJSON *root, const struct rewind_conversation *t)
{
    return t->how == CONVERSATION_NONE ||
           (cJSON_AddStringToObject(root, "talk", rewind_conversation_name(t->how)) &&
            record_json_set_int(root, "kept", (int64_t)t->kept) &&
            record_json_set_int(root, "dropped", (int64_t)t->dropped) &&
            record_json_set_int(root, "added", (int64_t)t->added));
}

static bool put_settled(cJSON *root, const struct rewind_tx *tx, struct buf *scratch)
{
    cJSON *list = tx->settled ? cJSON_AddArrayToObject(root, "settled") : NULL;
    bool ok = list || !tx->settled;

    for (size_t i = 0; i < tx->settled_n && ok; i++) {
        cJSON *o = cJSON_CreateObject();

        ok = cJSON_AddItemToArray(list, o) &&
             record_json_set_text(o, "path", tx->settled[i], scratch);
    }
    return ok;
}

static cJSON *plan_json(const struct rewind_tx *tx, struct buf *scratch)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "entries");
    bool ok = list && record_json_set_int(root, "version", tx->version) &&
              record_json_set_int(root, "at", tx->at_ms) &&
              record_json_set_text(root, "system", tx->system, scratch) &&
              record_json_set_text(root, "session", tx->session, scratch) &&
              record_json_set_text(root, "point", tx->point, scratch) &&
              record_json_set_text(root, "undoes", tx->undoes, scratch) &&
              record_json_set_text(root, "project", tx->project, scratch) &&
              record_json_set_text(root, "store", tx->store, scratch) &&
              record_json_set_text(root, "title", tx->title, scratch) &&
              record_write_conversation_json(root, &tx->conversation) &&
              beneath_dirs_write(root, &tx->dirs, scratch) && put_settled(root, tx, scratch);

    if (ok && rewind_tx_has_root(tx)) {
        const struct root_id *x = tx->root_id;
        const struct root_id none = { 0 };

        x = x ? x : &none;
        ok = record_json_set_int(root, "rootDev", (int64_t)x->dev) &&
             record_json_set_int(root, "rootIno", (int64_t)x->ino) &&
             record_json_set_int(root, "rootFs", (int64_t)x->fs) &&
             record_json_set_int(root, "rootBorn", x->born_ns);
    }

    if (ok && tx->cut_short)
        ok = record_json_set_int(root, "stays", 1);
    for (size_t i = 0; i < tx->n && ok; i++)
        ok = record_write_entry_json(list, &tx->entry[i], scratch);
    if (ok)
        return root;
    cJSON_Delete(root);
    return NULL;
}

enum err_code rewind_tx_write_plan(const struct rewind_tx *tx, struct err *e)
{
    struct buf scratch = { 0 };
    cJSON *root = plan_json(tx, &scratch);
    char *text = root ? cJSON_PrintUnformatted(root) : NULL;
    enum err_code rc =
        text ? disk_replace_file(tx->dir, "plan", slice_of(text), 0600, e) : err_nomem(e);

    cJSON_free(text);
    cJSON_Delete(root);
    buf_fini(&scratch);
    return rc;
}

static char record_letter_of(const struct rewind_tx_entry *x)
{
    return x->outcome == REWIND_CONFLICT ? 'c' : x->unknown ? 'u' : 'd';
}

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
    for (size_t i = 0; i < tx->n; i++)
        letters[i] = record_letter_of(&tx->entry[i]);
    struct slice text = { letters, phase == TX_COMMITTED ? tx->n : 0 };
    enum err_code rc = disk_replace_file(tx->dir, mark_names[phase], text, 0600, e);

    free(letters);
    if (!rc)
        tx->phase = phase;
    return rc;
}

/* ---- reading ---- */

static bool get_action(const cJSON *o, enum rewind_action *out)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, "do");

    for (size_t k = 0; cJSON_IsString(v) && k < sizeof action_names / sizeof *action_names; k++)
        if (strcmp(v->valuestring, action_names[k]) == 0) {
            *out = (enum rewind_action)k;
            return true;
        }
    return false;
}

static bool get_seen(const cJSON *o, struct rewind_seen *s)
{
    int64_t exists, dev, ino, mode;
    bool ok = record_json_int(o, "exists", &exists) && record_json_int(o, "dev", &dev) &&
              record_json_int(o, "ino", &ino) && record_json_int(o, "size", &s->size) &&
              record_json_int(o, "seenMtime", &s->mtime_ns) &&
              record_json_int(o, "seenMode", &mode) && record_json_hash(o, "seen", s->sha256);

    if (!ok)
        return false;
    s->exists = exists != 0;
    s->dev = (uint64_t)dev;
    s->ino = (uint64_t)ino;
    s->mode = (uint32_t)mode;
    return true;
}

/* Our own paths were checked when they were written; a path that was corrupted on disk must not lead to another
 * place. */
static bool get_place(const cJSON *o, struct arena *a, struct rewind_tx_entry *x)
{
    if (!record_json_text(o, "path", a, &x->path) || !record_json_text(o, "root", a, &x->root))
        return false;
    const struct slice path = slice_of(x->path), root = slice_of(x->root);

    return !pathrule_forbids(path) && path_under(path, root);
}

/* "old/<n>.live": no other name is ever followed. */
static bool get_adopts(const cJSON *o, struct rewind_tx *tx, struct rewind_tx_entry *x)
{
    if (!record_json_optional_text(o, "adopts", &tx->arena, &x->adopts) || !x->adopts)
        return !x->adopts && !tx->arena.failed;
    const char *slash = strchr(x->adopts, '/');
    size_t dir = slash ? (size_t)(slash - x->adopts) : 0;

    return tx->undoes && (dir == 3 || dir == 4) &&
           (strncmp(x->adopts, "old", dir) == 0 || strncmp(x->adopts, "undo", dir) == 0) &&
           strcmp(slash + 1 + strspn(slash + 1, "0123456789"), ".live") == 0;
}

static bool get_entry(const cJSON *o, struct rewind_tx *tx, struct rewind_tx_entry *x)
{
    struct arena *a = &tx->arena;
    int64_t mode, mode_only, dirs;

    bool ok =
        get_place(o, a, x) && get_action(o, &x->action) && record_json_int(o, "mode", &mode) &&
        record_json_int(o, "dirs", &dirs) && record_json_int(o, "modeOnly", &mode_only) &&
        record_json_int(o, "mtime", &x->mtime_ns) && record_json_hash(o, "wanted", x->wanted) &&
        get_seen(o, &x->seen) && get_adopts(o, tx, x);

    if (ok && rewind_tx_has_attrs(tx) && x->action == REWIND_DELETE)
        ok = record_json_attrs(o, a, &x->was);
    if (ok) {
        x->root_id = rewind_tx_root_id(tx, x->root);
        x->mode = (uint32_t)mode;
        x->mode_only = mode_only != 0;
        x->mixed = cJSON_HasObjectItem(o, "mixed");
        x->dirs = (unsigned)dirs;
    }
    return ok;
}

/* A rewind of files alone has no conversation. */
static bool parse_conversation(const cJSON *root, struct rewind_conversation *t)
{
    const cJSON *how = cJSON_GetObjectItemCaseSensitive(root, "talk");
    int64_t kept, dropped, added;

    if (!how)
        return true;
    if (!cJSON_IsString(how) || !rewind_conversation_parse(how->valuestring, &t->how) ||
        !record_json_int(root, "kept", &kept) || !record_json_int(root, "dropped", &dropped) ||
        !record_json_int(root, "added", &added))
        return false;
    t->kept = (size_t)kept;
    t->dropped = (size_t)dropped;
    t->added = (size_t)added;
    return true;
}

static bool get_settled(const cJSON *root, struct rewind_tx *tx)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "settled");

    if (!list)
        return true;
    tx->settled =
        arena_zalloc(&tx->arena, sizeof *tx->settled * ((size_t)cJSON_GetArraySize(list) + 1));
    for (const cJSON *o = list->child; o && tx->settled; o = o->next)
        if (!record_json_text(o, "path", &tx->arena, &tx->settled[tx->settled_n++]))
            return false;
    return tx->settled && cJSON_IsArray(list);
}

static bool get_root_id(const cJSON *root, struct rewind_tx *tx)
{
    struct root_id *id = arena_zalloc(&tx->arena, sizeof *id);
    int64_t dev, ino, fs;

    if (!id || !record_json_int(root, "rootDev", &dev) || !record_json_int(root, "rootIno", &ino) ||
        !record_json_int(root, "rootFs", &fs) || !record_json_int(root, "rootBorn", &id->born_ns))
        return false;
    id->dev = (uint64_t)dev;
    id->ino = (uint64_t)ino;
    id->fs = (uint64_t)fs;
    tx->root_id = ino ? id : NULL;
    return true;
}

static bool get_plan(const cJSON *root, struct rewind_tx *tx)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "entries");
    struct arena *a = &tx->arena;

    if (!cJSON_IsArray(list) || !record_json_int(root, "version", &tx->version) ||
        tx->version < 1 || tx->version > TX_VERSION || !record_json_int(root, "at", &tx->at_ms))
        return false;
    tx->entry = arena_zalloc(a, sizeof *tx->entry * (size_t)(cJSON_GetArraySize(list) + 1));
    if (!tx->entry || !record_json_text(root, "system", a, &tx->system) ||
        !record_json_text(root, "session", a, &tx->session) ||
        !record_json_text(root, "point", a, &tx->point) ||
        !record_json_optional_text(root, "undoes", a, &tx->undoes) ||
        !record_json_optional_text(root, "project", a, &tx->project) ||
        !record_json_optional_text(root, "store", a, &tx->store) ||
        !record_json_optional_text(root, "title", a, &tx->title) ||
        !parse_conversation(root, &tx->conversation) || !get_settled(root, tx) ||
        (rewind_tx_has_attrs(tx) && !beneath_dirs_read(root, a, &tx->dirs)) ||
        (rewind_tx_has_root(tx) && !get_root_id(root, tx)))
        return false;
    tx->cut_short = cJSON_GetObjectItemCaseSensitive(root, "stays") != NULL;
    for (const cJSON *o = list->child; o; o = o->next)
        if (!get_entry(o, tx, &tx->entry[tx->n++]))
            return false;
    return rewind_tx_backup_layout(tx);
}

/* Running out of memory must not be reported as a damaged record. */
static enum err_code parse_plan(struct slice text, const char *path, struct rewind_tx *tx,
                                struct err *e)
{
    cJSON *root = cJSON_ParseWithLength(text.p, text.n);
    bool sound = get_plan(root, tx), memory = !tx->arena.failed && (root || !json_valid(text));

    cJSON_Delete(root);
    if (!memory)
        return err_nomem(e);
    return sound ? ERR_OK
                 : err_set(e, ERR_FORMAT, path,
                           "the record of a rewind is damaged, or was made by a newer reprise");
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

static enum err_code read_phase(struct rewind_tx *tx, struct err *e)
{
    enum err_code rc = ERR_OK;
    bool found;

    for (int p = TX_PLANNED; p <= TX_DONE && !rc; p++) {
        rc = find_mark(tx->dir, mark_names[p], &found, e);
        if (!rc && found)
            tx->phase = (enum rewind_tx_phase)p;
    }
    return rc ? rc : find_mark(tx->dir, "abandoned", &tx->abandoned, e);
}

/* The commit mark has the outcome of each entry. */
static enum err_code read_outcomes(struct rewind_tx *tx, struct err *e)
{
    struct buf text = { 0 };
    char path[TX_PATH_MAX];

    rewind_tx_path(tx->dir, "commit", path);
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, PLAN_MAX, &text, e);

    if (!rc && text.n != tx->n)
        rc = err_set(e, ERR_FORMAT, path, "the record of a rewind is damaged");
    for (size_t i = 0; i < tx->n && !rc; i++) {
        tx->entry[i].outcome = text.p[i] == 'c' ? REWIND_CONFLICT : REWIND_DONE;
        tx->entry[i].unknown = text.p[i] == 'u';
    }
    buf_fini(&text);
    return rc;
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
    struct buf text = { 0 };

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
    if (!rc)
        rc = read_phase(&tx, e);
    if (!rc && tx.phase >= TX_COMMITTED)
        rc = read_outcomes(&tx, e);
    buf_fini(&text);
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
