using Cairn.Platform;

namespace Cairn.WriteAhead;

/// <summary>Walks the valid records of one file, from its first one on.</summary>
internal sealed class LogReader : IDisposable
{
    private const int LeastBufferBytes = 1 << 20;

    private readonly StoreFile _file;
    private readonly bool _ownsFile;
    private byte[] _buffer = new byte[LeastBufferBytes];
    private long _bufferOffset;
    private int _bufferBytes;

    private LogReader(StoreFile file, bool ownsFile, in LogFileHeader header)
    {
        _file = file;
        _ownsFile = ownsFile;
        Header = header;
        Position = header.StartPosition;
    }

    public LogFileHeader Header { get; }

    /// <summary>The position of the next record; once there is none, where the file's valid records end.</summary>
    public long Position { get; private set; }

    /// <summary>Where the next record lies in the file.</summary>
    public long Offset => OffsetOf(Header, Position);

    public static long OffsetOf(in LogFileHeader header, long position) =>
        LogFileHeader.PageBytes + (position - header.StartPosition);

    /// <summary>Null if the file's first page is not the header of a file of records.</summary>
    /// <param name="file">Read from now on.</param>
    /// <param name="ownsFile">Whether to dispose of it, also if there is no reader.</param>
    public static LogReader? TryOpen(StoreFile file, bool ownsFile)
    {
        var page = new byte[LogFileHeader.PageBytes];
        int read = file.Read(0, page);
        if (LogFileHeader.TryRead(page.AsSpan(0, read), out LogFileHeader header))
        {
            return new LogReader(file, ownsFile, header);
        }

        if (ownsFile)
        {
            file.Dispose();
        }

        return null;
    }

    /// <summary>Goes on with the record at a position, which must be the beginning of one.</summary>
    public void Seek(long position)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(position, Header.StartPosition);
        Position = position;
    }

    /// <summary>Reads the next record. False at the first that is not valid: everything behind it does not count.</summary>
    /// <param name="record">Valid until the next call.</param>
    public bool TryRead(out LogRecord record)
    {
        record = default;
        ReadOnlySpan<byte> bytes = Have(LogRecord.HeaderBytes);
        int length = LogRecord.BytesAtHeader(bytes, Header.Salt, Position);
        if (length == 0)
        {
            return false;
        }

        if (length > bytes.Length)
        {
            bytes = Have(length);
        }

        if (!LogRecord.TryRead(bytes, Header.Salt, Position, out record))
        {
            return false;
        }

        Position += length;
        return true;
    }

    /// <summary>
    /// Goes on with the nearest place behind the present one where the header of a record is whole. False, with nothing changed, if there is none.
    /// </summary>
    /// <param name="durable">What that header says was on the disk when it was written.</param>
    public bool TrySkip(out long durable)
    {
        long start = Position;
        while (true)
        {
            Position += LogRecord.Alignment;
            ReadOnlySpan<byte> bytes = Have(LogRecord.HeaderBytes);
            if (bytes.Length < LogRecord.HeaderBytes)
            {
                durable = 0;
                Position = start;
                return false;
            }

            if (LogRecord.BytesAtHeader(bytes, Header.Salt, Position) != 0)
            {
                durable = LogRecord.DurableAtHeader(bytes);
                return true;
            }
        }
    }

    /// <summary>Whether anything was ever written where the next record would be.</summary>
    public bool IsAnythingHere()
    {
        ReadOnlySpan<byte> bytes = Have(LogRecord.HeaderBytes);
        return bytes[..Math.Min(bytes.Length, LogRecord.HeaderBytes)].ContainsAnyExcept((byte)0);
    }

    public void Dispose()
    {
        if (_ownsFile)
        {
            _file.Dispose();
        }
    }

    // What the file has from the position on: at least so many bytes, if it has them.
    private ReadOnlySpan<byte> Have(int length)
    {
        long start = Offset - _bufferOffset;
        if (start < 0 || start + length > _bufferBytes)
        {
            if (_buffer.Length < length)
            {
                _buffer = new byte[Math.Max(length, Math.Min(2L * _buffer.Length, LogRecord.MaxBytes))];
            }

            _bufferOffset = Offset;
            _bufferBytes = _file.Read(_bufferOffset, _buffer);
            start = 0;
        }

        return _buffer.AsSpan((int)start, _bufferBytes - (int)start);
    }
}
