// The chat that rpc-server hosts: who is in a room, what each member hears, and how a member leaves.

import Protocols
import RPCSockets
import RemoteProxy
import Subjects
import TestSupport
import Testing

/// Notes all that it hears.
private final class AttentiveMember: ChatMember {
    private let notes = Lock<[String]>([])
    /// Its room, if it keeps it.
    let room = Lock<(any ChatRoom)?>(nil)
    /// Hears this and lets go of its room.
    private let farewell: String?

    init(leavingAt farewell: String? = nil) { self.farewell = farewell }

    var heard: [String] { notes.withLock { $0 } }

    func heard(_ text: String, from name: String) {
        notes.withLock { $0.append("\(name): \(text)") }
        if text == farewell { letGo() }
    }
    func joined(_ name: String) { notes.withLock { $0.append("\(name) joined") } }
    func left(_ name: String) { notes.withLock { $0.append("\(name) left") } }

    func enter(_ name: String, of chat: any Chat, as own: String) async throws {
        let entered = try await chat.join(name, as: own, self)
        room.withLock { $0 = entered }
    }

    private func letGo() {
        let room = room.withLock { $0.take() }
        withExtendedLifetime(room) {}
    }
}

/// Hears nothing but texts.
private final class PlainMember: ChatMember {
    let texts = Lock<[String]>([])
    func heard(_ text: String, from name: String) { texts.withLock { $0.append(text) } }
}

@Suite(.waitsForOthers, .hasTime) struct `A chat` {
    private let ann = AttentiveMember()
    private let bob = AttentiveMember()
    private let cid = AttentiveMember()

    /// Runs the body with three clients of one chat.
    private func withClients(over medium: Medium, _ body: ([RPCClient]) async throws -> Void) async throws {
        try await withServer(over: medium, exporting: [ChatProxy(ChatRooms())]) { url in
            let clients = (0..<3).map { _ in RPCClient(url, .patient) }
            try await body(clients)
            for client in clients { await client.close(grace: .seconds(2)) }
        }
    }

    @Test(arguments: Medium.allCases)
    func `tells all members who comes, what is said and who leaves`(over medium: Medium) async throws {
        try await withClients(over: medium) { clients in
            let anns = try await ChatProxy(clients[0]).join("garden", as: "Ann", ann)
            let bobs = try await ChatProxy(clients[1]).join("garden", as: "Bob", bob)
            let cids = try await ChatProxy(clients[2]).join("garden", as: "Cid", cid)
            #expect(try await cids.members() == ["Ann", "Bob", "Cid"])
            try await anns.say("hello")
            try await bobs.say("hi")
            try await anns.leave()
            try await cids.say("so few")
            let end = ["Ann: hello", "Bob: hi", "Ann left", "Cid: so few"]
            await until { cid.heard.count == end.count && bob.heard.count == end.count + 1 && ann.heard.count == 4 }
            #expect(cid.heard == end)
            #expect(bob.heard == ["Cid joined"] + end)
            #expect(ann.heard == ["Bob joined", "Cid joined", "Ann: hello", "Bob: hi"])
            #expect(try await bobs.members() == ["Bob", "Cid"])
            withExtendedLifetime(cids) {}
        }
    }

    @Test(arguments: Medium.allCases)
    func `has a room while it has members, and each name once in a room`(over medium: Medium) async throws {
        try await withClients(over: medium) { clients in
            let (one, two) = (ChatProxy(clients[0]), ChatProxy(clients[1]))
            #expect(try await one.rooms() == [])
            let first = try await one.join("garden", as: "Ann", ann)
            await #expect(throws: ChatFailure.nameTaken("Ann")) { _ = try await two.join("garden", as: "Ann", bob) }
            let other = try await two.join("attic", as: "Ann", bob)
            #expect(try await two.rooms() == ["attic", "garden"])
            try await first.leave()
            #expect(try await one.rooms() == ["attic"])
            let second = try await two.join("garden", as: "Ann", bob)
            // It is another one of that name.
            try await first.leave()
            await #expect(throws: ChatFailure.notInRoom) { try await first.say("still here") }
            await #expect(throws: ChatFailure.notInRoom) { _ = try await first.members() }
            #expect(try await second.members() == ["Ann"])
            #expect(try await other.members() == ["Ann"])
            #expect(ann.heard.isEmpty && bob.heard.isEmpty)
        }
    }

    @Test(arguments: Medium.allCases)
    func `has no member whose session is over`(over medium: Medium) async throws {
        try await withClients(over: medium) { clients in
            let anns = try await ChatProxy(clients[0]).join("garden", as: "Ann", ann)
            let bobs = try await ChatProxy(clients[1]).join("garden", as: "Bob", bob)
            let alone = try await ChatProxy(clients[1]).join("attic", as: "Bob", bob)
            await clients[1].close(grace: .seconds(2))
            await until { ann.heard == ["Bob joined", "Bob left"] }
            #expect(try await anns.members() == ["Ann"])
            try await until { try await ChatProxy(clients[0]).rooms() == ["garden"] }
            let error = await #expect(throws: RPCError.self) { try await bobs.say("hello?") }
            #expect(error?.outcome == .notExecuted)
            let again = try await ChatProxy(clients[2]).join("garden", as: "Bob", cid)
            #expect(try await again.members() == ["Ann", "Bob"])
            withExtendedLifetime((anns, alone)) {}
        }
    }

    @Test(arguments: Medium.allCases)
    func `has no member that has let go of its room`(over medium: Medium) async throws {
        try await withClients(over: medium) { clients in
            let chat = ChatProxy(clients[0])
            do {
                let room = try await chat.join("garden", as: "Ann", ann)
                #expect(try await room.members() == ["Ann"])
            }
            #expect(try await chat.rooms() == [])
            _ = try await chat.join("garden", as: "Ann", ann)
            #expect(try await chat.rooms() == [])
        }
    }

    @Test(arguments: Medium.allCases)
    func `does not keep a member that is passed weakly and keeps its room`(over medium: Medium) async throws {
        try await withClients(over: medium) { clients in
            let anns = try await ChatProxy(clients[0]).join("garden", as: "Ann", ann)
            do {
                let member = AttentiveMember()
                let room = try await ChatProxy(clients[1]).join("garden", as: "Bob", ChatMemberProxy.weak(member))
                member.room.withLock { $0 = room }
                try await anns.say("hello")
                await until { member.heard == ["Ann: hello"] }
            }
            await until { ann.heard == ["Bob joined", "Ann: hello", "Bob left"] }
            #expect(try await anns.members() == ["Ann"])
        }
    }

    @Test(arguments: Medium.allCases)
    func `tells all members the texts in one order, which is the order of each speaker`(over medium: Medium)
        async throws
    {
        try await withClients(over: medium) { clients in
            let members = [ann, bob, cid]
            var rooms: [any ChatRoom] = []
            for (index, client) in clients.enumerated() {
                rooms.append(try await ChatProxy(client).join("garden", as: "\(index)", members[index]))
            }
            let count = 100
            try await withThrowingTaskGroup { group in
                for room in rooms {
                    group.addTask { for number in 0..<count { try await room.say("\(number)") } }
                }
                try await group.waitForAll()
            }
            let heard = { members.map { $0.heard.filter { !$0.hasSuffix("joined") } } }
            await until { heard().allSatisfy { $0.count == members.count * count } }
            let all = heard()
            #expect(all[1] == all[0] && all[2] == all[0])
            for speaker in 0..<members.count {
                #expect(all[0].filter { $0.hasPrefix("\(speaker):") } == (0..<count).map { "\(speaker): \($0)" })
            }
            withExtendedLifetime(rooms) {}
        }
    }

    @Test func `works without a wire, with a member that goes while it is told`() async throws {
        let chat = ChatRooms()
        let (going, plain) = (AttentiveMember(leavingAt: "goodbye"), PlainMember())
        let anns = try await chat.join("garden", as: "Ann", going)
        let bobs = try await chat.join("garden", as: "Bob", plain)
        let cids = try await chat.join("garden", as: "Cid", cid)
        try await going.enter("garden", of: chat, as: "Dan")
        try await anns.say("hello")
        try await bobs.say("goodbye")
        #expect(cid.heard == ["Dan joined", "Ann: hello", "Bob: goodbye", "Dan left"])
        #expect(plain.texts.withLock { $0 } == ["hello", "goodbye"])
        #expect(try await cids.members() == ["Ann", "Bob", "Cid"])
        withExtendedLifetime((anns, bobs)) {}
    }
}
