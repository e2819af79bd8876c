import HoldfastProtocol

@testable import HoldfastClient

/// A machine's orders as lines of a dialogue.
enum Render {
    static func effect(_ effect: ClientEffect) -> String {
        switch effect {
        case .fetchToken: "fetch token"
        case .openLink(let link, let endpoint): "open L\(link.number) to \(endpoint)"
        case .closeLink(let link): "close L\(link.number)"
        case .send(let link, let message): "send L\(link.number) #\(message.id) \(sent(message.body))"
        case .deliver(let event): "tell \(told(event))"
        case .complete(let id, .success(let body)): "done #\(id) \(reply(body))"
        case .complete(let id, .failure(let error)): "done #\(id) \(failure(error))"
        case .armDeadline(let atMs): "arm \(atMs)"
        }
    }

    static func room(_ room: RoomInfo) -> String {
        let players = room.players.map { player in
            var text = player.id + (player.status == 0 ? "-" : "")
            if player.customStatus != 0 { text += "/\(player.customStatus)" }
            if !player.customProperties.isEmpty { text += "/\(player.customProperties)" }
            return text
        }
        let name = room.name.isEmpty ? "" : " name=\(room.name)"
        return "\(room.id): \(players.joined(separator: " ")) owner=\(room.ownerId) status=\(room.status)\(name)"
    }

    static func failure(_ error: HoldfastError) -> String {
        "\(error.code)" + (error.retryAfterMs > 0 ? " retry=\(error.retryAfterMs)" : "")
    }

    private static func sent(_ body: ClientMessage.Body?) -> String {
        switch body {
        case .connect(let connect)?:
            guard let resume = connect.resume else { return "connect token=\(connect.token)" }
            var text = "connect resume=\(resume.resumeToken)"
            if !resume.roomId.isEmpty { text += " room=\(resume.roomId)@\(resume.roomSeq)" }
            if resume.frameSyncId != 0 { text += " fs=\(resume.frameSyncId)@\(resume.frameId)" }
            return text
        case .sendCustomMessage(let say)?: return "say \(say.msg)"
        case .sendFrameInput(let input)?:
            guard case .data(let text)? = input.payload else { return "input" }
            return "input \(text) fs=\(input.frameSyncId)"
        case .getFrames(let get)?: return "getFrames \(get.first)..\(get.last) fs=\(get.frameSyncId)"
        case .reportFrameHash(let report)?: return "hash \(report.frameId) fs=\(report.frameSyncId)"
        case let body?: return label(body)
        case nil: return "nothing"
        }
    }

    private static func reply(_ body: ServerMessage.Body) -> String {
        switch body {
        case .roomJoined(let joined): "joined \(joined.room?.id ?? "nothing")"
        case .frames(let frames): "frames \(frames.frames.count)"
        default: label(body)
        }
    }

    private static func told(_ event: ClientEvent) -> String {
        switch event {
        case .connected(let connected), .reconnected(let connected):
            return label(event) + (connected.room.map { " in \($0.id)" } ?? "")
        case .reconnecting(let error): return "reconnecting (\(failure(error)))"
        case .disconnected(let error): return "disconnected (\(failure(error)))"
        case .requestFailed(let id, let error): return "failed #\(id) \(failure(error))"
        case .roomJoined(let joined): return "joined \(joined.room?.id ?? "nothing")"
        case .roomLeft(let roomId): return "left \(roomId)"
        case .playerEntered(let event): return "entered \(event.player?.id ?? "")"
        case .playerLeft(let event): return "playerLeft \(event.playerId)"
        case .playerKicked(let event): return "kicked \(event.playerId)"
        case .customMessageReceived(let event): return "said \(event.playerId) \(event.msg)"
        case .frameSyncStarted(let info, let snapshot):
            return "started \(info.frameSyncId)" + (snapshot.map { " snapshot=\($0.frameId)" } ?? "")
        case .frame(let frame, let isCatchUp): return "frame \(frame.id)" + (isCatchUp ? " (past)" : "")
        case .framesSkipped(let first, let last, let snapshot):
            return "skipped \(first)..\(last)" + (snapshot.map { " snapshot=\($0.frameId)" } ?? "")
        case .frameSyncStopped(let event): return "stopped \(event.frameSyncId) reason=\(event.reason)"
        default: return label(event)
        }
    }

    /// The name of an enum's case.
    private static func label(_ value: some Any) -> String {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }
}
