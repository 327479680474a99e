// No client at all: lines of JSON typed into a socket, as `nc` or any language can. The server answers in kind.

struct TypedByHand: Act {
    let url: String

    let title = "Lines typed by hand"
    let story = "This is JSON-RPC 2.0: what follows are the very bytes on a plain socket, there and back."

    func play(on stage: Stage) async throws {
        let socket = try await LineSocket.connect(to: url)
        defer { socket.close() }

        let one = #"{"jsonrpc":"2.0","id":1,"method":"Calculator.add","params":[40,2]}"#
        try await stage.type(one, into: socket) { $0 == #"{"jsonrpc":"2.0","id":1,"result":42}"# }

        stage.says("Two calls in one line, with their arguments by name; one of them throws:")
        let two =
            #"[{"jsonrpc":"2.0","id":"a","method":"Greeter.greet","params":{"name":"world"}},"#
            + #"{"jsonrpc":"2.0","id":"b","method":"Calculator.divide","params":{"dividend":1,"divisor":0}}]"#
        try await stage.type(two, into: socket) { line in
            line.hasPrefix("[") && line.hasSuffix("]") && line.contains(#""result":"Hello, world!""#)
                && line.contains(#""error":{"code":1,"#) && line.contains("divisionByZero")
        }

        stage.says("And what is there to call? The server says so itself, as an OpenRPC document:")
        let question = #"{"jsonrpc":"2.0","id":2,"method":"rpc.discover"}"#
        try await stage.type(question, into: socket) { $0.contains(#""name":"Calculator.divide""#) }
    }
}

extension Stage {
    /// Sends a line and shows the line that comes back.
    fileprivate func type(_ line: String, into socket: LineSocket, where isRight: (String) -> Bool) async throws {
        try await show(line, as: shortened, where: isRight) {
            socket.type(line)
            return try await socket.answer()
        }
    }

    private func shortened(_ line: String) -> String {
        line.count <= 300 ? line : "\(line.prefix(120))… (\(line.utf8.count) bytes)"
    }
}
