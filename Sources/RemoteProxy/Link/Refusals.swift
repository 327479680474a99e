// The errors with which requests are refused before any work. Each is made in one place.

import RPCWire

extension Error where Self == RPCError {
    static func busy(_ limit: Limit, of limits: Limits) -> RPCError {
        RPCError(.busy, limits.overrun(of: limit), outcome: .notExecuted)
    }

    /// The text is the same for every method, so that it does not tell which methods there are.
    static var unauthenticated: RPCError {
        RPCError(
            .unauthenticated, "log in first: rpc.authenticate {\"token\": …} with a token that this server knows",
            outcome: .notExecuted)
    }

    static var unknownToken: RPCError {
        RPCError(.unauthenticated, "this server does not know the token that was shown", outcome: .notExecuted)
    }

    static var repeated: RPCError {
        RPCError(
            .invalidRequest, "a call with this id came before and is not run again", outcome: .unknown)
    }

    static func notKept(_ limit: Limit, _ limits: Limits) -> RPCError {
        let why =
            limit == .maximumBytesInAll
            ? limits.overrun(of: limit)
            : "more than \(limits.maximumKeptReplyBytes) bytes of replies were not acknowledged (\(limit))"
        return RPCError(
            .responseTooLarge, "the call ran, but its reply was lost with the connection: \(why)",
            outcome: .executed)
    }

    /// Says which methods there are, since a wrong name is the commonest mistake of a hand-written client.
    /// - Parameter isOwnEnd: whether the other end is made with this library. To others every such name is an unknown method, as
    ///   JSON-RPC has it.
    static func unknown(_ method: Bytes, _ exports: Exports, isOwnEnd: Bool) -> RPCError {
        // Cut, because a peer may send a name as long as a frame.
        let name = method[0..<200].description
        let (service, there) = service(in: name, exports)
        // The names of the protocol are nothing to export.
        let isSystem = name.hasPrefix("rpc.")
        if isOwnEnd && !isSystem || there != nil, let end = name.lastIndex(of: "."),
            exports.object(String(name[..<end])) == nil
        {
            var error = RPCError.noSuchObject(String(name[..<end]), exports)
            if !isOwnEnd { error.code = .noSuchMethod }
            return error
        }
        let lack = isSystem ? "" : "\(exports.lack); "
        let hint =
            there.map { "\(service) has \($0.map(\.name).joined(separator: ", "))" } ?? lack + exports.listing
        return RPCError(.noSuchMethod, "there is no method \(name); \(hint)", outcome: .notExecuted)
    }

    /// The exported service that a wire name begins with, and its methods. A service's name may have dots.
    private static func service(in name: String, _ exports: Exports) -> (name: String, has: [MethodSignature]?) {
        var service = name.prefix { $0 != "[" }
        while true {
            if let has = exports.signatures(of: String(service)) { return (String(service), has) }
            guard let dot = service.lastIndex(of: ".") else { return (String(service), nil) }
            service = service[..<dot]
        }
    }

    /// - Parameter object: what a peer has named.
    static func noSuchObject(_ object: String, _ exports: Exports) -> RPCError {
        let name = object.prefix(200)
        return RPCError(
            .noSuchObject, "there is no object \(name); \(exports.lack); \(exports.listing)", outcome: .notExecuted)
    }

    static var holdByName: RPCError {
        RPCError(
            .invalidArguments,
            "rpc.hold takes no name: it answers with a reference to the object since protocol version 4; update the calling program",
            outcome: .notExecuted)
    }

    /// The answer to a stopped request that ended with an error.
    static func stopped(_ stop: IncomingCalls.Stop, outcome: RPCError.Outcome) -> RPCError {
        switch stop {
        case .cancelled: RPCError(.cancelled, "cancelled by the caller", outcome: outcome)
        case .deadline: RPCError(.deadlineExceeded, "the time allowed for the call ran out", outcome: outcome)
        }
    }
}
