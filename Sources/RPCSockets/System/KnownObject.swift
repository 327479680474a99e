// An object that is known and not kept, which is what a weak reference is.
//
// A `weak` variable moves the counts of its object into a table beside it, for as long as the object lives: reading one takes
// longer, and so does everything else that counts references to the object. This leaves the counts where they are. The price is that
// the memory of an object that is gone, but nothing that it referred to, stays until the last of these is gone.

import CSystem

package struct KnownObject: ~Copyable {
    #if !KNOWN_RUNTIME
        private weak var object: AnyObject?

        package init(_ object: AnyObject) { self.object = object }

        /// Whether the object is there: then with one reference more, which is the caller's.
        package borrowing func isKept() -> Bool {
            guard let object else { return false }
            _ = Unmanaged.passRetained(object)
            return true
        }
    #else
        private let address: UnsafeMutableRawPointer

        package init(_ object: AnyObject) {
            address = Unmanaged.passUnretained(object).toOpaque()
            system_know_object(address)
        }

        deinit { system_forget_object(address) }

        /// Whether the object is there: then with one reference more, which is the caller's.
        package borrowing func isKept() -> Bool { system_keep_object(address) != 0 }
    #endif
}
