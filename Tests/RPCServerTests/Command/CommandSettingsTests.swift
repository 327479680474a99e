// What each option does, how it may be written, and the exact line that answers each mistake.

import RPCWire
import RemoteProxy
import Testing

@testable import RPCServer

@Suite struct `The command line` {
    struct Reading: Sendable, CustomTestStringConvertible {
        let words: [String]
        let holds: @Sendable (CommandSettings) -> Bool

        init(_ words: String, _ holds: @escaping @Sendable (CommandSettings) -> Bool) {
            self.words = words.split(separator: " ").map(String.init)
            self.holds = holds
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    static let readings = [
        Reading("") { $0.urls == ["tcp://127.0.0.1:7070"] },
        Reading("--listen tcp://[::1]:80") { $0.urls == ["tcp://[::1]:80"] },
        Reading("--listen tcp://localhost:0 --listen unix:///a=b") {
            $0.urls == ["tcp://localhost:0", "unix:///a=b"]
        },
        Reading("--threads 3") { $0.configuration.threads == 3 },
        Reading("--threads 3 --threads 4") { $0.configuration.threads == 4 },
        Reading("--maximum-blocked-threads 3") { $0.configuration.maximumBlockedThreads == 3 },
        Reading("--maximum-blocked-threads 0") { $0.configuration.maximumBlockedThreads == 0 },
        Reading("--maximum-connections 3") { $0.configuration.maximumConnections == 3 },
        Reading("--maximum-requests-in-flight 3") { $0.configuration.maximumRequestsInFlight == 3 },
        Reading("--maximum-frame-size 3") { $0.configuration.maximumFrameSize == 3 },
        Reading("--maximum-header-block 3") { $0.configuration.maximumHeaderBlock == 3 },
        Reading("--maximum-header-lines 3") { $0.configuration.maximumHeaderLines == 3 },
        Reading("--maximum-batch 3") { $0.configuration.maximumBatch == 3 },
        Reading("--maximum-depth 1024") { $0.configuration.maximumDepth == 1_024 },
        Reading("--pause-reading 3") { $0.configuration.pauseReading == 3 },
        Reading("--maximum-queued-output 3") { $0.configuration.maximumQueuedOutput == 3 },
        Reading("--patience 3") { $0.configuration.patience == .seconds(3) },
        Reading("--half-close-grace 4") { $0.configuration.halfCloseGrace == .seconds(4) },
        Reading("--session-grace 1.5") { $0.configuration.sessionGrace == .milliseconds(1_500) },
        Reading("--maximum-sessions 5") { $0.configuration.maximumSessions == 5 },
        Reading("--maximum-kept-replies 6") { $0.configuration.peerSettings.maximumKeptReplies == 6 },
        Reading("--maximum-kept-reply-bytes 7") { $0.configuration.peerSettings.maximumKeptReplyBytes == 7 },
        Reading("--grace 0.25") { $0.configuration.grace == .milliseconds(250) },
        Reading("--grace 0") { $0.configuration.grace == .zero },
        Reading("--login-time 3") { $0.configuration.loginTime == .seconds(3) },
        Reading("--login-delay 3") { $0.configuration.loginDelay == .seconds(3) },
        Reading("--login-input 3") { $0.configuration.loginInput == 3 },
        Reading("--login-output 3") { $0.configuration.loginOutput == 3 },
        Reading("--maximum-connections-per-address 3") { $0.configuration.maximumConnectionsPerAddress == 3 },
        Reading("--first-byte-time 3") { $0.configuration.firstByteTime == .seconds(3) },
        Reading("--frame-time 3") { $0.configuration.frameTime == .seconds(3) },
        Reading("--minimum-rate 3") { $0.configuration.minimumRate == 3 },
        Reading("--idle-time 3") { $0.configuration.idleTime == .seconds(3) },
        Reading("--keepalive-interval 3") { $0.configuration.keepaliveInterval == .seconds(3) },
        Reading("--keepalive-timeout 3") { $0.configuration.keepaliveTimeout == .seconds(3) },
        Reading("--maximum-requests-in-all 3") { $0.configuration.maximumRequestsInAll == 3 },
        Reading("--maximum-bytes-in-flight 3") { $0.configuration.peerSettings.maximumBytesInFlight == 3 },
        Reading("--maximum-bytes-in-all 3") { $0.configuration.maximumBytesInAll == 3 },
        Reading("--maximum-pings 3") { $0.configuration.maximumPings == 3 },
        Reading("--maximum-unknown-cancels 3") { $0.configuration.maximumUnknownCancels == 3 },
        Reading("--adaptive-spinning") { $0.configuration.adaptiveSpinning },
        Reading("--maximum-wait 0.5") { $0.configuration.maximumWait == .milliseconds(500) },
        Reading("--maximum-kept-reply-bytes-in-all 8") { $0.configuration.maximumKeptReplyBytesInAll == 8 },
        Reading("--maximum-holds 9") { $0.configuration.peerSettings.maximumHolds == 9 },
        Reading("--maximum-log-lines 3") { $0.configuration.maximumLogLines == 3 },
        // Read only when there is something to serve.
        Reading("--tokens /no/such/file --help") { $0.tokenFile == "/no/such/file" && $0.configuration.tokens == nil },
        Reading("--insecure") { $0.configuration.allowsOtherMachines },
        Reading("--listen tcp://0.0.0.0:1 --insecure") { $0.openURL == "tcp://0.0.0.0:1" },
        Reading("--quiet") { $0.isQuiet },
        Reading("--help") { $0.wantsHelp },
        Reading("--help --listen tcp://0.0.0.0:1") { $0.wantsHelp },
        Reading("--version") { $0.wantsVersion },
    ]

    @Test(arguments: readings)
    func `every option is read, its value after a blank`(_ reading: Reading) throws {
        #expect(reading.holds(try CommandSettings(reading.words)))
    }

    @Test(arguments: readings)
    func `every option is read, its value after an equals sign`(_ reading: Reading) throws {
        let joined = reading.words.reduce(into: [String]()) { words, word in
            if word.hasPrefix("--") { words.append(word) } else { words[words.count - 1] += "=" + word }
        }
        #expect(reading.holds(try CommandSettings(joined)))
    }

    @Test func `every option of the table is among those tried`() {
        let tried = Set(Self.readings.flatMap(\.words))
        #expect(CommandOption.all.map(\.name).filter { !tried.contains($0) } == [])
    }

    @Test func `every option that limits peers has a counter of its name, and every counter an option`() {
        let names = CommandOption.all.map { option in
            let words = option.name.dropFirst(2).split(separator: "-").map(String.init)
            return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        }
        let others: Set = [
            "listen", "threads", "adaptiveSpinning", "tokens", "loginDelay", "keepaliveInterval", "insecure", "quiet",
            "help", "version",
        ]
        #expect(Set(names).subtracting(others) == Set(Limit.allCases.map(\.rawValue)))
    }

    @Test func `limits that nobody names are the server's own`() throws {
        let (read, usual) = (try CommandSettings([]).configuration, RPCServer.Configuration())
        #expect(read.peerSettings.frames == usual.peerSettings.frames)
        #expect(read.outputLimits == usual.outputLimits)
        #expect(!read.allowsOtherMachines)
    }

    @Test(arguments: [
        (["--bogus"], "there is no option '--bogus'"),
        (["--bogus=1"], "there is no option '--bogus'"),
        (["-x"], "there is no option '-x'"),
        (["--"], "there is no option '--'"),
        (["--listen2", "tcp://127.0.0.1:1"], "there is no option '--listen2'"),
        (["tcp://127.0.0.1:1"], "'tcp://127.0.0.1:1' is not an option"),
        ([""], "'' is not an option"),
        (["=1"], "'=1' is not an option"),
        (["--threads"], "--threads needs a value: --threads N"),
        (["--listen"], "--listen needs a value: --listen URL"),
        (["--threads="], "--threads takes a whole number from 1 to 1024, not ''"),
        (["--threads", "0"], "--threads takes a whole number from 1 to 1024, not '0'"),
        (["--threads", "1025"], "--threads takes a whole number from 1 to 1024, not '1025'"),
        (["--threads", "two"], "--threads takes a whole number from 1 to 1024, not 'two'"),
        (["--maximum-blocked-threads", "-1"], "--maximum-blocked-threads takes a whole number from 0 up, not '-1'"),
        (["--maximum-batch", "-1"], "--maximum-batch takes a whole number from 1 up, not '-1'"),
        (["--maximum-batch", "1.5"], "--maximum-batch takes a whole number from 1 up, not '1.5'"),
        (
            ["--maximum-frame-size", "99999999999999999999"],
            "--maximum-frame-size takes a whole number from 1 up, not '99999999999999999999'"
        ),
        (["--maximum-depth", "1025"], "--maximum-depth takes a whole number from 1 to 1024, not '1025'"),
        (["--grace", "soon"], "--grace takes seconds from 0 to 86400, not 'soon'"),
        (["--grace", "-1"], "--grace takes seconds from 0 to 86400, not '-1'"),
        (["--grace", "nan"], "--grace takes seconds from 0 to 86400, not 'nan'"),
        (["--grace", "inf"], "--grace takes seconds from 0 to 86400, not 'inf'"),
        (["--quiet=yes"], "--quiet takes no value"),
        (["--help="], "--help takes no value"),
        (
            ["--listen", "127.0.0.1:80"],
            "--listen: the address \"127.0.0.1:80\" has no scheme; write for instance tcp://127.0.0.1:80"
        ),
        (
            ["--listen", "tcp://127.0.0.1"],
            "--listen: the address \"tcp://127.0.0.1\" has no port; write for instance tcp://127.0.0.1:7070"
        ),
        (
            ["--listen", "tcp://127.0.0.1:70000"],
            "--listen: the address \"tcp://127.0.0.1:70000\" has the port \"70000\", which is not a number from 0 to "
                + "65535; write for instance tcp://127.0.0.1:7070 or unix:///run/app.sock"
        ),
        (
            ["--listen", "tcp://0.0.0.0:7070"],
            "tcp://0.0.0.0:7070 can be reached from other machines and nothing keeps strangers out; give it --tokens "
                + "FILE, or add --insecure if you mean it"
        ),
        (
            ["--listen", "unix:///a", "--listen", "tcp://example.org:1"],
            "tcp://example.org:1 can be reached from other machines and nothing keeps strangers out; give it "
                + "--tokens FILE, or add --insecure if you mean it"
        ),
        (
            ["--tokens", "/no/such/file"],
            "--tokens: the token file /no/such/file cannot be opened: open: ENOENT (No such file or directory)"
        ),
        (["--a\nb\u{1B}[2J\u{7F}"], "there is no option '--a\\nb\\u{1B}[2J\\u{7F}'"),
    ])
    func `every mistake is answered in one line`(words: [String], line: String) {
        #expect(throws: CommandFault(line)) { try CommandSettings(words) }
    }

    @Test func `the help names every option and fits a window`() {
        let lines = CommandHelp.text(for: "some-server").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "usage: some-server [--listen URL]... [options]")
        for option in CommandOption.all {
            let head = option.argument.map { "  \(option.name) \($0) " } ?? "  \(option.name) "
            #expect(lines.contains { $0.hasPrefix(head) }, "\(option.name)")
        }
        #expect(lines.allSatisfy { $0.count <= 110 && $0.last != " " })
    }
}
