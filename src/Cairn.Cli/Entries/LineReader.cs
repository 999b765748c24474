namespace Cairn.Cli.Entries;

/// <summary>Reads a stream line by line, as bytes with line numbers. Skips a line that is too long without keeping it in memory.</summary>
internal sealed class LineReader(Stream stream, int longestLineBytes)
{
    private const int FirstBufferBytes = 256 * 1024;
    private static readonly byte[] ByteOrderMark = [0xEF, 0xBB, 0xBF];

    private byte[] _buffer = new byte[FirstBufferBytes];
    private int _start;
    private int _end;
    private bool _isAtEnd;

    /// <summary>Gets the number of the last line that was read; the first is 1.</summary>
    public long Number { get; private set; }

    /// <summary>Gets the size in bytes of all lines that were read, with their line ends.</summary>
    public long BytesRead { get; private set; }

    /// <summary>Reads a line, without its line feed.</summary>
    /// <param name="line">The line, valid until the next call; empty if it is too long.</param>
    /// <param name="isTooLong">True if the line is longer than any entry.</param>
    /// <returns>False at the end of the stream.</returns>
    public bool TryRead(out ReadOnlySpan<byte> line, out bool isTooLong)
    {
        isTooLong = false;
        line = default;
        int searched = 0;
        while (true)
        {
            int length = _buffer.AsSpan(_start + searched, _end - _start - searched).IndexOf((byte)'\n');
            if (length >= 0 || (_isAtEnd && _end > _start))
            {
                length = length >= 0 ? length + searched : _end - _start;
                line = isTooLong ? default : WithoutMark(_buffer.AsSpan(_start, length));
                Take(Math.Min(length + 1, _end - _start));
                Number++;
                return true;
            }

            if (_isAtEnd)
            {
                Number += isTooLong ? 1 : 0;
                return isTooLong;
            }

            searched = _end - _start;
            if (searched > longestLineBytes)
            {
                isTooLong = true;
                Take(searched);
                searched = 0;
            }

            Fill();
        }
    }

    private ReadOnlySpan<byte> WithoutMark(ReadOnlySpan<byte> line) =>
        Number == 0 && line.StartsWith(ByteOrderMark) ? line[ByteOrderMark.Length..] : line;

    private void Take(int bytes)
    {
        _start += bytes;
        BytesRead += bytes;
    }

    private void Fill()
    {
        if (_start > 0)
        {
            _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
            _end -= _start;
            _start = 0;
        }

        if (_end == _buffer.Length)
        {
            Array.Resize(ref _buffer, (int)Math.Min(_buffer.Length * 2L, Array.MaxLength));
        }

        int read = stream.Read(_buffer, _end, _buffer.Length - _end);
        _isAtEnd = read == 0;
        _end += read;
    }
}
