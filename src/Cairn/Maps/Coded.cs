namespace Cairn.Maps;

/// <summary>The bytes of a key or value during one call.</summary>
/// <typeparam name="T">The type of the key or value.</typeparam>
internal readonly ref struct Coded<T> : IDisposable
{
    private readonly PooledWriter? _writer;

    /// <summary>Writes the bytes.</summary>
    /// <param name="codec">The codec that writes them.</param>
    /// <param name="value">The key or value. Not null.</param>
    /// <param name="scratch">The memory for short values: <see cref="MapCodec{T}.ScratchBytes"/> bytes.</param>
    public Coded(MapCodec<T> codec, T value, Span<byte> scratch)
    {
        PooledWriter? writer = null;
        try
        {
            Bytes = codec.Write(value, scratch, ref writer);
        }
        catch
        {
            writer?.Return();
            throw;
        }

        _writer = writer;
    }

    public ReadOnlySpan<byte> Bytes { get; }

    public void Dispose() => _writer?.Return();
}
