using Cairn.Protocol;

namespace Cairn.Server.Resp;

/// <summary>Executes a command, whose number of arguments is right, and writes one reply.</summary>
internal delegate void CommandHandler(RespSession session, scoped in RespArguments arguments, ref RespWriter writer);

/// <summary>What holds of a command beyond its arguments. The values that clients see are named as in Redis.</summary>
[Flags]
internal enum CommandFlags
{
    None = 0,
    Write = 1,
    ReadOnly = 1 << 1,
    DenyOom = 1 << 2,
    Admin = 1 << 3,
    PubSub = 1 << 4,
    Fast = 1 << 5,
    NoAuth = 1 << 6,
    NoMulti = 1 << 7,
    Loading = 1 << 8,
    Stale = 1 << 9,
    NoScript = 1 << 10,

    /// <summary>Executed at once also between MULTI and EXEC.</summary>
    Immediate = 1 << 20,

    /// <summary>Allowed while a RESP2 connection is subscribed.</summary>
    Subscribed = 1 << 21,

    /// <summary>May touch any key.</summary>
    AllKeys = 1 << 22,

    /// <summary>Replies the values of its keys, whole.</summary>
    RepliesValues = 1 << 23,

    /// <summary>Comes by one key after the other, and may pause before each (RespSession.Pieces).</summary>
    InPieces = 1 << 24,
}

/// <summary>A command, or a command's subcommand.</summary>
internal sealed class CommandInfo
{
    private readonly string _name = "";

    /// <summary>In lower case; a subcommand's with its command's before it: client|id.</summary>
    public required string Name
    {
        get => _name;
        init
        {
            _name = value;
            ShortName = value[(value.IndexOf('|', StringComparison.Ordinal) + 1)..];
        }
    }

    /// <summary>Arguments with the name; negative for so many or more.</summary>
    public required int Arity { get; init; }

    public required CommandFlags Flags { get; init; }

    /// <summary>The first key's argument; 0 if it has none.</summary>
    public int FirstKey { get; init; }

    /// <summary>The last key's argument; negative counts from the end.</summary>
    public int LastKey { get; init; }

    /// <summary>From one key to the next.</summary>
    public int KeyStep { get; init; }

    /// <summary>What it belongs to, for COMMAND DOCS.</summary>
    public required string Group { get; init; }

    public required CommandHandler Handler { get; init; }

    /// <summary>Whether it sends messages to others.</summary>
    public bool IsPublish { get; init; }

    /// <summary>Whether it may take long for other reasons than many arguments: it may look at every key, or holds up others.</summary>
    public bool MayTakeLong { get; set; }

    /// <summary>Its place in every recorder of requests; given by the table.</summary>
    public int Number { get; set; }

    /// <summary>Whether reading a key that does not exist is an event. Not for subcommands, which look at a key without reading it.</summary>
    public bool ReportsMisses => (Flags & CommandFlags.ReadOnly) != 0 && ShortName.Length == Name.Length;

    public CommandInfo[] Subcommands { get; init; } = [];

    /// <summary>The last part of the name.</summary>
    public string ShortName { get; private init; } = "";

    public bool AcceptsCount(int arguments) => Arity >= 0 ? arguments == Arity : arguments >= -Arity;

    /// <summary>The last key of a request with so many arguments.</summary>
    public int LastKeyOf(int arguments) => LastKey >= 0 ? Math.Min(LastKey, arguments - 1) : arguments + LastKey;

    public CommandInfo? FindSubcommand(ReadOnlySpan<byte> name)
    {
        foreach (CommandInfo subcommand in Subcommands)
        {
            if (System.Text.Ascii.EqualsIgnoreCase(name, subcommand.ShortName))
            {
                return subcommand;
            }
        }

        return null;
    }
}
