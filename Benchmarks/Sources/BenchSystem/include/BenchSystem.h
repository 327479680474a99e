// What the bench needs from the system and Swift's C module does not show: children that end with their parent, the
// processor time of any process, a count of allocations, and an allocator that keeps nothing.
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern int pipe2(int ends[2], int flags);

/// Starts a program; `output` becomes the readable end of its standard output. The kernel kills it when the calling
/// thread ends, so start children from the main thread only.
static inline pid_t bench_spawn(const char *path, char *const arguments[], int *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent) _exit(127);
        dup2(ends[1], STDOUT_FILENO);
        execv(path, arguments);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) close(ends[0]);
    else *output = ends[0];
    return child;
}

/// Waits for a child's end; its exit code, or -1 when a signal ended it.
static inline int bench_wait(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// User and system time of all threads of a process so far, in nanoseconds; 0 when there is no such process.
static inline uint64_t bench_processor_time(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// Where valgrind begins and ends to count instructions. They do nothing.
void bench_instructions_begin(void);
void bench_instructions_end(void);

/// Starts or stops counting the allocations of this process.
void bench_count_allocations(int on);

/// How many have been counted so far.
uint64_t bench_allocations(void);

/// Allows as many descriptors as the system lets this process have.
static inline long bench_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    return (long)limit.rlim_cur;
}

/// The bytes of this process that have been allocated and not freed, in all of its threads.
static inline int64_t bench_held_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}

#endif
