#include "store/systems/amazonq/amazonq.h"

#include <stdlib.h>

#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"

/* Adds the database: the given file, or the database in a directory. */
static enum err_code add_database(struct sqlite_store *s, const char *named, struct err *e)
{
    bool file = named && sqlite_store_is_file(s->base.path);
    char *path = config_dir_join(s->base.path, file ? "" : "data.sqlite3");
    enum err_code rc = path ? ERR_OK : err_nomem(e);

    if (!rc && !sqlite_store_is_file(path))
        rc = err_set(e, ERR_NOT_FOUND, path, "open store: no database of conversations");
    if (!rc)
        rc = sqlite_store_add(s, path, NULL, e);
    free(path);
    return rc;
}

#define CONVERSATION(table) "SELECT c.value FROM " table " WHERE c.id = ?1"
#define FORMAT(table, query)                                                                       \
    {                                                                                              \
        .id_name = "the id of a conversation", .sessions = query, .listed = amazonq_listed,        \
        .messages = CONVERSATION(table), .tail = CONVERSATION(table),                              \
        .count = "SELECT 1 FROM " table " WHERE c.id = ?1", .message = amazonq_message,            \
    }

static const struct sqlite_format format = FORMAT(AMAZONQ_TABLE, amazonq_sessions);
static const struct sqlite_format classic = FORMAT(AMAZONQ_CLASSIC_TABLE, amazonq_classic_sessions);

static enum err_code amazonq_open(const struct store_env *env, const char *path, struct store **out,
                                  struct err *e)
{
    char *folder = path ? config_dir_absolute(env, path) : config_dir_data(env, "amazon-q");

    return sqlite_store_open(&amazonq_ops, &format, env, path, folder, add_database, out, e);
}

static enum err_code kiro_classic_open(const struct store_env *env, const char *path,
                                       struct store **out, struct err *e)
{
    char *folder = path ? config_dir_absolute(env, path) : config_dir_data(env, "kiro-cli");

    return sqlite_store_open(&kiro_classic_ops, &classic, env, path, folder, add_database, out, e);
}

static const char *cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME:
    case CAN_DELETE: return "its conversations are in a database that only the agent writes";
    case CAN_ARCHIVE: return "its conversations cannot be archived";
    case CAN_TAG: return "its conversations have no tags";
    case CAN_FORK:
    case CAN_NAME_FORK: return "no command of the agent that forks a conversation is known";
    case CAN_RESUME_AT: return "it continues after the last message";
    case CAN_REWIND: return "it keeps no copies of files that are known";
    case CAN_TOMBSTONE: return "it keeps its messages in its own database";
    case CAN_REAPPEND: return "its conversations have no metadata to append again";
    case CAN_RETRIEVE: return "its conversations are already where it looks for them";
    case CAN_HAVE_AGENTS: return "its conversations have no sub-agents";
    case CAN_HAVE_BRANCHES: return "its conversations have no branches";
    case CAN_SET: return "it keeps its settings in its own database";
    default: return NULL;
    }
}

#define MEMBERS                                                                                    \
    .size_unknown = true, .close = sqlite_store_close, .enumerate = sqlite_store_enumerate,        \
    .unreadable = sqlite_store_unreadable, .describe = sqlite_store_describe,                      \
    .find = sqlite_store_find, .at_path = sqlite_store_at_path, .tail = sqlite_store_tail,         \
    .load = sqlite_store_load, .blocks = amazonq_blocks, .messages = sqlite_store_messages,        \
    .edits = tool_edits_loaded, .unsupported = cannot

const struct store_ops amazonq_ops = { .name = "amazonq",
                                       .label = "Amazon Q CLI",
                                       .resume_command = "q chat --resume",
                                       .open = amazonq_open,
                                       MEMBERS };
const struct store_ops kiro_classic_ops = { .name = "kiro-classic",
                                            .label = "Kiro CLI (classic)",
                                            .resume_command = "kiro-cli chat --resume-id {id}",
                                            .open = kiro_classic_open,
                                            MEMBERS };
