// Where to listen or to connect, parsed from its text: tcp://127.0.0.1:7070, tcp://[::1]:7070, tcp://host:7070,
// unix:///run/app.sock. No name is looked up here.

package enum SocketEndpoint: Sendable, Hashable {
    /// A name or a numeric address. An IPv6 address has no brackets here.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    package init(_ text: String) throws(SetupError) {
        guard let mark = text.firstRange(of: "://") else {
            throw SetupError(text, "has no scheme", example: SocketEndpoint.example(for: text))
        }
        let rest = text[mark.upperBound...]
        let scheme = text[..<mark.lowerBound].lowercased()
        // A path may have spaces: on a Mac, the folder that a sandboxed program shares has one.
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F || $0 == " " && scheme == "unix" })
        else { throw SetupError(text, "contains a blank or a control character") }
        switch scheme {
        case "tcp": self = try SocketEndpoint.tcp(rest, in: text)
        case "unix": self = try SocketEndpoint.unix(rest, in: text)
        case "tls", "exec":
            throw SetupError(text, "has the scheme \"\(scheme)\", but only tcp and unix are possible here")
        default: throw SetupError(text, "has the scheme \"\(scheme)\", but only tcp, tls, unix and exec are known")
        }
    }

    /// Whether only this machine can be at the other end, as far as that is known without looking the name up.
    package var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, let port):
            host.lowercased() == "localhost" || SocketAddress(numericHost: host, port: port)?.isLoopback == true
        }
    }

    /// What a certificate must have for this endpoint: a name, or an address in numbers without its zone. Nil for a socket file.
    package var hostInCertificate: (host: String, isAddress: Bool)? {
        guard case .tcp(let host, let port) = self else { return nil }
        let isAddress = SocketAddress(numericHost: host, port: port) != nil
        return (isAddress ? String(host.prefix { $0 != "%" }) : host, isAddress)
    }

    /// What a text without a scheme probably means.
    private static func example(for text: String) -> String {
        if text.hasPrefix("/") { return "unix://\(text)" }
        if text.hasPrefix("unix:") {
            return text.hasPrefix("unix:/") ? "unix://\(text.dropFirst(5))" : "unix:///run/app.sock"
        }
        if text.hasPrefix("tcp:") { return example(for: String(text.dropFirst(4))) }
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return "tcp://127.0.0.1:\(text)" }
        return text.isEmpty ? "tcp://127.0.0.1:7070" : text.contains(":") ? "tcp://\(text)" : "tcp://\(text):7070"
    }

    /// - Parameters:
    ///   - rest: what stands behind `tcp://`, or behind another scheme for the same kind of socket.
    ///   - text: the whole address, for errors.
    package static func tcp(_ rest: Substring, in text: String) throws(SetupError) -> SocketEndpoint {
        let place = rest.hasSuffix("/") ? rest.dropLast() : rest
        if let wrong = place.first(where: { "/?#@".contains($0) }) {
            throw SetupError(text, "has a \"\(wrong)\" where only host and port can be")
        }
        guard let colon = place.lastIndex(of: ":"), place.last != "]" else {
            throw SetupError(text, "has no port", example: "tcp://\(place.isEmpty ? "127.0.0.1" : place):7070")
        }
        let (host, digits) = (place[..<colon], place[place.index(after: colon)...])
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(digits) else {
            throw SetupError(text, "has the port \"\(digits)\", which is not a number from 0 to 65535")
        }
        if host.isEmpty { throw SetupError(text, "has no host", example: "tcp://127.0.0.1:\(port)") }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = String(host.dropFirst().dropLast())
            guard address.contains(":"), SocketAddress(numericHost: address, port: port) != nil else {
                throw SetupError(text, "has \"\(address)\" in brackets, which is not an IPv6 address")
            }
            return .tcp(host: address, port: port)
        }
        guard !host.contains(where: { ":[]".contains($0) }) else {
            throw SetupError(text, "has an IPv6 address without brackets", example: "tcp://[::1]:\(port)")
        }
        return .tcp(host: String(host), port: port)
    }

    private static func unix(_ rest: Substring, in text: String) throws(SetupError) -> SocketEndpoint {
        guard rest.hasPrefix("/"), rest.count > 1 else {
            throw SetupError(text, "needs the whole path of a socket file", example: "unix:///run/app.sock")
        }
        guard rest.utf8.count <= SocketAddress.longestPath else {
            throw SetupError(text, SocketAddress.fault(ofLong: rest), example: "unix:///run/app.sock")
        }
        return .unix(path: String(rest))
    }
}

extension SocketEndpoint: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "tcp://[\(host)]:\(port)" : "tcp://\(host):\(port)"
        case .unix(let path): "unix://\(path)"
        }
    }
}

extension SetupError {
    /// Says what is wrong with an address, and what would be right.
    fileprivate init(_ text: String, _ fault: String, example: String = "tcp://127.0.0.1:7070 or unix:///run/app.sock")
    {
        self.init("the address \"\(text)\" \(fault); write for instance \(example)")
    }
}
