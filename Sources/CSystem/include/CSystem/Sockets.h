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

#include "System.h"

/// The kind of all sockets here. Swift sees the system's own name as a number on one system, and as a structure on another.
static const int system_stream = SOCK_STREAM;

/// Sends two pieces, one after the other. The second may be empty.
static inline ssize_t system_send(
    int descriptor, const void *first, size_t first_count, const void *second, size_t second_count) {
    if (second_count == 0) return send(descriptor, first, first_count, SYSTEM_SEND_FLAGS);
    struct iovec pieces[2] = {{(void *)first, first_count}, {(void *)second, second_count}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    return sendmsg(descriptor, &message, SYSTEM_SEND_FLAGS);
}

static inline int system_set_option(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value);
}

static inline int system_set_no_delay(int descriptor) {
    return system_set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
}

static inline int system_set_dual_stack(int descriptor) {
    return system_set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0);
}

/// Has the peer's system asked after `idle_milliseconds` without traffic, rounded up to seconds. The connection is given up if
/// that system does not answer for `timeout_milliseconds` more; and, where the system can tell, if it takes no data for the sum.
static inline void system_set_keepalive(int descriptor, int idle_milliseconds, int timeout_milliseconds) {
    (void)system_set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    system_watch_peer(descriptor, idle_milliseconds, timeout_milliseconds);
}

static inline int system_pending_error(int descriptor) {
    int code = 0;
    socklen_t length = sizeof code;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) < 0 ? errno : code;
}

#endif
