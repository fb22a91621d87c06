#include "store/git/identity.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "store/git/repo.h"

enum { IDENTITY_DEPTH = 100000, IDENTITY_HEX = 41 };

/* ---- reading ---- */

/* "https://user:token@host/path" without what is in front of the host; the user of ssh is part of the address. */
static const char *identity_clean_url(const char *url, struct arena *a)
{
    const char *host = strstr(url, "://");

    if (!host)
        return arena_copy_text(a, url);
    host += 3;
    const size_t n = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', n);

    if (!at || (strncasecmp(url, "http", 4) != 0 && !memchr(host, ':', (size_t)(at - host))))
        return arena_copy_text(a, url);
    return arena_format(a, "%.*s%s", (int)(host - url), url, at + 1);
}

/* The commit that no other one precedes: copies of a repository have it in common, whatever was committed since. */
static void identity_first(git_repository *repo, const git_oid *head, char hex[IDENTITY_HEX])
{
    git_oid at = *head;

    hex[0] = '\0';
    for (int i = 0; i < IDENTITY_DEPTH; i++) {
        AUTO_COMMIT *commit = NULL;

        if (git_commit_lookup(&commit, repo, &at))
            return;
        if (git_commit_parentcount(commit) == 0) {
            git_oid_tostr(hex, IDENTITY_HEX, &at);
            return;
        }
        git_oid_cpy(&at, git_commit_parent_id(commit, 0));
    }
}

enum err_code repo_identify(const char *dir, struct arena *a, const char *first,
                            struct repo_identity *out, struct err *e)
{
    AUTO_REPO *repo = NULL;
    char hex[IDENTITY_HEX];
    git_oid head;

    *out = (struct repo_identity){ 0 };
    if (repo_open(dir, &repo, NULL))
        return ERR_OK;
    const char *root = git_repository_workdir(repo);
    size_t n = root ? strlen(root) : 0;

    while (n > 1 && root[n - 1] == '/')
        n--;
    if (!n)
        return ERR_OK;
    NEED(out->root = arena_format(a, "%.*s", (int)n, root));
    if (repo_has_ref(repo, "HEAD", &head)) {
        git_oid_tostr(hex, sizeof hex, &head);
        NEED(out->commit = arena_copy_text(a, hex));
        hex[0] = '\0';
        if (!first)
            identity_first(repo, &head, hex);
        if (first || hex[0])
            NEED(out->first = arena_copy_text(a, first ? first : hex));
    }

    /* The remotes by their usual names: the list of all that libgit2 makes of a pattern loses
     * memory (1.5). */
    static const char *const keys[] = { "remote.origin.url", "remote.upstream.url" };
    git_config *config = NULL;
    const char *url;

    if (git_repository_config_snapshot(&config, repo))
        config = NULL;
    for (size_t i = 0; config && i < COUNT_OF(keys); i++)
        if (git_config_get_string(&url, config, keys[i]) == 0 &&
            !arena_add_text(a, &out->remote, &out->remotes, identity_clean_url(url, a)))
            break;
    git_config_free(config);
    return a->failed ? err_nomem(e) : ERR_OK;
}

bool repo_has_commit(const char *dir, const char *hex)
{
    AUTO_REPO *repo = NULL;
    AUTO_COMMIT *commit = NULL;
    git_oid id;

    return !repo_open(dir, &repo, NULL) && !git_oid_fromstr(&id, hex) &&
           !git_commit_lookup(&commit, repo, &id);
}

/* ---- comparing ---- */

/* "host/path" of "ssh://git@host:22/path.git", "git@host:path" and "https://host/path/"; another address as it is. */
static size_t identity_address(const char *url, char out[1024])
{
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
    const char *at = memrchr(host, '@', strcspn(host, "/"));

    host = at ? at + 1 : host;
    size_t name = strcspn(host, scheme ? ":/" : ":");
    const char *path = host + name;

    if (scheme && *path == ':')
        path += strcspn(path, "/");
    path += *path == ':';
    path += strspn(path, "/");
    int n = snprintf(out, 1024, "%.*s/%s", (int)name, host, path);
    size_t left = n < 0 ? 0 : n < 1024 ? (size_t)n : 1023;

    while (left && out[left - 1] == '/')
        left--;
    if (left > 4 && memcmp(out + left - 4, ".git", 4) == 0)
        left -= 4;
    return left;
}

bool repo_identity_matches(const struct repo_identity *a, const struct repo_identity *b)
{
    char x[1024], y[1024];

    if (a->first && b->first && strcmp(a->first, b->first) == 0)
        return true;
    for (size_t i = 0; i < a->remotes; i++)
        for (size_t k = 0; k < b->remotes; k++) {
            const size_t n = identity_address(a->remote[i], x);

            if (n && n == identity_address(b->remote[k], y) && strncasecmp(x, y, n) == 0)
                return true;
        }
    return false;
}
