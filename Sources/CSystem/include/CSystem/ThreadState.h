// What the system tells about threads: which this is, whether one computes, and on how many processors they may.
#ifndef CSYSTEM_THREADSTATE_H
#define CSYSTEM_THREADSTATE_H

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/// A number that no other living thread has, never 0: the address of a structure, and so a multiple of eight.
static inline unsigned long system_thread_identity(void) { return (unsigned long)pthread_self(); }

#ifdef __linux__
#include <sys/syscall.h>

extern long system_call(long number, ...) __asm__("syscall");
#endif

/// What the system calls the calling thread; 0 where nothing can be asked about it.
static inline int system_thread_number(void) {
#ifdef __linux__
    return (int)system_call(SYS_gettid);
#else
    return 0;
#endif
}

/// Whether a thread of this process computes or waits for a processor: 0 when it sleeps, or when that is not known.
static inline int system_thread_is_running(int number) {
#ifdef __linux__
    char path[48], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    text[count < 0 ? 0 : count] = 0;
    // The name of the thread stands in parentheses and may hold any character; the state comes after it.
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
#else
    (void)number;
    return 0;
#endif
}

/// For how many nanoseconds a thread of this process has computed; negative when that is not known.
static inline long long system_thread_time(int number) {
#ifdef __linux__
    struct timespec time;
    // What the kernel calls the clock of a thread.
    if (clock_gettime((clockid_t)(~(unsigned)number << 3 | 6), &time) < 0) return -1;
    return time.tv_sec * 1000000000LL + time.tv_nsec;
#else
    (void)number;
    return -1;
#endif
}

#ifdef __linux__
extern int system_affinity(pid_t process, size_t size, unsigned long *set) __asm__("sched_getaffinity");
#endif

/// How many processors the calling thread may run on.
static inline int system_processors(void) {
#ifdef __linux__
    unsigned long set[16] = {0};
    // A system with more than 1,024 says that they do not fit.
    if (system_affinity(0, sizeof set, set) < 0) return 1024;
    int count = 0;
    for (int word = 0; word < 16; word++) count += __builtin_popcountl(set[word]);
    return count;
#else
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

#endif
