import HoldfastProtocol

extension DirectoryMachine: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(version: 1)
        writer.put(project)
        // The lists follow from the rooms.
        writer.put(sorted: rooms) { $0.put($1) }
        writer.put(sorted: making) { $0.put($1) }
    }

    init(from reader: inout StateReader) throws(StateError) {
        try reader.version(1, of: "DirectoryMachine")
        self.init(project: try reader.text())
        rooms = try reader.sorted { (reader) throws(StateError) in try reader.optional(RoomListing.self) }
        making = try reader.sorted { (reader) throws(StateError) in try reader.values() }
        for (id, listing) in rooms {
            try StateError.check(
                listing.map { $0.summary.id == id } ?? true, "DirectoryMachine: a room under another's name")
        }
        // Oldest first, as the lists keep them: each is appended.
        let listed = rooms.values.compactMap { $0 }.map { (key: RoomIndex.Key($0), listing: $0) }
        for room in listed.sorted(by: { $0.key < $1.key }) { reindex(nil, room.listing) }
    }
}
