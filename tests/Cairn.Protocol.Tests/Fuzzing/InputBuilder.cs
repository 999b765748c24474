namespace Cairn.Protocol;

/// <summary>Combines bytes to an input, and damages inputs.</summary>
internal sealed class InputBuilder
{
    // Bytes that have a meaning in a protocol are more frequent than others.
    private static readonly byte[] Telling = Latin.Bytes("\r\n\r\n\r\n  $*+-:_,#(!=%~>|\"'\\\0\t0123456789kmvx\x80\xFF");

    private byte[] _bytes = new byte[4096];
    private int _length;

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, _length);

    public void Clear() => _length = 0;

    public InputBuilder Add(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(AddSpace(bytes.Length));
        return this;
    }

    public InputBuilder Add(long number)
    {
        Span<byte> text = stackalloc byte[DecimalText.MaxInt64Bytes];
        return Add(text[..DecimalText.Format(number, text)]);
    }

    public void AddTelling(Random random, int count)
    {
        foreach (ref byte value in AddSpace(count))
        {
            value = Telling[random.Next(Telling.Length)];
        }
    }

    public void AddFill(byte value, int count) => AddSpace(count).Fill(value);

    /// <summary>Changes, adds, removes or repeats a few bytes at random positions.</summary>
    public void Spoil(Random random)
    {
        for (int i = random.Next(1, 4); i > 0 && _length > 0; i--)
        {
            int at = random.Next(_length);
            int length = Math.Min(random.Next(1, 9), _length - at);
            switch (random.Next(5))
            {
                case 0:
                    _bytes[at] = Telling[random.Next(Telling.Length)];
                    break;

                case 1:
                    _bytes[at] ^= (byte)(1 << random.Next(8));
                    break;

                case 2:
                    _bytes.AsSpan(at + length, _length - at - length).CopyTo(_bytes.AsSpan(at));
                    _length -= length;
                    break;

                default:
                    AddSpace(length);
                    _bytes.AsSpan(at, _length - length - at).CopyTo(_bytes.AsSpan(at + length));
                    if (random.Next(2) == 0)
                    {
                        _bytes.AsSpan(at, length).Fill(Telling[random.Next(Telling.Length)]);
                    }

                    break;
            }
        }
    }

    private Span<byte> AddSpace(int count)
    {
        while (_length + count > _bytes.Length)
        {
            Array.Resize(ref _bytes, _bytes.Length * 2);
        }

        _length += count;
        return _bytes.AsSpan(_length - count, count);
    }
}
