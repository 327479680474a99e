// Writes messages: first the opening, then the caller appends the value to the same output, then the closing. The members
// always have the same order, which `OwnSpelling` relies on: a reply has its id before its result.

package import JSONCodec

/// The only writer of messages; `MessageReader` is its counterpart.
package enum MessageWriter {
    // MARK: Requests and notifications

    /// Writes a request up to its parameters, which the caller appends as an array or an object.
    package static func openRequest(method: String, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","method":"#)
        output.append(quoted: method)
        output.append(#","params":"#)
    }

    /// The same as a text, for a method that is called repeatedly.
    package static func opening(of method: String) -> String {
        let output = JSONOutput()
        openRequest(method: method, in: output)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    /// Writes the metadata of a request, behind its parameters. Only for a peer that is known to run this library.
    package static func write(_ metadata: CallMetadata?, in output: JSONOutput) {
        guard let metadata else { return }
        output.append(#","metadata":"#)
        output.append(raw: metadata.text)
    }

    /// Writes the list of the objects that a request or a result names, behind its other values. Only for a peer that is known to
    /// understand it.
    package static func write(objects: [Int64], in output: JSONOutput) {
        var separator: StaticString = #","objects":["#
        for handle in objects {
            output.append(separator)
            output.append(handle)
            separator = ","
        }
        if !objects.isEmpty { output.append(UInt8(ascii: "]")) }
    }

    /// Takes the metadata for the next end only out of a request without its end. For a peer that would pass it on.
    package static func keepPassedOnMetadata(in output: JSONOutput) {
        let open = output.count
        // Parameters end with a bracket.
        guard output.bytes.last == UInt8(ascii: "}") else { return }
        closeRequest(id: nil, timeout: nil, in: output)
        let message = MessageReader(maximumDepth: .max).readAnySpelling(Bytes(copying: output.bytes))
        output.truncate(to: open)
        guard case .request(let request) = message, let text = request.metadata,
            let metadata = try? CallMetadata(reading: text, mostEntries: .max, mostBytes: text.count)
        else { return }
        output.truncate(to: open - text.count - #","metadata":"#.utf8.count)
        write(metadata.passedOn, in: output)
    }

    /// Writes the end of a request, behind its parameters and its metadata.
    /// - Parameters:
    ///   - id: nil for a notification.
    ///   - timeout: in milliseconds. Only for a peer that is known to run this library.
    ///   - mark: also only for such a peer.
    package static func closeRequest(
        id: Int64?, timeout: Int64?, _ mark: RequestMark = .none, in output: JSONOutput
    ) {
        if let timeout {
            output.append(#","timeout":"#)
            output.append(timeout)
        }
        switch mark {
        case .none: break
        case .post(let number):
            output.append(#","number":"#)
            output.append(number)
        case .inside(let number):
            output.append(#","inside":"#)
            output.append(number)
        case .transfer(let number):
            output.append(#","transfer":"#)
            output.append(number)
        }
        if let id {
            output.append(#","id":"#)
            output.append(id)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Writes a whole notification without parameters.
    package static func writeNotification(_ method: String, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","method":"#)
        output.append(quoted: method)
        output.append(UInt8(ascii: "}"))
    }

    /// A ping, which asks the peer for a sign of life, and the answer to it.
    package static var ping: UnsafeRawBufferPointer { bytes(of: #"{"jsonrpc":"2.0","method":"rpc.ping","id":-1}"#) }
    package static var pong: UnsafeRawBufferPointer { bytes(of: #"{"jsonrpc":"2.0","id":-1,"result":null}"#) }

    private static func bytes(of text: StaticString) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Writes a whole notification that tells the peer how many requests, replies and transfers have been received.
    /// - Parameter transfers: nil for a peer that knows none.
    package static func writeReceipts(
        _ method: String, requests: Int64, replies: Int64, transfers: Int64?, in output: JSONOutput
    ) {
        openRequest(method: method, in: output)
        output.append(#"{"requests":"#)
        output.append(requests)
        output.append(#","replies":"#)
        output.append(replies)
        if let transfers {
            output.append(#","transfers":"#)
            output.append(transfers)
        }
        output.append("}}")
    }

    /// Writes a whole notification that asks the peer to stop a call.
    package static func writeCancel(of id: Int64, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"#)
        output.append(id)
        output.append("}}")
    }

    // MARK: Replies

    /// Writes a reply up to its result, which the caller appends.
    package static func openResult(id: RPCIdentifier, in output: JSONOutput) {
        output.append(#"{"jsonrpc":"2.0","id":"#)
        id.append(to: output)
        output.append(#","result":"#)
    }

    package static func closeResult(in output: JSONOutput) {
        output.append(UInt8(ascii: "}"))
    }

    /// Writes a whole reply for a call that ended with an error.
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

    /// Appends the refusal of a whole connection, framed as the peer frames its messages.
    /// - Parameter bytes: the first bytes of the peer.
    package static func write(
        _ refusal: FramingError, toPeerBeginningWith bytes: Bytes, into queue: inout SendBuffer
    ) {
        var framing = Framing.lines
        if let first = bytes.memory.first {
            do throws(FramingError) {
                framing = try Framing.detect(firstByte: first, isFirst: true)
            } catch {
                if let answer = error.plainAnswer { return answer.withUnsafeBytes { queue.append($0) } }
            }
        }
        let output = JSONOutput()
        writeFailure(id: .null, error: ErrorObject(refusal), in: output)
        var writer = FrameWriter(framing.framer)
        writer.write(.copied(output.bytes), into: &queue, isFirst: false)
    }

    /// Replaces the line feeds of JSON text from elsewhere by spaces: where lines frame messages, a line feed would end the
    /// message early. This changes nothing, because JSON allows no line feed inside strings, and outside it means as much as a
    /// space.
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
