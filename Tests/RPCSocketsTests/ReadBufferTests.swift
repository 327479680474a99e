import RPCWire
import Testing

@testable import RPCSockets

struct ReadBufferTests {
    private func receive(_ text: String, _ buffer: ReadBuffer, _ pair: (Socket, Socket), generously: Bool = false)
        -> Bytes?
    {
        pair.0.write(text)
        var received: Bytes?
        _ = buffer.read(generously: generously, receive: pair.1.receive) { received = $0 }
        return received
    }

    @Test(arguments: [false, true])
    func `a view that is kept is never written over`(generously: Bool) throws {
        let pair = try Socket.pair()
        let buffer = ReadBuffer()
        var kept: [Bytes] = []
        for number in 0..<5_000 {
            let bytes = try #require(receive("message \(number)", buffer, pair, generously: generously))
            if number % (generously ? 500 : 3) == 0 { kept.append(bytes) }
        }
        for (index, bytes) in kept.enumerated() {
            #expect(bytes.description == "message \(index * (generously ? 500 : 3))")
        }
    }

    @Test func `without a view that is kept the same memory is used again`() throws {
        let pair = try Socket.pair()
        let buffer = ReadBuffer()
        var places: Set<UnsafeRawPointer> = []
        for _ in 0..<100 {
            pair.0.write("message")
            _ = buffer.read(generously: false, receive: pair.1.receive) { bytes in
                if let place = bytes.withUnsafeBytes({ $0.baseAddress }) { places.insert(place) }
            }
        }
        #expect(places.count == 1)
    }

    @Test func `an empty socket would block, and a closed one is at its end`() throws {
        let (near, far) = try Socket.pair()
        let buffer = ReadBuffer()
        guard case .wouldBlock = buffer.read(generously: false, receive: near.receive, deliver: { _ in }).transfer
        else {
            Issue.record("not empty")
            return
        }
        far.close()
        for generously in [false, true] {
            let end = buffer.read(generously: generously, receive: near.receive, deliver: { _ in })
            guard case (.bytes(0), false) = end else {
                Issue.record("not at its end")
                return
            }
        }
    }
}
