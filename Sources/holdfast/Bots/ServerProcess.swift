internal import Foundation

/// Another process of this machine, as `/proc` shows it.
struct ServerProcess: Sendable {
    let pid: Int

    /// CPU time of all its threads since its start, in µs; nil when it is not there.
    var cpuUs: Int64? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // The name before it may hold spaces and parentheses.
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Int64(fields[11]), let system = Int64(fields[12]) else { return nil }
        return (user + system) * 1_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Memory that is in RAM now; nil when it is not there.
    var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
