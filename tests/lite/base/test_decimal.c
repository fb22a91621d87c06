#include "tests/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "lite/base/decimal.h"
#include "tests/support/folder.h"

/* glibc keeps what it read from LOCPATH for good, which a leak checker would report. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LOOK_AWAY() __lsan_disable()
#define LOOK_AGAIN() __lsan_enable()
#endif
#endif
#if !defined(LOOK_AWAY)
#define LOOK_AWAY() (void)0
#define LOOK_AGAIN() (void)0
#endif

/* A locale whose decimal point is a comma, made here if the machine can; else one that it has. (locale_t)0: none. */
static locale_t locale_with_comma(const struct folder *f)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR", NULL };
    char command[1024];
    locale_t found = (locale_t)0;

    snprintf(command, sizeof command,
             "localedef -c -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", f->path);
    if (system(command) == 0)
        setenv("LOCPATH", f->path, 1);
    LOOK_AWAY();
    for (size_t i = 0; names[i] && !found; i++)
        found = newlocale(LC_NUMERIC_MASK, names[i], (locale_t)0);
    LOOK_AGAIN();
    unsetenv("LOCPATH");
    return found;
}

static void check_points(void)
{
    char *end;

    assert_true(decimal_read("1.5", NULL) > 1.25);
    assert_true(decimal_read("-2.5e3", NULL) < -2499);
    assert_true(decimal_read("3.75 0.3", &end) > 3.5);
    assert_string_equal(end, " 0.3");
    assert_true(decimal_read("x", &end) < 1);
    assert_string_equal(end, "x");
}

TEST(a_point_is_read_in_every_locale)
{
    struct folder f;

    check_points();
    folder_make(&f);
    locale_t comma = locale_with_comma(&f);

    folder_remove(&f);
    if (!comma) {
        puts("no locale with a comma is installed");
        skip();
        return;
    }
    locale_t before = uselocale(comma);

    assert_true(strtod("1.5", NULL) < 1.25);
    check_points();
    uselocale(before);
    freelocale(comma);
}
