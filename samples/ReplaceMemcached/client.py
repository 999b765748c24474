"""An application that knows memcached and nothing else: it speaks the text protocol to the address it is given.

It stands for yours. Not a line of it differs between memcached and Cairn.
"""
import socket
import sys


class Memcached:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=10)
        self._stream = self._socket.makefile("rwb")

    def close(self):
        self._stream.close()
        self._socket.close()

    def set(self, key, value, seconds=0):
        self._stream.write(b"set %s 0 %d %d\r\n%s\r\n" % (key, seconds, len(value), value))
        return self._reply()

    def get(self, key):
        self._stream.write(b"get %s\r\n" % key)
        header = self._reply().split()
        if header[0] != b"VALUE":
            return None
        value = self._stream.read(int(header[3]) + 2)[:-2]
        self._reply()  # END
        return value

    def incr(self, key, by):
        self._stream.write(b"incr %s %d\r\n" % (key, by))
        return self._reply()

    def _reply(self):
        self._stream.flush()
        line = self._stream.readline()
        if not line:
            raise ConnectionError("the server has closed the connection")
        return line.rstrip(b"\r\n")


def main(address):
    cache = Memcached(address)
    title = cache.get(b"book:42")
    print("found" if title else "missing", "book:42")
    if title is None:
        print(cache.set(b"book:42", b"Dune").decode(), "book:42")
        cache.set(b"views:42", b"0")
    print("views", cache.incr(b"views:42", 1).decode())
    cache.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: client.py HOST:PORT")
    main(sys.argv[1])
