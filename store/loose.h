#ifndef STORE_LOOSE_H
#define STORE_LOOSE_H

#include <git2.h>

#include "lite/err.h"

/* libgit2 1.5 never returns from a loose object that is cut short, as a crash or a full disk leaves them. From here on
 * this repository answers for such an object that it is damaged. Packs are asked first, as without it. */
MUST_CHECK enum err_code loose_guard(git_repository *repo, struct err *e);

#endif
