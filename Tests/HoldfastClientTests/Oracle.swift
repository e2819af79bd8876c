import HoldfastProtocol

@testable import HoldfastClient

/// Watches what a machine orders and throws at the first thing that must never be.
struct Oracle {
    struct Illegal: Error, CustomStringConvertible {
        let description: String
    }

    private enum Link: Equatable { case none, opening(LinkID), open(LinkID) }

    private var link = Link.none
    private var lastLink: UInt32 = 0
    private var hasConnect = false
    private var mayConnectAgain = false
    private var hasDisconnect = false
    private var isOnline = false
    private var sent: [UInt32: ClientMessage.Body] = [:]
    private var highestNew: UInt32 = 0
    private var open: Set<UInt32> = []
    private var completed: Set<UInt32> = []
    private var lastFrame: UInt32?
    private var isTold = false
    private var isAway = false

    mutating func called(_ id: UInt32) throws {
        guard open.insert(id).inserted, !completed.contains(id) else {
            throw Illegal(description: "call id \(id) twice")
        }
    }

    mutating func saw(_ input: ClientInput) {
        switch input {
        case .linkOpened(let id): if link == .opening(id) { link = .open(id) }
        case .linkClosed(let id, _): if link == .opening(id) || link == .open(id) { closed() }
        case .received(let id, let message) where link == .open(id):
            switch message.body {
            case .connected?: isOnline = true
            case .error(let error)? where error.code == ErrorCode.resumeExpired.rawValue && !isOnline:
                mayConnectAgain = true
            default: break
            }
        default: break
        }
    }

    private mutating func closed() {
        link = .none
        hasConnect = false
        mayConnectAgain = false
        hasDisconnect = false
        isOnline = false
    }

    mutating func check(_ effect: ClientEffect) throws {
        switch effect {
        case .fetchToken, .armDeadline: break
        case .openLink(let id, _):
            guard link == .none else { throw Illegal(description: "opens \(id) while \(link)") }
            guard id.number > lastLink else { throw Illegal(description: "link number \(id.number) again") }
            lastLink = id.number
            link = .opening(id)
        case .closeLink(let id):
            guard link == .opening(id) || link == .open(id) else {
                throw Illegal(description: "closes \(id), not open")
            }
            closed()
        case .send(let id, let message): try checkSend(id, message)
        case .complete(let id, _):
            guard open.remove(id) != nil || completed.insert(id).inserted else {
                throw Illegal(description: "call \(id) has two outcomes")
            }
            completed.insert(id)
        case .deliver(let event): try checkEvent(event)
        }
    }

    private mutating func checkSend(_ id: LinkID, _ message: ClientMessage) throws {
        guard link == .open(id) else { throw Illegal(description: "sends on \(id) while \(link)") }
        guard let body = message.body, message.id != 0 else { throw Illegal(description: "sends without id or body") }
        if hasDisconnect { throw Illegal(description: "sends after disconnect") }
        if case .connect(let connect) = body {
            guard !hasConnect || mayConnectAgain else { throw Illegal(description: "connects twice on a link") }
            guard connect.resume == nil || connect.token.isEmpty else { throw Illegal(description: "resume and token") }
            hasConnect = true
            mayConnectAgain = false
        } else {
            guard isOnline else { throw Illegal(description: "sends \(body) before connected") }
        }
        if case .disconnect = body { hasDisconnect = true }
        if let before = sent[message.id] {
            guard before == body else { throw Illegal(description: "id \(message.id) again with another body") }
        }
        if case .sendFrameInput = body {
        } else if sent[message.id] == nil, case .connect = body {
        }
        sent[message.id] = body
    }

    private mutating func checkEvent(_ event: ClientEvent) throws {
        switch event {
        case .connected:
            if isTold, !isAway { throw Illegal(description: "connected twice") }
            isTold = true
            isAway = false
        case .reconnecting:
            if !isTold || isAway { throw Illegal(description: "reconnecting while not connected") }
            isAway = true
        case .reconnected:
            if !isAway { throw Illegal(description: "reconnected without reconnecting") }
            isAway = false
        case .disconnected:
            if !isTold { throw Illegal(description: "disconnected without connected") }
            isTold = false
            isAway = false
            lastFrame = nil
        case .frameSyncStarted(_, let snapshot): lastFrame = snapshot?.frameId ?? 0
        case .frameSyncStopped: lastFrame = nil
        case .frame(let frame, _):
            guard let last = lastFrame, frame.id == last + 1 else {
                throw Illegal(description: "frame \(frame.id) after \(String(describing: lastFrame))")
            }
            lastFrame = frame.id
        case .framesSkipped(let first, let last, _):
            guard lastFrame == first - 1, last >= first else {
                throw Illegal(description: "skips \(first)…\(last) after \(String(describing: lastFrame))")
            }
            lastFrame = last
        default: break
        }
    }
}
