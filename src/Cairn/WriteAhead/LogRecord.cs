using Cairn.Indexing;

namespace Cairn.WriteAhead;

// One record of a log, a snapshot or a backup:
//
//    0  bytes of the whole record     u32      16  place       u64       28  body's length    u32
//    4  checksum                      u32      24  body's sum  u32       32  collection       u32
//    8  position                      i64                                36  kind u8, lag u24
//   40  body, padded with zeros to a multiple of 8
//
//   I1  The checksum covers the header without the checksum itself, and the file's salt. The header contains the position and the body's sum.
//       So a record is valid only in the file and at the place for which it was written.
//   I2  A record is completely in one file.
//   I3  The lag says how far below its position the log was durable when the record was written: 1 + (position - durable) / 8, or 0 for no
//       statement. A flush had returned for everything below that point. So an incomplete record below it is damage, not a torn tail.
//
// The body's sum has no seed, so that it can be computed before the position is known.
internal readonly ref struct LogRecord
{
    public const int HeaderBytes = 40;
    public const int Alignment = 8;
    public const uint AllCollections = uint.MaxValue;

    /// <summary>The longest record in bytes. A value of 64 MiB with the longest key fits several times.</summary>
    public const int MaxBytes = 256 << 20;

    private const int BytesAt = 0;
    private const int ChecksumAt = 4;
    private const int PositionAt = 8;
    private const int PlaceAt = 16;
    private const int BodySumAt = 24;
    private const int BodyLengthAt = 28;
    private const int CollectionAt = 32;
    private const int KindAt = 36;
    private const int LagShift = 8;
    private const long MostLag = (1 << 24) - 1;

    public long Position { get; init; }

    public LogKind Kind { get; init; }

    public uint Collection { get; init; }

    /// <summary>Gets, for a put, the place of the entry in the map, for a redo in the same map. It has no meaning in another map.</summary>
    public long Place { get; init; }

    public ReadOnlySpan<byte> Body { get; init; }

    /// <summary>
    /// Gets the position below which everything was durable when the record was written (I3). 0 if the record has no statement about it.
    /// </summary>
    public long Durable { get; init; }

    /// <summary>Gets the length of the whole record in its file, in bytes.</summary>
    public int Bytes => (int)SizeOf(Body.Length);

    public long End => Position + Bytes;

    /// <summary>Returns the length in bytes of a record with a body of the given length.</summary>
    public static long SizeOf(long bodyBytes) => (HeaderBytes + bodyBytes + (Alignment - 1)) & ~(long)(Alignment - 1);

    public static unsafe uint SumOf(ReadOnlySpan<byte> body)
    {
        fixed (byte* bytes = body)
        {
            return ValueChecksum.Compute(bytes, body.Length, 0);
        }
    }

    /// <summary>Writes the header for a body that the caller writes behind it. <paramref name="durable"/> is the position of I3.</summary>
    public static void WriteHeader(
        Span<byte> target, ulong salt, long position, LogKind kind, uint collection, long place, int bodyBytes, uint bodySum, long durable = 0)
    {
        target = target[..HeaderBytes];
        Put(target, BytesAt, (uint)SizeOf(bodyBytes));
        Put(target, PositionAt, position);
        Put(target, PlaceAt, place);
        Put(target, BodySumAt, bodySum);
        Put(target, BodyLengthAt, (uint)bodyBytes);
        Put(target, CollectionAt, collection);
        Put(target, KindAt, (uint)kind | (LagOf(position, durable) << LagShift));
        Put(target, ChecksumAt, ChecksumOf(target, salt));
    }

    /// <summary>Writes a whole record. Returns its length in bytes.</summary>
    public static int Write(
        Span<byte> target, ulong salt, long position, LogKind kind, uint collection, long place, ReadOnlySpan<byte> body, long durable = 0)
    {
        int bytes = (int)SizeOf(body.Length);
        WriteHeader(target, salt, position, kind, collection, place, body.Length, SumOf(body), durable);
        body.CopyTo(target[HeaderBytes..]);
        target[(HeaderBytes + body.Length)..bytes].Clear();
        return bytes;
    }

    /// <summary>Returns the length in bytes of the record that begins here, or 0 if its header is not valid.</summary>
    public static int BytesAtHeader(ReadOnlySpan<byte> source, ulong salt, long position)
    {
        if (source.Length < HeaderBytes)
        {
            return 0;
        }

        uint bytes = Get<uint>(source, BytesAt);
        uint bodyBytes = Get<uint>(source, BodyLengthAt);
        return bodyBytes <= MaxBytes && bytes <= MaxBytes && bytes == SizeOf(bodyBytes)
            && Get<long>(source, PositionAt) == position
            && Get<uint>(source, ChecksumAt) == ChecksumOf(source[..HeaderBytes], salt)
            ? (int)bytes
            : 0;
    }

    /// <summary>Returns the durable position (I3) from a valid header. The body need not be valid.</summary>
    public static long DurableAtHeader(ReadOnlySpan<byte> source) => DurableOf(Get<long>(source, PositionAt), Get<uint>(source, KindAt) >> LagShift);

    /// <summary>Reads the record at <paramref name="position"/>. Returns false if there is none, or if it is not valid.</summary>
    public static bool TryRead(ReadOnlySpan<byte> source, ulong salt, long position, out LogRecord record)
    {
        record = default;
        int bytes = BytesAtHeader(source, salt, position);
        if (bytes == 0 || bytes > source.Length)
        {
            return false;
        }

        record = Parse(source);
        return SumOf(record.Body) == Get<uint>(source, BodySumAt);
    }

    /// <summary>Returns the puts and removals of a transaction.</summary>
    public OperationEnumerator GetEnumerator() => new(Body, Position);

    private static LogRecord Parse(ReadOnlySpan<byte> source) => new()
    {
        Position = Get<long>(source, PositionAt),
        Kind = (LogKind)source[KindAt],
        Collection = Get<uint>(source, CollectionAt),
        Place = Get<long>(source, PlaceAt),
        Body = source.Slice(HeaderBytes, (int)Get<uint>(source, BodyLengthAt)),
        Durable = DurableAtHeader(source),
    };

    private static uint LagOf(long position, long durable)
    {
        long lag = 1 + ((position - durable) / Alignment);
        return durable > 0 && lag is > 0 and <= MostLag ? (uint)lag : 0;
    }

    private static long DurableOf(long position, uint lag) => lag == 0 ? 0 : position - ((lag - 1L) * Alignment);

    // The whole salt is in the seed. The position is covered because it is a part of the header.
    private static unsafe uint ChecksumOf(ReadOnlySpan<byte> header, ulong salt)
    {
        byte* copy = stackalloc byte[HeaderBytes];
        header[..HeaderBytes].CopyTo(new Span<byte>(copy, HeaderBytes));
        Unsafe.WriteUnaligned(copy + ChecksumAt, 0);
        ulong sum = KeyHash.Compute(copy, HeaderBytes, salt);
        return (uint)(sum ^ (sum >> 32));
    }

    private static void Put<T>(Span<byte> target, int at, T value)
        where T : unmanaged =>
        System.Runtime.InteropServices.MemoryMarshal.Write(target[at..], in value);

    private static T Get<T>(ReadOnlySpan<byte> source, int at)
        where T : unmanaged =>
        System.Runtime.InteropServices.MemoryMarshal.Read<T>(source[at..]);

    /// <summary>Enumerates the records in the body of a transaction. Their headers have no salt; the checksum of the transaction covers them.</summary>
    public ref struct OperationEnumerator
    {
        private readonly ReadOnlySpan<byte> _body;
        private readonly long _position;
        private int _at;

        internal OperationEnumerator(ReadOnlySpan<byte> body, long position)
        {
            _body = body;
            _position = position;
        }

        public LogRecord Current { get; private set; }

        public bool MoveNext()
        {
            ReadOnlySpan<byte> rest = _body[_at..];
            int bytes = BytesAtHeader(rest, 0, _at);
            if (bytes == 0 || bytes > rest.Length)
            {
                return false;
            }

            LogRecord inner = Parse(rest);
            Current = new LogRecord
            {
                Position = _position,
                Kind = inner.Kind,
                Collection = inner.Collection,
                Place = inner.Place,
                Body = inner.Body,
            };
            _at += bytes;
            return true;
        }
    }
}
