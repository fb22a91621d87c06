#ifndef STORE_SYSTEMS_CLAUDE_SHOW_COLLATE_H
#define STORE_SYSTEMS_CLAUDE_SHOW_COLLATE_H

#include "lite/base/slice.h"

/* Compares as JavaScript's localeCompare does in an English locale, for texts of ASCII characters: the
 * vendor sorts time stamps with it. Punctuation before digits before letters, in an order that is not
 * that of the codes; case only breaks ties; control characters do not count. Other characters come
 * after these, by their bytes. */
int claude_collate(struct slice a, struct slice b);

#endif
