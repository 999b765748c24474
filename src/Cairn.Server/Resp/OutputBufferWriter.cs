using System.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

/// <summary>A connection's output, as the writer of replies wants it.</summary>
internal sealed class OutputBufferWriter : IBufferWriter<byte>
{
    // Asked for at once, so that most batches of replies need one span.
    private const int LikelyBytes = 4096;

    private OutputBuffer? _output;

    /// <summary>Where the bytes go from now on.</summary>
    public void Open(OutputBuffer output) => _output = output;

    public void Advance(int count) => Output.Advance(count);

    public Span<byte> GetSpan(int sizeHint = 0) => Output.Reserve(Math.Max(sizeHint, LikelyBytes));

    public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException("Replies are written into spans.");

    private OutputBuffer Output => _output ?? throw new InvalidOperationException("No output is open.");
}

/// <summary>Drops what is written: the replies of a client that asked for none.</summary>
internal sealed class DiscardingWriter : IBufferWriter<byte>
{
    private const int KeptBytes = 4096;

    private byte[] _buffer = new byte[KeptBytes];

    /// <summary>Bytes dropped since it was set to 0: a measure of the work.</summary>
    public long Bytes { get; set; }

    /// <summary>Lets go of a long buffer.</summary>
    /// <returns>Its bytes.</returns>
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
