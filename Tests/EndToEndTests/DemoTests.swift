// The tour is run as a user runs it: as a program of its own, with and without a server, on and off a terminal.

import Foundation
import TestSupport
import Testing

@Suite(.serialized, .waitsForOthers) struct DemoTests {
    @Test func `the tour plays its first eight acts and comes to its end`() async throws {
        let demo = try await DemoProcess.run("rpc-demo")
        try expectWholeTour(demo, 8)
        #expect(demo.output.contains("with a server started for this tour, tcp://127.0.0.1:"))
    }

    @Test(arguments: [nil, temporaryPath()])
    func `the tour is the same with a server that runs already`(path: String?) async throws {
        let address = path.map { "unix://\($0)" } ?? "tcp://127.0.0.1:0"
        defer { if let path { unlink(path) } }
        let server = try DemoProcess("rpc-server", ["--listen", address, "--quiet"])
        let line = try await server.firstLine()
        let url = try #require(line.split(separator: " ").last.map(String.init))

        let demo = try await DemoProcess.run("rpc-demo", ["--connect", url, "--all"])
        try expectWholeTour(demo, try await titles().count)
        #expect(demo.output.contains("with the running server you named, \(url)"))

        server.terminate()
        #expect(try await server.result().exitCode == 0)
        if let path { #expect(!FileManager.default.fileExists(atPath: path)) }
    }

    @Test(arguments: [
        (["--colour"], "there is no option '--colour'"), (["now"], "'now' is not an option"),
        (["--connect"], "--connect needs a value: --connect URL"), (["--connect="], "--connect needs a value"),
        (["--help=yes"], "--help takes no value"), (["--all=1"], "--all takes no value"),
        (["--act"], "--act needs a value: --act NUMBER"), (["--act", "0"], "there is no act '0', only 1 to "),
        (["--act=third"], "there is no act 'third', only 1 to "),
        (["--connect", "7070"], "the address \"7070\" has no scheme"),
    ])
    func `a wrong command line is answered with one line and 64`(arguments: [String], message: String) async throws {
        let demo = try await DemoProcess.run("rpc-demo", arguments)
        #expect(demo.exitCode == 64)
        #expect(demo.errors.hasPrefix("rpc-demo: \(message)"))
        #expect(demo.errors.hasSuffix("see rpc-demo --help\n"))
        #expect(demo.errors.filter(\.isNewline).count == 1)
        #expect(demo.output.isEmpty)
    }

    @Test func `a server that is not there is reported in one line`() async throws {
        let demo = try await DemoProcess.run("rpc-demo", ["--connect", "unix://\(temporaryPath())"])
        #expect(demo.exitCode == 1)
        #expect(demo.errors.hasPrefix("rpc-demo: there is no connection: unix:///"))
        #expect(demo.errors.filter(\.isNewline).count == 1)
        #expect(demo.output.isEmpty)
    }

    @Test(arguments: ["--help", "-h"])
    func `help is printed and no act is played`(option: String) async throws {
        let demo = try await DemoProcess.run("rpc-demo", [option])
        #expect(demo.exitCode == 0)
        #expect(demo.output.hasPrefix("usage: rpc-demo [--all | --act NUMBER] [--connect URL]\n"))
        #expect(demo.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
        #expect(!demo.output.contains("1/"))
    }

    @Test func `an act is played alone by the number that the list gives it`() async throws {
        let titles = try await titles()
        let number = try #require(titles.firstIndex(of: "Lines typed by hand")) + 1
        let demo = try await DemoProcess.run("rpc-demo", ["--act", "\(number)"])
        #expect(demo.exitCode == 0, "\(demo.errors)")
        #expect(demo.output.contains("\n\(number)/\(titles.count)  Lines typed by hand\n"))
        #expect(demo.output.contains("\nThe act came out as expected, in "))
        for title in titles where title != "Lines typed by hand" { #expect(!demo.output.contains("  \(title)\n")) }
    }

    @Test(arguments: [([:], true), (["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), (["TERM": "dumb"], false)])
    func `colours are for terminals that want them`(environment: [String: String], areExpected: Bool) async throws {
        let terminal = try DemoTerminal()
        let demo = try DemoProcess(
            "rpc-demo", ["--act", "1"], environment: environment, terminal: terminal.far)
        try terminal.far.close()
        let screen = try await DemoProcess.text(of: terminal.near)
        #expect(screen.contains("A tour of RemoteProxy"))
        #expect(screen.contains("\u{1B}[") == areExpected)
        #expect(try await demo.result().exitCode == 0)
    }

    @Test func `every line of code that is shown is a line of code that is run`() throws {
        let acts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/rpc-demo/Acts").standardizedFileURL
        let files = try #require(FileManager.default.enumerator(at: acts, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            for code in shownCode(in: source) {
                let places = source.components(separatedBy: code).count - 1
                #expect(places >= 2, "\(file.lastPathComponent) shows '\(code)' and does something else")
                count += 1
            }
        }
        #expect(count >= 20)
    }

    /// The titles of all acts, as `--list` prints them.
    private func titles() async throws -> [String] {
        let lines = try await DemoProcess.run("rpc-demo", ["--list"]).output.split(separator: "\n")
        let rows = lines.map { $0.split(separator: " ", maxSplits: 1) }
        #expect(rows.map(\.first) == (1...rows.count).map { "\($0)" })
        return rows.compactMap { $0.last.map { String($0.drop { $0 == " " }) } }
    }

    private func expectWholeTour(_ demo: DemoProcess.Result, _ count: Int) throws {
        #expect(demo.exitCode == 0, "\(demo.errors)")
        // Where the machine is busy, an object that computes keeps its thread for longer than it should, and the log says so.
        let faults = demo.errors.split(separator: "\n").filter { !$0.hasSuffix("Logged once for each method") }
        #expect(faults.isEmpty)
        #expect(!demo.output.contains("\u{1B}"))
        // The tour itself ends with 1 when its time is over.
        let numbers = demo.output.split(separator: "\n").compactMap { line -> [Int]? in
            let numbers = line.prefix { $0 != " " }.split(separator: "/").compactMap { Int($0) }
            return numbers.count == 2 ? numbers : nil
        }
        #expect(numbers == (1...count).map { [$0, count] })
        #expect(demo.output.contains("\nAll \(count) acts came out as expected, in "))
    }
}

/// The single-line literals that follow `stage.show(`.
private func shownCode(in source: String) -> [String] {
    source.components(separatedBy: "stage.show(").dropFirst().compactMap { rest in
        let literal = rest.drop { $0.isWhitespace || $0 == "#" }
        guard literal.first == "\"", !literal.hasPrefix("\"\"\"") else { return nil }
        let line = literal.dropFirst().prefix { !$0.isNewline }
        let end = rest.drop(while: \.isWhitespace).first == "#" ? "\"#" : "\""
        guard let code = line.components(separatedBy: end).first, code.contains("(") else { return nil }
        return code.components(separatedBy: "\\n").last
    }
}

private func temporaryPath() -> String {
    FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UInt32.random(in: 0 ... .max)).sock").path
}
