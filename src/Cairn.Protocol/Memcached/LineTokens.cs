using System.Runtime.CompilerServices;

namespace Cairn.Protocol.Memcached;

// The words of a command line. As in memcached, no more than 23 are told apart; what follows them counts for nothing.
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

    // From the first to the last of them; empty if there are none.
    public readonly ByteRange RangeFrom(int first) =>
        first >= Count ? default : new ByteRange(_words[first].Offset, _words[Count - 1].End - _words[first].Offset);

    [InlineArray(MaxCount)]
    private struct Words
    {
        private ByteRange _first;
    }
}
