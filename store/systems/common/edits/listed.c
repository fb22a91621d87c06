#include "store/systems/common/edits/tool_edits.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/arena.h"
#include "store/fs/path.h"

enum { WORDS_MAX = 16, OUTPUT_MAX = 8000 };

/* One listing command, and what it lists. */
struct listing_command {
    struct arena arena;
    const char *dir; /* where it runs */
    /* the name of the listed directory, as its output has it; NULL: the present one */
    const char *name;
    const char *word[WORDS_MAX];
    size_t words, listings;
    bool is_find, all, recursive;
    size_t depth; /* the greatest depth that find looks at; 0: any */
};

/* ---- the command ---- */

static bool listed_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_./@%+,=:-", c)) || (unsigned char)c >= 0x80;
}

/* Takes a word without anything that the shell expands. Returns false if nothing is left of it. */
static bool take_word(struct slice *rest, struct arena *a, const char **out)
{
    char *word = arena_alloc(a, rest->n + 1);
    size_t n = 0, i = 0;
    char quote = 0;

    for (; word && i < rest->n; i++) {
        char c = rest->p[i];

        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else if (quote ? c != '\n' && !(quote == '"' && strchr("$`\\!", c)) : listed_is_plain(c))
            word[n++] = c;
        else
            break;
    }
    if (!word || quote || !i)
        return false;
    word[n] = '\0';
    *rest = (struct slice){ rest->p + i, rest->n - i };
    *out = word;
    return true;
}

static bool listed_take_words(struct listing_command *c, struct slice *rest)
{
    for (c->words = 0;; c->words++) {
        while (rest->n && rest->p[0] == ' ')
            *rest = (struct slice){ rest->p + 1, rest->n - 1 };
        if (!rest->n || rest->p[0] == '&')
            return c->words > 0;
        if (c->words == WORDS_MAX || !take_word(rest, &c->arena, &c->word[c->words]))
            return false;
    }
}

/* A listed directory, in which the output names files. */
static bool enter(struct listing_command *c, const char *name)
{
    if (c->name || !name[0] || strstr(name, ".."))
        return false;
    c->name = name;
    c->dir = path_normalize(c->dir, name, &c->arena);
    return c->dir != NULL;
}

/* With -l, the name of a link is that of the link itself, unless a slash follows. */
static bool read_ls(struct listing_command *c)
{
    bool lines = false;

    for (size_t i = 1; i < c->words; i++) {
        const char *w = c->word[i];
        size_t n = strlen(w);

        if (w[0] != '-') {
            if (!enter(c, w))
                return false;
            lines &= n > 0 && w[n - 1] != '/' && strcmp(w, ".") != 0;
        } else if (!w[1] || strspn(w + 1, "aAlRFp1htrSCis") + 1 != n || c->name) {
            return false;
        }
        c->all |= w[0] == '-' && strpbrk(w, "aA");
        c->recursive |= w[0] == '-' && strchr(w, 'R');
        lines |= w[0] == '-' && strpbrk(w, "lis");
    }
    return !c->name || !lines;
}

static bool read_depth(const char *word, size_t *out)
{
    size_t n = strspn(word, "0123456789");

    *out = n == 1 ? (size_t)(word[0] - '0') : 0;
    return n == 1 && !word[1] && *out > 0;
}

/* Kinds of files and names may not be chosen, apart from what is in .git. */
static bool read_find(struct listing_command *c)
{
    size_t i = 1;

    c->is_find = c->all = c->recursive = true;
    if (i < c->words && c->word[i][0] != '-' && !enter(c, c->word[i++]))
        return false;
    for (; i < c->words; i++) {
        bool more = i + 1 < c->words;

        if (more && strcmp(c->word[i], "-maxdepth") == 0 && read_depth(c->word[i + 1], &c->depth))
            i++;
        else if (i + 2 < c->words &&
                 (strcmp(c->word[i], "-not") == 0 || strcmp(c->word[i], "!") == 0) &&
                 strcmp(c->word[i + 1], "-path") == 0 &&
                 (strcmp(c->word[i + 2], "./.git/*") == 0 ||
                  strcmp(c->word[i + 2], "*/.git/*") == 0))
            i += 2;
        else if (strcmp(c->word[i], "-print") != 0)
            return false;
    }
    return true;
}

static bool listed_read_part(struct listing_command *c)
{
    const char *name = c->word[0];

    if (strcmp(name, "pwd") == 0)
        return c->words == 1;
    if (strcmp(name, "cd") == 0 && c->words == 2 && !c->listings && c->word[1][0] != '-' &&
        !strstr(c->word[1], ".."))
        return (c->dir = path_normalize(c->dir, c->word[1], &c->arena)) != NULL;
    if (c->listings++)
        return false;
    return strcmp(name, "ls") == 0 ? read_ls(c) : strcmp(name, "find") == 0 ? read_find(c) : false;
}

/* Parts that are joined with && and of which one lists. */
static bool listed_read_command(struct listing_command *c, struct slice rest)
{
    while (listed_take_words(c, &rest)) {
        if (!listed_read_part(c))
            return false;
        if (!rest.n)
            return c->listings == 1;
        if (rest.n < 2 || rest.p[1] != '&')
            return false;
        rest = (struct slice){ rest.p + 2, rest.n - 2 };
    }
    return false;
}

/* ---- the output ---- */

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool listed_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether the name occurs in the text from here on, whatever white space is in both: a terminal may have wrapped it. A
 * file system may not distinguish upper and lower case. */
static bool occurs_at(struct slice text, size_t at, const char *name)
{
    for (; *name; name++) {
        if (listed_is_space(*name))
            continue;
        while (at < text.n && listed_is_space(text.p[at]))
            at++;
        if (at == text.n || folded(text.p[at++]) != folded(*name))
            return false;
    }
    return true;
}

/* ls and find may print other names than these differently, on a terminal. */
static bool is_common(const char *name)
{
    for (; *name; name++)
        if (!listed_is_plain(*name) || (unsigned char)*name >= 0x80)
            return false;
    return true;
}

static bool lacks(struct slice text, const char *name)
{
    if (!is_common(name))
        for (size_t i = 0; i < text.n; i++)
            if (strchr("?\\$'\"", text.p[i]) || text.p[i] == '\0')
                return false;
    for (size_t i = 0; i < text.n; i++)
        if (!listed_is_space(text.p[i]) && occurs_at(text, i, name))
            return false;
    return *name != '\0';
}

/* The name is a word of the text. */
static bool listed_has(struct slice text, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; n && i + n <= text.n; i++)
        if (memcmp(text.p + i, name, n) == 0 && (i == 0 || listed_is_space(text.p[i - 1])) &&
            (i + n == text.n || listed_is_space(text.p[i + n])))
            return true;
    return false;
}

/* The part of the output of ls -R about a directory. Returns false if it has none. */
static bool find_section(struct slice output, const char *name, struct slice *out)
{
    struct slice line, rest = output;
    const char *begin = NULL;
    size_t n = strlen(name);
    bool torn;

    while (slice_line(&rest, &line, &torn)) {
        if (slice_starts(line, "Output: ")) /* a line that the agent adds */
            line = (struct slice){ line.p + 8, line.n - 8 };
        if (begin && !line.n) {
            *out = (struct slice){ begin, (size_t)(line.p - begin) };
            return true;
        }
        if (!begin && line.n == n + 1 && memcmp(line.p, name, n) == 0 && line.p[n] == ':')
            begin = rest.p ? rest.p : line.p + line.n;
    }
    if (begin)
        *out = (struct slice){ begin, (size_t)(output.p + output.n - begin) };
    return begin != NULL;
}

static size_t part_size(const char *rest)
{
    return strcspn(rest, "/");
}

/* ls: the first part of the name that its directory lacks. */
static enum listed look_in_ls(struct listing_command *c, struct slice output, const char *rest)
{
    char dir[PATH_MAX], part[NAME_MAX + 1];
    struct slice section = output;
    int n = snprintf(dir, sizeof dir, "%s", c->name ? c->name : ".");

    while (n > 1 && dir[n - 1] == '/')
        dir[--n] = '\0';
    for (;; rest += part_size(rest) + 1) {
        if (part_size(rest) > NAME_MAX || (rest[0] == '.' && !c->all) ||
            (c->recursive && !find_section(output, dir, &section)))
            return LISTED_UNKNOWN;
        snprintf(part, sizeof part, "%.*s", (int)part_size(rest), rest);
        if (lacks(section, part))
            return LISTED_ABSENT;
        if (!rest[part_size(rest)])
            return listed_has(section, part) ? LISTED_PRESENT : LISTED_UNKNOWN;
        if (!c->recursive || (size_t)n + 1 + strlen(part) >= sizeof dir)
            return LISTED_UNKNOWN;
        n += snprintf(dir + n, sizeof dir - (size_t)n, "/%s", part);
    }
}

/* find: a part is missing in a directory of which the output names something, since it does not follow links. */
static enum listed look_in_find(struct listing_command *c, struct slice output, const char *rest)
{
    char name[PATH_MAX];
    size_t n = (size_t)snprintf(name, sizeof name, "%s", c->name ? c->name : ".");
    bool known = strcmp(name, ".") == 0;

    /* find prints where it starts. */
    if (!listed_has(output, c->name ? c->name : "."))
        return LISTED_UNKNOWN;

    for (size_t depth = 0; !c->depth || depth < c->depth; depth++) {
        size_t part = part_size(rest);

        if (n + part + 2 > sizeof name || name[n - 1] == '/')
            return LISTED_UNKNOWN;
        snprintf(name + n, sizeof name - n, "/%.*s", (int)part, rest);
        if (lacks(output, name))
            return known ? LISTED_ABSENT : LISTED_UNKNOWN;
        n += part + 1;
        if (!rest[part])
            return listed_has(output, name) ? LISTED_PRESENT : LISTED_UNKNOWN;
        rest += part + 1;
        snprintf(name + n, sizeof name - n, "/");
        known = slice_has(output, name);
    }
    return LISTED_UNKNOWN;
}

enum listed listed_by_command(struct slice command, const char *dir, struct slice output,
                              const char *path)
{
    struct listing_command c = { .dir = dir };
    enum listed out = LISTED_UNKNOWN;
    size_t n;

    if (listed_read_command(&c, command) && !c.arena.failed && (n = strlen(c.dir)) > 1 &&
        strncmp(path, c.dir, n) == 0 && path[n] == '/' && path[n + 1])
        out = c.is_find ? look_in_find(&c, output, path + n + 1)
                        : look_in_ls(&c, output, path + n + 1);
    arena_fini(&c.arena);
    return out;
}

bool listed_is_whole(struct slice result)
{
    static const char *const cut[] = {
        "trunc",     "omitted",    "too long", "too large", "still running", "saved to",
        "[...",      "... [",      "imed out", "ancelled",  "masked",        "cleared",
        "ackground", "nterrupted", "ls: ",     "find: ",    "cd: "
    };

    if (result.n > OUTPUT_MAX)
        return false;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        if (slice_has(result, cut[i]))
            return false;
    if (!slice_has(result, "xit code") && !slice_has(result, "Exit Code"))
        return true;
    return slice_has(result, "xit code 0>") || slice_has(result, "Exit Code: 0\n");
}
