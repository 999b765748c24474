namespace Cairn.Server.Tests.Resp;

/// <summary>Requests, one per line, whose replies are compared with those of Redis. Each script starts with an empty store.</summary>
internal static partial class RedisScripts
{
    public static IEnumerable<string> All => [.. Strings, .. Keys, .. Hashes, .. Sets, .. SortedSets, .. Transactions, .. Messages];

    /// <summary>Gets the scripts of several clients: see <see cref="SeveralClients"/>.</summary>
    public static string[] SeveralClients { get; } =
    [
        """
        1> HELLO 3
        1> CLIENT TRACKING ON
        1> CLIENT TRACKINGINFO
        1> CLIENT GETREDIR
        1> GET a
        2> SET a 1
        2> SET a 2
        1> GET a
        1> MGET a b c
        2> DEL a
        2> MSET b 1
        2> MSETNX c 2
        1> GET d
        1> SET d 1
        1> GET d
        1> INCR d
        1> INCR d
        1> HGET h f
        2> HSET h f 1
        1> HGETALL h
        2> EXPIRE h 100
        1> EXISTS h
        2> PERSIST h
        1> STRLEN d
        2> FLUSHALL
        1> GET d
        1> CLIENT TRACKING OFF
        2> SET d 5
        1> CLIENT TRACKINGINFO
        """,
        """
        1> HELLO 3
        1> CLIENT TRACKING ON NOLOOP
        1> GET a
        1> SET a 1
        2> SET a 2
        1> GET a
        2> SET a 3
        1> GET a
        1> MULTI; SET a 4; INCR a; EXEC
        2> SET a 6
        1> CLIENT TRACKINGINFO
        """,
        """
        1> HELLO 3
        1> CLIENT TRACKING ON OPTIN
        1> GET a
        2> SET a 1
        1> CLIENT CACHING NO
        1> CLIENT CACHING YES; CLIENT TRACKINGINFO; GET a; CLIENT TRACKINGINFO
        1> GET b
        2> SET a 2
        2> SET b 2
        1> CLIENT CACHING YES; MULTI; GET a; GET b; EXEC
        2> SET a 3
        2> SET b 3
        1> CLIENT TRACKING ON OPTOUT
        1> CLIENT TRACKING OFF
        1> CLIENT TRACKING ON OPTOUT
        1> GET a
        1> CLIENT CACHING YES
        1> CLIENT CACHING x
        1> CLIENT CACHING NO; GET b
        2> SET a 4
        2> SET b 4
        """,
        """
        1> HELLO 3
        1> CLIENT TRACKING ON BCAST PREFIX user: PREFIX item:
        1> CLIENT TRACKINGINFO
        2> SET user:1 a
        2> SET other b
        2> SET item:1 c
        2> DEL user:1
        2> EXPIRE item:1 100
        1> SET user:2 x
        1> CLIENT TRACKING ON BCAST PREFIX use
        1> CLIENT TRACKING ON BCAST PREFIX ab PREFIX abc
        1> CLIENT TRACKING ON
        1> CLIENT TRACKING ON BCAST OPTIN
        2> FLUSHALL
        1> CLIENT TRACKING OFF
        1> CLIENT TRACKING ON BCAST NOLOOP
        1> SET user:2 x
        2> SET user:2 y
        2> HSET h f 1
        1> CLIENT TRACKINGINFO
        """,
        """
        1> CLIENT TRACKING ON REDIRECT {2}
        2> SUBSCRIBE __redis__:invalidate
        1> CLIENT GETREDIR
        1> CLIENT TRACKINGINFO
        1> GET a
        3> SET a 1
        1> GET a
        3> FLUSHALL
        1> CLIENT TRACKING ON REDIRECT 1000000
        1> CLIENT TRACKING ON REDIRECT x
        1> CLIENT TRACKING ON REDIRECT {2} REDIRECT {3}
        1> CLIENT TRACKING x
        1> CLIENT TRACKING ON x
        1> CLIENT TRACKING ON PREFIX a
        1> CLIENT TRACKING ON OPTIN OPTOUT
        1> CLIENT TRACKING ON REDIRECT
        """,
        """
        1> HELLO 3
        3> HELLO 3
        1> CLIENT TRACKING ON REDIRECT {3}
        1> GET a
        2> SET a 1
        1> GET a
        1> RESET
        2> SET a 2
        1> GET a
        """,
        """
        1> HELLO 3
        1> CLIENT TRACKING ON REDIRECT {3}
        1> GET a
        3> QUIT
        1> CLIENT TRACKINGINFO
        2> SET a 1
        1> CLIENT TRACKINGINFO
        1> CLIENT GETREDIR
        1> CLIENT TRACKING ON
        1> CLIENT TRACKINGINFO
        """,
        """
        1> CLIENT TRACKING ON
        1> GET a
        2> SET a 1
        1> HELLO 3
        1> GET a
        2> SET a 2
        1> CLIENT TRACKINGINFO
        """,
    ];

    /// <summary>Gets scripts that start with a client that has not authenticated. The default user's password is secret. The user reader, which may
    /// change nothing, has p1. The user shop, whose keys begin with shop:, has p2.</summary>
    public static string[] Security { get; } =
    [
        """
        GET a
        GET
        FOO
        PING
        MULTI
        EXEC
        CLIENT ID
        ACL WHOAMI
        AUTH
        AUTH wrong
        AUTH a b c
        AUTH default wrong
        AUTH unknown secret
        HELLO
        HELLO 3
        HELLO 5
        HELLO 3 AUTH default wrong
        HELLO 3 AUTH default
        GET a
        AUTH secret
        ACL WHOAMI
        GET a
        AUTH wrong
        GET a
        RESET
        GET a
        AUTH default secret
        GET a
        """,
        """
        HELLO 3 AUTH default secret SETNAME me
        CLIENT GETNAME
        SET a 1
        HELLO 2 AUTH reader p1
        ACL WHOAMI
        GET a
        SET a 2
        DEL a
        HSET h a b
        FLUSHALL
        INCR a
        EXPIRE a 10
        CONFIG GET save
        CLIENT LIST
        STRLEN a
        MULTI
        GET a
        SET a 3
        EXEC
        MULTI
        GET a
        EXEC
        SUBSCRIBE x
        UNSUBSCRIBE x
        HELLO 2 AUTH shop wrong
        ACL WHOAMI
        """,
        """
        AUTH shop p2
        ACL WHOAMI
        SET shop:a 1
        GET shop:a
        SET a 1
        GET a
        GET shop
        MGET shop:a a
        MSET shop:a 1 shop:b 2
        MSET shop:a 1 b 2
        RENAME shop:a a
        RENAME shop:a shop:c
        WATCH a
        MULTI
        GET a
        EXEC
        MULTI
        INCR shop:b
        AUTH secret
        GET a
        EXEC
        ACL WHOAMI
        """,
    ];

    private static string[] Strings { get; } =
    [
        """
        SET a 1
        GET a
        SET a 2 NX
        SET b 2 NX
        SET b 3 XX
        SET c 3 XX
        SET a 5 GET
        SET d 5 GET
        SET d 6 NX GET
        SET e 7 XX GET
        SET e 7 NX XX
        SET e 7 EX 10 PX 10
        SET e 7 EX 10 EX 20
        SET e 7 EX
        SET e 7 EX 0
        SET e 7 EX -1
        SET e 7 EX x
        SET e 7 EX 9223372036854775807
        SET e 7 PX 9223372036854775807
        SET e 7 EX 10 KEEPTTL
        SET e 7 PERSIST
        SET e 7 EXAT 4102444800
        EXPIRETIME e
        SET e 8 KEEPTTL
        EXPIRETIME e
        PEXPIRETIME e
        SET e 9
        EXPIRETIME e
        SET e 9 PXAT 1
        GET e
        SET e
        MGET a b c d e
        """,
        """
        SETEX a 100 x
        SETEX a 0 x
        SETEX a x x
        PSETEX a -5 x
        PSETEX a 100000 x
        SETNX a y
        SETNX b y
        GETSET b z
        GETSET c z
        GETDEL c
        GETDEL c
        GETEX b
        GETEX b EXAT 4102444800
        EXPIRETIME b
        GETEX b PERSIST
        EXPIRETIME b
        GETEX b EX 0
        GETEX b EX 10 PERSIST
        GETEX none EX 0
        GETEX b KEEPTTL
        GETEX b PXAT 1
        GET b
        """,
        """
        SET s hello
        APPEND s " world"
        APPEND t x
        STRLEN s
        STRLEN none
        GETRANGE s 0 4
        GETRANGE s -5 -1
        GETRANGE s -1 -5
        GETRANGE s 5 2
        GETRANGE s 0 100
        GETRANGE s -100 3
        GETRANGE s 100 200
        GETRANGE none 0 1
        GETRANGE s x 1
        SUBSTR s 1 2
        SETRANGE s 6 Redis
        GET s
        SETRANGE new 3 x
        GET new
        SETRANGE s -1 x
        SETRANGE s x x
        SETRANGE none 5 ""
        EXISTS none
        SETRANGE s 100 ""
        SETRANGE s 536870912 x
        """,
        """
        INCR n
        INCR n
        INCRBY n 10
        DECR n
        DECRBY n 5
        DECRBY n -9223372036854775808
        INCRBY n x
        INCRBY n 9223372036854775807
        SET n 9223372036854775807
        INCR n
        SET n " 1"
        INCR n
        SET n 01
        INCR n
        SET n ""
        INCR n
        SET n text
        INCR n
        SET f 10.50
        INCRBYFLOAT f 0.25
        INCRBYFLOAT f -5
        INCRBYFLOAT f 0.1
        INCRBYFLOAT f 5.0e3
        INCRBYFLOAT f 2.0e-3
        INCRBYFLOAT f x
        INCRBYFLOAT f nan
        INCRBYFLOAT f inf
        SET f text
        INCRBYFLOAT f 1
        INCRBYFLOAT g 3
        GET g
        MSET
        MSET a
        MSET a 1 b
        MSET a 1 b 2
        MSETNX b 1 c 2
        MSETNX c 1 d 2
        MSETNX c
        MGET a b c d e
        """,
    ];

    private static string[] Keys { get; } =
    [
        """
        SET a 1
        SET b 2
        EXISTS a a b c
        TYPE a
        TYPE none
        DEL a b c
        UNLINK a
        TOUCH a
        SET a 1
        TOUCH a a
        RENAME a b
        RENAME a b
        RENAMENX b b
        SET c 3
        RENAMENX b c
        RENAMENX b d
        COPY d e
        COPY d e
        COPY d e REPLACE
        COPY d d
        COPY d e DB 5
        COPY d e DB x
        COPY d e FOO
        COPY none e
        MGET a b c d e
        DBSIZE
        RANDOMKEY x
        """,
        """
        SET a 1
        EXPIREAT a 4102444800
        EXPIRETIME a
        EXPIREAT a 4102444801 NX
        EXPIREAT a 4102444801 GT
        EXPIREAT a 4102444800 GT
        EXPIREAT a 4102444800 LT
        EXPIREAT a 4102444800 LT
        EXPIREAT a 4102444805 XX
        PEXPIREAT a 4102444800499
        EXPIRETIME a
        PEXPIREAT a 4102444800500
        EXPIRETIME a
        PERSIST a
        PERSIST a
        PERSIST none
        TTL a
        PTTL none
        EXPIREAT a 4102444800 XX
        EXPIREAT a 4102444800 GT
        EXPIREAT a 4102444800 LT
        EXPIRE a 10 NX XX
        EXPIRE a 10 GT LT
        EXPIRE a 10 FOO
        EXPIRE a x
        EXPIRE a 9223372036854775807
        EXPIRE a -9223372036854775808
        PEXPIRE a 9223372036854775807
        EXPIRE none 10
        EXPIRE a 100
        TTL a
        EXPIRE a -1
        EXISTS a
        EXPIRE a
        """,
        """
        SET key:1 1
        KEYS key:*
        KEYS nothing
        KEYS k[aeiou]y:?
        SCAN 0 MATCH nothing* COUNT 1000000
        SCAN x
        SCAN 00 MATCH nothing* COUNT 1000000
        HSCAN none -1
        HSCAN none +00
        HSCAN none -
        HSCAN none ""
        HSCAN none " 1"
        HSCAN none 18446744073709551615
        HSCAN none 18446744073709551616
        SCAN 0 COUNT 0
        SCAN 0 COUNT x
        SCAN 0 FOO bar
        SCAN 0 MATCH
        RANDOMKEY
        OBJECT ENCODING key:1
        OBJECT ENCODING none
        OBJECT FREQ key:1
        OBJECT FREQ none
        OBJECT
        OBJECT FOO bar
        FLUSHALL FOO
        FLUSHDB ASYNC
        DBSIZE
        RANDOMKEY
        """,
        """
        PING
        PING a
        PING a b
        ECHO
        ECHO a
        SELECT x
        SELECT 5
        SELECT -1
        SELECT 2147483647
        SELECT 2147483648
        SELECT -9223372036854775808
        SELECT 9223372036854775808
        COPY a b DB x
        COPY a b DB 16
        COPY a b DB 2147483648
        CLIENT GETNAME
        CLIENT SETNAME me
        CLIENT GETNAME
        CLIENT SETNAME "a b"
        CLIENT REPLY x
        CLIENT NO-EVICT x
        CLIENT NO-EVICT on
        CLIENT GETREDIR
        CLIENT FOO
        CLIENT
        HELLO 5
        HELLO x
        HELLO 3 FOO
        CONFIG GET save
        CONFIG GET appendonly
        CONFIG GET databases
        CONFIG GET timeout
        CONFIG GET nothing
        CONFIG FOO
        CONFIG REWRITE
        CONFIG SET databases 5
        CONFIG SET nothing 5
        CONFIG SET databases
        CONFIG SET slowlog-max-len x
        CONFIG SET slowlog-max-len -1
        CONFIG SET slowlog-log-slower-than -2
        CONFIG SET slowlog-max-len 5 slowlog-max-len 6
        CONFIG SET slowlog-max-len 100 slowlog-log-slower-than -1
        CONFIG GET slowlog-max-len
        CONFIG GET slowlog-log-slower-than
        CONFIG SET slowlog-max-len 128 slowlog-log-slower-than 60000000
        SLOWLOG GET x
        SLOWLOG GET -2
        SLOWLOG GET 1 2
        SLOWLOG FOO
        SLOWLOG RESET
        SLOWLOG LEN
        SLOWLOG GET
        MEMORY USAGE none
        MEMORY USAGE none SAMPLES x
        MEMORY USAGE none SAMPLES -1
        MEMORY USAGE none FOO
        MEMORY FOO
        EVAL x a
        EVAL x 5 a
        EVAL x -1 a
        EVALSHA abc 0
        EVALSHA abc
        EVALSHA abc x
        EVALSHA 0123456789012345678901234567890123456789 x
        EVALSHA 0123456789012345678901234567890123456789 0
        SCRIPT EXISTS a b
        SCRIPT LOAD
        SCRIPT FOO
        SCRIPT FLUSH x
        SCRIPT FLUSH ASYNC
        SCRIPT KILL
        FUNCTION FLUSH
        FUNCTION FLUSH ASYNC
        FUNCTION FLUSH x
        FUNCTION FLUSH SYNC x
        FUNCTION LIST
        FUNCTION LIST x
        FUNCTION LIST LIBRARYNAME
        FUNCTION LIST WITHCODE LIBRARYNAME a*
        FUNCTION STATS
        FUNCTION DELETE x
        FUNCTION KILL
        FUNCTION FOO
        FUNCTION
        ROLE
        ROLE x
        MODULE
        MODULE LIST
        MODULE LIST x
        MODULE FOO
        LATENCY
        LATENCY LATEST
        LATENCY LATEST x
        LATENCY HISTORY
        LATENCY HISTORY command
        LATENCY HISTORY a b
        LATENCY RESET
        LATENCY RESET a b
        LATENCY FOO
        FCALL f 0
        FCALL f x
        FCALL_RO f 1 a
        CONFIG SET hz 20 lfu-log-factor 12
        CONFIG GET hz
        CONFIG SET hz x
        CONFIG GET hash-max-listpack-entries
        CLIENT PAUSE x
        CLIENT PAUSE -1
        CLIENT PAUSE 1 FOO
        CLIENT PAUSE 1 WRITE x
        CLIENT PAUSE
        CLIENT PAUSE 1
        CLIENT UNPAUSE
        CLIENT KILL USER unknown
        CLIENT KILL TYPE x
        CLIENT KILL SKIPME x
        CLIENT KILL ID 0
        CLIENT KILL ID x
        CLIENT KILL FOO x
        CLIENT KILL LADDR x
        CLIENT KILL ADDR x
        CLIENT KILL TYPE pubsub
        CLIENT KILL x
        CLIENT LIST TYPE x
        CLIENT LIST TYPE master
        CLIENT LIST ID x
        CLIENT LIST FOO
        COMMAND FOO
        COMMAND GETKEYS SET a b
        COMMAND GETKEYS MSET a 1 b 2
        COMMAND GETKEYS PING a
        COMMAND GETKEYS FOO a
        COMMAND GETKEYS PING
        COMMAND GETKEYS GET
        COMMAND INFO nothing
        FOO
        FOO bar baz
        get
        """,
    ];

    // Redis keeps sets of small integers in their order, and other sets in any order.
    private static string[] Sets { get; } =
    [
        """
        SADD s 1 2 2
        SADD s 2 3
        SADD s 3
        SADD s
        SCARD s
        SCARD none
        SISMEMBER s 1
        SISMEMBER s none
        SISMEMBER none 1
        SMISMEMBER s 1 none 3
        SMISMEMBER none 1 2
        SMEMBERS s
        SMEMBERS none
        SSCAN s 0
        SSCAN s 0 MATCH [12] COUNT 100
        SSCAN s 0 MATCH none
        SSCAN s x
        SSCAN s 0 COUNT x
        SSCAN none 0
        TYPE s
        SCAN 0 TYPE set COUNT 100000
        SCAN 0 TYPE hash COUNT 100000
        SCAN 0 TYPE other COUNT 100000
        SREM s 1 1 none
        SREM none 1
        EXPIREAT s 4102444800
        SADD s 4
        EXPIRETIME s
        COPY s s2
        TYPE s2
        RENAME s2 s3
        SMEMBERS s3
        SREM s3 2 3 4
        EXISTS s3
        """,
        """
        SADD s 1
        HSET h a 1
        ZADD z 1 a
        SET v 1
        GET s
        APPEND s x
        INCR s
        MGET s v
        HGET s a
        HSET s a 1
        HDEL s a
        HLEN s
        HGETALL s
        HSCAN s 0
        ZADD s 1 a
        ZRANGE s 0 -1
        SADD h 1
        SADD z 1
        SADD v 1
        SREM h 1
        SCARD z
        SISMEMBER h a
        SMISMEMBER h a
        SMEMBERS h
        SMEMBERS z
        SSCAN h 0
        MULTI
        SADD s 2
        SMEMBERS s
        SCARD s
        EXEC
        SET s x
        GET s
        """,
    ];

    private static string[] SortedSets { get; } =
    [
        """
        ZADD z 1 one 2 two 3 three
        ZADD z 1 one 5 two
        ZADD z CH 1 one 4 two 6 six
        ZADD z NX 9 one 9 nine
        ZADD z XX 1.5 one 8 eight
        ZADD z GT 1 one 7 six 10 ten
        ZADD z LT CH 1 one 70 six 11 eleven
        ZADD z XX GT CH 2 one 3 none
        ZADD z INCR 2.5 one
        ZADD z NX INCR 1 one
        ZADD z XX INCR 1 none
        ZADD z GT INCR -1 one
        ZADD z LT INCR -0.1 one
        ZADD z XX NX 1 one
        ZADD z GT LT 1 one
        ZADD z NX GT 1 one
        ZADD z INCR 1 one 2 two
        ZADD z 1
        ZADD z x one
        ZADD z 1 one x two
        ZADD z nan one
        ZADD z 1 one 2
        ZADD z CH
        ZADD none XX 1 a
        ZADD none XX INCR 1 a
        EXISTS none
        ZCARD z
        ZCARD none
        ZSCORE z one
        ZSCORE z none
        ZSCORE none one
        ZMSCORE z one none two
        ZMSCORE none one two
        ZRANK z one
        ZRANK z none
        ZRANK none one
        ZREVRANK z one
        ZRANGE z 0 -1 WITHSCORES
        ZINCRBY z 3 one
        ZINCRBY z x one
        ZINCRBY z xx new
        ZINCRBY z 0x10 new
        ZCOUNT z (0xf 0x10
        ZINCRBY z 1 new
        ZINCRBY none2 1e300 new
        ZINCRBY none2 inf new
        ZINCRBY none2 -inf new
        ZADD none2 -inf low +inf high 0.1 tenth 1e17 large 123456789012345678 larger -0 zero
        ZRANGE none2 0 -1 WITHSCORES
        ZSCAN none2 0
        TYPE z
        OBJECT ENCODING z
        DEL none2
        SCAN 0 TYPE zset COUNT 100000
        SCAN 0 TYPE list COUNT 100000
        """,
        """
        ZADD z 1 b 1 a 2 c 3 d 3 cc 4 e
        ZRANGE z 0 -1
        ZRANGE z 1 2
        ZRANGE z -2 -1
        ZRANGE z 5 1
        ZRANGE z 100 200
        ZRANGE z -100 100
        ZRANGE z -100 -100
        ZRANGE z x 1
        ZRANGE z 0 x
        ZRANGE z 0 1 REV
        ZRANGE z 0 -1 REV WITHSCORES
        ZRANGE z 0 1 REV REV
        ZRANGE z 1 3 BYSCORE
        ZRANGE z (1 (4 BYSCORE WITHSCORES
        ZRANGE z 3 1 BYSCORE
        ZRANGE z 3 1 BYSCORE REV
        ZRANGE z +inf -inf BYSCORE REV LIMIT 1 2
        ZRANGE z -inf +inf BYSCORE LIMIT 1 3 WITHSCORES
        ZRANGE z -inf +inf BYSCORE LIMIT 1 -1
        ZRANGE z -inf +inf BYSCORE LIMIT -1 3
        ZRANGE z -inf +inf BYSCORE LIMIT 10 3
        ZRANGE z -inf +inf BYSCORE LIMIT 1
        ZRANGE z -inf +inf BYSCORE LIMIT x 1
        ZRANGE z -inf +inf BYSCORE BYSCORE
        ZRANGE z 0 1 LIMIT 0 1
        ZRANGE z 0 1 LIMIT 0 -1
        ZRANGE z 0 1 NONE
        ZRANGE z a b BYSCORE
        ZRANGE none 0 -1
        ZRANGE none 0 -1 WITHSCORES
        ZREVRANGE z 0 1
        ZREVRANGE z 0 -1 WITHSCORES
        ZREVRANGE z 0 1 REV
        ZREVRANGE z 0 1 BYSCORE
        ZRANGEBYSCORE z -inf +inf
        ZRANGEBYSCORE z (1 3 WITHSCORES LIMIT 1 1
        ZRANGEBYSCORE z " 1" "( 3"
        ZRANGEBYSCORE z "" "1 "
        ZRANGEBYSCORE z " " 1
        ZRANGEBYSCORE z "" 1
        ZRANGEBYSCORE z "( " 1
        ZRANGEBYSCORE z 1 3 LIMIT 1
        ZRANGEBYSCORE z x 3
        ZRANGEBYSCORE z nan 3
        ZRANGEBYSCORE z 1 3 REV
        ZRANGEBYSCORE none 1 3
        ZREVRANGEBYSCORE z 3 1
        ZREVRANGEBYSCORE z +inf (3 WITHSCORES
        ZREVRANGEBYSCORE z 1 3
        ZCOUNT z 1 3
        ZCOUNT z (1 (3
        ZCOUNT z 9 1
        ZCOUNT z x 1
        ZCOUNT none 1 3
        ZSCAN z 0
        ZSCAN z 0 MATCH c*
        ZSCAN z 0 MATCH none
        ZSCAN z 0 MATCH [c-]*
        ZSCAN z 0 MATCH [c-
        ZSCAN z 0 MATCH [a-c-b]
        ZSCAN z 0 MATCH [^
        ZADD z 1e-400 tiny
        ZINCRBY z -1E-400 tiny
        ZADD z 4e-324 tiny
        ZADD z 0e-400 zero
        ZADD z 0x1p-1080 tiny
        ZADD z 0x0p-1080 zero
        ZADD z 1e400 huge
        ZSCAN none 0
        ZREMRANGEBYSCORE z x 1
        ZREMRANGEBYSCORE z (3 (4
        ZREMRANGEBYSCORE z -inf (2
        ZREMRANGEBYSCORE none 0 1
        ZRANGE z 0 -1
        ZREMRANGEBYRANK z 0 0
        ZREMRANGEBYRANK z -1 -1
        ZREMRANGEBYRANK z x -1
        ZREMRANGEBYRANK none 0 -1
        ZREM z d none d
        ZREM none d
        EXPIREAT z 4102444800
        ZADD z 1 f
        EXPIRETIME z
        COPY z z2
        ZREMRANGEBYRANK z2 0 -1
        EXISTS z2
        ZREM z cc f
        EXISTS z
        """,
        """
        ZADD z 1 a
        HSET h a 1
        SET v 1
        GET z
        STRLEN z
        HGET z a
        HGETALL z
        ZADD h 1 a
        ZADD v 1 a
        ZADD v x a
        ZADD v XX 1 a
        ZINCRBY h 1 a
        ZREM h a
        ZCARD h
        ZCOUNT h 0 1
        ZCOUNT v x 1
        ZSCORE h a
        ZMSCORE v a
        ZRANK h a
        ZRANGE h 0 -1
        ZRANGE v 0 x
        ZREVRANGE v 0 1
        ZRANGEBYSCORE h 0 1
        ZREMRANGEBYSCORE h 0 1
        ZREMRANGEBYRANK v 0 1
        ZSCAN h 0
        MULTI
        ZADD z 2 b 0 c
        ZRANGE z 0 -1 WITHSCORES
        ZREMRANGEBYSCORE z 0 1
        ZRANGE z 0 -1
        EXEC
        DEL z
        ZRANGE z 0 -1
        """,
    ];

    private static string[] Hashes { get; } =
    [
        """
        HSET h a 1 b 2 a 3
        HSET h a
        HSET h a 1 b
        HSET h
        HMSET h c 4
        HMSET h c
        HSETNX h c 5
        HSETNX h d 5
        HGET h a
        HGET h none
        HGET none a
        HMGET h a none b
        HMGET none a b
        HGETALL h
        HGETALL none
        HKEYS h
        HVALS h
        HKEYS none
        HEXISTS h a
        HEXISTS h none
        HEXISTS none a
        HLEN h
        HLEN none
        HSTRLEN h a
        HSTRLEN h none
        HSTRLEN none a
        TYPE h
        OBJECT ENCODING h
        HDEL h a none
        HDEL none a
        HDEL h b c d
        EXISTS h
        """,
        """
        HINCRBY h n 5
        HINCRBY h n -7
        HINCRBY h n x
        HINCRBY h n 9223372036854775807
        HSET h n -9223372036854775808
        HINCRBY h n -1
        HSET h n text
        HINCRBY h n 1
        HINCRBYFLOAT h n 1
        HINCRBYFLOAT h f 10.5
        HINCRBYFLOAT h f 0.1
        HINCRBYFLOAT h f 5e3
        HINCRBYFLOAT h f x
        HINCRBYFLOAT h f inf
        HSCAN h 0
        HSCAN h 0 MATCH n* COUNT 5
        HSCAN h 0 MATCH
        HSCAN h 0 COUNT 0
        HSCAN h 0 COUNT x
        HSCAN h 0 TYPE string
        HSCAN h x
        HSCAN none 0
        EXPIREAT h 4102444800
        HSET h more 1
        EXPIRETIME h
        COPY h h2
        HGETALL h2
        RENAME h2 h3
        HLEN h3
        DEL h3
        """,
        """
        HSET h a 1
        SET s 1
        GET h
        SET h x GET
        SETNX h x
        GETSET h x
        GETDEL h
        GETEX h
        APPEND h x
        STRLEN h
        GETRANGE h 0 1
        SETRANGE h 0 x
        INCR h
        INCRBYFLOAT h 1
        MGET h s
        HGET s a
        HSET s a 1
        HMSET s a 1
        HSETNX s a 1
        HMGET s a
        HGETALL s
        HKEYS s
        HVALS s
        HDEL s a
        HEXISTS s a
        HLEN s
        HSTRLEN s a
        HINCRBY s a 1
        HINCRBYFLOAT s a 1
        HSCAN s 0
        SET h x
        GET h
        """,
    ];

    private static string[] Transactions { get; } =
    [
        """
        EXEC
        DISCARD
        MULTI
        MULTI
        SET a 1
        INCR a
        GET a
        EXEC
        EXEC
        GET a
        MULTI
        INCR a
        DISCARD
        GET a
        MULTI
        EXEC
        MULTI
        FOO
        SET a 5
        EXEC
        MULTI
        GET
        EXEC
        MULTI
        HGET a b
        INCR a
        MSET x 1 y 2
        RENAME x z
        MGET x y z
        FLUSHALL
        DBSIZE
        EXEC
        MULTI
        PING
        ECHO a
        UNWATCH
        RESET
        PING
        """,
        """
        WATCH a
        MULTI
        WATCH b
        SET a 1
        EXEC
        WATCH a b
        SET a 2
        MULTI
        SET a 3
        EXEC
        GET a
        WATCH a
        SET a 4
        UNWATCH
        MULTI
        SET a 5
        EXEC
        WATCH none
        SET none 1
        DEL none
        MULTI
        PING
        EXEC
        WATCH a
        EXPIREAT a 4102444800
        MULTI
        PING
        EXEC
        WATCH a
        GET a
        MULTI
        GET a
        EXEC
        WATCH
        """,
    ];

    private static string[] Messages { get; } =
    [
        """
        UNSUBSCRIBE
        PUNSUBSCRIBE
        PUBLISH a b
        PUBLISH a
        SUBSCRIBE
        SUBSCRIBE a b a
        PSUBSCRIBE x*
        PING
        PING hello
        GET a
        PUBLISH a 1
        UNSUBSCRIBE b none
        SUBSCRIBE b
        PUNSUBSCRIBE
        UNSUBSCRIBE a
        UNSUBSCRIBE
        PING
        PUBSUB CHANNELS
        PUBSUB NUMSUB a b
        PUBSUB NUMSUB
        PUBSUB NUMPAT
        PUBSUB NUMPAT x
        PUBSUB FOO
        SUBSCRIBE a
        RESET
        PUBSUB CHANNELS
        """,
        """
        CLIENT REPLY OFF
        SUBSCRIBE a b
        PSUBSCRIBE c*
        PUNSUBSCRIBE
        PUNSUBSCRIBE
        UNSUBSCRIBE b a
        UNSUBSCRIBE
        SET a 1
        CLIENT REPLY ON
        CLIENT REPLY SKIP
        SUBSCRIBE a
        UNSUBSCRIBE a
        CLIENT REPLY SKIP
        GET a
        MULTI
        CLIENT REPLY OFF
        SUBSCRIBE a
        UNSUBSCRIBE
        CLIENT REPLY ON
        DISCARD
        """,
        """
        HELLO 3
        CLIENT REPLY OFF
        SUBSCRIBE a
        PSUBSCRIBE a*
        PUBLISH a hello
        GET a
        UNSUBSCRIBE
        PUNSUBSCRIBE
        CLIENT REPLY ON
        CLIENT REPLY SKIP
        SUBSCRIBE a
        CLIENT REPLY SKIP
        PUBLISH a hello
        UNSUBSCRIBE
        """,
        """
        CLIENT REPLY OFF
        GET a
        RESET
        PING
        CLIENT REPLY SKIP
        RESET
        PING
        CLIENT REPLY SKIP
        CLIENT REPLY SKIP
        PING skipped
        PING
        CLIENT REPLY SKIP
        CLIENT REPLY SKIP
        CLIENT REPLY SKIP
        CLIENT REPLY ON
        PING
        """,
        """
        COMMAND LIST FILTERBY PATTERN hget
        COMMAND LIST FILTERBY PATTERN HGET
        COMMAND LIST FILTERBY PATTERN client|id
        COMMAND LIST FILTERBY MODULE nothing
        COMMAND LIST FILTERBY ACLCAT nothing
        COMMAND LIST FILTERBY PATTERN
        COMMAND LIST FILTERBY NOTHING x
        COMMAND LIST x y z
        COMMAND GETKEYS EVAL x 2 a b c
        COMMAND GETKEYS EVAL x 0 a b c
        COMMAND GETKEYS EVAL x 9 a b c
        COMMAND GETKEYS MSET a b c d
        COMMAND GETKEYSANDFLAGS SETEX a 1 b
        COMMAND GETKEYSANDFLAGS MGET a b
        COMMAND GETKEYSANDFLAGS COPY a b
        COMMAND GETKEYSANDFLAGS RENAMENX a b
        COMMAND GETKEYSANDFLAGS PING
        COMMAND GETKEYSANDFLAGS
        CLIENT HELP x
        """,
    ];
}
