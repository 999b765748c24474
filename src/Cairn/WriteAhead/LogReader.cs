using Cairn.Platform;

namespace Cairn.WriteAhead;

/// <summary>Reads the valid records of one file, one after the other, from the first.</summary>
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

    /// <summary>Gets the position of the next record. After the last valid record, the position where it ends.</summary>
    public long Position { get; private set; }

    /// <summary>Gets the offset of the next record in the file.</summary>
    public long Offset => OffsetOf(Header, Position);

    public static long OffsetOf(in LogFileHeader header, long position) =>
        LogFileHeader.PageBytes + (position - header.StartPosition);

    /// <summary>Creates a reader. Returns null if the file's first page is not the header of a file of records.</summary>
    /// <param name="file">The file to read.</param>
    /// <param name="ownsFile">True to dispose the file with the reader, and also if no reader is created.</param>
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

    /// <summary>Moves to the record at a position. A record must begin there.</summary>
    public void Seek(long position)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(position, Header.StartPosition);
        Position = position;
    }

    /// <summary>Reads the next record. Returns false at the first record that is not valid. Everything after it does not count.</summary>
    /// <param name="record">The record. It is valid until the next call.</param>
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
    /// Moves forward to the next place with a valid record header. Returns false, without a move, if there is none.
    /// </summary>
    /// <param name="durable">The position up to which the log was durable when that header was written, according to the header.</param>
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

    /// <summary>Returns whether there are any bytes other than zero where the next record would be.</summary>
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

    // Returns the bytes of the file from the position on: at least the given number, if the file has them.
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
