// Where an act finds a place that is nobody else's: for a server that goes away and comes back, since a port that is free
// for a moment may be another server's in the next, and for a file.

import RPCSockets
import RPCWire

enum OwnPlace {
    static func path() -> String {
        "\(ProcessEnvironment["TMPDIR"] ?? "/tmp")/\(name())"
    }

    /// A socket's path may not be long, and a user's own folder for such files may be.
    static func address() -> String { "unix:///tmp/\(name())" }

    private static func name() -> String { "rpc-demo-" + String(UInt64.random(in: 0 ... .max), radix: 36) }
}
