// Two clients share an object that is there only while somebody uses it, and one has it to itself for a while.

import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy

/// What hangs in the meeting room.
@Service
protocol Whiteboard: Sendable {
    func write(_ line: String) async throws
    @ReadOnly func lines() async throws -> [String]
}

struct SharedWhiteboard: Act {
    let title = "Counted and locked"
    let story = """
        The whiteboard is hung up for the first who comes, and taken down when the last has left.
        One writes at a time, and whoever wants to write several lines in a row can.
        """

    func play(on stage: Stage) async throws {
        let room = MeetingRoom()
        let server = RPCServer()
        server.export(
            WhiteboardProxy.counted {
                room.hangUp()
            } whenLast: { _ in
                room.takeDown()
            }.locked())
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        let (annsClient, bobsClient) = (RPCClient(url), RPCClient(url))
        let (ann, bob) = (WhiteboardProxy(annsClient), WhiteboardProxy(bobsClient))

        try stage.show("before anybody comes", room.takeNews(), expecting: [])
        try await stage.show(#"try await ann.write("Ann: hello")"#) { try await ann.write("Ann: hello") }
        try await stage.show("try await bob.lines()", expecting: ["Ann: hello"]) { try await bob.lines() }
        try stage.show("what happened in the room", room.takeNews(), expecting: ["hung up"])

        try await annAlone(ann, bob, on: stage)

        stage.says("Ann leaves. Bob is still there, and so is the whiteboard:")
        annsClient.close()
        try await stage.show("try await bob.lines().count", expecting: 4) { try await bob.lines().count }
        stage.says("Bob leaves too:")
        bobsClient.close()
        try stage.show("what happened in the room", await room.nextNews(), expecting: "taken down")

        let cem = WhiteboardProxy(RPCClient(url))
        try await stage.show("try await cem.lines()", expecting: []) { try await cem.lines() }
        try stage.show("what happened in the room", await room.nextNews(), expecting: "hung up")
        await server.stop()
    }

    private func annAlone(_ ann: WhiteboardProxy, _ bob: WhiteboardProxy, on stage: Stage) async throws {
        stage.says("Ann takes the pen for two lines. Bob tries to write between them:")
        let bobsLine = try await ann.exclusively(lease: .seconds(4)) {
            try await stage.show(#"try await ann.write("Ann: one")"#) { try await ann.write("Ann: one") }
            try await stage.show(
                #"try await withTimeout(.milliseconds(50)) { try await bob.write("Bob: wait") }"#,
                throwing: .rpc(.deadlineExceeded, nil)
            ) {
                try await withTimeout(.milliseconds(50)) { try await bob.write("Bob: wait") }
            }
            stage.says("Now he takes his time:")
            let bobsLine = Task { try await bob.write("Bob: at last") }
            try await stage.show(#"try await ann.write("Ann: two")"#) { try await ann.write("Ann: two") }
            return bobsLine
        }
        try await stage.show("try await bobsLine.value") { try await bobsLine.value }
        let lines = ["Ann: hello", "Ann: one", "Ann: two", "Bob: at last"]
        try await stage.show("try await bob.lines()", expecting: lines) { try await bob.lines() }
    }
}

/// Where whiteboards are hung up and taken down, and somebody watches.
private final class MeetingRoom: Sendable {
    private let news = AsyncStream.makeStream(of: String.self)
    private let unread = Lock<[String]>([])

    func hangUp() -> any Whiteboard {
        tell("hung up")
        return CleanWhiteboard()
    }

    func takeDown() { tell("taken down") }

    /// What has happened since it was last asked.
    func takeNews() -> [String] {
        unread.withLock { unread in
            defer { unread = [] }
            return unread
        }
    }

    /// The next thing that happens, if it has not been told yet.
    func nextNews() async -> String? {
        while true {
            let first = unread.withLock { unread in unread.isEmpty ? nil : unread.removeFirst() }
            if let first { return first }
            for await _ in news.stream { break }
        }
    }

    private func tell(_ text: String) {
        unread.withLock { $0.append(text) }
        news.continuation.yield(text)
    }
}

private final class CleanWhiteboard: Whiteboard {
    private let text = Lock<[String]>([])

    func write(_ line: String) async throws { text.withLock { $0.append(line) } }
    func lines() async throws -> [String] { text.withLock { $0 } }
}
