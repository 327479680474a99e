// A certificate that the tests make once, and the two ends of TLS with it.

import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

/// The settings of both ends. Nil where the machine has no library for TLS.
struct TLSParts: Sendable {
    private static let folder = TemporaryFolder()
    static let shared = try? TLSParts()

    let files: CertificateFiles
    let server: TLSContext
    let client: TLSContext

    private init() throws {
        files = try OwnCertificate.files(in: Self.folder.path)
        server = try TLSContext(files, clients: nil)
        client = try TLSContext(.file(files.chain), nil)
    }

    static func wrap(
        _ inside: any ByteChannel, dials: Bool, host: String = "localhost", resumption: TLSResumption = TLSResumption(),
        whenShaken: @escaping @Sendable (TLSChannel.Handshake) -> Void = { _ in }
    ) -> any ByteChannel {
        guard let parts = shared else { return inside }
        if dials {
            let channel = try? TLSChannel(
                over: inside, remoteAddress: inside.remoteAddress, to: host, isAddress: false, parts.client, resumption,
                whenShaken: whenShaken)
            return channel ?? inside
        }
        return accept(inside, whenShaken: whenShaken) ?? inside
    }

    static func accept(
        _ inside: any ByteChannel, admitsPlaintext: Bool = false, patience: Duration = .seconds(60),
        whenShaken: @escaping @Sendable (TLSChannel.Handshake) -> Void = { _ in }
    ) -> TLSChannel? {
        guard let parts = shared else { return nil }
        let acceptance = TLSChannel.Acceptance(
            parts.server, admitsPlaintext: admitsPlaintext, line: HandshakeLine(of: inside.loop), patience: patience)
        return TLSChannel(accepting: inside, acceptance, whenShaken: whenShaken)
    }
}
