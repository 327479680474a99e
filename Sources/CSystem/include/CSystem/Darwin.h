// macOS, iOS and their relatives. System.h says what each name is for.
#ifndef CSYSTEM_DARWIN_H
#define CSYSTEM_DARWIN_H

#include <TargetConditionals.h>
#include <crt_externs.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// Both run on while the machine sleeps.
#define SYSTEM_CLOCK CLOCK_MONOTONIC_RAW
#define SYSTEM_TICK_CLOCK CLOCK_MONOTONIC_RAW_APPROX
#define SYSTEM_MUTEX PTHREAD_MUTEX_DEFAULT
#define SYSTEM_MAY_SPIN 0
// The other systems of this kind let no program start another.
#define SYSTEM_CAN_SPAWN TARGET_OS_OSX
#define SYSTEM_SPAWN_FLAGS POSIX_SPAWN_CLOEXEC_DEFAULT
// The sockets have SO_NOSIGPIPE instead, which every release of the system has.
#define SYSTEM_SEND_FLAGS 0
// As Homebrew and MacPorts install it. The system's own libssl ends the process that loads it.
#define SYSTEM_TLS_LIBRARIES                                                                        \
    "/opt/homebrew/opt/openssl@3/lib/libssl.3.dylib", "/usr/local/opt/openssl@3/lib/libssl.3.dylib", \
        "/opt/local/libexec/openssl3/lib/libssl.3.dylib"

/// Prepares a descriptor that the system could not make so in one step. Until then a program that is started by another thread
/// may inherit it. Returns the descriptor, or -1 after closing it.
static inline int system_prepare(int descriptor) {
    if (descriptor < 0) return -1;
    int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0)
        return descriptor;
    int code = errno;
    (void)close(descriptor);
    errno = code;
    return -1;
}

static inline int system_prepare_socket(int descriptor) {
    int on = 1;
    // This fails if the peer of an accepted socket is gone already. Such a socket has the setting of its listener.
    if (descriptor >= 0) (void)setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    return system_prepare(descriptor);
}

/// Prepares both ends; if one fails, closes the other too.
static inline int system_prepare_ends(int ends[2], int (*prepare)(int descriptor)) {
    int first = prepare(ends[0]), second = prepare(ends[1]), code = errno;
    if (first >= 0 && second >= 0) return 0;
    if (first >= 0) (void)close(first);
    if (second >= 0) (void)close(second);
    errno = code;
    return -1;
}

static inline int system_pipe(int ends[2]) { return pipe(ends) < 0 ? -1 : system_prepare_ends(ends, system_prepare); }

static inline int system_socket(int family) { return system_prepare_socket(socket(family, SOCK_STREAM, 0)); }

static inline int system_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ? -1 : system_prepare_ends(ends, system_prepare_socket);
}

static inline int system_accept(int descriptor, struct sockaddr *peer, socklen_t *length) {
    return system_prepare_socket(accept(descriptor, peer, length));
}

/// `fsync` leaves the bytes in the drive's own memory. Where the file system knows no other way, it is what there is.
static inline int system_synchronize(int descriptor) {
    return fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor);
}

// The system chooses by itself.
static inline void system_set_plain_congestion_control(int descriptor) { (void)descriptor; }

static inline void system_watch_peer(int descriptor, int idle_milliseconds, int timeout_milliseconds) {
    int idle = (idle_milliseconds + 999) / 1000, interval = (timeout_milliseconds + 999) / 1000, once = 1;
    int most = idle + interval;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPALIVE, &idle, sizeof idle);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &once, sizeof once);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, &most, sizeof most);
}

static inline int system_peer_user(int descriptor, unsigned int *user) {
    uid_t found;
    gid_t group;
    if (getpeereid(descriptor, &found, &group) < 0) return -1;
    *user = found;
    return 0;
}

// The flag does it.
static inline int system_spawn_closing_others(posix_spawn_file_actions_t *actions) {
    (void)actions;
    return 0;
}

static inline char **system_environment(void) { return *_NSGetEnviron(); }

static inline void system_name_thread(const char *name) { (void)pthread_setname_np(name); }

static inline int system_processors(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

#endif
