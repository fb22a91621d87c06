#include "store/git/libgit2.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef REPRISE_STATIC
static enum err_code libgit2_load(struct err *e)
{
    (void)e;
    return ERR_OK;
}
#else
#define FREE_NOTHING(name)                                                                         \
    static void name##_free_nothing(git_##name *none)                                              \
    {                                                                                              \
        (void)none;                                                                                \
    }
LIBGIT2_FREES(FREE_NOTHING)

#define FREES_NOTHING(name) .name##_free = name##_free_nothing,
static const struct libgit2 libgit2_none = { LIBGIT2_FREES(FREES_NOTHING) };
const struct libgit2 *_Atomic libgit2_table = &libgit2_none;

/* The caller holds the lock. */
static enum err_code libgit2_load(struct err *e)
{
    static struct libgit2 gitlib_functions;
    void *handle = dlopen(LIBGIT2_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool whole = true;

    if (!handle)
        return err_set(e, ERR_UNSUPPORTED, LIBGIT2_FILE,
                       "load libgit2: the library is not installed");
#define FIND(name)                                                                                 \
    const void *found_##name = dlsym(handle, "git_" #name);                                        \
    memcpy(&gitlib_functions.name, &found_##name, sizeof gitlib_functions.name);                   \
    whole = whole && found_##name;
#define FIND_FREE(name) FIND(name##_free)
    LIBGIT2_FUNCTIONS(FIND)
    LIBGIT2_FREES(FIND_FREE)
    dlclose(handle);
    if (!whole)
        return err_set(e, ERR_UNSUPPORTED, LIBGIT2_FILE, "load libgit2: this is another version");
    atomic_store_explicit(&libgit2_table, &gitlib_functions, memory_order_release);
    return ERR_OK;
}
#endif

/* Sets what this program needs of libgit2. Options belong to the process: libgit2 replaces them without a lock while
 * other threads read them. They are therefore set once, before anything is opened; extensions of a host are kept. */
static bool gitlib_set_options(void)
{
    git_strarray known = { NULL, 0 };
    bool listed = false;

    if (git_libgit2_opts(GIT_OPT_GET_EXTENSIONS, &known) != 0)
        return false;
    const char **all = calloc(known.count + 1, sizeof *all);
    bool ok = all != NULL;

    for (size_t i = 0; ok && i < known.count; i++) {
        all[i] = known.strings[i];
        listed = listed || strcmp(all[i], "worktreeconfig") == 0;
    }
    if (ok && !listed) {
        all[known.count] = "worktreeconfig"; /* does not affect what is read here */
        ok = git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, all, known.count + 1) == 0;
    }
    free(all);
    git_strarray_dispose(&known);
    /* A ref is whole before it has its name. */
    return ok && git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1) == 0;
}

/* The options of a process need a lock of the process: tests/check_layers.sh knows these and the table by name. libgit2 counts the
 * starts, and ours is kept, so that a host's last git_libgit2_shutdown() does not stop libgit2 in our threads. */
enum err_code gitlib_ready(struct err *e)
{
    static pthread_mutex_t gitlib_lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool gitlib_started;

    if (atomic_load(&gitlib_started))
        return ERR_OK;
    pthread_mutex_lock(&gitlib_lock);
    enum err_code rc = atomic_load(&gitlib_started) ? ERR_OK : libgit2_load(e);

    if (!rc && !atomic_load(&gitlib_started)) {
        if (git_libgit2_init() < 0) {
            rc = err_nomem(e);
        } else if (!gitlib_set_options()) {
            git_libgit2_shutdown();
            rc = err_nomem(e);
        } else {
            atomic_store(&gitlib_started, true);
        }
    }
    pthread_mutex_unlock(&gitlib_lock);
    return rc;
}
