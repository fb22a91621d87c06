#include "tui/widgets/spinner.h"

enum { MOMENT_MS = 150, TURN_MS = 100 };

const char *spinner_sign(int64_t now_ms, bool ascii)
{
    static const char *const plain[] = { "|", "/", "-", "\\" };
    static const char *const dots[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧" };
    uint64_t turn = (uint64_t)now_ms / TURN_MS;

    return ascii ? plain[turn % 4] : dots[turn % 8];
}

bool spinner_shows(int64_t since_ms, int64_t now_ms)
{
    return now_ms - since_ms >= MOMENT_MS;
}

int64_t spinner_wake_ms(int64_t since_ms, int64_t now_ms)
{
    return spinner_shows(since_ms, now_ms) ? now_ms + TURN_MS : since_ms + MOMENT_MS;
}
