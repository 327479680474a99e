// What each option does, how it may be written, and the exact line that answers each mistake.

import RPCSockets
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
        Reading("") { $0.endpoints == ["tcp://127.0.0.1:7070"] },
        Reading("--listen tcp://[::1]:80") { $0.endpoints == ["tcp://[::1]:80"] },
        Reading("--listen tcp://localhost:0 --listen unix:///a=b") {
            $0.endpoints == ["tcp://localhost:0", "unix:///a=b"]
        },
        Reading("--threads 3") { $0.configuration.threads == 3 },
        Reading("--threads 3 --threads 4") { $0.configuration.threads == 4 },
        Reading("--maximum-connections 3") { $0.configuration.limits.maximumConnections == 3 },
        Reading("--maximum-requests-in-flight 3") { $0.configuration.limits.maximumRequestsInFlight == 3 },
        Reading("--maximum-frame-size 3") { $0.configuration.limits.maximumFrameSize == 3 },
        Reading("--session-grace 1.5") { $0.configuration.limits.sessionGrace == .milliseconds(1_500) },
        Reading("--stop-grace 0.25") { $0.configuration.limits.stopGrace == .milliseconds(250) },
        Reading("--stop-grace 0") { $0.configuration.limits.stopGrace == .zero },
        Reading("--maximum-connections-per-address 3") { $0.configuration.limits.maximumConnectionsPerAddress == 3 },
        Reading("--trace") { $0.configuration.tracesMessages },
        Reading("--idle-time 3") { $0.configuration.limits.idleTime == .seconds(3) },
        Reading("--keepalive-interval 3") { $0.configuration.limits.keepalive.interval == .seconds(3) },
        Reading("--maximum-requests-in-all 3") { $0.configuration.limits.maximumRequestsInAll == 3 },
        Reading("--maximum-bytes-in-flight 3") { $0.configuration.limits.maximumBytesInFlight == 3 },
        Reading("--maximum-bytes-in-all 3") { $0.configuration.limits.maximumBytesInAll == 3 },
        Reading("--maximum-wait 0.5") { $0.configuration.limits.maximumWait == .milliseconds(500) },
        // Read only when there is something to serve.
        Reading("--tokens /no/such/file --help") { $0.tokenFile == "/no/such/file" && $0.configuration.tokens == nil },
        Reading("--tls-certificate c.pem --tls-key k.pem") {
            $0.configuration.tls == TLS(certificate: .files("c.pem", "k.pem"))
        },
        Reading("--tls-self-signed there --tls required") {
            $0.configuration.tls == TLS(certificate: .selfSigned(in: "there"), plaintext: .refused)
        },
        Reading("--tls-self-signed there --tls-client-ca a.pem --tls optional") {
            $0.configuration.tls
                == TLS(certificate: .selfSigned(in: "there"), clients: .signedBy("a.pem"), plaintext: .admitted)
        },
        Reading("--stdio") { $0.usesStandardStreams && $0.endpoints.isEmpty && $0.warning == nil },
        Reading("--insecure") { $0.configuration.allowsOtherMachines },
        Reading("--listen tcp://0.0.0.0:1 --insecure") { $0.warning?.contains("tcp://0.0.0.0:1") == true },
        Reading("--quiet") { $0.isQuiet },
        Reading("--help") { $0.wantsHelp },
        Reading("-h") { $0.wantsHelp },
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
            if word.hasPrefix("-") { words.append(word) } else { words[words.count - 1] += "=" + word }
        }
        #expect(reading.holds(try CommandSettings(joined)))
    }

    @Test func `every option of the table is among those tried`() {
        let tried = Set(Self.readings.flatMap(\.words))
        #expect(CommandOption.all.map(\.name).filter { !tried.contains($0) } == [])
    }

    @Test func `every limit stands once in the table, which tells its own value`() {
        let rows = LimitDescription.all
        #expect(Set(rows.map(\.limit)).count == rows.count)
        let usual = Limits()
        for row in rows {
            var changed = usual
            switch row.value {
            case .count(let member), .bytes(let member): changed[keyPath: member] = 7_919
            case .time(let member): changed[keyPath: member] = .seconds(7_919)
            }
            let words = changed.overrun(of: row.limit)
            #expect(words.hasPrefix("more than 7919") && words.hasSuffix("\(row.what) (\(row.limit))"))
            #expect(words != usual.overrun(of: row.limit))
        }
    }

    @Test func `a limit is the same by its name and among the limits`() {
        var configuration = RPCServer.Configuration()
        configuration.limits.maximumFrameSize = 1_000
        #expect(configuration.limits.maximumFrameSize == 1_000)
        configuration.limits.maximumFrameSize = 2_000
        #expect(configuration.limits.maximumFrameSize == 2_000)
    }

    @Test(arguments: [
        (["--bogus"], "there is no option '--bogus'"),
        (["--thread", "2"], "there is no option '--thread'; the nearest is --threads"),
        (
            ["--maximum-batch", "2"],
            "'--maximum-batch' is no option; a program sets such limits in RPCServer.Configuration"
        ),
        (["--bogus=1"], "there is no option '--bogus'"),
        (["-x"], "there is no option '-x'"),
        (["--"], "there is no option '--'"),
        (["--listen2", "tcp://127.0.0.1:1"], "there is no option '--listen2'; the nearest is --listen"),
        (["tcp://127.0.0.1:1"], "'tcp://127.0.0.1:1' is not an option"),
        ([""], "'' is not an option"),
        (["=1"], "'=1' is not an option"),
        (["--threads"], "--threads needs a value: --threads N"),
        (["--listen"], "--listen needs a value: --listen URL"),
        (["--threads="], "--threads takes a whole number from 1 to 1024, not ''"),
        (["--threads", "0"], "--threads takes a whole number from 1 to 1024, not '0'"),
        (["--threads", "1025"], "--threads takes a whole number from 1 to 1024, not '1025'"),
        (["--threads", "two"], "--threads takes a whole number from 1 to 1024, not 'two'"),
        (["--maximum-connections", "-1"], "--maximum-connections takes a whole number from 1 up, not '-1'"),
        (["--maximum-wait", "x"], "--maximum-wait takes seconds from 0 to 86400, not 'x'"),
        (["--maximum-connections", "1.5"], "--maximum-connections takes a whole number from 1 up, not '1.5'"),
        (
            ["--maximum-frame-size", "99999999999999999999"],
            "--maximum-frame-size takes a whole number from 1 up, not '99999999999999999999'"
        ),
        (["--stop-grace", "soon"], "--stop-grace takes seconds from 0 to 86400, not 'soon'"),
        (["--stop-grace", "-1"], "--stop-grace takes seconds from 0 to 86400, not '-1'"),
        (["--stop-grace", "nan"], "--stop-grace takes seconds from 0 to 86400, not 'nan'"),
        (["--stop-grace", "inf"], "--stop-grace takes seconds from 0 to 86400, not 'inf'"),
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
            "tcp://0.0.0.0:7070 can be reached from other machines, and nothing keeps strangers out: give it a certificate "
                + "(--tls-certificate FILE --tls-key FILE, or --tls-self-signed FOLDER) and tokens (--tokens FILE), listen on "
                + "loopback, or set allowsOtherMachines (--insecure) if you mean it"
        ),
        (
            ["--listen", "unix:///a", "--listen", "tcp://example.org:1"],
            "tcp://example.org:1 can be reached from other machines, and nothing keeps strangers out: give it a certificate "
                + "(--tls-certificate FILE --tls-key FILE, or --tls-self-signed FOLDER) and tokens (--tokens FILE), listen on "
                + "loopback, or set allowsOtherMachines (--insecure) if you mean it"
        ),
        (
            ["--tokens", "/no/such/file"],
            "--tokens: the token file /no/such/file cannot be opened: open: ENOENT (No such file or directory)"
        ),
        (["--a\nb\u{1B}[2J\u{7F}"], "there is no option '--a\\nb\\u{1B}[2J\\u{7F}'"),
    ])
    func `every mistake is answered in one line`(words: [String], line: String) {
        let error = #expect(throws: SetupError.self) { try CommandSettings(words) }
        #expect(error?.description.onOneLine == line)
    }

    // MARK: the program's own

    private static let own: [CommandOption] = [
        .init("--database", "FILE", sets: .own, "where the books are"),
        .init("--read-only", sets: .own, "writes nothing"),
    ]

    @Test func `options of the program's own are read like others`() throws {
        let words = ["--database", "a", "--read-only", "--threads", "2", "--database=b=--c"]
        let settings = try CommandSettings(words, own: Self.own)
        #expect(settings.own == ["--database": "b=--c", "--read-only": ""] && settings.configuration.threads == 2)
        #expect(try CommandSettings([], own: Self.own).own.isEmpty)
    }

    @Test(arguments: [
        (["--database"], "--database needs a value: --database FILE"),
        (["--database", "--read-only"], "--database needs a value: --database FILE"),
        (["--read-only=yes"], "--read-only takes no value"),
        (["--data"], "there is no option '--data'; the nearest is --database"),
    ])
    func `mistakes with options of the program's own are answered as others are`(words: [String], line: String) {
        let error = #expect(throws: SetupError.self) { try CommandSettings(words, own: Self.own) }
        #expect(error?.description == line)
    }

    @Test(arguments: [
        (["--listen"], "this program has an option --listen, but there is one of that name already; give it another"),
        (["--a", "--a"], "this program has an option --a, but there is one of that name already; give it another"),
        (["-d"], "this program has an option '-d'; a name begins with '--' and has no '=' and no blank"),
        (["--a=b"], "this program has an option '--a=b'; a name begins with '--' and has no '=' and no blank"),
    ])
    func `an option of the program's own that cannot be told from others is refused`(names: [String], line: String) {
        let own = names.map { CommandOption($0, "X", sets: .own, "") }
        let error = #expect(throws: SetupError.self) { try CommandSettings([], own: own) }
        #expect(error?.description == line)
    }

    @Test func `the help shows the options of the program's own in a group of their own`() {
        let help = CommandHelp.text(for: "some-server", Self.own)
        let group = "Of this program:\n  --database FILE "
        #expect(help.contains(group) && help.contains("\n  --read-only ") && help.contains("where the books are\n"))
        #expect(!CommandHelp.text(for: "some-server").contains("Of this program"))
    }

    @Test func `what stands in the command line counts more than what the program sets`() throws {
        var base = RPCServer.Configuration()
        base.programName = "some-server"
        let words = ["--threads", "3", "--stop-grace", "7"]
        let settings = try CommandSettings(words, over: base) { configuration in
            #expect(configuration.programName == "some-server" && configuration.threads == 1)
            (configuration.threads, configuration.limits.stopGrace, configuration.timeout) = (
                9, .seconds(9), .seconds(4)
            )
            configuration.limits.maximumRequestsInFlight = 9
        }
        let configuration = settings.configuration
        #expect(configuration.threads == 3 && configuration.limits.stopGrace == .seconds(7))
        #expect(configuration.timeout == .seconds(4) && configuration.limits.maximumRequestsInFlight == 9)
    }

    @Test func `the program may open an address or bring tokens, and is asked for neither with the help`() throws {
        struct Never: Error {}
        let open = ["--listen", "tcp://0.0.0.0:1"]
        #expect(throws: SetupError.self) { try CommandSettings(open) }
        #expect(try CommandSettings(open) { $0.allowsOtherMachines = true }.configuration.allowsOtherMachines)
        let tokens = try TokenList(parsing: "ann teller 0123456789abcdef0123456789abcdef")
        let safe = try CommandSettings(open) { ($0.tokens, $0.tls) = (tokens, TLS(certificate: .selfSigned(in: "x"))) }
        #expect(safe.configuration.tokens != nil && safe.warning == nil)
        #expect(throws: SetupError.self) { try CommandSettings(open) { $0.tokens = tokens } }
        #expect(throws: Never.self) { try CommandSettings([]) { _ in throw Never() } }
        for word in ["--help", "--version"] { _ = try CommandSettings([word]) { _ in throw Never() } }
    }

    @Test func `standard streams take the place of addresses, and a program to be started is none`() throws {
        #expect(try !CommandSettings([]).usesStandardStreams)
        #expect(throws: SetupError("--stdio and --listen exclude each other")) {
            try CommandSettings(["--stdio", "--listen", "tcp://127.0.0.1:0"])
        }
        #expect(throws: SetupError.self) { try CommandSettings(["--listen", "exec:///bin/cat"]) }
    }

    @Test func `the help names every option and fits a window`() {
        let lines = CommandHelp.text(for: "some-server").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "usage: some-server [--listen URL]... [options]")
        for option in CommandOption.all {
            let head = option.argument.map { "  \(option.name) \($0) " } ?? "  \(option.name) "
            #expect(lines.contains { $0.hasPrefix(head) }, "\(option.name)")
        }
        #expect(lines.allSatisfy { $0.count <= 110 && $0.last != " " })
        #expect(CommandOption.all.count <= 26 && lines.count <= 60)
    }
}
