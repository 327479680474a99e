// What a peer may call here, as one connection last saw it: read by every request, without a lock.

import RPCWire
import Synchronization

/// The methods as one connection last saw them.
struct ExportsView {
    private var version = 0
    private var methods = MethodIndex()

    mutating func method(named name: UnsafeRawBufferPointer, in exports: Exports) -> _ExportedMethod? {
        let latest = exports.version.load(ordering: .acquiring)
        if version != latest {
            version = latest
            methods = exports.methods
        }
        return methods[name]
    }
}
