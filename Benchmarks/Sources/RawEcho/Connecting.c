// Sockets of the raw baseline: loopback, free port, no delay.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "Raw.h"
#include "RawEcho.h"

void raw_prepare(int descriptor) {
    int on = 1;
    if (setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) raw_fail("setsockopt");
}

int raw_listen(uint16_t *port) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (descriptor < 0) raw_fail("socket");
    if (bind(descriptor, (struct sockaddr *)&address, length) < 0) raw_fail("bind");
    if (listen(descriptor, 1024) < 0) raw_fail("listen");
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) raw_fail("getsockname");
    *port = ntohs(address.sin_port);
    return descriptor;
}

int raw_connect(uint16_t port) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    if (descriptor < 0) raw_fail("socket");
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) raw_fail("connect");
    raw_prepare(descriptor);
    return descriptor;
}
