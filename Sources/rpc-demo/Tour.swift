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
        try await findSubjects()
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

    /// Whether the right server is there must be known at once. A client is no help with that: it would go on trying,
    /// which is what clients are for.
    private func findSubjects() async throws {
        let socket = try await LineSocket.connect(to: url)
        defer { socket.close() }
        socket.type(#"{"jsonrpc":"2.0","id":0,"method":"rpc.discover"}"#)
        let methods: String
        do {
            methods = try await socket.answer()
            guard methods.hasPrefix("{") else { throw Difference("it says \(spoken(methods))") }
        } catch {
            throw Difference("what listens at \(url) does not answer JSON-RPC: \(error)")
        }
        if methods.contains("\"code\":\(RPCError.Code.unauthenticated.rawValue)") {
            throw Difference("the server at \(url) wants a token; start rpc-server without tokens for the tour")
        }
        for service in ["Calculator", "Greeter", "Echo", "Counter"] where !methods.contains("\"\(service).") {
            throw Difference("the server at \(url) has no \(service); start rpc-server, which has all that is toured")
        }
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
            PresenterAndView(),
            LoginDelegates(),
            ContentsList(),
            HeavyObject(),
            SharedWhiteboard(),
            SameProtocol(client: client),
            TypedByHand(url: url),
        ]
    }

    /// A tour should not wait half a minute to find that something is broken.
    private var configuration: RPCClient.Configuration {
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(20)
        configuration.connectTimeout = .seconds(10)
        return configuration
    }
}
