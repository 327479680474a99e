// The errors with which requests are refused before any work, each made in one place.

import RPCWire

extension ErrorObject {
    static func busy(_ limit: Int) -> ErrorObject {
        ErrorObject(
            RPCError(
                .busy, "\(limit) requests of this connection are running (maximumRequestsInFlight)",
                outcome: .notExecuted))
    }

    static let draining = ErrorObject(
        RPCError(
            .unavailable, "the server is stopping", outcome: .notExecuted))

    /// Says what is there instead, since a wrong name is the commonest mistake of a hand-written client.
    static func unknown(_ method: Bytes, _ exports: Exports) -> ErrorObject {
        let name = method.description
        let service = String(name.prefix { $0 != "." && $0 != "[" })
        let there = exports.services.first { $0.signatures.first?.service == service }
        let hint =
            there.map { "\(service) has \($0.signatures.map(\.name).joined(separator: ", "))" }
            ?? "rpc.discover lists what there is"
        return ErrorObject(RPCError(.unimplemented, "there is no method \(name); \(hint)", outcome: .notExecuted))
    }
}

extension Error where Self == RPCError {
    /// What a stopped request answers when its subject threw.
    static func stopped(_ stop: IncomingCalls.Stop, _ error: any Error) -> any Error {
        if let error = error as? RPCError, error.outcome == .notExecuted { return error }
        return switch stop {
        case .cancelled: RPCError(.cancelled, "cancelled by the caller", outcome: .executed)
        case .deadline: RPCError(.deadlineExceeded, "the time allowed for the call ran out", outcome: .executed)
        }
    }
}
