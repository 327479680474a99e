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
        let (connection, known) = state.withLock { ($0.route?.number, $0.route == nil ? nil : $0.supported[method]) }
        if let known { return known }
        let answer = try await asked(method)
        state.withLock { state in
            // If the connection has changed meanwhile, another server may have answered.
            if connection != nil, connection == state.route?.number { state.supported[method] = answer }
        }
        return answer
    }

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
