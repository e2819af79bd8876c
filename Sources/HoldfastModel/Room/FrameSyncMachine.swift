import HoldfastProtocol

/// One frame sync of a room: the open frame, the grid on which frames are sealed, hash reports and the snapshot.
struct FrameSyncMachine: Sendable {
    /// As told in `frameSyncStarted`. Apart from the rest, so that the machine is cheap to look at.
    let told: Told
    let id: UInt32
    let startedMs: Int64
    let endsAtMs: Int64
    let rate: Int64

    /// The newest sealed frame; 0 at the start.
    var sealed: UInt32 = 0
    var inputs: [FrameInput] = []
    var changes: [SeatChange] = []
    var inputBytes = 0
    var taken: [String: Int] = [:]
    /// How many intervals' worth of inputs the open frame takes: more after a pause in which no frame was sealed.
    var intervals = 1
    /// Counts the points of the grid since the start, skipped ones too.
    var tick: Int64 = 1

    var snapshot: Snapshot?
    var reports: [UInt32: Reports] = [:]

    final class Told: Sendable {
        let started: FrameSyncInfo
        init(_ started: FrameSyncInfo) { self.started = started }
    }

    struct Reports: Sendable {
        var hashes: [FrameHash] = []
        var told = false
    }

    init(started: FrameSyncInfo, nowMs: Int64, limits: Limits) {
        told = Told(started)
        id = started.frameSyncId
        startedMs = nowMs
        endsAtMs = nowMs + Int64(limits.frameSyncMs)
        rate = Int64(max(1, started.frameRate))
    }

    var nextSealMs: Int64 { timeMs(ofTick: tick) }
    var hasOpenInputs: Bool { !inputs.isEmpty }

    /// Told to who joins or connects later.
    var info: FrameSyncInfo {
        var info = told.started
        info.frameId = sealed
        return info
    }

    /// Absolute, and rounded once, so that no rate drifts.
    private func timeMs(ofTick tick: Int64) -> Int64 { startedMs + (tick * 1000 + rate / 2) / rate }

    /// - Returns: false when the player has put as many into this frame as it may.
    mutating func add(_ input: FrameInput, size: Int, limits: Limits) -> Bool {
        let count = taken[input.playerId, default: 0]
        guard count < limits.inputsPerFrame * intervals else { return false }
        taken[input.playerId] = count + 1
        inputs.append(input)
        inputBytes += size
        return true
    }

    mutating func note(_ kind: SeatChange.Kind, _ player: String) {
        changes.append(SeatChange(playerId: player, kind: kind.rawValue))
    }

    /// Seals the open frame. Points of the grid that have passed meanwhile are skipped.
    mutating func seal(nowMs: Int64) -> (frame: Frame, inputBytes: Int) {
        sealed += 1
        let frame = Frame(id: sealed, inputs: inputs, changes: changes)
        let bytes = inputBytes
        inputs.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        taken.removeAll(keepingCapacity: true)
        inputBytes = 0
        let before = tick
        tick += 1
        if timeMs(ofTick: tick) <= nowMs {
            tick = max(tick, (nowMs - startedMs) * rate / 1000)
            while timeMs(ofTick: tick) <= nowMs { tick += 1 }
        }
        // What players sent during a pause arrives in one frame.
        intervals = Int(clamping: tick - before)
        return (frame, bytes)
    }

    /// - Returns: the desync to tell of, once for a frame.
    mutating func report(_ report: ReportFrameHash, from player: String, limits: Limits) -> DesyncDetected? {
        guard sealed - report.frameId <= limits.hashWindowFrames else { return nil }
        if reports.count > 2 * Int(limits.hashWindowFrames) {
            let oldest = sealed > limits.hashWindowFrames ? sealed - limits.hashWindowFrames : 0
            reports = reports.filter { $0.key >= oldest }
        }
        var known = reports[report.frameId] ?? Reports()
        guard !known.hashes.contains(where: { $0.playerId == player }) else { return nil }
        known.hashes.append(FrameHash(playerId: player, hash: report.hash))
        let differs = known.hashes.contains { $0.hash != report.hash }
        let tell = differs && !known.told
        known.told = known.told || differs
        reports[report.frameId] = known
        return tell ? DesyncDetected(frameId: report.frameId, hashes: known.hashes) : nil
    }

    /// Keeps the newest by frame id; one that is not newer is dropped.
    mutating func put(_ new: Snapshot) {
        if let snapshot, snapshot.frameId >= new.frameId { return }
        snapshot = new
    }
}

extension SeatChange {
    enum Kind: UInt32 {
        case entered = 0
        case left = 1
        case offline = 2
        case online = 3
        case kicked = 4
    }
}
