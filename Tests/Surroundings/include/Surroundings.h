// No function to call (see Surroundings.c), and what tests need of the system beside CSystem.
#ifndef SURROUNDINGS_H
#define SURROUNDINGS_H

#include <dirent.h>

#endif
