namespace Cairn.Protocol.Text;

// The output of a writer: a span from the caller, or successive spans of a buffer writer. The window advances the buffer writer only when a
// span is full and on Flush, so many small messages need only two calls.
internal ref struct OutputWindow
{
    private readonly IBufferWriter<byte>? _output;
    private Span<byte> _span;
    private int _used;

    public OutputWindow(Span<byte> destination) => _span = destination;

    public OutputWindow(IBufferWriter<byte> output)
    {
        ArgumentNullException.ThrowIfNull(output);
        _output = output;
    }

    // The number of written bytes that are not in the buffer writer yet; for a span, the number of all written bytes.
    public readonly int Pending => _used;

    // Returns the free part of the span, with at least this length.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Reserve(int bytes)
    {
        if (_span.Length - _used < bytes)
        {
            Grow(bytes);
        }

        return _span[_used..];
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Advance(int bytes)
    {
        if ((uint)bytes > (uint)(_span.Length - _used))
        {
            ThrowAdvancedTooFar();
        }

        _used += bytes;
    }

    public void Flush()
    {
        if (_output is null)
        {
            return;
        }

        if (_used > 0)
        {
            _output.Advance(_used);
            _used = 0;
        }

        _span = default; // Other code may use the buffer writer now.
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(scoped ReadOnlySpan<byte> bytes)
    {
        if (bytes.TryCopyTo(_span[_used..]))
        {
            _used += bytes.Length;
        }
        else
        {
            WriteInPieces(bytes);
        }
    }

    public void WriteByte(byte value)
    {
        Reserve(1)[0] = value;
        _used++;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteLineEnd()
    {
        BinaryPrimitives.WriteUInt16LittleEndian(Reserve(2), '\r' | ('\n' << 8));
        _used += 2;
    }

    // Here and above, _used is read after Reserve, which may change it.
    public void WriteUInt64(ulong value)
    {
        int length = DecimalText.Format(value, Reserve(DecimalText.MaxUInt64Bytes));
        _used += length;
    }

    public void WriteInt64(long value)
    {
        int length = DecimalText.Format(value, Reserve(DecimalText.MaxInt64Bytes));
        _used += length;
    }

    // A value may be longer than a single span of the buffer writer should be.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void WriteInPieces(scoped ReadOnlySpan<byte> bytes)
    {
        if (_output is null)
        {
            ThrowDestinationTooShort();
        }

        while (!bytes.IsEmpty)
        {
            var free = Reserve(1);
            int length = Math.Min(free.Length, bytes.Length);
            bytes[..length].CopyTo(free);
            _used += length;
            bytes = bytes[length..];
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Grow(int bytes)
    {
        if (_output is null)
        {
            ThrowDestinationTooShort();
        }

        if (_used > 0)
        {
            _output.Advance(_used);
            _used = 0;
        }

        _span = _output.GetSpan(bytes);
    }

    [DoesNotReturn]
    private static void ThrowDestinationTooShort() =>
        throw new InvalidOperationException("The destination is too short.");

    [DoesNotReturn]
    private static void ThrowAdvancedTooFar() =>
        throw new ArgumentOutOfRangeException("bytes", "There is less room than that; reserve it first.");
}
