namespace Cairn.Maps;

/// <summary>The codec for types with a serializer of the application.</summary>
internal sealed class CustomCodec<T> : MapCodec<T>
{
    private const int LongestFormatId = 200;

    private readonly IMapSerializer<T> _serializer;

    public CustomCodec(IMapSerializer<T> serializer)
    {
        _serializer = serializer;
        string? format = serializer.FormatId;
        if (string.IsNullOrEmpty(format) || format.Length > LongestFormatId || format.Contains('\n', StringComparison.Ordinal))
        {
            throw new ArgumentException(
                $"{serializer.GetType()}.{nameof(IMapSerializer<>.FormatId)} must be 1 to {LongestFormatId} characters in one line.", nameof(serializer));
        }

        FormatId = "custom:" + format;
    }

    public override string FormatId { get; }

    public override ReadOnlySpan<byte> Write(T value, Span<byte> scratch, scoped ref PooledWriter? writer)
    {
        ArgumentNullException.ThrowIfNull(value);
        writer = PooledWriter.Take();
        _serializer.Write(value, writer);
        return writer.Written;
    }

    public override T Read(ReadOnlySpan<byte> source) => _serializer.Read(source);
}
