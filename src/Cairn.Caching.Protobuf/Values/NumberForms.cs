using System.Runtime.InteropServices;

namespace Cairn.Caching.Protobuf.Values;

// The messages of protobuf-net for the framework's types (its bcl.proto), and Google's messages for times.

/// <summary>bcl.Guid: the first and the last eight bytes, little-endian.</summary>
internal readonly struct GuidForm : INumberForm<Guid>
{
    public static bool IsFixed => true;

    public static Numbers ToNumbers(Guid value)
    {
        Span<byte> bytes = stackalloc byte[16];
        value.TryWriteBytes(bytes);
        return new Numbers(System.Buffers.Binary.BinaryPrimitives.ReadUInt64LittleEndian(bytes), System.Buffers.Binary.BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));
    }

    public static Guid FromNumbers(in Numbers numbers)
    {
        Span<byte> bytes = stackalloc byte[16];
        System.Buffers.Binary.BinaryPrimitives.WriteUInt64LittleEndian(bytes, numbers.First);
        System.Buffers.Binary.BinaryPrimitives.WriteUInt64LittleEndian(bytes[8..], numbers.Second);
        return new Guid(bytes);
    }

    public static bool IsZero(Guid value) => value == Guid.Empty;
}

/// <summary>bcl.Decimal: the lower 64 bits, the upper 32 bits, and the number of decimal places combined with the sign.</summary>
internal readonly struct DecimalForm : INumberForm<decimal>
{
    private const ulong MostPlaces = 28;

    public static Numbers ToNumbers(decimal value)
    {
        Span<int> bits = stackalloc int[4];
        decimal.GetBits(value, bits);
        ulong low = ((ulong)(uint)bits[1] << 32) | (uint)bits[0];
        ulong places = ((uint)bits[3] >> 16) & 0xFF;
        ulong sign = (uint)bits[3] >> 31;
        return new Numbers(low, (uint)bits[2], (places << 1) | sign);
    }

    public static decimal FromNumbers(in Numbers numbers)
    {
        ulong places = numbers.Third >> 1;
        if (numbers.Second > uint.MaxValue || places > MostPlaces)
        {
            throw new InvalidDataException("What was stored is no decimal number.");
        }

        return new decimal((int)(uint)numbers.First, (int)(uint)(numbers.First >> 32), (int)(uint)numbers.Second, (numbers.Third & 1) != 0, (byte)places);
    }

    // A zero with decimal places differs from the zero of a missing field.
    public static bool IsZero(decimal value)
    {
        Numbers numbers = ToNumbers(value);
        return numbers == default;
    }
}

/// <summary>bcl.TimeSpan: a number of units, and the largest unit of which it is a whole number.</summary>
internal readonly struct TimeSpanForm : INumberForm<TimeSpan>
{
    public static Numbers ToNumbers(TimeSpan value) => ScaledTicks.Pack(value.Ticks, kind: 0);

    public static TimeSpan FromNumbers(in Numbers numbers) => new(ScaledTicks.Unpack(numbers));

    public static bool IsZero(TimeSpan value) => value.Ticks == 0;
}

/// <summary>bcl.DateTime: the time since 1970 as <see cref="TimeSpanForm"/>, and the kind unless it is unspecified.</summary>
internal readonly struct DateTimeForm : INumberForm<DateTime>
{
    public static Numbers ToNumbers(DateTime value) =>
        ScaledTicks.Pack(
            value.Ticks == 0 ? long.MinValue : value.Ticks == DateTime.MaxValue.Ticks ? long.MaxValue : value.Ticks - DateTime.UnixEpoch.Ticks,
            (ulong)value.Kind);

    public static DateTime FromNumbers(in Numbers numbers)
    {
        long ticks = ScaledTicks.Unpack(numbers);
        DateTimeKind kind = numbers.Third <= (ulong)DateTimeKind.Local ? (DateTimeKind)numbers.Third : DateTimeKind.Unspecified;
        return ticks switch
        {
            long.MinValue => new DateTime(0, kind),
            long.MaxValue => new DateTime(DateTime.MaxValue.Ticks, kind),
            _ => new DateTime(checked(ticks + DateTime.UnixEpoch.Ticks), kind),
        };
    }

    // A missing field keeps the default of the constructor, which is the first moment with an unspecified kind.
    public static bool IsZero(DateTime value) => value.Ticks == 0 && value.Kind == DateTimeKind.Unspecified;
}

/// <summary>The local time in the form of <see cref="DateTimeForm"/>, with the minutes of the offset as field 4.</summary>
internal readonly struct DateTimeOffsetForm : INumberForm<DateTimeOffset>
{
    public static Numbers ToNumbers(DateTimeOffset value) =>
        DateTimeForm.ToNumbers(value.DateTime) with { Fourth = ScaledTicks.ZigZag(value.Offset.Ticks / TimeSpan.TicksPerMinute) };

    public static DateTimeOffset FromNumbers(in Numbers numbers) => new(
        DateTime.SpecifyKind(DateTimeForm.FromNumbers(numbers), DateTimeKind.Unspecified), TimeSpan.FromMinutes(ScaledTicks.UnZigZag(numbers.Fourth)));

    public static bool IsZero(DateTimeOffset value) => value.Ticks == 0 && value.Offset == TimeSpan.Zero;
}

/// <summary>google.protobuf.Timestamp: seconds and nanoseconds since 1970 in UTC.</summary>
internal readonly struct TimestampForm : INumberForm<DateTime>
{
    public static Numbers ToNumbers(DateTime value)
    {
        // A time of unspecified kind is treated as UTC.
        long ticks = (value.Kind == DateTimeKind.Local ? value.ToUniversalTime() : value).Ticks - DateTime.UnixEpoch.Ticks;
        (long seconds, long rest) = Math.DivRem(ticks, TimeSpan.TicksPerSecond);
        return rest < 0
            ? new Numbers((ulong)(seconds - 1), (ulong)((rest + TimeSpan.TicksPerSecond) * TimeSpan.NanosecondsPerTick))
            : new Numbers((ulong)seconds, (ulong)(rest * TimeSpan.NanosecondsPerTick));
    }

    public static DateTime FromNumbers(in Numbers numbers) => new(
        checked((unchecked((long)numbers.First) * TimeSpan.TicksPerSecond) + (unchecked((int)numbers.Second) / TimeSpan.NanosecondsPerTick) + DateTime.UnixEpoch.Ticks),
        DateTimeKind.Utc);

    public static bool IsZero(DateTime value) => value.Ticks == 0;
}

/// <summary>google.protobuf.Duration: seconds and nanoseconds, both of the same sign.</summary>
internal readonly struct DurationForm : INumberForm<TimeSpan>
{
    public static Numbers ToNumbers(TimeSpan value)
    {
        (long seconds, long rest) = Math.DivRem(value.Ticks, TimeSpan.TicksPerSecond);
        return new Numbers((ulong)seconds, (ulong)(rest * TimeSpan.NanosecondsPerTick));
    }

    public static TimeSpan FromNumbers(in Numbers numbers) =>
        new(checked((unchecked((long)numbers.First) * TimeSpan.TicksPerSecond) + (unchecked((int)numbers.Second) / TimeSpan.NanosecondsPerTick)));

    public static bool IsZero(TimeSpan value) => value.Ticks == 0;
}

/// <summary>Expresses ticks in the largest unit that divides them: fields 1 and 2 of bcl.TimeSpan and bcl.DateTime.</summary>
[StructLayout(LayoutKind.Auto)]
internal static class ScaledTicks
{
    private const ulong TicksScale = 5;
    private const ulong MinMaxScale = 15;

    private static readonly long[] Units =
    [
        TimeSpan.TicksPerDay, TimeSpan.TicksPerHour, TimeSpan.TicksPerMinute, TimeSpan.TicksPerSecond, TimeSpan.TicksPerMillisecond, 1,
    ];

    public static Numbers Pack(long ticks, ulong kind)
    {
        if (ticks is long.MinValue or long.MaxValue)
        {
            return new Numbers(ZigZag(ticks == long.MinValue ? -1 : 1), MinMaxScale, kind);
        }

        ulong scale = 0;
        while (ticks % Units[scale] != 0)
        {
            scale++;
        }

        return ticks == 0 ? new Numbers(0, 0, kind) : new Numbers(ZigZag(ticks / Units[scale]), scale, kind);
    }

    public static long Unpack(in Numbers numbers)
    {
        long value = UnZigZag(numbers.First);
        return numbers.Second switch
        {
            <= TicksScale => checked(value * Units[numbers.Second]),
            MinMaxScale when value is 1 or -1 => value == 1 ? long.MaxValue : long.MinValue,
            _ => throw new InvalidDataException("What was stored is no time."),
        };
    }

    public static ulong ZigZag(long value) => (ulong)((value << 1) ^ (value >> 63));

    public static long UnZigZag(ulong value) => (long)(value >> 1) ^ -(long)(value & 1);
}
