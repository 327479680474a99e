// The objects that one session holds at this end. Each has a name under which only this session can call it: such a call
// reaches the exported object inside the hold. Holds end with the session at the latest.

import JSONCodec
import RPCSockets
import RPCWire

final class HeldObjects: Sendable {
    /// An export with a hold around every call. The hold is inside `outer` if it was taken under that one. `outer` is a
    /// reference and not a name: names are reused, and could come to form a circle.
    private final class Held: Sendable {
        /// The export's wire name without the method.
        let export: String
        let hold: Hold
        let outer: Held?

        init(_ export: String, _ hold: Hold, inside outer: Held?) {
            (self.export, self.hold, self.outer) = (export, hold, outer)
        }

        /// Runs the body under all these holds, the outermost first.
        func entered<Result>(_ body: () async throws -> Result) async rethrows -> Result {
            var rights: [any Right] = []
            var next: Held? = self
            while let held = next {
                rights.append(held.hold.right)
                next = held.outer
            }
            var scope = CallScope.current ?? CallScope()
            // A request that was made inside a call under the hold has these rights already.
            let known = scope.rights
            scope.rights += rights.reversed().filter { right in
                !known.contains { $0.identity != nil && $0.identity == right.identity }
            }
            return try await scope.entered(body)
        }
    }

    private struct State {
        /// By the wire name without the method: `Ledger[~1]`.
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

    /// The method for a wire name that names no export: a method of a held object, a request for a hold, or nil.
    /// - Parameter params: the arguments of the request.
    func method(named name: Bytes, for params: Bytes?) -> (ExportedObject, ExportedMethod)? {
        guard Self.mayHold(name) else { return nil }
        let text = name.description
        return switch text {
        case SystemMethod.hold: (target(params), begin)
        case SystemMethod.release: (target(params), end)
        default: view(text)
        }
    }

    /// The object that a request for a hold, or for its end, is about: the request keeps its place among the posts to that object.
    private func target(_ params: Bytes?) -> ExportedObject {
        guard let request = params.flatMap({ try? ReleaseRequest(json: $0) }),
            request.object.utf8.count <= String.longestCompared
        else { return .ofProtocol }
        let export = state.withLock { $0.held[request.object]?.export }
        return exports.object(export ?? request.object) ?? .ofProtocol
    }

    // MARK: Beginning and ending

    /// Waits for the hold and enters it under the name that the request has chosen.
    func hold(_ request: HoldRequest) async throws {
        guard request.object.utf8.count <= String.longestCompared else {
            throw Self.noSuchObject("of that name", exports)
        }
        let path = path(of: request.object, request.name)
        let isFull = try state.withLock { state in
            if state.held[path] != nil { throw Self.nameOfHold }
            return state.held.count >= limit
        }
        if isFull {
            CallScope.current?.caller?.overran(.maximumHolds)
            throw Self.tooManyHolds(limit)
        }
        watchSession()
        let object = try await hold(request.object, for: .milliseconds(request.lease))
        let isKept = state.withLock { state in
            // A caller that gives up cancels before it releases the name. After such a release the task is cancelled.
            guard !state.isOver, !Task.isCancelled, state.held.count < limit, state.held[path] == nil else {
                return false
            }
            state.held[path] = object
            return true
        }
        guard isKept else {
            object.hold.release()
            throw RPCError.holdEnded
        }
    }

    /// Gives the hold back. Does nothing if there is none of that name.
    func release(_ request: ReleaseRequest) {
        guard request.object.utf8.count <= String.longestCompared else { return }
        let path = path(of: request.object, request.name)
        state.withLock { $0.held.removeValue(forKey: path) }?.hold.release()
    }

    /// Takes a hold on an export, or another hold on an object that is held already.
    private func hold(_ object: String, for lease: Duration) async throws -> Held {
        let outer = state.withLock { $0.held[object] }
        let export = outer?.export ?? object
        guard let held = exports.object(export) else {
            throw export.contains("[~") ? RPCError.holdEnded : Self.noSuchObject(export, exports)
        }
        guard let outer else { return Held(export, try await held.hold(for: lease), inside: nil) }
        return try await outer.entered { Held(export, try await held.hold(for: lease), inside: outer) }
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

    /// A method of a held object, by its wire name.
    private func view(_ name: String) -> (ExportedObject, ExportedMethod)? {
        guard let end = name.firstRange(of: "].") else { return nil }
        let path = String(name[..<end.lowerBound]) + "]"
        let method = String(name[end.upperBound...])
        guard let held = state.withLock({ $0.held[path] }) else { return (.ofProtocol, .ended(name)) }
        // Looked up each time, because the export may have been taken back.
        guard let (export, plain) = exports.method(named: "\(held.export).\(method)") else { return nil }
        let view = ExportedMethod(
            signature: plain.signature, service: plain.service, endsAfterOneCall: true, isAsyncPost: plain.isAsyncPost
        ) { call in
            try await held.entered { try await plain.run(call) }
        }
        return (export, view)
    }

    private func path(of object: String, _ name: String) -> String {
        "\(object.prefix { $0 != "[" })[\(name)]"
    }
}

extension HeldObjects {
    var begin: ExportedMethod {
        ExportedMethod(SystemMethod.hold, shape: .call) { call in
            let request = try HoldRequest(of: SystemMethod.hold, call.params)
            // The name is kept for as long as the hold, so its length is limited.
            guard request.name.utf8.count <= 64, request.name.hasPrefix("~"), !request.name.contains("]") else {
                throw Self.nameOfHold
            }
            do {
                try await self.hold(request)
            } catch let error as CancellationError {
                // Cancelled while it waited for its turn, so nothing is held.
                throw ChainFailure(error: error, outcome: .notExecuted)
            }
            call.answerNothing()
        }
    }

    var end: ExportedMethod {
        ExportedMethod(SystemMethod.release, shape: .post) { call in
            self.release(try ReleaseRequest(of: SystemMethod.release, call.params))
            call.answerNothing()
        }
    }
}

extension ExportedMethod {
    fileprivate convenience init(
        _ name: String, shape: MethodSignature.Shape,
        answer: @escaping @Sendable (IncomingCall) async throws -> Void
    ) {
        self.init(
            signature: MethodSignature(
                service: "", name: name, parameters: [], result: nil, shape: shape, effect: .changes),
            service: _ServiceDescription(name), run: answer)
    }

    /// Stands for any method of an object that is not held any more.
    static func ended(_ name: String) -> ExportedMethod {
        ExportedMethod(name, shape: .call) { _ in
            let text = "the hold is over, or there never was one: a name that begins with '~' is that of a hold"
            throw RPCError(.holdEnded, text, outcome: .notExecuted)
        }
    }
}

extension HeldObjects {
    /// Whether a name may be one of these objects. Checked without making a string.
    static func mayHold(_ name: Bytes) -> Bool {
        name.withUnsafeBytes { bytes in
            bytes.elementsEqual(SystemMethod.hold.utf8) || bytes.elementsEqual(SystemMethod.release.utf8)
                || zip(bytes, bytes.dropFirst()).contains { $0 == 0x5B && $1 == 0x7E }
        }
    }

    // MARK: errors

    static let nameOfHold = RPCError(
        .invalidArguments,
        "rpc.hold was called with a wrong name; it must begin with '~', have no ']' and at most 64 bytes, and not be in use",
        outcome: .notExecuted)

    static func noSuchObject(_ object: String, _ exports: Exports) -> RPCError {
        RPCError(
            .noSuchObject, "there is no object \(object); \(exports.lack); \(exports.listing)", outcome: .notExecuted)
    }

    static func tooManyHolds(_ limit: Int) -> RPCError {
        RPCError(.busy, "the session holds \(limit) objects already (maximumHolds)", outcome: .notExecuted)
    }
}

extension ExportedMethod {
    /// `rpc.supports`. It is a method like any other, because it may wait for an answer from another server: a gateway passes the
    /// question on to the server behind it. Its argument is `Service.method`, or `Service[name].method`.
    /// - Parameter object: finds an object by reference.
    static func supports(
        in exports: Exports, orOf object: @escaping @Sendable (_ handle: Int64) -> ExportedObject?
    ) -> ExportedMethod {
        let signature = MethodSignature(
            service: "rpc", name: "supports", parameters: [.init("method", "String")], result: "Bool", shape: .call,
            effect: .readOnly)
        let argument = _ArgumentCoding<String>(read: { try $0.next() }, write: { try $1.write($0) })
        return ExportedMethod(
            signature: signature, service: _ServiceDescription(signature.service)
        ) { call in
            let method = try call.arguments(argument, of: signature)
            guard let (object, found) = exports.method(named: method) ?? referred(method, object) else {
                return try call.answer(false, .codable)
            }
            try call.answer(await object.supports(found.signature), .codable)
        }
    }
    private static func referred(
        _ name: String, _ object: (Int64) -> ExportedObject?
    ) -> (ExportedObject, ExportedMethod)? {
        var text = name
        return text.withUTF8 { bytes in
            let name = WireName(UnsafeRawBufferPointer(bytes))
            guard let object = name.handle.flatMap(object), let method = object.index.method(named: name.method) else {
                return nil
            }
            return (object, method)
        }
    }
}
