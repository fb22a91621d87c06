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

void compose_member(struct jsonout *j, const char *key, char bracket)
{
    jsonout_key(j, key);
    jsonout_open(j, bracket);
}
