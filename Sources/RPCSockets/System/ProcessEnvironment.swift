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

    /// Suspends the calling thread until another thread ends the process.
    package static func waitForExit() -> Never {
        while true { pause() }
    }

    /// Ends the process at once.
    package static func exit(_ code: Int32) -> Never { CSystem.exit(code) }
}
