#include "store/systems/common/inferred.h"

#include <string.h>

#include "lite/base/buf.h"
#include "store/api/edit.h"
#include "store/fs/path.h"

/* ---- diffs ---- */

struct patching {
    struct slice rest; /* the rest of the text */
    size_t line, made; /* lines of it that were passed, and lines of the result */
    struct slice diff;
    size_t takes, gives; /* lines that the hunk still has to take from the text, and to give */
    bool reverse, fits;
    struct buf out;
};

/* The next line with its line end; empty at the end. */
static struct slice inferred_next_line(struct slice *rest)
{
    const char *nl = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct slice line = { rest->p, nl ? (size_t)(nl - rest->p) + 1 : rest->n };

    rest->p += line.n;
    rest->n -= line.n;
    return line;
}

static bool inferred_read_number(struct slice *s, size_t *out)
{
    bool any = false;

    for (*out = 0; s->n && s->p[0] >= '0' && s->p[0] <= '9' && *out < SIZE_MAX / 16; any = true) {
        *out = *out * 10 + (size_t)(s->p[0] - '0');
        *s = (struct slice){ s->p + 1, s->n - 1 };
    }
    return any;
}

/* "-3,2": the first line and their number, which is 1 if it is missing. */
static bool inferred_read_range(struct slice *s, char sign, size_t *start, size_t *lines)
{
    while (s->n && s->p[0] != sign)
        *s = (struct slice){ s->p + 1, s->n - 1 };
    if (!s->n)
        return false;
    *s = (struct slice){ s->p + 1, s->n - 1 };
    *lines = 1;
    if (!inferred_read_number(s, start))
        return false;
    if (!s->n || s->p[0] != ',')
        return true;
    *s = (struct slice){ s->p + 1, s->n - 1 };
    return inferred_read_number(s, lines);
}

/* Adds lines of the result. Only its last one can be without a line end. */
static bool inferred_put(struct patching *p, struct slice text)
{
    struct slice out = buf_slice(&p->out);

    if (text.n && out.n && out.p[out.n - 1] != '\n')
        p->fits = false;
    p->made++;
    return !buf_add(&p->out, text);
}

static bool inferred_pass_lines(struct patching *p, size_t until)
{
    while (p->line < until && p->rest.n) {
        if (!inferred_put(p, inferred_next_line(&p->rest)))
            return false;
        p->line++;
    }
    p->fits = p->fits && p->line == until;
    return true;
}

/* A hunk that was cut off, or is elsewhere than its header says, does not fit. */
static bool enter_hunk(struct patching *p, struct slice header)
{
    size_t old, old_n, new, new_n;

    if (p->takes || p->gives || !inferred_read_range(&header, '-', &old, &old_n) ||
        !inferred_read_range(&header, '+', &new, &new_n)) {
        p->fits = false;
        return true;
    }
    const size_t start = p->reverse ? new : old, to = p->reverse ? old : new;

    p->takes = p->reverse ? new_n : old_n;
    p->gives = p->reverse ? old_n : new_n;

    /* a hunk without lines begins after the line that it names */
    if ((p->takes && start == 0) || (p->gives && to == 0))
        p->fits = false;
    if (!p->fits)
        return true;
    const bool ok = inferred_pass_lines(p, p->takes ? start - 1 : start);

    p->fits = p->fits && p->made == (p->gives ? to - 1 : to);
    return ok;
}

/* The line after a sign; a note after it means that it has no line end. */
static struct slice hunk_text(struct slice *diff, struct slice line)
{
    struct slice text = { line.p + 1, line.n - 1 };

    if (diff->n && diff->p[0] == '\\') {
        inferred_next_line(diff);
        if (text.n && text.p[text.n - 1] == '\n')
            text.n--;
    }
    return text;
}

static bool has_hunk_sign(struct slice line)
{
    return line.n && line.p[0] && strchr(" +-", line.p[0]);
}

static bool apply_diff(struct patching *p)
{
    bool ok = true, inside = false;

    while (ok && p->fits && p->diff.n) {
        struct slice line = inferred_next_line(&p->diff);

        if (slice_starts(line, "@@")) {
            inside = true;
            ok = enter_hunk(p, line);
        } else if (inside && has_hunk_sign(line)) {
            char added = p->reverse ? '-' : '+', sign = line.p[0];
            struct slice text = hunk_text(&p->diff, line);

            if (sign != added) {
                p->fits = p->fits && p->takes && slice_eq(inferred_next_line(&p->rest), text);
                p->takes--;
                p->line++;
            }
            if (sign == added || sign == ' ') {
                p->fits = p->fits && p->gives;
                p->gives--;
                ok = inferred_put(p, text);
            }
        } else {
            p->fits = false;
        }
    }
    p->fits = p->fits && !p->takes && !p->gives;
    return ok && (!p->fits || inferred_put(p, p->rest));
}

enum err_code inferred_patch(struct slice text, struct slice diff, bool reverse, struct arena *a,
                             struct slice *out, bool *fits)
{
    struct patching p = { .rest = text, .diff = diff, .reverse = reverse, .fits = true };
    bool ok = apply_diff(&p);

    *fits = ok && p.fits;
    if (*fits) {
        *out = arena_copy(a, buf_slice(&p.out));
        ok = out->p != NULL;
    }
    buf_fini(&p.out);
    return ok ? ERR_OK : ERR_NOMEM;
}

struct hunk {
    size_t line; /* in the file before the edit, from 1 */
    struct buf old_text, new_text;
};

/* Lines without others around them could be anywhere, unless the file is empty. */
static bool inferred_add_hunk(const struct hunk *h, struct arena *a, struct edit *out)
{
    struct edit_replacement *list;

    if (!h->old_text.n) {
        out->kind = EDIT_WRITE;
        out->before_known = out->after_known = EDIT_TEXT;
        out->after = arena_copy(a, buf_slice(&h->new_text));
        return h->line == 0 && !out->replacements;
    }
    list = arena_grow(a, (void *)(uintptr_t)out->replacement, out->replacements, sizeof *list);
    if (!list || out->kind == EDIT_WRITE)
        return false;
    list[out->replacements++] =
        (struct edit_replacement){ .old_text = arena_copy(a, buf_slice(&h->old_text)),
                                   .new_text = arena_copy(a, buf_slice(&h->new_text)),
                                   .next = true,
                                   .line = h->line };
    out->replacement = list;
    return true;
}

void inferred_edit(struct slice diff, struct arena *a, struct edit *out)
{
    struct edit edit = *out;
    struct hunk h = { .line = 0 };
    bool ok = true;

    while (ok && diff.n) {
        struct slice header = inferred_next_line(&diff);
        size_t new, n;

        ok = slice_starts(header, "@@") && inferred_read_range(&header, '-', &h.line, &n) &&
             inferred_read_range(&header, '+', &new, &n);
        h.old_text.n = h.new_text.n = 0;
        while (ok && has_hunk_sign(diff)) {
            struct slice line = inferred_next_line(&diff), text = hunk_text(&diff, line);

            ok = (line.p[0] == '+' || !buf_add(&h.old_text, text)) &&
                 (line.p[0] == '-' || !buf_add(&h.new_text, text));
        }
        ok = ok && inferred_add_hunk(&h, a, &edit);
    }
    buf_fini(&h.old_text);
    buf_fini(&h.new_text);
    if (ok)
        *out = edit;
}

/* ---- commands ---- */

/* What a program does to the files that its words name. */
enum effect {
    EFFECT_ANY,
    EFFECT_NONE,
    EFFECT_WORDS,
    EFFECT_SED,
    EFFECT_CD,
    EFFECT_GIT,  /* none with some of its commands */
    EFFECT_FIND, /* none without some options */
};

struct command {
    struct slice rest;
    const char *dir,
        *path; /* where the command runs, and the file that is asked about; NULL: any */
    struct arena *arena;
    struct buf word;
    bool is_open;    /* there is a word, perhaps an empty one */
    bool redirected; /* the word is the file that output is redirected to */
    enum effect effect;
    size_t words, operands; /* before it in this simple command */
    bool may;               /* the answer, as soon as it is yes */
};

static enum effect effect_of(struct slice program)
{
    static const char *const readers[] = {
        "ls",   "cat",  "head",   "tail",   "wc",  "pwd",      "grep",    "file",
        "stat", "echo", "printf", "true",   "cmp", "diff",     "cut",     "sleep",
        "date", "test", "du",     "whoami", "id",  "basename", "dirname", "which",
        "nl",   "od",   "tr",     "uname",  "seq", "realpath", "md5sum",  "sha256sum"
    };
    static const char *const writers[] = { "rm", "rmdir", "unlink", "mkdir", "touch",
                                           "mv", "cp",    "chmod",  "ln",    "tee" };

    if (slice_eq(program, SLICE("cd")))
        return EFFECT_CD;
    if (slice_eq(program, SLICE("sed")))
        return EFFECT_SED;
    if (slice_eq(program, SLICE("git")))
        return EFFECT_GIT;
    if (slice_eq(program, SLICE("find")))
        return EFFECT_FIND;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (slice_eq(program, slice_of(readers[i])))
            return EFFECT_NONE;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (slice_eq(program, slice_of(writers[i])))
            return EFFECT_WORDS;
    return EFFECT_ANY;
}

/* Returns true for the file itself and for a directory that it is in, even if it is reached through a link. */
static bool covers(struct command *c, const char *word)
{
    if (!c->path)
        return strcmp(word, "/dev/null") != 0;
    const char *named = path_normalize(c->dir, word, c->arena);

    if (!named || path_under(slice_of(c->path), slice_of(named)))
        return true;
    const char *real = path_real(named, c->arena), *path = path_real(c->path, c->arena);

    return !real || !path || path_under(slice_of(path), slice_of(real));
}

/* Its script only replaces: others can write files and run programs. */
static bool is_replacing(const char *script)
{
    size_t n = strlen(script);

    return n > 3 && script[0] == 's' && !strpbrk(script, ";\n") &&
           (script[n - 1] == script[1] || (script[n - 1] == 'g' && script[n - 2] == script[1]));
}

/* Its command comes first. It may write what it shows into a file. */
static bool is_git_reading(struct command *c, const char *word)
{
    static const char *const reading[] = { "status",    "diff",     "log",   "show",
                                           "rev-parse", "ls-files", "blame", "ls-tree" };

    if (c->operands++ > 0)
        return strncmp(word, "--o", 3) != 0 && strncmp(word, "-o", 2) != 0;
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
        if (strcmp(word, reading[i]) == 0)
            return true;
    return false;
}

static bool is_find_acting(const char *word)
{
    static const char *const acting[] = { "-delete", "-exec", "-ok", "-fprint", "-fls" };

    for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
        if (strncmp(word, acting[i], strlen(acting[i])) == 0)
            return true;
    return false;
}

static void end_word(struct command *c)
{
    const char *word = c->is_open ? buf_cstr(&c->word) : NULL;

    if (!c->is_open)
        return;

    /* A redirection writes to its word, the first other word is the program, and the rest are its operands. */
    if (!word)
        c->may = true;
    else if (c->redirected)
        c->may |= covers(c, word);
    else if (c->words++ == 0)
        c->may |= (c->effect = effect_of(slice_of(word))) == EFFECT_ANY;
    else {
        bool option = word[0] == '-';

        if (c->effect == EFFECT_CD && c->path && !(c->dir = path_normalize(c->dir, word, c->arena)))
            c->may = true;
        else if (c->effect == EFFECT_GIT)
            c->may |= !is_git_reading(c, word);
        else if (c->effect == EFFECT_FIND)
            c->may |= is_find_acting(word);
        else if (c->effect == EFFECT_WORDS)
            c->may |= !option && covers(c, word);
        else if (c->effect == EFFECT_SED && option)
            c->may |= strcmp(word, "-i") != 0 && strcmp(word, "-E") != 0 && strcmp(word, "-n") != 0;
        else if (c->effect == EFFECT_SED)
            c->may |= c->operands++ == 0 ? !is_replacing(word) : covers(c, word);
    }
    c->is_open = c->redirected = false;
    c->word.n = 0;
}

/* Patterns and parameters can only name files in the words of a program that changes none. */
static bool inferred_is_plain(const struct command *c, char byte)
{
    bool reads = c->words > 0 && !c->redirected &&
                 (c->effect == EFFECT_NONE || c->effect == EFFECT_FIND || c->effect == EFFECT_GIT);
    bool starts = byte == '$' && c->rest.n && strchr("({'\"", c->rest.p[0]);

    return reads && strchr("*?[]~{}!$", byte) && !starts;
}

static void end_command(struct command *c)
{
    end_word(c);
    c->words = c->operands = 0;
    c->effect = EFFECT_ANY;
}

static void add_byte(struct command *c, char byte)
{
    c->may |= byte == '\0' || buf_add_byte(&c->word, byte);
    c->is_open = true;
}

/* Reads the rest of a redirection, whose first byte was read. */
static void parse_redirection(struct command *c, char byte)
{
    bool is_number = c->word.n == 1 && c->word.p[0] >= '0' && c->word.p[0] <= '9';

    if (is_number) {
        c->is_open = false;
        c->word.n = 0;
    }
    end_word(c);
    if (c->rest.n && c->rest.p[0] == '&') { /* a descriptor */
        c->rest = (struct slice){ c->rest.p + 1, c->rest.n - 1 };
        c->redirected = false;
        c->may |= !c->rest.n || !strchr("012-", c->rest.p[0]);
        if (c->rest.n)
            c->rest = (struct slice){ c->rest.p + 1, c->rest.n - 1 };
        return;
    }
    if (c->rest.n && c->rest.p[0] == byte)
        c->rest = (struct slice){ c->rest.p + 1, c->rest.n - 1 };
    else if (c->rest.n && strchr("<>|", c->rest.p[0]))
        c->may = true;
    c->redirected = true; /* a file that is only read counts too */
}

bool inferred_may_change(struct slice text, const char *dir, const char *path)
{
    struct arena a = { 0 };
    struct command c = { .rest = text, .dir = dir, .path = path, .arena = &a };

    while (c.rest.n && !c.may) {
        char byte = c.rest.p[0];

        c.rest = (struct slice){ c.rest.p + 1, c.rest.n - 1 };
        if (byte == '\'' || byte == '"') {
            /* Read a quoted part; an expansion in double quotes could be anything. */
            c.is_open = true;
            while (c.rest.n && c.rest.p[0] != byte) {
                c.may |= byte == '"' && strchr("$`\\", c.rest.p[0]);
                add_byte(&c, c.rest.p[0]);
                c.rest = (struct slice){ c.rest.p + 1, c.rest.n - 1 };
            }
            if (c.rest.n)
                c.rest = (struct slice){ c.rest.p + 1, c.rest.n - 1 };
            else
                c.may = true;
        } else if (byte == ' ' || byte == '\t')
            end_word(&c);
        else if (byte && strchr(";&|\n", byte))
            end_command(&c);
        else if (byte == '>' || byte == '<')
            parse_redirection(&c, byte);
        else if (!byte || (strchr("$`(){}*?[]~#!\\", byte) && !inferred_is_plain(&c, byte)) ||
                 (byte == '=' && c.words == 0))
            c.may = true;
        else
            add_byte(&c, byte);
    }
    end_command(&c);
    buf_fini(&c.word);
    arena_fini(&a);
    return c.may;
}

bool inferred_only_reads(struct slice command)
{
    return command.n && !inferred_may_change(command, "/", NULL);
}

static bool inferred_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(struct slice text, struct slice word)
{
    for (size_t i = 0; i + word.n <= text.n; i++)
        if (memcmp(text.p + i, word.p, word.n) == 0 &&
            (i == 0 || !inferred_is_letter(text.p[i - 1])) &&
            (i + word.n == text.n || !inferred_is_letter(text.p[i + word.n])))
            return true;
    return false;
}

static bool names_remover(struct slice command)
{
    static const char *const removers[] = { "rm",    "mv",     "unlink", "rmdir", "git", "rename",
                                            "clean", "delete", "remove", "hg",    "jj",  "rsync" };

    for (size_t i = 0; i < sizeof removers / sizeof *removers; i++)
        if (has_word(command, slice_of(removers[i])))
            return true;
    return false;
}

static bool names_file(struct slice command, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slice_has(command, slash ? slash + 1 : path);
}

bool inferred_may_remove(struct slice command, const char *dir, const char *path)
{
    return inferred_may_change(command, dir, path) &&
           (names_remover(command) || names_file(command, path));
}

bool inferred_may_replace(struct slice command, const char *dir, const char *path)
{
    return inferred_may_change(command, dir, path) && names_file(command, path) &&
           (names_remover(command) || has_word(command, SLICE("sed")));
}

bool inferred_may_chmod(struct slice command, const char *dir, const char *path)
{
    return has_word(command, SLICE("chmod")) && inferred_may_change(command, dir, path);
}
