#include "store/systems/common/compose_rows.h"

#include <stdio.h>
#include <string.h>

void compose_generate_v7(int64_t time_ms, char out[HOST_ID])
{
    enum { TIME_END = 14, VERSION = 14 };
    char time[16];

    host_generate_id(out);
    snprintf(time, sizeof time, "%012llx", (unsigned long long)time_ms & 0xffffffffffffULL);
    memcpy(out, time, 8);
    memcpy(out + 9, time + 8, TIME_END - 10);
    out[VERSION] = '7';
}

void compose_open(struct compose *c, struct jsonout *j)
{
    jsonout_init(j, &c->rows);
    jsonout_open(j, '{');
}

void compose_close_line(struct compose *c, struct jsonout *j)
{
    jsonout_close(j, '}');
    if (j->rc || buf_add_byte(&c->rows, '\n'))
        c->rc = ERR_NOMEM;
}

void compose_text(struct jsonout *j, const char *key, struct slice text)
{
    jsonout_key(j, key);
    jsonout_text(j, text);
}

void compose_input(struct jsonout *j, const char *key, const struct compose_call *call,
                   const struct compose_names *names)
{
    compose_member(j, key, '{');
    jsonout_member(j, names->path, call->path);
    if (call->meaning == COMPOSE_COMMAND)
        compose_text(j, names->command, call->text);
    else if (call->meaning == COMPOSE_WRITE)
        compose_text(j, names->content, call->text);
    else if (call->meaning == COMPOSE_REPLACE) {
        compose_text(j, names->old_text, call->old_text);
        compose_text(j, names->new_text, call->text);
        if (names->all)
            jsonout_bool_member(j, names->all, call->all);
    }
    jsonout_close(j, '}');
}

void compose_member(struct jsonout *j, const char *key, char bracket)
{
    jsonout_key(j, key);
    jsonout_open(j, bracket);
}
