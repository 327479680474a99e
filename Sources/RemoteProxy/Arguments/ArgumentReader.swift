// Reads the arguments of a call: the `params` of a message, by position or by name, in the order of the method's parameters.

import JSONCodec

/// Reads the arguments of one call, in order. Used by generated code.
///
/// Unknown names are ignored, so that a peer may send arguments of a later version of the service. A surplus positional
/// argument is refused, since its meaning is unknown, unless it is null: then an optional parameter of a later version is nil.
public struct _ArgumentReader {
    private enum Form {
        case none
        case positional
        /// The names of all parameters are needed to find the arguments.
        case named([MethodSignature.Parameter])
    }

    private let bytes: UnsafeRawBufferPointer
    private let context: CodingContext
    private var reader: JSONReader
    private var form: Form
    /// The position of the parameter whose argument is being read, or was read last.
    private var position: Int

    private init(_ bytes: UnsafeRawBufferPointer, _ reader: JSONReader, _ form: Form, _ context: CodingContext) {
        (self.bytes, self.reader, self.form, self.context, position) = (bytes, reader, form, context, -1)
    }

    /// Begins to read. No initialiser, since one that throws would copy the reader.
    /// - Parameters:
    ///   - params: the JSON text of an array or an object, from a message that has been read; empty for no arguments.
    ///   - context: of the message that the arguments are read from.
    static func over(
        _ params: UnsafeRawBufferPointer, of method: MethodSignature, in context: CodingContext = .none
    ) throws -> _ArgumentReader {
        if var reader = JSONReader(insideArray: params) {
            reader.isKnownUTF8 = true
            return _ArgumentReader(params, reader, .positional, context)
        }
        let (reader, form) = try open(params, of: method)
        return _ArgumentReader(params, reader, form, context)
    }

    /// Reads the next argument. Disfavoured, so that the compiler takes the other overload for an optional.
    @_disfavoredOverload
    public mutating func next<Value: Decodable>() throws -> Value { try read() }

    /// Reads the next argument, which may be missing.
    public mutating func next<Value: Decodable>() throws -> Value? {
        guard try advance() else { return nil }
        return try decode()
    }

    // These overloads for the commonest types are not generic: a generic function called from another module works through
    // metadata.

    /// Reads the next argument.
    public mutating func next() throws -> Int {
        // Nearly every integer. The general way takes four times as many instructions.
        if case .positional = form, let integer = reader.nextPlainInteger() {
            position += 1
            return integer
        }
        return try read()
    }

    /// Reads the next argument.
    public mutating func next() throws -> String { try read() }

    /// Checks that nothing is left over.
    mutating func readEnd() throws {
        guard case .positional = form else { return }
        var isTooMany = false
        do {
            while !isTooMany, try reader.nextElement() {
                if case .null = try reader.peek() { _ = try reader.skipValue() } else { isTooMany = true }
            }
        } catch { throw ArgumentFault.parameters("\(error)") }
        if isTooMany { throw ArgumentFault.tooMany }
    }

    private mutating func read<Value: Decodable>() throws -> Value {
        guard try advance() else { throw ArgumentFault.missing(position) }
        return try decode()
    }

    /// Moves to the value of the next parameter; false when there is none.
    private mutating func advance() throws -> Bool {
        position += 1
        switch form {
        case .none:
            return false
        case .positional:
            let there = try attempt { reader throws(JSONError) in try reader.nextElement() }
            if !there { form = .none }
            return there
        case .named(let parameters):
            guard position < parameters.count else { return false }
            let name = parameters[position].name
            reader = Self.reader(of: bytes)
            return try attempt { reader throws(JSONError) in try Self.moves(&reader, to: name) }
        }
    }

    /// Moves to the value of a member; false when there is none of that name. Of duplicates the last counts. It looks through
    /// all members each time and keeps no table of them, since a peer may send any number.
    private static func moves(_ reader: inout JSONReader, to name: String) throws(JSONError) -> Bool {
        var value: JSONReader?
        try reader.enterObject()
        while let key = try reader.nextMember() {
            if key.matches(name) { value = reader }
            _ = try reader.skipValue()
        }
        guard let value else { return false }
        reader = value
        return true
    }

    private mutating func decode<Value: Decodable>() throws -> Value {
        do {
            return try decodeJSON(Value.self, at: &reader, in: context)
        } catch {
            throw Self.explained(error, position)
        }
    }

    /// Not inlined, since telling errors apart reserves stack space beforehand.
    @inline(never)
    private static func explained(_ error: any Error, _ position: Int) -> any Error {
        guard let error = error as? DecodingError else { return error }
        return ArgumentFault.wrong(position, error.explanation)
    }

    private mutating func attempt<Result>(_ body: (inout JSONReader) throws(JSONError) -> Result) throws -> Result {
        do {
            return try body(&reader)
        } catch {
            throw ArgumentFault.wrong(position, "\(error)")
        }
    }

    /// A reader with the highest limit of depth: the depth was checked when the message was read, and so was UTF-8. The list of
    /// arguments adds a level.
    private static func reader(of params: UnsafeRawBufferPointer) -> JSONReader {
        var reader = JSONReader(params)
        reader.limitDepth(to: JSONReader.deepestLimit + 1)
        reader.isKnownUTF8 = true
        return reader
    }

    @inline(never)
    private static func open(_ params: UnsafeRawBufferPointer, of method: MethodSignature) throws -> (JSONReader, Form)
    {
        var reader = Self.reader(of: params)
        guard !params.isEmpty else { return (reader, .none) }
        do throws(JSONError) {
            if case .object = try reader.peek() { return (reader, .named(method.parameters)) }
            try reader.enterArray()
            return (reader, .positional)
        } catch {
            throw ArgumentFault.parameters("\(error)")
        }
    }
}
