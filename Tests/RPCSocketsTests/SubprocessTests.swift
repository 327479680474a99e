// Child processes as channels of bytes: what they inherit, what is told of their end, and that they end.

import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct `A child process` {
    /// A started child, and what it has said.
    private struct Child {
        let channel: SubprocessChannel
        let receiver: RecordingReceiver
        let lines: Lock<[String]>

        init(_ launch: ProgramLaunch, on loop: EventLoop, grace: Duration = .seconds(3_600)) async throws {
            let lines = Lock<[String]>([])
            self.lines = lines
            channel = try await withCheckedThrowingContinuation { continuation in
                _ = SubprocessChannel.start(
                    launch, on: loop, grace: grace, limits: OutputLimits(),
                    line: { line in lines.withLock { $0.append(line) } }
                ) { continuation.resume(with: $0) }
            }
            receiver = RecordingReceiver(on: loop)
            channel.open(receiver)
        }

        /// Whether the system still knows the child, be it as a zombie.
        var isKnown: Bool { kill(channel.identifier, 0) == 0 }
    }

    private static func shell(_ script: String, _ errors: ProgramLaunch.ErrorOutput = .log) -> ProgramLaunch {
        ProgramLaunch("sh", ["-c", script], errorOutput: errors)
    }

    @Test func `speaks over its standard streams, and ends with its input`() async throws {
        try await withLoop { loop in
            let child = try await Child(ProgramLaunch("cat"), on: loop)
            #expect(child.channel.remoteAddress == "cat")
            child.channel.send("and back")
            try await child.receiver.wait { $0.bytes.count == 9 }
            #expect(child.receiver.text == "and back\n")
            child.channel.close()
            #expect(try await child.receiver.waitForEnd() == .local)
            #expect(!child.isKnown)
        }
    }

    @Test(arguments: [
        (
            "echo almost >&2; echo last words >&2; exit 3",
            "ended with exit status 3; its last line on standard error: last words"
        ),
        ("kill -9 $$", "ended by signal 9"),
        ("exit 0", "ended with exit status 0"),
        // A descendant has the socket too, and ignores the end of its input.
        ("sleep 86400 & exit 4", "ended with exit status 4"),
    ])
    func `says how it has ended, and is gone`(script: String, how: String) async throws {
        try await withLoop { loop in
            let child = try await Child(Self.shell(script), on: loop)
            let why = "the child process sh (pid \(child.channel.identifier)) \(how)"
            #expect(try await child.receiver.waitForEnd() == .failed(why))
            #expect(!child.isKnown)
        }
    }

    @Test func `that closes its output is ended, and the end says so`() async throws {
        try await withLoop { loop in
            let child = try await Child(
                Self.shell("exec 0<&- 1>&-; exec sleep 86400", .discarded), on: loop, grace: .milliseconds(1))
            // SIGTERM may come before the channel has waited long enough.
            let end = "\(try await child.receiver.waitForEnd())"
            #expect(end.contains("has closed its standard output") || end.contains("ended by signal 15"))
            await until { !child.isKnown }
        }
    }

    @Test func `that heeds neither the end of its input nor SIGTERM is killed`() async throws {
        try await withLoop { loop in
            let script = #"trap "" TERM; echo ready; while :; do sleep 86400; done"#
            let child = try await Child(Self.shell(script), on: loop, grace: .zero)
            try await child.receiver.wait { $0.bytes.count == 6 }
            child.channel.abort()
            _ = try await child.receiver.waitForEnd()
            await until { !child.isKnown }
        }
    }

    @Test func `inherits three descriptors, no blocked and no ignored signal, and leads a group`() async throws {
        ProcessSignal.ignoreBrokenPipes()
        // One that is not closed on exec.
        let leak = dup(0)
        defer { close(leak) }
        try await withLoop { loop in
            let script = """
                for file in /proc/$$/fd/*; do [ -e $file ] && echo ${file##*/}; done
                grep -E '^Sig(Blk|Ign)' /proc/$$/status | tr '\\t' ' '
                read -r pid name state parent group rest </proc/$$/stat; [ $group = $$ ] && echo leads
                """
            let child = try await Child(Self.shell(script), on: loop)
            _ = try await child.receiver.waitForEnd()
            let lines = child.receiver.text.split(separator: "\n").map(String.init)
            #expect(lines.prefix(3) == ["0", "1", "2"] && lines.last == "leads" && lines.count == 6)
            // The C library has the first two numbers beyond 31 to itself.
            let signals = lines.dropFirst(3).prefix(2).map { UInt64($0.suffix(16), radix: 16).map { $0 & 0x7FFF_FFFF } }
            #expect(signals == [0, 0])
        }
    }

    @Test func `runs in its directory, with its variables and without those that are taken away`() async throws {
        try await withLoop { loop in
            var launch = Self.shell(#"pwd; echo "$ADDED ${HOME-none} ${PATH:+path}""#)
            launch.directory = "/usr"
            launch.environment = ["ADDED": "a=b c", "HOME": nil]
            let child = try await Child(launch, on: loop)
            _ = try await child.receiver.waitForEnd()
            #expect(child.receiver.text == "/usr\na=b c none path\n")
        }
    }

    @Test(arguments: [
        (ProgramLaunch("no-such-program"), "cannot start no-such-program: posix_spawn: ENOENT"),
        (ProgramLaunch("/etc/passwd"), "cannot start /etc/passwd: posix_spawn: EACCES"),
        (ProgramLaunch("cat", directory: "/none"), "cannot start cat in the directory /none: posix_spawn: ENOENT"),
        (ProgramLaunch("cat", ["a\0b"]), "cannot start cat: posix_spawn: EINVAL"),
    ])
    func `that cannot be started is a lasting fault with its name`(launch: ProgramLaunch, why: String) async throws {
        try await withLoop { loop in
            do {
                _ = try await Child(launch, on: loop)
                Issue.record("it was started")
            } catch let error as SetupError {
                #expect(error.isLasting && error.description.hasPrefix(why), "\(error)")
            }
        }
    }

    @Test func `that starts after the attempt was given up is ended`() async throws {
        try await withLoop { loop in
            let folder = TemporaryFolder()
            let path = "\(folder.path)/ends"
            #expect(mkfifo(path, 0o600) == 0)
            // The pipe ends with the last process that has it open.
            let launch = Self.shell("exec cat 3>\(path)", .discarded)
            loop.submit {
                let giveUp = SubprocessChannel.start(
                    launch, on: loop, grace: .seconds(3_600), limits: OutputLimits(), line: { _ in },
                    completion: { _ in Issue.record("told of what was given up") })
                giveUp()
            }
            let hasEnded = await blocking {
                let reader = try FileDescriptor(SystemCall.make("open") { opened(path) })
                return try reader.readToEnd(atMost: 1).isEmpty
            }
            let isOver = try hasEnded.get()
            #expect(isOver)
        }
    }

    @Test func `has its standard error handed over line by line, the last one too`() async throws {
        try await withLoop { loop in
            let child = try await Child(Self.shell(#"printf 'one\r\n\ntwo\nrest' >&2"#), on: loop)
            let end = try await child.receiver.waitForEnd()
            #expect(child.lines.withLock { $0 } == ["one", "two", "rest"])
            #expect("\(end)".contains("its last line on standard error: rest"))
        }
    }

    @Test func `keeps no more of a line than a log may have`() {
        var cutter = LineCutter()
        var lines: [String] = []
        for _ in 0..<100 { cutter.append([UInt8](repeating: UInt8(ascii: "x"), count: 1_000)) { lines.append($0) } }
        cutter.append("\nshort\n".utf8) { lines.append($0) }
        cutter.finish { lines.append($0) }
        #expect(lines == [String(repeating: "x", count: LineCutter.longest) + "…", "short"])
    }
}

/// Opens for reading, and waits for a writer.
private func opened(_ path: String) -> Int32 {
    let descriptor = system_open_file(path, O_RDONLY)
    guard descriptor >= 0 else { return descriptor }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // Without a writer there is no event until one has come and gone.
    _ = poll(&entry, 1, -1)
    _ = system_set_waiting(descriptor, 1)
    return descriptor
}

@Suite struct `The address of a program` {
    @Test(arguments: [
        ("exec:///bin/cat", ProgramLaunch("/bin/cat"), "exec:///bin/cat"),
        (
            "EXEC:///a%20b/c%25?arg=x%26y&arg=&arg=-a&directory=/srv%2Fx",
            ProgramLaunch("/a b/c%", ["x&y", "", "-a"], directory: "/srv/x"),
            "exec:///a%20b/c%25?arg=x%26y&arg=&arg=-a&directory=/srv/x"
        ),
        ("exec:///ü?arg=é", ProgramLaunch("/ü", ["é"]), "exec:///%C3%BC?arg=%C3%A9"),
    ])
    func `is parsed, and always spelt alike`(text: String, launch: ProgramLaunch, spelling: String) throws {
        #expect(try ProgramLaunch(address: text) == launch)
        #expect(launch.address == spelling)
        #expect(try ProgramLaunch(address: spelling) == launch)
        #expect(!launch.place.contains("?"))
    }

    @Test(arguments: [
        ("exec:cat", "needs the whole path of a program"),
        ("exec:///", "needs the whole path of a program"),
        ("exec://host/cat", "needs the whole path of a program"),
        ("exec:///cat?arg", #"has "arg", but only arg=… and directory=… are known"#),
        ("exec:///cat?user=me", #"has "user=me", but only arg=… and directory=… are known"#),
        ("exec:///cat?directory=", #"has "directory=", but only"#),
        ("exec:///a b", "contains a blank"),
        ("exec:///a%2", #"has a "%" that two digits"#),
        ("exec:///a%00", #"has a "%" that two digits"#),
        ("exec:///a%FF", "is not UTF-8"),
    ])
    func `says what is wrong with it`(text: String, fault: String) {
        #expect { try ProgramLaunch(address: text) } throws: { error in
            "\(error)".hasPrefix("the address \"\(text)\" \(fault)")
                && "\(error)".hasSuffix("write for instance exec:///usr/bin/thing?arg=--stdio")
        }
    }
}
