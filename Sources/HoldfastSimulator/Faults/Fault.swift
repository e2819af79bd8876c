/// One thing that goes wrong for a while. Nodes are named by the numbers of their slots, times are milliseconds.
public enum Fault: Hashable, Sendable {
    /// The process dies; another one starts after so long. Nil: after the faults' end.
    case crash(node: Int, downMs: Int?)
    /// The process dies, and no other one ever starts there.
    case loss(node: Int)
    /// The process stands still, and wakes with everything that came meanwhile.
    case pause(node: Int, forMs: Int)
    /// Each turn of the node's loop takes so long.
    case slow(node: Int, forMs: Int, turnMs: Int)
    /// Nodes of the mask and the others do not reach each other. `oneWay`: only the mask's messages are lost.
    /// `keepsLinks`: the connections outlive it, and what was sent arrives at its end.
    case partition(mask: Int, forMs: Int, oneWay: Bool, keepsLinks: Bool)
    /// The node and the coordinator do not reach each other.
    case storeCut(node: Int, forMs: Int)
    /// The connections between two nodes break, and come back.
    case linkBreak(a: Int, b: Int, downMs: Int)
    /// What goes from one node to another takes long.
    case slowLink(from: Int, to: Int, forMs: Int, leastMs: Int, mostMs: Int)
    /// So many of a thousand messages from one node to another are lost, and so many come twice and late, without a
    /// word of it to anybody.
    case lossyLink(from: Int, to: Int, forMs: Int, lost: Int, repeated: Int)
    /// Each answer of the coordinator takes so much longer.
    case storeSlow(forMs: Int, leastMs: Int, mostMs: Int)
    /// Requests do not come to the coordinator; some of them later than anybody waits. `stops`: its clock stands, too.
    case storeAway(forMs: Int, stops: Bool)
    /// The coordinator elects: requests wait, or are lost.
    case storeElects(forMs: Int)
    /// So many of a thousand swaps are carried out, and nobody hears of it.
    case answersLost(forMs: Int, lost: Int)
    /// Swaps are carried out so much later.
    case swapsLate(forMs: Int, leastMs: Int, mostMs: Int)
    /// The past of the coordinator is dropped, and watches break.
    case compaction
    /// A wall clock is set.
    case clockStep(node: Int, byMs: Int)
    case clockDrift(node: Int, ppm: Int)
    /// The node leaves in good order, and comes back after so long. Nil: after the faults' end.
    case drain(node: Int, downMs: Int?)
    /// A node that was not there before starts.
    case join(node: Int)
    /// All nodes, one after another, are drained and start again.
    case rollingRestart(downMs: Int)
    /// So many of a thousand client links of a node break. `silently`: neither end is told.
    case clientLinksBreak(node: Int, broken: Int, silently: Bool)
    /// Clients and the node do not reach each other.
    case clientsCut(node: Int, forMs: Int)

    public enum Kind: Int, CaseIterable, Sendable {
        case crash, pause, slow, partition, storeCut, linkBreak, slowLink, lossyLink, storeSlow, storeAway
        case storeElects, answersLost, swapsLate, compaction, clockStep, clockDrift, drain, join, rollingRestart
        case clientLinksBreak, clientsCut, loss
    }

    public var kind: Kind {
        switch self {
        case .crash: .crash
        case .loss: .loss
        case .pause: .pause
        case .slow: .slow
        case .partition: .partition
        case .storeCut: .storeCut
        case .linkBreak: .linkBreak
        case .slowLink: .slowLink
        case .lossyLink: .lossyLink
        case .storeSlow: .storeSlow
        case .storeAway: .storeAway
        case .storeElects: .storeElects
        case .answersLost: .answersLost
        case .swapsLate: .swapsLate
        case .compaction: .compaction
        case .clockStep: .clockStep
        case .clockDrift: .clockDrift
        case .drain: .drain
        case .join: .join
        case .rollingRestart: .rollingRestart
        case .clientLinksBreak: .clientLinksBreak
        case .clientsCut: .clientsCut
        }
    }

    /// The one node that has it; nil: more than one have, or none.
    public var node: Int? {
        switch self {
        case .crash(let node, _), .loss(let node), .pause(let node, _), .slow(let node, _, _), .storeCut(let node, _),
            .clockStep(let node, _), .clockDrift(let node, _), .drain(let node, _), .join(let node),
            .clientLinksBreak(let node, _, _), .clientsCut(let node, _):
            node
        case .partition(let mask, _, _, _): mask.nonzeroBitCount == 1 ? mask.trailingZeroBitCount : nil
        case .linkBreak, .slowLink, .lossyLink, .storeSlow, .storeAway, .storeElects, .answersLost, .swapsLate,
            .compaction, .rollingRestart:
            nil
        }
    }

    /// For how long it holds; nil: it happens at once, or ends by itself.
    var lastsMs: Int? {
        switch self {
        case .pause(_, let ms), .slow(_, let ms, _), .partition(_, let ms, _, _), .storeCut(_, let ms),
            .slowLink(_, _, let ms, _, _), .lossyLink(_, _, let ms, _, _), .storeSlow(let ms, _, _),
            .storeAway(let ms, _), .storeElects(let ms), .answersLost(let ms, _), .swapsLate(let ms, _, _),
            .clientsCut(_, let ms), .linkBreak(_, _, let ms):
            ms
        case .crash, .loss, .compaction, .clockStep, .clockDrift, .drain, .join, .rollingRestart, .clientLinksBreak: nil
        }
    }
}

extension Fault: CustomStringConvertible {
    public var description: String {
        func back(_ ms: Int?) -> String { ms.map { "back after \($0) ms" } ?? "back at the end" }
        switch self {
        case .crash(let node, let down): return "crash n\(node), \(back(down))"
        case .loss(let node): return "n\(node) is lost for good"
        case .pause(let node, let ms): return "pause n\(node) for \(ms) ms"
        case .slow(let node, let ms, let turn): return "n\(node) slow for \(ms) ms, \(turn) ms a turn"
        case .partition(let mask, let ms, let oneWay, let keeps):
            let nodes = (0..<16).filter { mask >> $0 & 1 == 1 }.map { "n\($0)" }.joined(separator: " ")
            return "partition {\(nodes)} \(oneWay ? "→" : "|") others for \(ms) ms"
                + (keeps ? ", links outlive it" : "")
        case .storeCut(let node, let ms): return "n\(node) cut from etcd for \(ms) ms"
        case .linkBreak(let a, let b, let ms): return "links n\(a) – n\(b) break, back after \(ms) ms"
        case .slowLink(let from, let to, let ms, let least, let most):
            return "n\(from) → n\(to) takes \(least)–\(most) ms for \(ms) ms"
        case .lossyLink(let from, let to, let ms, let lost, let repeated):
            return "n\(from) → n\(to) loses \(lost)‰, repeats \(repeated)‰ for \(ms) ms"
        case .storeSlow(let ms, let least, let most): return "etcd slow by \(least)–\(most) ms for \(ms) ms"
        case .storeAway(let ms, let stops): return "etcd \(stops ? "stopped" : "away") for \(ms) ms"
        case .storeElects(let ms): return "etcd without leader for \(ms) ms"
        case .answersLost(let ms, let lost): return "etcd loses \(lost)‰ of the answers to swaps for \(ms) ms"
        case .swapsLate(let ms, let least, let most): return "swaps late by \(least)–\(most) ms for \(ms) ms"
        case .compaction: return "etcd compacts"
        case .clockStep(let node, let ms): return "wall clock of n\(node) set by \(ms) ms"
        case .clockDrift(let node, let ppm): return "clock of n\(node) drifts \(ppm) ppm"
        case .drain(let node, let down): return "drain n\(node), \(back(down))"
        case .join(let node): return "join n\(node)"
        case .rollingRestart(let down): return "rolling restart, each \(down) ms down"
        case .clientLinksBreak(let node, let broken, let silently):
            return "\(broken)‰ of the clients' links at n\(node) break" + (silently ? " silently" : "")
        case .clientsCut(let node, let ms): return "n\(node) cut from clients for \(ms) ms"
        }
    }
}
