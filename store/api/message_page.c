#include "store/api/message_page.h"

void message_page_range(const struct message_query *q, size_t n, size_t *from, size_t *to)
{
    bool limited = q->has_limit && q->limit > 0;
    int64_t count = (int64_t)n, first = q->offset, end = count;

    if (limited) {
        end = first > INT64_MAX - q->limit ? INT64_MAX : first + q->limit;
        if (first < 0)
            first = first + count < 0 ? 0 : first + count;
        if (end < 0)
            end = end + count < 0 ? 0 : end + count;
    } else if (first < 0) {
        first = 0;
    }
    *to = (size_t)(end < count ? end : count);
    *from = first < (int64_t)*to ? (size_t)first : *to;
}
