/* A shared object that is no plug-in. */
extern const int other_table;
const int other_table = 1;
