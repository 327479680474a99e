// Where an act finds a place that is nobody else's: for a server that goes away and comes back, since a port that is free
// for a moment may be another server's in the next, and for a file.

import RPCWire

enum OwnPlace {
    static func path() -> String {
        "\(ProcessEnvironment["TMPDIR"] ?? "/tmp")/rpc-demo-\(UInt64.random(in: 0 ... .max))"
    }

    static func address() -> String { "unix://\(path())" }
}
