// The names that belong to the protocol and not to a service: what two ends say to each other besides calls.

/// The protocol's own methods, by their names on the wire.
package enum SystemMethod {
    package static let hello = "rpc.hello"
    package static let authenticate = "rpc.authenticate"
    package static let ping = "rpc.ping"
    package static let discover = "rpc.discover"
    /// Reports how far the sender has come with what the receiver sends.
    package static let received = "rpc.received"
    /// Asks the receiver for such a report. The sender begins no call before it has it.
    package static let report = "rpc.report"
    /// The sender takes no new calls.
    package static let drain = "rpc.drain"
    /// The sender leaves and will not come back.
    package static let goodbye = "rpc.goodbye"
    package static let supports = "rpc.supports"
    package static let hold = "rpc.hold"
    /// Gives objects back: `[[handle, count], …]`.
    package static let release = "rpc.release"
    package static let cancel = "$/cancelRequest"
    /// Calls an object by reference: this, its handle, a slash, and the name of the method. As StreamJsonRpc does.
    package static let invoke = "$/invokeProxy/"
    /// Gives an object back, as StreamJsonRpc does.
    package static let releaseForeign = "$/releaseMarshaledObject"
    /// No name is longer, in bytes.
    fileprivate static let longest = 32
}

extension Request {
    /// The method's name if it is as short as the protocol's own names are; otherwise an empty one, for the reason at
    /// `String.longestCompared`.
    package var shortName: String {
        withExtendedLifetime(self) { methodName.count <= SystemMethod.longest } ? method.description : ""
    }

    @inlinable package var isTransfer: Bool { if case .transfer = mark { true } else { false } }

    /// Whether an end that does not know this message ignores it.
    @inlinable package var isOptional: Bool { withExtendedLifetime(self) { methodName.starts(with: "$/".utf8) } }

    /// Whether the name is one of the protocol's own.
    @inlinable package var isSystem: Bool {
        withExtendedLifetime(self) {
            // Asked for every request that waits, and the first byte of nearly all names tells that they are a service's.
            guard let first = methodName.first, first == UInt8(ascii: "r") || first == UInt8(ascii: "$") else {
                return false
            }
            return isOptional || methodName.starts(with: "rpc.".utf8)
        }
    }
}
