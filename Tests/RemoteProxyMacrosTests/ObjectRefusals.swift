// Members with objects that cannot be sent by reference.

extension Refusal {
    static let objects = noService + notAlone + enclosed + elsewhere

    private static let noService: [Refusal] = [
        "Error", "Codable", "Sendable", "Hashable", "Equatable", "Encodable", "Decodable", "AnyObject", "Actor", "Any",
        "Swift.Error", "Swift.CustomReflectable", "_Concurrency.Actor", "Collection<Int>", "AsyncSequence<Int, Never>",
        "Sendable & AnyObject", "Codable & Hashable",
    ].map {
        Refusal(
            "func add(_ a: [any \($0)])", at: "a",
            "parameter 'a' of 'add' is 'any \($0)': only objects of a @Service are sent by reference; name a Codable type"
        )
    }

    private static let notAlone: [Refusal] =
        ["Greeter & Sendable", "AnyObject & Greeter", "Swift.Sendable & Greeter & Swift.AnyObject"].map {
            Refusal(
                "func add(_ a: (any \($0))?)", at: "a",
                "parameter 'a' of 'add' is 'any \($0)': an object is sent as its service alone; write 'any Greeter'")
        }
        + ["Greeter & Codable", "Greeter & Sendable & Waiter"].map {
            Refusal(
                "var add: any \($0) { get async throws }", at: "add",
                "'add' is 'any \($0)': an object is sent as one service; name one that inherits the others")
        }

    private static let enclosed: [Refusal] =
        [
            ("Page<any Greeter>", true), ("Optional<any Greeter>", true), ("Result<any Greeter, RPCError>", true),
            ("[[String: Page<(any Greeter)?>]]", true), ("Page<[any Greeter]>.Kind", true), ("Set<any Greeter>", false),
            ("[any Greeter: Int]", false), ("Either<Int, any Greeter>", false), ("[any Greeter].Index", true),
        ].map {
            Refusal(
                "func add() async throws -> \($0)", at: "add", isSwift: $1,
                "the result of 'add' has 'any Greeter' inside another type; write 'Reference<GreeterProxy>' in place of "
                    + "'any Greeter' there")
        }

    private static let elsewhere: [Refusal] = [
        .init(
            "func add(_ a: Page<any Client.Greeter>)", at: "a",
            "parameter 'a' of 'add' has 'any Client.Greeter' inside another type; write 'Reference<Client.GreeterProxy>' "
                + "in place of 'any Client.Greeter' there"),
        .init(
            "func add() async throws -> Result<Int, any Error>", at: "add",
            "the result of 'add' is 'any Error': only objects of a @Service are sent by reference; name a Codable type"
        ),
        .init(
            "func add(_ a: [any Greeter?])", at: "a", isSwift: false,
            "parameter 'a' of 'add' is 'any Greeter?'; write '(any Greeter)?'"),
        .init(
            "func add(_ a: some Greeter)", at: "a",
            "parameter 'a' of 'add' cannot be opaque: both ends must know the type; name a concrete type, or write "
                + "'any Greeter'"),
        .init(
            "func add(_ a: inout any Greeter)", at: "a",
            "parameter 'a' of 'add' cannot be inout: values are sent as copies; return the new value"),
        .init(
            "func add(_ a: any Greeter...)", at: "a",
            "parameter 'a' of 'add' cannot be variadic; write '[any Greeter]'"),
        .init(
            "func add(_ a: (any Greeter)!)", at: "a",
            "parameter 'a' of 'add' cannot be implicitly unwrapped; write '?'"),
        .init(
            "func add(_ a: (any Greeter).Type)", at: "a",
            "parameter 'a' of 'add' cannot be a metatype; write an enum with a case for each type"),
        .init(
            "func add(_ a: [any Greeter.Type])", at: "a",
            "parameter 'a' of 'add' cannot be a metatype; write an enum with a case for each type"),
        .init(
            "func add(_ a: (any Greeter, Int))", at: "a",
            "parameter 'a' of 'add' cannot be a tuple; write a Codable struct"),
        .init(
            "func add(_ done: [(any Greeter) -> Void])", at: "done",
            "parameter 'done' of 'add' cannot be a closure: only a parameter is one by itself; declare a second @Service with a "
                + "function for it"),
        .init(
            "func add(_ done: @Sendable (Int) -> Void)", at: "done",
            "parameter 'done' of 'add' is a closure that is kept and called at any time, on any thread; write "
                + "'@escaping @Sendable (Int) -> Void'"),
        .init(
            "func add(_ done: @escaping (Int) async throws -> Int)", at: "done",
            "parameter 'done' of 'add' is a closure that is kept and called at any time, on any thread; write "
                + "'@escaping @Sendable (Int) async throws -> Int'"),
        .init(
            "func add(_ done: @escaping @Sendable (Int) -> Int)", at: "done",
            "parameter 'done' of 'add' is a closure that must be 'async throws', because calling it takes time and can fail"
        ),
        .init(
            "func add(_ done: @escaping @Sendable (Int) throws -> Void)", at: "done",
            "parameter 'done' of 'add' is a closure that must be 'async throws', because calling it takes time and can fail, "
                + "or neither, to be called without waiting"),
        .init(
            "func add(_ done: @escaping @Sendable @MainActor (Int) -> Void)", at: "done",
            "parameter 'done' of 'add' is a closure that cannot be '@MainActor', since it is called from the other end; write "
                + "'@escaping @Sendable (Int) -> Void'"),
        .init(
            "func add(_ done: @escaping @Sendable (any Greeter) -> Void)", at: "done",
            "parameter 'done' of 'add' is a closure, and one of its parameters cannot be an object; pass an object of a @Service "
                + "instead of the closure"),
        .init(
            "func add(_ done: @escaping @Sendable ((Int) -> Void) -> Void)", at: "done",
            "parameter 'done' of 'add' is a closure, and one of its parameters cannot be a closure: only a parameter is one by "
                + "itself; declare a second @Service with a function for it"),
        .init(
            "func add(_ done: @escaping @Sendable (inout Int) -> Void)", at: "done",
            "parameter 'done' of 'add' is a closure, and one of its parameters cannot be inout: values are sent as copies; return "
                + "the new value"),
        .init(
            "func add(_ done: @escaping @Sendable () async throws -> (Int, Int))", at: "done",
            "parameter 'done' of 'add' is a closure, and its result cannot be a tuple; write a Codable struct"),
        .init(
            "func add(_ done: @escaping @Sendable () async throws(Failure) -> Int)", at: "done", isSwift: false,
            "parameter 'done' of 'add' is a closure that cannot throw only Failure, because the connection can fail too; write "
                + "'throws'"),
        .init(
            "func add() async throws -> @Sendable (Int) -> Void", at: "add",
            "the result of 'add' cannot be a closure: only a parameter is one by itself; declare a second @Service with a "
                + "function for it"),
        .init(
            "func add(_ a: [any MethodName])", at: "add", isSwift: false,
            "'add' uses the type 'MethodName', but every proxy has one of that name; write 'Module.MethodName' or rename yours"
        ),
    ]
}
