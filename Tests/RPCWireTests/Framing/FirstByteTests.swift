import RPCWire
import Testing

struct FirstByteTests {
    static func expected(_ byte: UInt8) -> (Framing?, FramingError?) {
        switch byte {
        case 0: (.lengthPrefixed, nil)
        case UInt8(ascii: "{"), UInt8(ascii: "["): (.lines, nil)
        case UInt8(ascii: "C"), UInt8(ascii: "c"): (.headers, nil)
        case 0x20, 0x09, 0x0A, 0x0D: (nil, nil)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): (nil, .http)
        default: (nil, .unrecognised(byte))
        }
    }

    @Test func `the first byte tells the framing`() {
        for byte in UInt8.min...UInt8.max {
            var decoder = FrameReader()
            decoder.append(bytes([byte]))
            let (framing, error) = Self.expected(byte)
            do throws(FramingError) {
                #expect(try decoder.nextMessage() == nil)
                #expect(error == nil)
            } catch let thrown {
                #expect(thrown == error)
            }
            #expect(decoder.framing == framing)
        }
    }

    @Test(arguments: ["\n{}\n", " \r\n\t [1]\n"], 1...4)
    func `white space before a line says nothing`(text: String, size: Int) {
        #expect(cut(Array(text.utf8).pieces(of: size)).frames.count == 1)
    }

    @Test(arguments: ["\nContent-Length: 2\r\n\r\n{}", "\r\nPOST / HTTP/1.1\r\n\r\n"], 1...4)
    func `only a line may be indented`(text: String, size: Int) {
        #expect(cut(Array(text.utf8).pieces(of: size)) == Cut(error: .http))
        #expect(cut([[0x0A, 0, 0, 0, 2]]) == Cut(error: .unrecognised(0)))
    }

    static let verbs = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI", "COPY", "CHECKOUT",
        "CHECKIN", "PROPFIND", "MKCOL", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "BIND", "QUERY", "get", "post",
        // What a web page may choose once its host name points here.
        "C", "c", "Content-Length", "CONTENT-TYPE",
    ]
    static let targets = ["/", "/:1", "*", "example.org:443", "http://localhost:7070/:5", "/?a:b"]

    @Test(arguments: verbs)
    func `an HTTP request of any method is refused as such`(verb: String) {
        for target in Self.targets {
            for version in ["HTTP/1.0", "HTTP/1.1", "HTTP/2.0"] {
                let body = #"{"jsonrpc":"2.0","method":"m"}"#
                let request =
                    "\(verb) \(target) \(version)\r\nHost: localhost:7070\r\nContent-Length: 31\r\n\r\n\(body)\n"
                for size in [1, 7, request.utf8.count] {
                    #expect(cut(Array(request.utf8).pieces(of: size)) == Cut(error: .http))
                }
            }
        }
    }

    @Test func `the refusal is a whole HTTP response that gives no web page a right`() throws {
        let refusal = String(decoding: try #require(FramingError.http.plainAnswer), as: UTF8.self)
        let parts = refusal.split(separator: "\r\n\r\n")
        #expect(parts.count == 2)
        #expect(refusal.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(refusal.contains("\r\nConnection: close\r\n"))
        // It is sent as a line, whose end is the last byte of the body.
        #expect(refusal.contains("\r\nContent-Length: \(parts[1].utf8.count + 1)\r\n"))
        #expect(!refusal.lowercased().contains("access-control"))
        #expect(!refusal.replacing("\r\n", with: "").contains("\n"))
    }
}
