namespace Cairn.Maps;

/// <summary>The bytes of a key or value, for as long as a call takes.</summary>
/// <typeparam name="T">Of the key or value.</typeparam>
internal readonly ref struct Coded<T> : IDisposable
{
    private readonly PooledWriter? _writer;

    /// <summary>Writes them.</summary>
    /// <param name="codec">Writes it.</param>
    /// <param name="value">Not null.</param>
    /// <param name="scratch">Where it lies if it is short; <see cref="MapCodec{T}.ScratchBytes"/>.</param>
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
