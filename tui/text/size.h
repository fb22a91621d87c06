#ifndef TUI_TEXT_SIZE_H
#define TUI_TEXT_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* "832 B", "14 KB", "3.2 MB": at most seven columns, in steps of 1024. */
enum { SIZE_TEXT = 16 };
void size_text(int64_t bytes, char out[SIZE_TEXT]);

/* "10M", "500k", "3GB": a whole number of at most nine digits with k, M, G or T, in steps of 1024. */
bool size_parse(struct slice text, int64_t *bytes);

#endif
