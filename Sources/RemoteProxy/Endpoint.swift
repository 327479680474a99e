// The address of a server, as a value instead of a text.

package import RPCSockets

/// Where a server listens: `tcp://host:port`, `tcp://[::1]:port`, `unix:///path`, or `tls://host:port` for a connection that
/// others can neither read nor change.
///
/// The address of a server with a certificate of its own may have the pin of its key: `tls://host:port?pin=sha256:…`. It takes the
/// place of ``RPCClient/Configuration/TLS/trust``.
///
/// Or the program that a client starts as its server: `exec:///path?arg=--stdio&arg=more&directory=/path`, as by
/// ``Transport/process(_:_:directory:environment:standardError:)``. What is not a letter, a digit or one of `-._~/` is written as `%`
/// and two digits. So an address from elsewhere must be as trustworthy as a command line.
///
/// A text in quotation marks is one without further ado: `RPCClient("tcp://127.0.0.1:7070")`. Any other text becomes one by
/// `init(_:)`, which says at once what is wrong with it:
///
/// ```swift
/// let client = RPCClient(try Endpoint("tcp://\(host):7070"))
/// ```
public struct Endpoint: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The address as a text, with the scheme in lower case and no slash at the end. Two endpoints are equal if their texts are.
    public let description: String

    /// Not for a literal, which Swift takes as it is also in parentheses: `Endpoint("…")` never throws.
    /// - Throws: `RPCError` with the code `.invalidAddress` if the text is no address. It says what to write instead.
    public init(_ text: String) throws(RPCError) {
        do throws(SetupError) {
            description = try Destination(text).description
        } catch {
            throw RPCError(.invalidAddress, error.description, outcome: .notExecuted, underlying: error)
        }
    }

    /// The address that stands in the program. If it is none, calls through a client throw what `init(_:)` would have thrown, and
    /// a server cannot listen there.
    public init(stringLiteral text: String) {
        description = (try? Destination(text).description) ?? text
    }

    package init(_ destination: Destination) { description = destination.description }

    /// - Throws: What is wrong with a literal.
    package func destination() throws(SetupError) -> Destination { try Destination(description) }
}

/// What an address says: which socket, and what is spoken there; or which program is started.
package enum Destination: Sendable, Hashable, CustomStringConvertible {
    case plain(SocketEndpoint)
    /// With TLS. The pin is that of the server's key, if the address has one.
    case tls(SocketEndpoint, pin: KeyPin?)
    case program(ProgramLaunch)

    private static let tlsScheme = "tls://"
    private static let pinMark = "?pin="

    init(_ text: String) throws(SetupError) {
        if ProgramLaunch.isAddress(text) {
            self = .program(try ProgramLaunch(address: text))
            return
        }
        guard text.prefix(Self.tlsScheme.count).lowercased() == Self.tlsScheme else {
            self = .plain(try SocketEndpoint(text))
            return
        }
        let rest = text.dropFirst(Self.tlsScheme.count)
        let mark = rest.firstRange(of: Self.pinMark)
        var pin: KeyPin?
        if let mark {
            pin = KeyPin(rest[mark.upperBound...])
            if pin == nil {
                throw SetupError(
                    "the address \"\(text)\" has a pin that is none; a pin is sha256: and 64 hexadecimal digits")
            }
        }
        self = .tls(try SocketEndpoint.tcp(mark.map { rest[..<$0.lowerBound] } ?? rest, in: text), pin: pin)
    }

    /// The socket, with or without TLS.
    /// - Throws: that the address is no socket.
    package func socket() throws(SetupError) -> SocketEndpoint {
        switch self {
        case .plain(let socket), .tls(let socket, _): return socket
        case .program(let launch):
            throw SetupError(
                "\(launch.place) starts a program, so nothing can listen there; the program itself serves with --stdio")
        }
    }

    package var description: String {
        switch self {
        case .plain(let socket): "\(socket)"
        case .program(let launch): launch.address
        case .tls(let socket, let pin):
            "\(socket)".replacing("tcp://", with: Self.tlsScheme, maxReplacements: 1)
                + (pin.map { Self.pinMark + "\($0)" } ?? "")
        }
    }
}
