// Stream sockets: never blocking, closed on exec, silent about a peer that is gone.
#ifndef CSYSTEM_SOCKETS_H
#define CSYSTEM_SOCKETS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __linux__
// These stand behind a switch (_GNU_SOURCE) that the toolchain's C module is built without; turning it on here would give the
// two modules different ideas of the same structures.
extern int accept4(int descriptor, struct sockaddr *peer, socklen_t *length, int flags);
struct system_credentials {
    pid_t process;
    uid_t user;
    gid_t group;
};
#endif

static inline int system_prepare_socket(int descriptor) {
#ifdef SO_NOSIGPIPE
    int on = 1;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
#ifndef __linux__
    if (system_close_on_exec_nonblocking(descriptor) < 0) {
        int code = errno;
        close(descriptor);
        errno = code;
        return -1;
    }
#endif
    return descriptor;
}

/// The constant is of another type on each system.
static inline int system_stream_type(void) { return SOCK_STREAM; }

static inline int system_socket(int family) {
#ifdef __linux__
    int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int descriptor = socket(family, SOCK_STREAM, 0);
#endif
    return descriptor < 0 ? descriptor : system_prepare_socket(descriptor);
}

static inline int system_socket_pair(int ends[2]) {
#ifdef __linux__
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return -1;
    return system_prepare_socket(ends[0]) < 0 || system_prepare_socket(ends[1]) < 0 ? -1 : 0;
#endif
}

static inline int system_accept(int descriptor, struct sockaddr_storage *peer, socklen_t *length) {
#ifdef __linux__
    return accept4(descriptor, (struct sockaddr *)peer, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    int accepted = accept(descriptor, (struct sockaddr *)peer, length);
    return accepted < 0 ? accepted : system_prepare_socket(accepted);
#endif
}

static inline int system_connect(int descriptor, const struct sockaddr_storage *address, socklen_t length) {
    return connect(descriptor, (const struct sockaddr *)address, length);
}

static inline int system_bind(int descriptor, const struct sockaddr_storage *address, socklen_t length) {
    return bind(descriptor, (const struct sockaddr *)address, length);
}

static inline int system_local_address(int descriptor, struct sockaddr_storage *address, socklen_t *length) {
    return getsockname(descriptor, (struct sockaddr *)address, length);
}

static inline int system_remote_address(int descriptor, struct sockaddr_storage *address, socklen_t *length) {
    return getpeername(descriptor, (struct sockaddr *)address, length);
}

static inline ssize_t system_send(int descriptor, const void *bytes, size_t count) {
#ifdef MSG_NOSIGNAL
    return send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
#else
    return send(descriptor, bytes, count, MSG_DONTWAIT);
#endif
}

static inline ssize_t system_send_two(
    int descriptor, const void *first, size_t first_count, const void *second, size_t second_count) {
    struct iovec pieces[2] = {{(void *)first, first_count}, {(void *)second, second_count}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
#ifdef MSG_NOSIGNAL
    return sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
#else
    return sendmsg(descriptor, &message, MSG_DONTWAIT);
#endif
}

static inline ssize_t system_receive(int descriptor, void *bytes, size_t count) {
    return recv(descriptor, bytes, count, MSG_DONTWAIT);
}

static inline int system_set_option(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value);
}

static inline int system_set_no_delay(int descriptor) {
    return system_set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
}

/// For a connection that stays on this machine, where there is no network to be gentle with: the plainest way of deciding
/// how much may be on its way, which every kernel has. What a system uses otherwise may hold back what is sent by a timer.
static inline void system_set_plain_congestion_control(int descriptor) {
#if defined(__linux__) && defined(TCP_CONGESTION)
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
#else
    (void)descriptor;
#endif
}

static inline int system_set_dual_stack(int descriptor) {
    return system_set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0);
}

/// After `idle` milliseconds without traffic the peer's system is asked; a peer whose system has answered nothing for
/// `timeout` more, or has taken no data for as long as both together, is given up.
static inline void system_set_keepalive(int descriptor, int idle_milliseconds, int timeout_milliseconds) {
    int idle = (idle_milliseconds + 999) / 1000, interval = (timeout_milliseconds + 999) / 1000;
    (void)system_set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, idle);
#elif defined(TCP_KEEPALIVE)
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPALIVE, idle);
#endif
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, interval);
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 1);
#ifdef TCP_USER_TIMEOUT
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, idle_milliseconds + timeout_milliseconds);
#endif
}

static inline int system_pending_error(int descriptor) {
    int code = 0;
    socklen_t length = sizeof code;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) < 0 ? errno : code;
}

/// The user at the other end of a Unix-domain socket.
static inline int system_peer_user(int descriptor, unsigned int *user) {
#ifdef __linux__
    struct system_credentials credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
    *user = credentials.user;
    return 0;
#else
    uid_t uid;
    gid_t gid;
    if (getpeereid(descriptor, &uid, &gid) < 0) return -1;
    *user = uid;
    return 0;
#endif
}

#endif
