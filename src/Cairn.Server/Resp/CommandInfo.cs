namespace Cairn.Server.Resp;

/// <summary>Executes a command whose number of arguments has been checked, and writes one reply.</summary>
internal delegate void CommandHandler(RespSession session, scoped in RespArguments arguments, ref RespWriter writer);

/// <summary>The properties of a command. The values that clients see have the names that Redis uses.</summary>
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

    /// <summary>Executed at once, even between MULTI and EXEC.</summary>
    Immediate = 1 << 20,

    /// <summary>Allowed while a RESP2 connection is subscribed.</summary>
    Subscribed = 1 << 21,

    /// <summary>May access any key.</summary>
    AllKeys = 1 << 22,

    /// <summary>Replies with the complete values of its keys.</summary>
    RepliesValues = 1 << 23,

    /// <summary>Processes one key after the other, and may pause before each (RespSession.Pieces).</summary>
    InPieces = 1 << 24,

    /// <summary>Reads the whole value of its first key to change a part of it.</summary>
    Rewrites = 1 << 25,

    /// <summary>Takes a list of any length, not only options.</summary>
    Lists = 1 << 26,
}

/// <summary>A command, or a subcommand of a command.</summary>
internal sealed class CommandInfo
{
    private const int MostOptions = 1024;

    private readonly string _name = "";

    /// <summary>Gets the name in lower case. The name of a subcommand includes its command: client|id.</summary>
    public required string Name
    {
        get => _name;
        init
        {
            _name = value;
            ShortName = value[(value.IndexOf('|', StringComparison.Ordinal) + 1)..];
        }
    }

    /// <summary>Gets the number of arguments, including the name; a negative number is a minimum.</summary>
    public required int Arity { get; init; }

    public required CommandFlags Flags { get; init; }

    /// <summary>Gets the index of the first key; 0 if there is none.</summary>
    public int FirstKey { get; init; }

    /// <summary>Gets the index of the last key; a negative index counts from the end.</summary>
    public int LastKey { get; init; }

    /// <summary>Gets the distance from one key to the next.</summary>
    public int KeyStep { get; init; }

    /// <summary>Gets whether the argument before the first key is the number of keys.</summary>
    public bool HasKeyCount { get; init; }

    /// <summary>Gets the group, for COMMAND DOCS.</summary>
    public required string Group { get; init; }

    public required CommandHandler Handler { get; init; }

    /// <summary>Gets whether the command sends messages to other clients.</summary>
    public bool IsPublish { get; init; }

    /// <summary>Gets or sets whether the command may take long even with few arguments, because it may examine every key or delay other
    /// clients.</summary>
    public bool MayTakeLong { get; set; }

    /// <summary>Gets or sets the command's index in every recorder of requests. The table assigns it.</summary>
    public int Number { get; set; }

    /// <summary>Gets whether reading a key that does not exist is a keyspace event. False for subcommands, which examine a key without
    /// reading it.</summary>
    public bool ReportsMisses => (Flags & CommandFlags.ReadOnly) != 0 && ShortName.Length == Name.Length;

    /// <summary>Gets whether EXEC adds up the cost of the command before it executes its queue.</summary>
    public bool HasKnownCost => (Flags & (CommandFlags.RepliesValues | CommandFlags.Rewrites)) != 0 || IsPublish
        || Group is "hash" or "set" or "sorted-set" || Name is "keys" or "randomkey";

    public CommandInfo[] Subcommands { get; init; } = [];

    /// <summary>Gets the maximum number of arguments. Options can be repeated, and all are read in one turn.</summary>
    public int MostArguments => LastKey < 0 || HasKeyCount || (Flags & CommandFlags.Lists) != 0 ? int.MaxValue : MostOptions;

    /// <summary>Gets the last part of the name.</summary>
    public string ShortName { get; private init; } = "";

    public bool AcceptsCount(int arguments) =>
        Arity >= 0 ? arguments == Arity : arguments >= -Arity && arguments <= MostArguments;

    /// <summary>Returns the index of the last key of a request, relative to the command's name; before the first key if there is
    /// none.</summary>
    /// <param name="arguments">The arguments of the request.</param>
    /// <param name="name">The index of the command's name.</param>
    public int LastKeyOf(scoped in RespArguments arguments, int name = 0)
    {
        int count = arguments.Count - name;
        if (!HasKeyCount)
        {
            return LastKey >= 0 ? Math.Min(LastKey, count - 1) : count + LastKey;
        }

        // A request with a number that is too large is refused.
        return count > FirstKey && Text.TryParse(arguments[name + FirstKey - 1], out long keys) && keys > 0 && keys <= 1 + ((count - 1 - FirstKey) / KeyStep)
            ? FirstKey + (((int)keys - 1) * KeyStep)
            : FirstKey - 1;
    }

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
