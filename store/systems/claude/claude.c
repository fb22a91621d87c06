#include "store/systems/claude/claude.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/proc/process.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/common/config_dir.h"

unsigned claude_abilities(const struct claude *c, const struct session_row *row)
{
    const struct store_ops *ops = c->base.ops;

    if (row->hidden == HIDDEN_UNREADABLE)
        return 0;
    return CAN_RESUME | (ops->rename ? CAN_RENAME : 0) | (ops->tag ? CAN_TAG : 0) |
           (ops->fork ? CAN_FORK : 0) | (ops->archive ? CAN_ARCHIVE : 0) |
           (ops->parts ? CAN_DELETE : 0) | (ops->resume_at ? CAN_RESUME_AT : 0) |
           (ops->plan ? CAN_REWIND : 0);
}

const struct claude *claude_of(const struct store *st)
{
    assert(st->ops->open == claude_ops.open || st->ops->open == qoder_ops.open);
    return (const struct claude *)st;
}

static bool claude_is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool claude_is_uuid(struct slice text)
{
    if (text.n != CLAUDE_ID)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text.p[i] != '-' : !claude_is_hex(text.p[i]))
            return false;
    }
    return true;
}

bool claude_is_transcript_name(const char *name)
{
    return strlen(name) >= CLAUDE_ID && strcmp(name + CLAUDE_ID, CLAUDE_SUFFIX) == 0 &&
           claude_is_uuid((struct slice){ name, CLAUDE_ID });
}

struct slice claude_side_path(const struct session_ref *ref, const char *rest, struct arena *a)
{
    struct slice stem = { ref->path.p, ref->path.n - (sizeof CLAUDE_SUFFIX - 1) };
    const char *path = arena_format(a, "%.*s/%s", SLICE_ARG(stem), rest);

    return path ? slice_of(path) : (struct slice){ NULL, 0 };
}

/* Names that Windows reserves for devices; the agent refuses them on every system. */
static bool device_name(const char *name)
{
    static const char *const devices[] = { "con", "prn", "aux", "nul" };
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcasecmp(name, devices[i]) == 0)
            return true;
    return n == 4 && (strncasecmp(name, "com", 3) == 0 || strncasecmp(name, "lpt", 3) == 0) &&
           name[3] >= '0' && name[3] <= '9';
}

static bool folder_name_accepted(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t n = strlen(name);

    return n >= 1 && n <= 64 && strspn(name, allowed) == n && !device_name(name);
}

/* The variable counts only if CLAUDE_CONFIG_DIR is set and not empty, and only in the store that CLAUDE_CONFIG_DIR
 * names. */
static enum err_code set_forced_folder(struct claude *c, struct err *e)
{
    const struct store_env *env = c->base.env;
    const char *name = env->claude_project_dir_name, *said = env->claude_config_dir;
    char *config;

    if (!name || !said || !*said || !folder_name_accepted(name))
        return ERR_OK;
    enum err_code rc = config_dir_default(env, &config, e);
    if (rc)
        return rc;
    if (strcmp(config, c->base.path) == 0) {
        c->forced_folder = strdup(name);
        if (!c->forced_folder)
            rc = err_nomem(e);
    }
    free(config);
    return rc;
}

static enum err_code is_default(const struct store *st, const struct store_env *env, bool *is,
                                struct err *e)
{
    char *config;
    enum err_code rc = config_dir_default(env, &config, e);
    struct stat x, y;

    *is = false;
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;

    const char *b = st->path;

    *is = stat(config, &x) != 0 || stat(b, &y) != 0 ? strcmp(config, b) == 0
                                                    : x.st_dev == y.st_dev && x.st_ino == y.st_ino;

    free(config);
    return ERR_OK;
}

/* The client keeps more than sessions in the directory that the variable names, and uses other places for it if the
 * variable is not set. */
static enum err_code claude_agent_variable(const struct store *st, const char **name,
                                           const char **value, struct err *e)
{
    struct store_env unset = *st->env;
    bool finds, without;

    unset.claude_config_dir = NULL;
    TRY(is_default(st, st->env, &finds, e));
    TRY(is_default(st, &unset, &without, e));
    *name = finds ? NULL : "CLAUDE_CONFIG_DIR";
    *value = without ? NULL : st->path;
    return ERR_OK;
}

void claude_close(struct store *st)
{
    struct claude *c = (struct claude *)st;

    free(c->base.path);
    free(c->projects);
    free(c->forced_folder);
    free(c->odd_settings);
    window_pool_free(c->scratch);
    live_cache_free(c->live);
    agents_free(c->agents);
    claude_tables_free(c->tables);
    free(c);
}

/* Reads a switch as the client does. */
static bool is_switched_on(const char *value)
{
    static const char *const on[] = { "1", "true", "yes", "on" };
    struct slice text = value ? utf8_js_trim(slice_of(value)) : (struct slice){ NULL, 0 };

    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        if (text.n == strlen(on[i]) && strncasecmp(text.p, on[i], text.n) == 0)
            return true;
    return false;
}

static void set_retention(struct claude *c)
{
    const struct store_env *env = c->base.env;
    const struct claude_settings places = { c->base.path, env->cwd, env->etc_dir };

    c->retention_ms = claude_retention(&places, &c->odd_settings);
    c->no_sessions = c->retention_ms == 0;
    const char *node = env_variable(env, "NODE_ENV");

    if (node && strcmp(node, "test") == 0 &&
        !is_switched_on(env_variable(env, "TEST_ENABLE_SESSION_PERSISTENCE")))
        c->unpersisted = "NODE_ENV is test, and TEST_ENABLE_SESSION_PERSISTENCE is not set";
    else if (is_switched_on(c->base.env->claude_skip_history))
        c->unpersisted = "CLAUDE_CODE_SKIP_PROMPT_HISTORY is set";
    else if (c->no_sessions)
        c->unpersisted = "cleanupPeriodDays is 0 in the settings of Claude Code";
    if (c->no_sessions)
        c->retention_ms = TIME_NONE;
}

static const char *claude_settings_note(const struct store *st, const char **path)
{
    const struct claude *c = claude_of(st);

    *path = c->odd_settings;
    if (!*path)
        return NULL;
    return c->no_sessions
               ? "cleanupPeriodDays is 0, with which Claude Code keeps no sessions, or refuses "
                 "its settings"
               : "cleanupPeriodDays is no number of days, so it is not known when "
                 "sessions expire";
}

static const char *claude_unpersisted(const struct store *st)
{
    return claude_of(st)->unpersisted;
}

enum err_code claude_open_at(const struct store_ops *ops, const struct agents_profile *profile,
                             const struct store_env *env, char *path, struct claude **out,
                             struct err *e)
{
    struct agents_profile agents = *profile;
    struct claude *c = path ? calloc(1, sizeof *c) : NULL;

    if (!c) {
        free(path);
        return err_nomem(e);
    }
    c->base = (struct store){ .ops = ops, .env = env, .path = path };
    c->retention_ms = TIME_NONE;

    enum err_code rc = config_dir_require(path, e);

    agents.config = path;
    agents.proc = env->proc_dir ? env->proc_dir : proc_table();
    if (!rc && (!(c->projects = config_dir_join(path, "projects")) ||
                !(c->scratch = window_pool_new()) || !(c->live = live_cache_new(path)) ||
                !(c->agents = agents_new(&agents)) || !(c->tables = claude_tables_new())))
        rc = err_nomem(e);
    if (rc)
        claude_close(&c->base);
    else
        *out = c;
    return rc;
}

static enum err_code claude_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    struct claude *c = NULL;
    char *at = NULL;

    TRY(config_dir_named(env, path, &at, e));
    TRY(claude_open_at(&claude_ops, &claude_agents_profile, env, at, &c, e));
    set_retention(c);

    enum err_code rc = set_forced_folder(c, e);

    if (rc)
        claude_close(&c->base);
    else
        *out = &c->base;
    return rc;
}

const struct store_ops claude_ops = {
    .name = "claude",
    .resume_command = "claude --resume {id}",
    .fork_command = "claude --resume {id} --fork-session",
    .opens_paths = true,
    .attach_command = "claude attach {id}",
    .label = "Claude Code",
    .folders = "projects",
    .row_keys = &claude_index_keys,
    .finds_other_sessions = true,
    .hooks = &claude_hooks,
    .compose = &claude_compose,
    .mcp = &claude_mcp,
    .open = claude_open,
    CLAUDE_READS,
    .facts = claude_facts,
    .restore = claude_restore,
    .rename = claude_rename,
    .tag = claude_tag,
    .resume_at = claude_resume_at,
    .agent_variable = claude_agent_variable,
    .fork = claude_fork,
    .tombstone = claude_tombstone,
    .reappend = claude_reappend,
    .folder_of = claude_folder_of,
    .set_directory = claude_set_directory,
    .archive = claude_archive,
    .parts = claude_parts,
    .running = claude_running,
    .running_folder = "sessions",
    .reconnect = claude_reconnect,
    .log_rules = &claude_log_rules,
    .check_store = claude_check_store,
    .leftovers = claude_leftovers,
    .gone = claude_gone,
    .plan_conversation = claude_plan_conversation,
    .why = { [ABILITY_RETRIEVE] = "Claude Code's transcripts are already where it looks for them" },
    .make = claude_make,
    .create = claude_create,
    .append = claude_append,
    .begins = claude_begins,
    .host_row = claude_host_row,
    .drain_ms = 100, /* seed 002 */
    .checkpoint = claude_checkpoint,
    .set = claude_set,
    .unpersisted = claude_unpersisted,
    .settings_note = claude_settings_note,
};
