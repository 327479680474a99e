// Where things are: this program, the repository it was built from, a place for temporary files.

import Glibc

enum Program {
    /// Where this program and those built with it stand.
    static let directory: String = {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        let whole = String(decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return parent(of: whole)
    }()

    /// The root of the repository, as it was when this was compiled.
    static let repository: String = {
        var path = #filePath
        // The folders are: repository, Benchmarks, Sources, rpc-bench, Processes, and this file.
        for _ in 0..<5 { path = parent(of: path) }
        return path
    }()

    static func makeTemporaryDirectory() throws(BenchFailure) -> String {
        var template = Array("/tmp/rpc-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchFailure("cannot make a directory: error \(errno)") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws(BenchFailure) {
        guard let file = fopen(path, "w") else { throw BenchFailure("cannot write \(path): error \(errno)") }
        defer { fclose(file) }
        fputs(text, file)
    }

    /// Prints a line now and not when there are more.
    static func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    /// Says something to whoever runs the bench; figures go to standard output.
    static func complain(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static func parent(of path: String) -> String {
        path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }
}
