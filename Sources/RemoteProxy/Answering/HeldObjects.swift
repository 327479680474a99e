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
        return switch text {
        case SystemMethod.hold: begin
        case SystemMethod.release: end
        default: view(text)
        }
    }

    // MARK: Beginning and ending

    /// Waits for the hold and gives it its name.
    func hold(_ request: HoldRequest) async throws {
        let path = path(of: request.object, request.name)
        let isFull = try state.withLock { state in
            if state.held[path] != nil { throw RPCError.nameOfHold }
            return state.held.count >= limit
        }
        if isFull {
            CallScope.current?.caller?.overran(.maximumHolds)
            throw RPCError.tooManyHolds(limit)
        }
        watchSession()
        let hold = try await hold(request.object, for: .milliseconds(request.lease))
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

    /// Gives the hold back. Nothing when there is none of that name.
    func release(_ request: ReleaseRequest) {
        let path = path(of: request.object, request.name)
        state.withLock { $0.held.removeValue(forKey: path) }?.hold.release()
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
        let view = _ExportedMethod(
            signature: plain.signature, service: plain.service, supports: plain.supports, object: plain.object
        ) { call in
            try await hold.entered { try await plain.run(call) }
        }
        state.withLock { $0.held[path]?.methods[method] = view }
        return view
    }

    private func path(of object: String, _ name: String) -> String {
        "\(object.prefix { $0 != "[" })[\(name)]"
    }
}
