# Prints the replies that redis-py gets from a server. Argument: PORT.
import sys
import threading

import redis
from redis.exceptions import RedisError

port = int(sys.argv[1])


def show(what, *answers):
    print(what, *(repr(answer) for answer in answers))


def show_error(what, action):
    try:
        show(what, action())
    except RedisError as error:
        print(what, type(error).__name__, error)


# Time passes between two requests, so the remaining time is rounded up to ten seconds.
def left(client, key):
    seconds = client.ttl(key)
    return seconds if seconds < 0 else -(-seconds // 10) * 10


def show_all(client):
    client.flushall()
    show("ping", client.ping(), client.echo("hello"))
    show("set", client.set("book", "Dune"), client.set("book", "x", nx=True), client.set("none", "x", xx=True))
    show("get", client.get("book"), client.get("nothing"), client.getrange("book", 1, 2), client.strlen("book"))
    show("set with get", client.set("book", "Emma", get=True), client.set("book", "Dune", keepttl=True))
    show("getset", client.getset("book", "Ulysses"), client.getdel("book"), client.get("book"))
    show("bytes", client.set("bytes", bytes(range(128))), client.get("bytes"))
    show("large", client.set("large", "x" * 1_000_000), len(client.get("large")))
    show("mset", client.mset({"a": 1, "b": 2.5}), client.mget("a", "b", "nothing"), client.msetnx({"a": 1, "c": 2}))
    show("incr", client.incr("n"), client.incrby("n", 41), client.decr("n", 2), client.incrbyfloat("f", 0.1))
    show("append", client.append("text", "ab"), client.append("text", "cd"), client.setrange("text", 1, "XY"), client.get("text"))
    show_error("incr of text", lambda: client.incr("text"))
    show_error("wrong type", lambda: client.hget("text", "x"))
    show_error("unknown command", lambda: client.execute_command("NONSENSE", 1, "two"))
    show_error("wrong arity", lambda: client.execute_command("GET"))
    show_error("invalid expire", lambda: client.set("x", "y", ex=0))

    show("expire", client.expire("a", 100), left(client, "a"), client.pexpire("b", 100_000), client.pttl("b") > 90_000)
    show("expire, conditions", client.expire("a", 50, gt=True), client.expire("a", 50, lt=True), client.expire("a", 9, nx=True))
    show("expireat", client.expireat("a", 4102444800), client.expiretime("a"), client.pexpiretime("a"), client.persist("a"), left(client, "a"))
    show("getex", client.getex("a", px=500_000), left(client, "a"), client.getex("a", persist=True), left(client, "a"))
    show("setex", client.setex("e", 100, "v"), left(client, "e"), client.psetex("e", 100_000, "v"), client.setnx("e", "w"))
    show("past", client.expireat("e", 1), client.exists("e"), client.exists("a", "b", "a"))
    show("type", client.type("a"), client.type("nothing"), client.touch("a", "nothing"), client.dbsize())
    show("rename", client.rename("a", "a2"), client.renamenx("b", "a2"), client.copy("a2", "a3"), client.unlink("a2", "a3", "x"))
    show_error("rename of nothing", lambda: client.rename("nothing", "x"))
    show("delete", client.delete("b", "nothing"), sorted(client.keys("*e*")), client.randomkey() is not None)
    show("object", client.object("encoding", "n"), client.object("encoding", "book"), client.memory_usage("n") > 0)

    show("hset", client.hset("h", "f", "v"), client.hset("h", mapping={"n": 1, "m": "ü"}), client.hsetnx("h", "n", 2))
    show("hget", client.hget("h", "m"), client.hget("h", "x"), client.hmget("h", "f", "x", "n"), client.hgetall("h"))
    show("hincrby", client.hincrby("h", "n", 5), client.hincrbyfloat("h", "d", 1.5), client.hlen("h"), client.hstrlen("h", "f"))
    show("hkeys", client.hkeys("h"), client.hvals("h"), client.hexists("h", "f"), client.hdel("h", "f", "x"))
    show("hscan", client.hscan("h"), sorted(client.hscan_iter("h", match="n*")))
    show_error("hash as string", lambda: client.get("h"))

    client.mset({"scan:%d" % i: i for i in range(500)})
    show("scan_iter", sorted(client.scan_iter(match="scan:*", count=50)))
    show("scan_iter of a type", sorted(client.scan_iter(_type="hash")))

    pipeline = client.pipeline(transaction=False)
    for i in range(1000):
        pipeline.set("p%d" % i, i).get("p%d" % i).incr("p")
    show("pipeline", pipeline.execute())
    show("pipeline with an error", client.pipeline(transaction=False).set("s", "x").incr("s").get("s").execute(raise_on_error=False))
    show("transaction", client.pipeline().set("t", 1).incr("t").hset("th", "a", 1).expire("t", 100).execute())
    show("transaction with an error", client.pipeline().set("t", "x").incr("t").get("t").execute(raise_on_error=False))
    show_error("aborted transaction", lambda: client.pipeline().set("t", 1).execute_command("GET").execute())

    other = redis.Redis(port=port)
    watching = client.pipeline()
    watching.watch("w")
    other.set("w", "changed")
    watching.multi()
    watching.set("w", "mine")
    show_error("watched and changed", watching.execute)
    watching.watch("w")
    before = watching.get("w")
    watching.multi()
    watching.set("w", "mine")
    show("watched", before, watching.execute(), client.get("w"))

    def count(pipe):
        value = int(pipe.get("counted") or 0)
        pipe.multi()
        pipe.set("counted", value + 1)

    show("transaction helper", client.transaction(count, "counted"), client.transaction(count, "counted"), client.get("counted"))

    # Releasing the lock needs a script. Checking the lock does not.
    lock = client.lock("lock", timeout=100, blocking=False)
    second = client.lock("lock", timeout=100, blocking=False)
    show("lock", lock.acquire(), second.acquire(), lock.locked(), lock.owned(), second.owned(), left(client, "lock"))

    messages = client.pubsub()
    messages.subscribe("news")
    messages.psubscribe("new*")
    show("subscribed", messages.get_message(timeout=10), messages.get_message(timeout=10))
    show("publish", other.publish("news", "one"), other.publish("other", "two"))
    show("messages", messages.get_message(timeout=10), messages.get_message(timeout=10))
    show("pubsub", other.pubsub_channels(), other.pubsub_numsub("news", "x"), other.pubsub_numpat())
    messages.ping("still there")
    show("ping while subscribed", messages.get_message(timeout=10))
    messages.unsubscribe()
    messages.punsubscribe()
    show("unsubscribed", messages.get_message(timeout=10), messages.get_message(timeout=10))
    messages.close()

    heard = []
    arrived = threading.Event()

    def hear(message):
        heard.append(message["data"])
        if len(heard) == 100:
            arrived.set()

    listening = client.pubsub(ignore_subscribe_messages=True)
    listening.subscribe(**{"stream": hear})
    thread = listening.run_in_thread(sleep_time=0.01)
    while other.pubsub_numsub("stream") != [(b"stream", 1)]:
        pass
    for i in range(100):
        other.publish("stream", i)
    show("listened", arrived.wait(10), heard)
    thread.stop()
    thread.join()

    show("sadd", client.sadd("set", 1, 2, 3), client.srem("set", 2, 9), sorted(client.smembers("set")), client.scard("set"), client.sismember("set", 1), client.smismember("set", [1, 2]))
    show("sscan", sorted(client.sscan_iter("set")), client.type("set"))
    show("zadd", client.zadd("sorted", {"a": 1, "b": 2.5, "c": float("inf")}), client.zadd("sorted", {"a": 3}, gt=True, ch=True), client.zadd("sorted", {"a": 1}, incr=True))
    show("zrange", client.zrange("sorted", 0, -1, withscores=True), client.zrange("sorted", 2, 5, byscore=True), client.zrevrangebyscore("sorted", "+inf", "(3", withscores=True))
    show("zscore", client.zscore("sorted", "b"), client.zscore("sorted", "none"), client.zmscore("sorted", ["a", "none"]), client.zrank("sorted", "c"), client.zcount("sorted", 1, 4))
    show("zscan", list(client.zscan_iter("sorted")), client.zincrby("sorted", -1, "b"), client.zrem("sorted", "c"), client.zremrangebyscore("sorted", "-inf", 2), client.zcard("sorted"))
    show("tags", client.delete("set", "sorted"))

    show("client", client.client_setname("tester"), client.client_getname(), client.client_id() > 0)
    mine = [item for item in client.client_list() if item["name"] == "tester"]
    show("client list", len(mine), [mine[0][name] for name in ("db", "sub", "psub", "multi", "cmd", "user", "resp") if name in mine[0]])
    show("kill", other.client_kill_filter(_id=client.client_id()), client.get("n"))
    show("config", client.config_get("databases"), client.config_get("nothing*"), client.config_resetstat())
    information = client.info()
    for name in ("redis_version", "role", "connected_clients", "used_memory", "keyspace_hits", "uptime_in_seconds", "db0"):
        show("info", name, type(information[name]).__name__)
    show("section", sorted(client.info("keyspace")["db0"]), client.info("replication")["role"])
    show("time", len(client.time()), client.slowlog_reset(), client.slowlog_len() >= 0, type(client.slowlog_get()).__name__)
    show("command", client.command()["get"]["arity"], client.command()["set"]["flags"])
    show("flushdb", client.flushdb(), client.dbsize())
    client.close()


show_all(redis.Redis(port=port))
show_all(redis.Redis(port=port, decode_responses=True, client_name="named", health_check_interval=1))
show_all(redis.Redis.from_url("redis://127.0.0.1:%d/0" % port))
show_error("database", redis.Redis(port=port, db=1).ping)
show_error("password", redis.Redis(port=port, password="wrong").ping)
print("done")
