using System.Security.Cryptography;
using Cairn.Caching.Hashing;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Records;

// The records of a DistributedLevel in an IDistributedCache, under keys that begin with the cache's name:
//
//   NAME:k:KEY   value  | era 8 | envelope                 |
//   NAME:t:TAG   stamp  | era 8 | state of the tag | check 8 |  (TagState)
//   NAME:era     era    | era 8 | check 8                  |
//
// All numbers are little-endian, random, and never 0. A check is a hash of the key's text and the bytes before it. An envelope has a
// checksum of its own.
//
//   I1  An entry is valid only if its era is the one under NAME:era. Clearing writes a new random number there, after which all older
//       entries count as missing: the entries of an IDistributedCache cannot be listed.
//   I2  A lost or damaged stamp or era is replaced by a new random one, which invalidates more than needed and keeps no stale entry.
internal sealed class DistributedRecords
{
    public const int EraBytes = 8;
    private const int CheckBytes = 8;
    private const int EraRecordBytes = 16;
    private const ulong CheckSeed = 0x43_61_69_72_6E_4C_32_01;

    [ThreadStatic]
    private static ValueKeyMemory? t_lastValueKey;

    private readonly string _valuePrefix;
    private readonly string _stampPrefix;

    public DistributedRecords(string name)
    {
        // A colon is escaped, because one inside a name could make keys of two caches equal.
        KeyPrefix = $"{Uri.EscapeDataString(name)}:";
        _valuePrefix = $"{KeyPrefix}k:";
        _stampPrefix = $"{KeyPrefix}t:";
        EraKey = $"{KeyPrefix}era";
    }

    public string KeyPrefix { get; }

    public string EraKey { get; }

    /// <summary>Returns the key of a value. The steps of a call use the same one, so each thread remembers its last.</summary>
    public string ValueKey(string key)
    {
        if (t_lastValueKey is { } last && ReferenceEquals(last.Key, key) && ReferenceEquals(last.Records, this))
        {
            return last.Text;
        }

        last = t_lastValueKey ??= new ValueKeyMemory();
        (last.Records, last.Key, last.Text) = (this, key, string.Concat(_valuePrefix, key));
        return last.Text;
    }

    public string StampKey(string tag) => string.Concat(_stampPrefix, tag);

    /// <summary>Returns whether this is the key of a value, and the cache's key for it.</summary>
    public bool IsValueKey(string text, out ReadOnlySpan<char> key) => IsUnder(_valuePrefix, text, out key);

    /// <summary>Returns whether this is the key of a stamp, and the stamp's tag.</summary>
    public bool IsStampKey(string text, out ReadOnlySpan<char> tag) => IsUnder(_stampPrefix, text, out tag);

    /// <summary>Returns a new random number that is not 0.</summary>
    public static ulong NewNumber()
    {
        Span<byte> bytes = stackalloc byte[8];
        ulong number;
        do
        {
            RandomNumberGenerator.Fill(bytes);
            number = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
        }
        while (number == 0);
        return number;
    }

    public static byte[] Value(ulong era, ReadOnlySpan<byte> envelope)
    {
        byte[] record = new byte[EraBytes + envelope.Length];
        BinaryPrimitives.WriteUInt64LittleEndian(record, era);
        envelope.CopyTo(record.AsSpan(EraBytes));
        return record;
    }

    /// <summary>
    /// Returns the length of what comes before the payload in a value: the era, and the envelope's header and fields. 0 for bytes that are no value.
    /// </summary>
    public static int HeadBytes(ReadOnlySpan<byte> record)
    {
        int envelopeHead = record.Length < EraBytes ? 0 : Envelope.HeadBytes(record[EraBytes..]);
        return envelopeHead == 0 ? 0 : EraBytes + envelopeHead;
    }

    public static byte[] Stamp(string stampKey, ulong era, TagState state)
    {
        byte[] record = [.. stackalloc byte[EraBytes], .. state.ToBytes(), .. stackalloc byte[CheckBytes]];
        BinaryPrimitives.WriteUInt64LittleEndian(record, era);
        return WithCheck(stampKey, record);
    }

    public static byte[] Era(string eraKey, ulong era)
    {
        byte[] record = new byte[EraRecordBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(record, era);
        return WithCheck(eraKey, record);
    }

    /// <summary>Returns the era of a value; 0 if the record is too short to be one.</summary>
    public static ulong EraOf(ReadOnlySpan<byte> record) => record.Length < EraBytes ? 0 : BinaryPrimitives.ReadUInt64LittleEndian(record);

    /// <summary>Reads a stamp. Returns false if <see cref="Stamp"/> did not write these bytes for the key.</summary>
    public static bool TryReadStamp(string stampKey, ReadOnlySpan<byte> record, out ulong era, out TagState state)
    {
        era = 0;
        state = default;
        if (record.Length < EraBytes + TagState.StampBytes + CheckBytes || !HasCheck(stampKey, record))
        {
            return false;
        }

        era = BinaryPrimitives.ReadUInt64LittleEndian(record);
        return TagState.TryRead(record[EraBytes..^CheckBytes], out state) && era != 0;
    }

    /// <summary>Reads an era. Returns false if <see cref="Era"/> did not write these bytes for the key.</summary>
    public static bool TryReadEra(string eraKey, ReadOnlySpan<byte> record, out ulong era)
    {
        era = 0;
        if (record.Length != EraRecordBytes || !HasCheck(eraKey, record))
        {
            return false;
        }

        era = BinaryPrimitives.ReadUInt64LittleEndian(record);
        return era != 0;
    }

    private sealed class ValueKeyMemory
    {
        public DistributedRecords? Records;
        public string Key = "";
        public string Text = "";
    }

    private static bool IsUnder(string prefix, string text, out ReadOnlySpan<char> rest)
    {
        bool isUnder = text.StartsWith(prefix, StringComparison.Ordinal);
        rest = isUnder ? text.AsSpan(prefix.Length) : default;
        return isUnder;
    }

    private static byte[] WithCheck(string key, byte[] record)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(record.AsSpan(record.Length - 8), Check(key, record.AsSpan(0, record.Length - 8)));
        return record;
    }

    private static bool HasCheck(string key, ReadOnlySpan<byte> record) =>
        BinaryPrimitives.ReadUInt64LittleEndian(record[^8..]) == Check(key, record[..^8]);

    private static ulong Check(string key, ReadOnlySpan<byte> bytes) => Hash64.Of(bytes, Hash64.Of(key, CheckSeed));
}
