namespace Cairn.Server.Resp;

/// <summary>Does natively what a known script does, and writes its reply. The partitions of all keys are held.</summary>
internal delegate void ScriptHandler(RespSession session, scoped in ScriptCall call, ref RespWriter writer);

/// <summary>The keys and arguments of a script.</summary>
internal readonly ref struct ScriptCall
{
    private const int FirstKey = 3;

    private readonly RespArguments _arguments;
    private readonly int _skipped;

    public ScriptCall(RespArguments arguments, int keys, int skipped = 0)
    {
        _arguments = arguments;
        KeyCount = keys;
        _skipped = skipped;
    }

    public int KeyCount { get; }

    public int ArgumentCount => _arguments.Count - FirstKey - KeyCount - _skipped;

    /// <summary>Returns KEYS[<paramref name="number"/>]. Numbers begin at 1, as in Lua.</summary>
    public ReadOnlySpan<byte> Key(int number) => _arguments[FirstKey + number - 1];

    /// <summary>Returns whether a key is among KEYS.</summary>
    public bool HasKey(ReadOnlySpan<byte> key)
    {
        int number = KeyCount;
        while (number > 0 && !Key(number).SequenceEqual(key))
        {
            number--;
        }

        return number > 0;
    }

    /// <summary>Returns the <paramref name="count"/> arguments from ARGV[<paramref name="number"/>], which are a command.</summary>
    public RespArguments Command(int number, int count) => _arguments.Slice(FirstKey + KeyCount + number - 1, count);

    /// <summary>Returns ARGV[<paramref name="number"/>].</summary>
    public ReadOnlySpan<byte> Argument(int number) => _arguments[FirstKey + KeyCount + _skipped + number - 1];

    /// <summary>Returns the call with ARGV[2] as ARGV[1].</summary>
    public ScriptCall WithoutFirstArgument() => new(_arguments, KeyCount, _skipped + 1);
}
