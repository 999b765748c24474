using System.Globalization;
using System.Runtime.InteropServices;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Values;

/// <summary>Text as UTF-8.</summary>
internal readonly struct StringCodec : IValueCodec<string>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.LengthDelimited;

    public static string Read(ref ParseContext input) => input.ReadString();

    public static void Write(ref WriteContext output, string value) => output.WriteString(value);

    public static int Size(string value) => CodedOutputStream.ComputeStringSize(value);

    // Null is absent; an empty text is not.
    public static bool IsZero(string value) => value is null;
}

/// <summary>Bytes without a conversion.</summary>
internal readonly struct BytesCodec : IValueCodec<byte[]>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.LengthDelimited;

    public static byte[] Read(ref ParseContext input)
    {
        // The byte string was just created and is not shared, so its array can be used.
        ByteString bytes = input.ReadBytes();
        return MemoryMarshal.TryGetArray(bytes.Memory, out ArraySegment<byte> segment) && segment.Offset == 0 && segment.Count == segment.Array!.Length
            ? segment.Array
            : bytes.ToByteArray();
    }

    public static void Write(ref WriteContext output, byte[] value) => output.WriteBytes(UnsafeByteOperations.UnsafeWrap(value));

    public static int Size(byte[] value) => CodedOutputStream.ComputeLengthSize(value.Length) + value.Length;

    public static bool IsZero(byte[] value) => value is null;
}

/// <summary>Converts values of a type to text and back.</summary>
internal interface ITextForm<TValue>
{
    static abstract string ToText(TValue value);

    static abstract TValue FromText(string text);

    static abstract bool IsZero(TValue value);
}

/// <summary>A value in the form of text.</summary>
internal readonly struct TextCodec<TValue, TForm> : IValueCodec<TValue>
    where TForm : struct, ITextForm<TValue>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.LengthDelimited;

    public static TValue Read(ref ParseContext input) => TForm.FromText(input.ReadString());

    public static void Write(ref WriteContext output, TValue value) => output.WriteString(TForm.ToText(value));

    public static int Size(TValue value) => CodedOutputStream.ComputeStringSize(TForm.ToText(value));

    public static bool IsZero(TValue value) => TForm.IsZero(value);
}

internal readonly struct UriText : ITextForm<Uri>
{
    public static string ToText(Uri value) => value.OriginalString;

    public static Uri FromText(string text) => new(text, UriKind.RelativeOrAbsolute);

    public static bool IsZero(Uri value) => value is null;
}

internal readonly struct VersionText : ITextForm<Version>
{
    public static string ToText(Version value) => value.ToString();

    public static Version FromText(string text) => Version.Parse(text);

    public static bool IsZero(Version value) => value is null;
}

internal readonly struct GuidText : ITextForm<Guid>
{
    public static string ToText(Guid value) => value.ToString("D");

    public static Guid FromText(string text) => Guid.Parse(text, CultureInfo.InvariantCulture);

    public static bool IsZero(Guid value) => value == Guid.Empty;
}

internal readonly struct DecimalText : ITextForm<decimal>
{
    public static string ToText(decimal value) => value.ToString(CultureInfo.InvariantCulture);

    public static decimal FromText(string text) => decimal.Parse(text, NumberStyles.Number, CultureInfo.InvariantCulture);

    // A zero with decimal places differs from the zero of a missing field.
    public static bool IsZero(decimal value) => value == 0 && value.Scale == 0;
}
