internal import HoldfastNode
internal import HoldfastTransport

/// What an operator asks of a cluster: `status`, `drain`, `forget`.
enum ClusterCommands {
    private static let etcd: [Arguments.Option] = [
        .value("etcd", "URL,URL", "etcd's members, http://HOST:PORT"),
        .value("cluster", "NAME", "the cluster's name (main)"),
    ]

    static let status = Subcommand(
        name: "status", summary: "shows a cluster's nodes and shards",
        options: etcd + [.flag("json", "as JSON")]
    ) { arguments in
        try await withOperator(arguments) { cluster in
            let report = try await cluster.report()
            StandardStream.output.write(arguments.flag("json") ? report.json : report.table)
            return report.isWhole ? 0 : 1
        }
    }

    static let drain = Subcommand(
        name: "drain", summary: "moves a node's shards to others, and ends it",
        options: etcd + [.value("node", "NAME", "the node"), .value("seconds", "N", "how long to wait for it (60)")]
    ) { arguments in
        let seconds = try arguments.int("seconds", in: 1...3600) ?? 60
        let name = try arguments.required("node")
        return try await withOperator(arguments) { cluster in
            try await cluster.drain(name, seconds: seconds) {
                StandardStream.output.write("\(name) holds \($0) shards\n")
            }
            StandardStream.output.write("\(name) has left\n")
            return 0
        }
    }

    static let forget = Subcommand(
        name: "forget", summary: "declares a process dead for ever: shards that only it held begin anew",
        options: etcd + [.value("node", "NAME#INCARNATION", "the process, as status shows it")]
    ) { arguments in
        let name = try arguments.required("node")
        return try await withOperator(arguments) { cluster in
            try await cluster.forget(name)
            StandardStream.output.write("\(name) counts as dead\n")
            return 0
        }
    }

    private static func withOperator(
        _ arguments: Arguments, _ work: (ClusterOperator) async throws -> Int32
    ) async throws -> Int32 {
        let members = try arguments.required("etcd").split(separator: ",").map(String.init)
        guard members.allSatisfy({ $0.hasPrefix("http://") || $0.hasPrefix("https://") }) else {
            throw UsageError("--etcd: http://HOST:PORT, several with commas between them")
        }
        let loop = EventLoop(name: "operator")
        loop.start()
        defer { loop.stop() }
        let cluster = ClusterOperator(loop: loop, etcd: members, cluster: arguments.string("cluster") ?? "main")
        do {
            let status = try await work(cluster)
            await cluster.close()
            return status
        } catch {
            await cluster.close()
            throw error
        }
    }
}
