// The programme: which acts there are, in which order, and what each of them is given.

import Protocols
import RPCServer
import RPCWire
import RemoteProxy
import Subjects

struct Tour {
    let url: String
    /// Whether the server was started for this tour.
    let isOwnServer: Bool

    /// What `rpc-server` hosts too, so that the tour is the same with it.
    static func exportSubjects(to server: RPCServer) {
        server.export(CalculatorProxy(CheckedCalculator()))
        server.export(GreeterProxy(EnglishGreeter()))
        server.export(EchoProxy(PlainEcho()))
        server.export(CounterProxy(SharedCounter()))
    }

    func play(on stage: Stage) async throws {
        // Whether anybody is there is found out at once; a client would go on trying, which is what clients are for.
        try await LineSocket.connect(to: url).close()
        let start = ContinuousClock.now
        stage.opens(at: url, isOwnServer: isOwnServer)

        let client = RPCClient(url, configuration)
        let acts = self.acts(with: client)
        for (index, act) in acts.enumerated() {
            stage.begins(act, number: index + 1, of: acts.count)
            do {
                try await act.play(on: stage)
            } catch {
                throw Difference("act \(index + 1), \(act.title.lowercased()): \(error)")
            }
        }
        client.close()
        stage.closes(after: acts.count, start.duration(to: .now))
    }

    private func acts(with client: RPCClient) -> [any Act] {
        [
            OneCall(client: client),
            OneRecord(client: client),
            TypedError(client: client),
            PostsInOrder(client: client),
            ManyTasks(client: client),
            TimeLimit(client: client),
            Cancellation(client: client),
            ServerRestart(),
            ServerCrash(),
            CallingBack(),
            Gateway(upstream: client),
            WrappedSubject(client: client),
            SameProtocol(client: client),
            TypedByHand(url: url),
        ]
    }

    /// A tour should not wait half a minute to find that something is broken.
    private var configuration: RPCClient.Configuration {
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(5)
        configuration.connectTimeout = .seconds(2)
        return configuration
    }
}
