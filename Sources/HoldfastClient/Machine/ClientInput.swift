public import HoldfastProtocol

/// One link (one WebSocket connection) of a client; never used again.
public struct LinkID: Hashable, Sendable {
    /// Counts from 1.
    public let number: UInt32

    init(_ number: UInt32) { self.number = number }
}

/// What happens to a `ClientMachine` besides calls. Inputs that name a link which is not the present one are late and
/// change nothing.
public enum ClientInput: Equatable, Sendable {
    /// The token that `fetchToken` asked for.
    case token(String)
    /// There is no token; with a code other than `networkError` the client gives up.
    case tokenFailed(HoldfastError)
    /// The link is up: WebSocket handshake done, the subprotocol agreed.
    case linkOpened(LinkID)
    /// The link ended, or could not be opened.
    case linkClosed(LinkID, reason: String)
    /// A message of the server's.
    case received(LinkID, ServerMessage)
    /// Something that is no message came at this time: a WebSocket ping or pong. It shows that the server lives.
    case linkActive(LinkID, atMs: Int64)
    /// Bytes came that are no message. The link is dropped.
    case malformed(LinkID, reason: String)
    /// A message that cannot be sent (too large); the call with this id fails, the link stays.
    case unsendable(id: UInt32, HoldfastError)
    /// Close the link and stay away until `wake`; the run can be resumed within its window. `reconnecting` tells the
    /// reason.
    case sleep(HoldfastError)
    /// Come back after `sleep`.
    case wake
    /// End without a goodbye: the server holds the seat until the resume window is over.
    case stop
    /// Time has passed: at least the last `armDeadline`. Early and needless ones are harmless.
    case deadline
}

/// What a `ClientMachine` orders. To be carried out in order.
public enum ClientEffect: Equatable, Sendable {
    /// Ask the token provider; answered by `token` or `tokenFailed`.
    case fetchToken
    /// Open a link to this endpoint (an index into the list of addresses); answered by `linkOpened` or `linkClosed`.
    case openLink(LinkID, endpoint: Int)
    /// Close it and forget it; no answer is expected.
    case closeLink(LinkID)
    /// Send a message on an open link.
    indirect case send(LinkID, ClientMessage)
    /// Tell the application.
    case deliver(ClientEvent)
    /// The one outcome of the call with this id.
    indirect case complete(UInt32, ClientReply)
    /// Give `deadline` at this time of the machine's clock; replaces the deadline armed before.
    case armDeadline(atMs: Int64)
}

/// Settings of a `ClientMachine`. Times are milliseconds.
public struct ClientOptions: Equatable, Sendable {
    /// How many addresses there are, at least 1.
    public var endpointCount = 1
    /// Free text for the server's logs, at most 128 bytes.
    public var client = "holdfast-swift/1"
    /// How long one attempt may take to open a link.
    public var openTimeoutMs: Int64 = 5_000
    /// How long the server may take to answer `connect`.
    public var handshakeTimeoutMs: Int64 = 8_000
    /// `connect` fails with `networkError` when there is no connection after this long.
    public var connectTimeoutMs: Int64 = 30_000
    /// After a link broke and for this long no other came, the client gives up (`networkError`).
    public var giveUpAfterMs: Int64 = 120_000
    /// A call without an answer for this long fails with `networkError`; `matchRoom` gets its own timeout on top.
    public var callTimeoutMs: Int64 = 60_000
    /// How long `disconnect` waits for the server's goodbye.
    public var closeTimeoutMs: Int64 = 2_000
    /// The first reconnect comes after a random part of this.
    public var firstDelayMs: Int64 = 50
    /// Then this, doubling with each attempt, each time with half of it at random.
    public var baseDelayMs: Int64 = 200
    /// No delay is above this.
    public var maxDelayMs: Int64 = 5_000
    /// A link that lasted this long starts the delays anew.
    public var stableAfterMs: Int64 = 5_000
    /// What the heartbeat is taken for until the server has said it.
    public var heartbeatMs: Int64 = 5_000
    /// Calls without an answer; one more fails with `rateLimited` and is not sent. The server's limit is the same.
    public var pendingCalls = 64
    /// Frame inputs not seen in a frame yet; one more fails with `tooManyFrameInputs`, the earlier ones stay.
    public var pendingInputs = 128
    /// Inputs sent again after a resume, for each frame that comes.
    public var inputsPerFrame = 5
    /// Messages held back while a hole in the frames is filled; over it the link is dropped and resumed.
    public var heldMessages = 1_024

    /// The defaults.
    public init() {}
}
