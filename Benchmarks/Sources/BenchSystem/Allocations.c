// Counts the allocations of this process while it is asked to, by standing in front of the C library's functions. Else
// it costs one foreseeable branch.

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "BenchSystem.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_bool is_counting;
static _Atomic(uint64_t) allocations;

static inline void count(void) {
    if (__builtin_expect(atomic_load_explicit(&is_counting, memory_order_relaxed), 0))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

void bench_count_allocations(int on) { atomic_store(&is_counting, on != 0); }

uint64_t bench_allocations(void) { return atomic_load(&allocations); }

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count();
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **place, size_t alignment, size_t size) {
    void *memory = memalign(alignment, size);
    if (!memory) return ENOMEM;
    *place = memory;
    return 0;
}
