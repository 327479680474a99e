// Stream sockets that never block, are closed on exec, and cause no signal when the peer is gone.
#ifndef CSYSTEM_SOCKETS_H
#define CSYSTEM_SOCKETS_H

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>

// Declared by hand for the reason that Files.h gives.
extern int accept4(int descriptor, struct sockaddr *peer, socklen_t *length, int flags);
struct system_credentials {
    pid_t process;
    uid_t user;
    gid_t group;
};

static inline int system_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

static inline int system_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

static inline int system_accept(int descriptor, struct sockaddr *peer, socklen_t *length) {
    return accept4(descriptor, peer, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/// Sends two pieces, one after the other. The second may be empty.
static inline ssize_t system_send(
    int descriptor, const void *first, size_t first_count, const void *second, size_t second_count) {
    if (second_count == 0) return send(descriptor, first, first_count, MSG_NOSIGNAL);
    struct iovec pieces[2] = {{(void *)first, first_count}, {(void *)second, second_count}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

static inline int system_set_option(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value);
}

static inline int system_set_no_delay(int descriptor) {
    return system_set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
}

/// For a connection within this machine, where there is no network to protect: selects the plainest congestion control, which
/// every kernel has. Another one may hold output back by a timer.
static inline void system_set_plain_congestion_control(int descriptor) {
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static inline int system_set_dual_stack(int descriptor) {
    return system_set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0);
}

/// Has the peer's system asked after `idle_milliseconds` without traffic, rounded up to seconds. The connection is given up if
/// that system does not answer for `timeout_milliseconds` more, or takes no data for the sum of both.
static inline void system_set_keepalive(int descriptor, int idle_milliseconds, int timeout_milliseconds) {
    int idle = (idle_milliseconds + 999) / 1000, interval = (timeout_milliseconds + 999) / 1000;
    (void)system_set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, idle);
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, interval);
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 1);
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, idle_milliseconds + timeout_milliseconds);
}

static inline int system_pending_error(int descriptor) {
    int code = 0;
    socklen_t length = sizeof code;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) < 0 ? errno : code;
}

/// Finds the user at the other end of a Unix-domain socket.
static inline int system_peer_user(int descriptor, unsigned int *user) {
    struct system_credentials credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
    *user = credentials.user;
    return 0;
}

#endif
