// Text of others on its way to a log or a terminal, where a line is a line.

extension String {
    /// With control characters spelled out: whoever chose the text must not be able to write lines of his own into a
    /// log, nor to command the terminal that shows it.
    package var onOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control || value == 0x2028 || value == 0x2029 }
}
