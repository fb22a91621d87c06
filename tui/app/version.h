#ifndef TUI_APP_VERSION_H
#define TUI_APP_VERSION_H

/* "reprise 0.1.0": the version of the build, for --version and the help screen. */
const char *version_text(void);

#endif
