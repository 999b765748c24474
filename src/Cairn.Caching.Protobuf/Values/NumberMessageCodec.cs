using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Values;

/// <summary>Up to four numbers, which are fields 1 to 4. A zero is not written.</summary>
internal readonly record struct Numbers(ulong First, ulong Second = 0, ulong Third = 0, ulong Fourth = 0);

/// <summary>Converts values of a type to a message of numbers and back.</summary>
internal interface INumberForm<TValue>
{
    /// <summary>Gets a value that says whether the first two fields take eight bytes each instead of a variable number.</summary>
    static virtual bool IsFixed => false;

    static abstract Numbers ToNumbers(TValue value);

    /// <summary>Returns the value. Throws if the numbers are not valid for the type.</summary>
    static abstract TValue FromNumbers(in Numbers numbers);

    static abstract bool IsZero(TValue value);
}

/// <summary>A value in the form of a message of numbers.</summary>
internal readonly struct NumberMessageCodec<TValue, TForm> : IValueCodec<TValue>
    where TForm : struct, INumberForm<TValue>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.LengthDelimited;

    public static TValue Read(ref ParseContext input)
    {
        NumberFields fields = NumberFields.Read(ref input);
        return TForm.FromNumbers(new Numbers(fields.First, fields.Second, fields.Third, fields.Fourth));
    }

    public static void Write(ref WriteContext output, TValue value)
    {
        Numbers numbers = TForm.ToNumbers(value);
        output.WriteLength(SizeOf(numbers));
        Write(ref output, 1, numbers.First, TForm.IsFixed);
        Write(ref output, 2, numbers.Second, TForm.IsFixed);
        Write(ref output, 3, numbers.Third, isFixed: false);
        Write(ref output, 4, numbers.Fourth, isFixed: false);
    }

    public static int Size(TValue value)
    {
        int size = SizeOf(TForm.ToNumbers(value));
        return CodedOutputStream.ComputeLengthSize(size) + size;
    }

    public static bool IsZero(TValue value) => TForm.IsZero(value);

    private static int SizeOf(in Numbers numbers) =>
        SizeOf(numbers.First, TForm.IsFixed) + SizeOf(numbers.Second, TForm.IsFixed)
        + SizeOf(numbers.Third, isFixed: false) + SizeOf(numbers.Fourth, isFixed: false);

    private static int SizeOf(ulong value, bool isFixed) =>
        value == 0 ? 0 : 1 + (isFixed ? sizeof(ulong) : CodedOutputStream.ComputeUInt64Size(value));

    private static void Write(ref WriteContext output, int number, ulong value, bool isFixed)
    {
        if (value == 0)
        {
            return;
        }

        if (isFixed)
        {
            output.WriteRawTag((byte)((number << 3) | (int)WireFormat.WireType.Fixed64));
            output.WriteFixed64(value);
        }
        else
        {
            output.WriteRawTag((byte)((number << 3) | (int)WireFormat.WireType.Varint));
            output.WriteUInt64(value);
        }
    }
}
