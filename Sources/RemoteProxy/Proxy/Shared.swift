// What is large and held by many, as a method's signature is by its copies and the settings by all connections: one
// reference each, to the same value.

/// A value that many hold and none changes.
package final class Shared<Value: Sendable>: Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
