#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/proc/live.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"
#define BOOT_S 1800000000 /* boot time of the test machine */

/* A private process table: one process, which began a hundred seconds after the machine. */
struct place {
    struct folder folder;
    struct agents *agents;
    struct agents_profile of;
    char proc[4096], config[4096];
};

static int set_up(void **state)
{
    static const char *const programs[] = { "agent", "/agent-code/", NULL };
    struct place *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_path(&p->folder, "proc", p->proc);
    folder_path(&p->folder, "config", p->config);
    folder_dir(&p->folder, "config");
    folder_dir(&p->folder, "home/.agent");
    folder_put(&p->folder, "proc/stat", SLICE("cpu 1 2 3\nbtime 1800000000\n"));
    p->of = (struct agents_profile){ .proc = p->proc,
                                     .program = programs,
                                     .forks = "--fork",
                                     .config = p->config,
                                     .config_variable = "AGENT_DIR",
                                     .config_at_home = ".agent" };
    p->agents = agents_new(&p->of);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    agents_free(p->agents);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static void process(struct place *p, const char *pid, struct slice args, const char *cwd)
{
    char name[64], path[4096], stat_text[256];

    snprintf(name, sizeof name, "proc/%s/cmdline", pid);
    folder_put(&p->folder, name, args);
    snprintf(name, sizeof name, "proc/%s/stat", pid);
    snprintf(stat_text, sizeof stat_text,
             "%s (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %ld 20 21\n", pid,
             100 * sysconf(_SC_CLK_TCK));
    folder_put(&p->folder, name, slice_of(stat_text));
    snprintf(name, sizeof name, "proc/%s/cwd", pid);
    assert_int_equal(symlink(cwd, folder_path(&p->folder, name, path)), 0);
}

/* Returns the verdict on a session in /srv/app that was written to so many seconds after the machine began. */
static enum agents_evidence ask(struct place *p, int64_t written_s, const char *cwd)
{
    struct agents_query q = { .session = SLICE(ID),
                              .written_ms = (BOOT_S + written_s) * 1000,
                              .cwd = cwd };
    pid_t pid;

    return agents_lookup(p->agents, &q, &pid);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(without_an_agent_nothing_is_found)
{
    struct place *p = *state;

    process(p, "10", SLICE("less\0" ID ".jsonl\0"), "/srv/app");
    process(p, "11", SLICE("sh\0-c\0agent --resume " ID "\0"), "/srv/app");
    process(p, "12", SLICE("grep\0agent\0" ID "\0"), "/srv/app");
    assert_int_equal(ask(*state, 200, "/srv/app"), AGENTS_NONE);
}

CASE(an_id_on_the_command_line_names_the_session)
{
    struct place *p = *state;
    struct agents_query q = { .session = SLICE(ID) };
    pid_t pid;

    process(p, "10", SLICE("/usr/bin/agent\0--resume\0" ID "\0"), "/elsewhere");
    assert_int_equal(agents_lookup(p->agents, &q, &pid), AGENTS_NAMED);
    assert_int_equal(pid, 10);
}

CASE(an_option_may_be_one_word_with_the_id)
{
    process(*state, "10", SLICE("agent\0--resume=" ID "\0"), "/elsewhere");
    assert_int_equal(ask(*state, 0, NULL), AGENTS_NAMED);
}

CASE(a_session_that_is_only_forked_is_not_held)
{
    process(*state, "10", SLICE("agent\0--resume\0" ID "\0--fork\0"), "/elsewhere");
    assert_int_equal(ask(*state, 200, "/srv/app"), AGENTS_ELSEWHERE);
}

CASE(the_script_of_an_interpreter_is_the_agent)
{
    process(*state, "10", SLICE("node\0/opt/agent-code/cli.js\0-r\0" ID "\0"), "/elsewhere");
    assert_int_equal(ask(*state, 0, NULL), AGENTS_NAMED);
}

CASE(an_agent_in_the_directory_may_have_written_later_rows)
{
    process(*state, "10", SLICE("agent\0"), "/srv/app");

    assert_int_equal(ask(*state, 200, NULL), AGENTS_MAYBE);
    assert_int_equal(ask(*state, 200, "/srv/app"), AGENTS_IN_CWD);
    assert_int_equal(ask(*state, 200, "/srv/app2"), AGENTS_ELSEWHERE);
}

CASE(an_agent_started_later_has_not_written_yet)
{
    process(*state, "10", SLICE("agent\0"), "/srv/app");
    assert_int_equal(ask(*state, 50, "/srv/app"), AGENTS_ELSEWHERE);
}

CASE(an_agent_of_another_store_does_not_count)
{
    struct place *p = *state;
    char text[4200];
    int n = snprintf(text, sizeof text, "A=b%cHOME=%s/home", 0, p->folder.path);

    process(p, "10", SLICE("agent\0--resume\0" ID "\0"), "/srv/app");
    folder_put(&p->folder, "proc/10/environ", (struct slice){ text, (size_t)n + 1 });
    assert_int_equal(ask(p, 200, "/srv/app"), AGENTS_NONE);
}

CASE(an_agent_of_this_store_counts)
{
    struct place *p = *state;
    char text[8200];
    int n = snprintf(text, sizeof text, "HOME=%s/home%cAGENT_DIR=%s", p->folder.path, 0, p->config);

    process(p, "10", SLICE("agent\0--resume\0" ID "\0"), "/srv/app");
    folder_put(&p->folder, "proc/10/environ", (struct slice){ text, (size_t)n + 1 });
    assert_int_equal(ask(p, 200, "/srv/app"), AGENTS_NAMED);
}

CASE(a_registered_agent_is_not_counted_again)
{
    struct place *p = *state;
    struct live_entry entry = { .session_id = SLICE("another"),
                                .live = { .state = LIVE_RUNNING, .pid = 10 } };
    struct live_table known = { .entry = &entry, .n = 1 };
    struct agents_query q = { .session = SLICE(ID),
                              .written_ms = (BOOT_S + 200) * (int64_t)1000,
                              .cwd = "/srv/app",
                              .known = &known };
    pid_t pid;

    process(p, "10", SLICE("agent\0"), "/srv/app");
    assert_int_equal(agents_lookup(p->agents, &q, &pid), AGENTS_NONE);
}

CASE(without_a_process_table_nothing_is_found)
{
    struct place *p = *state;
    struct agents_profile nowhere = p->of;

    nowhere.proc = "/nowhere";
    agents_free(p->agents);
    p->agents = agents_new(&nowhere);
    assert_int_equal(ask(p, 200, "/srv/app"), AGENTS_NONE);
}

/* ---- ps ---- */

/* Takes the place of ps(1); NULL: ps is not installed. The time is that of the real clock, in which ps counts. */
static enum agents_evidence ask_ps_that(struct place *p, const char *does, int64_t written_ago_s,
                                        pid_t *pid)
{
    struct agents_profile of = p->of;
    struct agents_query q = { .session = SLICE(ID), .cwd = "/srv/app" };
    struct timespec now;
    char bin[4096], path[4096], script[1024], *kept = strdup(getenv("PATH"));

    folder_dir(&p->folder, "bin");
    if (does) {
        snprintf(script, sizeof script, "#!/bin/sh\n%s\n", does);
        folder_put(&p->folder, "bin/ps", slice_of(script));
        assert_int_equal(chmod(folder_path(&p->folder, "bin/ps", path), 0755), 0);
    }
    setenv("PATH", folder_path(&p->folder, "bin", bin), 1);
    of.proc = NULL;
    agents_free(p->agents);
    p->agents = agents_new(&of);
    clock_gettime(CLOCK_REALTIME, &now);
    q.written_ms = ((int64_t)now.tv_sec - written_ago_s) * 1000;
    enum agents_evidence answer = agents_lookup(p->agents, &q, pid);

    setenv("PATH", kept, 1);
    free(kept);
    return answer;
}

CASE(ps_lists_the_agents_where_there_is_no_table)
{
    static const struct {
        const char *prints;
        enum agents_evidence says;
        pid_t pid;
    } lists[] = {
        { "  1   01-00:00:00 init\n 77      00:05 vi agent", AGENTS_NONE, 0 },
        { " 12  01:00:00 /usr/bin/agent --resume " ID, AGENTS_NAMED, 12 },
        { " 12  01:00:00 agent --fork --resume " ID, AGENTS_MAYBE, 12 },
        { " 13  02:00:00 node /opt/agent", AGENTS_MAYBE, 13 }, /* it may run anywhere */
        { " 14     01:00 agent", AGENTS_ELSEWHERE, 14 },       /* started after the last row */
        { " 14     01:00 agent\n 15 2-03:04:05 agent", AGENTS_MAYBE, 15 },
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char does[512];
        pid_t pid;

        snprintf(does, sizeof does, "printf '%%s\\n' '%s'", lists[i].prints);
        enum agents_evidence says = ask_ps_that(*state, does, 600, &pid);

        if (says != lists[i].says || pid != lists[i].pid)
            fail_msg("\"%s\": %d, process %d", lists[i].prints, (int)says, (int)pid);
    }
}

/* What cannot be known must not be taken for quiet. */
CASE(without_ps_any_session_may_be_in_use)
{
    pid_t pid;

    assert_int_equal(ask_ps_that(*state, NULL, 600, &pid), AGENTS_MAYBE);
    assert_int_equal(ask_ps_that(*state, "exit 1", 600, &pid), AGENTS_MAYBE);
    assert_int_equal(pid, 0);
}
