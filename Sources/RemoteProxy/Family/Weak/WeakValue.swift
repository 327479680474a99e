// A value that is an object, for as long as somebody else keeps the object: what the weak members of the family are made of.

import RPCSockets
import RPCWire

/// `@unchecked Sendable`: nothing changes but the counts of the object, and these are safe from any thread.
package final class WeakValue<Value>: @unchecked Sendable {
    /// What the value consists of. It does not count as a reference to the object: whoever takes it out makes one first.
    private let content: UnsafeMutablePointer<Value>
    private let object: KnownObject

    /// - Parameter object: the instance of a class that the value is, whatever type it is seen as.
    package init(_ value: Value, of object: AnyObject) {
        content = .allocate(capacity: 1)
        content.initialize(to: value)
        self.object = KnownObject(object)
        Unmanaged.passUnretained(object).release()
    }

    /// Nil for a value that is not an instance of a class.
    package convenience init?(_ value: Value) {
        // Asked of 'Any', which knows what is inside.
        guard type(of: value as Any) is AnyClass else { return nil }
        self.init(value, of: value as AnyObject)
    }

    deinit { content.deallocate() }

    /// The value, which is kept from now on. Throws when the object is gone, and does not answer nil: an optional of a type
    /// that only the caller knows costs more than the reference.
    @inline(__always)
    package func value() throws(ObjectIsGone) -> Value {
        guard object.isKept() else { throw ObjectIsGone() }
        return content.move()
    }

    package var isGone: Bool { (try? value()) == nil }
}

/// There is nothing left that is referred to.
package struct ObjectIsGone: Error {}
