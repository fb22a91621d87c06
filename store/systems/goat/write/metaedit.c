#include "store/systems/goat/write/metaedit.h"

#include "lite/json/json.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/members.h"

struct member {
    struct slice key, value; /* raw */
    int rank;                /* its place in the dialect's order; -1: unknown to it */
};

struct members {
    struct member *list; /* in the arena */
    size_t n;
};

static int rank_of(enum goat_dialect d, struct slice key)
{
    const struct goat_member *m = goat_dialects[d].member;

    for (int i = 0; m[i].key; i++)
        if (goat_key_is(key, m[i].key))
            return i;
    return -1;
}

static enum err_code insert(struct members *ms, size_t at, struct member m, struct arena *a)
{
    struct member *list = arena_grow(a, ms->list, ms->n, sizeof *list);

    if (!list)
        return ERR_NOMEM;
    ms->list = list;
    for (size_t i = ms->n; i > at; i--)
        list[i] = list[i - 1];
    list[at] = m;
    ms->n++;
    return ERR_OK;
}

static void take_out(struct members *ms, size_t at)
{
    ms->n--;
    for (size_t i = at; i < ms->n; i++)
        ms->list[i] = ms->list[i + 1];
}

static enum err_code read_members(const struct goat_metadata *m, struct members *ms,
                                  struct arena *a)
{
    struct json_iter it;
    struct slice key, value;
    enum err_code rc = ERR_OK;

    for (bool more = json_iter_open(&it, m->object);
         !rc && more && json_iter_next(&it, &key, &value);) {
        struct member one = { key, value, rank_of(m->dialect, key) };

        rc = insert(ms, ms->n, one, a);
    }
    return rc;
}

/* Behind the last member that the dialect writes before it; what it does not know comes last. */
static size_t place_for(const struct members *ms, int rank)
{
    size_t at = rank < 0 ? ms->n : 0;

    for (size_t i = 0; rank >= 0 && i < ms->n; i++)
        if (ms->list[i].rank >= 0 && ms->list[i].rank < rank)
            at = i + 1;
    return at;
}

static bool is_omitted(enum goat_dialect d, int rank)
{
    return rank < 0 || goat_dialects[d].member[rank].omit_empty;
}

/* In place of every member of that name but the last, nothing: of two Go takes the last. */
static enum err_code apply_edit(struct members *ms, enum goat_dialect d,
                                const struct goat_edit *edit, struct arena *a)
{
    const char *name = edit->key ? edit->key : goat_key(d, edit->field);
    struct slice value = edit->value;
    char *quoted = name ? arena_format(a, "\"%s\"", name) : NULL;
    bool found = false;

    if (!quoted)
        return name ? ERR_NOMEM : ERR_OK;
    struct slice key = slice_of(quoted);
    int rank = rank_of(d, key);

    if (!value.n && !is_omitted(d, rank))
        value = SLICE("\"\"");
    for (size_t i = ms->n; i-- > 0;) {
        if (!goat_key_is(ms->list[i].key, name))
            continue;
        if (found || !value.n)
            take_out(ms, i);
        else
            ms->list[i].value = value;
        found = true;
    }
    if (found || !value.n)
        return ERR_OK;
    return insert(ms, place_for(ms, rank), (struct member){ key, value, rank }, a);
}

static enum err_code print_members(const struct members *ms, struct buf *out)
{
    enum err_code rc = buf_add(out, ms->n ? SLICE("{\n") : SLICE("{"));

    for (size_t i = 0; i < ms->n && !rc; i++) {
        rc = buf_addf(out, "  ");
        if (!rc)
            rc = buf_add(out, ms->list[i].key);
        if (!rc)
            rc = buf_add(out, SLICE(": "));
        if (!rc)
            rc = go_json_indent(out, ms->list[i].value, 1);
        if (!rc)
            rc = buf_add(out, i + 1 < ms->n ? SLICE(",\n") : SLICE("\n"));
    }
    return rc ? rc : buf_add_byte(out, '}');
}

enum err_code goat_metadata_edit(const struct goat_metadata *m, const struct goat_edit edit[],
                                 size_t n, struct arena *a, struct buf *out)
{
    struct members ms = { 0 };
    enum err_code rc = read_members(m, &ms, a);

    for (size_t i = 0; i < n && !rc; i++)
        rc = apply_edit(&ms, m->dialect, &edit[i], a);
    return rc ? rc : print_members(&ms, out);
}
