// One of two programs that have their cache in one file: its path, this one's name, the other's name and a number of
// rounds in; out, what the cache had to complain about. Each round is a launch of its own. Ends well when it has seen
// the last result of the other in the file.

import Protocols
import RemoteProxy

@main
struct CacheSharerProgram {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let rounds = Int(arguments[4]) else { throw WrongArguments() }
        let (path, name, other) = (arguments[1], arguments[2], arguments[3])
        var policy = CachePolicy()
        policy.freshFor = .seconds(1_000)
        policy.pauseAfterWriting = .zero
        // Where the disk is so slow that the other has had the file for too long it is written a little later.
        policy.log = { if !$0.message.contains("cannot be written") { print($0) } }
        for round in 0..<rounds {
            let cache = Cache.file(path)
            let greeter = GreeterProxy(Author(name: name)).cached(in: cache, methods: [.greet], policy)
            _ = try await greeter.greet("\(name) \(round)")
            _ = try await greeter.greet("both \(round)")
            var attempts = 1
            while attempts < 20, await !cache.save() { attempts += 1 }
            if attempts == 20 { print("round \(round) could not be written") }
        }
        let end = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < end {
            let reader = GreeterProxy(Author(name: nil)).cached(in: .file(path), methods: [.greet], policy)
            if (try? await reader.greet("\(other) \(rounds - 1)")) != nil { return }
        }
        print("\(other) was not to be seen")
    }
}

/// Signs what it is asked; without a name it knows nothing.
struct Author: Greeter {
    let name: String?

    func greet(_ word: String) async throws -> String {
        guard let name else { throw NothingToSay() }
        return "\(word) by \(name)"
    }
}

struct WrongArguments: Error {}
struct NothingToSay: Error {}
