using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Values;

/// <summary>Reads and writes values of a type after their tag. Structs implement it, so that the compiler specializes each use.</summary>
internal interface IValueCodec<TValue>
{
    static abstract WireFormat.WireType WireType { get; }

    static abstract TValue Read(ref ParseContext input);

    static abstract void Write(ref WriteContext output, TValue value);

    /// <summary>Returns the number of bytes that <see cref="Write"/> writes, including the length before a value.</summary>
    static abstract int Size(TValue value);

    /// <summary>Returns whether the value equals that of a missing field.</summary>
    static abstract bool IsZero(TValue value);
}

/// <summary>A codec of numbers, which can also be packed after one tag.</summary>
internal interface IPackedCodec<TValue, TPacked> : IValueCodec<TValue>
{
    /// <summary>Returns Google.Protobuf's codec of packed numbers.</summary>
    static abstract FieldCodec<TPacked> Packed(uint tag);

    static abstract TValue From(TPacked packed);

    static abstract TPacked To(TValue value);
}
