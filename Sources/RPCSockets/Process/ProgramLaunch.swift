// Which program a child process runs, and with what. As a text: exec:///usr/bin/thing?arg=--stdio&directory=/srv.

/// What is needed to start a program.
package struct ProgramLaunch: Sendable, Hashable {
    /// Where the standard error of the program goes.
    package enum ErrorOutput: Sendable, Hashable {
        /// To the log of this process, line by line.
        case log
        /// To the standard error of this process.
        case inherited
        case discarded
    }

    /// A path, or a name without a slash that is looked up in PATH.
    package var program: String
    package var arguments: [String]
    /// Nil is that of this process.
    package var directory: String?
    /// What differs from the environment of this process. Nil removes a variable.
    package var environment: [String: String?]
    package var errorOutput: ErrorOutput

    package init(
        _ program: String, _ arguments: [String] = [], directory: String? = nil, environment: [String: String?] = [:],
        errorOutput: ErrorOutput = .log
    ) {
        (self.program, self.arguments, self.directory) = (program, arguments, directory)
        (self.environment, self.errorOutput) = (environment, errorOutput)
    }

    /// The last part of the path.
    package var name: String { program.split(separator: "/").last.map(String.init) ?? program }

    /// The program for logs and errors. The arguments are left out, since they may be secret.
    package var place: String { program.hasPrefix("/") ? "exec://\(Self.encoded(program, also: "/"))" : program }
}

// MARK: as a text

extension ProgramLaunch {
    /// Whether the text has the scheme of these addresses.
    package static func isAddress(_ text: String) -> Bool { text.prefix(5).lowercased() == "exec:" }

    /// Parses an address. What is not a letter, a digit or one of `-._~/` may be escaped with `%` and two digits.
    package init(address text: String) throws(SetupError) {
        guard text.prefix(8).lowercased() == "exec:///", text.count > 8 else {
            throw Self.fault(text, "needs the whole path of a program")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F && $0 != "#" }) else {
            throw Self.fault(text, "contains a blank, a control character or a \"#\"")
        }
        let parts = text.dropFirst(7).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(try Self.decoded(parts[0], in: text))
        guard parts.count == 2 else { return }
        for item in parts[1].split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = try Self.decoded(pair.count == 2 ? pair[1] : "", in: text)
            switch pair[0] {
            case "arg" where pair.count == 2: arguments.append(value)
            case "directory" where pair.count == 2 && !value.isEmpty: directory = value
            default: throw Self.fault(text, "has \"\(item)\", but only arg=… and directory=… are known")
            }
        }
    }

    /// The text of the address, always in the same spelling.
    package var address: String {
        let items =
            arguments.map { "arg=\(Self.encoded($0))" }
            + (directory.map { ["directory=\(Self.encoded($0, also: "/"))"] } ?? [])
        return "exec://\(Self.encoded(program, also: "/"))" + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    private static func fault(_ text: String, _ what: String) -> SetupError {
        SetupError("the address \"\(text)\" \(what); write for instance exec:///usr/bin/thing?arg=--stdio")
    }

    private static func encoded(_ text: String, also more: String = "") -> String {
        text.utf8.map { byte in
            let isPlain =
                "-._~\(more)".utf8.contains(byte) || Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80
            if isPlain || (0x30...0x39).contains(byte) { return String(Unicode.Scalar(byte)) }
            return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    private static func decoded(_ text: Substring, in address: String) throws(SetupError) -> String {
        var (bytes, rest) = ([UInt8](), text.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard digits.count == 2, digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
                let value = UInt8(Substring(digits), radix: 16), value != 0
            else { throw fault(address, "has a \"%\" that two digits of a byte other than 0 do not follow") }
            bytes.append(value)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw fault(address, "is not UTF-8") }
        return text
    }
}
