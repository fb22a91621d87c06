#include "tests/support/entire_fixture.h"

#include "store/systems/entire/entire.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* The output of a command without its last newline. */
static char *run(const char *command)
{
    FILE *p = popen(command, "r");
    char *text = NULL;
    size_t n = 0, cap = 0, got;

    assert_non_null(p);
    do {
        if (n + 4096 > cap) {
            cap = cap ? 2 * cap : 8192;
            text = realloc(text, cap);
            assert_non_null(text);
        }
        got = fread(text + n, 1, 4095, p);
        n += got;
    } while (got);
    if (pclose(p))
        fail_msg("this failed: %s", command);
    while (n && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    return text;
}

static char *run_in(const char *dir, const char *before, const char *fmt, va_list args)
{
    char command[16384];
    int n = snprintf(command, sizeof command, "cd '%s' && %s", dir, before);

    vsnprintf(command + n, sizeof command - (size_t)n, fmt, args);
    return run(command);
}

char *entire_fixture_git(const struct entire_fixture *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    char *text = run_in(w->repo, "GIT_OPTIONAL_LOCKS=0 git ", fmt, args);

    va_end(args);
    return text;
}

char *entire_fixture_sh(const struct entire_fixture *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    char *text = run_in(w->folder.path, "", fmt, args);

    va_end(args);
    return text;
}

void entire_fixture_open(struct entire_fixture *w, const char *name)
{
    store_close(w->store);
    w->store = NULL;
    folder_path(&w->folder, name, w->repo);
    assert_int_equal(entire_ops.open(&w->env, w->repo, &w->store, NULL), ERR_OK);
}

/* The folder of the repositories, which are made once. It is freed by the caller. */
static char *built(const char *which)
{
    char command[16384];

    snprintf(command, sizeof command, "sh '%s' '%s' %s", ENTIRE_WORLD, ENTIRE_CACHE, which);
    return run(command);
}

static void copy_built(const struct folder *f, const char *which, const char *suffix)
{
    /* Absolute paths are in states and at both ends of a linked work tree. A sweep copies one world thousands of times,
     * so there are few processes in it. */
    static const char script[] =
        "cp -a '%s%s/.' '%s'; cd '%s'; set --; "
        "for x in */.git/entire-sessions/*.json */.git/worktrees/*/gitdir wt/*/.git; do "
        "[ ! -f \"$x\" ] || set -- \"$@\" \"$x\"; done; "
        "[ $# = 0 ] || sed -i 's|%s|%s|g' \"$@\"";
    static char name[64], *from;
    char command[16384];

    if (!from || strcmp(name, which) != 0) {
        free(from);
        from = built(which);
        snprintf(name, sizeof name, "%s", which);
    }
    snprintf(command, sizeof command, script, from, suffix, f->path, f->path, from, f->path);
    free(run(command));
}

void entire_fixture_build(const struct folder *f, const char *which)
{
    copy_built(f, which, "");
}

void entire_fixture_share(const struct folder *f, const char *which)
{
    copy_built(f, which, ".shared");
}

void entire_fixture_make(struct entire_fixture *w, const char *which)
{

    *w = (struct entire_fixture){ .store = NULL };
    folder_make(&w->folder);
    entire_fixture_build(&w->folder, which);
    folder_path(&w->folder, "home", w->home);
    folder_path(&w->folder, "state", w->state);
    folder_path(&w->folder, "data", w->data);
    w->env = (struct store_env){ .home = w->home,
                                 .cwd = w->folder.path,
                                 .state_dir = w->state,
                                 .data_dir = w->data,
                                 .now_ms = 1770640000000 };
    entire_fixture_open(w, which);
}

void entire_fixture_remove(struct entire_fixture *w)
{
    store_close(w->store);
    arena_fini(&w->arena);
    folder_remove(&w->folder);
}

struct session_ref entire_fixture_find(struct entire_fixture *w, const char *id)
{
    struct session_ref ref;
    struct slice text = { id, strlen(id) };

    assert_int_equal(
        entire_ops.find(w->store, &(struct scope){ .all = true }, text, &w->arena, &ref, NULL),
        ERR_OK);
    return ref;
}
