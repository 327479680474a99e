// OpenSSL's functions, found by name, and what TLS.h promises made of them.

#include "CSystem/TLS.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "CSystem/System.h"

// Each function: what it returns, its name, and its parameters. All of them are functions of OpenSSL 3.0.
#define FUNCTIONS(F)                                                                                                       \
    F(int, OPENSSL_init_ssl, (uint64_t, const void *))                                                                     \
    F(unsigned long, OpenSSL_version_num, (void))                                                                          \
    F(const void *, TLS_client_method, (void))                                                                             \
    F(const void *, TLS_server_method, (void))                                                                             \
    F(void *, SSL_CTX_new, (const void *))                                                                                 \
    F(void, SSL_CTX_free, (void *))                                                                                        \
    F(long, SSL_CTX_ctrl, (void *, int, long, void *))                                                                     \
    F(uint64_t, SSL_CTX_set_options, (void *, uint64_t))                                                                   \
    F(void, SSL_CTX_set_verify, (void *, int, void *))                                                                     \
    F(int, SSL_CTX_set_default_verify_paths, (void *))                                                                     \
    F(int, SSL_CTX_load_verify_locations, (void *, const char *, const char *))                                            \
    F(int, SSL_CTX_use_certificate_chain_file, (void *, const char *))                                                     \
    F(int, SSL_CTX_use_PrivateKey_file, (void *, const char *, int))                                                       \
    F(int, SSL_CTX_check_private_key, (const void *))                                                                      \
    F(void, SSL_CTX_set_default_passwd_cb, (void *, int (*)(char *, int, int, void *)))                                    \
    F(void, SSL_CTX_set_client_CA_list, (void *, void *))                                                                  \
    F(void *, SSL_load_client_CA_file, (const char *))                                                                     \
    F(int, SSL_CTX_set_alpn_protos, (void *, const unsigned char *, unsigned))                                             \
    F(void, SSL_CTX_set_alpn_select_cb,                                                                                    \
      (void *, int (*)(void *, const unsigned char **, unsigned char *, const unsigned char *, unsigned, void *), void *)) \
    F(int, SSL_CTX_set_num_tickets, (void *, size_t))                                                                      \
    F(int, SSL_CTX_set_session_id_context, (void *, const unsigned char *, unsigned))                                      \
    F(void *, SSL_CTX_get0_certificate, (const void *))                                                                    \
    F(void *, SSL_new, (void *))                                                                                           \
    F(void, SSL_free, (void *))                                                                                            \
    F(void, SSL_set_bio, (void *, void *, void *))                                                                         \
    F(void, SSL_set_connect_state, (void *))                                                                               \
    F(void, SSL_set_accept_state, (void *))                                                                                \
    F(long, SSL_ctrl, (void *, int, long, void *))                                                                         \
    F(int, SSL_set1_host, (void *, const char *))                                                                          \
    F(void *, SSL_get0_param, (void *))                                                                                    \
    F(int, SSL_do_handshake, (void *))                                                                                     \
    F(int, SSL_read_ex, (void *, void *, size_t, size_t *))                                                                \
    F(int, SSL_write_ex, (void *, const void *, size_t, size_t *))                                                         \
    F(int, SSL_get_error, (const void *, int))                                                                             \
    F(int, SSL_shutdown, (void *))                                                                                         \
    F(void, SSL_set_shutdown, (void *, int))                                                                               \
    F(long, SSL_get_verify_result, (const void *))                                                                         \
    F(void *, SSL_get1_peer_certificate, (const void *))                                                                   \
    F(void *, SSL_get1_session, (void *))                                                                                  \
    F(int, SSL_set_session, (void *, void *))                                                                              \
    F(int, SSL_session_reused, (const void *))                                                                             \
    F(int, SSL_SESSION_is_resumable, (const void *))                                                                       \
    F(void, SSL_SESSION_free, (void *))                                                                                    \
    F(int, BIO_get_new_index, (void))                                                                                      \
    F(void *, BIO_meth_new, (int, const char *))                                                                           \
    F(int, BIO_meth_set_read_ex, (void *, int (*)(void *, char *, size_t, size_t *)))                                      \
    F(int, BIO_meth_set_write_ex, (void *, int (*)(void *, const char *, size_t, size_t *)))                               \
    F(int, BIO_meth_set_ctrl, (void *, long (*)(void *, int, long, void *)))                                               \
    F(void *, BIO_new, (const void *))                                                                                     \
    F(int, BIO_free, (void *))                                                                                             \
    F(void, BIO_set_data, (void *, void *))                                                                                \
    F(void *, BIO_get_data, (void *))                                                                                      \
    F(void, BIO_set_init, (void *, int))                                                                                   \
    F(void, BIO_set_flags, (void *, int))                                                                                  \
    F(void, BIO_clear_flags, (void *, int))                                                                                \
    F(const void *, BIO_s_mem, (void))                                                                                     \
    F(int, BIO_read, (void *, void *, int))                                                                                \
    F(unsigned long, ERR_get_error, (void))                                                                                \
    F(void, ERR_error_string_n, (unsigned long, char *, size_t))                                                           \
    F(void, ERR_clear_error, (void))                                                                                       \
    F(const char *, X509_verify_cert_error_string, (long))                                                                 \
    F(int, X509_VERIFY_PARAM_set1_ip_asc, (void *, const char *))                                                          \
    F(void, X509_VERIFY_PARAM_set_hostflags, (void *, unsigned))                                                           \
    F(void *, X509_new, (void))                                                                                            \
    F(void, X509_free, (void *))                                                                                           \
    F(void *, X509_get_X509_PUBKEY, (const void *))                                                                        \
    F(int, i2d_X509_PUBKEY, (const void *, unsigned char **))                                                              \
    F(const void *, EVP_sha256, (void))                                                                                    \
    F(int, EVP_Digest, (const void *, size_t, unsigned char *, unsigned *, const void *, void *))                          \
    F(const void *, X509_get0_notAfter, (const void *))                                                                    \
    F(int, ASN1_TIME_diff, (int *, int *, const void *, const void *))                                                     \
    F(void *, X509_get_ext_d2i, (const void *, int, int *, int *))                                                         \
    F(int, OPENSSL_sk_num, (const void *))                                                                                 \
    F(void *, OPENSSL_sk_value, (const void *, int))                                                                       \
    F(void *, GENERAL_NAME_get0_value, (const void *, int *))                                                              \
    F(void, GENERAL_NAMES_free, (void *))                                                                                  \
    F(const unsigned char *, ASN1_STRING_get0_data, (const void *))                                                        \
    F(int, ASN1_STRING_length, (const void *))                                                                             \
    F(void *, X509_get_subject_name, (const void *))                                                                       \
    F(int, X509_NAME_get_index_by_NID, (const void *, int, int))                                                           \
    F(void *, X509_NAME_get_entry, (const void *, int))                                                                    \
    F(void *, X509_NAME_ENTRY_get_data, (const void *))                                                                    \
    F(void *, EVP_PKEY_Q_keygen, (void *, const char *, const char *, ...))                                                \
    F(void, EVP_PKEY_free, (void *))                                                                                       \
    F(int, X509_set_version, (void *, long))                                                                               \
    F(void *, X509_get_serialNumber, (void *))                                                                             \
    F(int, ASN1_INTEGER_set, (void *, long))                                                                               \
    F(void *, X509_gmtime_adj, (void *, long))                                                                             \
    F(void *, X509_getm_notBefore, (const void *))                                                                         \
    F(void *, X509_getm_notAfter, (const void *))                                                                          \
    F(int, X509_set_pubkey, (void *, void *))                                                                              \
    F(int, X509_NAME_add_entry_by_txt, (void *, const char *, int, const unsigned char *, int, int, int))                  \
    F(int, X509_set_issuer_name, (void *, const void *))                                                                   \
    F(void *, X509V3_EXT_conf_nid, (void *, void *, int, const char *))                                                    \
    F(int, X509_add_ext, (void *, void *, int))                                                                            \
    F(void, X509_EXTENSION_free, (void *))                                                                                 \
    F(int, X509_sign, (void *, void *, const void *))                                                                      \
    F(int, PEM_write_bio_X509, (void *, const void *))                                                                     \
    F(int, PEM_write_bio_PrivateKey, (void *, const void *, const void *, const unsigned char *, int, void *, void *))

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} api;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define ROW(result, name, parameters) {#name, offsetof(__typeof__(api), name)},
    FUNCTIONS(ROW)
#undef ROW
};

// The numbers that OpenSSL's headers have for its macros.
enum {
    NO_ATEXIT = 0x80000,
    SET_MODE = 33, SET_SESSION_CACHE = 44, SET_SERVER_NAME = 55, SET_LEAST_VERSION = 123,
    VERSION_1_2 = 0x0303,
    MOVING_BUFFER = 0x2, RELEASE_BUFFERS = 0x10,
    NO_COMPRESSION = 1 << 17, NO_RENEGOTIATION = 1 << 30,
    VERIFY_PEER = 1, REQUIRE_CERTIFICATE = 2,
    NO_PARTIAL_WILDCARDS = 4, NO_COMMON_NAME = 0x20,
    FILE_IS_PEM = 1,
    WANTS_READ = 2, HAS_ENDED = 6,
    BOTH_SHUT = 3,
    RETRY_FLAGS = 0xF, READ_LATER = 9, SOURCE_AND_SINK = 0x400, FLUSH = 11,
    ALPN_FOUND = 0, ALPN_REFUSED = 2, ALPN_NOT_ASKED = 3,
    ALTERNATIVE_NAMES = 85, COMMON_NAME = 13, BASIC_CONSTRAINTS = 87,
    IS_DNS_NAME = 2, IS_URI = 6,
    AS_UTF8 = 0x1000,
    LIBRARY_SHIFT = 23, LIBRARY_MASK = 0xFF, LIBRARY_OF_TLS = 20,
    MOST_OF_A_RECORD = 16384,
};

// The application protocol, so that no other server can pass for this one, and no browser gets through.
static const unsigned char protocol[] = "\x0dremoteproxy/1";
static void *memory_method;

static void say(char *text, const char *what) {
    strncpy(text, what, TLS_TEXT - 1);
    text[TLS_TEXT - 1] = 0;
}

static void say_fault(unsigned long code, char *text) {
    if (code == 0) return say(text, "the connection was broken");
    char whole[TLS_TEXT];
    api.ERR_error_string_n(code, whole, sizeof whole);
    const char *reason = strrchr(whole, ':');
    say(text, reason ? reason + 1 : whole);
}

/// Says what OpenSSL has noted first.
static void explain(char *text) { say_fault(api.ERR_get_error(), text); }

/// Says what OpenSSL has noted of TLS itself. What it has noted before is how one of its parts has found out.
static void explain_step(char *text) {
    unsigned long code = api.ERR_get_error(), chosen = code;
    for (; code != 0; code = api.ERR_get_error()) {
        if ((code >> LIBRARY_SHIFT & LIBRARY_MASK) == LIBRARY_OF_TLS) chosen = code;
    }
    say_fault(chosen, text);
}

// MARK: bytes in memory, as OpenSSL reads and writes them

static int read_memory(void *bio, char *bytes, size_t room, size_t *count) {
    tls_connection *connection = api.BIO_get_data(bio);
    api.BIO_clear_flags(bio, RETRY_FLAGS);
    *count = room < connection->input_count ? room : connection->input_count;
    if (*count == 0) {
        api.BIO_set_flags(bio, READ_LATER);
        return 0;
    }
    memcpy(bytes, connection->input, *count);
    connection->input += *count;
    connection->input_count -= *count;
    return 1;
}

static int write_memory(void *bio, const char *bytes, size_t count, size_t *written) {
    tls_connection *connection = api.BIO_get_data(bio);
    api.BIO_clear_flags(bio, RETRY_FLAGS);
    size_t needed = connection->output_count + count;
    if (needed > connection->output_room && connection->is_output_lent) return 0;
    if (needed > connection->output_room) {
        size_t room = needed > 2 * connection->output_room ? needed : 2 * connection->output_room;
        uint8_t *larger = realloc(connection->output, room);
        if (!larger) return 0;
        connection->output = larger;
        connection->output_room = room;
    }
    memcpy(connection->output + connection->output_count, bytes, count);
    connection->output_count = needed;
    *written = count;
    return 1;
}

static long control_memory(void *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == FLUSH;
}

// MARK: loading

static int find_functions(const char *path, char *text) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        say(text, why ? why : path);
        return 0;
    }
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        void *function = dlsym(library, functions[index].name);
        if (!function) {
            char what[TLS_TEXT] = "";
            strncat(what, path, 160);
            strcat(what, " lacks ");
            strncat(what, functions[index].name, 60);
            say(text, what);
            dlclose(library);
            return 0;
        }
        memcpy((char *)&api + functions[index].offset, &function, sizeof function);
    }
    if (api.OpenSSL_version_num() < 0x30000000) {
        say(text, "it is older than OpenSSL 3");
        dlclose(library);
        return 0;
    }
    return 1;
}

int tls_load(const char *path, char *text) {
    if (memory_method) return 1;
    static const char *const usual[] = {SYSTEM_TLS_LIBRARIES};
    int is_found = 0;
    if (path) is_found = find_functions(path, text);
    // The text of the first counts, which is the one that should be there.
    char later[TLS_TEXT];
    for (size_t index = 0; !path && !is_found && index < sizeof usual / sizeof *usual; index++) {
        is_found = find_functions(usual[index], index == 0 ? text : later);
    }
    if (!is_found) return 0;
    // Threads may still use the library when the process exits.
    if (!api.OPENSSL_init_ssl(NO_ATEXIT, NULL)) {
        explain(text);
        return 0;
    }
    void *method = api.BIO_meth_new(api.BIO_get_new_index() | SOURCE_AND_SINK, "memory of a connection");
    if (!method || !api.BIO_meth_set_read_ex(method, read_memory) || !api.BIO_meth_set_write_ex(method, write_memory)
        || !api.BIO_meth_set_ctrl(method, control_memory)) {
        explain(text);
        return 0;
    }
    memory_method = method;
    return 1;
}

// MARK: settings

/// A key with a password cannot be used: OpenSSL would ask for it at the terminal.
static int have_no_password(char *bytes, int room, int is_writing, void *data) {
    (void)bytes, (void)room, (void)is_writing, (void)data;
    return 0;
}

/// Takes this library's protocol out of a client's list. A list without it is another protocol's.
static int select_protocol(
    void *ssl, const unsigned char **name, unsigned char *length, const unsigned char *list, unsigned count, void *data) {
    (void)ssl, (void)data;
    for (unsigned place = 0; place < count; place += 1 + list[place]) {
        if (count - place >= sizeof protocol - 1 && memcmp(list + place, protocol, sizeof protocol - 1) == 0) {
            *name = list + place + 1;
            *length = list[place];
            return ALPN_FOUND;
        }
    }
    return ALPN_REFUSED;
}

tls_context *tls_make_context(int is_server, char *text) {
    api.ERR_clear_error();
    void *context = api.SSL_CTX_new(is_server ? api.TLS_server_method() : api.TLS_client_method());
    if (!context) {
        explain(text);
        return NULL;
    }
    (void)api.SSL_CTX_ctrl(context, SET_LEAST_VERSION, VERSION_1_2, NULL);
    (void)api.SSL_CTX_ctrl(context, SET_MODE, RELEASE_BUFFERS | MOVING_BUFFER, NULL);
    // Sessions are in tickets, which the clients keep.
    (void)api.SSL_CTX_ctrl(context, SET_SESSION_CACHE, 0, NULL);
    (void)api.SSL_CTX_set_options(context, NO_COMPRESSION | NO_RENEGOTIATION);
    api.SSL_CTX_set_default_passwd_cb(context, have_no_password);
    if (is_server) {
        // A client keeps only the newest.
        (void)api.SSL_CTX_set_num_tickets(context, 1);
        (void)api.SSL_CTX_set_session_id_context(context, protocol, sizeof protocol - 1);
        api.SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
    } else {
        (void)api.SSL_CTX_set_alpn_protos(context, protocol, sizeof protocol - 1);
    }
    return context;
}

void tls_free_context(tls_context *context) { api.SSL_CTX_free(context); }

int tls_use_certificate(tls_context *context, const char *chain, const char *key, char *text) {
    api.ERR_clear_error();
    char why[TLS_TEXT - 100], whole[TLS_TEXT] = "";
    const char *file = chain;
    int is_used = api.SSL_CTX_use_certificate_chain_file(context, chain);
    if (is_used) {
        file = key;
        is_used = api.SSL_CTX_use_PrivateKey_file(context, key, FILE_IS_PEM) && api.SSL_CTX_check_private_key(context);
    }
    if (is_used) return 1;
    explain(whole);
    strncpy(why, whole, sizeof why - 1);
    why[sizeof why - 1] = 0;
    whole[0] = 0;
    strncat(whole, file, 90);
    strcat(whole, ": ");
    strcat(whole, why);
    say(text, whole);
    return 0;
}

int tls_check_peers(tls_context *context, int is_server, const char *authorities, char *text) {
    api.ERR_clear_error();
    api.SSL_CTX_set_verify(context, is_server ? VERIFY_PEER | REQUIRE_CERTIFICATE : VERIFY_PEER, NULL);
    int is_trusted = authorities ? api.SSL_CTX_load_verify_locations(context, authorities, NULL)
                                 : api.SSL_CTX_set_default_verify_paths(context);
    if (is_trusted && is_server && authorities) {
        // The names are sent to the clients, so that each can choose a certificate.
        void *names = api.SSL_load_client_CA_file(authorities);
        is_trusted = names != NULL;
        if (names) api.SSL_CTX_set_client_CA_list(context, names);
    }
    if (!is_trusted) explain(text);
    return is_trusted;
}

int tls_days_left(const tls_context *context) {
    void *certificate = api.SSL_CTX_get0_certificate(context);
    int days = 0, seconds = 0;
    if (!certificate || !api.ASN1_TIME_diff(&days, &seconds, NULL, api.X509_get0_notAfter(certificate))) return -1;
    return seconds < 0 ? days - 1 : days;
}

static int pin_of(const void *certificate, uint8_t pin[TLS_PIN]) {
    void *key = certificate ? api.X509_get_X509_PUBKEY(certificate) : NULL;
    int count = key ? api.i2d_X509_PUBKEY(key, NULL) : 0;
    if (count <= 0) return 0;
    unsigned char *bytes = malloc((size_t)count), *end = bytes;
    if (!bytes) return 0;
    (void)api.i2d_X509_PUBKEY(key, &end);
    int is_done = api.EVP_Digest(bytes, (size_t)count, pin, NULL, api.EVP_sha256(), NULL);
    free(bytes);
    return is_done;
}

int tls_own_pin(const tls_context *context, uint8_t pin[TLS_PIN]) {
    return pin_of(api.SSL_CTX_get0_certificate(context), pin);
}

// MARK: connections

int tls_open(tls_connection *connection, tls_context *context, int is_server, const char *host, int is_address, tls_session *session) {
    memset(connection, 0, sizeof *connection);
    void *ssl = api.SSL_new(context), *bio = api.BIO_new(memory_method);
    if (!ssl || !bio) {
        if (ssl) api.SSL_free(ssl);
        if (bio) (void)api.BIO_free(bio);
        return 0;
    }
    api.BIO_set_data(bio, connection);
    api.BIO_set_init(bio, 1);
    api.SSL_set_bio(ssl, bio, bio);
    connection->ssl = ssl;
    if (is_server) {
        api.SSL_set_accept_state(ssl);
        return 1;
    }
    api.SSL_set_connect_state(ssl);
    if (session) (void)api.SSL_set_session(ssl, session);
    if (!host) return 1;
    void *rules = api.SSL_get0_param(ssl);
    // A common name is for people. The names for machines stand in a part of their own.
    api.X509_VERIFY_PARAM_set_hostflags(rules, NO_PARTIAL_WILDCARDS | NO_COMMON_NAME);
    if (is_address) return api.X509_VERIFY_PARAM_set1_ip_asc(rules, host);
    (void)api.SSL_ctrl(ssl, SET_SERVER_NAME, 0, (void *)host);
    return api.SSL_set1_host(ssl, host);
}

void tls_close(tls_connection *connection) {
    if (!connection->ssl) return;
    // Otherwise the session could not be gone on with.
    api.SSL_set_shutdown(connection->ssl, BOTH_SHUT);
    api.SSL_free(connection->ssl);
    connection->ssl = NULL;
    tls_take_output(connection);
}

static tls_step result(tls_connection *connection, int returned, char *text) {
    if (returned > 0) return TLS_DONE;
    switch (api.SSL_get_error(connection->ssl, returned)) {
    case WANTS_READ: return TLS_WAITS;
    case HAS_ENDED: return TLS_ENDED;
    }
    explain_step(text);
    long verdict = api.SSL_get_verify_result(connection->ssl);
    if (verdict == 0 || !strstr(text, "certificate verify failed")) return TLS_FAILED;
    say(text, api.X509_verify_cert_error_string(verdict));
    return TLS_DISTRUSTS;
}

tls_step tls_shake_hands(tls_connection *connection, char *text) {
    api.ERR_clear_error();
    return result(connection, api.SSL_do_handshake(connection->ssl), text);
}

tls_step tls_read(tls_connection *connection, void *bytes, size_t room, size_t *count, char *text) {
    api.ERR_clear_error();
    return result(connection, api.SSL_read_ex(connection->ssl, bytes, room, count), text);
}

tls_step tls_write(tls_connection *connection, const void *bytes, size_t count, char *text) {
    api.ERR_clear_error();
    size_t written = 0;
    if (count > MOST_OF_A_RECORD) count = MOST_OF_A_RECORD;
    return result(connection, api.SSL_write_ex(connection->ssl, bytes, count, &written), text);
}

void tls_say_end(tls_connection *connection) {
    api.ERR_clear_error();
    (void)api.SSL_shutdown(connection->ssl);
    api.ERR_clear_error();
}

void tls_lend_output(tls_connection *connection, void *bytes, size_t room) {
    tls_take_output(connection);
    connection->output = bytes;
    connection->output_room = room;
    connection->is_output_lent = 1;
}

void tls_take_output(tls_connection *connection) {
    if (!connection->is_output_lent) free(connection->output);
    connection->output = NULL;
    connection->output_count = connection->output_room = 0;
    connection->is_output_lent = 0;
}

int tls_was_resumed(const tls_connection *connection) { return api.SSL_session_reused(connection->ssl); }

int tls_peer_pin(const tls_connection *connection, uint8_t pin[TLS_PIN]) {
    void *certificate = api.SSL_get1_peer_certificate(connection->ssl);
    int is_done = pin_of(certificate, pin);
    if (certificate) api.X509_free(certificate);
    return is_done;
}

int tls_is_peer_outdated(const tls_connection *connection) {
    void *certificate = api.SSL_get1_peer_certificate(connection->ssl);
    if (!certificate) return 0;
    int days = 0, seconds = 0;
    int is_known = api.ASN1_TIME_diff(&days, &seconds, NULL, api.X509_get0_notAfter(certificate));
    api.X509_free(certificate);
    return !is_known || days < 0 || seconds < 0;
}

/// Copies a text of a certificate, if it has neither blanks nor control characters.
static int copy_name(const void *string, char name[TLS_NAME]) {
    if (!string) return 0;
    const unsigned char *bytes = api.ASN1_STRING_get0_data(string);
    int count = api.ASN1_STRING_length(string);
    if (count <= 0 || count >= TLS_NAME) return 0;
    for (int index = 0; index < count; index++) {
        if (bytes[index] <= ' ' || bytes[index] == 0x7F) return 0;
    }
    memcpy(name, bytes, (size_t)count);
    name[count] = 0;
    return 1;
}

static int alternative_name(const void *names, int wanted, char name[TLS_NAME]) {
    for (int index = 0; index < api.OPENSSL_sk_num(names); index++) {
        int kind = 0;
        void *value = api.GENERAL_NAME_get0_value(api.OPENSSL_sk_value(names, index), &kind);
        if (kind == wanted && copy_name(value, name)) return 1;
    }
    return 0;
}

int tls_peer_name(const tls_connection *connection, char name[TLS_NAME]) {
    void *certificate = api.SSL_get1_peer_certificate(connection->ssl);
    if (!certificate) return 0;
    int presence = -1;
    void *names = api.X509_get_ext_d2i(certificate, ALTERNATIVE_NAMES, &presence, NULL);
    int is_found = names && (alternative_name(names, IS_URI, name) || alternative_name(names, IS_DNS_NAME, name));
    // An authority may look less closely at the common name than at the others, so those count even if they cannot be read.
    int has_others = presence != -1;
    if (names) api.GENERAL_NAMES_free(names);
    if (!has_others) {
        void *subject = api.X509_get_subject_name(certificate);
        int place = api.X509_NAME_get_index_by_NID(subject, COMMON_NAME, -1);
        is_found = place >= 0 && copy_name(api.X509_NAME_ENTRY_get_data(api.X509_NAME_get_entry(subject, place)), name);
    }
    api.X509_free(certificate);
    return is_found;
}

tls_session *tls_get_session(const tls_connection *connection) {
    void *session = api.SSL_get1_session(connection->ssl);
    if (session && api.SSL_SESSION_is_resumable(session)) return session;
    if (session) api.SSL_SESSION_free(session);
    return NULL;
}

void tls_free_session(tls_session *session) { api.SSL_SESSION_free(session); }

// MARK: a certificate of one's own

static int add_extension(void *certificate, int kind, const char *value) {
    void *extension = api.X509V3_EXT_conf_nid(NULL, NULL, kind, value);
    int is_added = extension && api.X509_add_ext(certificate, extension, -1);
    if (extension) api.X509_EXTENSION_free(extension);
    return is_added;
}

static int sign(void *certificate, void *key, const char *name, const char *names, long serial, int days) {
    void *subject = api.X509_get_subject_name(certificate);
    // An hour early, for clocks that are a little behind.
    return api.X509_set_version(certificate, 2) && api.ASN1_INTEGER_set(api.X509_get_serialNumber(certificate), serial)
        && api.X509_gmtime_adj(api.X509_getm_notBefore(certificate), -3600)
        && api.X509_gmtime_adj(api.X509_getm_notAfter(certificate), days * 86400L) && api.X509_set_pubkey(certificate, key)
        && api.X509_NAME_add_entry_by_txt(subject, "CN", AS_UTF8 | 1, (const unsigned char *)name, -1, -1, 0)
        && api.X509_set_issuer_name(certificate, subject) && add_extension(certificate, BASIC_CONSTRAINTS, "critical,CA:TRUE")
        && add_extension(certificate, ALTERNATIVE_NAMES, names) && api.X509_sign(certificate, key, api.EVP_sha256());
}

static int copy_text(void *bio, int is_written, char pem[TLS_PEM]) {
    int count = is_written ? api.BIO_read(bio, pem, TLS_PEM - 1) : 0;
    pem[count > 0 ? count : 0] = 0;
    return count > 0;
}

int tls_make_certificate(
    const char *name, const char *names, long serial, int days, char certificate[TLS_PEM], char key[TLS_PEM], char *text) {
    api.ERR_clear_error();
    void *pair = api.EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"), *made = api.X509_new(), *bio = api.BIO_new(api.BIO_s_mem());
    int is_done = pair && made && bio && sign(made, pair, name, names, serial, days)
        && copy_text(bio, api.PEM_write_bio_X509(bio, made), certificate)
        && copy_text(bio, api.PEM_write_bio_PrivateKey(bio, pair, NULL, NULL, 0, NULL, NULL), key);
    if (!is_done) explain(text);
    if (bio) (void)api.BIO_free(bio);
    if (made) api.X509_free(made);
    if (pair) api.EVP_PKEY_free(pair);
    return is_done;
}
