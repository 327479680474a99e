// What is large and held by many, as a method's signature is by its copies and the settings by all connections: one
// reference each, to the same value.

/// A value that many hold and none changes.
final class Shared<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
