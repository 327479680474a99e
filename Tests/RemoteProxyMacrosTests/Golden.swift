// A whole expansion, as it is written. Read it as documentation of what `@Service` does.

enum Golden {
    static let calculator = """
        /// Arithmetic.
        public struct CalculatorProxy: Calculator, RemoteProxy.ServiceProxy {
            public typealias ProxiedService = any Calculator
            public nonisolated let proxySubject: any RemoteProxy.Subject<any Calculator>
            public nonisolated init(subject: any RemoteProxy.Subject<any Calculator>) { self.proxySubject = subject }
            public nonisolated var asService: any Calculator { self }

            /// Adds.
            public nonisolated(nonsending) func add(_ a: Int, to b: [Int?]) async throws -> Int {
                try await Self.Methods.add._call(self.proxySubject, Self.Methods.AddArguments(a: a, b: b))
            }

            public func note(_ text: String) {
                Self.Methods.note._post(self.proxySubject, Self.Methods.NoteArguments(text: text)) { $0.note(text) }
            }

            public nonisolated(nonsending) func reset() async throws {
                _ = try await Self.Methods.reset._call(self.proxySubject, RemoteProxy.NoArguments())
            }

            public nonisolated(nonsending) var total: Int {
                get async throws {
                    try await Self.Methods.total._call(self.proxySubject, RemoteProxy.NoArguments())
                }
            }

            /// All methods of the service, in the order of declaration.
            public nonisolated static let methodTable = RemoteProxy.MethodTable<any Calculator>(
                Methods.service, [Methods.add, Methods.note, Methods.reset, Methods.total])

            /// A proxy that does not keep its object alive. When the object is gone, calls throw `RPCError` with the
            /// code `.subjectGone` and posts vanish.
            public nonisolated static func weak(_ object: any Calculator & Swift.AnyObject) -> Self {
                Self(subject: RemoteProxy.WeakSubject<any Calculator> { [weak object] in object })
            }

            /// The names of Calculator's methods, for code that names one without calling it.
            public nonisolated struct MethodName: RemoteProxy.ServiceMethodName {
                public let name: Swift.String
                public init(name: Swift.String) { self.name = name }

                /// `add(_:to:)`.
                public static var add: Self { Self(name: "add") }

                /// `note(_:)`.
                public static var note: Self { Self(name: "note") }

                /// `reset()`.
                public static var reset: Self { Self(name: "reset") }

                /// `total`.
                public static var total: Self { Self(name: "total") }
            }

            /// The methods of Calculator, typed.
            public nonisolated enum Methods {
                static let service = RemoteProxy.ServiceDescription("Calculator", errors: ["ArithmeticFailure": ArithmeticFailure.self])

                /// `add(_:to:)` of Calculator.
                public static let add = RemoteProxy.Method<any Calculator, AddArguments, Int>(  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. Objects and proxies do not travel.
                    "add", of: service, parameters: [.init("a", "Int"), .init("b", "[Int?]")], result: "Int") {
                    (service: any Calculator, arguments: AddArguments) async throws -> Int in
                    try await service.add(arguments.a, to: arguments.b)
                }

                /// `note(_:)` of Calculator.
                public static let note = RemoteProxy.Post<any Calculator, NoteArguments>(
                    "note", of: service, parameters: [.init("text", "String")],
                    proxy: { CalculatorProxy(subject: $0).asService }) {
                    (service: any Calculator, arguments: NoteArguments) async in
                    let deliver: (String) async -> Void = service.note(_:)
                    await deliver(arguments.text)
                }

                /// `reset()` of Calculator.
                public static let reset = RemoteProxy.Method<any Calculator, RemoteProxy.NoArguments, RemoteProxy.NoResult>(
                    "reset", of: service) {
                    (service: any Calculator, _: RemoteProxy.NoArguments) async throws -> RemoteProxy.NoResult in
                    try await service.reset()
                    return RemoteProxy.NoResult()
                }

                /// `total` of Calculator.
                public static let total = RemoteProxy.Method<any Calculator, RemoteProxy.NoArguments, Int>(  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. Objects and proxies do not travel.
                    "total", of: service, result: "Int", effect: .reads) {
                    (service: any Calculator, _: RemoteProxy.NoArguments) async throws -> Int in
                    try await service.total
                }

                /// The arguments of `add(_:to:)`.
                public struct AddArguments: RemoteProxy.MethodArguments {
                    public let a: Int
                    public let b: [Int?]

                    public init(a: Int, b: [Int?]) {
                        self.a = a
                        self.b = b
                    }

                    public init(from reader: inout RemoteProxy.ArgumentReader) throws {
                        self.a = try reader.next("a")
                        self.b = try reader.next("b")
                    }

                    public func write(to writer: inout RemoteProxy.ArgumentWriter) throws {
                        try writer.write(self.a)
                        try writer.write(self.b)
                    }
                }

                /// The arguments of `note(_:)`.
                public struct NoteArguments: RemoteProxy.MethodArguments {
                    public let text: String

                    public init(text: String) {
                        self.text = text
                    }

                    public init(from reader: inout RemoteProxy.ArgumentReader) throws {
                        self.text = try reader.next("text")
                    }

                    public func write(to writer: inout RemoteProxy.ArgumentWriter) throws {
                        try writer.write(self.text)
                    }
                }
            }
        }

        """

    /// What it writes for services that refine the protocol.
    static let refinement = """
        extension Calculator where Self: RemoteProxy.ServiceProxy {
            public nonisolated static func _inherit(
                _ base: (any Calculator).Type, _ upcast: @escaping @Sendable (ProxiedService) -> any Calculator
            ) -> RemoteProxy.InheritedMethods<ProxiedService>? {
                .init(of: CalculatorProxy.self, by: Self.self, upcast)
            }

            public nonisolated(nonsending) func add(_ a: Int, to b: [Int?]) async throws -> Int {
                try await CalculatorProxy.Methods.add._call(inheritedBy: self, CalculatorProxy.Methods.AddArguments(a: a, b: b))
            }

            public func note(_ text: String) {
                CalculatorProxy.Methods.note._post(inheritedBy: self, CalculatorProxy.Methods.NoteArguments(text: text)) { $0.note(text) }
            }

            public nonisolated(nonsending) func reset() async throws {
                _ = try await CalculatorProxy.Methods.reset._call(inheritedBy: self, RemoteProxy.NoArguments())
            }

            public nonisolated(nonsending) var total: Int {
                get async throws {
                    try await CalculatorProxy.Methods.total._call(inheritedBy: self, RemoteProxy.NoArguments())
                }
            }
        }

        """
}
