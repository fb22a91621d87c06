#include "store/show/tool_call.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"

enum about { ABOUT_TEXT, ABOUT_PATH, ABOUT_COUNT, ABOUT_LIST };

/* The member of the input that is the subject of a call, and the unit in which its outcome is
 * counted. */
static const struct known {
    const char *name, *member;
    enum about about;
    bool counts_lines; /* of its result */
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
    { "spawn_agent", "task", ABOUT_TEXT, false },
};

/* For tools not known here: members that usually identify the subject of their input. */
static const char *const telling[] = { "file_path",   "filePath", "path",  "command", "pattern",
                                       "query",       "url",      "title", "subject", "name",
                                       "description", "prompt",   "text",  "id" };

/* The text that is replaced and the one that replaces it, as agents name them. */
static const char *const replaced[][2] = {
    { "old_string", "new_string" }, { "oldString", "newString" }, { "old_str", "new_str" },
    { "oldText", "newText" },       { "old_text", "new_text" },   { "oldStr", "newStr" }
};

static const struct known *known_tool(struct slice name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (slice_eq(name, slice_of(known[i].name)))
            return &known[i];
    return NULL;
}

static size_t count_members(struct slice array)
{
    struct json_iter it;
    struct slice key, value;
    size_t n = 0;

    if (json_iter_open(&it, array))
        while (json_iter_next(&it, &key, &value))
            n++;
    return n;
}

static struct slice join_texts(struct slice array, struct arena *a)
{
    struct slice key, value, text, all = SLICE("");
    struct json_iter it;

    if (json_type(array) == JSON_ARRAY && json_iter_open(&it, array))
        while (json_iter_next(&it, &key, &value))
            if (json_text(value, a, &text)) {
                const struct slice both[] = { all, SLICE("; "), text };
                const char *joined = all.n ? arena_concat(a, both, 3) : NULL;

                all = joined ? slice_of(joined) : all.n ? all : text;
            }
    return all;
}

static struct slice find_subject(const struct block *call, const struct known *k, struct arena *a)
{
    struct slice text = { NULL, 0 }, value;
    char count[32];

    if (k && k->about == ABOUT_COUNT && json_get(call->input, k->member, &value)) {
        int n = snprintf(count, sizeof count, "%zu %s", count_members(value), k->member);

        return arena_copy(a, (struct slice){ count, (size_t)n });
    }
    if (k && k->about == ABOUT_LIST && json_get(call->input, k->member, &value))
        return join_texts(value, a);
    if (k && json_get_text(call->input, k->member, a, &text))
        return text;
    for (size_t i = 0; i < sizeof telling / sizeof telling[0] && text.n == 0; i++)
        json_get_text(call->input, telling[i], a, &text);
    return text;
}

struct slice tool_call_subject(const struct block *call, struct arena *a, bool *path)
{
    const struct known *k = known_tool(call->name);
    struct slice text = find_subject(call, k, a);

    *path = k ? k->about == ABOUT_PATH : text.n > 0 && text.p[0] == '/';
    return text;
}

bool tool_call_counts_lines(const struct block *call)
{
    const struct known *k = known_tool(call->name);

    return k && k->counts_lines;
}

/* Adds the replacement that the object describes. Returns false if it describes no replacement. */
static bool add_replacement(struct hunks *d, struct slice object)
{
    struct slice before, after;

    for (size_t i = 0; i < sizeof replaced / sizeof replaced[0]; i++)
        if (json_get_text(object, replaced[i][0], &d->arena, &before) &&
            json_get_text(object, replaced[i][1], &d->arena, &after)) {
            hunks_of_texts(d, before, after);
            return true;
        }
    return false;
}

/* The text that the call writes into a file, where it replaces none. */
static bool written_text(const struct block *call, struct arena *a, struct slice *text)
{
    struct slice name = call->name;

    if (slice_eq(name, SLICE("editor")))
        return json_get_text(call->input, "new_text", a, text);
    return (slice_eq(name, SLICE("Write")) || slice_eq(name, SLICE("write")) ||
            slice_eq(name, SLICE("write_file"))) &&
           (json_get_text(call->input, "content", a, text) ||
            json_get_text(call->input, "contents", a, text));
}

void tool_call_hunks(struct hunks *d, const struct block *call, const struct block *result)
{
    struct json_iter it;
    struct slice key, edit, edits, after;

    if (result && result->patch.n)
        hunks_of_patch(d, result->patch);
    if (d->n > 0 || d->rc || add_replacement(d, call->input))
        return;
    if (json_get(call->input, "edits", &edits) && json_iter_open(&it, edits))
        while (!d->rc && json_iter_next(&it, &key, &edit))
            add_replacement(d, edit);
    else if (written_text(call, &d->arena, &after))
        hunks_of_texts(d, (struct slice){ NULL, 0 }, after);
}

bool tool_call_shows(const struct block *call, struct slice key, bool has_diff)
{
    static const char *const in_diff[] = { "edits", "content", "contents", "file_path",
                                           "filePath" };

    if (slice_eq(call->name, SLICE("Bash")))
        return json_string_is(key, "command");
    for (size_t i = 0; has_diff && i < sizeof in_diff / sizeof in_diff[0]; i++)
        if (json_string_is(key, in_diff[i]))
            return true;
    for (size_t i = 0; has_diff && i < sizeof replaced / sizeof replaced[0]; i++)
        if (json_string_is(key, replaced[i][0]) || json_string_is(key, replaced[i][1]))
            return true;
    return false;
}

bool tool_call_command(const struct block *call, struct arena *a, struct slice *command)
{
    return slice_eq(call->name, SLICE("Bash")) && json_get_text(call->input, "command", a, command);
}

struct slice tool_call_result(const struct block *result)
{
    static const char tag[] = "<tool_use_error>";
    struct slice text = result->text;

    if (text.n > sizeof tag - 1 && memcmp(text.p, tag, sizeof tag - 1) == 0)
        return (struct slice){ text.p + sizeof tag - 1, text.n - (sizeof tag - 1) };
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
