"""Registries that have nothing, on loopback: they write down what they are asked, as "PORT METHOD PATH" lines.

    mirror.py LOG CERTIFICATES

5001, 5002 and 5005 speak http. 5003 and 5004 speak https, by CERTIFICATES/{other,known}.{pem,key}.
"""

import http.server
import ssl
import sys
import threading

LOG, CERTIFICATES = sys.argv[1:]


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(LOG, "a") as log:
            log.write(f"{self.server.server_port} {self.command} {self.path}\n")
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # a client that does not trust the certificate


def serve(port, certificate=None):
    server = Server(("127.0.0.1", port), Registry)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{CERTIFICATES}/{certificate}.pem", f"{CERTIFICATES}/{certificate}.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


for port in (5001, 5002, 5005):
    serve(port)
serve(5003, "other")
serve(5004, "known")
print("ready", flush=True)
threading.Event().wait()
