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
        wrappedSubjectAct, presenterAct, delegatesAct, remoteDelegatesAct,
        handedObjectsAct, progressAct, chatAct,
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
        server.export(TransferProxy(PlainTransfer()))
    }

    /// Checks at once that the right server is there.
    static func findSubjects(on stage: Stage) async throws {
        try await stage.client.connect()
        guard try await CounterProxy(stage.client).supports(.next),
            try await TransferProxy(stage.client).supports(.download)
        else {
            throw Difference("the server at \(stage.endpoint) does not host the sample services")
        }
    }
}
