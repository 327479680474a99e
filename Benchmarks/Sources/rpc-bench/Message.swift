// The JSON that our client writes for each measured call, byte for byte but for the digits of the id: what the raw
// baseline sends.

import SampleProtocols

/// Requests as they stand on the wire.
enum Message {
    static let add = request("Calculator.add", "[1000,24]")
    static let record = request(
        "Echo.record",
        #"[{"id":4711,"name":"Grace Brewster Hopper","email":"grace.hopper@example.org","#
            + #""tags":["admiral","compiler","cobol"],"scores":[97.5,88.25,91],"active":true}]"#)
    static let post = #"{"jsonrpc":"2.0","method":"LetterBox.drop","params":[1023]}"#

    static func text(_ size: Int) -> String {
        request("Echo.text", "[\"\(String(repeating: "x", count: size))\"]")
    }

    private static func request(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":123456}"#
    }
}
