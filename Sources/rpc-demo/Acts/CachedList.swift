// A list that opens at once with its last contents, and fetches the new ones in the background.

import RPCServer
import RPCSockets
import RemoteProxy

/// The chapters that the server has.
@Service
protocol Contents: Sendable {
    @ReadOnly func chapters() async throws -> [String]
}

let cachedListAct = Act(
    "A list that opens at once",
    """
    The server takes 300 ms to list its chapters. With the plain proxy the user waits each time.
    The cached proxy shows the list of last time at once, and fetches the new one in the background.
    """
) { stage in
    let shelf = SlowContents()
    let file = ReplaceableFile(Stage.ownPath(in: ProcessEnvironment["TMPDIR"] ?? "/tmp"))
    defer { file.remove() }
    let old = await shelf.chapters
    let new = old + ["Of Caches"]
    try await stage.withServer(ContentsProxy(shelf), at: Stage.ownPlace()) { server, _, client in
        try await stage.open("plain proxy", ContentsProxy(client), showing: old, atOnce: false)
        let (cached, cache) = launch(client, file)
        try await stage.open("cached proxy, first launch", cached, showing: old, atOnce: false)
        try await stage.open("cached proxy, again", cached, showing: old)

        stage.says("A chapter is added. The user sees the old list at once, and then the new one arrive:")
        await shelf.add("Of Caches")
        let updates = try cache.updates(of: ContentsProxy.Methods.chapters)
        try await stage.open("new at the server", cached, showing: old)
        try stage.show("arrives", await updates.first { $0.value == new }?.value ?? [], expecting: new)
        try await stage.show("await cache.save()", expecting: true) { await cache.save() }

        stage.says("The server goes away. The list opens as before, and says why it is no newer:")
        await server.stop()
        let later = try cache.updates(of: ContentsProxy.Methods.chapters)
        try await stage.open("server away", cached, showing: new)
        let reason = await later.compactMap(\.failure).first { _ in true }
        // On a busy machine the deadline may come before the connection is refused.
        let isAway = reason?.code == .unavailable || reason?.code == .deadlineExceeded
        try stage.show("no newer, because", isAway ? "the server is away" : nil, expecting: "the server is away")
    }

    stage.says("The program starts again, and the server is still away:")
    let client = Stage.client(of: "tcp://127.0.0.1:1")
    defer { client.close() }
    try await stage.open("next launch", launch(client, file).contents, showing: new)
}

extension Stage {
    /// Opens the list and shows how long the user waited. The list must be there at once, unless `atOnce` is false.
    fileprivate func open(
        _ occasion: String, _ contents: any Contents, showing expected: [String], atOnce: Bool = true
    ) async throws {
        let start = ContinuousClock.now
        let chapters = try await contents.chapters()
        let wait = start.duration(to: .now)
        try show("\(occasion), after \(wait.text)", chapters, expecting: expected)
        // At once means before the server could have answered, even on a busy machine.
        guard atOnce ? wait < SlowContents.delay * 0.9 : wait >= SlowContents.delay else {
            throw Difference("\(occasion): the user waited \(wait.text)")
        }
    }
}

private func launch(_ client: RPCClient, _ file: ReplaceableFile) -> (contents: ContentsProxy, cache: Cache) {
    let cache = Cache.file(file.path)
    var policy = CachePolicy()
    policy.refreshTimeout = .seconds(1)
    return (ContentsProxy(client).cached(in: cache, policy), cache)
}

extension CacheUpdate {
    fileprivate var failure: RPCError? {
        guard case .stale(_, let error) = self else { return nil }
        return error as? RPCError
    }
}

/// A slow server, as if it read from a distant disk.
private actor SlowContents: Contents {
    static let delay = Duration.milliseconds(300)

    private(set) var chapters = ["Of Proxies", "Of Subjects"]

    func add(_ chapter: String) { chapters.append(chapter) }

    func chapters() async throws -> [String] {
        try await Task.sleep(for: Self.delay)
        return chapters
    }
}
