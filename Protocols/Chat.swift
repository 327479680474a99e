public import RemoteProxy

/// Rooms in which clients talk. A room exists while it has members.
@Service(errors: ChatFailure.self)
public protocol Chat: Sendable {
    /// The names of all rooms, sorted.
    func rooms() async throws -> [String]
    /// Enters a room under a name that no other member of it has; otherwise throws `ChatFailure.nameTaken`. The others are told.
    /// The member is in the room until it leaves, its client lets go of the result, or the session ends. If the member itself keeps
    /// the result, pass `ChatMemberProxy.weak(member)`: otherwise neither ever goes away.
    func join(_ room: String, as name: String, _ member: any ChatMember) async throws -> any ChatRoom
}

/// A room as one of its members has it. After the member has left, all but `leave` throws `ChatFailure.notInRoom`.
@Service(errors: ChatFailure.self)
public protocol ChatRoom: Sendable {
    /// Tells all members, and the speaker too. All hear the texts of a room in the same order.
    func say(_ text: String) async throws
    /// The names of all members, in the order in which they came.
    func members() async throws -> [String]
    /// Leaves the room, and the others are told. Does nothing the second time.
    func leave() async throws
}

/// Someone in a room.
@Service
public protocol ChatMember: Sendable {
    /// A member of the room has spoken.
    func heard(_ text: String, from name: String)
    /// Another member has come.
    func joined(_ name: String)
    /// Another member is not in the room any more.
    func left(_ name: String)
}

/// A member that only listens may leave these out.
extension ChatMember {
    /// Does nothing.
    public func joined(_ name: String) {}
    /// Does nothing.
    public func left(_ name: String) {}
}

/// Why a chat refuses a call.
public enum ChatFailure: Error, Codable, Sendable, Hashable {
    /// Another member of the room has that name.
    case nameTaken(String)
    /// The member has left the room.
    case notInRoom
}
