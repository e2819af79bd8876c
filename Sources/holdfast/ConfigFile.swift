internal import Foundation
internal import HoldfastNode

/// Config files on disk.
enum ConfigFile {
    /// The bytes of the file, one more than the reader takes at most.
    static func read(_ path: String) throws(ConfigError) -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            return Array(try file.read(upToCount: ServerConfig.fileBytes + 1) ?? Data())
        } catch {
            throw ConfigError("cannot read the config file '\(path)': \(error.localizedDescription)")
        }
    }
}
