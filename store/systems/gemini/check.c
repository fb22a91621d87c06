#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/document.h"
#include "store/systems/gemini/gemini.h"

enum err_code gemini_check(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    return (gemini_is_document(ref->path.p) ? document_check : jsonl_check)(st, ref, cancel, fn,
                                                                            arg, e);
}

/* The files of a folder from which no id can be read are those of no session, and no list has them. */
static enum err_code gemini_check_folder(const struct store *st, const char *chats, finding_fn *fn,
                                         void *arg, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_DIR *dir = opendir(chats);
    enum err_code rc = ERR_OK;
    struct stat sb;

    for (const struct dirent *x = dir ? readdir(dir) : NULL; x && !rc; x = readdir(dir)) {
        struct session_ref unused;

        arena_reset(&a);
        const char *path = arena_format(&a, "%s/%s", chats, x->d_name);

        NEED(path);
        if (!gemini_is_chat(x->d_name) ||
            fstatat(dirfd(dir), x->d_name, &sb, AT_SYMLINK_NOFOLLOW) || !S_ISREG(sb.st_mode) ||
            gemini_at_path(st, slice_of(path), &a, &unused, NULL) != ERR_NOT_FOUND)
            continue;
        const struct finding f = {
            .kind = FINDING_NO_SESSION,
            .path = path,
            .why = sb.st_size ? "it does not begin as a session of Gemini does, so that neither "
                                "Gemini nor reprise lists it; Gemini may remove it"
                              : "it is empty; Gemini may remove it"
        };

        rc = fn(&f, arg, e);
    }
    return rc;
}

enum err_code gemini_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e)
{
    const char *folder = ((const struct jsonl_store *)st)->folder;
    AUTO_DIR *dir = opendir(folder);
    AUTO_ARENA a = { 0 };

    for (const struct dirent *x = dir ? readdir(dir) : NULL; x; x = readdir(dir)) {
        arena_reset(&a);
        const char *path = arena_format(&a, "%s/%s", folder, x->d_name);
        const char *chats = path ? arena_format(&a, "%s/chats", path) : NULL;

        NEED(chats);
        if (x->d_name[0] == '.' || x->d_type == DT_LNK)
            continue;
        if (config_dir_in_scope(scope, gemini_directory(st, scope, slice_of(path), &a), &a))
            TRY(gemini_check_folder(st, chats, fn, arg, e));
        NEED(!a.failed);
    }
    return ERR_OK;
}
