import Foundation
import HoldfastProtocol
import Testing

/// The fuzz targets' seeds, and what they once found: read in every run of the tests.
@Suite struct CorpusTests {
    @Test(arguments: [("json", Encoding.json), ("protobuf", Encoding.protobuf)])
    func everySeedIsRefusedOrSound(folder: String, encoding: Encoding) throws {
        let corpus = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../fuzz/corpus/\(folder)").standardized
        let files = try FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        var sound = 0
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard let message = try? encoding.decodeClientMessage(from: bytes).message.get() else { continue }
            sound += 1
            for other in Encoding.allCases {
                #expect(try other.decode(ClientMessage.self, from: other.encode(message)) == message, "\(file.path)")
            }
        }
        #expect(sound > files.count / 2)
    }
}
