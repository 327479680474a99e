// How many tests run at a time, said before the first of them is looked for. By itself the runner begins all thousand at once,
// so that whoever waits on one of the few threads that tasks share waits for the first step of every other test: on a busy
// machine for longer than a call may take. Where the runner does not know the variable, or somebody has set it, nothing changes.

#include "Surroundings.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void limit_tests_at_a_time(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char width[24];
    snprintf(width, sizeof width, "%ld", 4 * (processors > 0 ? processors : 1));
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}
