// Prints the replies that hiredis gets from a server. Argument: PORT.
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int port;

static void show_reply(const redisReply *reply)
{
    switch (reply->type) {
        case REDIS_REPLY_STRING: printf(" \"%.*s\"", (int)reply->len, reply->str); break;
        case REDIS_REPLY_STATUS: printf(" +%s", reply->str); break;
        case REDIS_REPLY_ERROR: printf(" -%s", reply->str); break;
        case REDIS_REPLY_INTEGER: printf(" %lld", reply->integer); break;
        case REDIS_REPLY_NIL: printf(" nil"); break;
        case REDIS_REPLY_ARRAY:
            printf(" [");
            for (size_t i = 0; i < reply->elements; i++) {
                show_reply(reply->element[i]);
            }
            printf(" ]");
            break;
        default: printf(" type %d", reply->type); break;
    }
}

static redisContext *connect_to_server(void)
{
    redisContext *context = redisConnectWithTimeout("127.0.0.1", port, (struct timeval){ 20, 0 });
    if (context == NULL || context->err) {
        printf("no connection\n");
        exit(1);
    }

    redisSetTimeout(context, (struct timeval){ 20, 0 });
    return context;
}

static void show(redisContext *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(context, format, arguments);
    va_end(arguments);
    if (reply == NULL) {
        printf("%s: %s\n", format, context->errstr);
        exit(1);
    }

    printf("%s:", format);
    show_reply(reply);
    printf("\n");
    freeReplyObject(reply);
}

static void show_next(redisContext *context)
{
    redisReply *reply;
    if (redisGetReply(context, (void **)&reply) != REDIS_OK) {
        printf("no reply: %s\n", context->errstr);
        exit(1);
    }

    show_reply(reply);
    freeReplyObject(reply);
}

static void one_by_one(void)
{
    redisContext *context = connect_to_server();
    show(context, "FLUSHALL");
    show(context, "PING");
    show(context, "SET %s %b", "bytes", "a\0b", (size_t)3);
    show(context, "STRLEN bytes");
    show(context, "SET book Dune EX 100");
    show(context, "GET book");
    show(context, "GET nothing");
    show(context, "PERSIST book");
    show(context, "MSET a 1 b 2");
    show(context, "MGET a nothing b");
    show(context, "INCRBY a 41");
    show(context, "INCR book");
    show(context, "HSET h f v g 1");
    show(context, "HGETALL h");
    show(context, "HGET book f");
    show(context, "NONSENSE %s", "x y");
    show(context, "GET");
    show(context, "MULTI");
    show(context, "INCR a");
    show(context, "HGET h f");
    show(context, "EXEC");
    show(context, "HSCAN h 0 MATCH f*");
    show(context, "CLIENT SETNAME tester");
    show(context, "CLIENT GETNAME");
    show(context, "SELECT 0");
    show(context, "SELECT 1");

    const char *arguments[] = { "SET", "empty", "" };
    const size_t lengths[] = { 3, 5, 0 };
    freeReplyObject(redisCommandArgv(context, 3, arguments, lengths));
    show(context, "GET empty");

    size_t bytes = 5 * 1000 * 1000;
    char *large = malloc(bytes);
    memset(large, 'x', bytes);
    show(context, "SET large %b", large, bytes);
    redisReply *reply = redisCommand(context, "GET large");
    printf("large: %d\n", reply->len == bytes && memcmp(reply->str, large, bytes) == 0);
    freeReplyObject(reply);
    free(large);
    show(context, "QUIT");
    redisFree(context);
}

static void pipelined(void)
{
    const int requests = 20000;
    redisContext *context = connect_to_server();
    for (int i = 0; i < requests; i++) {
        redisAppendCommand(context, "SET k%d v%d", i, i);
        redisAppendCommand(context, "GET k%d", i);
        redisAppendCommand(context, i % 100 == 0 ? "INCR k%d" : "INCR n%d", i);
    }

    for (int i = 0; i < requests * 3; i++) {
        show_next(context);
    }

    printf("\n");
    redisFree(context);
}

static void subscribed(void)
{
    redisContext *context = connect_to_server();
    redisContext *other = connect_to_server();
    show(context, "SUBSCRIBE news");
    show(context, "PSUBSCRIBE n*");
    show(other, "PUBLISH news one");
    show_next(context);
    show_next(context);
    printf("\n");
    show(context, "UNSUBSCRIBE news");
    show(context, "PUNSUBSCRIBE n*");
    show(context, "GET book");
    redisFree(context);
    redisFree(other);
}

// With hiredis, the program itself waits for events. This variable holds the events that hiredis wants.
static int wanted;
static int messages;

static void want_read(void *data) { wanted |= POLLIN; }
static void want_no_read(void *data) { wanted &= ~POLLIN; }
static void want_write(void *data) { wanted |= POLLOUT; }
static void want_no_write(void *data) { wanted &= ~POLLOUT; }
static void forget(void *data) { wanted = 0; }

static void on_reply(redisAsyncContext *context, void *data, void *request)
{
    if (data != NULL) {
        printf("%s:", (char *)request);
        show_reply(data);
        printf("\n");
    }
}

static void on_message(redisAsyncContext *context, void *data, void *request)
{
    on_reply(context, data, request);
    if (data != NULL && ++messages == 11) {
        redisAsyncDisconnect(context);
    }
}

static redisAsyncContext *connect_asynchronously(void)
{
    redisAsyncContext *context = redisAsyncConnect("127.0.0.1", port);
    wanted = 0;
    context->ev.addRead = want_read;
    context->ev.delRead = want_no_read;
    context->ev.addWrite = want_write;
    context->ev.delWrite = want_no_write;
    context->ev.cleanup = forget;
    context->ev.data = context;
    return context;
}

// Continues until the connection wants no more events, because it has been closed.
static void run(redisAsyncContext *context)
{
    int descriptor = context->c.fd;
    while (wanted != 0) {
        struct pollfd events = { descriptor, (short)wanted, 0 };
        if (poll(&events, 1, 20000) <= 0) {
            printf("no event\n");
            exit(1);
        }

        if ((events.revents & POLLOUT) && (wanted & POLLOUT)) {
            redisAsyncHandleWrite(context);
        }

        if ((events.revents & ~POLLOUT) && (wanted & POLLIN)) {
            redisAsyncHandleRead(context);
        }
    }
}

static void on_subscribed(redisAsyncContext *context, void *data, void *request)
{
    // The first reply is that to SUBSCRIBE. Messages arrive from now on.
    if (messages == 0 && data != NULL) {
        redisContext *other = connect_to_server();
        for (int i = 0; i < 10; i++) {
            show(other, "PUBLISH stream %d", i);
        }

        redisFree(other);
    }

    on_message(context, data, request);
}

static void asynchronous(void)
{
    redisAsyncContext *context = connect_asynchronously();
    for (int i = 0; i < 1000; i++) {
        redisAsyncCommand(context, on_reply, "async set", "SET a%d v%d", i, i);
        redisAsyncCommand(context, on_reply, "async get", "GET a%d", i);
    }

    redisAsyncDisconnect(context);
    run(context);

    context = connect_asynchronously();
    redisAsyncCommand(context, on_subscribed, "async subscribe", "SUBSCRIBE stream");
    run(context);
}

int main(int count, char **arguments)
{
    port = atoi(arguments[count - 1]);
    one_by_one();
    pipelined();
    subscribed();
    asynchronous();
    printf("done\n");
    return 0;
}
