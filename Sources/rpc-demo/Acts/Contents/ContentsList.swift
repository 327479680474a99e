// A list that opens at once with what was seen last time, and fetches what is new behind it.

import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy

/// What the server has.
@Service
protocol Contents: Sendable {
    @ReadOnly func chapters() async throws -> [String]
}

struct ContentsList: Act {
    let title = "A list that opens at once"
    let story = """
        The server takes 400 ms to say what there is to read. The plain proxy makes the user wait for it each time. The
        cached one shows what was seen last time, and fetches what is new for the next.
        """

    private let timeout = Duration.milliseconds(1_500)

    func play(on stage: Stage) async throws {
        let shelf = SlowContents(["Of Proxies", "Of Subjects"])
        let server = RPCServer()
        server.export(ContentsProxy(shelf))
        let client = RPCClient(try await server.listen(on: OwnPlace.address()))
        let file = ReplaceableFile(OwnPlace.path())
        defer { file.remove() }
        let screen = ContentsScreen(stage: stage)
        let old = await shelf.chapters

        let plain: any Contents = ContentsProxy(client)
        try await screen.opens("plain proxy", plain, showing: old, after: SlowContents.delay)
        try await screen.opens("plain proxy, again", plain, showing: old, after: SlowContents.delay)

        let cached = launch(client, file)
        try await screen.opens("cached proxy, first launch", cached, showing: old, after: SlowContents.delay)
        try await screen.opens("cached proxy, again", cached, showing: old)

        stage.says("A chapter is added. Who opens the list sees the old one, and then the new one come in:")
        await shelf.add("Of Caches")
        let new = await shelf.chapters
        let updates = try cached.updates(of: ContentsProxy.Methods.chapters)
        try await screen.opens("new at the server", cached, showing: old)
        try stage.show("comes in", await updates.first { $0.value == new }?.value ?? [], expecting: new)
        let again = try cached.updates(of: ContentsProxy.Methods.chapters)
        try await screen.opens("and opened once more", cached, showing: new)
        _ = await again.first { _ in true }
        try await stage.show("await cached.saveCache()", expecting: true) { await cached.saveCache() }

        stage.says("The server goes away. The list opens as before, and says why it is no newer:")
        await server.stop()
        let later = try cached.updates(of: ContentsProxy.Methods.chapters)
        try await screen.opens("server away", cached, showing: new)
        let reason = await later.compactMap(\.failure).first { _ in true }
        try stage.show(
            // A cache that has waited for too long says so, where the machine is so late that nothing else has been heard.
            "no newer, because",
            reason?.code == .unavailable || reason?.code == .deadlineExceeded
                ? "the server is away" : spoken(reason as Any),
            expecting: "the server is away")
        client.close()

        stage.says("The program starts again, and the server is still away:")
        let nextClient = RPCClient("tcp://127.0.0.1:1")
        defer { nextClient.close() }
        try await screen.opens("next launch", launch(nextClient, file), showing: new)
        let nextPlain: any Contents = ContentsProxy(nextClient)
        try await stage.show("try await nextPlain.chapters()", throwing: .rpc(.unavailable, .notExecuted)) {
            try await withTimeout(timeout) { try await nextPlain.chapters() }
        }
        screen.summary()
    }

    private func launch(_ client: RPCClient, _ file: ReplaceableFile) -> ContentsProxy {
        var policy = CachePolicy()
        policy.refreshTimeout = timeout
        return ContentsProxy(client).cached(in: .file(file.path), policy)
    }
}

extension CacheUpdate {
    fileprivate var failure: RPCError? {
        guard case .stale(_, let error) = self else { return nil }
        return error as? RPCError
    }
}

/// What a real server would read from a disk far away.
private actor SlowContents: Contents {
    static let delay = Duration.milliseconds(400)

    var chapters: [String]

    init(_ chapters: [String]) { self.chapters = chapters }

    func add(_ chapter: String) { chapters.append(chapter) }

    func chapters() async throws -> [String] {
        try await Task.sleep(for: Self.delay)
        return chapters
    }
}
