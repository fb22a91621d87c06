#include "store/show/tool_call.h"

#include <string.h>
#include <strings.h>

#include "lite/json/json.h"

/* The patches of the tool apply_patch, which begin with "*** Begin Patch". */

struct patch {
    struct tool_inputs *t;
    struct slice rest;
    struct edit *edit; /* the file that is being read */
    struct buf old_text, new_text, after;
};

static bool parse_header(struct slice line, const char *header, struct slice *value)
{
    if (!slice_starts(line, header))
        return false;
    *value = (struct slice){ line.p + strlen(header), line.n - strlen(header) };
    while (value->n && (value->p[value->n - 1] == ' ' || value->p[value->n - 1] == '\r'))
        value->n--;
    return value->n && !memchr(value->p, '\0', value->n);
}

static void end_hunk(struct patch *p)
{
    struct edit *edit = p->edit;
    struct arena *a = p->t->a;
    bool changed = p->old_text.n || p->new_text.n;

    if (changed && edit && edit->kind != EDIT_DELETE && edit->kind != EDIT_WRITE) {
        struct edit_replacement *list =
            arena_grow(a, (void *)(uintptr_t)edit->replacement, edit->replacements, sizeof *list);

        if (list) {
            list[edit->replacements++] =
                (struct edit_replacement){ .old_text = arena_copy(a, buf_slice(&p->old_text)),
                                           .new_text = arena_copy(a, buf_slice(&p->new_text)),
                                           .next = true };
            edit->replacement = list;
        }
    }
    p->old_text.n = p->new_text.n = 0;
}

static void end_file(struct patch *p)
{
    end_hunk(p);
    if (p->edit && p->edit->kind == EDIT_WRITE) {
        p->edit->after = arena_copy(p->t->a, buf_slice(&p->after));
        p->edit->after_known = EDIT_TEXT;
    }
    p->after.n = 0;
    p->edit = NULL;
}

static void begin_file(struct patch *p, enum edit_kind kind, struct slice path)
{
    struct edit edit = { .kind = kind, .path = arena_copy(p->t->a, path).p };

    end_file(p);
    if (edit.path)
        p->edit = tool_inputs_add(p->t, edit);
}

static enum err_code tool_inputs_add_line(struct buf *b, struct slice line)
{
    TRY(buf_add(b, line));
    return buf_add_byte(b, '\n');
}

static enum err_code add_patch_line(struct patch *p, struct slice line)
{
    struct slice text = { line.p + 1, line.n ? line.n - 1 : 0 };
    enum err_code rc = ERR_OK;

    if (!p->edit)
        return ERR_OK;
    if (p->edit->kind == EDIT_WRITE)
        return line.n && line.p[0] == '+' ? tool_inputs_add_line(&p->after, text) : ERR_OK;
    if (slice_starts(line, "@@"))
        end_hunk(p);
    else if (!line.n)
        rc = tool_inputs_add_line(&p->old_text, line) ? ERR_NOMEM
                                                      : tool_inputs_add_line(&p->new_text, line);
    else if (line.p[0] == ' ')
        rc = tool_inputs_add_line(&p->old_text, text) ? ERR_NOMEM
                                                      : tool_inputs_add_line(&p->new_text, text);
    else if (line.p[0] == '-' || line.p[0] == '+')
        rc = tool_inputs_add_line(line.p[0] == '-' ? &p->old_text : &p->new_text, text);
    return rc;
}

void apply_patch_read(struct slice patch, struct tool_inputs *out)
{
    struct patch p = { .t = out, .rest = patch };
    struct slice line, value;
    enum err_code rc = ERR_OK;
    bool torn;

    while (!rc && slice_line(&p.rest, &line, &torn)) {
        if (parse_header(line, "*** Add File: ", &value))
            begin_file(&p, EDIT_WRITE, value);
        else if (parse_header(line, "*** Delete File: ", &value))
            begin_file(&p, EDIT_DELETE, value);
        else if (parse_header(line, "*** Update File: ", &value))
            begin_file(&p, EDIT_REPLACE, value);
        else if (parse_header(line, "*** Move to: ", &value)) {
            /* The edits that follow a renamed file are those of its new name. */
            if (p.edit) {
                p.edit->to = arena_copy(p.t->a, value).p;
                p.edit->kind = EDIT_RENAME;
                if (p.edit->to)
                    p.edit = tool_inputs_add(
                        p.t, (struct edit){ .kind = EDIT_REPLACE, .path = p.edit->to });
            }
        } else if (!slice_starts(line, "*** "))
            rc = add_patch_line(&p, line);
    }
    end_file(&p);
    out->a->failed = out->a->failed || rc;
    buf_fini(&p.old_text);
    buf_fini(&p.new_text);
    buf_fini(&p.after);
}

struct edit *tool_inputs_add(struct tool_inputs *t, struct edit edit)
{
    struct edit *list = arena_grow(t->a, t->edit, t->n, sizeof *list);

    if (!list)
        return NULL;
    t->edit = list;
    list[t->n] = edit;
    return &list[t->n++];
}

/* The first of the names that the object has as a text. */
static bool tool_inputs_text_of(struct slice object, const char *const names[], struct arena *a,
                                struct slice *out)
{
    for (size_t i = 0; names[i]; i++)
        if (json_get_text(object, names[i], a, out))
            return true;
    return false;
}

static bool tool_inputs_is_true(struct slice object, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (json_get_true(object, names[i]))
            return true;
    return false;
}

/* ---- texts that replace others ---- */

static const char *const old_names[] = { "old_string", "oldString", "old_str", "oldText",
                                         "old_text",   "oldStr",    NULL };
static const char *const new_names[] = { "new_string", "newString", "new_str", "newText",
                                         "new_text",   "newStr",    NULL };
static const char *const all_names[] = { "replace_all", "replaceAll", "allow_multiple", NULL };
static const char *const path_names[] = { "file_path", "filePath",      "filepath",
                                          "path",      "absolute_path", "target_file",
                                          "filename",  "file",          NULL };
static const char *const content_names[] = { "content",  "contents",     "file_text",
                                             "new_text", "file_content", NULL };

bool tool_inputs_path(struct slice input, struct arena *a, struct slice *out)
{
    return tool_inputs_text_of(input, path_names, a, out);
}

/* An empty old text creates the file. */
static bool read_replacement(struct slice object, struct arena *a, struct edit_replacement *out)
{
    *out = (struct edit_replacement){ .all = tool_inputs_is_true(object, all_names) };
    return tool_inputs_text_of(object, old_names, a, &out->old_text) &&
           tool_inputs_text_of(object, new_names, a, &out->new_text);
}

/* A line of five or more such characters and this word. */
static bool is_mark(struct slice line, char c, const char *word)
{
    size_t n = 0;

    while (n < line.n && line.p[n] == c)
        n++;
    struct slice rest = { line.p + n, line.n - n };

    if (rest.n && rest.p[rest.n - 1] == '\r')
        rest.n--;
    return n >= 5 && slice_eq(rest, slice_of(word));
}

/* What is between two marks, without the ends of its last lines. */
static struct slice between(const char *from, const char *to)
{
    while (to > from && (to[-1] == '\n' || to[-1] == '\r'))
        to--;
    return (struct slice){ from, (size_t)(to - from) };
}

/* Blocks of "<<<<<<< SEARCH", a text, "=======", what replaces it, ">>>>>>> REPLACE". */
static void set_blocks(struct tool_inputs *t, struct slice text, struct edit *edit)
{
    struct edit_replacement *list = NULL, one = { .all = false };
    const char *from = NULL, *half = NULL;
    struct slice line;
    bool torn;

    for (const char *start = text.p; slice_line(&text, &line, &torn); start = text.p) {
        if (!from && is_mark(line, '<', " SEARCH")) {
            from = text.p;
        } else if (from && !half && is_mark(line, '=', "")) {
            one.old_text = between(from, start);
            half = text.p;
        } else if (half && is_mark(line, '>', " REPLACE")) {
            one.new_text = between(half, start);
            list = arena_grow(t->a, list, edit->replacements, sizeof *list);
            if (!list) {
                edit->replacements = 0;
                return;
            }
            list[edit->replacements++] = one;
            from = half = NULL;
        }
    }
    edit->replacement = list;
}

static void set_replacements(struct tool_inputs *t, struct slice name, struct slice input,
                             struct edit *edit)
{
    struct edit_replacement *list = NULL, one;
    struct slice edits, key, value;
    struct json_iter it;

    edit->replacements = 0;
    if (read_replacement(input, t->a, &one)) {
        list = arena_grow(t->a, NULL, 0, sizeof *list);
        if (list)
            list[edit->replacements++] = one;
    } else if ((json_get(input, "edits", &edits) ||
                json_get(input, "str_replace_entries", &edits)) &&
               json_type(edits) == JSON_ARRAY && json_iter_open(&it, edits)) {
        while (json_iter_next(&it, &key, &value)) {
            /* Without one of them the others prove nothing. */
            if (!read_replacement(value, t->a, &one) ||
                !(list = arena_grow(t->a, list, edit->replacements, sizeof *list))) {
                edit->replacements = 0;
                return;
            }
            list[edit->replacements++] = one;
        }
    } else if (slice_has_folded(name, "replace") &&
               tool_inputs_text_of(input, content_names, t->a, &value)) {
        set_blocks(t, value, edit);
        return;
    }
    edit->replacement = list;
}

static bool writes(struct slice name)
{
    return slice_has_folded(name, "write") || slice_has_folded(name, "create") ||
           slice_has_folded(name, "edit") || slice_has_folded(name, "replace") ||
           slice_eq(name, SLICE("save-file"));
}

static bool tool_inputs_set_content(struct tool_inputs *t, struct slice name, struct slice input,
                                    struct edit *edit)
{
    struct slice value;

    /* The text is inserted between two lines of the file. */
    if ((json_get(input, "insert_line", &value) && json_type(value) != JSON_NULL) ||
        (json_get(input, "command", &value) &&
         (json_string_is(value, "insert") || json_string_is(value, "append"))))
        return false;
    if (edit->replacements == 1 && !edit->replacement->old_text.n)
        edit->after = edit->replacement->new_text;
    else if (edit->replacements || !writes(name) ||
             !tool_inputs_text_of(input, content_names, t->a, &edit->after))
        return false;
    /* Auggie's tool ends the last line, unless it is told not to. */
    if (json_get(input, "file_content", &value) &&
        !(json_get(input, "add_last_line_newline", &value) && json_type(value) == JSON_FALSE) &&
        !(edit->after.n && edit->after.p[edit->after.n - 1] == '\n')) {
        const char *text = arena_concat(t->a, (struct slice[]){ edit->after, SLICE("\n") }, 2);

        edit->after = (struct slice){ text, text ? edit->after.n + 1 : 0 };
    }
    edit->kind = EDIT_WRITE;
    edit->after_known = EDIT_TEXT;
    edit->replacements = 0;
    return true;
}

/* A list of files that the tool deletes. */
static bool read_deletions(struct tool_inputs *t, struct slice name, struct slice input)
{
    struct slice value, path;
    struct json_iter it;

    if (!slice_eq(name, SLICE("remove-files")))
        return false;
    json_list_open(&it, input, "file_paths");
    while (json_list_next(&it, &value))
        if (json_text(value, t->a, &path) && path.n && !memchr(path.p, '\0', path.n)) {
            const char *own = arena_copy(t->a, path).p;

            if (own)
                tool_inputs_add(t, (struct edit){ .kind = EDIT_DELETE, .path = own });
        }
    return true;
}

/* In some agents one tool both reads and writes, depending on its command. */
static bool only_views(struct slice input)
{
    struct slice command;

    return json_get(input, "command", &command) &&
           (json_string_is(command, "view") || json_string_is(command, "undo_edit"));
}

static void read_file_call(struct tool_inputs *t, struct slice name, struct slice input)
{
    struct slice path, source;
    struct edit edit = { .kind = EDIT_REPLACE };
    bool notebook = json_get_text(input, "notebook_path", t->a, &path) &&
                    json_get(input, "new_source", &source);

    if ((!notebook && !tool_inputs_text_of(input, path_names, t->a, &path)) || !path.n ||
        memchr(path.p, '\0', path.n) || only_views(input))
        return;
    edit.path = arena_copy(t->a, path).p;
    set_replacements(t, name, input, &edit);
    /* A call whose input was not recorded in full also changed the file. */
    bool bare = !edit.replacements && writes(name);

    if ((tool_inputs_set_content(t, name, input, &edit) || edit.replacements || notebook || bare) &&
        edit.path)
        tool_inputs_add(t, edit);
}

/* ---- shell commands ---- */

enum { WORDS_MAX = 32 };

struct shell {
    struct tool_inputs *t;
    const char *dir; /* the directory of the last cd; "": where the command was started */
    const char *word[WORDS_MAX];
    size_t words;
    bool odd;  /* the command has something that is not plain text */
    bool lost; /* it and what follows cannot be understood */
};

/* A name of a command, in the directory of the last cd. */
static const char *shell_path(struct shell *s, const char *word)
{
    return word[0] == '/' || !*s->dir ? word : arena_format(s->t->a, "%s/%s", s->dir, word);
}

static void run_move(struct shell *s, size_t first)
{
    const char *to = s->word[s->words - 1], *from;
    bool into = s->words - first > 2 || to[strlen(to) - 1] == '/';

    for (size_t i = first; i + 1 < s->words; i++) {
        const char *slash = strrchr(s->word[i], '/'), *name = slash ? slash + 1 : s->word[i];
        const char *target = into ? arena_format(s->t->a, "%s/%s", to, name) : to;

        from = shell_path(s, s->word[i]);
        if (from && target && *name && (target = shell_path(s, target)))
            tool_inputs_add(s->t, (struct edit){ .kind = EDIT_RENAME, .path = from, .to = target });
    }
}

static void run_words(struct shell *s)
{
    size_t first = s->words && strcmp(s->word[0], "git") == 0;
    const char *name = s->words > first ? s->word[first] : "";

    if (strcmp(name, "cd") == 0) {
        const char *to = s->words == 2 && s->word[1][0] != '-' ? shell_path(s, s->word[1]) : NULL;

        s->dir = to ? to : "";
        s->lost = !to;

        return;
    }
    for (first++; first < s->words && s->word[first][0] == '-' && s->word[first][1] != 't';)
        first++;
    if (strcmp(name, "mv") == 0 && s->words >= first + 2 && s->word[first][0] != '-')
        run_move(s, first);
    else if (strcmp(name, "rm") == 0 && s->words > first && s->word[first][0] != '-') {
        for (size_t i = first; i < s->words; i++) {
            const char *path = shell_path(s, s->word[i]);

            if (path)
                tool_inputs_add(s->t, (struct edit){ .kind = EDIT_DELETE, .path = path });
        }
    }
}

static bool is_keyword(const char *word)
{
    static const char *const words[] = { "if",       "then", "else", "elif", "fi",    "for",
                                         "while",    "do",   "done", "case", "until", "esac",
                                         "function", "eval", "exec", "trap", "exit",  "return" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

enum word { NO_WORD, WORD, REDIRECTION };

/* Reads one word, of which parts may be quoted. NO_WORD: the end of the command. */
static enum word shell_word(struct shell *s, struct slice *rest, struct buf *out)
{
    enum word found = NO_WORD;
    char quote = 0, before = 0;

    out->n = 0;
    while (rest->n && (*rest->p == ' ' || *rest->p == '\t'))
        *rest = (struct slice){ rest->p + 1, rest->n - 1 };
    for (; rest->n; *rest = (struct slice){ rest->p + 1, rest->n - 1 }) {
        char c = *rest->p;
        bool joins = !quote && c == '&' && before == '>'; /* 2>&1 */

        if (!quote && !joins && c && strchr(" \t;&|\n", c))
            break;
        s->lost |= !quote && c == '<' && before == '<'; /* what follows is a document */
        if (!quote && (c == '>' || c == '<'))
            found = REDIRECTION;
        else if (!found)
            found = WORD;
        before = c;
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else {
            /* Add a character of a word. */
            s->lost |= !c || (quote != '\'' && strchr("`\\", c)) || (!quote && strchr("(){}#", c));
            s->odd |= (quote != '\'' && c == '$') || (!quote && strchr("*?[]~!", c));
            s->lost |= buf_add_byte(out, c) != ERR_OK;
        }
    }
    s->lost |= quote != 0;
    return found;
}

/* Returns false unless the next command is joined with ";", "&&", "|" or a new line. */
static bool shell_joint(struct slice *rest)
{
    bool both = rest->n > 1 && rest->p[0] == '&' && rest->p[1] == '&';
    bool either = rest->n > 1 && rest->p[0] == '|' && rest->p[1] == '|';
    size_t n = both ? 2 : rest->n && !either && strchr(";|\n", *rest->p);

    if (!n)
        return false;
    *rest = (struct slice){ rest->p + n, rest->n - n };
    return true;
}

/* A shell command. cd changes the base of later relative names. */
static void tool_inputs_shell(struct slice command, struct tool_inputs *out)
{
    struct shell s = { .t = out, .dir = "" };
    struct buf word = { 0 };

    for (bool more = true; more;) {
        /* Reads the words of one command, without redirections and the names after them. */
        bool target = false;

        s.words = 0;
        s.odd = false;
        for (enum word found;
             s.words < WORDS_MAX && (found = shell_word(&s, &command, &word)) != NO_WORD;) {
            const char *copy =
                found == WORD && !target ? arena_copy(s.t->a, buf_slice(&word)).p : NULL;

            target = found == REDIRECTION && word.n && strchr("<>", word.p[word.n - 1]);
            if (copy)
                s.word[s.words++] = copy;
        }
        s.lost |= s.words == WORDS_MAX || (s.words && is_keyword(s.word[0]));

        more = shell_joint(&command) && !s.lost;
        if ((more || !command.n) && !s.lost) {
            if (!s.odd)
                run_words(&s);
            else if (s.words && strcmp(s.word[0], "cd") == 0)
                more = false;
        }
        more = more && !s.lost;
        while (more && command.n && (*command.p == '\n' || *command.p == ' '))
            command = (struct slice){ command.p + 1, command.n - 1 };
        more = more && command.n;
    }
    buf_fini(&word);
}

static bool tool_inputs_is_shell(struct slice name)
{
    return slice_has_folded(name, "bash") || slice_has_folded(name, "shell") ||
           slice_has_folded(name, "terminal") || slice_has_folded(name, "command") ||
           slice_eq(name, SLICE("launch-process")) || slice_has_folded(name, "exec");
}

/* A command as a text, or as ["bash", "-lc", text]. */
static bool command_text(struct slice input, struct arena *a, struct slice *out)
{
    struct slice value;
    struct json_iter it;
    size_t n = 0;

    if (json_get_text(input, "command", a, out) || json_get_text(input, "cmd", a, out))
        return true;
    json_list_open(&it, input, "command");
    while (json_list_next(&it, &value))
        if (!json_text(value, a, out) || ++n > 3)
            return false;
    return n == 3;
}

bool tool_inputs_command(struct slice name, struct slice input, struct arena *a, struct slice *out)
{
    return tool_inputs_is_shell(name) && json_type(input) == JSON_OBJECT &&
           command_text(input, a, out);
}

/* The patch that a command gives to apply_patch: ["apply_patch", patch], or a here-document after the name. */
static bool command_patch(struct slice input, struct arena *a, struct slice *out)
{
    struct slice list, key, value;
    struct json_iter it;
    bool named = false;

    if (command_text(input, a, out))
        return slice_starts(*out, "apply_patch") && slice_has(*out, "*** Begin Patch");
    if (!json_get(input, "command", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return false;
    for (; json_iter_next(&it, &key, &value) && json_text(value, a, out);
         named = slice_eq(*out, SLICE("apply_patch")))
        if (named)
            return slice_has(*out, "*** Begin Patch");
    return false;
}

void tool_inputs_read(struct slice name, struct slice input, struct tool_inputs *out)
{
    static const char *const patch_names[] = { "patch", "input", "patchText", NULL };
    struct slice text, list, key, value;
    struct json_iter it;

    if (json_type(input) == JSON_STRING && json_text(input, out->a, &text))
        input = text;

    /* A patch is recognised by its marker first, whatever the name of the tool. */
    if (json_type(input) != JSON_OBJECT) {
        if (slice_has(input, "*** Begin Patch"))
            apply_patch_read(input, out);
    } else if (tool_inputs_text_of(input, patch_names, out->a, &text) &&
               slice_has(text, "*** Begin Patch")) {
        apply_patch_read(text, out);
    } else if (tool_inputs_is_shell(name) && command_patch(input, out->a, &text)) {
        apply_patch_read(text, out);
    } else if (tool_inputs_is_shell(name) && command_text(input, out->a, &text)) {
        if (slice_has(text, "*** Begin Patch"))
            return;
        tool_inputs_shell(text, out);
    } else if (tool_inputs_is_shell(name) && json_get(input, "commands", &list) &&
               json_type(list) == JSON_ARRAY && json_iter_open(&it, list)) {
        while (json_iter_next(&it, &key, &value))
            if (json_text(value, out->a, &text))
                tool_inputs_shell(text, out);
    } else if (!read_deletions(out, name, input)) {
        read_file_call(out, name, input);
    }
}
