namespace Cairn.Maps;

/// <summary>The codec for arrays of bytes. It stores them unchanged.</summary>
internal sealed class MapBytesCodec : MapCodec<byte[]>
{
    public override string FormatId => "bytes";

    public override ReadOnlySpan<byte> Write(byte[] value, Span<byte> scratch, scoped ref PooledWriter? writer)
    {
        ArgumentNullException.ThrowIfNull(value);
        return value;
    }

    public override byte[] Read(ReadOnlySpan<byte> source) => source.ToArray();
}
