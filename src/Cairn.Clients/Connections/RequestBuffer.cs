namespace Cairn.Clients.Connections;

/// <summary>A growing buffer of consecutive requests, in one array from the shared pool.</summary>
internal sealed class RequestBuffer : IBufferWriter<byte>
{
    private const int InitialBytes = 16 << 10;
    private const int KeptBytes = 1 << 20;

    private byte[] _bytes = [];

    public int Count { get; private set; }

    public ReadOnlyMemory<byte> Written => _bytes.AsMemory(0, Count);

    public void Advance(int count) => Count += count;

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsMemory(Count);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsSpan(Count);
    }

    /// <summary>Shortens the buffer to the given number of bytes.</summary>
    public void Truncate(int count) => Count = count;

    /// <summary>Empties the buffer. An array of more than 1 MiB returns to the pool.</summary>
    public void Clear()
    {
        Count = 0;
        if (_bytes.Length > KeptBytes)
        {
            Release();
        }
    }

    public void Release()
    {
        if (_bytes.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
            _bytes = [];
        }

        Count = 0;
    }

    private void Grow(int sizeHint)
    {
        int needed = Math.Max(sizeHint, 1);
        if (_bytes.Length - Count >= needed)
        {
            return;
        }

        byte[] larger = ArrayPool<byte>.Shared.Rent(Math.Max(InitialBytes, (int)Math.Min(Array.MaxLength, Math.Max(_bytes.Length * 2L, (long)Count + needed))));
        _bytes.AsSpan(0, Count).CopyTo(larger);
        if (_bytes.Length > 0)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
        }

        _bytes = larger;
    }
}
