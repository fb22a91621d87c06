#ifndef STORE_LOG_DAMAGE_SCAN_H
#define STORE_LOG_DAMAGE_SCAN_H

#include <stdbool.h>

#include "lite/io/window.h"

/* Is there a row that cannot be whole? Looked for by its ends only (a check of every row would cost more
 * than all else together): a row that does not begin and end as an object. Rows that the windows cut,
 * and a torn last one, are not meant. */
bool damage_scan_windows(const struct window *w);

#endif
