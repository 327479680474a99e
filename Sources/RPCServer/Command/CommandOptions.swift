// The options of a server's command line: the table from which they are both read and explained.

import JSONCodec
import RPCSockets
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
        .number(
            "--maximum-blocked-threads", "N", least: 0, \.maximumBlockedThreads,
            "threads at a time that are replaced because an object keeps them; 0 none"),
        .switch(
            "--adaptive-spinning",
            "look out for the next message for at least 50 microseconds before sleeping, instead of 25, "
                + "while one comes"
        ) { $0.configuration.adaptiveSpinning = true },
        CommandOption(
            name: "--tokens", argument: "FILE",
            help:
                "let in only who shows a token of this file: a line 'NAME ROLE,ROLE TOKEN' for each, mode 0600 (default: "
                + "the variable \(ServerCommand.tokensVariable), the same text, if there is one)",
            apply: { (value, settings) throws(CommandFault) in settings.tokenFile = value }),
        .seconds("--login-time", \.loginTime, "time to show a token"),
        .seconds("--login-delay", \.loginDelay, "what a wrong token costs"),
        .number("--login-input", "BYTES", \.loginInput, "what may be sent without a token"),
        .number("--login-output", "BYTES", \.loginOutput, "answers that may be had without a token"),
        .number("--maximum-connections", "N", \.maximumConnections, "connections at a time; more are closed"),
        .number(
            "--maximum-connections-per-address", "N", \.maximumConnectionsPerAddress,
            "connections from one address of another machine; more are closed"),
        .seconds("--first-byte-time", \.firstByteTime, "time for the first byte of a connection; 0 for ever"),
        .seconds("--frame-time", \.frameTime, "time from the first byte of a message to its last; 0 for ever"),
        .number("--minimum-rate", "BYTES", \.minimumRate, "bytes of a message that earn it a second more"),
        .seconds("--idle-time", \.idleTime, "time for which a peer may ask nothing; 0 for ever"),
        .seconds(
            "--keepalive-interval", \.keepaliveInterval, "silence after which a peer is asked if it is there; 0 never"),
        .seconds("--keepalive-timeout", \.keepaliveTimeout, "time to answer that"),
        .number(
            "--maximum-requests-in-flight", "N", \.maximumRequestsInFlight,
            "calls of one connection that run at a time; more are refused as busy"),
        .number(
            "--maximum-requests-in-all", "N", \.maximumRequestsInAll,
            "calls of all connections that run at a time; more are refused as busy"),
        .number(
            "--maximum-bytes-in-flight", "BYTES", \.maximumBytesInFlight,
            "arguments of calls of one connection that run at a time; when there are as many, more calls are refused as "
                + "busy"),
        .number("--maximum-bytes-in-all", "BYTES", \.maximumBytesInAll, "the same for all connections together"),
        .seconds(
            "--maximum-wait", \.maximumWait,
            "how long calls of several clients may wait for their turn; then new ones are refused as busy; 0 for ever"),
        .number("--maximum-pings", "N", \.maximumPings, "pings of one peer in ten seconds; then it is disconnected"),
        .number(
            "--maximum-unknown-cancels", "N", \.maximumUnknownCancels,
            "cancellations of no call from one peer in ten seconds; then it is disconnected"),
        .number("--maximum-frame-size", "BYTES", \.maximumFrameSize, "the largest message, either way"),
        .number("--maximum-header-block", "BYTES", \.maximumHeaderBlock, "the headers of one message, all together"),
        .number("--maximum-header-lines", "N", \.maximumHeaderLines, "the headers of one message, counted"),
        .number("--maximum-batch", "N", \.maximumBatch, "members of a batch"),
        .number(
            "--maximum-depth", "N", most: JSONReader.deepestLimit, \.maximumDepth,
            "levels of arrays and objects in each argument of a call"),
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
        .number(
            "--maximum-kept-reply-bytes-in-all", "BYTES", \.maximumKeptReplyBytesInAll,
            "the same for all sessions together"),
        .number("--maximum-holds", "N", \.maximumHolds, "objects that one session may hold; more are refused as busy"),
        .seconds("--grace", \.grace, "time for running calls to finish when the server stops"),
        .number(
            "--maximum-log-lines", "N", \.maximumLogLines, "lines logged in ten seconds; the rest are counted"),
        .switch("--insecure", "allow addresses that other machines can reach, with no tokens to keep strangers out") {
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
