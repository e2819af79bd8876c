internal import HoldfastNode
internal import HoldfastTransport

/// `holdfast bots`: real clients in numbers, each checking what it receives.
enum BotsCommand {
    static let subcommand = Subcommand(
        name: "bots", summary: "plays with many clients and checks what they receive",
        options: [
            .value("url", "URL,…", "the nodes' addresses (ws://127.0.0.1:7350/v1/connect)"),
            .value("project", "KEY", "the project (dev)"),
            .value("secret", "SECRET", "the project's secret (that of project dev)"),
            .flag("insecure", "wss: trusts any certificate"),
            .value("rooms", "N", "how many rooms (10)"),
            .value("players", "N", "players in a room, 1 to 20 (4)"),
            .value("spectators", "N", "spectators in a room; they join while it plays (0)"),
            .flag("match", "players meet by matchRoom instead of createRoom and joinRoom"),
            .value("idle", "N", "further connections that only connect (0)"),
            .value("seekers", "N", "further connections that look for a match, leave it, and look for the next (0)"),
            .value("frame-rate", "N", "frames a second, 0 to 60; 0: no frame sync (20)"),
            .value("input-bytes", "N", "the size of a frame input (32)"),
            .value("inputs-per-frame", "X", "inputs of a player for each frame, at any time in it (1)"),
            .value("messages-per-second", "X", "custom messages of each player to all in its room (1)"),
            .value("message-bytes", "N", "the size of a custom message, 40 to 2048 (64)"),
            .flag("unanswered", "custom messages without an id, so that the server answers none; not with --drop"),
            .value("seconds", "N", "how long to play and measure, once all rooms play (10); SIGINT ends it sooner"),
            .value("ramp", "N", "connections opened in a second (500)"),
            .value(
                "drop", "P%",
                "this part of the connections is cut in each second, and resumes (0); of the cuts, 1 in 10 leaves the "
                    + "socket half-open, 1 in 20 stays away for 3 s"),
            .flag("tolerate-loss", "links that the servers end are counted, not wrong: nodes are being killed"),
            .value("encoding", "json|protobuf|mixed", "of the connections (mixed)"),
            .value("seed", "N", "of what is left to chance (1)"),
            .value("loops", "N", "threads (1)"),
            .value("server-pid", "PID", "measures this process's CPU time and memory"),
            .value(
                "pauses", "FILE",
                "writes a JSON line for each gap between a bot's frames of more than two intervals, for each match of "
                    + "a seeker, and for the frames so far, with the clock since boot in ms"),
            .flag("json", "the summary as JSON; progress on standard error"),
        ], run: run)

    static func plan(_ arguments: Arguments) throws -> BotsPlan {
        var plan = BotsPlan()
        if let urls = arguments.string("url") { plan.urls = urls.split(separator: ",").map(String.init) }
        guard !plan.urls.isEmpty, plan.urls.allSatisfy({ $0.hasPrefix("ws://") || $0.hasPrefix("wss://") }) else {
            throw UsageError("--url: ws://… or wss://…, several with commas between them")
        }
        plan.project = arguments.string("project") ?? ServerConfig.devProject.key
        let known = plan.project == ServerConfig.devProject.key ? ServerConfig.devProject.secrets.first : nil
        guard let secret = arguments.string("secret") ?? known else { throw UsageError("--secret is needed") }
        plan.secret = secret
        plan.trustsAnybody = arguments.flag("insecure")
        plan.rooms = try arguments.int("rooms", in: 0...100_000) ?? plan.rooms
        plan.players = try arguments.int("players", in: 1...20) ?? plan.players
        plan.spectators = try arguments.int("spectators", in: 0...10_000) ?? plan.spectators
        plan.isMatched = arguments.flag("match")
        plan.idle = try arguments.int("idle", in: 0...100_000) ?? plan.idle
        plan.seekers = try arguments.int("seekers", in: 0...10_000) ?? plan.seekers
        plan.frameRate = try arguments.int("frame-rate", in: 0...60) ?? plan.frameRate
        plan.inputBytes = try arguments.int("input-bytes", in: 0...1024) ?? plan.inputBytes
        plan.inputsPerFrame = try arguments.double("inputs-per-frame", in: 0...5) ?? plan.inputsPerFrame
        plan.messagesPerSecond = try arguments.double("messages-per-second", in: 0...100) ?? plan.messagesPerSecond
        plan.messageBytes =
            try arguments.int("message-bytes", in: Content.minMessageBytes...2048) ?? plan.messageBytes
        plan.seconds = try arguments.int("seconds", in: 1...86_400) ?? plan.seconds
        plan.ramp = try arguments.int("ramp", in: 1...100_000) ?? plan.ramp
        plan.drop = try arguments.double("drop", in: 0...1) ?? plan.drop
        plan.isUnanswered = arguments.flag("unanswered")
        guard plan.drop == 0 || !plan.isUnanswered else { throw UsageError("--unanswered excludes --drop") }
        plan.toleratesLoss = arguments.flag("tolerate-loss")
        if let name = arguments.string("encoding") {
            guard let encodings = BotsPlan.Encodings(rawValue: name) else {
                throw UsageError("--encoding: json, protobuf or mixed, got '\(name)'")
            }
            plan.encodings = encodings
        }
        plan.seed = UInt64(try arguments.int("seed", in: 0...Int.max) ?? Int(plan.seed))
        plan.loops = try arguments.int("loops", in: 1...256) ?? plan.loops
        guard plan.connections > 0 else {
            throw UsageError("there is nothing to do: no rooms, no --idle, no --seekers")
        }
        guard plan.connections <= 200_000 else { throw UsageError("\(plan.connections) connections, 200000 at most") }
        plan.run = String(WallClock.nowMs, radix: 36)
        return plan
    }

    private static func run(_ arguments: Arguments) async throws -> Int32 {
        let plan = try plan(arguments)
        let pid = try arguments.int("server-pid", in: 1...Int(Int32.max))
        let isJSON = arguments.flag("json")
        ignoreBrokenPipes()
        let pauses = try arguments.string("pauses").map(PauseFile.init)
        let run = try BotsRun(plan: plan, server: pid.map(ServerProcess.init), isJSON: isJSON, pauses: pauses)
        let summary = try await run.run()
        StandardStream.output.write((isJSON ? summary.json : summary.text) + "\n")
        return summary.ok ? 0 : 1
    }
}
