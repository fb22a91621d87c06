#ifndef LITE_BASE_DECIMAL_H
#define LITE_BASE_DECIMAL_H

/* strtod with a point, whatever the locale of the host that uses the library: in one with a comma, strtod reads "1.5"
 * as 1. end may be NULL. */
double decimal_read(const char *text, char **end);

#endif
