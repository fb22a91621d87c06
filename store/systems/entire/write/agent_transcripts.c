#include "store/systems/entire/write/agent_transcripts.h"

#include <dirent.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/json/json.h"

struct placing {
    const struct agent_session *s;
    const char *home;
    struct arena *a;
    const char *path, *folder;
    struct err *e;
};

static bool is_agent_dir(const char *path)
{
    struct stat st;

    return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool name_starts_with(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* "-<what>.json" or "-<what>.jsonl" */
static bool ends(const char *name, struct slice what)
{
    static const char *const suffixes[] = { ".json", ".jsonl" };
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t k = strlen(suffixes[i]);

        if (n > what.n + k + 1 && strcmp(name + n - k, suffixes[i]) == 0 &&
            memcmp(name + n - k - what.n, what.p, what.n) == 0 && name[n - k - what.n - 1] == '-')
            return true;
    }
    return false;
}

/* The last by name of the files in a directory that are called so; NULL: none. A date stands in front. */
static const char *newest_match(struct placing *p, const char *dir, const char *front,
                                struct slice end)
{
    DIR *d = dir ? opendir(dir) : NULL;
    const struct dirent *x;
    const char *best = NULL;

    while (d && (x = readdir(d)))
        if (name_starts_with(x->d_name, front) && ends(x->d_name, end) &&
            (!best || strcmp(x->d_name, best) > 0))
            best = arena_format(p->a, "%s", x->d_name);
    if (d)
        closedir(d);
    return best ? arena_format(p->a, "%s/%s", dir, best) : NULL;
}

/* ---- Gemini CLI ---- */

/* The directory of a project: named by the sum of its path, as the agent itself does; where there is none, as Entire does. */
static const char *gemini_folder(struct placing *p)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char hex[65] = "";
    size_t length = strlen(p->s->root);
    char *plain = arena_alloc(p->a, length + 1);

    if (!plain || !EVP_Digest(p->s->root, length, sum, &n, EVP_sha256(), NULL))
        return NULL;
    for (unsigned i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    const char *own = arena_format(p->a, "%s/.gemini/tmp/%s", p->home, hex);

    if (!own || is_agent_dir(own))
        return own;
    for (size_t i = 0; i <= length; i++) {
        char c = p->s->root[i];
        bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        plain[i] = kept || c == '\0' ? c : '-';
    }
    return arena_format(p->a, "%s/.gemini/tmp/%s", p->home, plain);
}

static enum err_code place_gemini(struct placing *p)
{
    struct slice shown = { p->s->id.p, p->s->id.n < 8 ? p->s->id.n : 8 };

    p->folder = gemini_folder(p);
    const char *chats = p->folder ? arena_format(p->a, "%s/chats", p->folder) : NULL;

    if (!chats)
        return err_nomem(p->e);
    p->path = newest_match(p, chats, "session-", shown);
    if (!p->path)
        p->path = arena_format(p->a, "%s/%.*s.json", chats, SLICE_ARG(p->s->id));
    return p->path ? ERR_OK : err_nomem(p->e);
}

/* ---- Codex ---- */

/* Directories of years, months and days; depth: how many there are still. */
static const char *find_rollout(struct placing *p, const char *dir, int depth)
{
    if (depth == 0)
        return newest_match(p, dir, "rollout-", p->s->id);
    DIR *d = opendir(dir);
    const struct dirent *x;
    const char *found = NULL;

    while (d && !found && (x = readdir(d)))
        if (x->d_name[0] >= '0' && x->d_name[0] <= '9')
            found = find_rollout(p, arena_format(p->a, "%s/%s", dir, x->d_name), depth - 1);
    if (d)
        closedir(d);
    return found;
}

/* When the session began: in its first row. */
static bool began(struct slice transcript, struct arena *a, char out[TIME_TEXT])
{
    struct slice line, payload, stamp;
    bool torn;
    int64_t ms;

    if (!slice_line(&transcript, &line, &torn) ||
        (!(json_get(line, "payload", &payload) && json_get_text(payload, "timestamp", a, &stamp)) &&
         !json_get_text(line, "timestamp", a, &stamp)) ||
        !time_parse(stamp, &ms) || ms < 0)
        return false;
    time_format(ms, out);
    return strlen(out) == 24; /* a year of four digits */
}

static enum err_code place_codex(struct placing *p)
{
    const char *sessions = arena_format(p->a, "%s/.codex/sessions", p->home);
    char t[TIME_TEXT];

    if (!sessions)
        return err_nomem(p->e);
    p->path = find_rollout(p, sessions, 3);
    if (p->path) {
        p->folder = sessions;
        return ERR_OK;
    }
    if (!began(p->s->transcript, p->a, t))
        return err_set(p->e, ERR_UNSUPPORTED, p->s->id.p,
                       "retrieve: its first row does not record when it began");
    p->folder = arena_format(p->a, "%s/%.4s/%.2s", sessions, t, t + 5);
    p->path = p->folder
                  ? arena_format(p->a, "%s/%.2s/rollout-%.10sT%.2s-%.2s-%.2s-%.*s.jsonl", p->folder,
                                 t + 8, t, t + 11, t + 14, t + 17, SLICE_ARG(p->s->id))
                  : NULL;
    return p->path ? ERR_OK : err_nomem(p->e);
}

/* ---- all ---- */

/* Later checkpoints may keep a short form that Entire makes of any agent's rows, and no agent reads. */
static bool is_short_form(struct slice transcript)
{
    struct slice line, v, version;
    bool torn;

    return slice_line(&transcript, &line, &torn) && json_get(line, "v", &v) &&
           json_type(v) == JSON_NUMBER && json_get(line, "cli_version", &version);
}

static const struct {
    const char *name;
    enum err_code (*place)(struct placing *p);
} agents[] = {
    { "Gemini CLI", place_gemini },
    { "gemini", place_gemini },
    { "Codex", place_codex },
    { "codex", place_codex },
};

enum err_code agent_transcript_path(const struct store_env *env, const struct agent_session *s,
                                    struct arena *a, const char **path, const char **folder,
                                    struct err *e)
{
    struct placing p = { .s = s, .home = env->home, .a = a, .e = e };
    enum err_code rc = ERR_UNSUPPORTED;

    for (size_t i = 0; i < sizeof agents / sizeof *agents; i++) {
        if (!slice_eq(s->agent, slice_of(agents[i].name)))
            continue;
        if (is_short_form(s->transcript))
            break;
        rc = !env->home || env->home[0] != '/'
                 ? err_set(e, ERR_NOT_FOUND, "", "retrieve: HOME is not set")
                 : agents[i].place(&p);
        *path = p.path;
        *folder = p.folder;
        return rc;
    }
    return err_set(e, rc, s->id.p, "retrieve: unknown where its agent keeps transcripts");
}
