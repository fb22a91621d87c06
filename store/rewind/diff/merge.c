#include "store/rewind/diff/merge.h"

#include <git2.h>
#include <string.h>

#include "store/git/gitlib.h"

static bool is_text(struct slice s)
{
    return s.n == 0 || !memchr(s.p, '\0', s.n);
}

static git_merge_file_input input(struct slice s)
{
    return (git_merge_file_input){ .version = GIT_MERGE_FILE_INPUT_VERSION,
                                   .ptr = s.n ? s.p : "",
                                   .size = s.n };
}

enum err_code merge_texts(struct slice ancestor, struct slice ours, struct slice theirs,
                          struct arena *a, struct slice *out, bool *clean, struct err *e)
{
    git_merge_file_input base = input(ancestor), mine = input(ours), other = input(theirs);
    const git_merge_file_options how = { .version = GIT_MERGE_FILE_OPTIONS_VERSION };
    git_merge_file_result result = { 0 };

    *clean = false;
    if (!is_text(ancestor) || !is_text(ours) || !is_text(theirs))
        return ERR_OK;
    if (!gitlib_ready())
        return err_nomem(e);
    int failed = git_merge_file(&result, &base, &mine, &other, &how);
    enum err_code rc = failed ? err_nomem(e) : ERR_OK;

    if (!rc && result.automergeable) {
        *out = arena_copy(a, (struct slice){ result.len ? result.ptr : "", result.len });
        *clean = true;
        rc = out->p ? ERR_OK : err_nomem(e);
    }
    git_merge_file_result_free(&result);
    return rc;
}
