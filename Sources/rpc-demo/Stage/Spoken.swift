// How values, errors and times are put into words.

import RemoteProxy

/// A value as it would stand in source code, near enough; an error with its type.
func spoken(_ value: Any) -> String {
    switch value {
    case is Void: "done"
    case let text as String: text.debugDescription
    case let error as RPCError: "RPCError: \(error)"
    case is CancellationError: "CancellationError"
    case let difference as Difference: "\(difference)"
    case let error as any Error: "\(type(of: error)).\(error)"
    default: "\(value)"
    }
}

extension Duration {
    /// With the digits that matter: `0.21 ms`, `34 ms`, `1.2 s`.
    var text: String {
        let microseconds = Int(self / .microseconds(1))
        return switch microseconds {
        case ..<10_000: "\(decimal(microseconds, thousandths: 1_000, digits: 2)) ms"
        case ..<1_000_000: "\(microseconds / 1_000) ms"
        default: "\(decimal(microseconds / 1_000, thousandths: 1_000, digits: 1)) s"
        }
    }

    private func decimal(_ number: Int, thousandths unit: Int, digits: Int) -> String {
        let fraction = String(unit + number % unit).dropFirst().prefix(digits)
        return "\(number / unit).\(fraction)"
    }
}
