using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Values;

/// <summary>How values of a type are written behind their tag. Implemented by structs, so that each use is compiled for itself.</summary>
internal interface IValueCodec<TValue>
{
    static abstract WireFormat.WireType WireType { get; }

    static abstract TValue Read(ref ParseContext input);

    static abstract void Write(ref WriteContext output, TValue value);

    /// <summary>Bytes that <see cref="Write"/> writes, a length before the value included.</summary>
    static abstract int Size(TValue value);

    /// <summary>Whether the value is what a missing field means.</summary>
    static abstract bool IsZero(TValue value);
}

/// <summary>The same for numbers, of which many can be written behind one tag.</summary>
internal interface IPackedCodec<TValue, TPacked> : IValueCodec<TValue>
{
    /// <summary>Google.Protobuf's reader and writer of many.</summary>
    static abstract FieldCodec<TPacked> Packed(uint tag);

    static abstract TValue From(TPacked packed);

    static abstract TPacked To(TValue value);
}
