using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>The kind of a key's values, which decides how a value is checked.</summary>
internal enum DamageKeyKind
{
    /// <summary>The value names the key and the write that created it (<see cref="KillValue"/>).</summary>
    Whole,

    /// <summary>The value has sixteen bytes for each append or prepend, which identify it.</summary>
    Joined,

    /// <summary>The value is a decimal number that each increment raises by one.</summary>
    Number,
}

// The keys that one process writes into a damaged store, with every value that they ever had. A read may return any of these values, because damage
// can restore an earlier value.
internal sealed class DamageValues
{
    public const int Keys = 360;
    private const int FirstJoined = 300;
    private const int FirstNumber = 340;
    private const int JoinedBytes = 16;
    private const int LongKeyBytes = 700;

    private const int KeysPerOwner = 1_000;

    private readonly long[] _begun;
    private readonly int _owner;

    /// <summary>Creates the keys of a process that has written nothing yet.</summary>
    public DamageValues(int owner = 0)
        : this(owner, new long[Keys])
    {
    }

    private DamageValues(int owner, long[] begun)
    {
        _owner = owner;
        _begun = begun;
    }

    /// <summary>Creates the keys of another process. The number of its writes is unknown here, so this is an upper bound.</summary>
    public static DamageValues OfAnother(int owner)
    {
        var begun = new long[Keys];
        Array.Fill(begun, int.MaxValue / 2);
        return new DamageValues(owner, begun);
    }

    public static DamageKeyKind KindOf(int key) =>
        key < FirstJoined ? DamageKeyKind.Whole : key < FirstNumber ? DamageKeyKind.Joined : DamageKeyKind.Number;

    /// <summary>Returns whether a key is in the collection: every fourth key is.</summary>
    public static bool IsInCollection(int key) => key % 4 == 3;

    /// <summary>Returns the name of a key. Names have various lengths; a few are longer than half a segment of a small store.</summary>
    public string NameOf(int key)
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"key:{NumberOf(key):D5}");
        return (key % 50) switch
        {
            7 => name.PadRight(LongKeyBytes * 4, '.'),
            13 or 14 => name.PadRight(LongKeyBytes, '.'),
            < 10 => name.PadRight(40, '.'),
            _ => name,
        };
    }

    public DamageValues Copy() => new(_owner, [.. _begun]);

    /// <summary>Returns the number of a write of the key that is about to begin.</summary>
    public long Begin(int key) => ++_begun[key];

    public byte[] Whole(int key, long sequence, int length, long deadline) =>
        KillValue.Encode(NumberOf(key), sequence, length, deadline);

    public byte[] Joined(int key, long sequence)
    {
        var bytes = new byte[JoinedBytes];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, NumberOf(key));
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(4), (int)sequence);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(8), CheckOf(NumberOf(key), sequence));
        return bytes;
    }

    /// <summary>Returns the fault in a value that was read for a key, or <see langword="null"/> if the key ever had that value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value that was read.</param>
    /// <param name="now">The present time, or <see cref="long.MinValue"/> if expired values are accepted too.</param>
    public string? FaultOf(int key, ReadOnlySpan<byte> value, long now) => KindOf(key) switch
    {
        DamageKeyKind.Joined => FaultOfJoined(key, value),
        DamageKeyKind.Number => FaultOfNumber(key, value),
        _ => FaultOfWhole(key, value, now),
    };

    // The number of the key among the keys of all processes.
    private int NumberOf(int key) => (_owner * KeysPerOwner) + key;

    private string? FaultOfWhole(int key, ReadOnlySpan<byte> value, long now) =>
        KillValue.FaultOf(NumberOf(key), value, out long sequence, out long deadline) is { } fault ? fault
        : sequence < 1 || sequence > _begun[key] ? $"of write {sequence} was never written: the last is {_begun[key]}"
        : deadline <= now ? $"of write {sequence} was read {now - deadline} ms after its expiry"
        : null;

    private string? FaultOfJoined(int key, ReadOnlySpan<byte> value)
    {
        for (int at = 0; at < value.Length; at += JoinedBytes)
        {
            if (value.Length - at < JoinedBytes)
            {
                return $"has {value.Length} bytes, no multiple of {JoinedBytes}";
            }

            int foundKey = BinaryPrimitives.ReadInt32LittleEndian(value[at..]);
            int sequence = BinaryPrimitives.ReadInt32LittleEndian(value[(at + 4)..]);
            if (foundKey != NumberOf(key) || sequence < 1 || sequence > _begun[key]
                || BinaryPrimitives.ReadUInt64LittleEndian(value[(at + 8)..]) != CheckOf(NumberOf(key), sequence))
            {
                return $"of {value.Length} bytes has a part at byte {at} that was never written";
            }
        }

        return null;
    }

    private string? FaultOfNumber(int key, ReadOnlySpan<byte> value)
    {
        string text = Encoding.UTF8.GetString(value);
        return long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long number) && number >= 1 && number <= _begun[key]
            ? null
            : $"'{text}' is no number from 1 to {_begun[key]}";
    }

    private static ulong CheckOf(int number, long sequence) =>
        unchecked(((ulong)sequence * 0x9E37_79B9_7F4A_7C15) ^ ((ulong)(uint)number * 0xC2B2_AE3D_27D4_EB4F) ^ 0x1656_67B1_9E37_79F9);
}
