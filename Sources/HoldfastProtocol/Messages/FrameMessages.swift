/// `SendCustomMessage` of `holdfast.proto`.
public struct SendCustomMessage: WireMessage {
    /// 1...2048 bytes
    public var msg: String = ""
    /// 0 everyone else in the room, 1 the receivers
    public var type: UInt32 = 0
    /// at most 20, with type 1
    public var receivers: [String] = []

    public init() {}

    public init(msg: String = "", type: UInt32 = 0, receivers: [String] = []) {
        self.msg = msg
        self.type = type
        self.receivers = receivers
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "msg", &msg)
        try visitor.field(2, "type", &type)
        try visitor.field(3, "receivers", &receivers)
    }
}

/// `CustomMessageReceived` of `holdfast.proto`.
public struct CustomMessageReceived: WireMessage {
    public var playerId: String = ""
    public var msg: String = ""

    public init() {}

    public init(playerId: String = "", msg: String = "") {
        self.playerId = playerId
        self.msg = msg
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.field(2, "msg", &msg)
    }
}

/// `StartFrameSync` of `holdfast.proto`.
public struct StartFrameSync: WireMessage {
    private var occupied = Occupied()

    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// room_info: the room at the start of this frame sync, for late joiners too
public struct FrameSyncInfo: WireMessage {
    public var roomInfo: RoomInfo? = nil
    public var frameSyncId: UInt32 = 0
    public var seed: Int32 = 0
    /// ms
    public var serverTime: Int64 = 0
    public var frameRate: UInt32 = 0
    /// newest frame already sealed (0 at the start)
    public var frameId: UInt32 = 0

    public init() {}

    public init(
        roomInfo: RoomInfo? = nil, frameSyncId: UInt32 = 0, seed: Int32 = 0, serverTime: Int64 = 0,
        frameRate: UInt32 = 0, frameId: UInt32 = 0
    ) {
        self.roomInfo = roomInfo
        self.frameSyncId = frameSyncId
        self.seed = seed
        self.serverTime = serverTime
        self.frameRate = frameRate
        self.frameId = frameId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomInfo", &roomInfo)
        try visitor.field(2, "frameSyncId", &frameSyncId)
        try visitor.field(3, "seed", &seed)
        try visitor.field(4, "serverTime", &serverTime)
        try visitor.field(5, "frameRate", &frameRate)
        try visitor.field(6, "frameId", &frameId)
    }
}

/// `frame_sync_id` 0 in a call: whichever runs; another than the running one: 25.
public struct SendFrameInput: WireMessage {
    public var payload: Payload?
    public var frameSyncId: UInt32 = 0

    public init() {}

    public init(payload: Payload? = nil, frameSyncId: UInt32 = 0) {
        self.payload = payload
        self.frameSyncId = frameSyncId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.oneof(&payload)
        try visitor.field(3, "frameSyncId", &frameSyncId)
    }

    /// The one `payload` that is present.
    public enum Payload: WireOneof {
        case data(String)
        case dataBytes([UInt8])

        public func write<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            switch self {
            case .data(var value): try visitor.member(1, "data", &value)
            case .dataBytes(var value): try visitor.member(2, "dataBytes", &value)
            }
        }

        public static func read<V: FieldVisitor>(_ visitor: inout V, into present: inout Self?) throws(WireError)
            -> Bool
        {
            if try visitor.matches(1, "data") {
                var value = ""
                try visitor.member(1, "data", &value)
                present = .data(value)
                return true
            }
            if try visitor.matches(2, "dataBytes") {
                var value: [UInt8] = []
                try visitor.member(2, "dataBytes", &value)
                present = .dataBytes(value)
                return true
            }
            return false
        }
    }
}

/// `FrameInput` of `holdfast.proto`.
public struct FrameInput: WireMessage {
    public var playerId: String = ""
    public var payload: Payload?
    /// ms, when it reached the room
    public var serverTime: Int64 = 0
    /// the id that its sender gave it
    public var id: UInt32 = 0

    public init() {}

    public init(playerId: String = "", payload: Payload? = nil, serverTime: Int64 = 0, id: UInt32 = 0) {
        self.playerId = playerId
        self.payload = payload
        self.serverTime = serverTime
        self.id = id
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.oneof(&payload)
        try visitor.field(4, "serverTime", &serverTime)
        try visitor.field(5, "id", &id)
    }

    /// The one `payload` that is present.
    public enum Payload: WireOneof {
        case data(String)
        case dataBytes([UInt8])

        public func write<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            switch self {
            case .data(var value): try visitor.member(2, "data", &value)
            case .dataBytes(var value): try visitor.member(3, "dataBytes", &value)
            }
        }

        public static func read<V: FieldVisitor>(_ visitor: inout V, into present: inout Self?) throws(WireError)
            -> Bool
        {
            if try visitor.matches(2, "data") {
                var value = ""
                try visitor.member(2, "data", &value)
                present = .data(value)
                return true
            }
            if try visitor.matches(3, "dataBytes") {
                var value: [UInt8] = []
                try visitor.member(3, "dataBytes", &value)
                present = .dataBytes(value)
                return true
            }
            return false
        }
    }
}

/// `Frame` of `holdfast.proto`.
public struct Frame: WireMessage {
    /// from 1, +1 each, empty ones included
    public var id: UInt32 = 0
    /// in the order of arrival
    public var inputs: [FrameInput] = []
    /// since the frame before, in order
    public var changes: [SeatChange] = []

    public init() {}

    public init(id: UInt32 = 0, inputs: [FrameInput] = [], changes: [SeatChange] = []) {
        self.id = id
        self.inputs = inputs
        self.changes = changes
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "id", &id)
        try visitor.field(2, "inputs", &inputs)
        try visitor.field(3, "changes", &changes)
    }
}

/// 0 entered, 1 left, 2 offline, 3 online, 4 kicked
public struct SeatChange: WireMessage {
    public var playerId: String = ""
    public var kind: UInt32 = 0

    public init() {}

    public init(playerId: String = "", kind: UInt32 = 0) {
        self.playerId = playerId
        self.kind = kind
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.field(2, "kind", &kind)
    }
}

/// `StopFrameSync` of `holdfast.proto`.
public struct StopFrameSync: WireMessage {
    private var occupied = Occupied()

    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// 0 owner, 1 time limit, 2 nobody online, 3 room closed
public struct FrameSyncStopped: WireMessage {
    public var roomId: String = ""
    public var frameSyncId: UInt32 = 0
    public var reason: Int32 = 0

    public init() {}

    public init(roomId: String = "", frameSyncId: UInt32 = 0, reason: Int32 = 0) {
        self.roomId = roomId
        self.frameSyncId = frameSyncId
        self.reason = reason
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "frameSyncId", &frameSyncId)
        try visitor.field(3, "reason", &reason)
    }
}

/// both inclusive
public struct GetFrames: WireMessage {
    public var first: UInt32 = 0
    public var last: UInt32 = 0
    public var frameSyncId: UInt32 = 0

    public init() {}

    public init(first: UInt32 = 0, last: UInt32 = 0, frameSyncId: UInt32 = 0) {
        self.first = first
        self.last = last
        self.frameSyncId = frameSyncId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "first", &first)
        try visitor.field(2, "last", &last)
        try visitor.field(3, "frameSyncId", &frameSyncId)
    }
}

/// `Frames` of `holdfast.proto`.
public struct Frames: WireMessage {
    public var frames: [Frame] = []
    public var firstKept: UInt32 = 0
    public var partial: Bool = false
    public var frameSyncId: UInt32 = 0

    public init() {}

    public init(frames: [Frame] = [], firstKept: UInt32 = 0, partial: Bool = false, frameSyncId: UInt32 = 0) {
        self.frames = frames
        self.firstKept = firstKept
        self.partial = partial
        self.frameSyncId = frameSyncId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "frames", &frames)
        try visitor.field(2, "firstKept", &firstKept)
        try visitor.field(3, "partial", &partial)
        try visitor.field(4, "frameSyncId", &frameSyncId)
    }
}

/// 1...32 bytes
public struct ReportFrameHash: WireMessage {
    public var frameId: UInt32 = 0
    public var hash: [UInt8] = []
    public var frameSyncId: UInt32 = 0

    public init() {}

    public init(frameId: UInt32 = 0, hash: [UInt8] = [], frameSyncId: UInt32 = 0) {
        self.frameId = frameId
        self.hash = hash
        self.frameSyncId = frameSyncId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "frameId", &frameId)
        try visitor.field(2, "hash", &hash)
        try visitor.field(3, "frameSyncId", &frameSyncId)
    }
}

/// `DesyncDetected` of `holdfast.proto`.
public struct DesyncDetected: WireMessage {
    public var frameId: UInt32 = 0
    public var hashes: [FrameHash] = []

    public init() {}

    public init(frameId: UInt32 = 0, hashes: [FrameHash] = []) {
        self.frameId = frameId
        self.hashes = hashes
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "frameId", &frameId)
        try visitor.field(2, "hashes", &hashes)
    }
}

/// `FrameHash` of `holdfast.proto`.
public struct FrameHash: WireMessage {
    public var playerId: String = ""
    public var hash: [UInt8] = []

    public init() {}

    public init(playerId: String = "", hash: [UInt8] = []) {
        self.playerId = playerId
        self.hash = hash
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.field(2, "hash", &hash)
    }
}

/// at most 64 KiB
public struct PutSnapshot: WireMessage {
    public var frameId: UInt32 = 0
    public var state: [UInt8] = []
    public var frameSyncId: UInt32 = 0

    public init() {}

    public init(frameId: UInt32 = 0, state: [UInt8] = [], frameSyncId: UInt32 = 0) {
        self.frameId = frameId
        self.state = state
        self.frameSyncId = frameSyncId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "frameId", &frameId)
        try visitor.field(2, "state", &state)
        try visitor.field(3, "frameSyncId", &frameSyncId)
    }
}

/// `Snapshot` of `holdfast.proto`.
public struct Snapshot: WireMessage {
    public var frameId: UInt32 = 0
    public var state: [UInt8] = []
    public var playerId: String = ""

    public init() {}

    public init(frameId: UInt32 = 0, state: [UInt8] = [], playerId: String = "") {
        self.frameId = frameId
        self.state = state
        self.playerId = playerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "frameId", &frameId)
        try visitor.field(2, "state", &state)
        try visitor.field(3, "playerId", &playerId)
    }
}
