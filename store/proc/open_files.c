#include "store/proc/process.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/buf.h"

enum { TIMEOUT_MS = 5000, ANSWER_MOST = 1 << 20 };

/* Another user's file may be open in that user's programs, which only root can see. */
static bool can_be_seen(int fd)
{
    struct stat st;

    return geteuid() == 0 || (fstat(fd, &st) == 0 && st.st_uid == geteuid());
}

static enum open_files judge(const char *text)
{
    bool self = false, others = false;

    while (*text) {
        char *end;
        long pid = strtol(text, &end, 10);

        self = self || pid == getpid();
        others = others || (pid > 0 && pid != getpid());
        text = end > text ? end : text + 1;
    }
    if (others)
        return OPEN_FILES_OTHERS;
    return self ? OPEN_FILES_OURS : OPEN_FILES_UNKNOWN;
}

enum open_files open_files_ask(int fd, const char *path)
{
    const char *const argv[] = { "fuser", path, NULL };
    const struct spawn fuser = {
        .argv = argv, .dir = "/", .timeout_ms = TIMEOUT_MS, .max = ANSWER_MOST
    };
    enum open_files answer = OPEN_FILES_UNKNOWN;
    struct buf text = { 0 };

    if (path[0] == '/' && can_be_seen(fd) && spawn_read(&fuser, &text, NULL) == ERR_OK &&
        buf_cstr(&text))
        answer = judge(text.p);
    buf_fini(&text);
    return answer;
}
