#include "tests/test.h"

#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "store/maintenance/trash.h"
#include "tests/sweeps/change_sweep.h"

/* A session with a side directory, a link in it, and backups. For moves across file systems the data directory is a
 * tmpfs of its own. */
static void make_session(struct trial_dir *y)
{
    char path[4096];

    folder_put(&y->folder, "user/p/s.jsonl", SLICE("{\"a\":1}\n{\"a\":2}\n"));
    folder_put(&y->folder, "user/p/other.jsonl", SLICE("{}\n"));
    folder_put(&y->folder, "user/p/s/agent.jsonl", SLICE("{\"b\":1}\n"));
    folder_put(&y->folder, "user/p/s/deep/two.jsonl", SLICE("{\"b\":2}\n"));
    folder_put(&y->folder, "user/history/s/b@v1", SLICE("backup\n"));
    assert_int_equal(symlink("two.jsonl", folder_path(&y->folder, "user/p/s/deep/link", path)), 0);
    if (y->arg)
        assert_int_equal(mount("tmpfs", y->data, "tmpfs", 0, "size=1m"), 0);
}

static enum trial_end put(struct trial_dir *y)
{
    char part[3][4096];
    const char *parts[3] = { folder_path(&y->folder, "user/p/s.jsonl", part[0]),
                             folder_path(&y->folder, "user/p/s", part[1]),
                             folder_path(&y->folder, "user/history/s", part[2]) };
    struct trash_request r = { .system = "claude",
                               .store = y->user,
                               .id = SLICE("s"),
                               .title = SLICE("t"),
                               .part = parts,
                               .parts = 3 };
    struct trash_list list;
    struct change_log *log;
    struct err e = { 0 };
    enum err_code rc = change_log_open(&y->env, &log, &e);

    if (!rc) {
        rc = trash_add(log, &y->env, "delete", &r, 1, &list, &e);
        if (!rc)
            trash_list_fini(&list);
        change_log_close(log);
    }
    return trial_end_of(rc, &e);
}

static enum trial_end restore(struct trial_dir *y)
{
    struct change_log *log;
    struct trash_list list = { 0 };
    struct err e = { 0 };
    enum err_code rc = change_log_open(&y->env, &log, &e);

    if (rc)
        return trial_end_of(rc, &e);
    rc = trash_read(&y->env, &list, &e);
    if (!rc && list.n != 1)
        rc = err_set(&e, ERR_NOT_FOUND, NULL, "%zu items in the trash", list.n);
    if (!rc)
        rc = trash_restore(log, &list.item[0], &e);
    trash_list_fini(&list);
    change_log_close(log);
    return trial_end_of(rc, &e);
}

static void make_deleted(struct trial_dir *y)
{
    make_session(y);
    assert_int_equal(put(y), END_DONE);
}

static void unmount(struct trial_dir *y)
{
    if (y->arg)
        assert_int_equal(umount2(y->data, MNT_DETACH), 0);
}

static void hold(const char *name, void (*make)(struct trial_dir *),
                 enum trial_end (*act)(struct trial_dir *), bool across)
{
    struct trial s = { .name = name,
                       .make = make,
                       .act = act,
                       .recover = change_sweep_recover,
                       .undo = change_sweep_undo,
                       .drop = unmount,
                       .arg = across ? "across" : NULL,
                       .thorough = true,
                       .stride = across ? 5 : 2 };

    trial_must_hold(&s);
}

TEST(session_is_in_the_store_or_in_the_trash)
{
    hold("trash", make_session, put, false);
}

TEST(session_is_in_the_trash_or_restored)
{
    hold("restore from the trash", make_deleted, restore, false);
}

TEST(session_is_in_the_store_or_in_a_trash_elsewhere)
{
    trial_dir_need_mount();
    hold("trash across file systems", make_session, put, true);
}

TEST(session_is_in_a_trash_elsewhere_or_restored)
{
    trial_dir_need_mount();
    hold("restore across file systems", make_deleted, restore, true);
}
