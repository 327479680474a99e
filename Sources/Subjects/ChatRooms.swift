// A chat whose members are objects of its callers.

package import Protocols
import RemoteProxy
import Synchronization

/// Has a place in a room for each member. The caller of `join` holds the place, and a place that is released is left. So members
/// are out of their rooms when their sessions end, since a session lets go of all its objects then.
package final class ChatRooms: Chat {
    /// What is told to which members.
    fileprivate typealias News = (members: [Member], tell: @Sendable (any ChatMember) -> Void)

    fileprivate struct State {
        /// The members of each room, in the order in which they came.
        var rooms: [String: [Member]] = [:]
        /// What is still to be told, in order.
        var news: [News] = []
        /// Whether a thread is telling the news.
        var isTelling = false
    }

    private let state = Mutex(State())

    /// A chat without rooms.
    package init() {}

    package func rooms() async throws -> [String] { state.withLock { $0.rooms.keys.sorted() } }

    package func join(_ room: String, as name: String, _ member: any ChatMember) async throws -> any ChatRoom {
        let member = Member(member, as: name, in: room)
        try state.withLock { state in try state.add(member) }
        tellNews()
        return Place(of: member, in: self)
    }

    fileprivate func members(beside member: Member) throws -> [String] {
        try state.withLock { state in try state.room(of: member).map(\.name) }
    }

    fileprivate func say(_ text: String, by speaker: Member) throws {
        try state.withLock { state in
            let name = speaker.name
            state.news.append((try state.room(of: speaker), { $0.heard(text, from: name) }))
        }
        tellNews()
    }

    fileprivate func remove(_ member: Member) {
        state.withLock { $0.remove(member) }
        tellNews()
    }

    /// Tells what has happened, outside the lock, because a member may answer with a change. A thread that finds another one
    /// telling leaves its news to that one: two threads could overtake each other.
    private func tellNews() {
        guard state.withLock({ $0.beginsTelling() }) else { return }
        while let news = state.withLock({ $0.takeNews() }) {
            for (members, tell) in news {
                for member in members { tell(member.object) }
            }
        }
    }
}

extension ChatRooms.State {
    /// Whether the calling thread is to tell the news now.
    mutating func beginsTelling() -> Bool {
        defer { isTelling = true }
        return !isTelling
    }

    /// All news since the last time; nil, and telling ends, if there are none.
    mutating func takeNews() -> [ChatRooms.News]? {
        defer { news = [] }
        isTelling = !news.isEmpty
        return isTelling ? news : nil
    }

    mutating func add(_ member: Member) throws {
        let (others, name) = (rooms[member.room, default: []], member.name)
        if others.contains(where: { $0.name == name }) { throw ChatFailure.nameTaken(name) }
        rooms[member.room] = others + [member]
        news.append((others, { $0.joined(name) }))
    }

    mutating func remove(_ member: Member) {
        guard var others = try? room(of: member) else { return }
        others.removeAll { $0 === member }
        rooms[member.room] = others.isEmpty ? nil : others
        let name = member.name
        news.append((others, { $0.left(name) }))
    }

    /// All members of the room in which this one is.
    func room(of member: Member) throws -> [Member] {
        guard let members = rooms[member.room], members.contains(where: { $0 === member }) else {
            throw ChatFailure.notInRoom
        }
        return members
    }
}

/// A member, from its coming to its leaving.
private final class Member: Sendable {
    let object: any ChatMember
    let name: String
    let room: String

    init(_ object: any ChatMember, as name: String, in room: String) {
        (self.object, self.name, self.room) = (object, name, room)
    }
}

/// A member's place. The member leaves the room when the last reference to the place is gone, or before.
private final class Place: ChatRoom {
    private let member: Member
    private let chat: ChatRooms

    init(of member: Member, in chat: ChatRooms) { (self.member, self.chat) = (member, chat) }

    deinit { chat.remove(member) }

    func say(_ text: String) async throws { try chat.say(text, by: member) }
    func members() async throws -> [String] { try chat.members(beside: member) }
    func leave() async throws { chat.remove(member) }
}
