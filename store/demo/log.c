#include "store/demo/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"

#define CLIENT_VERSION "2.1.330"
#define MODEL "claude-opus-5-5"

void demo_log_member(struct jsonout *j, const char *key, const char *text)
{
    jsonout_key(j, key);
    jsonout_text(j, slice_of(text));
}

/* splitmix64: ids need to look random and to be the same every time, nothing more. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t next_id(struct demo_log *l)
{
    return mix(l->seed ^ mix(++l->ids));
}

void demo_log_seed(struct demo_log *l, const char *text)
{
    uint64_t h = 0;

    for (; *text; text++)
        h = mix(h ^ (unsigned char)*text);
    l->seed = h;
    l->ids = 0;
}

void demo_log_uuid(struct demo_log *l, char out[DEMO_UUID])
{
    uint64_t a = next_id(l), b = next_id(l);

    snprintf(out, DEMO_UUID, "%08x-%04x-4%03x-%04x-%012" PRIx64, (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff,
             ((unsigned)(b >> 48) & 0x3fff) | 0x8000, b & 0xffffffffffff);
}

void demo_log_call_id(struct demo_log *l, char out[32])
{
    uint64_t a = next_id(l), b = next_id(l);

    snprintf(out, 32, "toolu_%016" PRIx64 "%08x", a, (unsigned)b);
}

void demo_log_new_answer(struct demo_log *l)
{
    uint64_t a = next_id(l), b = next_id(l);

    snprintf(l->answer, sizeof l->answer, "msg_%016" PRIx64 "%08x", a, (unsigned)b);
}

void demo_log_init(struct demo_log *l, const struct demo_session *s, const char *cwd,
                   int64_t clock_ms)
{
    memset(l, 0, sizeof *l);
    l->session = s;
    l->cwd = cwd;
    l->clock_ms = clock_ms;
    demo_log_seed(l, s->id);
    demo_log_new_answer(l);
}

void demo_log_fini(struct demo_log *l)
{
    buf_fini(&l->out);
}

void demo_log_open(struct demo_log *l, struct jsonout *j, const char *type)
{
    jsonout_init(j, &l->out);
    jsonout_open(j, '{');
    if (type)
        demo_log_member(j, "type", type);
}

void demo_log_close(struct demo_log *l, struct jsonout *j)
{
    jsonout_close(j, '}');
    if (!l->rc)
        l->rc = j->rc;
    if (!l->rc)
        l->rc = buf_add_byte(&l->out, '\n');
}

static void member_time(struct demo_log *l, struct jsonout *j)
{
    char stamp[TIME_TEXT];

    time_format(l->clock_ms, stamp);
    demo_log_member(j, "timestamp", stamp);
}

/* A row of the chain starts with its parent; members follow in the client's order (claude.md 9.2). */
static void open_chained(struct demo_log *l, struct jsonout *j)
{
    demo_log_open(l, j, NULL);
    jsonout_key(j, "parentUuid");
    if (l->last[0])
        jsonout_text(j, slice_of(l->last));
    else
        jsonout_null(j);
    jsonout_key(j, "isSidechain");
    jsonout_bool(j, l->agent != NULL);
    if (l->agent)
        demo_log_member(j, "agentId", l->agent);
}

static void close_chained(struct demo_log *l, struct jsonout *j)
{
    char uuid[DEMO_UUID];

    demo_log_uuid(l, uuid);
    demo_log_member(j, "uuid", uuid);
    member_time(l, j);
    demo_log_member(j, "userType", "external");
    demo_log_member(j, "entrypoint", "cli");
    demo_log_member(j, "cwd", l->cwd);
    demo_log_member(j, "sessionId", l->session->id);
    demo_log_member(j, "version", CLIENT_VERSION);
    demo_log_member(j, "gitBranch", l->session->branch);
    if (l->forked_from) {
        jsonout_key(j, "forkedFrom");
        jsonout_open(j, '{');
        demo_log_member(j, "sessionId", l->forked_from);
        demo_log_member(j, "messageUuid", uuid);
        jsonout_close(j, '}');
    }
    demo_log_close(l, j);
    memcpy(l->last, uuid, sizeof uuid);
}

static void open_user(struct demo_log *l, struct jsonout *j)
{
    open_chained(l, j);
    demo_log_member(j, "promptId", l->turn);
    demo_log_member(j, "type", "user");
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    demo_log_member(j, "role", "user");
    jsonout_key(j, "content");
}

void demo_log_prompt(struct demo_log *l, struct slice text)
{
    struct jsonout j;

    demo_log_uuid(l, l->turn);
    l->turn_began_ms = l->clock_ms;
    open_user(l, &j);
    jsonout_text(&j, text);
    jsonout_close(&j, '}');
    demo_log_member(&j, "permissionMode", "acceptEdits");
    jsonout_key(&j, "origin");
    jsonout_raw(&j, SLICE("{\"kind\":\"human\"}"));
    demo_log_member(&j, "promptSource", "typed");
    demo_log_member(&j, "turnOrigin", "human");
    close_chained(l, &j);
    memcpy(l->prompt, l->last, sizeof l->prompt);
    demo_log_new_answer(l);
}

void demo_log_note(struct demo_log *l, struct slice content_json)
{
    struct jsonout j;

    open_user(l, &j);
    jsonout_raw(&j, content_json);
    jsonout_close(&j, '}');
    close_chained(l, &j);
    demo_log_new_answer(l);
}

void demo_log_assistant(struct demo_log *l, struct slice content_json, const char *stop_reason)
{
    struct jsonout j;
    uint64_t weight = next_id(l) % 900;

    open_chained(l, &j);
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    demo_log_member(&j, "id", l->answer);
    demo_log_member(&j, "type", "message");
    demo_log_member(&j, "role", "assistant");
    demo_log_member(&j, "model", MODEL);
    jsonout_key(&j, "content");
    jsonout_raw(&j, content_json);
    demo_log_member(&j, "stop_reason", stop_reason);
    jsonout_key(&j, "stop_sequence");
    jsonout_null(&j);
    jsonout_key(&j, "usage");
    jsonout_open(&j, '{');
    jsonout_key(&j, "input_tokens");
    jsonout_int(&j, 1200 + (int64_t)l->ids * 40);
    jsonout_key(&j, "output_tokens");
    jsonout_int(&j, 60 + (int64_t)weight);
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    demo_log_member(&j, "type", "assistant");
    close_chained(l, &j);
}

void demo_log_tool_result(struct demo_log *l, const struct demo_log_result *r)
{
    struct jsonout j;

    open_user(l, &j);
    jsonout_raw(&j, r->content_json);
    jsonout_close(&j, '}');
    jsonout_key(&j, "toolUseResult");
    jsonout_raw(&j, r->result_json);
    demo_log_member(&j, "sourceToolAssistantUUID", r->call_row);
    close_chained(l, &j);
    demo_log_new_answer(l);
}

void demo_log_turn_end(struct demo_log *l)
{
    struct jsonout j;

    open_chained(l, &j);
    demo_log_member(&j, "type", "system");
    demo_log_member(&j, "subtype", "turn_duration");
    jsonout_key(&j, "durationMs");
    jsonout_int(&j, l->clock_ms - l->turn_began_ms);
    jsonout_key(&j, "isMeta");
    jsonout_bool(&j, false);
    close_chained(l, &j);
}

void demo_log_seam(struct demo_log *l, struct slice summary)
{
    struct jsonout j;
    char before[DEMO_UUID];

    memcpy(before, l->last, sizeof before);
    l->last[0] = '\0';
    open_chained(l, &j);
    demo_log_member(&j, "logicalParentUuid", before);
    demo_log_member(&j, "type", "system");
    demo_log_member(&j, "subtype", "compact_boundary");
    demo_log_member(&j, "content", "Conversation compacted");
    demo_log_member(&j, "level", "info");
    jsonout_key(&j, "compactMetadata");
    jsonout_raw(&j, SLICE("{\"trigger\":\"auto\",\"preTokens\":155432,\"durationMs\":18411}"));
    close_chained(l, &j);

    open_user(l, &j);
    jsonout_text(&j, summary);
    jsonout_close(&j, '}');
    jsonout_key(&j, "isVisibleInTranscriptOnly");
    jsonout_bool(&j, true);
    jsonout_key(&j, "isCompactSummary");
    jsonout_bool(&j, true);
    close_chained(l, &j);
    demo_log_new_answer(l);
}

static void metadata_row(struct demo_log *l, const char *type, const char *key, const char *value)
{
    struct jsonout j;

    if (!value)
        return;
    demo_log_open(l, &j, type);
    demo_log_member(&j, key, value);
    demo_log_member(&j, "sessionId", l->session->id);
    demo_log_close(l, &j);
}

void demo_log_metadata(struct demo_log *l, struct slice last_prompt)
{
    struct jsonout j;

    demo_log_open(l, &j, "last-prompt");
    jsonout_member(&j, "lastPrompt", last_prompt);
    demo_log_member(&j, "leafUuid", l->last);
    demo_log_member(&j, "sessionId", l->session->id);
    demo_log_close(l, &j);
    metadata_row(l, "custom-title", "customTitle", l->session->title);
    metadata_row(l, "ai-title", "aiTitle", l->session->ai_title);
    metadata_row(l, "tag", "tag", l->session->tag);
    metadata_row(l, "mode", "mode", "normal");
    metadata_row(l, "permission-mode", "permissionMode", "acceptEdits");
}
