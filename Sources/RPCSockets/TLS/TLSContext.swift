// The settings of TLS for many connections, and the library that is loaded for them.

import CSystem
import RPCWire

/// The system's OpenSSL. It is loaded once, when TLS is first used.
enum TLSLibrary {
    /// The variable of the environment that names another library.
    private static let variable = "RPC_LIBSSL"
    private static let isLoaded = Lock(false)

    static func load() throws(SetupError) {
        let fault = isLoaded.withLock { isLoaded -> String? in
            if isLoaded { return nil }
            let path = ProcessEnvironment[variable]
            let fault = tlsFault { text in path.map { tls_load($0, text) } ?? tls_load(nil, text) }
            isLoaded = fault == nil
            return fault
        }
        guard let fault else { return }
        // What musl says in a program that is linked statically.
        if fault.contains("Dynamic loading not supported") {
            throw SetupError(
                "this program has no TLS, because it is linked statically and cannot load OpenSSL; use a Unix socket, or a "
                    + "tunnel such as ssh -L")
        }
        throw SetupError(
            "TLS needs OpenSSL 3, which was not found (\(fault)); install libssl3 or libssl3t64 (Debian, Ubuntu), openssl-libs "
                + "(Fedora, Red Hat, Amazon Linux) or openssl@3 (Homebrew), or set \(variable) to the path of libssl")
    }
}

/// Calls a function that returns 0 when it fails, and sets a text then.
/// - Returns: the text; nil if the function has succeeded.
func tlsFault(_ body: (UnsafeMutablePointer<CChar>) -> Int32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(TLS_TEXT)) { text in
        text.initialize(repeating: 0)
        guard let place = text.baseAddress, body(place) == 0 else { return nil }
        return String(cString: place)
    }
}

/// A certificate with those above it, and its key: two files in PEM.
package struct CertificateFiles: Sendable, Hashable {
    package let chain: String
    package let key: String

    package init(chain: String, key: String) { (self.chain, self.key) = (chain, key) }
}

/// Which servers a client trusts.
package enum ServerTrust: Sendable, Hashable {
    /// Those whose certificate has their name, and is signed by an authority that the system trusts.
    case system
    /// Those whose certificate has their name, and is signed by an authority in this file.
    case file(String)
    /// Those that have the key with this hash.
    case pin(KeyPin)
}

/// The SHA-256 of a public key: of its SubjectPublicKeyInfo, as other programs hash it too.
package struct KeyPin: Sendable, Hashable, CustomStringConvertible {
    fileprivate static let size = 32
    private static let scheme = "sha256:"
    private let bytes: [UInt8]

    fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter text: `sha256:` and 64 hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        let digits = text.dropFirst(Self.scheme.count).utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard text.hasPrefix(Self.scheme), digits.count == 2 * Self.size, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        bytes = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] * 16 + values[$0 + 1]) }
    }

    package var description: String {
        bytes.reduce(into: Self.scheme) { text, byte in
            if byte < 0x10 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}

/// A certificate and what is trusted, ready for use.
///
/// `@unchecked Sendable`: OpenSSL counts its owners, and nothing is changed after it was made.
package final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The pin that the server's key must have; nil where its certificate is checked.
    let pin: KeyPin?

    deinit { tls_free_context(pointer) }

    private init(isServer: Bool, pin: KeyPin? = nil) throws(SetupError) {
        try TLSLibrary.load()
        var made: OpaquePointer?
        let fault = tlsFault { text in
            made = tls_make_context(isServer ? 1 : 0, text)
            return made == nil ? 0 : 1
        }
        guard let made else { throw SetupError("TLS cannot be used: \(fault ?? "out of memory")") }
        (pointer, self.pin) = (made, pin)
    }

    /// The settings of a server.
    /// - Parameter authorities: a file with the certificates that sign those of the clients. With it every client must have one.
    package convenience init(_ certificate: CertificateFiles, clients authorities: String?) throws(SetupError) {
        try self.init(isServer: true)
        try use(certificate)
        if let authorities { try check(isServer: true, authorities) }
    }

    /// The settings of a client.
    /// - Parameter certificate: what the client shows to a server that asks for one.
    package convenience init(_ trust: ServerTrust, _ certificate: CertificateFiles?) throws(SetupError) {
        if case .pin(let pin) = trust {
            try self.init(isServer: false, pin: pin)
        } else {
            try self.init(isServer: false)
        }
        if let certificate { try use(certificate) }
        switch trust {
        case .system: try check(isServer: false, nil)
        case .file(let path): try check(isServer: false, path)
        case .pin: break
        }
    }

    private func use(_ files: CertificateFiles) throws(SetupError) {
        // A group may read the key, such as that of the programs that use it.
        do throws(SetupError) { try PrivateFile.open(files.key, without: 0o007) } catch {
            throw SetupError("the key \(files.key) \(error)")
        }
        if let fault = tlsFault({ tls_use_certificate(pointer, files.chain, files.key, $0) }) {
            throw SetupError("the certificate cannot be used: \(fault)")
        }
    }

    private func check(isServer: Bool, _ authorities: String?) throws(SetupError) {
        let fault = tlsFault { text in
            authorities.map { tls_check_peers(pointer, isServer ? 1 : 0, $0, text) }
                ?? tls_check_peers(pointer, isServer ? 1 : 0, nil, text)
        }
        guard let fault else { return }
        let what = authorities.map { "the file \($0)" } ?? "what the system trusts"
        throw SetupError("the authorities cannot be read from \(what): \(fault)")
    }

    /// How many whole days the certificate is still valid. Negative if it is not.
    package var daysLeft: Int { Int(tls_days_left(pointer)) }

    /// The pin of the key of this end's certificate.
    package var ownPin: KeyPin? { KeyPin { tls_own_pin(pointer, $0) } }
}

extension KeyPin {
    /// - Parameter fill: writes the hash. Returns 0 if there is none.
    init?(_ fill: (UnsafeMutablePointer<UInt8>) -> Int32) {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        let isFilled = bytes.withUnsafeMutableBufferPointer { $0.baseAddress.map(fill) ?? 0 }
        guard isFilled != 0 else { return nil }
        self.init(bytes)
    }
}
