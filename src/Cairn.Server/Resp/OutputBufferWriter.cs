using Cairn.Server.Buffers;

namespace Cairn.Server.Resp;

/// <summary>Adapts a connection's output to the writer of replies.</summary>
internal sealed class OutputBufferWriter : IBufferWriter<byte>
{
    // Requested at once, so that most batches of replies need only one span.
    private const int LikelyBytes = 4096;

    private OutputBuffer? _output;

    /// <summary>Sets the output that the bytes go to from now on.</summary>
    public void Open(OutputBuffer output) => _output = output;

    public void Advance(int count) => Output.Advance(count);

    public Span<byte> GetSpan(int sizeHint = 0) => Output.Reserve(Math.Max(sizeHint, LikelyBytes));

    public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException("Replies are written into spans.");

    private OutputBuffer Output => _output ?? throw new InvalidOperationException("No output is open.");
}

/// <summary>Discards the replies of a client that has turned replies off.</summary>
internal sealed class DiscardingWriter : IBufferWriter<byte>
{
    private const int KeptBytes = 4096;

    private byte[] _buffer = new byte[KeptBytes];

    /// <summary>Gets or sets the number of bytes discarded since it was set to 0. It measures the work.</summary>
    public long Bytes { get; set; }

    /// <summary>Frees a long buffer.</summary>
    /// <returns>The number of bytes freed.</returns>
    public int Trim()
    {
        int bytes = _buffer.Length;
        if (bytes == KeptBytes)
        {
            return 0;
        }

        _buffer = new byte[KeptBytes];
        return bytes;
    }

    public void Advance(int count) => Bytes += count;

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        if (_buffer.Length < sizeHint)
        {
            _buffer = new byte[sizeHint];
        }

        return _buffer;
    }

    public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException("Replies are written into spans.");
}
