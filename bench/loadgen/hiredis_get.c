// A client of Redis in C that keeps a number of GETs in flight on one connection. Other clients are compared with it.
//
//   hiredis_get PORT KEY DEPTH OPERATIONS
//
// Prints the nanoseconds from the first request to the last reply. The time to connect does not count.
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words) {
  if (count != 5) {
    fprintf(stderr, "hiredis_get PORT KEY DEPTH OPERATIONS\n");
    return 2;
  }

  int depth = atoi(words[3]);
  long operations = atol(words[4]);
  redisContext *connection = redisConnect("127.0.0.1", atoi(words[1]));
  if (connection == NULL || connection->err) {
    fprintf(stderr, "no connection\n");
    return 1;
  }

  long long start = now_ns();
  for (long sent = 0; sent < operations; sent += depth) {
    for (int i = 0; i < depth; i++) {
      redisAppendCommand(connection, "GET %s", words[2]);
    }

    for (int i = 0; i < depth; i++) {
      redisReply *reply;
      if (redisGetReply(connection, (void **)&reply) != REDIS_OK || reply->type != REDIS_REPLY_STRING) {
        fprintf(stderr, "no value\n");
        return 1;
      }

      freeReplyObject(reply);
    }
  }

  printf("%lld\n", now_ns() - start);
  redisFree(connection);
  return 0;
}
