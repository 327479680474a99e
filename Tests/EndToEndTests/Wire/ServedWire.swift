// A live server with the sample subjects for the length of a test, and what its answers boil down to.

import Foundation
import RPCServer
import RemoteProxy
import TestSupport

/// Runs the body against a server of the sample services, on a thread that may block.
func withWire(
    _ configuration: RPCServer.Configuration = .quiet, _ body: @escaping @Sendable (_ url: Endpoint) throws -> Void
) async throws {
    try await withServer("tcp://127.0.0.1:0", configuration) { url in try await blocking { try body(url) }.get() }
}

/// A reply without the words for people: `id=result` or `id!code`, as JSON; the members of a batch sorted, since they
/// come in any order.
func brief(_ reply: String?) throws -> String {
    guard let reply else { return "closed" }
    let value = try JSONSerialization.jsonObject(with: Data(reply.utf8))
    guard let batch = value as? [Any] else { return try briefMember(value) }
    return "[" + (try batch.map(briefMember).sorted().joined(separator: ", ")) + "]"
}

private func briefMember(_ value: Any) throws -> String {
    guard let reply = value as? [String: Any], reply["jsonrpc"] as? String == "2.0", let id = reply["id"],
        Set(reply.keys).subtracting(["jsonrpc", "id", "result", "error"]).isEmpty
    else { throw WireFault("not a reply: \(value)") }
    switch (reply["result"], reply["error"] as? [String: Any]) {
    case (let result?, nil): return try "\(json(id))=\(json(result))"
    case (nil, let error?):
        guard let code = error["code"], let text = error["message"] as? String, !text.isEmpty else {
            throw WireFault("not an error: \(error)")
        }
        return try "\(json(id))!\(json(code))"
    default: throw WireFault("not one of result and error: \(reply)")
    }
}

private func json(_ value: Any) throws -> String {
    let data = try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])
    return String(decoding: data, as: UTF8.self)
}
