// Arguments by position and by name, and which parameter an error names.

import Testing

@testable import RemoteProxy

struct ArgumentReaderTests {
    private static let method = MethodSignature(
        service: "Shop", name: "order",
        parameters: [.init("item", "Int"), .init("note", "String?"), .init("count", "Int")],
        result: nil, shape: .call, effect: .changes)

    /// Reads the arguments of the method as generated code does.
    private func order(_ params: String) throws -> (item: Int, note: String?, count: Int) {
        try Array(params.utf8).withUnsafeBytes { bytes in
            var reader = try _ArgumentReader.over(bytes, of: Self.method)
            let item: Int = try reader.next()
            let note: String? = try reader.next()
            let count: Int = try reader.next()
            try reader.readEnd()
            return (item, note, count)
        }
    }

    @Test(arguments: [
        #"[1,"x",3]"#, #"{"count":3,"item":1,"note":"x"}"#, #"{"note":"y","count":3,"later":[],"note":"x","item":1}"#,
    ])
    func `arguments are read by position and by name`(params: String) throws {
        #expect(try order(params) == (1, "x", 3))
    }

    @Test(arguments: ["[1,null,3]", #"{"item":1,"count":3}"#, #"{"count":3,"note":null,"item":1}"#])
    func `an optional argument may be null, and may be missing where names tell`(params: String) throws {
        #expect(try order(params) == (1, nil, 3))
    }

    @Test(arguments: ["[1,null,3,null]", "[1,null,3, null , null]"])
    func `surplus nulls are optional arguments of a later version`(params: String) throws {
        #expect(try order(params) == (1, nil, 3))
    }

    @Test(arguments: [
        ("", "argument 'item' of Shop.order(item: Int, note: String?, count: Int) is missing"),
        ("[1]", "argument 'count' of Shop.order(item: Int, note: String?, count: Int) is missing"),
        ("{}", "argument 'item' of Shop.order(item: Int, note: String?, count: Int) is missing"),
        (#"{"item":1,"note":"x"}"#, "argument 'count' of Shop.order(item: Int, note: String?, count: Int) is missing"),
        (#"["x"]"#, "argument 'item' of Shop.order: "), ("[1,2]", "argument 'note' of Shop.order: "),
        (#"[1,"x","y"]"#, "argument 'count' of Shop.order: "),
        (#"{"item":1,"note":2}"#, "argument 'note' of Shop.order: "),
        ("[1,null,3,4]", "too many arguments: Shop.order takes 3"),
        ("[1,null,3,null,4]", "too many arguments: Shop.order takes 3"),
        ("[1,null,3,0]", "too many arguments: Shop.order takes 3"), ("7", "the params of Shop.order: "),
    ])
    func `an error names the parameter`(params: String, text: String) throws {
        let fault = try #require(throws: ArgumentFault.self) { _ = try order(params) }
        #expect(fault.explanation(for: Self.method).hasPrefix(text))
    }

    @Test func `a method that reads more than it says names the number of the argument`() throws {
        let fault = try #require(throws: ArgumentFault.self) {
            try Array(#"{"item":1}"#.utf8).withUnsafeBytes { bytes in
                var reader = try _ArgumentReader.over(bytes, of: Self.method)
                for _ in 0..<3 { let _: String? = try? reader.next() }
                let _: Int = try reader.next()
            }
        }
        #expect(fault.explanation(for: Self.method).hasPrefix("argument 4 of Shop.order("))
    }
}
