// The methods that one connection called lately, found by comparing bytes. Without it, each request would take the lock of all
// exports and hash the names of its method and its object.

import JSONCodec
import RPCWire
import Synchronization

/// Holds at most four methods. Any change of the exports empties it, and `forgetObjects` when objects by reference may be gone. Its
/// link begins a new one after a silence.
struct MethodCache {
    private struct Entry {
        /// Reused for the next name.
        var name: [UInt8]
        var object: ExportedObject
        var method: ExportedMethod
    }

    private static let capacity = 4

    /// The version of the exports in which the entries were found.
    private var version = 0
    private var entries: ContiguousArray<Entry> = []
    /// The place of the entry that was found last. It is usually asked for again.
    private var last = 0
    /// The place that the next entry takes when the cache is full.
    private var next = 0
    /// Whether an entry is for an object by reference.
    private var hasObjects = false

    @inline(__always)
    mutating func method(named name: UnsafeRawBufferPointer, in exports: Exports) -> (ExportedObject, ExportedMethod)? {
        if version == exports.table.version.load(ordering: .acquiring), last < entries.count,
            isEqual(entries[last].name, name)
        {
            return (entries[last].object, entries[last].method)
        }
        return find(name, in: exports)
    }

    @inline(never)
    private mutating func find(_ name: UnsafeRawBufferPointer, in exports: Exports) -> (ExportedObject, ExportedMethod)?
    {
        let latest = exports.table.version.load(ordering: .acquiring)
        if version != latest { (version, entries, next, hasObjects) = (latest, [], 0, false) }
        if let known = entries.firstIndex(where: { isEqual($0.name, name) }) {
            last = known
            return (entries[known].object, entries[known].method)
        }
        guard let (object, method) = exports.method(named: WireName(name)) else { return nil }
        note(name, object, method)
        return (object, method)
    }

    /// Adds a method of an object by reference, which `find` has not found.
    mutating func add(_ name: UnsafeRawBufferPointer, _ object: ExportedObject, _ method: ExportedMethod) {
        hasObjects = true
        note(name, object, method)
    }

    /// Forgets the objects by reference, before some of them are given back.
    mutating func forgetObjects() {
        if hasObjects { (entries, next, hasObjects) = ([], 0, false) }
    }

    private mutating func note(_ name: UnsafeRawBufferPointer, _ object: ExportedObject, _ method: ExportedMethod) {
        last = next
        if entries.count < Self.capacity {
            entries.append(Entry(name: Array(name), object: object, method: method))
        } else {
            // A peer may call thousands of objects in turn: nothing is allocated for the next one.
            entries[next].name.replaceSubrange(0..., with: name)
            (entries[next].object, entries[next].method) = (object, method)
        }
        next = (next + 1) % Self.capacity
    }

    @inline(__always)
    private func isEqual(_ name: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
        name.withUnsafeBytes { $0.hasEqualBytes(other) }
    }
}
