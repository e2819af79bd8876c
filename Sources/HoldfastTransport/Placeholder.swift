internal import CUV
internal import CWSlay
internal import CHTTPParser
internal import COpenSSL
func probe() -> String {
    String(cString: uv_version_string()) + String(OpenSSL_version_num()) + "\(http_parser_version())"
}
