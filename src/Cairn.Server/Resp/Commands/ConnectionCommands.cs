using Cairn.Server.Connections;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands about the connection itself.</summary>
internal static class ConnectionCommands
{
    private const CommandFlags AnyTime = CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast;
    private const CommandFlags OfClient = CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale;

    private const int LongestName = 1024;
    private const string ClientNames = "Client names";

    // The same number as for other commands that cannot pause.
    private const int MaxListedIds = 65_536;

    // The element at which CLIENT LIST continues when it has read all addresses.
    private const int AllAddressesRead = int.MaxValue;

    public static CommandInfo[] All { get; } =
    [
        Make("ping", -1, CommandFlags.Fast | CommandFlags.Subscribed, Ping),
        Make("echo", 2, CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast, Echo),
        Make("quit", -1, AnyTime | CommandFlags.NoAuth | CommandFlags.Immediate | CommandFlags.Subscribed, Quit),
        Make("select", 2, CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Fast, Select),
        Make("hello", -1, AnyTime | CommandFlags.NoAuth, Hello),
        Make("auth", -2, AnyTime | CommandFlags.NoAuth, Auth),
        new CommandInfo
        {
            Name = "acl", Arity = -2, Flags = CommandFlags.None, Group = "server", Handler = Container,
            Subcommands = [Make("acl|whoami", 2, OfClient, WhoAmI), HelpCommand.Of("acl", "server")],
        },
        Make("reset", 1, AnyTime | CommandFlags.NoAuth | CommandFlags.Immediate | CommandFlags.Subscribed, Reset),
        new CommandInfo
        {
            Name = "client", Arity = -2, Flags = CommandFlags.None, Group = "connection", Handler = Container, Subcommands =
            [
                Make("client|id", 2, OfClient, Id),
                Make("client|getname", 2, OfClient, GetName),
                Make("client|setname", 3, OfClient, SetName),
                Make("client|setinfo", 4, OfClient, SetInfo),
                Make("client|info", 2, OfClient, Info),
                Make("client|list", -2, OfClient | CommandFlags.Admin | CommandFlags.Lists, List),
                Make("client|kill", -3, OfClient | CommandFlags.Admin, Kill),
                Make("client|pause", -3, OfClient | CommandFlags.Admin, Pause),
                Make("client|unpause", 2, OfClient | CommandFlags.Admin, Unpause),
                Make("client|reply", 3, OfClient, Reply),
                Make("client|no-evict", 3, OfClient | CommandFlags.Admin, OnOrOff),
                Make("client|no-touch", 3, OfClient, OnOrOff),
                .. TrackingCommands.All,
                HelpCommand.Of("client", "connection"),
            ],
        },
    ];

    // Only called with the container's name alone, which is too few arguments.
    private static void Container(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteError(RespErrors.Syntax);

    private enum ClientKind
    {
        None,
        Normal,
        PubSub,
        Other,
    }

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) =>
        new() { Name = name, Arity = arity, Flags = flags, Group = "connection", Handler = handler };

    private static void Ping(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 2)
        {
            writer.WriteError("ERR wrong number of arguments for 'ping' command"u8);
        }
        else if (arguments.Count == 2 && session.MustAwaitMemory(arguments[1].Length, 1, ref writer))
        {
            return;
        }
        else if (!session.IsResp3 && session.SubscriptionCount > 0)
        {
            // The array distinguishes the reply from messages.
            writer.WriteArrayHeader(2);
            writer.WriteBulk("pong"u8);
            writer.WriteBulk(arguments.Count == 2 ? arguments[1] : default);
        }
        else if (arguments.Count == 2)
        {
            writer.WriteBulk(arguments[1]);
        }
        else
        {
            writer.WriteSimple("PONG"u8);
        }
    }

    private static void Echo(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!session.MustAwaitMemory(arguments[1].Length, 1, ref writer))
        {
            writer.WriteBulk(arguments[1]);
        }
    }

    private static void Quit(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        writer.WriteOk();
        session.Close();
    }

    private static void Select(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (RespErrors.OfDatabase(arguments[1]) is { Length: > 0 } error)
        {
            writer.WriteError(error);
        }
        else
        {
            writer.WriteOk();
        }
    }

    private static void Hello(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        bool isResp3 = session.IsResp3;
        if (arguments.Count > 1)
        {
            if (!Text.TryParse(arguments[1], out long version))
            {
                writer.WriteError("ERR Protocol version is not an integer or out of range"u8);
                return;
            }

            if (version is not (2 or 3))
            {
                writer.WriteError("NOPROTO unsupported protocol version"u8);
                return;
            }

            isResp3 = version == 3;
        }

        string? name = null;
        int credentials = 0;
        for (int i = 2; i < arguments.Count; i++)
        {
            int left = arguments.Count - 1 - i;
            if (arguments.Is(i, "auth"u8) && left >= 2)
            {
                credentials = i + 1;
                i += 2;
            }
            else if (arguments.Is(i, "setname"u8) && left >= 1)
            {
                if (!TryReadName(arguments[++i], ClientNames, out name, ref writer))
                {
                    return;
                }
            }
            else
            {
                writer.WriteError(Text.Bytes($"ERR Syntax error in HELLO option '{Text.Latin(arguments[i])}'"));
                return;
            }
        }

        if (credentials > 0 && !session.TryAuthenticate(arguments[credentials], arguments[credentials + 1], ref writer))
        {
            return;
        }

        if (session.User is null)
        {
            writer.WriteError("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"u8);
            return;
        }

        session.ClientName = name ?? session.ClientName;
        session.SwitchProtocol(isResp3, ref writer);
        writer.WriteMapHeader(7);
        writer.WriteBulk("server"u8);
        writer.WriteBulk("redis"u8);
        writer.WriteBulk("version"u8);
        writer.WriteBulk(ServerCommands.RedisVersion);
        writer.WriteBulk("proto"u8);
        writer.WriteInteger(isResp3 ? 3 : 2);
        writer.WriteBulk("id"u8);
        writer.WriteInteger(session.Peer.Id);
        writer.WriteBulk("mode"u8);
        writer.WriteBulk("standalone"u8);
        writer.WriteBulk("role"u8);
        writer.WriteBulk("master"u8);
        writer.WriteBulk("modules"u8);
        writer.WriteArrayHeader(0);
    }

    private static void Auth(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count > 3)
        {
            writer.WriteError(RespErrors.Syntax);
        }
        else if (arguments.Count == 2 && session.Server.Users.Initial is not null)
        {
            writer.WriteError("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"u8);
        }
        else if (arguments.Count == 2
            ? session.TryAuthenticate("default"u8, arguments[1], ref writer)
            : session.TryAuthenticate(arguments[1], arguments[2], ref writer))
        {
            writer.WriteOk();
        }
    }

    private static void WhoAmI(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteText(session.User!.Name);

    private static void Reset(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        while (session.SubscriptionCount > 0)
        {
            if (session.MustPause(1, ref writer))
            {
                return;
            }

            session.UnsubscribeFirst();
        }

        session.Reset(ref writer);
        writer.WriteSimple("RESET"u8);
    }

    private static void Id(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteInteger(session.Peer.Id);

    private static void GetName(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.ClientName.Length == 0)
        {
            writer.WriteNull();
        }
        else
        {
            writer.WriteBulk(Text.Bytes(session.ClientName));
        }
    }

    private static void SetName(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (TryReadName(arguments[2], ClientNames, out string name, ref writer))
        {
            session.ClientName = name;
            writer.WriteOk();
        }
    }

    private static void SetInfo(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        bool isName = arguments.Is(2, "lib-name"u8);
        if (!isName && !arguments.Is(2, "lib-ver"u8))
        {
            writer.WriteError(Text.Bytes($"ERR Unrecognized option '{Text.Latin(arguments[2])}'"));
            return;
        }

        if (!TryReadName(arguments[3], isName ? "lib-name" : "lib-ver", out string name, ref writer))
        {
            return;
        }

        if (isName)
        {
            session.LibraryName = name;
        }
        else
        {
            session.LibraryVersion = name;
        }

        writer.WriteOk();
    }

    private static void Info(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteVerbatim(Text.Bytes(Describe(session) + "\n"), "txt"u8);

    private static void List(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!TryReadAddresses(session, ref writer))
        {
            return;
        }

        HashSet<long>? wanted = null;
        ClientKind? kind = null;
        if (arguments.Count == 4 && arguments.Is(2, "type"u8))
        {
            if (!TryReadKind(arguments[3], out ClientKind given, ref writer))
            {
                return;
            }

            kind = given;
        }
        else if (arguments.Count > 3 && arguments.Is(2, "id"u8))
        {
            if (arguments.Count - 3 > MaxListedIds)
            {
                writer.WriteError(Text.Bytes($"ERR CLIENT LIST ID takes at most {MaxListedIds} IDs"));
                return;
            }

            wanted = [];
            for (int i = 3; i < arguments.Count; i++)
            {
                if (!Text.TryParse(arguments[i], out long id))
                {
                    writer.WriteError("ERR Invalid client ID"u8);
                    return;
                }

                wanted.Add(id);
            }
        }
        else if (arguments.Count != 2)
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        session.CountWork(session.Server.Sessions.Count);
        var text = new StringBuilder();
        foreach (RespSession other in session.Server.Sessions
            .Where(other => (wanted is null || wanted.Contains(other.Peer.Id)) && (kind is null || kind == KindOf(other)))
            .OrderBy(other => other.Peer.Id))
        {
            text.Append(Describe(other)).Append('\n');
            if (text.Length > session.MaxReplyBytes)
            {
                writer.WriteError(RespErrors.ReplyTooLong(session.MaxReplyBytes, "Name the clients: CLIENT LIST ID."));
                return;
            }
        }

        if (!session.MustAwaitMemory(text.Length, AllAddressesRead, ref writer))
        {
            writer.WriteVerbatim(Text.Bytes(text.ToString()), "txt"u8);
        }
    }

    // The kernel is asked for the addresses of a connection once. For thousands of connections that takes longer than their list, so it is done
    // in turns of bounded length. Returns false if the command must return now.
    private static bool TryReadAddresses(RespSession session, ref RespWriter writer)
    {
        RespSession[] sessions = session.BeginWith(static server => server.Sessions.ToArray());
        for (int i = session.BeginAt(1); i <= sessions.Length; i++)
        {
            if (session.MustPause(i, ref writer))
            {
                return false;
            }

            _ = sessions[i - 1].Peer.Remote;
            _ = sessions[i - 1].Peer.Local;
        }

        return true;
    }

    private static void Kill(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        session.CountWork(session.Server.Sessions.Count);
        if (arguments.Count == 3)
        {
            string address = Text.Latin(arguments[2]);
            RespSession? victim = session.Server.Sessions.FirstOrDefault(other => other.Peer.Remote == address);
            if (victim is null)
            {
                writer.WriteError("ERR No such client"u8);
                return;
            }

            writer.WriteOk();
            KillOne(session, victim);
            return;
        }

        if (arguments.Count % 2 != 0)
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        bool isSelfSpared = true;
        long? id = null;
        string? remote = null;
        string? local = null;
        string? user = null;
        ClientKind? kind = null;
        for (int i = 2; i < arguments.Count; i += 2)
        {
            if (arguments.Is(i, "id"u8))
            {
                if (!Text.TryParse(arguments[i + 1], out long number) || number < 1)
                {
                    writer.WriteError("ERR client-id should be greater than 0"u8);
                    return;
                }

                id = number;
            }
            else if (arguments.Is(i, "type"u8))
            {
                if (!TryReadKind(arguments[i + 1], out ClientKind given, ref writer))
                {
                    return;
                }

                kind = given;
            }
            else if (arguments.Is(i, "addr"u8))
            {
                remote = Text.Latin(arguments[i + 1]);
            }
            else if (arguments.Is(i, "laddr"u8))
            {
                local = Text.Latin(arguments[i + 1]);
            }
            else if (arguments.Is(i, "user"u8))
            {
                user = Text.Latin(arguments[i + 1]);
                if (!session.Server.Users.Has(user))
                {
                    writer.WriteError(Text.Bytes($"ERR No such user '{user}'"));
                    return;
                }
            }
            else if (arguments.Is(i, "skipme"u8) && (arguments.Is(i + 1, "yes"u8) || arguments.Is(i + 1, "no"u8)))
            {
                isSelfSpared = arguments.Is(i + 1, "yes"u8);
            }
            else
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }
        }

        RespSession[] victims =
        [
            .. session.Server.Sessions.Where(other =>
                (id is null || other.Peer.Id == id) && (remote is null || other.Peer.Remote == remote)
                && (local is null || other.Peer.Local == local) && (user is null || other.User?.Name == user)
                && (kind is null || KindOf(other) == kind) && !(isSelfSpared && other == session)),
        ];
        writer.WriteInteger(victims.Length);
        foreach (RespSession victim in victims)
        {
            KillOne(session, victim);
        }
    }

    private static bool TryReadKind(ReadOnlySpan<byte> text, out ClientKind kind, ref RespWriter writer)
    {
        kind = Text.EqualsIgnoreCase(text, "normal"u8) ? ClientKind.Normal
            : Text.EqualsIgnoreCase(text, "pubsub"u8) ? ClientKind.PubSub
            : Text.EqualsIgnoreCase(text, "master"u8) || Text.EqualsIgnoreCase(text, "replica"u8) || Text.EqualsIgnoreCase(text, "slave"u8)
                ? ClientKind.Other
            : ClientKind.None;
        if (kind == ClientKind.None)
        {
            writer.WriteError(Text.Bytes($"ERR Unknown client type '{Text.Latin(text)}'"));
        }

        return kind != ClientKind.None;
    }

    private static ClientKind KindOf(RespSession session) => session.SubscriptionCount > 0 ? ClientKind.PubSub : ClientKind.Normal;

    private static void Pause(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        bool isWritesOnly = false;
        if (arguments.Count > 4)
        {
            writer.WriteError(RespErrors.WrongCount(arguments));
            return;
        }

        if (arguments.Count == 4)
        {
            isWritesOnly = arguments.Is(3, "write"u8);
            if (!isWritesOnly && !arguments.Is(3, "all"u8))
            {
                writer.WriteError("ERR CLIENT PAUSE mode must be WRITE or ALL"u8);
                return;
            }
        }

        if (!Text.TryParse(arguments[2], out long timeMs) || timeMs > int.MaxValue)
        {
            writer.WriteError("ERR timeout is not an integer or out of range"u8);
        }
        else if (timeMs < 0)
        {
            writer.WriteError("ERR timeout is negative"u8);
        }
        else
        {
            writer.WriteOk();
            session.Server.BeginPause(TimeSpan.FromMilliseconds(timeMs), isWritesOnly);
        }
    }

    private static void Unpause(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        session.Server.EndPause();
        writer.WriteOk();
    }

    private static void KillOne(RespSession session, RespSession victim)
    {
        if (victim == session)
        {
            session.Close();
        }
        else
        {
            victim.Peer.Close(CloseReason.KilledAtOnce);
        }
    }

    private static void Reply(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Is(2, "on"u8))
        {
            session.ReplyMode = ReplyMode.On;
            writer.WriteOk();
        }
        else if (arguments.Is(2, "off"u8))
        {
            session.ReplyMode = ReplyMode.Off;
        }
        else if (arguments.Is(2, "skip"u8))
        {
            session.ReplyMode = session.ReplyMode switch
            {
                ReplyMode.Off => ReplyMode.Off,
                ReplyMode.Skip => ReplyMode.SkipNext, // This command is the one that gets no reply.
                _ => ReplyMode.Skip,
            };
        }
        else
        {
            writer.WriteError(RespErrors.Syntax);
        }
    }

    private static void OnOrOff(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Is(2, "on"u8) || arguments.Is(2, "off"u8))
        {
            writer.WriteOk();
        }
        else
        {
            writer.WriteError(RespErrors.Syntax);
        }
    }

    // Names are copied into lists of clients and into the slow log. So they have a limit, unlike in Redis.
    private static bool TryReadName(ReadOnlySpan<byte> bytes, string what, out string name, ref RespWriter writer)
    {
        name = "";
        if (bytes.Length > LongestName)
        {
            writer.WriteError(Text.Bytes($"ERR a name has at most {LongestName} bytes"));
            return false;
        }

        if (bytes.IndexOfAnyExceptInRange((byte)'!', (byte)'~') >= 0)
        {
            writer.WriteError(Text.Bytes($"ERR {what} cannot contain spaces, newlines or special characters."));
            return false;
        }

        name = Text.Latin(bytes);
        return true;
    }

    private static string Describe(RespSession session)
    {
        RespPeer peer = session.Peer;
        return string.Create(
            CultureInfo.InvariantCulture,
            $"id={peer.Id} addr={peer.Remote} laddr={peer.Local} fd={peer.Descriptor} name={session.ClientName} age={(long)peer.Age.TotalSeconds} idle={(long)peer.IdleTime.TotalSeconds} flags={FlagsOf(session)} db=0 sub={session.Subscriptions(isPattern: false).Count} psub={session.Subscriptions(isPattern: true).Count} ssub=0 multi={(session.IsInTransaction ? session.QueuedCount : -1)} qbuf={peer.Waiting.Input} qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem={peer.Waiting.Input + peer.Waiting.Output} tot-net-in={peer.Bytes.Received} tot-net-out={peer.Bytes.Sent} events=r cmd={session.LastCommand?.Name ?? "NULL"} user={session.User?.Name ?? RespUser.DefaultName} redir={session.Tracking?.Redirection ?? -1} resp={(session.IsResp3 ? 3 : 2)} lib-name={session.LibraryName} lib-ver={session.LibraryVersion}");
    }

    private static string FlagsOf(RespSession session)
    {
        string flags = (session.SubscriptionCount > 0 ? "P" : "")
            + (session.IsInTransaction ? "x" : "")
            + (session.Tracking is null ? "" : "t")
            + (session.IsRedirectionBroken ? "R" : "")
            + (session.Tracking is { IsBroadcast: true } ? "B" : "");
        return flags.Length == 0 ? "N" : flags;
    }
}
