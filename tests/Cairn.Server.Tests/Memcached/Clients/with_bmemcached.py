# Prints the replies that python-binary-memcached gets from a server, over the binary protocol. Argument: PORT.
import sys

import bmemcached

client = bmemcached.Client(("127.0.0.1:" + sys.argv[1],), socket_timeout=30)


def show(what, *answers):
    print(what, *(repr(answer) for answer in answers))


show("flush", client.flush_all())
show("get of nothing", client.get("nothing"))
show("set", client.set("book", "Dune"), client.get("book"))
show("add", client.add("book", "x"), client.add("new", "y"))
show("replace", client.replace("new", "z"), client.replace("nothing", "z"))
for thing in [42, 2**40, [1, "two"], {"three": 3.0}, b"\x00\xff", "ü", True]:
    show("serialized", client.set("thing", thing), client.get("thing"))
value, version = client.gets("book")
show("gets", value)
show("cas", client.cas("book", "Emma", version), client.cas("book", "x", version), client.get("book"))
show("incr", client.incr("n", 5), client.incr("n", 5), client.decr("n", 100))
show("sets", [client.set("k%d" % i, i) for i in range(100)])
show("get_multi", sorted(client.get_multi(["k%d" % i for i in range(150)]).items()))
show("delete", client.delete("book"), client.delete("book"), client.get("book"))
show("delete_multi", client.delete_multi(["k1", "k2", "nothing"]))
show("compressed", client.set("large", "x" * 900000, compress_level=6), client.get("large") == "x" * 900000)
show("large", client.set("large", "x" * 900000, compress_level=0), client.get("large") == "x" * 900000)
try:
    show("too large", client.set("large", "x" * 2000000, compress_level=0))
except bmemcached.exceptions.MemcachedException as error:
    show("too large", error)
show("after too large", client.get("large"))
statistics = list(client.stats().values())[0]
show("stats", sorted(set(["curr_items", "cmd_get", "get_hits", "bytes", "threads", "uptime", "version"]) - {
    name.decode() if isinstance(name, bytes) else name for name in statistics}))
show("flush", client.flush_all(), client.get("n"))
client.disconnect_all()
print("done")
