#include "store/rewind/plan/beneath.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "lite/base/utf8.h"

/* ---- clean paths ---- */

/* Cuts the next part off, with the slash before it. */
static struct slice part_next(struct slice *rest)
{
    const char *slash;
    struct slice part;

    rest->p++;
    rest->n--;
    slash = rest->n ? memchr(rest->p, '/', rest->n) : NULL;
    part = (struct slice){ rest->p, slash ? (size_t)(slash - rest->p) : rest->n };
    rest->p += part.n;
    rest->n -= part.n;
    return part;
}

static const char *path_fault(struct slice path, bool any_name)
{
    if (path.n < 2 || path.p[0] != '/')
        return "not an absolute path";
    if (path.n >= PATH_MAX)
        return "the path is too long";
    while (path.n) {
        const struct slice part = part_next(&path);

        if (part.n == 0)
            return "an empty part in the path";
        if (part.n > NAME_MAX)
            return "a part of the path is too long";
        if (part.p[0] == '.' && (part.n == 1 || (part.n == 2 && part.p[1] == '.')))
            return "a . or .. in the path";
        if (part.p[0] == '-' && !any_name)
            return "a part of the path begins with -";
        for (size_t i = 0; i < part.n; i++)
            if (!part.p[i] || (!any_name && ((unsigned char)part.p[i] < 0x20 || part.p[i] == 0x7f)))
                return "a control character in the path";
    }
    return NULL;
}

/* ---- .git ---- */

/* The name as the laxest file system would compare it, as far as needed for ".git": ignored code points gone, ASCII in
 * lower case, cut at a stream's colon, blanks and dots at the end gone (NTFS). */
static size_t lax_name(struct slice part, char *out, size_t cap)
{
    size_t n = 0;

    while (part.n && n < cap) {
        uint32_t cp = utf8_next(&part, false);

        /* Code points that HFS+ leaves out when it compares names. */
        if ((cp >= 0x200C && cp <= 0x200F) || (cp >= 0x202A && cp <= 0x202E) ||
            (cp >= 0x206A && cp <= 0x206F) || cp == 0xFEFF)
            continue;

        if (cp == ':')
            break;
        out[n++] = cp >= 'A' && cp <= 'Z' ? (char)(cp + 32) : cp < 0x80 ? (char)cp : '?';
    }
    while (n > 1 && (out[n - 1] == '.' || out[n - 1] == ' '))
        n--;
    return n;
}

/* ---- what programs run or trust ---- */

/* clang-format off */
static const char *const trusted_dirs[] = {
    ".ssh", ".gnupg", ".husky", ".githooks", "autostart",
};
static const char *const trusted_files[] = {
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
    ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", "config.fish", ".envrc", ".gitconfig",
    ".netrc", ".mcp.json", "crontab", "authorized_keys", ".bash_aliases", ".npmrc", ".yarnrc", ".yarnrc.yml",
    ".pypirc", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".inputrc", ".direnvrc",
    ".claude.json",
};
/* Consecutive parts of a path: a directory with everything below it, or a file at the end. */
static const char *const trusted_places[] = {
    ".config/systemd/user/", ".local/share/systemd/user/", ".config/fish/conf.d/", ".config/fish/functions/",
    ".config/environment.d/", ".config/direnv/",
};
static const char *const trusted_ends[] = {
    ".config/reprise/config", ".config/git/config", ".vscode/tasks.json", ".vscode/launch.json",
};
/* In these, only the files that control the agent; its memory and plans are plain files. */
static const char *const agent_dirs[] = { ".claude", ".gemini", ".codex", ".cursor", ".entire", ".exathena", ".qwen",
                                          ".kimi-code", ".pi", ".cline", ".clinerules", ".kiro" };
static const char *const agent_parts[] = {
    "settings.json", "settings.local.json", "config.json", "config.toml", "hooks", "hooks.json", "mcp.json",
    "commands", "agents", "skills", "plugins",
};
/* clang-format on */

static bool is_listed_part(struct slice part, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == part.n && strncasecmp(names[i], part.p, part.n) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(part, names) is_listed_part(part, names, sizeof(names) / sizeof(names)[0])

/* Returns true if the rest of a path, from one of its slashes on, begins with `place`, and with `whole` also ends with
 * it. */
static bool is_at(struct slice rest, const char *place, bool whole)
{
    size_t n = strlen(place);

    return rest.n > n && (!whole || rest.n == n + 1) && strncasecmp(rest.p + 1, place, n) == 0;
}

static bool is_sensitive(struct slice path)
{
    bool in_agent = false;

    while (path.n) {
        for (size_t i = 0; i < sizeof trusted_places / sizeof *trusted_places; i++)
            if (is_at(path, trusted_places[i], false))
                return true;
        for (size_t i = 0; i < sizeof trusted_ends / sizeof *trusted_ends; i++)
            if (is_at(path, trusted_ends[i], true))
                return true;

        struct slice part = part_next(&path);
        bool last = path.n == 0;

        if (IS_ONE_OF(part, trusted_dirs) || (last && IS_ONE_OF(part, trusted_files)))
            return true;
        if (in_agent && IS_ONE_OF(part, agent_parts))
            return true;
        in_agent = in_agent || IS_ONE_OF(part, agent_dirs);
    }
    return false;
}

/* ---- the rule ---- */

enum pathrule pathrule_check(struct slice path, bool any_name, const char **why)
{
    enum pathrule rule = PATHRULE_ALLOWED;
    const char *text = path_fault(path, any_name);
    bool git = false;

    for (struct slice rest = path; rest.n && !text && !git;) {
        char name[64];
        const size_t n = lax_name(part_next(&rest), name, sizeof name);

        /* or the short names that NTFS makes of .git */
        git = (n == 4 && memcmp(name, ".git", 4) == 0) ||
              (n == 5 && memcmp(name, "git~", 4) == 0 && name[4] >= '1' && name[4] <= '9');
    }
    if (text)
        rule = PATHRULE_INVALID;
    else if (git) {
        rule = PATHRULE_GIT;
        text = "inside .git";
    } else if (is_sensitive(path)) {
        rule = PATHRULE_SENSITIVE;
        text = "settings, hooks, keys or start-up files: programs run or trust this file";
    }
    if (why && text)
        *why = text;
    return rule;
}

bool pathrule_forbids(struct slice path, bool any_name)
{
    enum pathrule rule = pathrule_check(path, any_name, NULL);

    return rule == PATHRULE_INVALID || rule == PATHRULE_GIT;
}
