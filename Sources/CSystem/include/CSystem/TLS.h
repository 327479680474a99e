// TLS by the system's OpenSSL, of version 3 or later. It is loaded when it is first needed: nothing of it is linked, and none of
// its headers is. The functions here know no sockets: sealed bytes go in and come out in memory.
//
// Every function but tls_load may be called only when tls_load has succeeded. A `text` has room for TLS_TEXT characters, and is
// set when a function fails: to what went wrong, in a few words.
#ifndef CSYSTEM_TLS_H
#define CSYSTEM_TLS_H

#include <stddef.h>
#include <stdint.h>

enum { TLS_TEXT = 256, TLS_PIN = 32, TLS_NAME = 1024, TLS_PEM = 4096 };

/// The settings of many connections: a certificate, and what is trusted.
typedef struct tls_context tls_context;
/// What a later connection to the same server can begin with, to be faster.
typedef struct tls_session tls_session;

/// One connection. Before a step, `input` is set to the sealed bytes that have come; the step takes them all. After a step,
/// `output` has sealed bytes for the peer, until tls_take_output.
typedef struct {
    void *ssl;
    const uint8_t *input;
    size_t input_count;
    uint8_t *output;
    size_t output_count, output_room;
    /// Whether the caller has given the memory of `output`. Then it does not grow.
    int is_output_lent;
} tls_connection;

/// How a step has ended.
typedef enum {
    /// It has done what it should.
    TLS_DONE,
    /// It goes on when more bytes have come.
    TLS_WAITS,
    /// The peer has said that it sends no more.
    TLS_ENDED,
    /// The connection cannot be used any more. What is in `output` tells the peer why.
    TLS_FAILED,
    /// The same, because the peer's certificate is not trusted.
    TLS_DISTRUSTS,
} tls_step;

/// Loads the library once. Returns 0 if that is impossible. Not safe from two threads at a time.
/// - path: of the library; NULL for where the system has it.
int tls_load(const char *path, char *text);

/// Makes the settings for one side. Returns NULL on failure.
tls_context *tls_make_context(int is_server, char *text);
void tls_free_context(tls_context *context);

/// Sets the certificate, with those above it, and its key. Both are files in PEM. Returns 0 on failure.
int tls_use_certificate(tls_context *context, const char *chain, const char *key, char *text);

/// Has the certificates of peers checked. At a server every peer must have one then.
/// - authorities: a file of certificates in PEM; NULL for what the system trusts, at a client only.
int tls_check_peers(tls_context *context, int is_server, const char *authorities, char *text);

/// How many days the certificate is still valid. Negative if it is not.
int tls_days_left(const tls_context *context);

/// The SHA-256 of the certificate's public key. Returns 0 if there is none.
int tls_own_pin(const tls_context *context, uint8_t pin[TLS_PIN]);

/// Makes a connection. Returns 0 if there is no memory.
/// - host: at a client, the name that the peer's certificate must have. NULL to check no name, which is for pins.
/// - is_address: whether the host is an IP address.
/// - session: to go on with; may be NULL.
int tls_open(tls_connection *connection, tls_context *context, int is_server, const char *host, int is_address, tls_session *session);
void tls_close(tls_connection *connection);

/// Goes on with the handshake.
tls_step tls_shake_hands(tls_connection *connection, char *text);
/// Opens bytes from the peer. `count` is set if the step is done.
tls_step tls_read(tls_connection *connection, void *bytes, size_t room, size_t *count, char *text);
/// Seals bytes as one record; at most 16,384. When it waits, nothing was sealed: it is called again when more bytes have come.
tls_step tls_write(tls_connection *connection, const void *bytes, size_t count, char *text);
/// Tells the peer that no more bytes follow.
void tls_say_end(tls_connection *connection);
/// Has the next output written into this memory. It must have room for all of it. There must be no output now.
void tls_lend_output(tls_connection *connection, void *bytes, size_t room);
/// Empties `output`, and gives lent memory back.
void tls_take_output(tls_connection *connection);

/// Whether the handshake went on with an earlier session.
int tls_was_resumed(const tls_connection *connection);
/// The SHA-256 of the peer's public key. Returns 0 if it has shown no certificate.
int tls_peer_pin(const tls_connection *connection, uint8_t pin[TLS_PIN]);
/// Whether the peer's certificate is not valid any more. A session that goes on is not checked for that by OpenSSL.
int tls_is_peer_outdated(const tls_connection *connection);
/// The name in the peer's certificate, which has been checked: its first URI, else its first DNS name. Of a certificate without
/// alternative names it is the common name. Returns 0 if there is none.
int tls_peer_name(const tls_connection *connection, char name[TLS_NAME]);

/// What a later connection can begin with; NULL if nothing. The caller frees it.
tls_session *tls_get_session(const tls_connection *connection);
void tls_free_session(tls_session *session);

/// Makes a key, and a certificate for it that it signs itself. Returns 0 on failure.
/// - names: as in `DNS:localhost,IP:127.0.0.1`.
int tls_make_certificate(const char *name, const char *names, long serial, int days, char certificate[TLS_PEM], char key[TLS_PEM], char *text);

#endif
