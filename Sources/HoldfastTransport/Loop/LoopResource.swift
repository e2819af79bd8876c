import CUV

/// What a libuv handle of a loop belongs to. While its handle is open, the handle's `data` holds one retained reference
/// to the resource (made by `LoopResource.attach`, given back in the handle's close callback): so no C callback can
/// meet a freed object, whatever Swift code let go of.
class LoopResource {
    /// The loop ends: close the handle now. Called on the loop; never again after the handle is closing.
    func loopWillStop() {}

    /// Ties `resource` to a handle that was just initialised.
    static func attach(_ resource: LoopResource, to handle: UnsafeMutablePointer<uv_handle_t>) {
        uv_handle_set_data(handle, Unmanaged.passRetained(resource).toOpaque())
    }

    /// The resource of an open handle; nil for the loop's own handles.
    @inline(__always)
    static func of(_ handle: UnsafePointer<uv_handle_t>) -> LoopResource? {
        guard let data = uv_handle_get_data(handle) else { return nil }
        return Unmanaged<LoopResource>.fromOpaque(data).takeUnretainedValue()
    }

    /// Closes the handle; its memory and the reference in its `data` go when libuv is done with it.
    static func close(_ handle: UnsafeMutablePointer<uv_handle_t>) {
        guard uv_is_closing(handle) == 0 else { return }
        uv_close(handle) { handle in
            guard let handle else { return }
            if let data = uv_handle_get_data(handle) {
                Unmanaged<LoopResource>.fromOpaque(data).release()
            }
            UnsafeMutableRawPointer(handle).deallocate()
        }
    }
}

extension UnsafeMutablePointer {
    /// The same memory as libuv's base type.
    @inline(__always)
    var asHandle: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_handle_t.self)
    }
}
