// Loads a memcached or Redis server and measures the cost of a request. It is one thread with a closed loop: each connection sends
// a batch of requests and waits for the whole reply before it sends the next batch.
//
//   cc -O2 loadgen.c -o loadgen                            epoll
//   cc -O2 -DWITH_URING loadgen.c -o loadgen -luring       io_uring (liburing-dev)
//
//   loadgen -p PORT -k KEYS -L                       sets every key, then reads some of them
//   loadgen -p PORT -k KEYS -S PID -c 50 -d 2        measures
//
// The generator must cost less than the servers that it loads. So a batch is a part of a text that was written beforehand, and the
// generator counts the bytes of a reply without reading them. Every value has the same length, and every key exists or, with -m, none,
// so the length of a reply is known. The generator reads only the first byte, which distinguishes an answer from an error.
//
// Requests that end within the span count. The kernel's clock of the server's process gives its processor time (user and kernel, all
// threads) at the beginning and at the end of the span. The result is one line:
//
//   operations=N seconds=S server_cpu_seconds=S p50_us=T p99_us=T p999_us=T max_us=T failures=N
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_URING
#include <liburing.h>
#endif

enum protocol { TEXT, META, BINARY, RESP };

// The most requests that are written beforehand, and their bytes. A batch can begin at any of them.
enum { MOST_POOL_REQUESTS = 128 * 1024, MOST_POOL_BYTES = 256 * 1024 * 1024 };

static const uint64_t NS = 1000000000ull;
static const int REAL_TIME_PRIORITY = 10;

static struct {
    enum protocol protocol;
    const char *unix_path;
    int port;
    int connections;
    int depth;
    int is_multiget;
    int is_miss;
    int keys;
    int value_bytes;
    int set_percent;
    int server;
    int is_real_time;
    double warm_seconds;
    double seconds;
} options = { .port = 11211, .connections = 50, .depth = 1, .keys = 1000000, .value_bytes = 100, .warm_seconds = 0.3, .seconds = 2 };

struct connection {
    int socket;
    uint32_t position;      // In the pool: the beginning of the part of the batch that was not sent yet,
    uint32_t end;           // and its end.
    uint32_t awaited;       // Bytes of the reply that have not arrived yet.
    int is_first;           // No byte of the reply has arrived yet.
    uint64_t sent_at;
};

static char *value;
static char *pool;
static uint32_t *request_at;    // The beginning of each request in the pool, and the end of the last one.
static uint32_t *reply_at;      // The bytes of all replies before that of a request.
static int batches;
static int pool_requests;

static struct connection *connections;
static uint64_t begins_at;
static uint64_t ends_at;
static uint64_t server_ns;
static int has_begun;
static uint64_t operations;
static uint64_t failures;

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("loadgen: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        fail("the clock cannot be read: %s", strerror(errno));
    return (uint64_t)time.tv_sec * NS + (uint64_t)time.tv_nsec;
}

static uint64_t now(void) { return now_ns(CLOCK_MONOTONIC); }

// Xorshift: every run requests the same keys.
static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// --- Requests and replies ---

// The header of a message of memcached's binary protocol, whose numbers are big-endian.
static int write_binary_header(char *to, int magic, int opcode, int key_bytes, int extras_bytes, int body_bytes)
{
    memset(to, 0, 24);
    to[0] = (char)magic;
    to[1] = (char)opcode;
    to[3] = (char)key_bytes;
    to[4] = (char)extras_bytes;
    for (int i = 0; i < 4; i++)
        to[8 + i] = (char)(body_bytes >> (24 - 8 * i));
    return 24;
}

static int write_get(char *to, unsigned key)
{
    switch (options.protocol) {
    case RESP: return sprintf(to, "*2\r\n$3\r\nGET\r\n$12\r\nkey:%08u\r\n", key);
    case META: return sprintf(to, "mg key:%08u v\r\n", key);
    case BINARY: return write_binary_header(to, 0x80, 0, 12, 0, 12) + sprintf(to + 24, "key:%08u", key);
    default: return sprintf(to, "get key:%08u\r\n", key);
    }
}

static int write_set(char *to, unsigned key)
{
    if (options.protocol == BINARY) {
        write_binary_header(to, 0x80, 1, 12, 8, 20 + options.value_bytes);
        memset(to + 24, 0, 8);
        sprintf(to + 32, "key:%08u", key);
        memcpy(to + 44, value, options.value_bytes);
        return 44 + options.value_bytes;
    }
    int length = options.protocol == RESP
        ? sprintf(to, "*3\r\n$3\r\nSET\r\n$12\r\nkey:%08u\r\n$%d\r\n", key, options.value_bytes)
        : sprintf(to, "set key:%08u 0 0 %d\r\n", key, options.value_bytes);
    memcpy(to + length, value, options.value_bytes);
    length += options.value_bytes;
    memcpy(to + length, "\r\n", 2);
    return length + 2;
}

static int write_value_line(char *to, unsigned key)
{
    switch (options.protocol) {
    case RESP: return sprintf(to, "$%d\r\n", options.value_bytes);
    case META: return sprintf(to, "VA %d\r\n", options.value_bytes);
    case BINARY:
        write_binary_header(to, 0x81, 0, 0, 4, 4 + options.value_bytes);
        memset(to + 24, 0, 4);
        return 28;
    default: return sprintf(to, "VALUE key:%08u 0 %d\r\n", key, options.value_bytes);
    }
}

static int write_get_reply(char *to, unsigned key)
{
    if (options.is_miss && options.protocol == BINARY)
        return write_binary_header(to, 0x81, 0, 0, 0, 9) + sprintf(to + 24, "Not found");
    if (options.is_miss)
        return sprintf(to, options.protocol == RESP ? "$-1\r\n" : options.protocol == META ? "EN\r\n" : "END\r\n");
    int length = write_value_line(to, key);
    memcpy(to + length, value, options.value_bytes);
    length += options.value_bytes;
    if (options.protocol == BINARY)
        return length;
    return length + sprintf(to + length, options.protocol == TEXT ? "\r\nEND\r\n" : "\r\n");
}

static int set_reply_bytes(void) { return options.protocol == RESP ? 5 : options.protocol == BINARY ? 24 : 8; } // +OK, a header, STORED

static void write_pool(void)
{
    char *scratch = malloc(options.value_bytes + 128);
    uint32_t request = 0, reply = 0;
    int get_reply = write_get_reply(scratch, 0);
    size_t request_bytes = 64 + (options.set_percent > 0 ? options.value_bytes + 64 : 0);
    pool_requests = MOST_POOL_REQUESTS * request_bytes > MOST_POOL_BYTES ? MOST_POOL_BYTES / request_bytes : MOST_POOL_REQUESTS;
    pool = malloc(pool_requests * request_bytes);
    request_at = malloc((pool_requests + 1) * sizeof *request_at);
    reply_at = malloc((pool_requests + 1) * sizeof *reply_at);
    batches = options.is_multiget ? pool_requests / options.depth : pool_requests;
    for (int i = 0; i < batches; i++) {
        request_at[i] = request;
        reply_at[i] = reply;
        if (options.is_multiget) {
            request += sprintf(pool + request, "get");
            for (int key = 0; key < options.depth; key++) {
                request += sprintf(pool + request, " key:%08u", (unsigned)(next_random() % options.keys));
                reply += get_reply - 5; // The reply has one END for all values.
            }
            request += sprintf(pool + request, "\r\n");
            reply += 5;
            continue;
        }

        unsigned key = next_random() % options.keys + (options.is_miss ? options.keys : 0);
        if ((int)(next_random() % 100) < options.set_percent) {
            request += write_set(pool + request, key);
            reply += set_reply_bytes();
        } else {
            request += write_get(pool + request, key);
            reply += get_reply;
        }
    }
    request_at[batches] = request;
    reply_at[batches] = reply;
    free(scratch);
}

static void choose_batch(struct connection *connection)
{
    int length = options.is_multiget ? 1 : options.depth;
    int first = next_random() % (batches - length + 1);
    connection->position = request_at[first];
    connection->end = request_at[first + length];
    connection->awaited = reply_at[first + length] - reply_at[first];
    connection->is_first = 1;
}

// --- Latencies: buckets of 256 ns up to 16 us, then 32 for each doubling ---

enum { BUCKETS = 2048 };
static uint64_t histogram[BUCKETS];

static int bucket_of(uint64_t ns)
{
    uint64_t units = ns >> 8;
    if (units < 64)
        return (int)units;
    int power = 63 - __builtin_clzll(units);
    return 64 + (power - 6) * 32 + (int)((units >> (power - 5)) & 31);
}

static double middle_us(int bucket)
{
    if (bucket < 64)
        return (bucket + 0.5) * 256 / 1000;
    int power = (bucket - 64) / 32 + 6, part = (bucket - 64) % 32;
    return (32.5 + part) * (double)(1ull << (power - 5)) * 256 / 1000;
}

static double percentile_us(double fraction)
{
    uint64_t total = 0, below = 0;
    for (int i = 0; i < BUCKETS; i++)
        total += histogram[i];
    for (int i = 0; i < BUCKETS; i++) {
        below += histogram[i];
        if (below > (uint64_t)(total * fraction))
            return middle_us(i);
    }
    return 0;
}

// --- The span ---

static uint64_t server_cpu_ns(void)
{
    clockid_t clock;
    if (options.server == 0)
        return 0;
    if (clock_getcpuclockid(options.server, &clock) != 0)
        fail("there is no process %d", options.server);
    return now_ns(clock);
}

// Returns whether the span continues. Called with the present time after each event.
static int note_time(uint64_t time)
{
    if (!has_begun && time >= begins_at) {
        has_begun = 1;
        server_ns = server_cpu_ns();
        begins_at = now();
        ends_at = begins_at + (uint64_t)(options.seconds * NS);
    }
    return !has_begun || time < ends_at;
}

static void note_received(struct connection *connection, const char *bytes, uint32_t count)
{
    if (connection->is_first) {
        connection->is_first = 0;
        int is_answer = options.protocol == BINARY ? *bytes == (char)0x81 && (count < 8 || bytes[7] == options.is_miss)
            : options.protocol == RESP ? *bytes == '$' || *bytes == '+'
            : options.is_miss ? *bytes == 'E' : options.protocol == META ? *bytes == 'V' : *bytes == 'V' || *bytes == 'S';
        failures += !is_answer;
    }
    if (count > connection->awaited) {
        failures++;
        count = connection->awaited;
    }
    connection->awaited -= count;
}

static void note_done(struct connection *connection, uint64_t time)
{
    if (has_begun && time < ends_at) {
        operations += options.depth;
        histogram[bucket_of(time - connection->sent_at)]++;
    }
    choose_batch(connection);
    connection->sent_at = time;
}

// --- epoll ---

static void send_epoll(int epoll, struct connection *connection, int was_waiting)
{
    ssize_t sent = send(connection->socket, pool + connection->position, connection->end - connection->position, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
        connection->position += sent;
    int is_waiting = connection->position < connection->end;
    if (is_waiting != was_waiting) {
        struct epoll_event event = { .events = EPOLLIN | (is_waiting ? EPOLLOUT : 0), .data.ptr = connection };
        epoll_ctl(epoll, EPOLL_CTL_MOD, connection->socket, &event);
    }
}

static void run_epoll(void)
{
    static char buffer[64 * 1024];
    struct epoll_event events[512];
    int epoll = epoll_create1(0);
    for (int i = 0; i < options.connections; i++) {
        struct connection *connection = &connections[i];
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };
        epoll_ctl(epoll, EPOLL_CTL_ADD, connection->socket, &event);
        note_done(connection, now());
        send_epoll(epoll, connection, 0);
    }

    while (1) {
        int count = epoll_wait(epoll, events, 512, 100);
        if (!note_time(now()))
            return;
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (events[i].events & EPOLLOUT)
                send_epoll(epoll, connection, 1);
            if (!(events[i].events & EPOLLIN))
                continue;
            ssize_t received = recv(connection->socket, buffer, sizeof buffer, MSG_DONTWAIT);
            if (received < 0 && errno == EAGAIN)
                continue;
            if (received <= 0)
                fail("the server closed a connection");
            note_received(connection, buffer, (uint32_t)received);
            if (connection->awaited == 0) {
                note_done(connection, now());
                send_epoll(epoll, connection, 0);
            }
        }
    }
}

// --- io_uring ---

#ifdef WITH_URING
static struct io_uring ring;
static const uint64_t SEND = 1ull << 40;

static struct io_uring_sqe *entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    if (entry == NULL) {
        io_uring_submit(&ring);
        entry = io_uring_get_sqe(&ring);
    }
    return entry;
}

static void receive_uring(int index)
{
    struct io_uring_sqe *receive = entry();
    io_uring_prep_recv_multishot(receive, connections[index].socket, NULL, 0, 0);
    receive->flags |= IOSQE_BUFFER_SELECT;
    receive->buf_group = 0;
    io_uring_sqe_set_data64(receive, index);
}

static void send_uring(int index)
{
    struct connection *connection = &connections[index];
    struct io_uring_sqe *request = entry();
    io_uring_prep_send(
        request, connection->socket, pool + connection->position, connection->end - connection->position, MSG_NOSIGNAL | MSG_WAITALL);
    request->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(request, SEND | index);
}

// Returns false if this machine cannot use io_uring.
static int run_uring(void)
{
    int count = options.depth >= 64 ? 256 : 1024, bytes = options.depth >= 16 ? 16 * 1024 : 4 * 1024;
    struct io_uring_params parameters = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE, .cq_entries = 16 * 1024,
    };
    if (io_uring_queue_init_params(4096, &ring, &parameters) != 0)
        return 0;
    char *buffers = aligned_alloc(4096, (size_t)count * bytes);
    struct io_uring_buf_ring *places = aligned_alloc(4096, count * sizeof(struct io_uring_buf));
    struct io_uring_buf_reg registration = { .ring_addr = (uint64_t)places, .ring_entries = count, .bgid = 0 };
    memset(places, 0, count * sizeof(struct io_uring_buf));
    if (io_uring_register_buf_ring(&ring, &registration, 0) != 0)
        return 0;
    io_uring_buf_ring_init(places);
    for (int i = 0; i < count; i++)
        io_uring_buf_ring_add(places, buffers + (size_t)i * bytes, bytes, i, count - 1, i);
    io_uring_buf_ring_advance(places, count);

    for (int i = 0; i < options.connections; i++)
        receive_uring(i);
    for (int i = 0; i < options.connections; i++) {
        note_done(&connections[i], now());
        send_uring(i);
    }

    while (1) {
        struct io_uring_cqe *completion;
        struct __kernel_timespec longest = { 0, 100 * 1000 * 1000 };
        unsigned head, seen = 0, returned = 0;
        io_uring_submit_and_wait_timeout(&ring, &completion, 1, &longest, NULL);
        if (!note_time(now()))
            return 1;
        io_uring_for_each_cqe(&ring, head, completion) {
            seen++;
            if (completion->user_data == LIBURING_UDATA_TIMEOUT)
                continue;
            if (completion->user_data & SEND)
                fail("a request cannot be sent: %s", strerror(-completion->res));
            int index = (int)completion->user_data;
            struct connection *connection = &connections[index];
            if (completion->flags & IORING_CQE_F_BUFFER) {
                int buffer = completion->flags >> IORING_CQE_BUFFER_SHIFT;
                char *bytes_at = buffers + (size_t)buffer * bytes;
                if (completion->res > 0)
                    note_received(connection, bytes_at, (uint32_t)completion->res);
                io_uring_buf_ring_add(places, bytes_at, bytes, buffer, count - 1, returned++);
            }
            if (!(completion->flags & IORING_CQE_F_MORE)) {
                if (completion->res == 0 || (completion->res < 0 && completion->res != -ENOBUFS))
                    fail("the server closed a connection");
                receive_uring(index);
            }
            if (completion->res > 0 && connection->awaited == 0) {
                note_done(connection, now());
                send_uring(index);
            }
        }
        io_uring_buf_ring_advance(places, returned);
        io_uring_cq_advance(&ring, seen);
    }
}
#else
static int run_uring(void) { return 0; }
#endif

// --- Connections, and the keys ---

static int connect_server(void)
{
    union {
        struct sockaddr any;
        struct sockaddr_in tcp;
        struct sockaddr_un unix_path;
    } address = { 0 };
    socklen_t length;
    if (options.unix_path != NULL) {
        address.unix_path.sun_family = AF_UNIX;
        if (strlen(options.unix_path) >= sizeof address.unix_path.sun_path)
            fail("the path %s is too long for a socket", options.unix_path);
        strcpy(address.unix_path.sun_path, options.unix_path);
        length = sizeof address.unix_path;
    } else {
        address.tcp.sin_family = AF_INET;
        address.tcp.sin_port = htons(options.port);
        address.tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        length = sizeof address.tcp;
    }

    int descriptor = socket(address.any.sa_family, SOCK_STREAM, 0), is_on = 1;
    if (connect(descriptor, &address.any, length) != 0)
        fail("cannot connect: %s", strerror(errno));
    if (options.unix_path == NULL)
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &is_on, sizeof is_on);
    return descriptor;
}

static void send_all(int descriptor, const char *bytes, int count)
{
    for (int sent = 0; sent < count;) {
        ssize_t more = send(descriptor, bytes + sent, count - sent, MSG_NOSIGNAL);
        if (more <= 0)
            fail("a request cannot be sent: %s", strerror(errno));
        sent += more;
    }
}

static void receive_all(int descriptor, char *bytes, int count)
{
    for (int received = 0; received < count;) {
        ssize_t more = recv(descriptor, bytes + received, count - received, 0);
        if (more <= 0)
            fail("a reply ends early");
        received += more;
    }
}

static void load_keys(void)
{
    enum { AT_ONCE = 200, CHECKED = 1000 };
    int descriptor = connect_server();
    char *requests = malloc(AT_ONCE * (options.value_bytes + 128)), *replies = malloc(64 * 1024 + options.value_bytes);
    char *expected = malloc(options.value_bytes + 128);
    for (int key = 0; key < options.keys;) {
        int length = 0, count = 0;
        for (; count < AT_ONCE && key < options.keys; count++)
            length += write_set(requests + length, key++);
        send_all(descriptor, requests, length);
        receive_all(descriptor, replies, count * set_reply_bytes());
    }

    for (int i = 0; i < CHECKED; i++) {
        unsigned key = i * 7919u % options.keys;
        int length = write_get_reply(expected, key);
        send_all(descriptor, requests, write_get(requests, key));
        receive_all(descriptor, replies, length);
        if (options.protocol == BINARY)
            memset(replies + 16, 0, 8); // The version.
        if (memcmp(replies, expected, length) != 0)
            fail("key %u has another value: %.*s", key, length, replies);
    }
    close(descriptor);
}

// --- Real-time priority: on a machine that others use, no other work interrupts server and load while they are measured ---

static void schedule_thread(int thread, int policy)
{
    struct sched_param parameter = { .sched_priority = policy == SCHED_FIFO ? REAL_TIME_PRIORITY : 0 };
    if (sched_setscheduler(thread, policy, &parameter) != 0 && errno != ESRCH)
        fail("real-time priority cannot be had: %s", strerror(errno));
}

static void schedule(int policy)
{
    char path[64];
    schedule_thread(0, policy);
    snprintf(path, sizeof path, "/proc/%d/task", options.server);
    DIR *threads = options.server != 0 ? opendir(path) : NULL;
    if (threads == NULL)
        return;
    for (struct dirent *thread; (thread = readdir(threads)) != NULL;) {
        if (thread->d_name[0] != '.')
            schedule_thread(atoi(thread->d_name), policy);
    }
    closedir(threads);
}

static void usage(void)
{
    fputs("usage: loadgen (-p PORT | -U PATH) [-R | -M | -B] [-G] [-m] [-L] [-c CONNECTIONS] [-P DEPTH] [-s SET_PERCENT] [-k KEYS]\n"
          "               [-v VALUE_BYTES] [-d SECONDS] [-w WARM_SECONDS] [-S SERVER_PID] [-F] [-E]\n"
          "  -R RESP  -M meta gets  -B binary protocol  -G one get of DEPTH keys  -m gets of missing keys  -L set every key and end  -F real-time priority  -E epoll\n", stderr);
    exit(2);
}

int main(int count, char **arguments)
{
    int is_load = 0, is_epoll = 0;
    for (int option; (option = getopt(count, arguments, "p:U:c:P:s:k:v:d:w:S:RMBGmLFE")) != -1;) {
        switch (option) {
        case 'p': options.port = atoi(optarg); break;
        case 'U': options.unix_path = optarg; break;
        case 'c': options.connections = atoi(optarg); break;
        case 'P': options.depth = atoi(optarg); break;
        case 's': options.set_percent = atoi(optarg); break;
        case 'k': options.keys = atoi(optarg); break;
        case 'v': options.value_bytes = atoi(optarg); break;
        case 'd': options.seconds = atof(optarg); break;
        case 'w': options.warm_seconds = atof(optarg); break;
        case 'S': options.server = atoi(optarg); break;
        case 'R': options.protocol = RESP; break;
        case 'M': options.protocol = META; break;
        case 'B': options.protocol = BINARY; break;
        case 'G': options.is_multiget = 1; break;
        case 'm': options.is_miss = 1; break;
        case 'L': is_load = 1; break;
        case 'F': options.is_real_time = 1; break;
        case 'E': is_epoll = 1; break;
        default: usage();
        }
    }
    if (options.connections < 1 || options.depth < 1 || options.keys < 1 || options.value_bytes < 1 || options.seconds <= 0)
        usage();

    value = malloc(options.value_bytes);
    for (int i = 0; i < options.value_bytes; i++)
        value[i] = 'a' + i % 26;
    if (is_load) {
        load_keys();
        return 0;
    }

    write_pool();
    connections = calloc(options.connections, sizeof *connections);
    for (int i = 0; i < options.connections; i++)
        connections[i].socket = connect_server();
    usleep(100 * 1000);

    if (options.is_real_time)
        schedule(SCHED_FIFO);
    begins_at = now() + (uint64_t)(options.warm_seconds * NS);
    if (is_epoll || !run_uring())
        run_epoll();
    uint64_t used_ns = server_cpu_ns() - server_ns;
    double seconds = (double)(now() - begins_at) / NS;
    if (options.is_real_time)
        schedule(SCHED_OTHER);

    printf("operations=%llu seconds=%.6f server_cpu_seconds=%.6f p50_us=%.1f p99_us=%.1f p999_us=%.1f max_us=%.1f failures=%llu\n",
        (unsigned long long)operations, seconds, used_ns / (double)NS, percentile_us(0.5), percentile_us(0.99), percentile_us(0.999),
        percentile_us(0.9999999), (unsigned long long)failures);
    return 0;
}
