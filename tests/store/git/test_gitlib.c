#include "tests/test.h"

#include <git2.h>
#include <pthread.h>

#include "store/git/gitfiles.h"
#include "store/git/libgit2.h"
#include "store/git/repo.h"
#include "support/scratch.h"

enum { OPENERS = 8, OPENINGS = 60 };

/* libgit2 1.5 loses the memory of a regular expression that does not match, as it reads the extensions of a repository. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libpcre2";
}

struct opener {
    pthread_t thread;
    pthread_barrier_t *start;
    atomic_int *running; /* threads that open */
    const char *dir;
    int failed;
};

static void *open_again_and_again(void *arg)
{
    struct opener *o = arg;

    pthread_barrier_wait(o->start);
    for (int i = 0; i < OPENINGS; i++) {
        git_repository *repo = NULL;

        if (repo_open(o->dir, &repo, NULL))
            o->failed++;
        repo_close(repo);
    }
    atomic_fetch_sub(o->running, 1);
    return NULL;
}

/* What a thread does that found no repository, while others load the library. */
static void *free_nothing(void *arg)
{
    struct opener *o = arg;

    pthread_barrier_wait(o->start);
    while (atomic_load(o->running)) {
        git_tree_free(NULL);
        git_worktree_free(NULL);
    }
    return NULL;
}

/* The first test, so that the threads also compete for the start of libgit2. */
IN_SCRATCH(two_repositories_are_opened_in_several_threads)
{
    struct opener openers[OPENERS + 1];
    pthread_barrier_t start;
    atomic_int running = OPENERS;
    static const char *const names[] = { "a", "b" };
    char path[64], dirs[2][4096];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/.git/HEAD", names[i]);
        scratch_write(state, path, SLICE("ref: refs/heads/main\n"));
        snprintf(path, sizeof path, "%s/.git/objects/info/x", names[i]);
        scratch_write(state, path, SLICE(""));
        snprintf(path, sizeof path, "%s/.git/refs/heads/x", names[i]);
        scratch_write(state, path, SLICE(""));
        snprintf(path, sizeof path, "%s/.git/config", names[i]);
        scratch_write(
            state, path,
            SLICE("[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = true\n"));
        snprintf(dirs[i], sizeof dirs[i], "%s", scratch_path(state, names[i]));
    }
    pthread_barrier_init(&start, NULL, OPENERS + 1);
    for (int i = 0; i <= OPENERS; i++) {
        openers[i] = (struct opener){ .start = &start, .running = &running, .dir = dirs[i % 2] };
        assert_int_equal(pthread_create(&openers[i].thread, NULL,
                                        i < OPENERS ? open_again_and_again : free_nothing,
                                        &openers[i]),
                         0);
    }
    for (int i = 0; i <= OPENERS; i++) {
        pthread_join(openers[i].thread, NULL);
        assert_int_equal(openers[i].failed, 0);
    }
    pthread_barrier_destroy(&start);
}

TEST(libgit2_is_started_once)
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(gitlib_ready(NULL), ERR_OK);
    assert_int_equal(git_libgit2_init(), 2);
    assert_int_equal(git_libgit2_shutdown(), 1);
}

TEST(libgit2_survives_a_shutdown_by_the_host)
{
    git_repository *repo = NULL;

    assert_true(git_libgit2_init() > 0);
    assert_int_equal(gitlib_ready(NULL), ERR_OK);
    assert_true(git_libgit2_shutdown() > 0);
    assert_int_equal(git_repository_open(&repo, "/dev/null"), GIT_ENOTFOUND);
}

/* A host may have allowed an extension before our start; ours is added to its own. Its list is not replaced later. */
TEST(extensions_of_a_host_are_kept)
{
    static const char *host[] = { "hostonly", "worktreeconfig" };
    git_strarray now = { NULL, 0 };
    bool kept = false;

    assert_int_equal(gitlib_ready(NULL), ERR_OK);
    assert_int_equal(git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, host, (size_t)2), 0);
    assert_int_equal(gitlib_ready(NULL), ERR_OK);
    assert_int_equal(git_libgit2_opts(GIT_OPT_GET_EXTENSIONS, &now), 0);
    for (size_t i = 0; i < now.count; i++)
        kept = kept || strcmp(now.strings[i], "hostonly") == 0;
    git_strarray_dispose(&now);
    assert_true(kept);
}
