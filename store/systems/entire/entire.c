#include "store/systems/entire/entire.h"

const struct store_ops entire_ops = {
    .name = "entire",
    .open = entire_open,
    .close = entire_close,
    .enumerate = entire_enumerate,
    .describe = entire_describe,
    .find = entire_find,
    .at_path = entire_at_path,
    .tail = entire_tail,
    .load = entire_load,
    .blocks = entire_blocks,
    .messages = entire_messages,
};
