namespace Cairn.Server.Resp.Commands;

// The texts of COMMAND DOCS, from which redis-cli creates its hints and its help. In a syntax, WORDS in capitals are sent unchanged, and
// other words stand for a value. [optional], one | or another, repeated..., (several words repeated)...
internal sealed class CommandDocs
{
    private static readonly Dictionary<string, CommandDocs> s_all = Lines
        .Split('\n')
        .Select(line => line.Split(';'))
        .ToDictionary(parts => parts[0], parts => new CommandDocs(parts[1], parts[2], parts.Length > 3 ? parts[3] : ""), StringComparer.Ordinal);

    private static readonly CommandDocs s_help = new("5.0.0", "Prints this help", "");

    private CommandDocs(string since, string summary, string syntax)
    {
        Since = since;
        Summary = summary;
        Syntax = syntax;
        Arguments = Parse(syntax.Split(' ', StringSplitOptions.RemoveEmptyEntries));
    }

    /// <summary>Gets the version of Redis that introduced the command.</summary>
    public string Since { get; }

    public string Summary { get; }

    /// <summary>Gets the arguments as they are written in the table.</summary>
    public string Syntax { get; }

    public Argument[] Arguments { get; }

    private static string Lines =>
        """
        acl;6.0.0;Returns information about users
        acl|whoami;6.0.0;Returns the name of the connection's user
        append;2.0.0;Appends to a value, or sets it;key value
        auth;1.0.0;Authenticates the connection;[username] password
        client;2.4.0;Shows and controls connections
        client|caching;6.0.0;Tracks, or does not track, the keys of the next command;YES | NO
        client|getname;2.6.9;Returns the name of the connection
        client|getredir;6.0.0;Returns the id of the connection that receives the invalidations of this one
        client|id;5.0.0;Returns the id of the connection
        client|info;6.2.0;Returns information about this connection
        client|kill;2.4.0;Closes connections;[ip:port] [ID client-id] [TYPE type] [USER username] [ADDR ip:port] [LADDR ip:port] [SKIPME yes/no]
        client|list;2.4.0;Lists all connections;[TYPE type] [ID client-id...]
        client|no-evict;7.0.0;Has no effect: the server evicts no clients;ON | OFF
        client|no-touch;7.2.0;Has no effect: reads always count as uses;ON | OFF
        client|pause;3.0.0;Delays the commands of all clients;timeout [WRITE | ALL]
        client|reply;3.2.0;Turns replies on or off;ON | OFF | SKIP
        client|setinfo;7.2.0;Sets the name or the version of the client library;LIB-NAME libname | LIB-VER libver
        client|setname;2.6.9;Sets the name of the connection;connection-name
        client|tracking;6.0.0;Turns invalidations of changed keys on or off;ON | OFF [REDIRECT client-id] [PREFIX prefix]... [BCAST] [OPTIN] [OPTOUT] [NOLOOP]
        client|trackinginfo;6.2.0;Returns the tracking state of the connection
        client|unpause;6.2.0;Ends the delay of CLIENT PAUSE
        command;2.8.13;Returns information about all commands
        command|count;2.8.13;Returns the number of commands
        command|docs;7.0.0;Returns the documentation of commands;[command-name...]
        command|getkeys;2.8.13;Returns the keys in the arguments of a command;command [arg...]
        command|getkeysandflags;7.0.0;Returns the keys in the arguments of a command, and how it uses them;command [arg...]
        command|info;2.8.13;Returns information about commands;[command-name...]
        command|list;7.0.0;Lists the names of commands;[FILTERBY [MODULE module-name | ACLCAT category | PATTERN pattern]]
        config;2.0.0;Shows and changes settings
        config|get;2.0.0;Returns settings;parameter...
        config|resetstat;2.0.0;Resets the statistics
        config|rewrite;2.8.0;Returns an error: settings are set when the server starts
        config|set;2.0.0;Changes settings;(parameter value)...
        copy;6.2.0;Copies the value of a key to another key;source destination [DB destination-db] [REPLACE]
        dbsize;1.0.0;Returns the number of keys
        decr;1.0.0;Subtracts one from a number;key
        decrby;1.0.0;Subtracts from a number;key decrement
        del;1.0.0;Removes keys;key...
        delex;8.4.0;Removes a key if its value meets a condition;key [IFEQ value | IFNE value | IFDEQ digest | IFDNE digest]
        delifeq;9.0.0;Removes a key if it has this value, as in Valkey 9;key value
        digest;8.4.0;Returns the XXH3 digest of a value;key
        discard;2.0.0;Discards the commands queued since MULTI
        echo;1.0.0;Returns its argument;message
        eval;2.6.0;Executes one of the Lua scripts that the server knows;script numkeys [key...] [arg...]
        eval_ro;7.0.0;Returns an error: every known script may write;script numkeys [key...] [arg...]
        evalsha;2.6.0;Executes a Lua script that was sent before, by its digest;sha1 numkeys [key...] [arg...]
        evalsha_ro;7.0.0;Returns an error: every known script may write;sha1 numkeys [key...] [arg...]
        exec;1.2.0;Executes the commands queued since MULTI
        exists;1.0.0;Returns how many of the keys exist;key...
        expire;1.0.0;Sets the time to live of a key, in seconds;key seconds [NX | XX | GT | LT]
        expireat;1.2.0;Sets the Unix time at which a key expires, in seconds;key unix-time-seconds [NX | XX | GT | LT]
        expiretime;7.0.0;Returns the Unix time at which a key expires, in seconds;key
        fcall;7.0.0;Returns an error: there are no functions;function numkeys [key...] [arg...]
        fcall_ro;7.0.0;Returns an error: there are no functions;function numkeys [key...] [arg...]
        flushall;1.0.0;Removes all keys;[ASYNC | SYNC]
        flushdb;1.0.0;Removes all keys;[ASYNC | SYNC]
        function;7.0.0;Returns information about functions, of which there are none
        function|delete;7.0.0;Returns an error: there are no libraries;library-name
        function|flush;7.0.0;Does nothing, because there are no libraries;[ASYNC | SYNC]
        function|kill;7.0.0;Returns an error: no function is in execution
        function|list;7.0.0;Returns an empty list;[LIBRARYNAME library-name-pattern] [WITHCODE]
        function|load;7.0.0;Returns an error: functions are written in Lua, which the server does not execute;[REPLACE] function-code
        function|stats;7.0.0;Returns the number of functions, which is 0
        get;1.0.0;Returns a value;key
        getdel;6.2.0;Returns a value and removes its key;key
        getex;6.2.0;Returns a value and sets its expiration;key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]
        getrange;2.4.0;Returns a part of a value;key start end
        getset;1.0.0;Sets a value and returns the old one;key value
        hdel;2.0.0;Removes fields of a hash;key field...
        hello;6.0.0;Selects the protocol version;[protover [AUTH username password] [SETNAME clientname]]
        hexists;2.0.0;Returns whether a hash has a field;key field
        hget;2.0.0;Returns the value of a field;key field
        hgetall;2.0.0;Returns all fields and values of a hash;key
        hincrby;2.0.0;Adds to an integer in a hash;key field increment
        hincrbyfloat;2.6.0;Adds to a floating-point number in a hash;key field increment
        hkeys;2.0.0;Returns the names of all fields of a hash;key
        hlen;2.0.0;Returns the number of fields of a hash;key
        hmget;2.0.0;Returns the values of fields;key field...
        hmset;2.0.0;Sets fields of a hash;key (field value)...
        hscan;2.8.0;Returns some fields and values of a hash, and the next cursor;key cursor [MATCH pattern] [COUNT count] [NOVALUES]
        hset;2.0.0;Sets fields of a hash;key (field value)...
        hsetnx;2.0.0;Sets a field that does not exist;key field value
        hstrlen;3.2.0;Returns the length of a field's value;key field
        hvals;2.0.0;Returns all values of a hash;key
        incr;1.0.0;Adds one to a number;key
        incrby;1.0.0;Adds to a number;key increment
        incrbyfloat;2.6.0;Adds to a floating-point number;key increment
        info;1.0.0;Returns information about the server;[section...]
        keys;1.0.0;Returns the keys that match a pattern;pattern
        latency;2.8.13;Returns the samples of slow events, of which there are none
        latency|history;2.8.13;Returns an empty list;event
        latency|latest;2.8.13;Returns an empty list
        latency|reset;2.8.13;Returns 0, the number of events that had samples;[event...]
        memory;4.0.0;Returns information about memory
        memory|usage;4.0.0;Returns the bytes that a key and its value use;key [SAMPLES count]
        mget;1.0.0;Returns the values of keys;key...
        module;4.0.0;Returns information about modules, of which there are none
        module|list;4.0.0;Returns an empty list
        mset;1.0.1;Sets values;(key value)...
        msetex;8.4.0;Sets values with an expiration, and possibly only if none or all of the keys exist;numkeys (key value)... [NX | XX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]
        msetnx;1.0.1;Sets values if none of the keys exists;(key value)...
        multi;1.2.0;Starts a transaction
        object;2.2.3;Returns information about a value
        object|encoding;2.2.3;Returns the encoding that Redis would use for a value;key
        object|freq;4.0.0;Returns an error, like Redis with a policy other than LFU;key
        object|idletime;2.2.3;Returns 0: the server does not record the time of use;key
        object|refcount;2.2.3;Returns 1;key
        persist;2.2.0;Removes the expiration of a key;key
        pexpire;2.6.0;Sets the time to live of a key, in milliseconds;key milliseconds [NX | XX | GT | LT]
        pexpireat;2.6.0;Sets the Unix time at which a key expires, in milliseconds;key unix-time-milliseconds [NX | XX | GT | LT]
        pexpiretime;7.0.0;Returns the Unix time at which a key expires, in milliseconds;key
        ping;1.0.0;Returns PONG, or its argument;[message]
        psetex;2.6.0;Sets a value and its time to live, in milliseconds;key milliseconds value
        psubscribe;2.0.0;Subscribes to the channels that match patterns;pattern...
        pttl;2.6.0;Returns the time to live of a key, in milliseconds;key
        publish;2.0.0;Sends a message to the subscribers of a channel;channel message
        pubsub;2.8.0;Returns information about channels
        pubsub|channels;2.8.0;Lists the channels that have subscribers;[pattern]
        pubsub|numpat;2.8.0;Returns the number of patterns that have subscribers
        pubsub|numsub;2.8.0;Returns the number of subscribers of channels;[channel...]
        punsubscribe;2.0.0;Ends subscriptions to patterns;[pattern...]
        quit;1.0.0;Closes the connection
        randomkey;1.0.0;Returns a random key
        rename;1.0.0;Renames a key;key newkey
        renamenx;1.0.0;Renames a key if the new name does not exist;key newkey
        reset;6.2.0;Resets the state of the connection
        role;2.8.12;Returns that the server is a master without replicas
        sadd;1.0.0;Adds members to a set;key member...
        scan;2.8.0;Returns some of the keys, and the next cursor;cursor [MATCH pattern] [COUNT count] [TYPE type]
        scard;1.0.0;Returns the number of members of a set;key
        script;2.6.0;Returns information about scripts
        script|exists;2.6.0;Returns which scripts can be executed by their digests;sha1...
        script|flush;2.6.0;Forgets the scripts that were sent;[ASYNC | SYNC]
        script|kill;2.6.0;Returns an error: no script is in execution
        script|load;2.6.0;Remembers a Lua script that the server knows, and returns its digest;script
        select;1.0.0;Selects the database, which must be 0;index
        set;1.0.0;Sets a value;key value [NX | XX | IFEQ value | IFNE value | IFDEQ digest | IFDNE digest] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]
        setex;2.0.0;Sets a value and its time to live, in seconds;key seconds value
        setnx;1.0.0;Sets a value if the key does not exist;key value
        setrange;2.2.0;Overwrites a part of a value;key offset value
        sismember;1.0.0;Returns whether a set has a member;key member
        slowlog;2.2.12;Shows and resets the log of slow requests
        slowlog|get;2.2.12;Returns the latest slow requests;[count]
        slowlog|len;2.2.12;Returns the number of slow requests in the log
        slowlog|reset;2.2.12;Empties the log of slow requests
        smembers;1.0.0;Returns all members of a set;key
        smismember;6.2.0;Returns for several members whether a set has them;key member...
        srem;1.0.0;Removes members from a set;key member...
        sscan;2.8.0;Returns all members of a set, and the cursor 0;key cursor [MATCH pattern] [COUNT count]
        strlen;2.2.0;Returns the length of a value;key
        subscribe;2.0.0;Subscribes to channels;channel...
        substr;1.0.0;Returns a part of a value;key start end
        time;2.6.0;Returns the server's time
        touch;3.2.1;Returns how many of the keys exist;key...
        ttl;1.0.0;Returns the time to live of a key, in seconds;key
        type;1.0.0;Returns the type of a key's value: string, hash or none;key
        unlink;4.0.0;Removes keys;key...
        unsubscribe;2.0.0;Ends subscriptions to channels;[channel...]
        unwatch;2.2.0;Ends the watching of all keys
        watch;2.2.0;Makes EXEC fail if a key changes before it;key...
        zadd;1.2.0;Adds members to a sorted set, or changes their scores;key [NX | XX] [GT | LT] [CH] [INCR] (score member)...
        zcard;1.2.0;Returns the number of members of a sorted set;key
        zcount;2.0.0;Returns the number of members in a range of scores;key min max
        zincrby;1.2.0;Adds to the score of a member;key increment member
        zmscore;6.2.0;Returns the scores of members;key member...
        zrange;1.2.0;Returns the members in a range of ranks or scores;key start stop [BYSCORE] [REV] [LIMIT offset count] [WITHSCORES]
        zrangebyscore;1.0.5;Returns the members in a range of scores;key min max [WITHSCORES] [LIMIT offset count]
        zrank;2.0.0;Returns the rank of a member;key member
        zrem;1.2.0;Removes members from a sorted set;key member...
        zremrangebyrank;2.0.0;Removes the members in a range of ranks;key start stop
        zremrangebyscore;1.2.0;Removes the members in a range of scores;key min max
        zrevrange;1.2.0;Returns the members in a range of ranks, counted from the highest score;key start stop [WITHSCORES]
        zrevrangebyscore;2.2.0;Returns the members in a range of scores, from the highest;key max min [WITHSCORES] [LIMIT offset count]
        zrevrank;2.0.0;Returns the rank of a member, counted from the highest score;key member
        zscan;2.8.0;Returns all members of a sorted set with their scores, and the cursor 0;key cursor [MATCH pattern] [COUNT count]
        zscore;1.2.0;Returns the score of a member;key member
        """.ReplaceLineEndings("\n");

    /// <summary>Returns the documentation of a command. A test fails if a command has none.</summary>
    public static CommandDocs Of(CommandInfo command) => command.ShortName == "help" ? s_help : s_all[command.Name];

    /// <summary>Returns whether the command has documentation.</summary>
    public static bool Has(CommandInfo command) => command.ShortName == "help" || s_all.ContainsKey(command.Name);

    private static Argument[] Parse(ReadOnlySpan<string> words)
    {
        // Alternatives: at the top level, each is one word, or a token with its value.
        List<Argument> sequence = [];
        List<Argument> alternatives = [];
        while (!words.IsEmpty)
        {
            sequence.Add(ParseOne(ref words));
            if (!words.IsEmpty && words[0] == "|")
            {
                alternatives.Add(sequence[^1]);
                sequence.RemoveAt(sequence.Count - 1);
                words = words[1..];
            }
            else if (alternatives.Count > 0)
            {
                alternatives.Add(sequence[^1]);
                sequence[^1] = new Argument("option", "oneof") { Parts = [.. alternatives] };
                alternatives.Clear();
            }
        }

        return [.. sequence];
    }

    private static Argument ParseOne(ref ReadOnlySpan<string> words)
    {
        if (words[0].StartsWith('['))
        {
            int end = 0;
            for (int depth = 0; end < words.Length; end++)
            {
                depth += words[end].Count(letter => letter == '[') - words[end].Count(letter => letter == ']');
                if (depth == 0)
                {
                    break;
                }
            }

            string text = string.Join(' ', words[..(end + 1)].ToArray());
            words = words[(end + 1)..];
            bool isRepeated = text.EndsWith("...", StringComparison.Ordinal);
            Argument[] parts = Parse(text[1..^(isRepeated ? 4 : 1)].Split(' '));
            Argument whole = parts.Length == 1 ? parts[0] : new Argument("block", "block") { Parts = parts };
            return whole with { IsOptional = true, IsMultiple = whole.IsMultiple || isRepeated };
        }

        if (words[0].StartsWith('('))
        {
            int end = 0;
            while (!words[end].EndsWith(")...", StringComparison.Ordinal))
            {
                end++;
            }

            string text = string.Join(' ', words[..(end + 1)].ToArray());
            words = words[(end + 1)..];
            return new Argument("data", "block") { Parts = Parse(text[1..^4].Split(' ')), IsMultiple = true };
        }

        string word = words[0];
        words = words[1..];
        bool isMultiple = word.EndsWith("...", StringComparison.Ordinal);
        word = isMultiple ? word[..^3] : word;
        if (!char.IsAsciiLetterUpper(word[0]))
        {
            return new Argument(word, KindOf(word)) { IsMultiple = isMultiple };
        }

        if (words.IsEmpty || words[0] == "|" || words[0].StartsWith('[') || char.IsAsciiLetterUpper(words[0][0]))
        {
            return new Argument(word.ToLowerInvariant(), "pure-token") { Token = word };
        }

        Argument value = ParseOne(ref words);
        return value with { Token = word };
    }

    private static string KindOf(string word) => word switch
    {
        "key" or "newkey" or "source" or "destination" => "key",
        "pattern" => "pattern",
        "seconds" or "milliseconds" or "count" or "cursor" or "increment" or "decrement" or "offset" or "start" or "end" or "timeout"
            or "client-id" or "index" or "numkeys" or "protover" or "destination-db" => "integer",
        "unix-time-seconds" or "unix-time-milliseconds" => "unix-time",
        _ => "string",
    };

    /// <summary>An argument of a command.</summary>
    internal sealed record Argument(string Name, string Kind)
    {
        /// <summary>Gets the word that is sent before the argument, or in its place.</summary>
        public string Token { get; init; } = "";

        public bool IsOptional { get; init; }

        public bool IsMultiple { get; init; }

        public Argument[] Parts { get; init; } = [];
    }
}
