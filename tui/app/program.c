#include "tui/app/program.h"

const char *program_version(void)
{
    return "reprise " REPRISE_VERSION;
}
