import RPCWire
import Testing

@testable import RPCSockets

struct ReadBufferTests {
    private func receive(_ text: String, _ buffer: ReadBuffer, _ pair: (Socket, Socket), generously: Bool = false)
        -> Bytes?
    {
        pair.0.write(text)
        var received: Bytes?
        guard
            case .delivered = buffer.read(
                generously: generously, receive: { pair.1.receive($0) }, deliver: { received = $0 })
        else {
            return nil
        }
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
            _ = buffer.read(generously: false, receive: { pair.1.receive($0) }) { bytes in
                if let place = bytes.withUnsafeBytes({ $0.baseAddress }) { places.insert(place) }
            }
        }
        #expect(places.count == 1)
    }

    @Test(arguments: [false, true]) func `who looks again sees what has come meanwhile`(generously: Bool) throws {
        let (near, far) = try Socket.pair()
        try SystemThread.start(name: "writer") { far.write("late") }
        var received: Bytes?
        let outcome = ReadBuffer().read(
            generously: generously, receive: { near.receive($0, looks: .max) }, deliver: { received = $0 })
        guard case .delivered = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(received?.description == "late")
    }

    @Test func `an empty socket would block, and a closed one is at its end`() throws {
        let (near, far) = try Socket.pair()
        let buffer = ReadBuffer()
        for looks in [1, 4] {
            guard
                case .wouldBlock = buffer.read(
                    generously: false, receive: { near.receive($0, looks: looks) }, deliver: { _ in })
            else {
                Issue.record("not empty")
                return
            }
        }
        far.close()
        for generously in [false, true] {
            guard
                case .endOfStream = buffer.read(
                    generously: generously, receive: { near.receive($0) }, deliver: { _ in })
            else {
                Issue.record("not at its end")
                return
            }
        }
    }
}
