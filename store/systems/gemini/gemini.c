#include "store/systems/gemini/gemini.h"

#include <fcntl.h>
#include <stdlib.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/log/log_damage.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/row_table.h"

/* When the program starts, it deletes sessions of the project that were last updated longer ago than
 * general.sessionRetention.maxAge of its settings, 30 days by default. Settings that do not parse (comments are allowed
 * there) and periods that the program refuses mean that the period is not known. Settings of a project may override
 * these and are not read. */

enum { SETTINGS_MAX = 4 << 20, DEFAULT_DAYS = 30, DIGITS_MOST = 6 };
static const int64_t day_ms = INT64_C(24) * 60 * 60 * 1000;

/* "30d", "24h", "1w", "2m" */
static int64_t gemini_period_of(struct slice text)
{
    int64_t n, unit;

    if (text.n < 2 || text.n > DIGITS_MOST + 1 ||
        !json_int((struct slice){ text.p, text.n - 1 }, &n) || n <= 0)
        return TIME_NONE;
    switch (text.p[text.n - 1]) {
    case 'h': unit = day_ms / 24; break;
    case 'd': unit = day_ms; break;
    case 'w': unit = 7 * day_ms; break;
    case 'm': unit = 30 * day_ms; break;
    default: return TIME_NONE;
    }
    return n * unit >= day_ms ? n * unit : TIME_NONE;
}

/* Reads how long the program keeps sessions from its settings, which may be missing. */
static enum err_code gemini_read_retention(struct gemini *x, struct err *e)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct slice settings, value;

    x->settings_path = config_dir_join(x->jsonl.base.path, "settings.json");
    if (!x->settings_path)
        return err_nomem(e);
    enum err_code rc =
        file_read_all(AT_FDCWD, x->settings_path, FILE_FOLLOW, SETTINGS_MAX, &text, NULL);
    settings = buf_slice(&text);
    x->retention_ms = DEFAULT_DAYS * day_ms;

    /* Settings that cannot be read may have a period other than the default, so it is not known. */
    if (rc == ERR_NOT_FOUND) {
        rc = ERR_OK;
    } else if (rc || !json_valid(settings) || json_type(settings) != JSON_OBJECT) {
        x->retention_ms = TIME_NONE;
    } else if (json_at(settings, "general.sessionRetention.enabled", &value) &&
               json_type(value) == JSON_FALSE) {
        x->retention_ms = TIME_NONE;
    } else if (json_at(settings, "general.sessionRetention.maxAge", &value)) {
        x->retention_ms = gemini_period_of(json_text_of(value, &a));
        if (x->retention_ms == TIME_NONE)
            x->settings_note = "general.sessionRetention.maxAge is no period such as 30d, 24h or "
                               "2w, so it is not known when sessions expire";
    }
    buf_fini(&text);
    arena_fini(&a);
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static const char *gemini_settings_note(const struct store *st, const char **path)
{
    const struct gemini *x = (const struct gemini *)st;

    *path = x->settings_path;
    return x->settings_note;
}

static void gemini_close(struct store *st)
{
    struct gemini *x = (struct gemini *)st;

    jsonl_store_fini(&x->jsonl);
    free(x->settings_path);
    free(x);
}

/* $GEMINI_CLI_HOME stands for the home directory. */
char *gemini_default_path(const struct store_env *env)
{
    const char *home = env_variable(env, "GEMINI_CLI_HOME");

    home = home ? home : env->home;
    return home ? config_dir_join(home, ".gemini") : NULL;
}

static enum err_code gemini_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    struct store *st = NULL;

    TRY(jsonl_store_open(&gemini_ops, &gemini_format, env, path, "tmp", &st, e));

    enum err_code rc = gemini_read_retention((struct gemini *)st, e);

    if (rc)
        gemini_close(st);
    else
        *out = st;
    return rc;
}

static const struct log_sent gemini_sent[] = {
    { "user", "content" },
    { "gemini", "content" },
    { "gemini", "toolCalls" },
    { NULL, NULL },
};
static const struct log_rules gemini_log_rules = { .names = "sessionId",
                                                   .refused = log_refused_texts,
                                                   .sent = gemini_sent,
                                                   .half = LOG_HALF_REFUSED };

/* The store is read-only: when Gemini lists sessions, it deletes files that it considers damaged,
 * so reprise does not change any. */
const struct store_ops gemini_ops = {
    .name = "gemini",
    .label = "Gemini CLI",
    .folders = "tmp",
    .resume_command = "gemini --resume {id}",
    .hooks = &gemini_hooks,
    .compose = &gemini_compose,
    .mcp = &gemini_mcp,
    .files = gemini_files,
    .shared = gemini_shared,
    .folder_of = gemini_folder_of,
    .set_directory = gemini_set_directory,
    .adopt = gemini_adopt,
    .open = gemini_open,
    .close = gemini_close,
    .settings_note = gemini_settings_note,
    .enumerate = gemini_enumerate,
    .unreadable = jsonl_unreadable,
    .describe = gemini_describe,
    .find = gemini_find,
    .find_each = store_find_each_listed,
    .at_path = gemini_at_path,
    .tail = gemini_tail,
    .load = gemini_load,
    .blocks = row_table_blocks,
    .usage = gemini_usage,
    .edits = gemini_edits,
    .messages = block_messages,
    .subagents = gemini_subagents,
    .subagent = gemini_subagent,
    .check = gemini_check,
    .check_store = gemini_check_store,
    .log_rules = &gemini_log_rules,
    .checkpoints = gemini_checkpoints,
    .plan = gemini_plan,
    .why = {
        [ABILITY_RENAME] = "Gemini makes the titles of its sessions itself",
        [ABILITY_NAME_FORK] = "Gemini makes the titles of its sessions itself",
        [ABILITY_TAG] = "Gemini sessions have no tags",
        [ABILITY_ARCHIVE] = "Gemini sessions cannot be archived",
        [ABILITY_DELETE] = "gemini --delete-session may delete another session's log: use /resume",
        [ABILITY_FORK] = "Gemini has no forks: a copy would have the id of its source",
        [ABILITY_RESUME_AT] = "Gemini continues after the last message: use /rewind in Gemini",
        [ABILITY_TOMBSTONE] = "a Gemini log repeats its messages: none can be removed",
        [ABILITY_REAPPEND] = "Gemini logs have no metadata to append again",
        [ABILITY_RETRIEVE] = "Gemini logs are already where Gemini looks for them",
        [ABILITY_HAVE_BRANCHES] = "a Gemini log has no branches: what is rewound is dropped",
        [ABILITY_SET] = "Gemini sessions have no settings that other programs may write",
    },
};
