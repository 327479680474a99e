// The objects that one message names. The message keeps them until its sender and its receiver need them no more: objects of this
// end, and objects of the other end that a proxy here stands for.

import RPCWire

/// An object that a message names.
enum NamedObject: Sendable {
    /// One of this end. The handle is its number.
    case own(ExportedObject)
    /// One of the other end.
    case theirs(RemoteReference)

    /// As the list of a message has it that this end sends: its own handles are positive, those of the other end negative.
    var listed: Int64 {
        switch self {
        case .own(let object): Int64(object.number)
        case .theirs(let reference): -reference.handle
        }
    }
}

/// The objects of one message, which is being written or has been read.
///
/// `@unchecked Sendable`: belongs to its message, and is touched by the code that has the message.
final class NamedObjects: @unchecked Sendable {
    /// Each object once.
    private(set) var all: [NamedObject] = []
    /// Where the objects of a long list are, by their handles as they are listed. Made when it is needed first: handles mostly come and
    /// are looked for in the order of the list.
    private var places: [Int64: Int] = [:]
    /// The place where the next object is looked for first.
    private var next = 0
    /// Any object outside of this range is a new one.
    private var listedRange: ClosedRange<Int64> = 0...0
    /// A longer list is not looked through.
    private static let longestSearched = 16
    /// The session outside of which the message means nothing, because it names objects of the other end; nil if there is none.
    private(set) var session: SessionObjects?

    /// Whether the message lists objects that were not taken, since there were too many.
    var isIncomplete = false

    /// As they are listed in a message that this end sends.
    var listed: [Int64] { all.map(\.listed) }

    /// The objects of this end.
    var own: some Sequence<ExportedObject> {
        all.lazy.compactMap { if case .own(let object) = $0 { object } else { nil } }
    }

    /// Adds an object that the message names, unless it is there.
    func add(_ object: NamedObject) {
        if case .theirs(let reference) = object { session = reference.session }
        let handle = object.listed
        if listedRange.contains(handle) {
            if place(of: handle) != nil { return }
        } else {
            listedRange = min(listedRange.lowerBound, handle)...max(listedRange.upperBound, handle)
        }
        if !places.isEmpty { places[handle] = all.count }
        all.append(object)
    }

    private func object(_ listed: Int64) -> NamedObject? {
        if next == all.count { next = 0 }
        if next < all.count, all[next].listed == listed {
            defer { next += 1 }
            return all[next]
        }
        return place(of: listed).map { all[$0] }
    }

    private func place(of listed: Int64) -> Int? {
        if all.count <= Self.longestSearched { return all.firstIndex { $0.listed == listed } }
        if places.isEmpty {
            for (place, object) in all.enumerated() { places[object.listed] = place }
        }
        return places[listed]
    }

    /// The object of the other end with that handle; nil if the message does not list it.
    func theirs(_ handle: Int64) -> RemoteReference? {
        // A peer may send `Int64.min`, which has no negative.
        if handle > 0, case .theirs(let reference)? = object(-handle) { reference } else { nil }
    }

    /// The object of this end with that handle; nil if the message does not list it.
    func own(_ handle: Int64) -> ExportedObject? {
        if handle > 0, case .own(let object)? = object(handle) { object } else { nil }
    }
}
