/* Feeds bytes to the JSON reader and its parts, and checks what must hold for every text:
 * - no reader reads beyond the text, whatever is in it (the sanitizers watch);
 * - a member of a valid text is valid, and repairing a text does not change whether it is valid;
 * - a text that is decoded and written again decodes to the same;
 * - repairing, trimming and composing twice is the same as once. */
#include <stdint.h>
#include <stdlib.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"

enum { DEEPEST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_string(struct slice quoted)
{
    struct arena a = { 0 };
    struct buf out = { 0 };
    struct jsonout j;
    struct slice text, again;

    must(json_text(quoted, &a, &text));
    jsonout_init(&j, &out);
    jsonout_text(&j, text);
    must(!j.rc && json_valid(buf_slice(&out)));
    must(json_text(buf_slice(&out), &a, &again) && slice_eq(text, again));
    buf_fini(&out);
    arena_fini(&a);
}

static void check_value(struct slice value, bool valid, int depth)
{
    struct json_iter it;
    struct slice key, member;

    must(!valid || json_valid(value));
    if (valid && json_type(value) == JSON_STRING)
        check_string(value);
    if (depth == DEEPEST || !json_iter_open(&it, value))
        return;
    while (json_iter_next(&it, &key, &member)) {
        must(member.n > 0 && member.p >= value.p && member.p + member.n <= value.p + value.n);
        if (valid && key.n)
            check_string(key);
        check_value(member, valid, depth + 1);
    }
}

static void check_repaired(struct slice text, bool valid)
{
    struct buf out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    jsonout_raw(&j, text);
    must(!j.rc && utf8_valid(buf_slice(&out)));
    must(json_valid(buf_slice(&out)) == valid);
    buf_fini(&out);
}

static void check_text(struct slice bytes)
{
    struct arena a = { 0 };
    struct slice once, twice;
    size_t units = utf8_utf16_length(bytes);
    int64_t ms;

    must(utf8_repair(bytes, &a, &once) && utf8_valid(once));
    must(utf8_repair(once, &a, &twice) && twice.p == once.p);
    must(utf8_nfc(bytes, &a, &once) && utf8_nfc(once, &a, &twice) && slice_eq(once, twice));
    once = utf8_js_trim(bytes);
    must(slice_eq(once, utf8_js_trim(once)));
    must(utf8_utf16_prefix(bytes, units).n == bytes.n);
    must(utf8_utf16_length(utf8_utf16_prefix(bytes, units / 2)) <= units / 2);
    if (time_parse(bytes, &ms)) {
        char text[TIME_TEXT];
        int64_t again;

        time_format(ms, text);
        must(time_parse(slice_of(text), &again) && again == ms);
    }
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "type", "a", "" };
    struct slice text = { (const char *)data, size }, values[3];
    bool valid = json_valid(text);
    struct json_members members;

    json_get_each(text, names, 3, values);
    json_members_read(&members, text);
    for (size_t i = 0; i < 3; i++) {
        struct slice found;

        json_members_get(&members, slice_of(names[i]), &found);
        must(found.p == values[i].p && found.n == values[i].n);
    }
    check_repaired(text, valid);
    check_text(text);
    while (text.n && (*text.p == ' ' || *text.p == '\n' || *text.p == '\r' || *text.p == '\t'))
        text = (struct slice){ text.p + 1, text.n - 1 };
    check_value(text, valid, 0);
    return 0;
}
