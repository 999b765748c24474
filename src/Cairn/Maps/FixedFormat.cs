namespace Cairn.Maps;

// Types whose values always have the same number of bytes, little-endian. The compiler evaluates the comparisons of types, so the code for each type is
// only its own load or store.
internal static unsafe class FixedFormat
{
    private const int DateTimeOffsetBytes = sizeof(long) + sizeof(short);
    private const int KindShift = 62;

    /// <summary>Returns the length of each value in bytes, or 0 if the type has no fixed format.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int SizeOf<T>()
    {
        // Types that are not structs come first. Their code is shared, so the comparisons below would be evaluated at run time.
        if (!typeof(T).IsValueType)
        {
            return 0;
        }

        if (IsRaw<T>())
        {
            return Unsafe.SizeOf<T>();
        }

        if (typeof(T) == typeof(bool))
        {
            return sizeof(byte);
        }

        if (typeof(T) == typeof(DateTime) || typeof(T) == typeof(TimeSpan) || typeof(T) == typeof(TimeOnly))
        {
            return sizeof(long);
        }

        if (typeof(T) == typeof(DateOnly))
        {
            return sizeof(int);
        }

        if (typeof(T) == typeof(DateTimeOffset))
        {
            return DateTimeOffsetBytes;
        }

        return typeof(T) == typeof(decimal) ? sizeof(decimal) : 0;
    }

    /// <summary>Writes <see cref="SizeOf"/> bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Write<T>(T value, byte* target)
    {
        if (IsRaw<T>())
        {
            Unsafe.WriteUnaligned(target, value);
        }
        else if (typeof(T) == typeof(bool))
        {
            *target = (bool)(object)value! ? (byte)1 : (byte)0;
        }
        else if (typeof(T) == typeof(DateTime))
        {
            var moment = (DateTime)(object)value!;
            Unsafe.WriteUnaligned(target, (ulong)moment.Ticks | ((ulong)moment.Kind << KindShift));
        }
        else if (typeof(T) == typeof(TimeSpan))
        {
            Unsafe.WriteUnaligned(target, ((TimeSpan)(object)value!).Ticks);
        }
        else if (typeof(T) == typeof(TimeOnly))
        {
            Unsafe.WriteUnaligned(target, ((TimeOnly)(object)value!).Ticks);
        }
        else if (typeof(T) == typeof(DateOnly))
        {
            Unsafe.WriteUnaligned(target, ((DateOnly)(object)value!).DayNumber);
        }
        else if (typeof(T) == typeof(DateTimeOffset))
        {
            var moment = (DateTimeOffset)(object)value!;
            Unsafe.WriteUnaligned(target, moment.UtcTicks);
            Unsafe.WriteUnaligned(target + sizeof(long), (short)moment.TotalOffsetMinutes);
        }
        else
        {
            decimal.GetBits((decimal)(object)value!, new Span<int>(target, sizeof(decimal) / sizeof(int)));
        }
    }

    /// <summary>Reads <see cref="SizeOf"/> bytes that <see cref="Write"/> wrote.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static T Read<T>(byte* source)
    {
        if (IsRaw<T>())
        {
            return Unsafe.ReadUnaligned<T>(source);
        }

        if (typeof(T) == typeof(bool))
        {
            return (T)(object)(*source != 0);
        }

        if (typeof(T) == typeof(DateTime))
        {
            ulong bits = Unsafe.ReadUnaligned<ulong>(source);
            return (T)(object)new DateTime((long)(bits & ((1UL << KindShift) - 1)), (DateTimeKind)(bits >> KindShift));
        }

        if (typeof(T) == typeof(TimeSpan))
        {
            return (T)(object)new TimeSpan(Unsafe.ReadUnaligned<long>(source));
        }

        if (typeof(T) == typeof(TimeOnly))
        {
            return (T)(object)new TimeOnly(Unsafe.ReadUnaligned<long>(source));
        }

        if (typeof(T) == typeof(DateOnly))
        {
            return (T)(object)DateOnly.FromDayNumber(Unsafe.ReadUnaligned<int>(source));
        }

        if (typeof(T) == typeof(DateTimeOffset))
        {
            TimeSpan offset = TimeSpan.FromMinutes(Unsafe.ReadUnaligned<short>(source + sizeof(long)));
            return (T)(object)new DateTimeOffset(Unsafe.ReadUnaligned<long>(source) + offset.Ticks, offset);
        }

        return (T)(object)new decimal(new ReadOnlySpan<int>(source, sizeof(decimal) / sizeof(int)));
    }

    // The format of these types is their bytes in memory, and every bit pattern is a valid value.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool IsRaw<T>() =>
        typeof(T) == typeof(int) || typeof(T) == typeof(long) || typeof(T) == typeof(uint) || typeof(T) == typeof(ulong)
        || typeof(T) == typeof(Guid) || typeof(T) == typeof(double) || typeof(T) == typeof(float)
        || typeof(T) == typeof(byte) || typeof(T) == typeof(sbyte) || typeof(T) == typeof(short) || typeof(T) == typeof(ushort)
        || typeof(T) == typeof(char) || typeof(T) == typeof(Half) || typeof(T) == typeof(Int128) || typeof(T) == typeof(UInt128)
        || (typeof(T) == typeof(nint) && sizeof(nint) == sizeof(long)) || (typeof(T) == typeof(nuint) && sizeof(nint) == sizeof(long))
        || typeof(T).IsEnum;
}
