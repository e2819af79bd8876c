internal import HoldfastNode
internal import HoldfastTransport

/// `holdfast keys`: makes a node's pair of link keys.
enum KeysCommand {
    static let subcommand = Subcommand(
        name: "keys", summary: "makes a pair of keys for a node's links", options: [], run: run)

    private static func run(_ arguments: Arguments) async throws -> Int32 {
        guard let keys = CurveKeys.make() else { throw Failure(message: "this libzmq has no CURVE") }
        StandardStream.output.write(LinkKeyFile.text(of: keys))
        return 0
    }
}
