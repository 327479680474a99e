// Puts the members of every object in a JSON text in the order of their names, so that equal dictionaries have equal texts.

import JSONCodec

enum CanonicalJSON {
    static func text(of json: UnsafeRawBufferPointer) throws(JSONError) -> String {
        guard json.contains(UInt8(ascii: "{")) else { return String(decoding: json, as: UTF8.self) }
        var reader = JSONReader(json)
        let output = JSONOutput()
        try append(&reader, json, to: output)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    private static func append(
        _ reader: inout JSONReader, _ json: UnsafeRawBufferPointer, to output: JSONOutput
    ) throws(JSONError) {
        switch try reader.peek() {
        case .array: try appendArray(&reader, json, to: output)
        case .object: try appendObject(&reader, json, to: output)
        default: output.append(UnsafeRawBufferPointer(rebasing: json[try reader.skipValue()]))
        }
    }

    private static func appendArray(
        _ reader: inout JSONReader, _ json: UnsafeRawBufferPointer, to output: JSONOutput
    ) throws(JSONError) {
        var separator = UInt8(ascii: "[")
        try reader.enterArray()
        while try reader.nextElement() {
            output.append(separator)
            separator = UInt8(ascii: ",")
            try append(&reader, json, to: output)
        }
        if separator == UInt8(ascii: "[") { output.append(separator) }
        output.append(UInt8(ascii: "]"))
    }

    private static func appendObject(
        _ reader: inout JSONReader, _ json: UnsafeRawBufferPointer, to output: JSONOutput
    ) throws(JSONError) {
        var members: [(name: String, value: Range<Int>)] = []
        try reader.enterObject()
        while let name = try reader.nextMember() {
            members.append((try name.string(), try reader.skipValue()))
        }
        members.sort { $0.name < $1.name }
        output.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output.append(quoted: member.name)
            output.append(UInt8(ascii: ":"))
            let value = UnsafeRawBufferPointer(rebasing: json[member.value])
            var inner = JSONReader(value)
            try append(&inner, value, to: output)
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension _ArgumentCoding {
    /// The arguments as canonical JSON; empty when there are none. Sets, and dictionaries with keys other than strings and
    /// integers, are encoded in no particular order. So their texts may differ although the arguments are equal.
    func canonicalJSON(of arguments: Arguments) throws -> String {
        if Arguments.self == Void.self { return "" }
        let output = JSONOutput()
        var writer = _ArgumentWriter(output)
        try write(arguments, &writer)
        writer.writeEnd()
        return try CanonicalJSON.text(of: output.bytes)
    }
}
