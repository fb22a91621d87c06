#include "store/systems/claude/write/tagtext.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "lite/base/buf.h"
#include "lite/base/utf8.h"

enum { MOST_ROUNDS = 10 };

static bool is_ascii(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

static bool goes(uint32_t cp)
{
    if (cp >= 0xD800 && cp <= 0xDFFF)
        return false; /* a lone surrogate is none of the three */
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN: return true;
    default: return cp == 0xFEFF;
    }
}

static enum err_code add_nfkc(struct slice valid, struct buf *out)
{
    utf8proc_uint8_t *nfkc = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)valid.p, (utf8proc_ssize_t)valid.n,
                                      &nfkc, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    enum err_code rc = n < 0 ? ERR_NOMEM : buf_add(out, (struct slice){ (char *)nfkc, (size_t)n });

    free(nfkc);
    return rc;
}

/* Normalised piece by piece between lone surrogates, which utf8proc refuses and JavaScript keeps. */
static enum err_code normalise(struct slice tag, struct buf *out)
{
    struct slice rest = tag;
    const char *from = tag.p;
    enum err_code rc = ERR_OK;

    while (rest.n && !rc) {
        const char *at = rest.p;
        uint32_t cp = utf8_next(&rest, true);

        if (cp < 0xD800 || cp > 0xDFFF)
            continue;
        rc = add_nfkc((struct slice){ from, (size_t)(at - from) }, out);
        if (!rc)
            rc = buf_add(out, (struct slice){ at, (size_t)(rest.p - at) });
        from = rest.p;
    }
    return rc ? rc : add_nfkc((struct slice){ from, (size_t)(tag.p + tag.n - from) }, out);
}

static enum err_code round_of(struct slice tag, struct buf *scratch, struct buf *out)
{
    struct slice rest;
    char bytes[4];

    scratch->n = out->n = 0;
    enum err_code rc = normalise(tag, scratch);

    rest = buf_slice(scratch);
    while (rest.n && !rc) {
        uint32_t cp = utf8_next(&rest, true);

        if (!goes(cp))
            rc = buf_add(out, (struct slice){ bytes, utf8_encode(bytes, cp) });
    }
    return rc;
}

bool tagtext_normalize(struct slice tag, struct arena *a, struct slice *out)
{
    struct buf scratch = { 0 }, now = { 0 };
    bool settled = is_ascii(tag), failed = false;
    struct slice text = tag;

    for (int i = 0; i < MOST_ROUNDS && !settled && !failed; i++) {
        failed = round_of(text, &scratch, &now) != ERR_OK;
        settled = !failed && slice_eq(text, buf_slice(&now));
        text = failed ? text : arena_copy(a, buf_slice(&now));
        failed = failed || !text.p;
    }
    buf_fini(&scratch);
    buf_fini(&now);
    if (settled)
        *out = utf8_js_trim(text);
    return settled;
}
