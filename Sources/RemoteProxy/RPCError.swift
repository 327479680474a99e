// How a call failed, and what became of the work: the error that this library itself throws to callers.

import RPCWire

/// Why a remote call has no result. If the caller itself cancelled, `CancellationError` is thrown instead. Errors that are
/// listed in `@Service(errors:)` arrive as their own type.
public struct RPCError: Error, Sendable {
    /// What happened to the work that the call asked for. There will never be another outcome, so a `switch` over it needs no
    /// `default`.
    public enum Outcome: String, Sendable, Hashable {
        /// The subject was never reached. Calling again cannot run anything twice.
        case notExecuted
        /// The subject ran, or began to run, and the failure is its answer.
        case executed
        /// The call left this process and its answer never came. The subject may have run or not.
        case unknown

        /// The one of two outcomes that admits that more of the work was done.
        static func more(_ one: Self, _ other: Self) -> Self {
            [.executed, .unknown].first { $0 == one || $0 == other } ?? .notExecuted
        }
    }

    /// The kind of failure, by its JSON-RPC number.
    public var code: Code
    /// What happened and what to do about it, as a text for people.
    public var message: String
    /// What became of the work. An object that sets it says this of its own work, also in an error that it has caught.
    public var outcome: Outcome {
        didSet { endedCall = false }
    }
    /// The method that was called, such as `Greeter.greet`; nil where it is not known.
    public var method: String?
    /// The address of the other end, as ``Caller/address``; nil if the call was for no other end, or did not reach one.
    public var peer: String?
    /// Details from the peer as JSON text; nil if it sent none.
    public var data: String?
    /// The local error that caused this one; nil if there is none.
    public var underlying: (any Error)?
    /// Whether a proxy has thrown this error as the end of a call. If an object throws such an error on, that object has begun;
    /// the outcome is only that of the inner call.
    var endedCall = false

    /// Makes an error. An object may throw one to choose the code and the message that its caller sees.
    ///
    /// Then the outcome is what the object says of its own work. With `.notExecuted` it says that it has done nothing and may
    /// be called again, as in `RPCError(.busy, "try later", outcome: .notExecuted)`. An error that the object caught from a
    /// call of its own and throws on says nothing of its own work. In such an error `.notExecuted` becomes `.executed`. An
    /// object that has done nothing but make that call says so: it sets ``outcome`` before it throws the error on.
    public init(
        _ code: Code, _ message: String, outcome: Outcome, data: String? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.outcome = outcome
        self.data = data
        self.underlying = underlying
    }
}

extension RPCError {
    /// A JSON-RPC error number. Any number is allowed; numbers outside -32768 … -32000 belong to the application.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The number on the wire.
        public let rawValue: Int

        /// Any number, known or not.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// What was received is not JSON.
        public static let parseError = Code(rawValue: ErrorCode.parseError)
        /// What was received is JSON but not a JSON-RPC message.
        public static let invalidRequest = Code(rawValue: ErrorCode.invalidRequest)
        /// The service has no such method, or what was asked of the proxy is nothing that it can do.
        public static let noSuchMethod = Code(rawValue: ErrorCode.methodNotFound)
        /// The object is not there: it is not exported, or no longer, or a proxy refers to it weakly and it is gone.
        public static let noSuchObject = Code(rawValue: ErrorCode.noSuchObject)
        /// The arguments do not fit the method's parameters.
        public static let invalidArguments = Code(rawValue: ErrorCode.invalidParams)
        /// The subject threw an error that is not listed in `@Service(errors:)`.
        public static let subjectFailed = Code(rawValue: ErrorCode.internalError)
        /// The call was cancelled at the peer's end.
        public static let cancelled = Code(rawValue: ErrorCode.cancelled)
        /// The request is larger than the peer accepts.
        public static let requestTooLarge = Code(rawValue: ErrorCode.requestTooLarge)
        /// The result is larger than a frame may be.
        public static let responseTooLarge = Code(rawValue: ErrorCode.responseTooLarge)
        /// The peer is at one of its limits; the message names it.
        public static let busy = Code(rawValue: ErrorCode.busy)
        /// The batch has more members than the peer accepts.
        public static let batchTooLarge = Code(rawValue: ErrorCode.batchTooLarge)
        /// No connection could be made, or the peer is stopping.
        public static let unavailable = Code(rawValue: ErrorCode.unavailable)
        /// The connection broke after the call was sent and before its reply came.
        public static let connectionLost = Code(rawValue: ErrorCode.connectionLost)
        /// The time allowed for the call ran out.
        public static let deadlineExceeded = Code(rawValue: ErrorCode.deadlineExceeded)
        /// A policy did not let the call through.
        public static let denied = Code(rawValue: ErrorCode.denied)
        /// The client was closed by its owner.
        public static let closed = Code(rawValue: ErrorCode.closed)
        /// The peer accepts no calls without a token that it knows.
        public static let unauthenticated = Code(rawValue: ErrorCode.unauthenticated)
        /// The subject threw an error that the other end lists in `@Service(errors:)` and this one does not. It is in `data`.
        public static let unlistedError = Code(rawValue: 1)
        /// The address given to the client cannot be understood.
        public static let invalidAddress = Code(rawValue: ErrorCode.invalidAddress)
        /// The hold under which the call was made is over.
        public static let holdEnded = Code(rawValue: ErrorCode.holdEnded)
        /// The peer answered with something that is not a valid reply to this call.
        public static let invalidReply = Code(rawValue: ErrorCode.invalidReply)

        /// What became of the work when a peer answers with this code and does not say.
        var usualOutcome: Outcome {
            switch self {
            case .parseError, .invalidRequest, .noSuchMethod, .noSuchObject, .invalidArguments, .requestTooLarge, .busy,
                .batchTooLarge, .unavailable, .unauthenticated, .denied, .holdEnded:
                .notExecuted
            case .connectionLost:
                .unknown
            default:
                .executed
            }
        }
    }
}

extension RPCError: CustomStringConvertible {
    /// The message, the local fault behind it, the number and the outcome, in one line.
    public var description: String { "\(message)\(cause) (\(code.rawValue), \(outcome.rawValue))" }

    /// Empty if the message contains the cause already. For errors in JSON it always does, in short.
    private var cause: String {
        guard let underlying, !(underlying is DecodingError || underlying is EncodingError) else { return "" }
        let text = "\(underlying)"
        return message.contains(text) ? "" : ": \(text)"
    }
}
