// An address in the form of the kernel: a family, and bytes whose meaning depends on it.

import CSystem

package struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    /// Takes the address that a system call writes; nil if the call fails.
    init?(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var (storage, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        let result = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { $0.baseAddress.map { fill($0, &length) } ?? -1 }
        }
        guard result >= 0 else { return nil }
        (self.storage, self.length) = (storage, length)
    }

    /// Copies one of the addresses that the resolver found.
    init?(copying address: UnsafePointer<sockaddr>?, length: socklen_t) {
        guard let address, length <= socklen_t(MemoryLayout<sockaddr_storage>.size) else { return nil }
        self.length = length
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
    }

    /// How many bytes of a path fit into the address of a Unix-domain socket, without the zero at the end.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// What is wrong with a path that does not fit, for the end of a sentence.
    static func fault(ofLong path: some StringProtocol) -> String {
        "has a path of \(path.utf8.count) bytes; at most \(longestPath) fit"
    }

    init?(path: String) {
        guard path.utf8.count <= SocketAddress.longestPath else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        length = socklen_t(MemoryLayout<sockaddr_un>.size)
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_un.self) }
    }

    /// An address written in numbers. Looks no name up.
    init?(numericHost host: String, port: UInt16) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = system_stream
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let found = list else { return nil }
        defer { freeaddrinfo(list) }
        self.init(copying: found.pointee.ai_addr, length: found.pointee.ai_addrlen)
    }

    var family: Int32 { Int32(storage.ss_family) }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The address as the endpoint that reaches it. An IPv4 address that is mapped into IPv6 becomes the IPv4 address.
    package var endpoint: SocketEndpoint? {
        switch family {
        case AF_UNIX: path.map(SocketEndpoint.unix)
        case AF_INET:
            read(sockaddr_in.self).map { .tcp(host: text($0.sin_addr, AF_INET), port: UInt16(bigEndian: $0.sin_port)) }
        case AF_INET6: read(sockaddr_in6.self).map { .tcp(host: hostOf6($0), port: UInt16(bigEndian: $0.sin6_port)) }
        default: nil
        }
    }

    /// Whether only this machine can be at the other end.
    package var isLoopback: Bool {
        switch family {
        case AF_UNIX: true
        case AF_INET, AF_INET6:
            if case .tcp(let host, _)? = endpoint { host == "::1" || host.hasPrefix("127.") } else { false }
        default: false
        }
    }

    /// The group of addresses whose connections are counted together: an IPv4 host; or the /64 network of an IPv6 host, because
    /// each host has many addresses. Nil for this machine.
    package var neighbourhood: String? {
        guard !isLoopback, case .tcp(let host, _)? = endpoint else { return nil }
        guard host.contains(":"), let address = read(sockaddr_in6.self) else { return host }
        return withUnsafeBytes(of: address.sin6_addr) { bytes in
            bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
        }
    }

    package var description: String { endpoint?.description ?? (family == AF_UNIX ? "unix://" : "unknown") }

    /// Nil for the connecting end of a Unix-domain socket, which has no name.
    private var path: String? {
        guard let address = read(sockaddr_un.self) else { return nil }
        return withUnsafeBytes(of: address.sun_path) { bytes in
            let path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            return path.isEmpty ? nil : path
        }
    }

    private func hostOf6(_ address: sockaddr_in6) -> String {
        let host = text(address.sin6_addr, AF_INET6)
        if host.hasPrefix("::ffff:"), host.contains(".") { return String(host.dropFirst("::ffff:".count)) }
        return address.sin6_scope_id == 0 ? host : "\(host)%\(address.sin6_scope_id)"
    }

    private func text<Address>(_ address: Address, _ family: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            withUnsafePointer(to: address) { inet_ntop(family, $0, text.baseAddress, 64) }
                .map { String(cString: $0) } ?? "?"
        }
    }

    private func read<Address>(_: Address.Type) -> Address? {
        withUnsafeBytes(of: storage) { bytes in
            bytes.count >= MemoryLayout<Address>.size ? bytes.loadUnaligned(as: Address.self) : nil
        }
    }
}
