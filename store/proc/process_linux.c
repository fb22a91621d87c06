#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/proc/process.h"

enum {
    STAT_MAX = 4096,
    ID_MAX = 64,
    /* indexes after the name in /proc/<pid>/stat; numbers 7 and 22 in proc(5) */
    TERMINAL_FIELD = 4,
    START_FIELD = 19,
    /* pseudo-terminals have eight major numbers, with 256 of them each */
    PTS_MAJOR = 136,
    PTS_MAJORS = 8,
    PTS_EACH = 256,
};

const char *proc_table(void)
{
    return "/proc";
}

/* "1 (any )name) S 1 2 ...": the name may contain blanks and brackets, so the fields are counted from the last
 * bracket. */
static bool parse_stat(struct slice stat, struct proc_info *out)
{
    const char *end = stat.p + stat.n;
    const char *at = stat.n ? memrchr(stat.p, ')', stat.n) : NULL;
    size_t n = 0;

    if (!at || end - at < 3)
        return false;
    at += 2;
    out->state = *at;
    for (int field = 0; field < START_FIELD; field++) {
        at = memchr(at, ' ', (size_t)(end - at));
        if (!at)
            return false;
        at++;
        if (field + 1 == TERMINAL_FIELD) {
            /* The number of a device is packed as in proc(5): bits 8 to 15 are its major number,
             * the others its minor number. */
            unsigned long device = strtoul(at, NULL, 10);
            unsigned long major = device >> 8 & 0xff,
                          minor = (device & 0xff) | (device >> 12 & 0xfff00);

            out->terminal[0] = '\0';
            if (major >= PTS_MAJOR && major < PTS_MAJOR + PTS_MAJORS)
                snprintf(out->terminal, sizeof out->terminal, "/dev/pts/%lu",
                         (major - PTS_MAJOR) * PTS_EACH + minor);
        }
    }
    while (at + n < end && at[n] >= '0' && at[n] <= '9' && n + 1 < sizeof out->start)
        n++;
    memcpy(out->start, at, n);
    out->start[n] = '\0';
    return n > 0;
}

bool proc_info(pid_t pid, struct proc_info *out)
{
    struct buf text = { 0 };
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    bool known = !file_read_all(AT_FDCWD, path, 0, STAT_MAX, &text, NULL) &&
                 parse_stat(buf_slice(&text), out);

    buf_fini(&text);
    return known;
}

void proc_domain(char *out, size_t cap)
{
    char space[64];
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space);
    struct buf text = { 0 };
    struct slice rest, id = { NULL, 0 };
    bool torn;

    out[0] = '\0';
    if (n > 0 && (size_t)n < sizeof space &&
        !file_read_all(AT_FDCWD, "/etc/machine-id", FILE_FOLLOW, ID_MAX, &text, NULL)) {
        rest = buf_slice(&text);
        if (slice_line(&rest, &id, &torn) && id.n)
            snprintf(out, cap, "linux:%.*s:%.*s", SLICE_ARG(id), (int)n, space);
    }
    buf_fini(&text);
}

void proc_boot(char *out, size_t cap)
{
    struct buf boot = { 0 };

    out[0] = '\0';
    if (!file_read_all(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 0, ID_MAX, &boot, NULL))
        snprintf(out, cap, "%.*s",
                 (int)(boot.n && boot.p[boot.n - 1] == '\n' ? boot.n - 1 : boot.n),
                 boot.p ? boot.p : "");
    buf_fini(&boot);
}

bool proc_is_boot(struct slice id)
{
    char own[ID_MAX + 1];

    proc_boot(own, sizeof own);
    return own[0] && slice_eq(slice_of(own), id);
}

bool proc_age_ms(int64_t *age)
{
    struct proc_info self;
    struct timespec up;
    long ticks = sysconf(_SC_CLK_TCK);

    if (ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &up) || !proc_info(getpid(), &self))
        return false;
    *age = time_ns(up) / 1000000 - strtoll(self.start, NULL, 10) * 1000 / ticks;
    return true;
}

bool proc_program(char *out, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", out, cap - 1);

    if (n > 0)
        out[n] = '\0';
    return n > 0;
}

/* One line of /proc/locks. */
static enum proc_lock process_linux_judge_lock(const char *line, const struct stat *file,
                                               pid_t *pid)
{
    unsigned major, minor;
    uint64_t ino;
    int holder;

    if (sscanf(line, "%*s %*s %*s %*s %d %x:%x:%" SCNu64, &holder, &major, &minor, &ino) != 4 ||
        ino != file->st_ino)
        return PROC_LOCK_NONE;
    *pid = holder > 0 ? holder : 0;
    return major == major(file->st_dev) && minor == minor(file->st_dev) ? PROC_LOCK_HELD
                                                                        : PROC_LOCK_LIKELY;
}

enum proc_lock proc_lock_of(const char *table, const struct stat *file, pid_t *pid)
{
    enum proc_lock best = PROC_LOCK_NONE;
    char path[PATH_MAX], line[256];
    FILE *f = NULL;

    if (table && snprintf(path, sizeof path, "%s/locks", table) < (int)sizeof path)
        f = fopen(path, "re");
    if (!f)
        return PROC_LOCK_UNKNOWN;
    while (best != PROC_LOCK_HELD && fgets(line, sizeof line, f)) {
        pid_t holder = 0;
        enum proc_lock one = process_linux_judge_lock(line, file, &holder);

        if (one != PROC_LOCK_NONE) {
            best = one;
            *pid = holder;
        }
    }
    fclose(f);
    return best;
}

int proc_end_fd(pid_t child)
{
    return pidfd_open(child, 0);
}

int proc_pipe(int ends[2], bool nonblocking)
{
    return pipe2(ends, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0));
}

int proc_spawn_close_from(posix_spawn_file_actions_t *actions, int first)
{
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int proc_signals_open(struct proc_signals *s, const sigset_t *set)
{
    *s = (struct proc_signals){ .fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK) };
    return s->fd < 0 ? -1 : 0;
}

void proc_signals_close(struct proc_signals *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

int proc_signals_next(const struct proc_signals *s)
{
    struct signalfd_siginfo info;

    return read(s->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void proc_signals_pause(struct proc_signals *s)
{
    (void)s;
}

void proc_signals_continue(struct proc_signals *s)
{
    (void)s;
}
