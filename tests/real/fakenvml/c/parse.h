/* The state file, read into a State. */
#include "fake.h"
int parse_state(const char *path, State *into); /* 0: could not be opened */
