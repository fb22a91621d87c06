#include "lite/scan/key_scan.h"

#include "lite/json/json.h"

void key_validate_portable(struct key_scan *s, uint64_t at, struct slice object)
{
    key_scan_best()(s, at + 1, (struct slice){ object.p + 1, object.n - 1 });
    if (s->ended && !s->broken)
        s->broken = !json_valid_plain(object);
}

key_validate_fn *key_validate_best(void)
{
#if defined(__x86_64__)
    if (key_scan_best() == key_scan_feed_avx512)
        return key_validate_avx512;
    if (key_scan_best() == key_scan_feed_avx2)
        return key_validate_avx2;
#endif
    return key_validate_portable;
}
