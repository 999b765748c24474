# Prints the results of redis-py's locks, which extend and release by scripts. Argument: PORT.
import sys

import redis

client = redis.Redis(port=int(sys.argv[1]))
client.script_flush()
client.delete("lock")
lock = client.lock("lock", timeout=100, blocking=False)
print("acquired", lock.acquire(), client.lock("lock", blocking=False).acquire())
print("extended", lock.extend(100), 190 < client.ttl("lock") <= 200)
print("replaced", lock.extend(50, replace_ttl=True), 40 < client.ttl("lock") <= 50)
print("reacquired", lock.reacquire(), 90 < client.ttl("lock") <= 100, lock.owned(), lock.locked())
token = lock.local.token
client.set("lock", "another")
for name, action in (("extend", lambda: lock.extend(1)), ("reacquire", lock.reacquire), ("release", lock.release)):
    try:
        print(name, action())
    except redis.exceptions.LockError as error:
        print(name, type(error).__name__, error)
client.set("lock", token)
lock.local.token = token
print("without expiration", end=" ")
try:
    print(lock.extend(1))
except redis.exceptions.LockError as error:
    print(type(error).__name__, error)
lock.local.token = token
print("released", lock.release(), client.exists("lock"))
print("done")
