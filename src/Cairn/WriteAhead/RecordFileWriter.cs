using Cairn.Platform;

namespace Cairn.WriteAhead;

// Writes a whole file of records, a snapshot or a backup, from its first byte to its last.
internal sealed class RecordFileWriter
{
    private const int BufferBytes = 1 << 20;

    private readonly StoreFile _file;
    private readonly ulong _salt;
    private readonly byte[] _buffer = new byte[BufferBytes];
    private int _buffered;
    private long _offset;

    /// <summary>Begins a file.</summary>
    /// <param name="file">An empty file. The caller gives it its name, or deletes it.</param>
    /// <param name="kind">The kind of the file.</param>
    /// <param name="logId">The id of the log to which the file belongs.</param>
    /// <param name="startPosition">The position from which the log completes the file.</param>
    /// <param name="createdUnixMs">The present time in Unix milliseconds.</param>
    /// <param name="keyBlock">The block with which an encrypted file is opened.</param>
    public RecordFileWriter(
        StoreFile file, LogFileKind kind, ulong logId, long startPosition, long createdUnixMs, ReadOnlySpan<byte> keyBlock)
    {
        _file = file;
        _salt = RandomBits.Next();
        Position = startPosition;
        LogFileHeader.Write(_buffer, kind, logId, _salt, sequence: 0, startPosition, createdUnixMs, keyBlock);
        _buffered = LogFileHeader.PageBytes;
    }

    /// <summary>Gets the position of the next record.</summary>
    public long Position { get; private set; }

    /// <summary>Gets the length of the file so far, in bytes.</summary>
    public long Bytes => _offset + _buffered;

    public void Append(LogKind kind, uint collection, ReadOnlySpan<byte> body)
    {
        int bytes = (int)LogRecord.SizeOf(body.Length);
        if (bytes > _buffer.Length - _buffered)
        {
            WriteBuffer();
        }

        if (bytes <= _buffer.Length)
        {
            LogRecord.Write(_buffer.AsSpan(_buffered), _salt, Position, kind, collection, place: 0, body);
            _buffered += bytes;
        }
        else
        {
            AppendLong(kind, collection, body, bytes);
        }

        Position += bytes;
    }

    /// <summary>Writes the rest of the file and returns when everything is durable.</summary>
    public void Finish()
    {
        WriteBuffer();
        _file.FlushData();
    }

    private void AppendLong(LogKind kind, uint collection, ReadOnlySpan<byte> body, int bytes)
    {
        LogRecord.WriteHeader(_buffer, _salt, Position, kind, collection, place: 0, body.Length, LogRecord.SumOf(body));
        _file.Write(_offset, _buffer.AsSpan(0, LogRecord.HeaderBytes));
        _file.Write(_offset + LogRecord.HeaderBytes, body);
        int padding = bytes - LogRecord.HeaderBytes - body.Length;
        if (padding > 0)
        {
            Span<byte> zeros = stackalloc byte[LogRecord.Alignment];
            zeros.Clear();
            _file.Write(_offset + bytes - padding, zeros[..padding]);
        }

        _offset += bytes;
    }

    private void WriteBuffer()
    {
        if (_buffered > 0)
        {
            _file.Write(_offset, _buffer.AsSpan(0, _buffered));
            _offset += _buffered;
            _buffered = 0;
        }
    }
}
