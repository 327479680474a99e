// What keeps a program from setting up what it needs.

/// An address, a name, a socket or a file that cannot be used, as one line for people.
package struct SetupError: Error, Hashable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
