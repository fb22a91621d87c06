#include "tests/test.h"

#include <sys/stat.h>

int main(void)
{
    umask(022); /* files that a group can write to are not trusted */
    return test_run(NULL, NULL);
}
