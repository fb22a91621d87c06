#ifndef TESTS_SUPPORT_SCREEN_STYLED_TEXT_DUMP_H
#define TESTS_SUPPORT_SCREEN_STYLED_TEXT_DUMP_H

#include "tests/test.h"

#include "tui/text/clean.h"
#include "tui/widgets/styled_text.h"

/* The lines of a styled text as plain text, with trailing blanks cut and a rule as "---". The caller frees with
 * buf_fini. */
static inline struct buf styled_text_dump(const struct styled_text *s)
{
    struct buf out = { 0 };

    for (size_t i = 0; i < s->n; i++) {
        for (uint32_t k = 0; k < s->line[i].runs; k++)
            assert_int_equal(buf_add(&out, s->run[s->line[i].run + k].text), ERR_OK);
        if (s->line[i].rule)
            assert_int_equal(buf_add(&out, SLICE("---")), ERR_OK);
        while (out.n > 0 && out.p[out.n - 1] == ' ')
            out.n--;
        assert_int_equal(buf_add_byte(&out, '\n'), ERR_OK);
    }
    assert_non_null(buf_cstr(&out));
    return out;
}

static inline void assert_styled_text(const struct styled_text *s, const char *want)
{
    struct buf got = styled_text_dump(s);

    assert_int_equal(s->rc, ERR_OK);
    assert_string_equal(got.p, want);
    buf_fini(&got);
}

/* No line is wider than this. */
static inline void assert_styled_text_fits(const struct styled_text *s, size_t width)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t used = 0;

        for (uint32_t k = 0; k < s->line[i].runs; k++)
            used += clean_width(s->run[s->line[i].run + k].text);
        if (used > width)
            fail_msg("line %zu takes %zu columns of %zu", i, used, width);
    }
}

/* The style of this text; -1 if the text is missing. */
static inline int styled_text_style_at(const struct styled_text *s, const char *text)
{
    for (size_t i = 0; i < s->runs; i++)
        if (slice_eq(s->run[i].text, slice_of(text)))
            return (int)s->run[i].style;
    return -1;
}

#endif
