// Asks the other end whether it has a method, with `rpc.supports`.

import JSONCodec
import RPCSockets
import RPCWire

extension RemoteSubject: SelectiveSubject {
    func has(_ method: MethodSignature) async throws -> Bool {
        try await requester.supports(method.wireName(on: reference?.name ?? object))
    }
}

extension Requester {
    fileprivate func supports(_ method: String) async throws -> Bool {
        let connection = connectionNumber
        if let known = state.withLock({ $0.supported.answer(method, over: connection) }) { return known }
        let answer = try await asked(method)
        // If the connection has changed meanwhile, another server may have answered.
        if let connection, connection == connectionNumber {
            state.withLock { $0.supported.remember(answer, method, over: connection) }
        }
        return answer
    }

    private var connectionNumber: Int? { state.withLock { $0.route?.number } }

    private func asked(_ method: String) async throws -> Bool {
        let call = newCall()
        call.isAwaited(in: .current, through: self)
        defer { spareCalls.give(call) }
        MessageWriter.openRequest(method: SystemMethod.supports, in: call.message)
        call.message.append(#"{"method":"#)
        call.message.append(quoted: method)
        call.message.append("}")
        switch await perform(call) {
        case .result(let json):
            do {
                return try json.withUnsafeBytes { try decodeJSON(Bool.self, from: $0) }
            } catch {
                throw RPCError(
                    .invalidReply, "the answer to \(SystemMethod.supports) cannot be understood", outcome: .executed,
                    underlying: error)
            }
        case .failure(let failure):
            let error = _ServiceDescription("rpc").error(from: failure)
            guard (error as? RPCError)?.code == .noSuchMethod else { throw error }
            throw RPCError(
                .noSuchMethod,
                "the other end cannot say whether it has \(method), since it has no rpc.supports; call the method and see",
                outcome: .notExecuted)
        case .failed(let failure): throw error(failure)
        }
    }
}

/// What the other end has answered, so that it is asked once for each method. Part of the requester's locked state.
struct SupportedMethods {
    private var connection: Int?
    private var answers: [String: Bool] = [:]

    func answer(_ method: String, over connection: Int?) -> Bool? {
        connection == self.connection ? answers[method] : nil
    }

    /// Notes an answer. Forgets what came over another connection, which may have led to another server.
    mutating func remember(_ answer: Bool, _ method: String, over connection: Int?) {
        guard let connection else { return }
        if connection != self.connection {
            self.connection = connection
            answers = [:]
        }
        answers[method] = answer
    }
}
