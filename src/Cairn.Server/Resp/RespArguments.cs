namespace Cairn.Server.Resp;

/// <summary>A request's arguments, in place in the input. Argument 0 is the command's name.</summary>
internal readonly ref struct RespArguments
{
    /// <summary>The maximum number of keys and values of a command that sets several keys at one moment.</summary>
    public const int MaxPairs = 65_536;

    private readonly RespRequestReader _reader;
    private readonly ReadOnlySpan<byte> _input;
    private readonly RespRequest _request;

    public RespArguments(RespRequestReader reader, ReadOnlySpan<byte> input, RespRequest request)
    {
        _reader = reader;
        _input = input;
        _request = request;
    }

    public int Count => _request.ArgumentCount;

    public ReadOnlySpan<byte> this[int index]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _reader.GetArgument(_input, _request, index);
    }

    /// <summary>Returns some of the arguments, such as those of a command that a script executes.</summary>
    public RespArguments Slice(int start, int count) => new(_reader, _input, new RespRequest(_request.FirstArgument + start, count));

    /// <summary>Returns whether an argument is this word, in upper or lower case.</summary>
    /// <param name="index">The argument's index.</param>
    /// <param name="word">The word in lower case: letters, and bytes that have no case.</param>
    public bool Is(int index, ReadOnlySpan<byte> word) => Text.EqualsIgnoreCase(this[index], word);
}
