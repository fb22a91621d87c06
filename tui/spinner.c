#include "tui/spinner.h"

const char *spinner_sign(int64_t now_ms, bool ascii)
{
    static const char *const plain[] = { "|", "/", "-", "\\" };
    static const char *const dots[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧" };
    uint64_t turn = (uint64_t)now_ms / 100;

    return ascii ? plain[turn % 4] : dots[turn % 8];
}
