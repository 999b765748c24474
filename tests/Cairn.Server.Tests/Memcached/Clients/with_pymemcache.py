# Prints the replies that pymemcache gets from a server. Argument: PORT.
import sys

from pymemcache import serde
from pymemcache.client.base import Client, PooledClient
from pymemcache.client.hash import HashClient
from pymemcache.exceptions import MemcacheError

server = ("127.0.0.1", int(sys.argv[1]))


def show(what, answer):
    print(what, repr(answer))


def show_error(what, action):
    try:
        show(what, action())
    except MemcacheError as error:
        print(what, type(error).__name__, error)


plain = Client(server, default_noreply=False)
show("get of nothing", plain.get("nothing"))
show("set", plain.set("bytes", b"b"))
show("append", plain.append("bytes", b"c"))
show("prepend", plain.prepend("bytes", b"a"))
show("append to nothing", plain.append("nothing", b"c"))
show("get", plain.get("bytes"))
show("add", [plain.add("bytes", b"x"), plain.add("new", b"x")])
show("replace", [plain.replace("bytes", b"y"), plain.replace("nothing", b"y")])
show("set of a number", plain.set("count", b"10"))
show("incr", plain.incr("count", 5))
show("decr", plain.decr("count", 20))
show("incr of nothing", plain.incr("nothing", 1))
show("incr beyond 64 bits", [plain.set("count", b"18446744073709551615"), plain.incr("count", 2)])
show_error("incr of text", lambda: plain.incr("bytes", 1))
show("set_many", plain.set_many({"k%d" % i: b"v%d" % i for i in range(200)}))
show("get_many", sorted(plain.get_many(["k%d" % i for i in range(300)]).items()))
show("gets_many", sorted((key, value) for key, (value, _) in plain.gets_many(["k1", "k2", "x"]).items()))
value, version = plain.gets("k1")
show("gets", value)
show("cas", [plain.cas("k1", b"w", version), plain.cas("k1", b"x", version), plain.cas("nothing", b"x", version)])
show("touch", [plain.touch("k1", 100), plain.touch("nothing", 1)])
show("delete", [plain.delete("k1"), plain.delete("k1")])
show("delete_many", plain.delete_many(["k2", "k3", "nothing"]))
show("expired", [plain.set("gone", b"x", expire=-1), plain.get("gone")])
show("largest", [plain.set("large", b"x" * 1048000), plain.get("large") == b"x" * 1048000])
show_error("too large", lambda: plain.set("large", b"x" * 1100000))
show("after too large", plain.get("large"))
show_error("key too long", lambda: plain.get("k" * 251))
show("flags", plain.set("flags", b"1", flags=4294967295))
show("without reply", [plain.set("quiet", b"1", noreply=True), plain.incr("quiet", 2, noreply=True), plain.get("quiet")])

client = Client(server, serde=serde.pickle_serde, default_noreply=False)
for thing in ["Dune", 42, 2**70, [1, "two"], {"three": 3.0}, None, b"", "ü"]:
    show("serialized", [client.set("thing", thing), client.get("thing")])

pool = PooledClient(server, max_pool_size=4)
show("pooled", [pool.set("pooled", b"1", noreply=True), pool.get("pooled"), pool.get_many(["pooled", "x"])])
ring = HashClient([server], use_pooling=True)
show("ring", [ring.set_many({"r%d" % i: "v" for i in range(50)}), len(ring.get_many(["r%d" % i for i in range(60)]))])

statistics = plain.stats()
for name in [b"curr_items", b"cmd_get", b"get_hits", b"bytes", b"threads", b"limit_maxbytes", b"uptime", b"pid", b"version"]:
    print("stats", name, type(statistics[name]).__name__)
show("stats settings", b"maxconns" in plain.stats("settings"))
show("version", plain.version()[:4])
show("cache_memlimit", plain.cache_memlimit(64))
show("flush_all", [plain.flush_all(), plain.get("bytes")])
plain.quit()
show("after quit", [plain.set("again", b"1"), plain.get("again")])
print("done")
