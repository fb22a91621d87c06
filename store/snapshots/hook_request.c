#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/disk.h"
#include "store/snapshots/hooks.h"

enum { HOOK_ID_MAX = 512, HOOK_LOG_MAX = 64 * 1024, HOOK_LOG_LINE = 1024 };

/* The text of a member; empty if it is not told. */
static struct slice hook_told(struct slice input, const char *name, struct arena *a)
{
    return name ? json_copy_at(input, name, a) : (struct slice){ NULL, 0 };
}

static bool hook_is_id(struct slice id)
{
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < ' ' || id.p[i] == 0x7f)
            return false;
    return id.n <= HOOK_ID_MAX;
}

bool hook_request_read(const struct store_ops *ops, enum hook_event event, struct slice input,
                       struct arena *a, struct snapshot_request *out, const char **why)
{
    const struct agent_hooks *h = ops->hooks;

    /* Some agents name several directories; the first one is the session's. */
    struct json_iter list;
    struct slice first;

    json_list_open(&list, input, h->cwd);

    const struct slice cwd = json_list_next(&list, &first) ? arena_copy(a, json_text_of(first, a))
                                                           : hook_told(input, h->cwd, a);

    struct snapshot_request r = {
        .agent = ops->name,
        .session = hook_told(input, h->session, a),
        .turn = hook_told(input, h->turn, a),
        .prompt = event == HOOK_PROMPT ? hook_told(input, h->prompt, a) : (struct slice){ NULL, 0 },
        .cwd = cwd.p,
        .kind = (enum snapshot_kind)event,
    };

    *why = NULL;
    if (hook_told(input, h->subagent, a).n)
        *why = "it is the event of a sub-agent";
    else if (h->prompts_again && event == HOOK_PROMPT && !r.prompt.n)
        *why = "it is another request of the same turn";
    else if (!r.session.n || !hook_is_id(r.session) || !hook_is_id(r.turn))
        *why = "the input has no id of a session";
    else if (!cwd.n || cwd.p[0] != '/' || cwd.n >= PATH_MAX || memchr(cwd.p, '\0', cwd.n))
        *why = "the input has no directory";
    if (*why)
        return false;
    *out = r;
    return true;
}

void hook_log_add(const struct store_env *env, struct slice line)
{
    AUTO_BUF old = { 0 };
    char path[PATH_MAX];
    struct stat st;

    if (env_state_path(env, "snapshots.log", path, NULL) || disk_private_dir(env->state_dir, NULL))
        return;
    if (line.n > HOOK_LOG_LINE)
        line.n = HOOK_LOG_LINE;
    /* The older half is dropped when it is full. Two hooks that do so at the same time lose a line, and no more. */
    if (stat(path, &st) == 0 && st.st_size > HOOK_LOG_MAX &&
        file_read_all(AT_FDCWD, path, 0, 16 * HOOK_LOG_MAX, &old, NULL) == ERR_OK) {
        const struct slice half = { old.p + old.n / 2, old.n - old.n / 2 };
        const char *newline = half.n ? memchr(half.p, '\n', half.n) : NULL;
        const char *from = newline ? newline + 1 : half.p + half.n;

        if (disk_replace_file(env->state_dir, "snapshots.log",
                              (struct slice){ from, (size_t)(half.p + half.n - from) }, 0600, NULL))
            return;
    }
    AUTO_FD fd =
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    AUTO_BUF row = { 0 };

    if (fd < 0 || buf_add(&row, line) || buf_add_byte(&row, '\n') ||
        disk_write(fd, buf_slice(&row), NULL, path, NULL))
        return; /* there is nowhere to report it */
}
