// FreeBSD. System.h says what each name is for.
#ifndef CSYSTEM_FREEBSD_H
#define CSYSTEM_FREEBSD_H

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <pthread_np.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define SYSTEM_CLOCK CLOCK_MONOTONIC
#define SYSTEM_TICK_CLOCK CLOCK_MONOTONIC_FAST
#define SYSTEM_MUTEX PTHREAD_MUTEX_ADAPTIVE_NP
#define SYSTEM_MAY_SPIN 1
#define SYSTEM_CAN_SPAWN 1
#define SYSTEM_SPAWN_FLAGS 0
#define SYSTEM_SEND_FLAGS MSG_NOSIGNAL
// As the system has it in its releases 14 and 15, and as its packages install it.
#define SYSTEM_TLS_LIBRARIES "libssl.so.30", "libssl.so.35", "libssl.so.3"

extern char **environ;

static inline int system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

static inline int system_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

static inline int system_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

static inline int system_accept(int descriptor, struct sockaddr *peer, socklen_t *length) {
    return accept4(descriptor, peer, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static inline int system_synchronize(int descriptor) { return fsync(descriptor); }

static inline void system_set_plain_congestion_control(int descriptor) { (void)descriptor; }

static inline void system_watch_peer(int descriptor, int idle_milliseconds, int timeout_milliseconds) {
    int idle = (idle_milliseconds + 999) / 1000, interval = (timeout_milliseconds + 999) / 1000, once = 1;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &once, sizeof once);
}

static inline int system_peer_user(int descriptor, unsigned int *user) {
    uid_t found;
    gid_t group;
    if (getpeereid(descriptor, &found, &group) < 0) return -1;
    *user = found;
    return 0;
}

static inline int system_spawn_closing_others(posix_spawn_file_actions_t *actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

static inline char **system_environment(void) { return environ; }

static inline void system_name_thread(const char *name) { pthread_set_name_np(pthread_self(), name); }

static inline int system_processors(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

#endif
