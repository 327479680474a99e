// Framing: however the bytes are cut into pieces, the same frames come out, and the same fault.

import RPCWire

func fuzzFraming(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 2 else { return }
    let framing: Framing? = [nil, .lengthPrefixed, .lines, .headers][Int(bytes[0] % 4)]
    let text = UnsafeRawBufferPointer(rebasing: bytes[2...])
    let whole = frames(of: text, framing) { text.count }
    var seed = UInt64(bytes[1])
    let cut = frames(of: text, framing) {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(seed >> 33) % 7 + 1
    }
    require(whole.frames == cut.frames, "\(whole.frames.count) frames, in pieces \(cut.frames.count)")
    require(whole.error == cut.error, "\(String(describing: whole.error)), in pieces \(String(describing: cut.error))")
    require(whole.isInside == cut.isInside, "inside a frame or not")
    for frame in whole.frames { require(frame.count <= 300, "a frame of \(frame.count) bytes") }
}

private func frames(
    of text: UnsafeRawBufferPointer, _ framing: Framing?, pieces: () -> Int
) -> (frames: [[UInt8]], error: FramingError?, isInside: Bool) {
    var decoder = FrameReader(
        limits: FrameLimits(maximumFrameSize: 300, maximumHeaderBlock: 200, maximumHeaderLines: 4), framing?.framer)
    var frames: [[UInt8]] = []
    var rest = text[...]
    do throws(FramingError) {
        while !rest.isEmpty {
            let piece = rest.prefix(pieces())
            rest = rest.dropFirst(piece.count)
            decoder.append(Bytes(copying: UnsafeRawBufferPointer(rebasing: piece)))
            while case .message(let frame) = try decoder.next() { frames.append(frame.withUnsafeBytes { Array($0) }) }
        }
        return (frames, nil, decoder.isInsideFrame)
    } catch {
        return (frames, error, false)
    }
}
