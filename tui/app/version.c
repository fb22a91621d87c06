#include "tui/app/version.h"

const char *version_text(void)
{
    return "reprise " REPRISE_VERSION;
}
