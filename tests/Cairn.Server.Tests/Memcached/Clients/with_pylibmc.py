# Prints the replies that pylibmc, which uses libmemcached, gets from a server. Arguments: PORT, and binary for the binary protocol.
import sys

import pylibmc

server = "127.0.0.1:" + sys.argv[1]
is_binary = sys.argv[2:] == ["binary"]


def show(what, answer):
    print(what, repr(answer))


def show_error(what, action):
    try:
        show(what, action())
    except pylibmc.Error as error:
        print(what, type(error).__name__)


for behaviors in [{}, {"no_block": True, "tcp_nodelay": True}, {"cas": True}, {"buffer_requests": False} if is_binary else {"buffer_requests": False, "verify_keys": True}]:
    client = pylibmc.Client([server], binary=is_binary, behaviors=behaviors)
    print("behaviors", sorted(behaviors))
    show("flush_all", client.flush_all())
    show("get of nothing", client.get("nothing"))
    for thing in ["Dune", 42, 2**70, [1, "two"], {"three": 3.0}, None, b"bytes", "ü", True]:
        show("set", [client.set("thing", thing), client.get("thing")])
    show("add", [client.add("thing", "x"), client.add("new", "x")])
    show("replace", client.replace("thing", "y"))
    show_error("replace of nothing", lambda: client.replace("nothing", "y"))
    show("append", [client.append("new", "z"), client.prepend("new", "a"), client.get("new")])
    show("incr", [client.set("count", 10), client.incr("count", 5), client.decr("count", 20)])
    show_error("incr of nothing", lambda: client.incr("nothing"))
    show("set_multi", client.set_multi({"k%d" % i: "v%d" % i for i in range(200)}))
    show("get_multi", sorted(client.get_multi(["k%d" % i for i in range(300)]).items()))
    show("set_multi with a prefix", client.set_multi({"1": "a", "2": "b"}, key_prefix="p:", time=100))
    show("get_multi with a prefix", sorted(client.get_multi(["1", "2", "3"], key_prefix="p:").items()))
    show("delete", [client.delete("k1"), client.delete("k1")])
    show("delete_multi", client.delete_multi(["k2", "k3"]))
    show("expired", [client.set("gone", "x", time=1 << 29), client.get("gone")])
    show("expired before", [client.set("gone", "x", time=-1), client.get("gone")])
    show("touch", [client.touch("k4", 100), client.touch("nothing", 1)])
    show("largest", [client.set("large", b"x" * 1040000), len(client.get("large"))])
    show_error("too large", lambda: client.set("large", b"\0" * 1100000))
    show("compressed", [client.set("packed", b"x" * 100000, min_compress_len=1000), len(client.get("packed"))])
    show_error("key with a space", lambda: client.set("a b", 1))

client = pylibmc.Client([server], binary=is_binary, behaviors={"cas": True})
client.set("versioned", "1")
value, version = client.gets("versioned")
show("cas", [value, client.cas("versioned", "2", version), client.get("versioned")])
show_error("cas with an old version", lambda: client.cas("versioned", "3", version))
show("stats", [b"curr_items" in s or "curr_items" in s for _, s in client.get_stats()])
client.disconnect_all()
show("after disconnecting", client.get("versioned"))
print("done")
