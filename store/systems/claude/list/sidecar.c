#include "store/systems/claude/list/discover.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <utf8proc.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"

enum { TITLE_CHARACTERS = 200, TITLE_FILE_MAX = 1 << 20, MARK_FILE_MAX = 4096 };

/* Reads a document of the side folder into the arena; .p is NULL if it does not exist or does not
 * parse. Returns false if out of memory. */
static bool claude_read_document(const struct session_ref *ref, const char *name, unsigned flags,
                                 size_t max, struct arena *a, struct slice *out)
{
    struct slice path = claude_side_path(ref, name, a);
    struct buf bytes = { 0 };
    enum err_code rc = ERR_NOMEM;

    *out = (struct slice){ NULL, 0 };
    if (path.p)
        rc = file_read_all(AT_FDCWD, path.p, flags, max, &bytes, NULL);
    if (rc == ERR_OK && json_valid(buf_slice(&bytes))) {
        *out = arena_copy(a, buf_slice(&bytes));
        rc = out->p ? ERR_OK : ERR_NOMEM;
    }
    buf_fini(&bytes);
    return rc != ERR_NOMEM;
}

/* ---- the title ---- */

bool sidecar_folder_exists(const struct session_ref *ref, struct arena *a)
{
    if (ref->alone)
        return false;
    struct slice path = claude_side_path(ref, "", a);

    return !path.p || access(path.p, F_OK) == 0;
}

bool sidecar_title(const struct session_ref *ref, struct arena *a, struct slice *title)
{
    struct slice document, text;

    *title = (struct slice){ NULL, 0 };
    if (!claude_read_document(ref, "custom-title.json", FILE_FOLLOW, TITLE_FILE_MAX, a, &document))
        return false;
    if (!document.p || !json_get(document, "customTitle", &text) || json_type(text) != JSON_STRING)
        return true;
    if (!json_text(text, a, &text))
        return false;

    /* Each run of control and format characters becomes one space; cut after 200 characters. */
    text = utf8_js_trim(text);
    char *p = arena_alloc(a, text.n + 1);
    size_t n = 0;
    bool in_run = false;

    if (!p)
        return false;
    for (size_t characters = 0; text.n && characters < TITLE_CHARACTERS;) {
        uint32_t cp = utf8_next(&text, true);
        utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)cp);

        if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || cp == 0x2028 ||
            cp == 0x2029) {
            if (!in_run)
                p[n++] = ' ';
            characters += !in_run;
            in_run = true;
        } else {
            n += utf8_encode(p + n, cp);
            characters++;
            in_run = false;
        }
    }
    *title = utf8_js_trim((struct slice){ p, n });
    return true;
}

/* ---- the archive mark ---- */

/* Compares the beginning with a pattern of digits ('0' is any digit) and fixed characters, and cuts it off if it
 * matches. */
static bool match_pattern(struct slice *text, const char *pattern)
{
    size_t n = strlen(pattern);

    if (text->n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = text->p[i];
        if (pattern[i] == '0' ? c < '0' || c > '9' : c != pattern[i])
            return false;
    }
    *text = (struct slice){ text->p + n, text->n - n };
    return true;
}

static int two_digits(const char *p)
{
    return (p[0] - '0') * 10 + (p[1] - '0');
}

static bool is_day(const char *date)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int century = two_digits(date), year = two_digits(date + 2);
    int month = two_digits(date + 5), day = two_digits(date + 8);
    bool leap = year ? year % 4 == 0 : century % 4 == 0;

    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (leap && month == 2);
}

static bool is_hour_minute(const char *p)
{
    return two_digits(p) < 24 && two_digits(p + 3) < 60;
}

/* A date and time with seconds and zone, stricter than time_parse: the agent ignores a mark with any other time. */
static bool is_timestamp(struct slice text)
{
    const char *p = text.p;

    if (!match_pattern(&text, "0000-00-00T00:00:00") || !is_day(p) || !is_hour_minute(p + 11) ||
        two_digits(p + 17) >= 60)
        return false;
    if (match_pattern(&text, ".0"))
        while (match_pattern(&text, "0"))
            continue;
    if (match_pattern(&text, "Z"))
        return text.n == 0;
    return (match_pattern(&text, "+00:00") || match_pattern(&text, "-00:00")) && text.n == 0 &&
           is_hour_minute(text.p - 5);
}

bool sidecar_archive_mark(const struct session_ref *ref, struct arena *a, struct archive_mark *mark)
{
    static const char *const keys[] = { "archived", "at" };
    struct slice document, value[2], at;

    *mark = (struct archive_mark){ .at_ms = TIME_NONE };
    if (!claude_read_document(ref, "archived.json", 0, MARK_FILE_MAX, a, &document))
        return false;
    if (!document.p || json_get_each(document, keys, 2, value) != 2)
        return true;
    enum json_type type = json_type(value[0]);

    if ((type != JSON_TRUE && type != JSON_FALSE) || json_type(value[1]) != JSON_STRING)
        return true;
    if (!json_text(value[1], a, &at))
        return false;
    if (is_timestamp(at) && time_parse(at, &mark->at_ms))
        *mark = (struct archive_mark){ true, type == JSON_TRUE, mark->at_ms };
    return true;
}

/* A prompt and its origin. */
struct asked {
    struct slice content; /* a string or blocks */
    struct slice origin;  /* .p is NULL: not recorded */
    struct slice timestamp;
};

/* The first keys must be false or absent, the others absent. */
static bool no_marks(struct slice row)
{
    enum { FALSE = 8, ABSENT = 3, KEYS = FALSE + ABSENT };
    static const char *const keys[KEYS] = {
        "isMeta",       "isCompactSummary",          "isSidechain",
        "isVirtual",    "isVisibleInTranscriptOnly", "textNotTyped",
        "handedOff",    "queueSkipAttachments",      "persist",
        "wakeupSource", "scheduledTaskId",
    };
    struct slice value[KEYS];

    json_get_each(row, keys, KEYS, value);
    for (size_t i = 0; i < KEYS; i++)
        if (value[i].p && (i >= FALSE || json_type(value[i]) != JSON_FALSE))
            return false;
    return true;
}

static bool user_row(struct slice row, struct asked *out)
{
    enum { MESSAGE, RESULT, TURN, SOURCE, ORIGIN, TIME, KEYS };
    static const char *const keys[KEYS] = { "message",      "toolUseResult", "turnOrigin",
                                            "promptSource", "origin",        "timestamp" };
    static const char *const turns[] = { "human", "sdk", "unknown", NULL };
    struct slice value[KEYS];

    json_get_each(row, keys, KEYS, value);
    if (json_type(value[MESSAGE]) != JSON_OBJECT || json_type(value[TIME]) != JSON_STRING ||
        (value[RESULT].p && json_type(value[RESULT]) != JSON_NULL) ||
        (value[TURN].p && !claude_string_in(value[TURN], turns)) ||
        (value[SOURCE].p && json_type(value[SOURCE]) != JSON_STRING) || !no_marks(row))
        return false;
    json_get(value[MESSAGE], "content", &out->content);
    out->origin = value[ORIGIN];
    out->timestamp = value[TIME];
    return true;
}

static bool false_or_absent(struct slice object, const char *key)
{
    struct slice value;

    return !json_get(object, key, &value) || json_type(value) == JSON_FALSE;
}

static bool queued_row(struct slice row, struct asked *out)
{
    enum { TYPE, PROMPT, ORIGIN, MODE, KEYS };
    static const char *const keys[KEYS] = { "type", "prompt", "origin", "commandMode" };
    static const char *const modes[] = { "prompt", "bash", NULL };
    struct slice value[KEYS], attachment;

    if (!json_get(row, "attachment", &attachment) || json_type(attachment) != JSON_OBJECT ||
        !false_or_absent(row, "isSidechain") || !false_or_absent(attachment, "isMeta"))
        return false;
    json_get_each(attachment, keys, KEYS, value);
    if (!json_string_is(value[TYPE], "queued_command") ||
        (value[MODE].p && !claude_string_in(value[MODE], modes)) ||
        !json_get(row, "timestamp", &out->timestamp) || json_type(out->timestamp) != JSON_STRING)
        return false;
    out->content = value[PROMPT];
    out->origin = value[ORIGIN];
    return true;
}

/* A summary of all blocks of a prompt. */
struct said {
    bool text, command_name, command_message, media, tool_result;
};

static void note_said_text(struct said *said, struct slice text)
{
    text = utf8_js_trim(text);
    said->text |= text.n > 0;
    said->command_name |= slice_starts(text, "<command-name>");
    said->command_message |= slice_starts(text, "<command-message>");
}

/* If one block is malformed, the agent sees no blocks at all. */
static struct said read_content(struct slice content, struct arena *a, bool *ok)
{
    struct said said = { 0 };
    struct slice key, block, type, value, text;
    struct json_iter it;

    if (json_type(content) == JSON_STRING) {
        *ok &= json_text(content, a, &text);
        if (*ok)
            note_said_text(&said, text);
    } else if (json_type(content) == JSON_ARRAY && json_iter_open(&it, content)) {
        while (json_iter_next(&it, &key, &block)) {
            if (json_type(block) != JSON_OBJECT || !json_get(block, "type", &type) ||
                json_type(type) != JSON_STRING)
                return (struct said){ 0 };
            said.tool_result |= json_string_is(type, "tool_result");
            said.media |= json_string_is(type, "image") || json_string_is(type, "document");
            if (json_get(block, "text", &value) && json_type(value) == JSON_STRING) {
                *ok &= json_text(value, a, &text);
                if (*ok)
                    note_said_text(&said, text);
            }
        }
    }
    return said;
}

static bool by_person(const struct asked *asked, struct arena *a, bool *ok)
{
    struct said said = read_content(asked->content, a, ok);
    struct prompt prompt = { 0 };
    struct slice kind;

    if (said.tool_result)
        return false;
    if (asked->origin.p) {
        if (json_type(asked->origin) != JSON_OBJECT || !json_get(asked->origin, "kind", &kind) ||
            !json_string_is(kind, "human"))
            return false;
        return (said.text && !said.command_name) || said.media;
    }
    *ok &= prompt_of_content(asked->content, a, &prompt);
    return prompt.text.p || said.command_message || said.media;
}

static bool asked_after(struct slice row, int64_t at_ms, struct arena *a, bool *ok)
{
    struct asked asked = { 0 };
    struct slice type, text;
    int64_t ms;

    if (!json_valid(row) || !json_get(row, "type", &type))
        return false;
    if (!(json_string_is(type, "user") && user_row(row, &asked)) &&
        !(json_string_is(type, "attachment") && queued_row(row, &asked)))
        return false;
    *ok &= json_text(asked.timestamp, a, &text);
    return *ok && time_parse(text, &ms) && ms > at_ms && by_person(&asked, a, ok);
}

bool sidecar_has_prompt_after(struct slice window, int64_t at_ms, struct arena *a, bool *ok)
{
    struct slice row;
    bool torn;

    *ok = true;
    while (*ok && slice_line(&window, &row, &torn)) {
        if ((slice_has(row, "\"user\"") || slice_has(row, "\"queued_command\"")) &&
            !slice_has(row, "\"tool_result\"") && asked_after(row, at_ms, a, ok))
            return true;
    }
    return false;
}
