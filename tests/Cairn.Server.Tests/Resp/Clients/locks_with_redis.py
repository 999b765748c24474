# Prints the results of redis-py's locks, which scripts release. Argument: PORT.
import sys

import redis

client = redis.Redis(port=int(sys.argv[1]))
client.delete("lock")
lock = client.lock("lock", timeout=100, blocking=False)
print("acquired", lock.acquire(), client.lock("lock", blocking=False).acquire())
for action in (lock.release, lambda: lock.extend(100)):
    try:
        print(action())
    except redis.ResponseError as error:
        print(str(error)[:30])
    lock.local.token = client.get("lock")
