// What a peer may call here, as one connection last saw it: read by every request, without a lock.

import RPCWire
import Synchronization

/// The methods as one connection last saw them.
struct ExportsView {
    private var version = 0
    private var methods = MethodIndex()
    /// Where the method stood that was asked for last: it is asked for again more often than not.
    private var lastPlace = 0

    mutating func method(named name: UnsafeRawBufferPointer, in exports: Exports) -> _ExportedMethod? {
        let latest = exports.version.load(ordering: .acquiring)
        if version != latest {
            version = latest
            methods = exports.methods
        }
        if let again = methods.method(at: lastPlace, named: name) { return again }
        lastPlace = methods.place(of: name)
        return methods.method(at: lastPlace, named: name)
    }
}
