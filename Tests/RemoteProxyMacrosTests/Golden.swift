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
                try await Self.Methods.add._call(self.proxySubject, (a: a, b: b))
            }

            public func note(_ text: String) {
                Self.Methods.note._post(self.proxySubject, text) { $0.note(text) }
            }

            public nonisolated(nonsending) func reset() async throws {
                _ = try await Self.Methods.reset._call(self.proxySubject, ())
            }

            public nonisolated(nonsending) var total: Int {
                get async throws {
                    try await Self.Methods.total._call(self.proxySubject, ())
                }
            }

            /// All methods of the service, in the order of declaration.
            public nonisolated static let _methodTable = RemoteProxy._MethodTable<any Calculator>(
                Methods.service, [Methods.add, Methods.note, Methods.reset, Methods.total]) {
                ($0 as? any Calculator & Swift.AnyObject).map { CalculatorProxy.weak($0).proxySubject }
            }

            /// A proxy that does not keep its object alive. When the object is gone, calls throw `RPCError` with the
            /// code `.noSuchObject` and posts vanish.
            public nonisolated static func weak(_ object: any Calculator & Swift.AnyObject) -> Self {
                weak let object = object
                return Self(
                    subject: RemoteProxy._WeakSubject<any Calculator> {
                        guard let object else { throw RemoteProxy._ObjectIsGone() }
                        return object
                    })
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
                static let service = RemoteProxy._ServiceDescription("Calculator", errors: ["ArithmeticFailure": ArithmeticFailure.self])

                /// `add(_:to:)` of Calculator.
                public static let add = RemoteProxy.Method<any Calculator, (a: Int, b: [Int?]), Int>(  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. Instead of an object or a proxy, write 'any' and the service.
                    "add", of: service, parameters: ["a": "Int", "b": "[Int?]"], result: "Int",
                    coding: RemoteProxy._ArgumentCoding<(a: Int, b: [Int?])>(
                        read: { let a: Int = try $0.next(); let b: [Int?] = try $0.next(); return (a, b) },
                        write: { try $1.write($0.a); try $1.write($0.b) })) {
                    (service: any Calculator, arguments: (a: Int, b: [Int?])) async throws -> Int in
                    try await service.add(arguments.a, to: arguments.b)
                }

                /// `note(_:)` of Calculator.
                public static let note = RemoteProxy.Post<any Calculator, String>(
                    "note", of: service, parameters: ["text": "String"],
                    proxy: { CalculatorProxy(subject: $0).asService },
                    coding: RemoteProxy._ArgumentCoding<String>(
                        read: { let text: String = try $0.next(); return text },
                        write: { try $1.write($0) })) {
                    (service: any Calculator, arguments: String) async in
                    let deliver: (String) async -> Void = service.note(_:)
                    await deliver(arguments)
                }

                /// `reset()` of Calculator.
                public static let reset = RemoteProxy.Method<any Calculator, Swift.Void, RemoteProxy._NoResult>(
                    "reset", of: service,
                    coding: RemoteProxy._ArgumentCoding<Swift.Void>.none) {
                    (service: any Calculator, _: Swift.Void) async throws -> RemoteProxy._NoResult in
                    try await service.reset()
                    return RemoteProxy._NoResult()
                }

                /// `total` of Calculator.
                public static let total = RemoteProxy.Method<any Calculator, Swift.Void, Int>(  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. Instead of an object or a proxy, write 'any' and the service.
                    "total", of: service, result: "Int", effect: .readOnly,
                    coding: RemoteProxy._ArgumentCoding<Swift.Void>.none) {
                    (service: any Calculator, _: Swift.Void) async throws -> Int in
                    try await service.total
                }
            }
        }

        """

    /// What it writes for services that refine the protocol.
    static let refinement = """
        extension Calculator where Self: RemoteProxy.ServiceProxy {
            public nonisolated static func _inherit(
                _ base: (any Calculator).Type, _ upcast: @escaping @Sendable (ProxiedService) -> any Calculator
            ) -> RemoteProxy._InheritedMethods<ProxiedService>? {
                .init(of: CalculatorProxy.self, by: Self.self, upcast)
            }

            public nonisolated(nonsending) func add(_ a: Int, to b: [Int?]) async throws -> Int {
                try await CalculatorProxy.Methods.add._call(inheritedBy: self, (a: a, b: b))
            }

            public func note(_ text: String) {
                CalculatorProxy.Methods.note._post(inheritedBy: self, text) { $0.note(text) }
            }

            public nonisolated(nonsending) func reset() async throws {
                _ = try await CalculatorProxy.Methods.reset._call(inheritedBy: self, ())
            }

            public nonisolated(nonsending) var total: Int {
                get async throws {
                    try await CalculatorProxy.Methods.total._call(inheritedBy: self, ())
                }
            }
        }

        """
}
