#include "BenchSystem.h"

// Not left out by the optimiser, since each call may do what it does not see.
__attribute__((noinline)) void bench_instructions_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void bench_instructions_end(void) { __asm__ volatile(""); }
