#include "lite/keyscan.h"

#include "lite/json.h"

void keyscan_exact_plain(struct keyscan *s, uint64_t at, struct slice object)
{
    keyscan_best()(s, at + 1, (struct slice){ object.p + 1, object.n - 1 });
    if (s->ended && !s->broken)
        s->broken = !json_valid_plain(object);
}

keyscan_exact_fn *keyscan_exact_best(void)
{
#if defined(__x86_64__)
    if (keyscan_best() == keyscan_feed_avx512)
        return keyscan_exact_avx512;
    if (keyscan_best() == keyscan_feed_avx2)
        return keyscan_exact_avx2;
#endif
    return keyscan_exact_plain;
}
