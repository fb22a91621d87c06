#include "tests/test.h"

#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "tests/support/grown_logs.h"
#include "tests/sweeps/trial.h"

/* The directory in which an operation is broken: see trial.h. */

enum { PAST_S = 1700000000, PAST_NS = 123456789 };

/* Makes the times of two such directories equal and long past, because a fresh torn tail is waited for. */
static void age(const struct trial_dir *y)
{
    char copy[4096];
    char *roots[] = { copy, NULL };
    const struct timespec past[2] = { { .tv_sec = PAST_S, .tv_nsec = PAST_NS },
                                      { .tv_sec = PAST_S, .tv_nsec = PAST_NS } };
    FTSENT *x;

    snprintf(copy, sizeof copy, "%s", y->user);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    assert_non_null(fts);
    while ((x = fts_read(fts)))
        if (x->fts_info != FTS_D && x->fts_info != FTS_DP)
            assert_int_equal(utimensat(AT_FDCWD, x->fts_accpath, past, AT_SYMLINK_NOFOLLOW), 0);
    fts_close(fts);
}

void trial_dir_make(struct trial_dir *y, const struct trial *s)
{
    folder_in_memory();
    signal(SIGIO, SIG_IGN); /* of leases */
    *y = (struct trial_dir){ .arg = s->arg };
    folder_make(&y->folder);
    folder_dir(&y->folder, "user");
    folder_dir(&y->folder, "state");
    folder_dir(&y->folder, "data");
    folder_path(&y->folder, "user", y->user);
    folder_path(&y->folder, "state", y->state);
    folder_path(&y->folder, "data", y->data);
    y->env = (struct store_env){
        .state_dir = y->state, .data_dir = y->data, .cwd = y->user, .now_ms = 1800000000000
    };
    s->make(y);
    age(y);
}

void trial_dir_remove(struct trial_dir *y, const struct trial *s)
{
    if (s->drop)
        s->drop(y);
    folder_remove(&y->folder);
}

void trial_dir_need_mount(void)
{
    char dir[] = "/tmp/reprise-mount-XXXXXX";
    bool works = geteuid() == 0 && mkdtemp(dir) && mount("tmpfs", dir, "tmpfs", 0, "size=1m") == 0;

    if (works)
        umount2(dir, MNT_DETACH);
    rmdir(dir);
    if (works)
        return;
    print_message("skipped: a file system can only be mounted by root\n");
    skip();
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_bytes(struct buf *out, const char *path)
{
    char piece[4096];
    FILE *in = fopen(path, "rb");
    size_t n;

    assert_non_null(in);
    while ((n = fread(piece, 1, sizeof piece, in)) > 0) {
        for (size_t i = 0; i < n; i++) /* names left by a power cut: the image is one text */
            piece[i] = piece[i] ? piece[i] : '\1';
        assert_int_equal(buf_add(out, (struct slice){ piece, n }), ERR_OK);
    }
    fclose(in);
}

static void add_entry(struct buf *out, const FTSENT *x, size_t root, bool times)
{
    const struct timespec past = { .tv_sec = PAST_S, .tv_nsec = PAST_NS };
    const struct stat *st = x->fts_statp;
    struct buf bytes = { 0 };

    assert_int_equal(buf_addf(out, "%s %o", x->fts_path + root, st->st_mode), ERR_OK);
    if (x->fts_info == FTS_F)
        add_bytes(&bytes, x->fts_accpath);
    if (x->fts_info == FTS_SLNONE || x->fts_info == FTS_SL) {
        char text[4096];
        ssize_t n = readlink(x->fts_accpath, text, sizeof text);

        assert_int_equal(buf_add(&bytes, (struct slice){ text, n > 0 ? (size_t)n : 0 }), ERR_OK);
    }
    const struct timespec *t = grown_logs_settle(x->fts_path + root, &bytes) ? &past : &st->st_mtim;

    if (x->fts_info != FTS_D && times)
        assert_int_equal(buf_addf(out, " %lld.%09ld", (long long)t->tv_sec, t->tv_nsec), ERR_OK);
    assert_int_equal(buf_add_byte(out, '\n'), ERR_OK);
    assert_int_equal(buf_add(out, buf_slice(&bytes)), ERR_OK);
    buf_fini(&bytes);
}

char *trial_dir_image(const struct trial_dir *y, bool times)
{
    char copy[4096];
    char *roots[] = { copy, NULL };
    struct buf out = { 0 };
    FTSENT *x;

    snprintf(copy, sizeof copy, "%s", y->user);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);

    assert_non_null(fts);
    while ((x = fts_read(fts))) {
        if (strncmp(x->fts_name, "lost-", 5) == 0) /* by a power cut: see powercut.c */
            fts_set(fts, x, FTS_SKIP);
        else if (x->fts_info != FTS_DP && x->fts_level > 0)
            add_entry(&out, x, strlen(y->user), times);
    }
    fts_close(fts);
    assert_non_null(buf_cstr(&out));
    return out.p;
}
