// Asks the other end whether it has a method: a peer that runs this library with `rpc.supports`, other peers by reading their
// `rpc.discover`.

import JSONCodec
import RPCSockets
import RPCWire

extension RemoteSubject: SelectiveSubject {
    func has(_ method: MethodSignature) async throws -> Bool {
        try await SupportsInquiry(requester: peer).supports(method.wireName(on: object))
    }
}

private struct SupportsInquiry {
    let requester: Requester

    func supports(_ method: String) async throws -> Bool {
        let connection = connectionNumber
        if let known = requester.state.withLock({ $0.supported.answer(method, over: connection) }) { return known }
        let answer = try await asked(method)
        // If the connection has changed meanwhile, another server may have answered.
        if let connection, connection == connectionNumber {
            requester.state.withLock { $0.supported.note(answer, method, over: connection) }
        }
        return answer
    }

    private var connectionNumber: Int? { requester.state.withLock { $0.channel?.number } }

    private func asked(_ method: String) async throws -> Bool {
        do {
            return try await ask(SystemMethod.supports) { output in
                output.append(#"{"method":"#)
                output.append(quoted: method)
                output.append("}")
            }
        } catch let error as RPCError where error.code == .noSuchMethod {
            return try await listed(method)
        }
    }

    private func listed(_ method: String) async throws -> Bool {
        do {
            let document: MethodList = try await ask(SystemMethod.discover) { $0.append("[]") }
            return document.methods.contains { $0.name == method }
        } catch let error as RPCError where error.code == .noSuchMethod {
            throw RPCError(
                .noSuchMethod,
                "the other end cannot say whether it has \(method): it has neither rpc.supports nor rpc.discover; "
                    + "call the method and see",
                outcome: .notExecuted)
        }
    }

    private func ask<Answer: Decodable>(_ question: String, _ params: (JSONOutput) -> Void) async throws -> Answer {
        let call = requester.newCall()
        defer { requester.spareCalls.give(call) }
        MessageWriter.openRequest(method: question, in: call.message)
        params(call.message)
        switch await requester.perform(call) {
        case .result(let json):
            do {
                return try json.withUnsafeBytes { try decodeJSON(Answer.self, from: $0) }
            } catch {
                throw RPCError(
                    .invalidReply, "the answer to \(question) cannot be understood", outcome: .executed,
                    underlying: error)
            }
        case .failure(let error): throw error.thrown(by: _ServiceDescription("rpc"))
        case .failed(let failure): throw requester.error(failure)
        }
    }
}

/// The part of an OpenRPC document that is read.
private struct MethodList: Decodable {
    struct Entry: Decodable { var name: String }
    var methods: [Entry]
}

/// What the other end has answered, so that it is asked once for each method. Part of the requester's locked state.
struct SupportedMethods {
    private var connection: Int?
    private var answers: [String: Bool] = [:]

    func answer(_ method: String, over connection: Int?) -> Bool? {
        connection == self.connection ? answers[method] : nil
    }

    /// Notes an answer. Forgets what came over another connection, which may have led to another server.
    mutating func note(_ answer: Bool, _ method: String, over connection: Int?) {
        guard let connection else { return }
        if connection != self.connection {
            self.connection = connection
            answers = [:]
        }
        answers[method] = answer
    }
}
