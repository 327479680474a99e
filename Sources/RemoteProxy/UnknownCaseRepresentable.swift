// Enums that get more cases later, without breaking an end that does not know them.

/// Makes an enum of raw values read a raw value that it does not know as one of its cases. So an old end can read what a new end
/// sends:
///
/// ```swift
/// enum Light: String, Codable, Sendable, UnknownCaseRepresentable {
///     case red, green, unknown
///     static let unknownCase = Light.unknown
/// }
/// ```
///
/// Without it, one such value makes the whole argument or result unreadable. The unknown raw value itself is not kept; a struct of
/// raw values keeps it. A value of another type, such as a number for a text, is still refused. Works with any decoder.
public protocol UnknownCaseRepresentable: RawRepresentable, Codable where RawValue: Codable {
    /// The case that stands for all raw values without a case.
    static var unknownCase: Self { get }
}

extension UnknownCaseRepresentable {
    /// Reads the case of a raw value, or ``unknownCase`` if it has none.
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(RawValue.self)) ?? Self.unknownCase
    }
}

extension UnknownCaseRepresentable where RawValue == String {
    /// Reads the case of a raw value, or ``unknownCase`` if it has none.
    public init(from decoder: any Decoder) throws {
        // Not by the generic method, with which a decoder could not tell a text that is compared from one that is passed on.
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? Self.unknownCase
    }
}
