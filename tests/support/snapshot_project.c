#include "tests/support/snapshot_project.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "tests/test.h"

const char *project_run(const struct project *p, const char *command, char out[256])
{
    char line[8192];

    snprintf(line, sizeof line,
             "cd '%s' && HOME='%s' GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=2 "
             "GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=a GIT_CONFIG_KEY_1=user.email "
             "GIT_CONFIG_VALUE_1=a@b sh -c '%s'",
             p->root, p->home, command);
    FILE *f = popen(line, "re");

    assert_non_null(f);
    out[0] = '\0';
    if (fgets(out, 256, f))
        out[strcspn(out, "\n")] = '\0';
    assert_int_equal(pclose(f), 0);
    return out;
}

void project_begin(struct project *p)
{
    char out[256];

    *p = (struct project){ .env = { .now_ms = time_clock_ms(CLOCK_REALTIME) } };
    folder_make(&p->f);
    folder_dir(&p->f, "home");
    folder_dir(&p->f, "project");
    folder_path(&p->f, "project", p->root);
    folder_path(&p->f, "state", p->state);
    folder_path(&p->f, "home", p->home);
    p->env.home = p->home;
    p->env.cwd = p->root;
    p->env.state_dir = p->state;
    folder_put(&p->f, "project/a.txt", SLICE("one\n"));
    folder_put(&p->f, "project/sub/deep/b", SLICE("b\n"));
    folder_put(&p->f, "project/sub.c", SLICE("c\n"));
    folder_put(&p->f, "project/ignored.o", SLICE("o\n"));
    folder_put(&p->f, "project/.gitignore", SLICE("*.o\nout/\n"));
    folder_put(&p->f, "project/out/x", SLICE("x\n"));
    project_run(p, "ln -s a.txt link; chmod 755 sub.c; mkdir empty", out);
}

enum err_code project_take(struct project *p, enum snapshot_kind kind)
{
    struct snapshot_request req = { .agent = "claude",
                                    .session = SLICE("s-1"),
                                    .prompt = SLICE("do it"),
                                    .cwd = p->root,
                                    .kind = kind,
                                    .limit_ms = 60000 };
    struct err e = { 0 };
    enum err_code rc = snapshot_take(&p->env, &req, &e);

    if (rc)
        print_message("%s\n", e.text);
    return rc;
}

struct snapshot project_newest(struct project *p, struct snapshot_log *log)
{
    assert_int_equal(snapshot_log_read(&p->env, p->root, log, NULL), ERR_OK);
    assert_true(log->n > 0);
    return log->snapshot[log->n - 1];
}

const char *project_ask(struct project *p, const char *command, char out[256])
{
    struct snapshot_log log;
    char line[4096];
    const struct snapshot s = project_newest(p, &log);

    snprintf(line, sizeof line, "T=%.*s N=%.*s; export GIT_DIR=\"%s\"; %s", SLICE_ARG(s.tree),
             (int)s.notes.n, s.notes.n ? s.notes.p : "", log.dir, command);
    snapshot_log_fini(&log);
    return project_run(p, line, out);
}

size_t project_packs(struct project *p)
{
    struct snapshot_log log;
    char path[4200];
    size_t n = 0;

    project_newest(p, &log);
    snprintf(path, sizeof path, "%s/objects/pack", log.dir);
    DIR *d = opendir(path);

    assert_non_null(d);
    for (const struct dirent *x; (x = readdir(d)) != NULL;)
        n += strstr(x->d_name, ".pack") != NULL;
    closedir(d);
    snapshot_log_fini(&log);
    return n;
}

struct snapshot_project project_only(struct project *p, struct snapshot_projects *all)
{
    assert_int_equal(snapshot_projects_read(&p->env, all, NULL), ERR_OK);
    assert_int_equal(all->n, 1);
    assert_string_equal(all->project[0].root, p->root);
    assert_true(all->project[0].bytes > 0);
    return all->project[0];
}

void project_is_tree_of_git(struct project *p)
{
    struct snapshot_log log;
    char want[256];
    const struct snapshot s = project_newest(p, &log);

    project_run(p, "git add -A && git write-tree", want);
    assert_int_equal(s.tree.n, SNAPSHOT_HEX);
    assert_memory_equal(s.tree.p, want, SNAPSHOT_HEX);
    snapshot_log_fini(&log);
}
