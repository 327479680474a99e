// Asks the other end whether it has a method: our own kind with `rpc.supports`, others by reading their `rpc.discover`.

import JSONCodec
import RPCSockets
import RPCWire

extension RemoteSubject {
    func supports(_ method: MethodSignature) async throws -> Bool {
        try await peer.supports(method.wireName(on: object))
    }
}

extension Peer {
    fileprivate func supports(_ method: String) async throws -> Bool {
        let connection = connectionNumber
        if let known = state.withLock({ $0.supported.answer(method, over: connection) }) { return known }
        let answer = try await asked(method)
        // Whose answer it is, is certain only if nothing has changed meanwhile.
        if let connection, connection == connectionNumber {
            state.withLock { $0.supported.note(answer, method, over: connection) }
        }
        return answer
    }

    private var connectionNumber: Int? { state.withLock { $0.connection?.number } }

    private func asked(_ method: String) async throws -> Bool {
        do {
            return try await ask(SystemMethod.supports) { output in
                output.append(#"{"method":"#)
                output.append(quoted: method)
                output.append("}")
            }
        } catch let error as RPCError where error.code == .unimplemented {
            return try await listed(method)
        }
    }

    private func listed(_ method: String) async throws -> Bool {
        do {
            let document: MethodList = try await ask(SystemMethod.discover) { $0.append("[]") }
            return document.methods.contains { $0.name == method }
        } catch let error as RPCError where error.code == .unimplemented {
            throw RPCError(
                .unimplemented,
                "the other end cannot say whether it has \(method): it has neither rpc.supports nor rpc.discover; "
                    + "call the method and see",
                outcome: .notExecuted)
        }
    }

    private func ask<Answer: Decodable>(_ question: String, _ params: (JSONOutput) -> Void) async throws -> Answer {
        let call = newCall()
        defer { spareCalls.give(call) }
        MessageEncoder.openRequest(method: question, in: call.message)
        params(call.message)
        switch await perform(call) {
        case .result(let json):
            do {
                return try json.withUnsafeBytes { try decodeJSON(Answer.self, from: $0) }
            } catch {
                throw RPCError(
                    .invalidReply, "the answer to \(question) cannot be understood", outcome: .executed,
                    underlying: error)
            }
        case .failure(let error): throw error.thrown(by: ServiceDescription("rpc"))
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        }
    }
}

/// What is wanted of an OpenRPC document.
private struct MethodList: Decodable {
    struct Entry: Decodable { var name: String }
    var methods: [Entry]
}
