namespace Cairn.Caching.Serialization;

/// <summary>The tags and stamps in an envelope that was read, without allocated objects. Checked when the envelope was read.</summary>
internal readonly struct EnvelopeTags(ReadOnlyMemory<byte> bytes, int count)
{
    /// <summary>The bytes of a tag without its name: the stamp and the length of the name.</summary>
    public const int FixedBytes = sizeof(ulong) + sizeof(ushort);

    private readonly ReadOnlyMemory<byte> _bytes = bytes;

    public int Count { get; } = count;

    public Enumerator GetEnumerator() => new(_bytes.Span, Count);

    /// <summary>Enumerates the tags.</summary>
    internal ref struct Enumerator(ReadOnlySpan<byte> bytes, int count)
    {
        private ReadOnlySpan<byte> _rest = bytes;
        private int _left = count;

        public EnvelopeTag Current { get; private set; }

        public bool MoveNext()
        {
            if (_left == 0)
            {
                return false;
            }

            int nameBytes = BinaryPrimitives.ReadUInt16LittleEndian(_rest[sizeof(ulong)..]);
            Current = new(_rest.Slice(FixedBytes, nameBytes), BinaryPrimitives.ReadUInt64LittleEndian(_rest));
            _rest = _rest[(FixedBytes + nameBytes)..];
            _left--;
            return true;
        }
    }
}

/// <summary>One tag of an envelope: its name in UTF-8, and its stamp when the value was created.</summary>
internal readonly ref struct EnvelopeTag(ReadOnlySpan<byte> nameUtf8, ulong stamp)
{
    public ReadOnlySpan<byte> NameUtf8 { get; } = nameUtf8;

    public ulong Stamp { get; } = stamp;

    public string Name => Encoding.UTF8.GetString(NameUtf8);
}
