#include "lite/base/decimal.h"

#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* The C library has this locale at hand, so that neither call costs anything. */
double decimal_read(const char *text, char **end)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (!plain)
        return strtod(text, end);
    double n = strtod_l(text, end, plain);

    freelocale(plain);
    return n;
}
