// What a peer may call here, as one connection last saw it: read by every request, without a lock.

import RPCWire
import Synchronization

/// The methods as one connection last saw them.
struct ExportsView {
    private var version = 0
    private var methods = MethodIndex()
    /// What was asked for last: it is asked for again more often than not.
    private var last: MethodIndex.Entry?

    @inline(__always)
    mutating func method(named name: UnsafeRawBufferPointer, in exports: Exports) -> _ExportedMethod? {
        let latest = exports.version.load(ordering: .acquiring)
        if version == latest, last?.isNamed(name) == true { return last?.method }
        return find(name, in: exports, latest)
    }

    @inline(never)
    private mutating func find(
        _ name: UnsafeRawBufferPointer, in exports: Exports, _ latest: Int
    ) -> _ExportedMethod? {
        if version != latest {
            version = latest
            methods = exports.methods
        }
        last = methods[name]
        return last?.method
    }
}
