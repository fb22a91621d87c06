#include "store/api/checkpoint.h"

void checkpoint_origin_json(struct jsonout *j, const struct checkpoint_origin *origin)
{
    jsonout_open(j, '{');
    jsonout_member(j, "checkpointId", origin->id);
    jsonout_key(j, "sessions");
    jsonout_open(j, '[');
    for (size_t i = 0; i < origin->parts; i++) {
        const struct checkpoint_part *p = &origin->part[i];

        jsonout_open(j, '{');
        jsonout_member(j, "sessionId", p->session);
        jsonout_member(j, "agentName", p->agent);
        jsonout_member(j, "prompt", p->prompt);
        if (p->record.n) {
            jsonout_key(j, "record");
            jsonout_compact(j, p->record);
        }
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
    jsonout_key(j, "commits");
    jsonout_open(j, '[');
    for (size_t i = 0; i < origin->commits; i++) {
        const struct checkpoint_commit *c = &origin->commit[i];

        jsonout_open(j, '{');
        jsonout_member(j, "id", c->id);
        jsonout_member(j, "subject", c->subject);
        jsonout_int_member(j, "timestamp", c->time_ms);
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
    jsonout_close(j, '}');
}
