#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/fs/kernel.h"
#include "store/log/lease.h"
#include "store/systems/claude/claude.h"

/* Determines whether a session is in use. The evidence, strongest first (docs/safety.md C): the registry of the agents
 * and a write lease, which are proof; then cases in which it cannot be determined (another user's file, a file system
 * that other machines write to), and running agents that are not in the registry. Changes of the file are watched for
 * all systems (store/proc/live.h). */

const struct agents_profile claude_agents_profile = {
    .program = (const char *const[]){ "claude", "/@anthropic-ai/claude-code/", NULL },
    .forks = "--fork-session",
    .config_variable = "CLAUDE_CONFIG_DIR",
    .config_at_home = ".claude",
};

static struct live look_for_agents(const struct store *st, const struct session_ref *ref,
                                   const struct live_table *known, const struct stat *sb)
{
    int64_t written = time_ms_of(sb->st_mtim);
    struct agents_query q = { .session = ref->id, .written_ms = written, .known = known };
    pid_t pid;
    enum agents_evidence sign = agents_lookup(claude_of(st)->agents, &q, &pid);

    if (sign == AGENTS_MAYBE) {
        /* The directory is in the transcript, which is read only if an agent is running that may
         * have written to it. */
        const struct scope all = { .all = true };
        struct session_row *row = session_row_new();

        sign = AGENTS_MAYBE; /* if the transcript cannot be read, it is possible */

        if (row && claude_describe(st, &all, ref, row, NULL) == ERR_OK) {
            struct slice cwd = arena_copy(&row->arena, row->cwd);
            q.cwd = cwd.n ? cwd.p : "";
            if (q.cwd)
                sign = agents_lookup(claude_of(st)->agents, &q, &pid);
            q.cwd = NULL;
        }
        session_row_free(row);
    }
    switch (sign) {
    case AGENTS_NAMED:
        return (struct live){ LIVE_UNKNOWN, pid, false, "it was started with the session's id" };
    case AGENTS_MAYBE:
        return (struct live){ LIVE_UNKNOWN, pid, false, "it may run in the session's directory" };
    case AGENTS_IN_CWD:
        return (struct live){ LIVE_UNKNOWN, pid, false, "it runs in the session's directory" };
    case AGENTS_ELSEWHERE:
    case AGENTS_NONE: break;
    }
    return (struct live){ .state = LIVE_QUIET };
}

/* The evidence of the file itself, whether or not it could be opened. */
static struct live claude_look_at_file(const struct session_ref *ref, struct stat *sb, bool *known)
{
    int fd = open(ref->path.p, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    bool shared = fs_is_shared(fd, ref->path.p);

    *known = (fd >= 0 ? fstat(fd, sb) : stat(ref->path.p, sb)) == 0;
    /* The only evidence of a program that is not in the registry. Claude Code keeps no file open, so an unknown result
     * is ignored. */
    if (fd >= 0 && lease_fd_use_close(fd, ref->path.p) == LEASE_IN_USE)
        return (struct live){ .state = LIVE_RUNNING, .why = "a program has the session open" };
    if (*known && geteuid() != 0 && sb->st_uid != geteuid())
        return (struct live){ .state = LIVE_UNKNOWN, .why = "it belongs to another user" };
    if (shared)
        return (struct live){ .state = LIVE_UNKNOWN,
                              .why = "other machines may write to its file system" };
    return (struct live){ .state = LIVE_QUIET };
}

static struct live live_with(const struct store *st, const struct session_ref *ref,
                             const struct live_table *table)
{
    struct stat sb;
    bool known = false;
    struct live registered = live_of(table, ref->id);

    if (registered.state != LIVE_QUIET)
        return registered;
    struct live file = claude_look_at_file(ref, &sb, &known);

    if (file.state != LIVE_QUIET)
        return file;
    return known ? look_for_agents(st, ref, table, &sb) : registered;
}

enum err_code claude_live_many(const struct store *st, const struct session_ref *const ref[],
                               size_t n, struct live out[], struct err *e)
{
    struct live_table table;

    TRY(live_read(st->path, &table, e));
    for (size_t i = 0; i < n; i++)
        out[i] = live_with(st, ref[i], &table);
    live_fini(&table);
    return ERR_OK;
}

enum err_code claude_live(const struct store *st, const struct session_ref *ref, struct live *out,
                          struct err *e)
{
    return claude_live_many(st, &ref, 1, out, e);
}

void claude_running(const struct store *st, running_fn *fn, void *arg)
{
    live_cache_each(claude_of(st)->live, fn, arg);
}
