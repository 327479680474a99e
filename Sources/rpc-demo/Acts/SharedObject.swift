// Two clients share an object that exists only while it is used. One of them locks it for a while.

import RPCServer
import RemoteProxy
import Synchronization

/// A whiteboard in a meeting room.
@Service
protocol Whiteboard: Sendable {
    func write(_ line: String) async throws
    @ReadOnly func lines() async throws -> [String]
}

/// Where the whiteboard hangs.
@Service
protocol MeetingRoom: Sendable {
    func whiteboard() async throws -> any Whiteboard
}

let sharedObjectAct = Act(
    "Counted and locked",
    """
    The whiteboard is hung up for the first guest, and taken down when the last has left.
    One guest writes at a time, and may keep the pen for several lines in a row.
    """
) { stage in
    let (events, happened) = AsyncStream.makeStream(of: String.self)
    let board = WhiteboardProxy.counted {
        happened.yield("hung up")
        return CleanWhiteboard()
    } whenLast: { _ in
        happened.yield("taken down")
    }
    let room = MeetingRoomProxy(LargeMeetingRoom(board: board.locked()))
    try await stage.withServer(room) { _, endpoint, client in
        let bobsClient = RPCClient(endpoint)
        let ann = WhiteboardProxy(try await MeetingRoomProxy(client).whiteboard())
        let bob = WhiteboardProxy(try await MeetingRoomProxy(bobsClient).whiteboard())
        try await stage.show(#"try await ann.write("Ann: hello")"#) { try await ann.write("Ann: hello") }
        try await stage.show("try await bob.lines()", expecting: ["Ann: hello"]) { try await bob.lines() }
        try stage.show("what happened in the room", await events.first { _ in true }, expecting: "hung up")

        stage.says("Ann takes the pen for two lines. Bob tries to write between them:")
        try await ann.exclusively(lease: .seconds(4)) {
            try await stage.show(#"try await ann.write("Ann: one")"#) { try await ann.write("Ann: one") }
            try await stage.show(
                #"try await withCallTimeout(.milliseconds(50)) { try await bob.write("Bob: wait") }"#,
                throwing: rpc(.deadlineExceeded, nil)
            ) {
                try await withCallTimeout(.milliseconds(50)) { try await bob.write("Bob: wait") }
            }
            try await stage.show(#"try await ann.write("Ann: two")"#) { try await ann.write("Ann: two") }
        }
        stage.says("Ann leaves. Bob is still there, and so is the whiteboard:")
        client.close()
        let lines = ["Ann: hello", "Ann: one", "Ann: two"]
        try await stage.show("try await bob.lines()", expecting: lines) { try await bob.lines() }
        stage.says("Bob leaves too:")
        bobsClient.close()
        try stage.show("what happened in the room", await events.first { _ in true }, expecting: "taken down")
    }
}

private struct LargeMeetingRoom: MeetingRoom {
    let board: WhiteboardProxy

    func whiteboard() async throws -> any Whiteboard { board }
}

private final class CleanWhiteboard: Whiteboard {
    private let text = Mutex<[String]>([])

    func write(_ line: String) async throws { text.withLock { $0.append(line) } }
    func lines() async throws -> [String] { text.withLock { $0 } }
}
