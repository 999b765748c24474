namespace Cairn.Protocol.Memcached;

// Splits a command line into words. As in memcached, it finds at most 23 words and ignores the text after them.
internal ref struct LineTokens
{
    public const int MaxCount = 23;

    private readonly ReadOnlySpan<byte> _line;
    private Words _words;

    public LineTokens(ReadOnlySpan<byte> line)
    {
        _line = line;
        int position = 0;
        while (Count < MaxCount)
        {
            while (position < line.Length && line[position] == ' ')
            {
                position++;
            }

            if (position == line.Length)
            {
                return;
            }

            int length = line[position..].IndexOf((byte)' ');
            int end = length < 0 ? line.Length : position + length;
            _words[Count++] = new ByteRange(position, end - position);
            position = end;
        }
    }

    public int Count { get; private set; }

    public readonly ReadOnlySpan<byte> this[int index] => _words[index].Of(_line);

    public readonly ReadOnlySpan<byte> Last => this[Count - 1];

    public readonly ByteRange RangeOf(int index) => _words[index];

    // Returns the range from this word to the last one; empty if there is no such word.
    public readonly ByteRange RangeFrom(int first) =>
        first >= Count ? default : new ByteRange(_words[first].Offset, _words[Count - 1].End - _words[first].Offset);

    [InlineArray(MaxCount)]
    private struct Words
    {
        private ByteRange _first;
    }
}
