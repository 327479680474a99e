// How a client reaches a server that has no address. The module that knows such a way adds a function to `Transport`.

import RPCSockets

/// A way to reach a server that has no address: `RPCClient(.inProcess(server))`. An ``Endpoint`` is the way to any other.
///
/// A client on a transport is like one on an endpoint: the same calls, limits, errors and sessions.
public struct Transport: Sendable {
    /// Makes the dialer of one client.
    let dialer: @Sendable (RPCClient.Configuration) -> Dialer

    /// A way that this dialer goes.
    /// - Parameter dialer: called once for each client, with its configuration.
    package init(_ dialer: @escaping @Sendable (RPCClient.Configuration) -> Dialer) { self.dialer = dialer }
}

// MARK: child processes

extension Transport {
    /// A server that the client starts as a child process, and speaks with over the child's standard input and output.
    ///
    /// ```swift
    /// let client = RPCClient(.process("ssh", ["build7", "greeter", "--stdio"]))
    /// let greeter = GreeterProxy(client)
    /// ```
    ///
    /// The first call starts the program. When it has ended, the next call starts it again, with the pauses of a lost connection. No
    /// call is needed if calls or posts are pending then, if the client exports objects, if its ``RPCClient/states`` are being read,
    /// or if the program was the way to a session that goes on, as with `attach`. A session of its own has ended with it. Errors say how it has ended: with which exit status, or by which signal.
    /// A program that cannot be started is a server that cannot be reached: calls that were not sent end with `.unavailable`.
    ///
    /// Standard input and output of the program are one socket. It inherits nothing else that this process has open, no signal
    /// that is ignored or blocked here, and leads a process group of its own. When the client is closed or released, its input
    /// ends. A program that has not ended after ``RPCClient/Configuration/postGrace`` gets SIGTERM with its group, and a second
    /// later SIGKILL. What it leaves in its group when it ends gets SIGTERM. When this process ends, also by a signal, the
    /// program's input ends. ``RPCClient/pause()`` ends the program too.
    ///
    /// Set ``RPCClient/Configuration/peer`` for a program that is not made with this library. On systems where programs may not
    /// start others, such as iOS, no call succeeds.
    /// - Parameters:
    ///   - program: a path, or a name without a slash, which is looked up in the `PATH` of this process.
    ///   - arguments: what follows the name in the command line.
    ///   - directory: where the program runs; nil is where this process does.
    ///   - environment: what differs from the environment of this process. Nil removes a variable.
    ///   - standardError: where the program's standard error goes.
    public static func process(
        _ program: String, _ arguments: [String] = [], directory: String? = nil, environment: [String: String?] = [:],
        standardError: StandardError = .log
    ) -> Transport {
        let output: ProgramLaunch.ErrorOutput =
            switch standardError {
            case .log: .log
            case .inherited: .inherited
            case .discarded: .discarded
            }
        let launch = ProgramLaunch(
            program, arguments, directory: directory, environment: environment, errorOutput: output)
        return Transport { .process(launch, $0) }
    }

    /// Where the standard error of a child process goes. There may be more places later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum StandardError: Sendable, Hashable {
        /// Each line becomes a record of the level `.notice` in ``RPCClient/Configuration/log``, within the limits of that log. The
        /// last line is quoted when the program has ended.
        case log
        /// To the standard error of this process.
        case inherited
        /// Nowhere.
        case discarded
    }
}
