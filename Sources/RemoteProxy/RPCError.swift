// How a call failed, and what became of the work: the one error type that this library itself throws.

import RPCWire

/// Why a remote call has no result. The caller's own cancellation is `CancellationError` instead, and errors listed in
/// `@Service(errors:)` arrive as themselves.
public struct RPCError: Error, Sendable {
    /// What happened to the work that the call asked for.
    public enum Outcome: String, Sendable, Hashable {
        /// The subject was never reached. Calling again cannot run anything twice.
        case notExecuted
        /// The subject ran, or began to, and the failure is its answer.
        case executed
        /// The call left this process and its answer never came: the subject may have run or not.
        case unknown

        /// The one of two that says that more of the work may have been done.
        static func more(_ one: Self, _ other: Self) -> Self {
            [.executed, .unknown].first { $0 == one || $0 == other } ?? .notExecuted
        }
    }

    /// The kind of failure, by its JSON-RPC number.
    public var code: Code
    /// What happened and what to do about it, for people.
    public var message: String
    /// What became of the work.
    public var outcome: Outcome
    /// Details from the peer as JSON text, if it sent any.
    public var data: String?
    /// The local fault behind this one, if there is one.
    public var underlying: (any Error)?
    /// Whether a proxy has thrown this error as the end of a call. An object that throws such an error on has begun itself;
    /// the outcome is that of the inner call.
    var endedCall = false

    /// Makes an error. An object may throw one to choose the code and the message that its caller sees.
    ///
    /// Its outcome is then the object's word on its own work: `.notExecuted` says that it has done nothing, so that the call
    /// may be made again, as in `RPCError(.busy, "try later", outcome: .notExecuted)`. An error that the object itself
    /// caught from a call and throws on says nothing of its own work: `.notExecuted` becomes `.executed` then.
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
    /// A JSON-RPC error number. Open: numbers outside -32768 … -32000 are the application's own.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The number on the wire.
        public let rawValue: Int

        /// Any number, known or not.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// What was received is not JSON.
        public static let parseError = Code(rawValue: ErrorCode.parseError)
        /// What was received is JSON but not a JSON-RPC message.
        public static let invalidRequest = Code(rawValue: ErrorCode.invalidRequest)
        /// The peer has no such service, object or method.
        public static let unimplemented = Code(rawValue: ErrorCode.methodNotFound)
        /// The arguments do not fit the method's parameters.
        public static let invalidArguments = Code(rawValue: ErrorCode.invalidParams)
        /// The subject threw an error that is not listed in `@Service(errors:)`.
        public static let internalError = Code(rawValue: ErrorCode.internalError)
        /// The call was cancelled at the peer's end.
        public static let cancelled = Code(rawValue: ErrorCode.cancelled)
        /// The request is larger than the peer takes.
        public static let requestTooLarge = Code(rawValue: ErrorCode.requestTooLarge)
        /// The result is larger than a frame may be.
        public static let responseTooLarge = Code(rawValue: ErrorCode.responseTooLarge)
        /// The peer is at one of its limits; the message names it.
        public static let busy = Code(rawValue: ErrorCode.busy)
        /// The batch has more members than the peer takes.
        public static let batchTooLarge = Code(rawValue: ErrorCode.batchTooLarge)
        /// No connection could be had, or the peer is stopping.
        public static let unavailable = Code(rawValue: ErrorCode.unavailable)
        /// The connection broke after the call was sent and before its reply came.
        public static let connectionLost = Code(rawValue: ErrorCode.connectionLost)
        /// The time allowed for the call ran out.
        public static let deadlineExceeded = Code(rawValue: ErrorCode.deadlineExceeded)
        /// A policy did not let the call through.
        public static let denied = Code(rawValue: ErrorCode.denied)
        /// The client was closed by its owner.
        public static let closed = Code(rawValue: ErrorCode.closed)
        /// The peer takes no calls without a token that it knows.
        public static let unauthenticated = Code(rawValue: ErrorCode.unauthenticated)
        /// The object behind a proxy that refers to it weakly is no more.
        public static let subjectGone = Code(rawValue: ErrorCode.subjectGone)
        /// A declared error of the service, carried in `data`.
        public static let application = Code(rawValue: 1)
        /// The address given to the client cannot be understood.
        public static let invalidAddress = Code(rawValue: ErrorCode.invalidAddress)
        /// The hold under which the call was made is over.
        public static let holdEnded = Code(rawValue: ErrorCode.holdEnded)
        /// The peer answered with something that is not a valid reply to this call.
        public static let invalidReply = Code(rawValue: ErrorCode.invalidReply)

        /// What became of the work when a peer answers with this code and says no more.
        var usualOutcome: Outcome {
            switch self {
            case .parseError, .invalidRequest, .unimplemented, .invalidArguments, .requestTooLarge, .busy,
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

    /// Nothing where the message tells it already; of what was wrong with JSON it always does, in short.
    private var cause: String {
        guard let underlying, !(underlying is DecodingError || underlying is EncodingError) else { return "" }
        let text = "\(underlying)"
        return message.contains(text) ? "" : ": \(text)"
    }
}
