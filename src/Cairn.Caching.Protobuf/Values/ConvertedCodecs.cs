using System.Numerics;
using System.Runtime.CompilerServices;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Values;

/// <summary>A short number in the form of a longer one. Reading a number that is too large throws an <see cref="OverflowException"/>.</summary>
internal readonly struct NarrowCodec<TValue, TWire, TCodec> : IPackedCodec<TValue, TWire>
    where TValue : struct, INumberBase<TValue>
    where TWire : struct, INumberBase<TWire>
    where TCodec : struct, IPackedCodec<TWire, TWire>
{
    public static WireFormat.WireType WireType => TCodec.WireType;

    public static TValue Read(ref ParseContext input) => TValue.CreateChecked(TCodec.Read(ref input));

    public static void Write(ref WriteContext output, TValue value) => TCodec.Write(ref output, TWire.CreateTruncating(value));

    public static int Size(TValue value) => TCodec.Size(TWire.CreateTruncating(value));

    public static bool IsZero(TValue value) => TValue.IsZero(value);

    public static FieldCodec<TWire> Packed(uint tag) => TCodec.Packed(tag);

    public static TValue From(TWire packed) => TValue.CreateChecked(packed);

    public static TWire To(TValue value) => TWire.CreateTruncating(value);
}

/// <summary>An enumeration in the form of its underlying type. Values without a name are preserved.</summary>
internal readonly struct EnumCodec<TEnum, TUnderlying, TWire, TCodec> : IPackedCodec<TEnum, TWire>
    where TEnum : struct, Enum
    where TUnderlying : struct
    where TCodec : struct, IPackedCodec<TUnderlying, TWire>
{
    public static WireFormat.WireType WireType => TCodec.WireType;

    public static TEnum Read(ref ParseContext input) => Unsafe.BitCast<TUnderlying, TEnum>(TCodec.Read(ref input));

    public static void Write(ref WriteContext output, TEnum value) => TCodec.Write(ref output, Unsafe.BitCast<TEnum, TUnderlying>(value));

    public static int Size(TEnum value) => TCodec.Size(Unsafe.BitCast<TEnum, TUnderlying>(value));

    public static bool IsZero(TEnum value) => TCodec.IsZero(Unsafe.BitCast<TEnum, TUnderlying>(value));

    public static FieldCodec<TWire> Packed(uint tag) => TCodec.Packed(tag);

    public static TEnum From(TWire packed) => Unsafe.BitCast<TUnderlying, TEnum>(TCodec.From(packed));

    public static TWire To(TEnum value) => TCodec.To(Unsafe.BitCast<TEnum, TUnderlying>(value));
}

/// <summary>A date as the number of days since 1 January of the year 1.</summary>
internal readonly struct DateOnlyCodec : IValueCodec<DateOnly>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static DateOnly Read(ref ParseContext input) => DateOnly.FromDayNumber(input.ReadInt32());

    public static void Write(ref WriteContext output, DateOnly value) => output.WriteInt32(value.DayNumber);

    public static int Size(DateOnly value) => CodedOutputStream.ComputeInt32Size(value.DayNumber);

    public static bool IsZero(DateOnly value) => value.DayNumber == 0;
}

/// <summary>A time of day in ticks of 100 nanoseconds since midnight.</summary>
internal readonly struct TimeOnlyCodec : IValueCodec<TimeOnly>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static TimeOnly Read(ref ParseContext input) => new(input.ReadInt64());

    public static void Write(ref WriteContext output, TimeOnly value) => output.WriteInt64(value.Ticks);

    public static int Size(TimeOnly value) => CodedOutputStream.ComputeInt64Size(value.Ticks);

    public static bool IsZero(TimeOnly value) => value.Ticks == 0;
}
