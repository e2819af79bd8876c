import HoldfastProtocol

/// Frames, and what all members' streams have in common (invariants 5, 6, 7).
extension ClientChecker {
    // MARK: Frames of a stream

    mutating func live(_ frame: Frame, seq: UInt64, on view: inout CheckedLink) {
        guard view.room >= 0 else {
            violate(5, "\(name(view)) is in no room, and is told frame \(frame.id)")
            return
        }
        guard advance(to: seq, .frames(frame.id, frame.id), on: &view) else { return }
        holes(before: seq, frames: nil, on: view)
        view.seq = seq
        take(frame, seq: seq, on: &view)
    }

    mutating func past(_ batch: Frames, seq: UInt64, on view: inout CheckedLink) {
        guard view.room >= 0, let first = batch.frames.first, let last = batch.frames.last else {
            violate(5, "\(name(view)) is told frames: \(batch.frames.count), room \(view.room)")
            return
        }
        if batch.frameSyncId != view.sync {
            violate(5, "\(name(view)): frames of frame sync \(batch.frameSyncId) while \(view.sync) runs")
            return
        }
        if first.id > view.frame + 1, first.id == batch.firstKept {
            // What is forgotten is skipped, and then nobody can say between which frames the events stood.
            view.frame = first.id - 1
            view.unplaced = []
        }
        if seq == 0 {
            if let at = rooms[view.room].syncs[view.sync]?.frames[safe: Int(last.id) - 1]?.seq, at > view.base {
                violate(5, "\(name(view)): frame \(last.id) has no position and stands at \(at), after \(view.base)")
            }
        } else {
            guard advance(to: seq, .frames(first.id, last.id), on: &view) else { return }
            holes(before: seq, frames: first.id...last.id, on: view)
            view.seq = seq
        }
        for frame in batch.frames { take(frame, seq: frame.id == last.id ? seq : 0, on: &view) }
    }

    private mutating func take(_ frame: Frame, seq: UInt64, on view: inout CheckedLink) {
        let room = rooms[view.room].id
        guard view.sync != 0 else {
            violate(5, "\(name(view)): frame \(frame.id) in \(room) while no frame sync runs")
            return
        }
        if frame.id != view.frame + 1 {
            violate(5, "\(name(view)): frame \(frame.id) of \(room) after \(view.frame)")
        }
        if frame.id == view.frame + 1 { placeEvents(on: &view) } else { view.unplaced = [] }
        view.frame = frame.id
        record(frame, of: view.sync, seq: seq, on: view)
        if seq != 0 { record(frameAt: seq, RoomTruth.Place(sync: view.sync, frame: frame.id), on: view) }
        for input in frame.inputs {
            told(timeMs: input.serverTime, on: &view)
            guard let content = Content(of: input), content.device == view.device else { continue }
            shown(content, in: view.sync, on: &view)
        }
    }

    /// The reply to `getFrames`: the same frames.
    mutating func compare(_ batch: Frames, on view: CheckedLink) {
        guard view.room >= 0 else { return }
        var next: UInt32?
        for frame in batch.frames {
            if let next, frame.id != next {
                violate(5, "\(name(view)): getFrames brings frame \(frame.id) instead of \(next)")
            }
            next = frame.id + 1
            record(frame, of: batch.frameSyncId, seq: 0, on: view)
        }
    }

    /// The events since the last frame stand between it and the next, for everybody.
    mutating func placeEvents(on view: inout CheckedLink) {
        guard !view.unplaced.isEmpty else { return }
        let place = RoomTruth.Place(sync: view.sync, frame: view.frame)
        for seq in view.unplaced {
            guard let position = rooms[view.room].position(seq) else { continue }
            if let known = position.place {
                if known != place {
                    violate(
                        5,
                        "\(name(view)): position \(seq) of \(rooms[view.room].id) stands after frame \(place.frame) of "
                            + "\(place.sync); for others after \(known.frame) of \(known.sync)"
                    )
                }
            } else {
                rooms[view.room].positions[Int(seq) - 1].place = place
            }
        }
        view.unplaced.removeAll(keepingCapacity: true)
    }

    // MARK: The same for all

    private mutating func record(_ frame: Frame, of sync: UInt32, seq: UInt64, on view: CheckedLink) {
        let room = view.room
        guard rooms[room].reach(frame: frame.id, of: sync), var truth = rooms[room].syncs[sync] else { return }
        rooms[room].syncs[sync] = nil
        defer { rooms[room].syncs[sync] = truth }
        let index = Int(frame.id) - 1
        let sum = ContentSum.of(frame)
        if seq != 0 {
            let known = truth.frames[index].seq
            if known == 0 { truth.frames[index].seq = seq }
            if known != 0, known != seq {
                violate(
                    5, "\(name(view)): frame \(frame.id) of \(rooms[room].id) stands at \(seq); for others at \(known)")
            }
        }
        if truth.frames[index].sum == sum { return }
        if truth.frames[index].sum != 0 {
            violate(5, "\(name(view)): frame \(frame.id) of \(rooms[room].id) is not what others got")
            return
        }
        truth.frames[index].sum = sum
        if let before = truth.frames[safe: index - 1], before.seq != 0, seq != 0, before.seq >= seq {
            violate(5, "\(name(view)): frame \(frame.id) stands at \(seq), the one before at \(before.seq)")
        }
        let isNext = frame.id == truth.checked + 1
        if isNext { truth.checked = frame.id }
        for input in frame.inputs { record(input, in: frame.id, of: sync, isNext: isNext, &truth, on: view) }
    }

    private mutating func record(
        _ input: FrameInput, in frame: UInt32, of sync: UInt32, isNext: Bool, _ truth: inout RoomTruth.SyncTruth,
        on view: CheckedLink
    ) {
        guard let content = Content(of: input), content.kind == .input, inputs.indices.contains(content.device),
            let sent = inputs[content.device][safe: content.number - 1], sent.sends > 0
        else {
            violate(7, "\(name(view)): frame \(frame) has an input that nobody sent, of \(input.playerId)")
            return
        }
        let what = "input \(content.number) of \(players[owners[content.device]])/\(content.device)"
        let place = CheckedInput.Placed(room: view.room, sync: sync, frame: frame)
        if number(ofPlayer: input.playerId) != owners[content.device] || input.id != sent.id {
            violate(7, "\(what) stands in frame \(frame) as input \(input.id) of \(input.playerId)")
        }
        if let before = sent.place {
            violate(7, "\(what) stands in frame \(before.frame) of \(before.sync), and in frame \(frame) of \(sync)")
            return
        }
        if sent.sync != 0, sent.sync != sync {
            violate(7, "\(what) is for frame sync \(sent.sync), and in one of \(sync)")
        }
        if sent.refusals >= sent.sends { violate(7, "\(what) was refused, and stands in frame \(frame)") }
        inputs[content.device][content.number - 1].place = place
        guard isNext else { return }
        if let last = truth.lastInput[content.device], last >= content.number {
            violate(7, "\(what) stands in frame \(frame) behind the later \(last)")
        }
        truth.lastInput[content.device] = content.number
    }

    mutating func record(_ body: ServerMessage.Body, seq: UInt64, _ addressees: Addressees, on view: CheckedLink) {
        let room = view.room
        guard rooms[room].reach(seq) else { return }
        let sum = ContentSum.of(body) | 1
        let known = rooms[room].positions[Int(seq) - 1]
        if known.sum == sum { return }
        if known.sum != 0 {
            violate(5, "\(name(view)): position \(seq) of \(rooms[room].id) is not what others got: \(kind(of: body))")
            return
        }
        rooms[room].positions[Int(seq) - 1].sum = sum
        rooms[room].positions[Int(seq) - 1].addressees = addressees
        rooms[room].positions[Int(seq) - 1].toldMs = nowMs
        settleMissed(seq, what: .event(body), room: room)
        record(Content(of: body), body, seq: seq, on: view)
        presence(body, seq: seq, on: view)
    }

    /// What a request said stands in one place only, and nowhere when it was refused.
    private mutating func record(_ content: Content?, _ body: ServerMessage.Body, seq: UInt64, on view: CheckedLink) {
        guard let content else {
            if case .customMessageReceived(let message) = body {
                violate(6, "\(name(view)): a message that nobody sent, of \(message.playerId)")
            }
            return
        }
        guard let known = contents[content] else {
            if contents.count < Self.contentsKept { violate(6, "\(name(view)): \(content.text), which nobody sent") }
            return
        }
        let room = rooms[view.room].id
        if let place = known.place {
            if rooms[place.room].isLost { return }
            violate(
                6, "\(content.text) was done twice: at \(place.seq) of \(rooms[place.room].id), at \(seq) of \(room)")
            return
        }
        contents[content]?.place = (view.room, seq)
        if known.refusals >= known.sends { violate(6, "\(content.text) was refused, and stands at \(seq) of \(room)") }
        if case .customMessageReceived(let message) = body, number(ofPlayer: message.playerId) != known.player {
            violate(6, "\(content.text) of \(players[known.player]) is told as of \(message.playerId)")
        }
    }

    private mutating func record(frameAt seq: UInt64, _ place: RoomTruth.Place, on view: CheckedLink) {
        let room = view.room
        guard rooms[room].reach(seq) else { return }
        let known = rooms[room].positions[Int(seq) - 1]
        if known.sum == 0 {
            // Frames are compared by their own numbers.
            rooms[room].positions[Int(seq) - 1].sum = 2
            rooms[room].positions[Int(seq) - 1].isFrame = true
            rooms[room].positions[Int(seq) - 1].place = place
            rooms[room].positions[Int(seq) - 1].toldMs = nowMs
            settleMissed(seq, what: .frames(place.frame, place.frame), room: room)
        } else if !known.isFrame || known.place != place {
            violate(
                5,
                "\(name(view)): frame \(place.frame) stands at \(seq) of \(rooms[room].id), and others got more there"
            )
        }
    }

    // MARK: Holes

    /// Positions that were passed over are of events for others.
    /// - Parameter frames: of a batch: they fill positions that nobody tells.
    mutating func holes(before seq: UInt64, frames: ClosedRange<UInt32>?, on view: CheckedLink) {
        let room = view.room
        guard seq > view.seq + 1, rooms[room].reach(seq - 1) else { return }
        for missed in (view.seq + 1)..<seq {
            let position = rooms[room].positions[Int(missed) - 1]
            if position.isFrame {
                if let frames, let place = position.place, place.sync == view.sync, frames.contains(place.frame) {
                    continue
                }
                violate(
                    5, "\(name(view)) did not get frame \(position.place?.frame ?? 0) at \(missed) of \(rooms[room].id)"
                )
            } else if position.sum != 0 {
                if position.addressees.include(Listener(view)) == true {
                    violate(5, "\(name(view)) did not get position \(missed) of \(rooms[room].id)")
                }
            } else if frames == nil {
                rooms[room].positions[Int(missed) - 1].missedBy.append(Listener(view))
            }
        }
    }

    private mutating func settleMissed(_ seq: UInt64, what: StreamWord, room: Int) {
        let position = rooms[room].positions[Int(seq) - 1]
        guard !position.missedBy.isEmpty else { return }
        for listener in position.missedBy {
            if position.isFrame || position.addressees.include(listener) == true {
                let player = players[listener.player]
                violate(5, "\(player) did not get position \(seq) of \(rooms[room].id): \(words(what))")
            }
        }
        rooms[room].positions[Int(seq) - 1].missedBy = []
    }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
