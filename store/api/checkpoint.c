#include "store/api/checkpoint.h"

void checkpoint_list_fini(struct checkpoint_list *list)
{
    arena_fini(&list->arena);
    *list = (struct checkpoint_list){ 0 };
}
