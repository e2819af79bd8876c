internal import Foundation

/// What a run found and measured.
struct BotsSummary: Encodable {
    struct Latency: Encodable {
        var count: UInt64
        var p50Ms: Double
        var p99Ms: Double
        var maxMs: Double

        init(_ histogram: Histogram) {
            func ms(_ us: Int64) -> Double { Double(us / 10) / 100 }
            count = histogram.count
            p50Ms = ms(histogram.quantile(0.5))
            p99Ms = ms(histogram.quantile(0.99))
            maxMs = ms(histogram.largest)
        }

        var text: String { "p50 \(p50Ms) ms, p99 \(p99Ms) ms, max \(maxMs) ms" }
    }

    struct Server: Encodable {
        var cpuMs: Double
        var cpuPercent: Double
        /// Nil when nothing was delivered.
        var cpuUsPerDelivery: Double?
        var residentMB: Double
    }

    var ok: Bool
    var connections: Int
    var rooms: Int
    var seconds: Double
    var deliveries: Int
    var frames: Int
    var messages: Int
    var deliveriesPerSecond: Double
    var receivedMBPerSecond: Double
    var inputsSent: Int
    var messagesSent: Int
    var inputsRefused: Int
    var messagesRefused: Int
    var drops: Int
    var resumes: Int
    var linksLost: Int
    var uncompared: Int
    var inputToFrame: Latency
    var relay: Latency
    var frameInterval: Latency
    var resume: Latency
    var ownLateness: Latency
    var server: Server?
    var faults: [String: Int]

    /// - Parameters:
    ///   - before: the counts at the begin of the measured span.
    ///   - span: the counts at its end.
    ///   - whole: the counts at the end of the run.
    init(plan: BotsPlan, rooms: Int, before: BotReport, span: BotReport, whole: BotReport, seconds: Double) {
        ok = whole.faults.total == 0
        connections = plan.connections
        self.rooms = rooms
        self.seconds = (seconds * 100).rounded() / 100
        frames = span.frames - before.frames
        messages = span.messages - before.messages
        deliveries = frames + messages
        let elapsed = max(0.001, seconds)
        deliveriesPerSecond = (Double(deliveries) / elapsed).rounded()
        receivedMBPerSecond = (Double(span.bytesReceived - before.bytesReceived) / elapsed / 10_000).rounded() / 100
        inputsSent = span.inputsSent - before.inputsSent
        messagesSent = span.messagesSent - before.messagesSent
        inputsRefused = whole.inputsRefused
        messagesRefused = whole.messagesRefused
        drops = whole.drops
        resumes = whole.resumes
        linksLost = whole.linksLost
        uncompared = whole.uncompared
        inputToFrame = Latency(span.inputUs)
        relay = Latency(span.relayUs)
        frameInterval = Latency(span.intervalUs)
        resume = Latency(whole.resumeUs)
        ownLateness = Latency(span.latenessUs)
        faults = Dictionary(uniqueKeysWithValues: whole.faults.counts.map { ($0.key.rawValue, $0.value) })
    }

    mutating func add(serverCpuUs: Int64, residentBytes: Int) {
        let perDelivery = deliveries > 0 ? (Double(serverCpuUs) / Double(deliveries) * 100).rounded() / 100 : nil
        server = Server(
            cpuMs: Double(serverCpuUs) / 1000,
            cpuPercent: (Double(serverCpuUs) / 10_000 / max(0.001, seconds) * 10).rounded() / 10,
            cpuUsPerDelivery: perDelivery, residentMB: Double(residentBytes / 10_000) / 100)
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let bytes = try? encoder.encode(self) else { return "{}" }
        return String(decoding: bytes, as: UTF8.self)
    }

    var text: String {
        var lines = [
            "\(connections) connections, \(rooms) rooms, measured for \(seconds) s",
            "deliveries      \(deliveries) (\(Int(deliveriesPerSecond))/s): \(frames) frames, \(messages) messages; "
                + "\(receivedMBPerSecond) MB/s",
            "sent            \(inputsSent) inputs, \(messagesSent) messages; refused \(inputsRefused), "
                + "\(messagesRefused)",
        ]
        func add(_ name: String, _ latency: Latency) {
            guard latency.count > 0 else { return }
            lines.append(name + String(repeating: " ", count: max(1, 16 - name.count)) + latency.text)
        }
        add("input to frame", inputToFrame)
        add("relay", relay)
        add("frame interval", frameInterval)
        add("own lateness", ownLateness)
        if drops > 0 {
            lines.append("drops           \(drops), \(resumes) resumes, \(linksLost) links lost otherwise")
            add("resume", resume)
        }
        if uncompared > 0 { lines.append("compared late   \(uncompared) messages, by their whole streams only") }
        if let server {
            let each = server.cpuUsPerDelivery.map { ", \($0) µs a delivery" } ?? ""
            lines.append(
                "server          \(server.cpuMs) ms of CPU (\(server.cpuPercent)%)\(each), \(server.residentMB) MB "
                    + "resident")
        }
        if ok {
            lines.append("nothing was wrong")
        } else {
            let list = faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            lines.append("WRONG: " + list.joined(separator: ", "))
        }
        return lines.joined(separator: "\n")
    }
}
