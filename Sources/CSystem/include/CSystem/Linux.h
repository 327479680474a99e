// Linux, with glibc or musl. System.h says what each name is for.
//
// The C library declares some functions only behind a switch (_GNU_SOURCE), without which the toolchain's C module is built. With
// the switch the two modules would disagree about the same structures. So these functions are declared by hand.
#ifndef CSYSTEM_LINUX_H
#define CSYSTEM_LINUX_H

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SYSTEM_CLOCK CLOCK_BOOTTIME
// Stands still while the machine sleeps, so after that it lags behind the other.
#define SYSTEM_TICK_CLOCK CLOCK_MONOTONIC_COARSE
#define SYSTEM_SEND_FLAGS MSG_NOSIGNAL
#define SYSTEM_TLS_LIBRARIES "libssl.so.3", "libssl.so.4"
#define SYSTEM_MAY_SPIN 1
#define SYSTEM_CAN_SPAWN 1
#define SYSTEM_SPAWN_FLAGS 0
#ifdef __GLIBC__
// Spins for a moment before it lets a thread sleep. Work under this library's locks takes less time than to fall asleep and be
// woken.
#define SYSTEM_MUTEX PTHREAD_MUTEX_ADAPTIVE_NP
#else
#define SYSTEM_MUTEX PTHREAD_MUTEX_DEFAULT
#endif

// The events of `Epoll` are those of `poll`, which have the same bits on all systems.
_Static_assert(
    (int)EPOLLIN == POLLIN && (int)EPOLLOUT == POLLOUT && (int)EPOLLERR == POLLERR && (int)EPOLLHUP == POLLHUP, "as poll");
static const uint32_t system_edge_triggered = (uint32_t)EPOLLET;

extern int pipe2(int ends[2], int flags);
extern int accept4(int descriptor, struct sockaddr *peer, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern char **environ;
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *__restrict, const char *__restrict directory);
// NULL in musl, and in glibc before 2.34.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first)
    __attribute__((weak));
extern int system_affinity(pid_t process, size_t size, unsigned long *set) __asm__("sched_getaffinity");
struct system_credentials {
    pid_t process;
    uid_t user;
    gid_t group;
};

static inline int system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

static inline int system_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

static inline int system_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

static inline int system_accept(int descriptor, struct sockaddr *peer, socklen_t *length) {
    return accept4(descriptor, peer, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static inline int system_synchronize(int descriptor) { return fsync(descriptor); }

static inline void system_set_plain_congestion_control(int descriptor) {
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static inline void system_watch_peer(int descriptor, int idle_milliseconds, int timeout_milliseconds) {
    int idle = (idle_milliseconds + 999) / 1000, interval = (timeout_milliseconds + 999) / 1000, once = 1;
    int most = idle_milliseconds + timeout_milliseconds;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &once, sizeof once);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
}

static inline int system_peer_user(int descriptor, unsigned int *user) {
    struct system_credentials credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
    *user = credentials.user;
    return 0;
}

/// Without the function for it, closes each descriptor that is open now. One that another thread opens meanwhile is closed only if
/// it is closed on exec, as all of this library are.
static inline int system_spawn_closing_others(posix_spawn_file_actions_t *actions) {
    if (posix_spawn_file_actions_addclosefrom_np) return posix_spawn_file_actions_addclosefrom_np(actions, 3);
    DIR *list = opendir("/proc/self/fd");
    int code = 0;
    for (struct dirent *entry; list && code == 0 && (entry = readdir(list));) {
        int descriptor = atoi(entry->d_name);
        if (descriptor > 2) code = posix_spawn_file_actions_addclose(actions, descriptor);
    }
    if (list) (void)closedir(list);
    return code;
}

static inline char **system_environment(void) { return environ; }

static inline void system_name_thread(const char *name) { (void)pthread_setname_np(pthread_self(), name); }

static inline int system_processors(void) {
    unsigned long set[16] = {0};
    // The call fails if the system has more than 1,024 processors.
    if (system_affinity(0, sizeof set, set) < 0) return 1024;
    int count = 0;
    for (int word = 0; word < 16; word++) count += __builtin_popcountl(set[word]);
    return count;
}

#endif
