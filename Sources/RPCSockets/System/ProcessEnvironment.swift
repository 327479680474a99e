// What a program without Foundation needs from its surroundings: its environment, and its way out.

import CSystem

package enum ProcessEnvironment {
    package static subscript(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Reads a variable and removes it.
    package static func take(_ name: String) -> String? {
        let value = self[name]
        if value != nil { unsetenv(name) }
        return value
    }

    /// Keeps the calling thread out of the way until another ends the process.
    package static func waitForExit() -> Never {
        while true { pause() }
    }

    /// Ends the process at once.
    package static func exit(_ code: Int32) -> Never { CSystem.exit(code) }
}
