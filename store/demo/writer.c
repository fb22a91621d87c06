#include "store/demo/demo_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void demo_writer_note(struct demo_writer *p, enum err_code rc)
{
    if (!p->rc && rc)
        p->rc = rc == ERR_NOMEM ? err_nomem(p->e) : rc;
}

/* ---- ids ---- */

/* splitmix64: ids need to look random and to be the same every time. */
static uint64_t demo_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t next_id(struct demo_writer *p)
{
    return demo_mix(p->seed ^ demo_mix(++p->ids));
}

void demo_writer_seed_ids(struct demo_writer *p, const char *text)
{
    p->seed = p->ids = 0;
    for (; *text; text++)
        p->seed = demo_mix(p->seed ^ (unsigned char)*text);
}

void demo_writer_generate_uuid(struct demo_writer *p, char out[UUID])
{
    uint64_t a = next_id(p), b = next_id(p);

    snprintf(out, UUID, "%08x-%04x-4%03x-%04x-%012" PRIx64, (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff,
             ((unsigned)(b >> 48) & 0x3fff) | 0x8000, b & 0xffffffffffff);
}

void demo_writer_generate_id(struct demo_writer *p, const char *front, char out[32])
{
    uint64_t a = next_id(p), b = next_id(p);

    snprintf(out, 32, "%s_%016" PRIx64 "%08x", front, a, (unsigned)b);
}

void demo_writer_begin_answer(struct demo_writer *p)
{
    demo_writer_generate_id(p, "msg", p->answer);
}

/* ---- rows ---- */

void demo_writer_add_row(struct demo_writer *p, const char *form, ...)
{
    char uuid[UUID];
    va_list args;

    demo_writer_note(p, demo_json(&p->out, "{'parentUuid':$s,'isSidechain':$r,",
                                  p->last[0] ? p->last : NULL,
                                  p->agent ? SLICE("true") : SLICE("false")));
    if (p->agent)
        demo_writer_note(p, demo_json(&p->out, "'agentId':$s,", p->agent));
    va_start(args, form);
    demo_writer_note(p, demo_json_list(&p->out, form, args));
    va_end(args);
    demo_writer_generate_uuid(p, uuid);
    demo_writer_note(
        p, demo_json(&p->out,
                     ",'uuid':$s,'timestamp':$t,'userType':'external','entrypoint':'cli','cwd':$s,"
                     "'sessionId':$s,'version':'2.1.330','gitBranch':$s",
                     uuid, p->clock_ms, p->cwd, p->session->id, p->session->branch));
    if (p->forked_from)
        demo_writer_note(p, demo_json(&p->out, ",'forkedFrom':{'sessionId':$s,'messageUuid':$s}",
                                      p->forked_from, uuid));
    demo_writer_note(p, buf_add(&p->out, SLICE("}\n")));
    memcpy(p->last, uuid, sizeof uuid);
}

void demo_writer_add_prompt(struct demo_writer *p, const char *text)
{
    demo_writer_generate_uuid(p, p->turn);
    p->turn_began_ms = p->clock_ms;
    demo_writer_add_row(p,
                        USER_ROW "$s},'permissionMode':'acceptEdits','origin':{'kind':'human'},"
                                 "'promptSource':'typed','turnOrigin':'human'",
                        p->turn, text);
    memcpy(p->prompt, p->last, sizeof p->prompt);
    demo_writer_begin_answer(p);
}

void demo_writer_add_assistant(struct demo_writer *p, const struct buf *content,
                               const char *stop_reason)
{
    int64_t tokens = (int64_t)(next_id(p) % 900);

    demo_writer_add_row(
        p,
        "'message':{'id':$s,'type':'message','role':'assistant','model':'claude-opus-5-5',"
        "'content':$r,'stop_reason':$s,'stop_sequence':null,"
        "'usage':{'input_tokens':$d,'output_tokens':$d}},'type':'assistant'",
        p->answer, buf_slice(content), stop_reason, (int64_t)(1200 + p->ids * 40), 60 + tokens);
}

void demo_writer_say(struct demo_writer *p, const char *text, bool thinking,
                     const char *stop_reason)
{
    struct buf content = { 0 };

    demo_writer_note(p, demo_json(&content,
                                  thinking
                                      ? "[{'type':'thinking','thinking':$s,'signature':'ZGVtbw=='}]"
                                      : "[{'type':'text','text':$s}]",
                                  text));
    demo_writer_add_assistant(p, &content, stop_reason);
    buf_fini(&content);
}

void demo_writer_end_turn(struct demo_writer *p)
{
    demo_writer_add_row(p,
                        "'type':'system','subtype':'turn_duration','durationMs':$d,'isMeta':false",
                        p->clock_ms - p->turn_began_ms);
}

void demo_writer_compact(struct demo_writer *p, const char *summary)
{
    char before[UUID];

    memcpy(before, p->last, sizeof before);
    p->last[0] = '\0';
    demo_writer_add_row(
        p,
        "'logicalParentUuid':$s,'type':'system','subtype':'compact_boundary',"
        "'content':'Conversation compacted','level':'info',"
        "'compactMetadata':{'trigger':'auto','preTokens':155432,'durationMs':18411}",
        before);
    demo_writer_add_row(p, USER_ROW "$s},'isVisibleInTranscriptOnly':true,'isCompactSummary':true",
                        p->turn, summary);
    demo_writer_begin_answer(p);
}

void demo_writer_add_metadata(struct demo_writer *p)
{
    const struct demo_session *s = p->session;
    const struct {
        const char *type, *key, *value;
    } rows[] = { { "custom-title", "customTitle", s->title },
                 { "ai-title", "aiTitle", s->ai_title },
                 { "tag", "tag", s->tag },
                 { "mode", "mode", "normal" },
                 { "permission-mode", "permissionMode", "acceptEdits" } };

    demo_writer_note(
        p,
        demo_json(&p->out, "{'type':'last-prompt','lastPrompt':$s,'leafUuid':$s,'sessionId':$s}\n",
                  p->last_prompt, p->last, s->id));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value)
            demo_writer_note(p, demo_json(&p->out, "{'type':$s,$s:$s,'sessionId':$s}\n",
                                          rows[i].type, rows[i].key, rows[i].value, s->id));
}
