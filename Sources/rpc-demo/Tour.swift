// The programme: which acts there are, in which order, and which server they need.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

enum Tour {
    /// How many acts are played unless the user asks for others. They tell the story of the library.
    static let firstActs = 8

    static let acts: [Act] = [
        callAct, typedErrorAct, callbackAct, lazyObjectAct, guardedObjectAct, cachedListAct, sharedObjectAct,
        restartAct,
        recordAct, sameProtocolAct, postsAct, manyTasksAct, typedByHandAct, timeLimitAct, cancellationAct, crashAct,
        gatewayAct,
        wrappedSubjectAct, presenterAct, delegatesAct,
    ]

    static var list: String {
        acts.enumerated().map { "\($0 < 9 ? " " : "")\($0 + 1)  \($1.title)" }.joined(separator: "\n")
    }

    /// What `rpc-server` hosts too, so that the tour is the same with it.
    static func exportSubjects(to server: RPCServer) {
        server.export(CalculatorProxy(CheckedCalculator()))
        server.export(GreeterProxy(EnglishGreeter()))
        server.export(EchoProxy(PlainEcho()))
        server.export(CounterProxy(SharedCounter()))
    }

    /// Checks at once that the right server is there. A client cannot do that: it would go on trying to connect.
    static func findSubjects(at url: String) async throws {
        let socket = try await LineSocket.connect(to: url)
        defer { socket.close() }
        socket.type(#"{"jsonrpc":"2.0","id":0,"method":"rpc.discover"}"#)
        let answer = try await socket.answer()
        guard answer.contains("\"Counter.next\"") else {
            throw Difference("the server at \(url) does not host the sample services, or wants a token: \(answer)")
        }
    }
}
