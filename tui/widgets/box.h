#ifndef TUI_WIDGETS_BOX_H
#define TUI_WIDGETS_BOX_H

#include "lite/base/slice.h"
#include "tui/widgets/frame.h"

/* A framed panel over what is drawn already. */

/* Centred, as large as wanted and possible; the answer is the room inside the border. */
struct rect box_draw(struct frame *f, int h, int w, struct slice title);

#endif
