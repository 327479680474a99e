// Notes which functions run between `walk_start` and `walk_stop`. The compiler puts a call of `__sanitizer_cov_trace_pc_guard` into
// each function of the library.

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { most = 1 << 16 };

static atomic_bool walks;
static atomic_int count;
static void *places[most];

extern char __executable_start;

void __sanitizer_cov_trace_pc_guard_init(uint32_t *guard, uint32_t *end) {
    for (; guard < end; guard++) *guard = 1;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    if (!walks) return;
    int place = atomic_fetch_add(&count, 1);
    if (place < most) places[place] = __builtin_return_address(0);
}

void walk_start(void) {
    count = 0;
    walks = 1;
}

// Prints the addresses in the order in which the functions began, and an empty line.
void walk_stop(void) {
    walks = 0;
    for (int place = 0; place < count && place < most; place++) {
        printf("%#lx\n", (unsigned long)((char *)places[place] - &__executable_start) - 1);
    }
    printf("\n");
}
