// The methods of a peer by the bytes of their wire names: found without a string, and without a hash that guards against
// chosen keys, since what is in the table the owner of the objects has chosen and what is looked up stays outside.

import JSONCodec
import RPCWire

struct MethodIndex: Sendable {
    struct Entry {
        fileprivate let hash: UInt64
        fileprivate let name: Bytes
        let method: _ExportedMethod

        @inline(__always)
        func isNamed(_ bytes: UnsafeRawBufferPointer) -> Bool { MethodIndex.equal(name.memory, bytes) }
    }

    /// A power of two of places, at least half of them free; an entry stands at the first free one after its hash.
    private var places: ContiguousArray<Entry?> = [nil, nil]
    private var count = 0

    subscript(name: UnsafeRawBufferPointer) -> Entry? { places[place(of: name, Self.hash(name))] }

    /// Takes the place of another of the same name.
    mutating func set(_ name: Bytes, _ method: _ExportedMethod) {
        if count * 2 >= places.count { grow() }
        let hash = name.withUnsafeBytes(Self.hash)
        let place = name.withUnsafeBytes { self.place(of: $0, hash) }
        if places[place] == nil { count += 1 }
        places[place] = Entry(hash: hash, name: name, method: method)
    }

    /// Takes out the method of that name, if there is one.
    mutating func remove(_ name: Bytes) {
        let mask = places.count - 1
        var place = name.withUnsafeBytes { self.place(of: $0, Self.hash($0)) }
        if places[place] == nil { return }
        places[place] = nil
        count -= 1
        // The entries up to the next free place may stand there only because this one was in their way.
        while let entry = places[(place + 1) & mask] {
            place = (place + 1) & mask
            places[place] = nil
            places[entry.name.withUnsafeBytes { self.place(of: $0, entry.hash) }] = entry
        }
    }

    /// Where the name stands, or where it would.
    private func place(of name: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while let found = places[place]?.hash, found != hash || places[place]?.isNamed(name) == false {
            place = (place + 1) & mask
        }
        return place
    }

    private mutating func grow() {
        let entries = places.compactMap(\.self)
        places = ContiguousArray(repeating: nil, count: places.count * 2)
        for entry in entries { places[entry.name.withUnsafeBytes { place(of: $0, entry.hash) }] = entry }
    }

    /// Eight bytes at a time; names are short.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: bytes.count)
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
            offset += 8
        }
        if offset > 0, offset < bytes.count {
            // The last eight, some of them once more.
            let last = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
            return finished((hash ^ last) &* 0x9E37_79B9_7F4A_7C15)
        }
        while offset < bytes.count {
            hash = (hash ^ UInt64(bytes[offset])) &* 0x9E37_79B9_7F4A_7C15
            offset += 1
        }
        return finished(hash)
    }

    private static func finished(_ hash: UInt64) -> UInt64 { hash ^ hash >> 29 }

    @inline(__always)
    fileprivate static func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let one = left.baseAddress, let other = right.baseAddress else {
            return left.isEmpty && right.isEmpty
        }
        return equalBytes(
            one.assumingMemoryBound(to: UInt8.self), other.assumingMemoryBound(to: UInt8.self), left.count)
    }
}
