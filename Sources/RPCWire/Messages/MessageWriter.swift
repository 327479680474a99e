// Writes messages around values that others write: first an opening, then the value straight into the same output, then the
// closing. Members stand in one order always, which `OwnSpelling` expects: a reply names its id before its result.

package import JSONCodec

/// The one writer of messages, the mirror of `MessageReader`.
package enum MessageWriter {
    // MARK: Requests and notifications

    /// Up to the parameters, which the caller appends as an array or an object.
    package static func openRequest(method: String, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","method":"#)
        output.append(quoted: method)
        output.append(#","params":"#)
    }

    /// The same as a text, for a method that is called again and again.
    package static func opening(of method: String) -> String {
        let output = JSONOutput()
        openRequest(method: method, in: output)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    /// What stands behind the parameters.
    /// - Parameters:
    ///   - id: nil makes it a notification.
    ///   - timeout: in milliseconds; only for a peer that is known to be one of ours.
    ///   - number: of a notification; only for a peer that is known to be one of ours.
    package static func closeRequest(id: Int64?, timeout: Int64?, number: Int64? = nil, in output: JSONOutput) {
        if let timeout {
            output.append(#","timeout":"#)
            output.append(timeout)
        }
        if let number {
            output.append(#","number":"#)
            output.append(number)
        }
        if let id {
            output.append(#","id":"#)
            output.append(id)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// A whole notification without parameters.
    package static func writeNotification(_ method: String, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","method":"#)
        output.append(quoted: method)
        output.append(UInt8(ascii: "}"))
    }

    /// The question for a sign of life, and its answer.
    package static let ping: StaticString = #"{"jsonrpc":"2.0","method":"rpc.ping","id":-1}"#
    package static let pong: StaticString = #"{"jsonrpc":"2.0","id":-1,"result":null}"#

    /// A whole notification that says how many requests and replies have been received.
    package static func writeReceipts(_ method: String, requests: Int64, replies: Int64, in output: JSONOutput) {
        openRequest(method: method, in: output)
        output.append(#"{"requests":"#)
        output.append(requests)
        output.append(#","replies":"#)
        output.append(replies)
        output.append("}}")
    }

    /// A whole notification that asks the other end to stop a call.
    package static func writeCancel(of id: Int64, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"#)
        output.append(id)
        output.append("}}")
    }

    // MARK: Replies

    /// Up to the result, which the caller appends.
    package static func openResult(id: RPCIdentifier, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","id":"#)
        id.append(to: output)
        output.append(#","result":"#)
    }

    package static func closeResult(in output: JSONOutput) {
        output.append(UInt8(ascii: "}"))
    }

    /// A whole reply to a call that ended with an error.
    package static func writeFailure(id: RPCIdentifier, error: ErrorObject, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","id":"#)
        id.append(to: output)
        output.append(#","error":{"code":"#)
        output.append(Int64(error.code))
        output.append(#","message":"#)
        output.append(quoted: error.message)
        if let data = error.data {
            output.append(#","data":"#)
            write(onOneLine: data, in: output)
        }
        output.append("}}")
    }

    /// JSON text that came from elsewhere may be spread over lines, which would end a message early where lines frame
    /// messages. Outside strings a line feed means as much as a space, and inside it cannot stand.
    private static func write(onOneLine text: Bytes, in output: JSONOutput) {
        text.withUnsafeBytes { bytes in
            var rest = bytes
            while let lineFeed = firstLineFeed(in: rest) {
                output.append(UnsafeRawBufferPointer(rebasing: rest[..<lineFeed]))
                output.append(UInt8(ascii: " "))
                rest = UnsafeRawBufferPointer(rebasing: rest[(lineFeed + 1)...])
            }
            output.append(rest)
        }
    }
}
