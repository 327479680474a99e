// What the suites say most to a server, word for word.

enum Said {
    static let value = #"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#
    static let hello = #"{"jsonrpc":"2.0","method":"rpc.hello","params":{"protocol":1},"id":0}"#

    static func later(_ milliseconds: Int, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"Echo.later","params":["x",\#(milliseconds)],"id":\#(id)}"#
    }
}
