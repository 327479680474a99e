// A terminal without a window, for a program that looks whether it has one.

import Foundation

/// The near end shows what is written to the far one.
struct DemoTerminal {
    let near: FileHandle
    let far: FileHandle

    init() throws {
        let near = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard near >= 0 else { throw DemoTerminal.fault() }
        self.near = FileHandle(fileDescriptor: near, closeOnDealloc: true)
        var lock: Int32 = 0
        var number: UInt32 = 0
        guard ioctl(near, DemoTerminal.setLock, &lock) == 0, ioctl(near, DemoTerminal.getNumber, &number) == 0
        else { throw DemoTerminal.fault() }
        let far = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard far >= 0 else { throw DemoTerminal.fault() }
        self.far = FileHandle(fileDescriptor: far, closeOnDealloc: true)
    }

    // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    private static func fault() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .ENOTTY) }
}
