// The options of a server's command line: the table from which they are both read and explained.

import JSONCodec
import RPCWire

extension CommandOption {
    static let all: [CommandOption] = [
        CommandOption(
            name: "--listen", argument: "URL",
            help:
                "listen on tcp://HOST:PORT, tcp://[V6]:PORT or unix:///PATH; may be repeated; port 0 takes a free one "
                + "(default \(ServerCommand.defaultURL))",
            apply: addURL),
        .number("--threads", "N", most: 1_024, \.threads, "threads that serve connections"),
        .number("--maximum-connections", "N", \.maximumConnections, "connections at a time; more are closed"),
        .number(
            "--maximum-requests-in-flight", "N", \.maximumRequestsInFlight,
            "calls of one connection that run at a time; more are refused as busy"),
        .number("--maximum-frame-size", "BYTES", \.maximumFrameSize, "the largest message, either way"),
        .number("--maximum-header-block", "BYTES", \.maximumHeaderBlock, "the headers of one message, all together"),
        .number("--maximum-header-lines", "N", \.maximumHeaderLines, "the headers of one message, counted"),
        .number("--maximum-batch", "N", \.maximumBatch, "members of a batch"),
        .number(
            "--maximum-depth", "N", most: JSONReader.deepestLimit, \.maximumDepth,
            "how deep arrays and objects may be nested"),
        .number(
            "--pause-reading", "BYTES", \.pauseReading,
            "output waiting for a peer above which nothing more is read from it"),
        .number(
            "--maximum-queued-output", "BYTES", \.maximumQueuedOutput,
            "output waiting for a peer above which it is disconnected"),
        .seconds("--patience", \.patience, "how long a peer may take none of the output waiting for it"),
        .seconds(
            "--half-close-grace", \.halfCloseGrace,
            "time for the calls of a peer that has closed its sending side"),
        .seconds("--session-grace", \.sessionGrace, "how long what runs for a client outlives its connection"),
        .number(
            "--maximum-sessions", "N", \.maximumSessions,
            "sessions at a time; beyond that the one without a connection for longest is dropped"),
        .number(
            "--maximum-kept-replies", "N", \.maximumKeptReplies,
            "answers of one session that wait to be acknowledged before no call begins"),
        .number("--maximum-kept-reply-bytes", "BYTES", \.maximumKeptReplyBytes, "the same in bytes"),
        .seconds("--grace", \.grace, "time for running calls to finish when the server stops"),
        .switch("--insecure", "allow addresses that other machines can reach, with nothing to keep strangers out") {
            $0.configuration.allowsOtherMachines = true
        },
        .switch("--quiet", "log nothing but the warning of --insecure") { $0.isQuiet = true },
        .switch("--help", "print this and exit") { $0.wantsHelp = true },
        .switch("--version", "print the version and exit") { $0.wantsVersion = true },
    ]

    /// Checked here and not when the server listens: a wrong address is a wrong command line.
    private static let addURL: Apply = { (value, settings) throws(CommandFault) in
        do throws(EndpointError) {
            _ = try Endpoint(value)
        } catch {
            throw CommandFault("--listen: \(error)")
        }
        settings.urls.append(value)
    }
}
