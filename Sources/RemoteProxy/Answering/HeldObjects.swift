// What one session holds at this end: names under which it alone can call, each a view of an exported object with the
// hold around every call. Ended by the session's end at the latest.

import JSONCodec
import RPCWire

final class HeldObjects: Sendable {
    private struct Held {
        /// What it is a view of: the wire name up to the method.
        let object: String
        let hold: Hold
        var methods: [String: _ExportedMethod] = [:]
    }

    private struct State {
        /// By the wire name up to the method: `Ledger[~1]`.
        var held: [String: Held] = [:]
        var isOver = false
        var isWatching = false
    }

    private let exports: Exports
    private let limit: Int
    private let state = Lock(State())

    init(_ exports: Exports, limit: Int) {
        self.exports = exports
        self.limit = limit
    }

    /// What a message means that names no export: a method of a held object, a request for a hold, or nil.
    func method(named name: Bytes) -> _ExportedMethod? {
        guard name.mayNameHold else { return nil }
        let text = name.description
        switch text {
        case SystemMethod.hold: return begin
        case SystemMethod.release: return end
        default: return view(text)
        }
    }

    // MARK: Beginning and ending

    private var begin: _ExportedMethod {
        _ExportedMethod(SystemMethod.hold, shape: .call) { params, output in
            let request: HoldRequest = try self.decode(params, of: SystemMethod.hold)
            guard request.name.hasPrefix("~"), !request.name.contains("]") else { throw RPCError.nameOfHold }
            try await self.hold(request)
            output.append("null")
        }
    }

    private var end: _ExportedMethod {
        _ExportedMethod(SystemMethod.release, shape: .post) { params, output in
            let request: ReleaseRequest = try self.decode(params, of: SystemMethod.release)
            let path = self.path(of: request.object, request.name)
            let held = self.state.withLock { $0.held.removeValue(forKey: path) }
            held?.hold.release()
            output.append("null")
        }
    }

    private func hold(_ request: HoldRequest) async throws {
        if state.withLock({ $0.held.count >= limit }) { throw RPCError.tooManyHolds(limit) }
        watchSession()
        let hold = try await hold(request.object, for: .milliseconds(request.lease))
        let path = path(of: request.object, request.name)
        let isKept = state.withLock { state in
            // A caller that has given up says so before it gives back what it never had.
            guard !state.isOver, !Task.isCancelled, state.held.count < limit, state.held[path] == nil else {
                return false
            }
            state.held[path] = Held(object: request.object, hold: hold)
            return true
        }
        guard isKept else {
            hold.release()
            throw RPCError.holdEnded
        }
    }

    /// Holds an export, or once more something that is held.
    private func hold(_ object: String, for lease: Duration) async throws -> Hold {
        if let held = state.withLock({ $0.held[object] }) {
            return try await held.hold.entered { try await hold(held.object, for: lease) }
        }
        guard let subject = exports.object(object) else {
            throw object.contains("[~") ? RPCError.holdEnded : RPCError.noSuchObject(object)
        }
        return try await subject(lease)
    }

    private func watchSession() {
        let isFirst = state.withLock { state in
            defer { state.isWatching = true }
            return !state.isWatching
        }
        guard isFirst else { return }
        CallScope.current?.caller?.whenGone { [self] in
            let held = state.withLock { state in
                state.isOver = true
                defer { state.held = [:] }
                return state.held
            }
            for held in held.values { held.hold.release() }
        }
    }

    // MARK: Calling

    /// A method of a held object, from its wire name.
    private func view(_ name: String) -> _ExportedMethod? {
        guard let end = name.firstRange(of: "].") else { return nil }
        let path = String(name[..<end.lowerBound]) + "]"
        let method = String(name[end.upperBound...])
        guard let held = state.withLock({ $0.held[path] }) else { return .ended(name) }
        if let known = held.methods[method] { return known }
        let wireName = "\(held.object).\(method)"
        guard let plain = exports.method(named: Bytes(wireName)) ?? self.method(named: Bytes(wireName)) else {
            return nil
        }
        let hold = held.hold
        let view = _ExportedMethod(signature: plain.signature, service: plain.service) { params, output in
            try await hold.entered { try await plain.run(params, output) }
        }
        state.withLock { $0.held[path]?.methods[method] = view }
        return view
    }

    private func path(of object: String, _ name: String) -> String {
        "\(object.prefix { $0 != "[" })[\(name)]"
    }

    private func decode<Request: Decodable>(_ params: Bytes?, of method: String) throws -> Request {
        do {
            return try (params ?? Bytes("{}")).withUnsafeBytes { try decodeJSON(Request.self, from: $0) }
        } catch {
            let reason = (error as? DecodingError)?.explanation ?? "\(error)"
            throw RPCError(
                .invalidArguments, "\(method) was called with wrong parameters: \(reason)", outcome: .notExecuted)
        }
    }
}

extension _ExportedMethod {
    fileprivate convenience init(
        _ name: String, shape: MethodSignature.Shape,
        run: @escaping @Sendable (_ params: Bytes?, _ output: JSONOutput) async throws -> Void
    ) {
        self.init(
            signature: MethodSignature(
                service: "", name: name, parameters: [], result: nil, shape: shape, effect: .changes),
            service: ServiceDescription(name), run: run)
    }

    /// Any method of an object that is held no more.
    fileprivate static func ended(_ name: String) -> _ExportedMethod {
        _ExportedMethod(name, shape: .call) { _, _ in throw RPCError.holdEnded }
    }
}

extension Bytes {
    /// Whether it may be a name for `HeldObjects`, told without a string.
    fileprivate var mayNameHold: Bool {
        withUnsafeBytes { bytes in
            bytes.starts(with: "rpc.".utf8) || zip(bytes, bytes.dropFirst()).contains { $0 == 0x5B && $1 == 0x7E }
        }
    }
}

extension RPCError {
    fileprivate static let nameOfHold = RPCError(
        .invalidArguments, "rpc.hold was called with a wrong name: it begins with '~' and has no ']'",
        outcome: .notExecuted)

    fileprivate static func noSuchObject(_ object: String) -> RPCError {
        RPCError(
            .unimplemented, "there is no object \(object.prefix(200)); rpc.discover lists what there is",
            outcome: .notExecuted)
    }

    fileprivate static func tooManyHolds(_ limit: Int) -> RPCError {
        RPCError(.busy, "the session holds \(limit) objects already (maximumHolds)", outcome: .notExecuted)
    }
}
