// A client for `.ci/tls`: connects to an address, calls, and prints how both have ended. In: the address, what it trusts (`system`,
// `pin:` and a pin, or a file), and perhaps a certificate and its key.

import Foundation
import Protocols
import RemoteProxy

@main
struct TLSCallerProgram {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let address = arguments.first, [2, 4].contains(arguments.count) else { throw WrongArguments() }
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(3)
        configuration.log = { _ in }
        configuration.tls.trust = trust(arguments[2])
        if arguments.count == 4 { configuration.tls.certificate = .files(arguments[3], arguments[4]) }
        let client = RPCClient(try Endpoint(address), configuration)
        print("connect: \(await outcome { try await client.connect() })")
        print("call: \(await outcome { _ = try await GreeterProxy(client).greet("you") })")
        fflush(nil)
        // Until then it can be looked at from outside.
        while readLine() != nil {}
        client.close()
    }

    private static func trust(_ text: String) -> RPCClient.Configuration.TLS.Trust {
        if text == "system" { return .system }
        return text.hasPrefix("pin:") ? .pin(String(text.dropFirst(4))) : .file(text)
    }

    /// What a caller sees, in one line.
    private static func outcome(_ body: () async throws -> Void) async -> String {
        let start = ContinuousClock.now
        func after(_ text: String) -> String {
            "\(text) after \(Int((ContinuousClock.now - start) / .milliseconds(1))) ms"
        }
        do { try await body() } catch let error as RPCError {
            return after("\(error.code.rawValue), \(error.outcome), \(error.message)")
        } catch {
            return after("\(error)")
        }
        return after("done")
    }
}

struct WrongArguments: Error {}
