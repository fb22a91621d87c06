#include "store/show/tool_call.h"

#include <string.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"

enum about { ABOUT_TEXT, ABOUT_PATH, ABOUT_COUNT, ABOUT_LIST };

/* The member of the input that is the subject of a call, and the unit in which its outcome is
 * counted. */
static const struct known {
    const char *name, *member;
    enum about about;
    bool counts_lines; /* the lines of its result are counted */
} known[] = {
    { "Bash", "command", ABOUT_TEXT, false },
    { "Read", "file_path", ABOUT_PATH, true },
    { "Write", "file_path", ABOUT_PATH, false },
    { "Edit", "file_path", ABOUT_PATH, false },
    { "MultiEdit", "file_path", ABOUT_PATH, false },
    { "NotebookEdit", "notebook_path", ABOUT_PATH, false },
    { "Glob", "pattern", ABOUT_TEXT, true },
    { "Grep", "pattern", ABOUT_TEXT, true },
    { "LS", "path", ABOUT_PATH, true },
    { "WebFetch", "url", ABOUT_TEXT, false },
    { "WebSearch", "query", ABOUT_TEXT, false },
    { "Task", "description", ABOUT_TEXT, false },
    { "Agent", "description", ABOUT_TEXT, false },
    { "Skill", "skill", ABOUT_TEXT, false },
    { "TodoWrite", "todos", ABOUT_COUNT, false },
    { "run_commands", "commands", ABOUT_LIST, false },
    { "read_files", "files", ABOUT_COUNT, true },
    { "spawn_agent", "task", ABOUT_TEXT, false },
};

/* For tools not known here: members that usually identify the subject of their input. */
static const char *const telling[] = { "file_path", "filePath",    "filepath", "path",  "command",
                                       "pattern",   "query",       "url",      "title", "subject",
                                       "name",      "description", "prompt",   "text",  "id" };

static const struct known *known_tool(struct slice name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (slice_eq(name, slice_of(known[i].name)))
            return &known[i];
    return NULL;
}

/* "3 todos"; of a single file its path. */
static struct slice count_members(const struct known *k, struct slice array, struct arena *a)
{
    struct json_iter it;
    struct slice key, value, path = { NULL, 0 };
    size_t n = 0;

    if (json_iter_open(&it, array))
        for (; json_iter_next(&it, &key, &value); n++)
            json_get_text(value, "path", a, &path);
    if (n == 1 && path.n)
        return path;
    const char *words = arena_format(a, "%zu %s", n, k->member);

    return slice_of(words ? words : "");
}

static struct slice tool_call_join_texts(struct slice array, struct arena *a)
{
    struct slice key, value, text, all = SLICE("");
    struct json_iter it;

    if (json_type(array) == JSON_ARRAY && json_iter_open(&it, array))
        while (json_iter_next(&it, &key, &value))
            if (json_text(value, a, &text))
                all = arena_join(a, all, "; ", text);
    return all;
}

struct slice tool_call_subject(const struct block *call, struct arena *a, bool *path)
{
    const struct known *k = known_tool(call->name);
    struct slice text = { NULL, 0 }, value;

    if (k && k->about == ABOUT_COUNT && json_get(call->input, k->member, &value))
        text = count_members(k, value, a);
    else if (k && k->about == ABOUT_LIST && json_get(call->input, k->member, &value))
        text = tool_call_join_texts(value, a);
    else if (!k || !json_get_text(call->input, k->member, a, &text))
        for (size_t i = 0; i < sizeof telling / sizeof telling[0] && text.n == 0; i++)
            json_get_text(call->input, telling[i], a, &text);
    *path = k && k->about != ABOUT_COUNT ? k->about == ABOUT_PATH : text.n > 0 && text.p[0] == '/';
    return text;
}

bool tool_call_counts_lines(const struct block *call)
{
    const struct known *k = known_tool(call->name);

    return k && k->counts_lines;
}

void tool_call_hunks(struct hunks *d, const struct block *call, const struct block *result)
{
    struct tool_inputs in = { .a = &d->arena };

    if (result && result->patch.n)
        hunks_of_patch(d, result->patch);
    if (d->n > 0 || d->rc)
        return;
    tool_inputs_read(call->name, call->input, &in);
    for (size_t i = 0; i < in.n && !d->rc; i++) {
        const struct edit *e = &in.edit[i];

        if (e->kind == EDIT_WRITE && e->after_known == EDIT_TEXT)
            hunks_of_texts(d, (struct slice){ NULL, 0 }, e->after);
        for (size_t k = 0; k < e->replacements && !d->rc; k++)
            hunks_of_texts(d, e->replacement[k].old_text, e->replacement[k].new_text);
    }
    if (d->arena.failed)
        d->rc = ERR_NOMEM;
}

bool tool_call_shows(const struct block *call, struct slice key, bool has_diff)
{
    static const char *const in_diff[] = {
        "edits",      "content",    "contents",  "file_text", "file_path", "filePath", "filepath",
        "old_string", "new_string", "oldString", "newString", "old_str",   "new_str",  "oldText",
        "newText",    "old_text",   "new_text",  "oldStr",    "newStr",    "patch",    "patchText",
    };

    if (slice_eq(call->name, SLICE("Bash")))
        return json_string_is(key, "command");
    for (size_t i = 0; has_diff && i < sizeof in_diff / sizeof in_diff[0]; i++)
        if (json_string_is(key, in_diff[i]))
            return true;
    return false;
}

/* A line of a file as agents number it, "  12→text" or "12\ttext", without its number. */
static struct slice without_line_number(struct slice line)
{
    static const char arrow[] = "→";
    size_t at = 0, digits = 0;

    while (at < line.n && line.p[at] == ' ')
        at++;
    for (; at < line.n && line.p[at] >= '0' && line.p[at] <= '9'; at++)
        digits++;
    struct slice rest = { line.p + at, line.n - at };
    size_t mark = slice_starts(rest, "\t") ? 1 : slice_starts(rest, arrow) ? sizeof arrow - 1 : 0;

    return digits && mark ? (struct slice){ rest.p + mark, rest.n - mark } : line;
}

static bool is_in_diff(const struct hunks *d, struct slice line)
{
    struct slice text = utf8_js_trim(without_line_number(line));

    for (size_t i = 0; i < d->n; i++)
        if (d->line[i].sign != '@' && slice_eq(utf8_js_trim(d->line[i].text), text))
            return true;
    return text.n == 0;
}

bool tool_call_repeats(const struct block *call, const struct block *result, const struct hunks *d)
{
    struct arena a = { 0 };
    struct slice path, line, rest = result->text;
    bool torn, repeats = !result->failed && d->n > 0;

    if (!tool_inputs_path(call->input, &a, &path))
        path = SLICE("");
    /* Only the first line may be a sentence: one further down may be a warning about the file. */
    for (bool first = true; repeats && slice_line(&rest, &line, &torn); first = false)
        repeats = is_in_diff(d, line) ||
                  (first && path.n && memmem(line.p, line.n, path.p, path.n) != NULL);
    arena_fini(&a);
    return repeats;
}

bool tool_call_command(const struct block *call, struct arena *a, struct slice *command)
{
    return slice_eq(call->name, SLICE("Bash")) && json_get_text(call->input, "command", a, command);
}

struct slice tool_call_result(const struct block *result)
{
    static const char *const tags[][2] = { { "<tool_use_error>", "</tool_use_error>" },
                                           { "<tool_error>", "</tool_error>" } };
    struct slice text = result->text;

    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        size_t open = strlen(tags[i][0]), close = strlen(tags[i][1]);

        if (text.n <= open || !slice_starts(text, tags[i][0]))
            continue;
        text = (struct slice){ text.p + open, text.n - open };
        if (text.n >= close && memcmp(text.p + text.n - close, tags[i][1], close) == 0)
            text.n -= close;
        break;
    }
    return text;
}

bool tool_call_exit_code(struct slice text, struct slice *digits)
{
    static const char lead[] = "Exit code ";
    size_t n = sizeof lead - 1, end = n;

    if (text.n <= n || memcmp(text.p, lead, n) != 0)
        return false;
    while (end < text.n && end - n < 6 && text.p[end] >= '0' && text.p[end] <= '9')
        end++;
    *digits = (struct slice){ text.p + n, end - n };
    return end > n;
}

struct slice tool_call_first_line(struct slice text)
{
    struct slice trimmed = utf8_js_trim(text);
    const char *nl = trimmed.n ? memchr(trimmed.p, '\n', trimmed.n) : NULL;

    return nl ? (struct slice){ trimmed.p, (size_t)(nl - trimmed.p) } : trimmed;
}
