using System.Collections.Frozen;

namespace Cairn.Server.Resp.Commands;

// The texts of COMMAND DOCS, from which redis-cli creates its hints and its help. In a syntax, WORDS in capitals are sent unchanged, and
// other words stand for a value. [optional], one | or another, repeated..., (several words repeated)...
internal sealed class CommandDocs
{
    private static readonly FrozenDictionary<string, CommandDocs> s_all = Lines
        .Split('\n')
        .Select(line => line.Split(';'))
        .ToFrozenDictionary(parts => parts[0], parts => new CommandDocs(parts[1], parts[2], parts.Length > 3 ? parts[3] : ""));

    private CommandDocs(string since, string summary, string syntax)
    {
        Since = since;
        Summary = summary;
        Arguments = Parse(syntax.Split(' ', StringSplitOptions.RemoveEmptyEntries));
    }

    /// <summary>Gets the version of Redis that introduced the command.</summary>
    public string Since { get; }

    public string Summary { get; }

    public Argument[] Arguments { get; }

    private static string Lines =>
        """
        acl;6.0.0;Tells of users
        acl|whoami;6.0.0;Tells the name of the connection's user
        append;2.0.0;Appends to a value, or sets it;key value
        auth;1.0.0;Authenticates the connection;[username] password
        client;2.4.0;Tells of connections and changes them
        client|caching;6.0.0;Makes the next command an exception from what is tracked;YES | NO
        client|getname;2.6.9;Tells the connection's name
        client|getredir;6.0.0;Tells which connection hears of changes in place of this one
        client|id;5.0.0;Tells the connection's number
        client|info;6.2.0;Tells of this connection
        client|kill;2.4.0;Ends connections;[ip:port] [ID client-id] [TYPE type] [USER username] [ADDR ip:port] [LADDR ip:port] [SKIPME yes/no]
        client|list;2.4.0;Tells of all connections;[TYPE type] [ID client-id...]
        client|no-evict;7.0.0;Accepted, and no client is evicted anyhow;ON | OFF
        client|no-touch;7.2.0;Accepted, and reads still count as uses;ON | OFF
        client|pause;3.0.0;Lets commands wait;timeout [WRITE | ALL]
        client|reply;3.2.0;Turns replies on or off;ON | OFF | SKIP
        client|setinfo;7.2.0;Names the client's library;LIB-NAME libname | LIB-VER libver
        client|setname;2.6.9;Names the connection;connection-name
        client|tracking;6.0.0;Asks to be told of changes to keys;ON | OFF [REDIRECT client-id] [PREFIX prefix]... [BCAST] [OPTIN] [OPTOUT] [NOLOOP]
        client|trackinginfo;6.2.0;Tells how the connection hears of changes
        client|unpause;6.2.0;Lets commands that wait go on
        command;2.8.13;Tells of all commands
        command|count;2.8.13;Tells how many commands there are
        command|docs;7.0.0;Tells what commands do;[command-name...]
        command|getkeys;2.8.13;Tells which arguments are keys;command [arg...]
        command|info;2.8.13;Tells of commands;[command-name...]
        command|list;7.0.0;Tells the names of commands
        config;2.0.0;Tells of settings and changes them
        config|get;2.0.0;Tells settings;parameter...
        config|resetstat;2.0.0;Counts from zero again
        config|rewrite;2.8.0;An error: settings are given when the server starts
        config|set;2.0.0;Changes settings;(parameter value)...
        copy;6.2.0;Copies a key;source destination [DB destination-db] [REPLACE]
        dbsize;1.0.0;Tells how many keys there are
        decr;1.0.0;Subtracts one from a number;key
        decrby;1.0.0;Subtracts from a number;key decrement
        del;1.0.0;Removes keys;key...
        discard;2.0.0;Forgets what was queued since MULTI
        echo;1.0.0;Answers with its argument;message
        eval;2.6.0;Executes the one Lua script that is known;script numkeys [key...] [arg...]
        evalsha;2.6.0;Executes the one Lua script that is known, by its digest;sha1 numkeys [key...] [arg...]
        exec;1.2.0;Executes what was queued since MULTI
        exists;1.0.0;Tells how many of the keys are there;key...
        expire;1.0.0;Sets in how many seconds a key expires;key seconds [NX | XX | GT | LT]
        expireat;1.2.0;Sets at which second a key expires;key unix-time-seconds [NX | XX | GT | LT]
        expiretime;7.0.0;Tells at which second a key expires;key
        flushall;1.0.0;Removes everything;[ASYNC | SYNC]
        flushdb;1.0.0;Removes everything;[ASYNC | SYNC]
        get;1.0.0;Answers with a value;key
        getdel;6.2.0;Answers with a value and removes it;key
        getex;6.2.0;Answers with a value and sets when it expires;key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]
        getrange;2.4.0;Answers with a part of a value;key start end
        getset;1.0.0;Sets a value and answers with the old one;key value
        hdel;2.0.0;Removes fields of a hash;key field...
        hello;6.0.0;Chooses the protocol;[protover [AUTH username password] [SETNAME clientname]]
        hexists;2.0.0;Tells whether a hash has a field;key field
        hget;2.0.0;Answers with a field of a hash;key field
        hgetall;2.0.0;Answers with all fields of a hash and their values;key
        hincrby;2.0.0;Adds to a number in a hash;key field increment
        hincrbyfloat;2.6.0;Adds to a floating-point number in a hash;key field increment
        hkeys;2.0.0;Answers with the names of a hash's fields;key
        hlen;2.0.0;Tells how many fields a hash has;key
        hmget;2.0.0;Answers with fields of a hash;key field...
        hmset;2.0.0;Sets fields of a hash;key (field value)...
        hscan;2.8.0;Answers with fields of a hash and their values;key cursor [MATCH pattern] [COUNT count]
        hset;2.0.0;Sets fields of a hash;key (field value)...
        hsetnx;2.0.0;Sets a field that a hash does not have;key field value
        hstrlen;3.2.0;Tells how long a field's value is;key field
        hvals;2.0.0;Answers with the values of a hash;key
        incr;1.0.0;Adds one to a number;key
        incrby;1.0.0;Adds to a number;key increment
        incrbyfloat;2.6.0;Adds to a floating-point number;key increment
        info;1.0.0;Tells of the server;[section...]
        keys;1.0.0;Answers with the keys that match a pattern;pattern
        memory;4.0.0;Tells of memory
        memory|usage;4.0.0;Tells how many bytes a key and its value take;key [SAMPLES count]
        mget;1.0.0;Answers with values;key...
        mset;1.0.1;Sets values;(key value)...
        msetnx;1.0.1;Sets values if none of the keys is there;(key value)...
        multi;1.2.0;Queues commands until EXEC
        object;2.2.3;Tells how a key is kept
        object|encoding;2.2.3;Tells how Redis would keep a value;key
        object|freq;4.0.0;An error, as in a Redis that evicts otherwise;key
        object|idletime;2.2.3;Answers 0: times of use are not kept;key
        object|refcount;2.2.3;Answers 1;key
        persist;2.2.0;Lets a key not expire;key
        pexpire;2.6.0;Sets in how many milliseconds a key expires;key milliseconds [NX | XX | GT | LT]
        pexpireat;2.6.0;Sets at which millisecond a key expires;key unix-time-milliseconds [NX | XX | GT | LT]
        pexpiretime;7.0.0;Tells at which millisecond a key expires;key
        ping;1.0.0;Answers PONG, or with its argument;[message]
        psetex;2.6.0;Sets a value that expires in so many milliseconds;key milliseconds value
        psubscribe;2.0.0;Listens to channels that match patterns;pattern...
        pttl;2.6.0;Tells in how many milliseconds a key expires;key
        publish;2.0.0;Sends a message to who listens to a channel;channel message
        pubsub;2.8.0;Tells of channels
        pubsub|channels;2.8.0;Answers with the channels that somebody listens to;[pattern]
        pubsub|numpat;2.8.0;Tells to how many patterns somebody listens
        pubsub|numsub;2.8.0;Tells how many listen to channels;[channel...]
        punsubscribe;2.0.0;Does not listen any more;[pattern...]
        quit;1.0.0;Ends the connection
        randomkey;1.0.0;Answers with some key
        rename;1.0.0;Renames a key;key newkey
        renamenx;1.0.0;Renames a key if there is no key of the new name;key newkey
        reset;6.2.0;Makes the connection as new
        scan;2.8.0;Answers with some of the keys, and where to go on;cursor [MATCH pattern] [COUNT count] [TYPE type]
        script;2.6.0;Tells of scripts
        script|exists;2.6.0;Tells whether scripts are known;sha1...
        script|flush;2.6.0;Accepted;[ASYNC | SYNC]
        script|load;2.6.0;Answers with the digest of the one Lua script that is known;script
        select;1.0.0;Chooses the database, which must be 0;index
        set;1.0.0;Sets a value;key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]
        setex;2.0.0;Sets a value that expires in so many seconds;key seconds value
        setnx;1.0.0;Sets a value if the key is not there;key value
        setrange;2.2.0;Writes over a part of a value;key offset value
        slowlog;2.2.12;Tells of requests that took long
        slowlog|get;2.2.12;Answers with the latest requests that took long;[count]
        slowlog|help;6.2.0;Tells what SLOWLOG knows
        slowlog|len;2.2.12;Tells how many requests that took long are kept
        slowlog|reset;2.2.12;Forgets requests that took long
        strlen;2.2.0;Tells how long a value is;key
        subscribe;2.0.0;Listens to channels;channel...
        substr;1.0.0;Answers with a part of a value;key start end
        time;2.6.0;Tells the time
        touch;3.2.1;Tells how many of the keys are there;key...
        ttl;1.0.0;Tells in how many seconds a key expires;key
        type;1.0.0;Tells what a key has: string, hash or none;key
        unlink;4.0.0;Removes keys;key...
        unsubscribe;2.0.0;Does not listen any more;[channel...]
        unwatch;2.2.0;Forgets what was watched
        watch;2.2.0;Lets EXEC do nothing if keys change;key...
        """.ReplaceLineEndings("\n");

    /// <summary>Returns the documentation of a command. A test fails if a command has none.</summary>
    public static CommandDocs Of(CommandInfo command) => s_all[command.Name];

    /// <summary>Returns whether the command has documentation.</summary>
    public static bool Has(CommandInfo command) => s_all.ContainsKey(command.Name);

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
