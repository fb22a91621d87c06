#ifndef TUI_SIZE_H
#define TUI_SIZE_H

#include <stdint.h>

/* "832 B", "14 KB", "3.2 MB": at most seven columns, in steps of 1024. */
enum { SIZE_TEXT = 16 };
void size_text(int64_t bytes, char out[SIZE_TEXT]);

#endif
