#include "tests/test.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "lite/base/buf.h"
#include "lite/json/json.h"

/* Our reader compared with cJSON's, on random texts with random damage. Where both accept a text, the results must be
 * the same; where only one accepts it, it must be for one of these known reasons:
 *
 *   cJSON takes numbers that JSON does not know          01, 1., -.5
 *   cJSON takes an escape with digits that are not hex    "\u00g1" (it reads a NUL)
 *   cJSON refuses a surrogate without its partner        "\ud800"
 *   cJSON refuses what is nested deeper than 1000        (not made here; see test_json_valid.c)
 *   cJSON ends a string at "\u0000"
 *   cJSON takes control characters, also for blanks, and skips a BOM; it does not look at UTF-8
 *                                                        (not made here: the texts are printable ASCII)
 */
enum { ROUNDS = 60000, DEEPEST = 6 };

struct rng {
    uint64_t state;
};

static unsigned roll(struct rng *d, unsigned sides)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(d->state >> 33) % sides;
}

static void put(struct buf *b, const char *text)
{
    assert_int_equal(buf_add(b, slice_of(text)), ERR_OK);
}

static void put_one_of(struct buf *b, struct rng *d, const char *const *texts, unsigned n)
{
    put(b, texts[roll(d, n)]);
}

static void put_string(struct buf *b, struct rng *d)
{
    static const char *const parts[] = { "a",
                                         "type",
                                         "\\n",
                                         "\\\"",
                                         "\\\\",
                                         "\\u0041",
                                         "\\ud83d\\ude00",
                                         "\\u00e9",
                                         "\\u20ac",
                                         "}",
                                         "long enough to fill more than one block",
                                         "\\u0000",
                                         "\\/",
                                         "\\ud800",
                                         " ",
                                         ":" };

    put(b, "\"");
    for (unsigned n = roll(d, 5); n > 0; n--)
        put_one_of(b, d, parts, 13 + (roll(d, 8) ? 0 : 3));
    put(b, "\"");
}

static void put_scalar(struct buf *b, struct rng *d)
{
    static const char *const plain[] = {
        "0", "-0", "12", "-1.5e3", "1E+2", "9007199254740993", "1e400", "true", "false", "null"
    };

    if (roll(d, 2))
        put_string(b, d);
    else
        put_one_of(b, d, plain, sizeof plain / sizeof *plain);
}

static void put_value(struct buf *b, struct rng *d, int depth)
{
    unsigned kind = depth < DEEPEST ? roll(d, 4) : 2;

    if (kind > 1) {
        put_scalar(b, d);
        return;
    }
    put(b, kind ? "{" : "[");
    for (unsigned n = roll(d, 4); n > 0; n--) {
        if (kind) {
            put_string(b, d);
            put(b, roll(d, 3) ? ":" : " : ");
        }
        put_value(b, d, depth + 1);
        if (n > 1)
            put(b, roll(d, 3) ? "," : " , ");
    }
    put(b, kind ? "}" : "]");
}

static void damage(struct buf *b, struct rng *d)
{
    static const char bytes[] = "{}[],:\"\\0123456789eE.-+ntfalseu /x";

    for (unsigned n = roll(d, 3); n > 0 && b->n > 0; n--) {
        size_t at = roll(d, (unsigned)b->n);

        switch (roll(d, 3)) {
        case 0: b->p[at] = bytes[roll(d, sizeof bytes - 1)]; break;
        case 1:
            memmove(b->p + at, b->p + at + 1, b->n - at - 1);
            b->n--;
            break;
        default: b->n = at; break;
        }
    }
}

static cJSON *cjson_parse(struct slice text)
{
    const char *behind = NULL;
    cJSON *tree = cJSON_ParseWithLengthOpts(text.p, text.n, &behind, 0);

    for (; tree && behind < text.p + text.n; behind++) {
        if (*behind != ' ') {
            cJSON_Delete(tree);
            return NULL;
        }
    }
    return tree;
}

static bool number_byte(char c)
{
    return c != '\0' && strchr("0123456789+-.eE", c);
}

/* Scans the text for a number outside of strings that only strtod accepts. */
static bool has_loose_number(struct slice text)
{
    bool in_string = false;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\' && in_string) {
            i++;
        } else if (text.p[i] == '"') {
            in_string = !in_string;
        } else if (!in_string && (text.p[i] == '-' || (text.p[i] >= '0' && text.p[i] <= '9'))) {
            size_t begin = i;

            while (i < text.n && number_byte(text.p[i]))
                i++;
            if (!json_valid((struct slice){ text.p + begin, i - begin }))
                return true;
            i--;
        }
    }
    return false;
}

static bool has_loose_escape(struct slice text)
{
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (memcmp(text.p + i, "\\u", 2) != 0)
            continue;
        for (size_t at = i + 2; at < i + 6; at++)
            if (at >= text.n || !text.p[at] || !strchr("0123456789abcdefABCDEF", text.p[at]))
                return true;
    }
    return false;
}

static bool has_surrogate(struct slice text)
{
    for (size_t i = 0; i + 3 < text.n; i++)
        if (memcmp(text.p + i, "\\u", 2) == 0 && (text.p[i + 2] | 0x20) == 'd')
            return true;
    return false;
}

static void same_text(struct slice quoted, const char *theirs)
{
    struct arena a = { 0 };
    struct slice ours;

    assert_true(json_text(quoted, &a, &ours));
    const char *nul = ours.n ? memchr(ours.p, '\0', ours.n) : NULL;
    size_t n = nul ? (size_t)(nul - ours.p) : ours.n;

    assert_int_equal(n, strlen(theirs));
    if (n)
        assert_memory_equal(ours.p, theirs, n);
    arena_fini(&a);
}

static void same_number(struct slice ours, const cJSON *theirs)
{
    char text[64];
    int64_t whole;

    assert_in_range(ours.n, 1, sizeof text - 1);
    memcpy(text, ours.p, ours.n);
    text[ours.n] = '\0';
    assert_true(strtod(text, NULL) == theirs->valuedouble);
    if (json_int(ours, &whole))
        assert_true((double)whole == theirs->valuedouble);
}

static void same_value(struct slice ours, const cJSON *theirs)
{
    struct json_iter it;
    struct slice key, value;

    switch (json_type(ours)) {
    case JSON_NULL: assert_true(cJSON_IsNull(theirs)); return;
    case JSON_FALSE: assert_true(cJSON_IsFalse(theirs)); return;
    case JSON_TRUE: assert_true(cJSON_IsTrue(theirs)); return;
    case JSON_NUMBER:
        assert_true(cJSON_IsNumber(theirs));
        same_number(ours, theirs);
        return;
    case JSON_STRING:
        assert_true(cJSON_IsString(theirs));
        same_text(ours, theirs->valuestring);
        return;
    default: break;
    }
    assert_true(json_iter_open(&it, ours));
    assert_int_equal(it.object, cJSON_IsObject(theirs));
    assert_int_equal(!it.object, cJSON_IsArray(theirs));
    for (theirs = theirs->child; theirs; theirs = theirs->next) {
        assert_true(json_iter_next(&it, &key, &value));
        if (key.n)
            same_text(key, theirs->string);
        same_value(value, theirs);
    }
    assert_false(json_iter_next(&it, &key, &value));
}

static struct slice without_blanks(struct slice text)
{
    while (text.n && *text.p == ' ')
        text = (struct slice){ text.p + 1, text.n - 1 };
    return text;
}

static void compare(struct slice text, size_t *both)
{
    cJSON *theirs = cjson_parse(text);
    bool ours = json_valid(text);

    if (ours && theirs) {
        same_value(without_blanks(text), theirs);
        ++*both;
    } else if (ours && !has_surrogate(text)) {
        fail_msg("only ours accepts %.*s", SLICE_ARG(text));
    } else if (theirs && !ours && !has_loose_number(text) && !has_loose_escape(text)) {
        fail_msg("only cJSON accepts %.*s", SLICE_ARG(text));
    }
    cJSON_Delete(theirs);
}

TEST(random_texts_are_read_as_by_cjson)
{
    struct rng d = { 20260301 };
    size_t both = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct buf text = { 0 };

        put_value(&text, &d, 0);
        if (i % 2)
            damage(&text, &d);
        compare(buf_slice(&text), &both);
        buf_fini(&text);
    }
    /* The test has value only if most texts are compared value by value. */
    assert_in_range(both, ROUNDS / 2, ROUNDS);
}
