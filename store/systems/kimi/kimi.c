#include "store/systems/kimi/kimi.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/io/file.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/project_logs.h"

enum { HASH_DIGITS = 12, STATE_MOST = 256 << 10 };
static const char log_name[] = "/agents/main/wire.jsonl";

static const struct kimi *kimi_of(const struct store *st)
{
    assert(st->ops->open == kimi_ops.open);
    return (const struct kimi *)st;
}

/* ---- open, close ---- */

static const char variable[] = "KIMI_CODE_HOME";

static void kimi_close(struct store *st)
{
    struct kimi *k = (struct kimi *)st;

    jsonl_store_fini(&k->jsonl);
    free(k);
}

/* NULL: not known, or out of memory. */
static char *default_path(const struct store_env *env)
{
    const char *named = env_value(env->environment, variable);

    if (named && named[0])
        return config_dir_absolute(env, named);
    return env->home ? config_dir_join(env->home, ".kimi-code") : NULL;
}

static enum err_code kimi_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    struct kimi *k = calloc(1, sizeof *k);

    if (!k)
        return err_nomem(e);
    k->jsonl.base = (struct store){ .ops = &kimi_ops, .env = env };
    k->jsonl.format = &kimi_format;
    k->jsonl.base.path = path ? config_dir_absolute(env, path) : default_path(env);
    enum err_code rc = k->jsonl.base.path
                           ? config_dir_require(k->jsonl.base.path, e)
                           : err_set(e, ERR_NOT_FOUND, ".kimi-code", "open store: no home");

    if (!rc) {
        k->jsonl.folder = config_dir_join(k->jsonl.base.path, "sessions");
        k->jsonl.pool = window_pool_new();
        rc = k->jsonl.folder && k->jsonl.pool ? ERR_OK : err_nomem(e);
    }
    if (rc)
        kimi_close(&k->jsonl.base);
    else
        *out = &k->jsonl.base;
    return rc;
}

static enum err_code kimi_variable(const struct store *st, const char **name, const char **value,
                                   struct err *e)
{
    (void)e;
    config_dir_variable(st, default_path(st->env), variable, name, value);
    return ERR_OK;
}

/* ---- folders ---- */

bool kimi_is_folder_of(struct slice folder, struct slice directory)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char hex[HASH_DIGITS + 1];

    if (folder.n <= HASH_DIGITS || folder.p[folder.n - HASH_DIGITS - 1] != '_' ||
        EVP_Digest(directory.p, directory.n, hash, &n, EVP_sha256(), NULL) != 1)
        return false;
    for (size_t i = 0; i < HASH_DIGITS; i++)
        hex[i] = "0123456789abcdef"[i % 2 ? hash[i / 2] & 15 : hash[i / 2] >> 4];
    return memcmp(folder.p + folder.n - HASH_DIGITS, hex, HASH_DIGITS) == 0;
}

static bool is_in_scope(const struct scope *scope, struct slice folder)
{
    if (scope->all || kimi_is_folder_of(folder, scope->project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (kimi_is_folder_of(folder, scope->tree[i]))
            return true;
    return false;
}

struct walk {
    const struct kimi *kimi;
    session_ref_fn *fn;
    void *arg;
    struct arena arena; /* of one folder */
    bool more;
};

static enum err_code visit_session(struct walk *w, const char *folder, const char *id)
{
    struct session_ref ref = { .store = &w->kimi->jsonl.base,
                               .id = slice_of(id),
                               .folder = slice_of(folder) };
    struct stat sb;
    const char *path;

    if (!kimi_format.is_id(ref.id))
        return ERR_OK;
    path = arena_format(&w->arena, "%s/%s/%s%s", w->kimi->jsonl.folder, folder, id, log_name);
    if (!path)
        return ERR_NOMEM;
    if (lstat(path, &sb) != 0 || S_ISDIR(sb.st_mode))
        return ERR_OK;
    ref.path = slice_of(path);
    ref.file = file_id_of(&sb);
    w->more = w->fn(&ref, w->arg);
    return ERR_OK;
}

static enum err_code visit_folder(struct walk *w, const char *folder)
{
    const char *path = arena_format(&w->arena, "%s/%s", w->kimi->jsonl.folder, folder);
    DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *entry;
    enum err_code rc = path ? ERR_OK : ERR_NOMEM;

    while (dir && !rc && w->more && (entry = readdir(dir)))
        rc = visit_session(w, folder, entry->d_name);
    if (dir)
        closedir(dir);
    arena_reset(&w->arena);
    return rc;
}

static enum err_code kimi_enumerate(const struct store *st, const struct scope *scope,
                                    session_ref_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .kimi = kimi_of(st), .fn = fn, .arg = arg, .more = true };
    const struct dirent *entry;
    enum err_code rc = ERR_OK;
    DIR *dir = opendir(w.kimi->jsonl.folder);

    while (dir && !rc && w.more && (entry = readdir(dir)))
        if (strncmp(entry->d_name, "wd_", 3) == 0 && is_in_scope(scope, slice_of(entry->d_name)))
            rc = visit_folder(&w, entry->d_name);
    if (dir)
        closedir(dir);
    arena_fini(&w.arena);
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- one session ---- */

struct finding_session {
    struct slice id;
    struct arena *arena;
    struct session_ref *ref;
    bool found, failed;
};

static bool compare_ref(const struct session_ref *ref, void *arg)
{
    struct finding_session *f = arg;

    if (!slice_eq(ref->id, f->id))
        return true;
    f->found = true;
    f->failed = !session_ref_copy(f->arena, ref, f->ref);
    return false;
}

static enum err_code kimi_find(const struct store *st, const struct scope *scope, struct slice id,
                               struct arena *a, struct session_ref *ref, struct err *e)
{
    struct finding_session f = { .id = id, .arena = a, .ref = ref };

    if (!kimi_format.is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not %s", kimi_format.id_name);
    enum err_code rc = kimi_enumerate(st, scope, compare_ref, &f, e);

    if (rc || f.failed)
        return err_nomem(e);
    return f.found ? ERR_OK
                   : err_set(e, ERR_NOT_FOUND, kimi_of(st)->jsonl.folder,
                             "find session: no such session");
}

struct finding_path {
    struct slice path;
    struct finding_session found;
};

/* The path of the session's directory, or of a file in it. */
static bool compare_path(const struct session_ref *ref, void *arg)
{
    struct finding_path *f = arg;
    struct slice dir = kimi_session_dir(ref);

    if (f->path.n < dir.n || memcmp(f->path.p, dir.p, dir.n) != 0 ||
        (f->path.n > dir.n && f->path.p[dir.n] != '/'))
        return true;
    f->found.id = ref->id;
    return compare_ref(ref, &f->found);
}

static enum err_code kimi_at_path(const struct store *st, struct slice path, struct arena *a,
                                  struct session_ref *ref, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct finding_path f = { .path = path, .found = { .arena = a, .ref = ref } };
    enum err_code rc = kimi_enumerate(st, &everywhere, compare_path, &f, e);

    if (rc || f.found.failed)
        return err_nomem(e);
    return f.found.found ? ERR_OK
                         : err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
}

struct slice kimi_session_dir(const struct session_ref *ref)
{
    static const char agents[] = "/agents/";
    const char *at = strstr(ref->path.p, agents);

    for (const char *next = at; next; next = strstr(next + 1, agents))
        at = next;
    return at ? (struct slice){ ref->path.p, (size_t)(at - ref->path.p) } : ref->path;
}

/* ---- state.json ---- */

static void read_text(struct slice object, const char *name, struct arena *a, struct slice *out)
{
    struct slice text;

    if (json_get_text(object, name, a, &text))
        *out = arena_copy(a, text);
}

void kimi_state_read(const struct session_ref *ref, struct arena *a, struct kimi_state *out)
{
    struct slice dir = kimi_session_dir(ref), all;
    const char *path = arena_format(a, "%.*s/state.json", SLICE_ARG(dir));
    struct buf text = { 0 };

    *out = (struct kimi_state){ .archived = false };
    if (path && !file_read_all(AT_FDCWD, path, 0, STATE_MOST, &text, NULL) &&
        json_valid(all = buf_slice(&text))) {
        read_text(all, "cwd", a, &out->cwd);
        if (!out->cwd.n)
            read_text(all, "workDir", a, &out->cwd);
        read_text(all, "title", a, &out->title);
        read_text(all, "lastPrompt", a, &out->last_prompt);
        read_text(all, "forkedFrom", a, &out->forked_from);
        out->archived = json_get_true(all, "archived");
    }
    buf_fini(&text);
}

/* ---- sub-agents ---- */

/* The names of sub-agents' directories. */
static bool is_agent_id(struct slice id)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    for (size_t i = 0; i < id.n; i++)
        if (!memchr(letters, id.p[i], sizeof letters - 1))
            return false;
    return id.n > 0 && id.n <= 128 && !slice_eq(id, SLICE("main"));
}

static int compare_id(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    return strcmp(x->p, y->p);
}

enum err_code kimi_subagents(const struct store *st, const struct session_ref *ref, struct arena *a,
                             struct slice **ids, size_t *n, struct err *e)
{
    struct slice dir_path = kimi_session_dir(ref), *list = NULL;
    const char *path = arena_format(a, "%.*s/agents", SLICE_ARG(dir_path));
    DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *entry;
    size_t count = 0;

    (void)st;
    while (dir && !a->failed && (entry = readdir(dir)))
        if (is_agent_id(slice_of(entry->d_name)))
            arena_add_copy(a, &list, &count, slice_of(entry->d_name));
    if (dir)
        closedir(dir);
    if (a->failed)
        return err_nomem(e);
    if (count)
        qsort(list, count, sizeof *list, compare_id);
    *ids = list;
    *n = count;
    return ERR_OK;
}

enum err_code kimi_subagent(const struct store *st, const struct session_ref *ref,
                            struct slice agent, struct arena *a, struct session_ref *out,
                            struct err *e)
{
    struct slice dir = kimi_session_dir(ref);

    if (!is_agent_id(agent))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no such sub-agent");
    return jsonl_ref_at(
        st, arena_format(a, "%.*s/agents/%.*s/wire.jsonl", SLICE_ARG(dir), SLICE_ARG(agent)), agent,
        a, out, e);
}

static const char *kimi_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME: return "Kimi Code keeps an index of its titles: use /title in it";
    case CAN_ARCHIVE: return "Kimi Code keeps an index of its sessions: archive it there";
    case CAN_DELETE: return "Kimi Code keeps an index of its sessions: delete it there";
    case CAN_TAG: return "Kimi Code sessions have no tags";
    case CAN_FORK: return "Kimi Code forks itself: kimi fork ID";
    case CAN_RESUME_AT: return "Kimi Code continues after the last record: use its own /undo";
    case CAN_TOMBSTONE: return "a Kimi Code log is the only copy of its messages";
    case CAN_REAPPEND: return "Kimi Code keeps its titles beside the logs";
    case CAN_RETRIEVE: return "Kimi Code's logs already are where it looks for them";
    case CAN_HAVE_BRANCHES: return "Kimi Code logs have no branches";
    case CAN_SET: return "Kimi Code sessions have no settings";
    default: return NULL;
    }
}

const struct store_ops kimi_ops = {
    .name = "kimi",
    .folders = "sessions",
    .row_keys = &kimi_keys,
    .resume_command = "kimi --session {id}",
    .fork_command = "kimi fork {id}",
    .open = kimi_open,
    .close = kimi_close,
    .enumerate = kimi_enumerate,
    .describe = jsonl_describe,
    .find = kimi_find,
    .at_path = kimi_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = kimi_blocks,
    .messages = jsonl_messages,
    .subagents = kimi_subagents,
    .subagent = kimi_subagent,
    .agent_variable = kimi_variable,
    .checkpoints = kimi_checkpoints,
    .plan = kimi_plan,
    .usage = kimi_usage,
    .edits = tool_edits_logged,
    .unsupported = kimi_cannot,
};
