/* The checking macros would hide the functions that they check. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* Swift does not see functions with variable arguments. */
static inline CURLcode holdfast_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode holdfast_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode holdfast_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode holdfast_curl_set_write(CURL *easy, size_t (*write)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
}
static inline CURLcode holdfast_curl_status(CURL *easy, long *status) {
    return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
}
static inline CURLcode holdfast_curl_private(CURL *easy, void **value) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}
static inline CURLMcode holdfast_curl_multi_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode holdfast_curl_multi_socket(
    CURLM *multi, int (*socket)(CURL *, curl_socket_t, int, void *, void *), void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}
static inline CURLMcode holdfast_curl_multi_timer(
    CURLM *multi, int (*timer)(CURLM *, long, void *), void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
static inline CURLcode holdfast_curl_done_result(CURLMsg *message) { return message->data.result; }
