namespace Cairn.Caching.Serialization;

// The codecs of the framework's small immutable values: numbers, times, Guid and enumerations, also as nullable types. They need no
// metadata, so they work without registration where reflection is off, and take a few bytes instead of text.
internal static class FixedCodecs
{
    private static readonly Dictionary<Type, object> Known = Create();

    /// <summary>Returns the codec of the type; null if the type is not one of these.</summary>
    public static Codec<T>? Find<T>()
    {
        if (Known.TryGetValue(typeof(T), out object? codec))
        {
            return (Codec<T>)codec;
        }

        if (typeof(T).IsEnum)
        {
            return new EnumCodec<T>();
        }

        return Nullable.GetUnderlyingType(typeof(T)) is { IsEnum: true } type ? new NullableEnumCodec<T>(type) : null;
    }

    private static Dictionary<Type, object> Create()
    {
        var known = new Dictionary<Type, object>();
        Add(known, 1, static (target, value) => target[0] = value ? (byte)1 : (byte)0, static source => source[0] switch
        {
            0 => false,
            1 => true,
            _ => throw new InvalidDataException("A bool is neither 0 nor 1."),
        });
        Add<byte>(known, 1, static (target, value) => target[0] = value, static source => source[0]);
        Add<sbyte>(known, 1, static (target, value) => target[0] = (byte)value, static source => (sbyte)source[0]);
        Add(known, 2, BinaryPrimitives.WriteInt16LittleEndian, BinaryPrimitives.ReadInt16LittleEndian);
        Add(known, 2, BinaryPrimitives.WriteUInt16LittleEndian, BinaryPrimitives.ReadUInt16LittleEndian);
        Add(known, 4, BinaryPrimitives.WriteInt32LittleEndian, BinaryPrimitives.ReadInt32LittleEndian);
        Add(known, 4, BinaryPrimitives.WriteUInt32LittleEndian, BinaryPrimitives.ReadUInt32LittleEndian);
        Add(known, 8, BinaryPrimitives.WriteInt64LittleEndian, BinaryPrimitives.ReadInt64LittleEndian);
        Add(known, 8, BinaryPrimitives.WriteUInt64LittleEndian, BinaryPrimitives.ReadUInt64LittleEndian);
        Add(known, 16, BinaryPrimitives.WriteInt128LittleEndian, BinaryPrimitives.ReadInt128LittleEndian);
        Add(known, 16, BinaryPrimitives.WriteUInt128LittleEndian, BinaryPrimitives.ReadUInt128LittleEndian);
        Add(known, 2, BinaryPrimitives.WriteHalfLittleEndian, BinaryPrimitives.ReadHalfLittleEndian);
        Add(known, 4, BinaryPrimitives.WriteSingleLittleEndian, BinaryPrimitives.ReadSingleLittleEndian);
        Add(known, 8, BinaryPrimitives.WriteDoubleLittleEndian, BinaryPrimitives.ReadDoubleLittleEndian);
        Add(
            known,
            2,
            static (target, value) => BinaryPrimitives.WriteUInt16LittleEndian(target, value),
            static source => (char)BinaryPrimitives.ReadUInt16LittleEndian(source));
        Add(known, 16, WriteDecimal, ReadDecimal);
        Add(known, 16, static (target, value) => value.TryWriteBytes(target), static source => new Guid(source));
        Add(
            known,
            8,
            static (target, value) => BinaryPrimitives.WriteInt64LittleEndian(target, value.Ticks),
            static source => new TimeSpan(BinaryPrimitives.ReadInt64LittleEndian(source)));

        // The Kind is kept. A local time means the same moment in a process with another time zone.
        Add(
            known,
            8,
            static (target, value) => BinaryPrimitives.WriteInt64LittleEndian(target, value.ToBinary()),
            static source => DateTime.FromBinary(BinaryPrimitives.ReadInt64LittleEndian(source)));
        Add(known, 10, WriteDateTimeOffset, ReadDateTimeOffset);
        Add(
            known,
            4,
            static (target, value) => BinaryPrimitives.WriteInt32LittleEndian(target, value.DayNumber),
            static source => DateOnly.FromDayNumber(BinaryPrimitives.ReadInt32LittleEndian(source)));
        Add(
            known,
            8,
            static (target, value) => BinaryPrimitives.WriteInt64LittleEndian(target, value.Ticks),
            static source => new TimeOnly(BinaryPrimitives.ReadInt64LittleEndian(source)));
        known.Add(typeof(Uri), new TextCodec<Uri>(static uri => uri.OriginalString, static text => new Uri(text, UriKind.RelativeOrAbsolute)));
        known.Add(typeof(Version), new TextCodec<Version>(static version => version.ToString(), Version.Parse));
        return known;
    }

    private static void Add<T>(Dictionary<Type, object> known, int bytes, FixedCodec<T>.Writer write, FixedCodec<T>.Reader read)
        where T : struct
    {
        var codec = new FixedCodec<T>(bytes, write, read);
        known.Add(typeof(T), codec);
        known.Add(typeof(T?), new NullableCodec<T>(codec));
    }

    private static void WriteDecimal(Span<byte> target, decimal value)
    {
        Span<int> parts = stackalloc int[4];
        decimal.GetBits(value, parts);
        for (int part = 0; part < parts.Length; part++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(target[(part * sizeof(int))..], parts[part]);
        }
    }

    private static decimal ReadDecimal(ReadOnlySpan<byte> source)
    {
        Span<int> parts = stackalloc int[4];
        for (int part = 0; part < parts.Length; part++)
        {
            parts[part] = BinaryPrimitives.ReadInt32LittleEndian(source[(part * sizeof(int))..]);
        }

        return new(parts);
    }

    private static void WriteDateTimeOffset(Span<byte> target, DateTimeOffset value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(target, value.Ticks);
        BinaryPrimitives.WriteInt16LittleEndian(target[sizeof(long)..], (short)value.TotalOffsetMinutes);
    }

    private static DateTimeOffset ReadDateTimeOffset(ReadOnlySpan<byte> source) => new(
        BinaryPrimitives.ReadInt64LittleEndian(source),
        TimeSpan.FromMinutes(BinaryPrimitives.ReadInt16LittleEndian(source[sizeof(long)..])));
}

/// <summary>The codec of a type whose serialized form always has the same length.</summary>
internal sealed class FixedCodec<T>(int bytes, FixedCodec<T>.Writer write, FixedCodec<T>.Reader read) : Codec<T>(options: null)
    where T : struct
{
    internal delegate void Writer(Span<byte> target, T value);

    internal delegate T Reader(ReadOnlySpan<byte> source);

    public override byte Format => (byte)CairnFormat.Raw;

    public override void Serialize(T value, IBufferWriter<byte> target)
    {
        write(target.GetSpan(bytes), value);
        target.Advance(bytes);
    }

    public override T Deserialize(ReadOnlyMemory<byte> source)
    {
        WrongLength.ThrowUnless(source.Length == bytes);
        return read(source.Span);
    }
}

/// <summary>The codec of a nullable type, which writes the same as that of the type itself: the envelope records null.</summary>
internal sealed class NullableCodec<T>(Codec<T> codec) : Codec<T?>(options: null)
    where T : struct
{
    public override byte Format => codec.Format;

    public override void Serialize(T? value, IBufferWriter<byte> target) => codec.Serialize(value!.Value, target);

    public override T? Deserialize(ReadOnlyMemory<byte> source) => codec.Deserialize(source);
}

/// <summary>The codec of an enumeration, as the bytes of its underlying type. Values without a name are allowed.</summary>
internal sealed class EnumCodec<T>() : Codec<T>(options: null)
{
    public override byte Format => (byte)CairnFormat.Raw;

    public override void Serialize(T value, IBufferWriter<byte> target)
    {
        int bytes = Unsafe.SizeOf<T>();
        Span<byte> span = target.GetSpan(bytes);
        switch (bytes)
        {
            case 1:
                span[0] = Unsafe.As<T, byte>(ref value);
                break;
            case 2:
                BinaryPrimitives.WriteUInt16LittleEndian(span, Unsafe.As<T, ushort>(ref value));
                break;
            case 4:
                BinaryPrimitives.WriteUInt32LittleEndian(span, Unsafe.As<T, uint>(ref value));
                break;
            default:
                BinaryPrimitives.WriteUInt64LittleEndian(span, Unsafe.As<T, ulong>(ref value));
                break;
        }

        target.Advance(bytes);
    }

    public override T Deserialize(ReadOnlyMemory<byte> source)
    {
        int bytes = Unsafe.SizeOf<T>();
        WrongLength.ThrowUnless(source.Length == bytes);
        ReadOnlySpan<byte> span = source.Span;
        T value = default!;
        switch (bytes)
        {
            case 1:
                Unsafe.As<T, byte>(ref value) = span[0];
                break;
            case 2:
                Unsafe.As<T, ushort>(ref value) = BinaryPrimitives.ReadUInt16LittleEndian(span);
                break;
            case 4:
                Unsafe.As<T, uint>(ref value) = BinaryPrimitives.ReadUInt32LittleEndian(span);
                break;
            default:
                Unsafe.As<T, ulong>(ref value) = BinaryPrimitives.ReadUInt64LittleEndian(span);
                break;
        }

        return value;
    }
}

/// <summary>
/// The codec of a nullable enumeration, which uses boxing: the enumeration's type cannot be named here, and not every platform can create the
/// generic type at run time.
/// </summary>
internal sealed class NullableEnumCodec<T>(Type type) : Codec<T>(options: null)
{
    private readonly bool _isUnsigned = Type.GetTypeCode(type) is TypeCode.Byte or TypeCode.UInt16 or TypeCode.UInt32 or TypeCode.UInt64;
    private readonly int _bytes = Type.GetTypeCode(type) switch
    {
        TypeCode.Byte or TypeCode.SByte => 1,
        TypeCode.Int16 or TypeCode.UInt16 => 2,
        TypeCode.Int32 or TypeCode.UInt32 => 4,
        _ => 8,
    };

    public override byte Format => (byte)CairnFormat.Raw;

    public override void Serialize(T value, IBufferWriter<byte> target)
    {
        var convertible = (IConvertible)value!;
        ulong bits = _isUnsigned
            ? convertible.ToUInt64(System.Globalization.CultureInfo.InvariantCulture)
            : (ulong)convertible.ToInt64(System.Globalization.CultureInfo.InvariantCulture);
        Span<byte> all = stackalloc byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(all, bits);
        target.Write(all[.._bytes]);
    }

    public override T Deserialize(ReadOnlyMemory<byte> source)
    {
        WrongLength.ThrowUnless(source.Length == _bytes);
        Span<byte> all = stackalloc byte[sizeof(ulong)];
        all.Clear();
        source.Span.CopyTo(all);
        ulong bits = BinaryPrimitives.ReadUInt64LittleEndian(all);

        // Uses the low bits, independent of the sign.
        return (T)Enum.ToObject(type, bits);
    }
}

/// <summary>The codec of a type that is written as its text.</summary>
internal sealed class TextCodec<T>(Func<T, string> format, Func<string, T> parse) : Codec<T>(options: null)
{
    public override byte Format => (byte)CairnFormat.Raw;

    public override void Serialize(T value, IBufferWriter<byte> target) => Encoding.UTF8.GetBytes(format(value), target);

    public override T Deserialize(ReadOnlyMemory<byte> source) => parse(Encoding.UTF8.GetString(source.Span));
}

internal static class WrongLength
{
    public static void ThrowUnless(bool isRight)
    {
        if (!isRight)
        {
            throw new InvalidDataException("The value has another length than its type.");
        }
    }
}
