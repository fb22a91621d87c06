#include <stdio.h>

#include "tui/version.h"

int main(void)
{
    puts(version_text());
    return 0;
}
