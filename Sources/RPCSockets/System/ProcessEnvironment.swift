// What a program without Foundation needs of its process: the environment variables, and ways to end.

import CSystem

package enum ProcessEnvironment {
    package static subscript(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Reads a variable and removes it.
    package static func take(_ name: String) -> String? {
        let value = self[name]
        if value != nil { unsetenv(name) }
        return value
    }

    /// How many files the process may have open at a time.
    package static var maximumOpenFiles: Int { sysconf(Int32(_SC_OPEN_MAX)) }

    /// The name of this machine, if it is one that a certificate can have.
    package static var hostName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return nil }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isName = text.utf8.allSatisfy {
            $0 < 0x80 && (Character(UnicodeScalar($0)).isLetter || "0123456789.-".utf8.contains($0))
        }
        return text.isEmpty || text.utf8.count > 63 || !isName ? nil : text
    }

    /// Suspends the calling thread until another thread ends the process.
    package static func waitForExit() -> Never {
        while true { pause() }
    }

    /// Ends the process at once.
    package static func exit(_ code: Int32) -> Never { CSystem.exit(code) }
}
