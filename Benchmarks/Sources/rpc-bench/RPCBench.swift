// The program: command line in, reports out. Children of its own come in by the hidden `--role`.

import Glibc

@main
struct RPCBench {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == Role.flag { play(Array(arguments.dropFirst())) }
        do { try run(Options(arguments)) } catch { fail(error) }
    }

    /// The main thread waits here. It is no thread for tasks: valgrind cannot follow what the runtime does with it then.
    private static func play(_ arguments: [String]) -> Never {
        Task.detached {
            do {
                guard let role = arguments.first.flatMap(Role.init) else { throw BenchFailure("no role") }
                try await role.play(Array(arguments.dropFirst()))
                exit(0)
            } catch {
                fail(error)
            }
        }
        while true { pause() }
    }

    private static func fail(_ error: any Error) -> Never {
        Program.complain("rpc-bench: \(error)")
        exit(1)
    }

    /// Never suspends: children end with the thread that started them, and that has to be the main one.
    private static func run(_ options: Options) throws {
        guard let name = options.name, !options.wantsHelp else {
            let names =
                (Workload.all.map { ($0.name, $0.summary) } + [("all", "all of them")]
                + Growth.all.map { ("growth \($0.name)", $0.summary) }
                + Scenario.all.map { ("load \($0.name)", $0.summary) }).map { name, summary in
                    "  \(name)\(String(repeating: " ", count: 21 - name.count))\(summary)"
                }
            print(Options.usage + "\n\nNames:\n" + names.joined(separator: "\n"))
            return
        }
        if name == "all" { return try runAll(options) }
        if name == "load" { return try Scenario.run(options.parts, seconds: options.chosenSeconds) }
        if name == "growth" { return try GrowthRun(options).run() }
        if name == "large" { return try report(Workload.large(options.parts), options) }
        guard let workload = Workload.named(name) else {
            throw BenchFailure("there is no workload '\(name)'; see rpc-bench --help")
        }
        try report([workload], options)
    }

    private static func report(_ workloads: [Workload], _ options: Options) throws {
        let reports = try workloads.map { workload in
            let report = try workload.report(options)
            if !options.printsTable { print(report.json) }
            return report
        }
        if options.printsTable { print(ResultTable(reports: reports).text, terminator: "") }
    }

    private static func runAll(_ options: Options) throws {
        var reports: [Report] = []
        for workload in Workload.all {
            Program.complain("\(workload.name) …")
            do {
                let report = try workload.report(options)
                reports.append(report)
                if options.printsJSON { print(report.json) }
            } catch {
                // The others can still be measured.
                Program.complain("\(workload.name): \(error)")
                reports.append(Report(workload, Figures(), unavailable: "\(error)"))
            }
        }
        if !options.printsJSON { print(ResultTable(reports: reports).text, terminator: "") }
        try Program.write(Plot(reports: reports).svg, to: options.plot ?? "rpc-bench.svg")
    }
}
