#include <langinfo.h>
#include <stdbool.h>
#include <wchar.h>

#include "lite/base/utf8.h"
#include "tui/text/clean.h"

/* The C library keeps its UTF-8 tables in a file, which a system with another C library does not
 * have. There, the static program itself provides the few functions that ncurses and we need: it is
 * linked with --wrap for each of them. */

size_t __real_wcrtomb(char *out, wchar_t c, mbstate_t *state);
int __real_wcwidth(wchar_t c);
char *__real_nl_langinfo(nl_item item);
size_t __wrap_wcrtomb(char *out, wchar_t c, mbstate_t *state);
int __wrap_wcwidth(wchar_t c);
char *__wrap_nl_langinfo(nl_item item);

static bool assumed;

void clean_assume_utf8(void)
{
    assumed = true;
}

size_t __wrap_wcrtomb(char *out, wchar_t c, mbstate_t *state)
{
    char bytes[4];

    if (!assumed)
        return __real_wcrtomb(out, c, state);
    return utf8_encode(out ? out : bytes, out ? (uint32_t)c : 0);
}

int __wrap_wcwidth(wchar_t c)
{
    return assumed ? text_width((uint32_t)c) : __real_wcwidth(c);
}

char *__wrap_nl_langinfo(nl_item item)
{
    static char name[] = "UTF-8";

    return assumed && item == CODESET ? name : __real_nl_langinfo(item);
}
