using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Protobuf.Values;

namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>Finds the scalar form of types that are written as numbers, text or bytes.</summary>
[RequiresDynamicCode("Enumerations are written by types that are made at run time.")]
internal static class Scalars
{
    private const string Bytes = "bytes";
    private const string Text = "string";

    /// <summary>Returns the scalar form of a type, or null if it has none.</summary>
    public static ScalarDescription? Find(Type type, DataFormat format, int level)
    {
        if (type.IsEnum)
        {
            return OfEnum(type, format);
        }

        return OfNumber(type, format) ?? OfOther(type, format, level);
    }

    private static ScalarDescription? OfNumber(Type type, DataFormat format) => Type.GetTypeCode(type) switch
    {
        TypeCode.Boolean => Packable<bool, bool, BoolCodec>("bool"),
        TypeCode.Single => Packable<float, float, FloatCodec>("float"),
        TypeCode.Double => Packable<double, double, DoubleCodec>("double"),
        TypeCode.Int32 => format switch
        {
            DataFormat.ZigZag => Packable<int, int, SInt32Codec>("sint32"),
            DataFormat.FixedSize => Packable<int, int, SFixed32Codec>("sfixed32"),
            _ => Packable<int, int, Int32Codec>("int32"),
        },
        TypeCode.Int64 => format switch
        {
            DataFormat.ZigZag => Packable<long, long, SInt64Codec>("sint64"),
            DataFormat.FixedSize => Packable<long, long, SFixed64Codec>("sfixed64"),
            _ => Packable<long, long, Int64Codec>("int64"),
        },
        TypeCode.UInt32 => format == DataFormat.FixedSize ? Packable<uint, uint, Fixed32Codec>("fixed32") : Packable<uint, uint, UInt32Codec>("uint32"),
        TypeCode.UInt64 => format == DataFormat.FixedSize ? Packable<ulong, ulong, Fixed64Codec>("fixed64") : Packable<ulong, ulong, UInt64Codec>("uint64"),
        TypeCode.Int16 => Narrow<short>(format),
        TypeCode.SByte => Narrow<sbyte>(format),
        TypeCode.UInt16 => NarrowUnsigned<ushort>(format),
        TypeCode.Byte => NarrowUnsigned<byte>(format),
        TypeCode.Char => NarrowUnsigned<char>(format),
        _ => null,
    };

    private static ScalarDescription? OfOther(Type type, DataFormat format, int level)
    {
        bool hasWellKnownTimes = format == DataFormat.WellKnown || level >= CompatibilityLevel.WellKnownTimes;
        return type == typeof(string) ? Single<string, StringCodec>(Text)
            : type == typeof(byte[]) ? Single<byte[], BytesCodec>(Bytes)
            : type == typeof(Guid) ? level >= CompatibilityLevel.Text
                ? Single<Guid, TextCodec<Guid, GuidText>>(Text)
                : Single<Guid, NumberMessageCodec<Guid, GuidForm>>("bcl.Guid")
            : type == typeof(decimal) ? level >= CompatibilityLevel.Text
                ? Single<decimal, TextCodec<decimal, DecimalText>>(Text)
                : Single<decimal, NumberMessageCodec<decimal, DecimalForm>>("bcl.Decimal")
            : type == typeof(DateTime) ? hasWellKnownTimes
                ? Single<DateTime, NumberMessageCodec<DateTime, TimestampForm>>("google.protobuf.Timestamp")
                : Single<DateTime, NumberMessageCodec<DateTime, DateTimeForm>>("bcl.DateTime")
            : type == typeof(TimeSpan) ? hasWellKnownTimes
                ? Single<TimeSpan, NumberMessageCodec<TimeSpan, DurationForm>>("google.protobuf.Duration")
                : Single<TimeSpan, NumberMessageCodec<TimeSpan, TimeSpanForm>>("bcl.TimeSpan")
            : type == typeof(DateTimeOffset) ? Single<DateTimeOffset, NumberMessageCodec<DateTimeOffset, DateTimeOffsetForm>>("cairn.DateTimeOffset")
            : type == typeof(DateOnly) ? Single<DateOnly, DateOnlyCodec>("int32")
            : type == typeof(TimeOnly) ? Single<TimeOnly, TimeOnlyCodec>("int64")
            : type == typeof(Uri) ? Single<Uri, TextCodec<Uri, UriText>>(Text)
            : type == typeof(Version) ? Single<Version, TextCodec<Version, VersionText>>(Text)
            : null;
    }

    [UnconditionalSuppressMessage("Trimming", "IL2071", Justification = "Enumerations and the codecs have no constructors that could be removed.")]
    [UnconditionalSuppressMessage("Trimming", "IL2076", Justification = "The same.")]
    private static ScalarDescription OfEnum(Type type, DataFormat format)
    {
        Type underlying = Enum.GetUnderlyingType(type);
        ScalarDescription number = OfNumber(underlying, format)!;
        return new ScalarDescription(
            type.Name, typeof(EnumCodec<,,,>).MakeGenericType(type, underlying, number.PackedAs!, number.Codec), number.PackedAs);
    }

    private static ScalarDescription Packable<TValue, TPacked, TCodec>(string name)
        where TCodec : struct, IPackedCodec<TValue, TPacked> => new(name, typeof(TCodec), typeof(TPacked));

    private static ScalarDescription Single<TValue, TCodec>(string name)
        where TCodec : struct, IValueCodec<TValue> => new(name, typeof(TCodec), PackedAs: null);

    private static ScalarDescription Narrow<TValue>(DataFormat format)
        where TValue : struct, System.Numerics.INumberBase<TValue> => format switch
    {
        DataFormat.ZigZag => Packable<TValue, int, NarrowCodec<TValue, int, SInt32Codec>>("sint32"),
        DataFormat.FixedSize => Packable<TValue, int, NarrowCodec<TValue, int, SFixed32Codec>>("sfixed32"),
        _ => Packable<TValue, int, NarrowCodec<TValue, int, Int32Codec>>("int32"),
    };

    private static ScalarDescription NarrowUnsigned<TValue>(DataFormat format)
        where TValue : struct, System.Numerics.INumberBase<TValue> => format == DataFormat.FixedSize
        ? Packable<TValue, uint, NarrowCodec<TValue, uint, Fixed32Codec>>("fixed32")
        : Packable<TValue, uint, NarrowCodec<TValue, uint, UInt32Codec>>("uint32");
}
