namespace Cairn.Cli.Output;

/// <summary>Buffers output for standard output or a file, so that writes are large.</summary>
internal sealed class ToolOutput(Stream stream) : IBufferWriter<byte>
{
    private const int BufferBytes = 64 * 1024;

    private byte[] _buffer = [];
    private int _used;

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        int needed = Math.Max(sizeHint, 1);
        if (_buffer.Length - _used < needed)
        {
            Flush();
            if (_buffer.Length < needed)
            {
                _buffer = GC.AllocateUninitializedArray<byte>(Math.Max(needed, BufferBytes));
            }
        }

        return _buffer.AsMemory(_used);
    }

    public void Advance(int count) => _used += count;

    public void Write(scoped ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length >= BufferBytes)
        {
            Flush();
            stream.Write(bytes);
            return;
        }

        bytes.CopyTo(GetSpan(bytes.Length));
        _used += bytes.Length;
    }

    public void Write(scoped ReadOnlySpan<char> text)
    {
        Span<byte> target = GetSpan(Encoding.UTF8.GetMaxByteCount(text.Length));
        _used += Encoding.UTF8.GetBytes(text, target);
    }

    public void WriteLine(scoped ReadOnlySpan<char> text)
    {
        Write(text);
        WriteLine();
    }

    public void WriteLine() => Write("\n"u8);

    public void Flush()
    {
        // Emptied first, so that a failed write is not repeated when the command ends.
        int used = _used;
        _used = 0;
        stream.Write(_buffer, 0, used);
        stream.Flush();
    }
}
