using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Values;

// The scalar types of the protocol buffers language, one struct for each.

internal readonly struct Int32Codec : IPackedCodec<int, int>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static int Read(ref ParseContext input) => input.ReadInt32();

    public static void Write(ref WriteContext output, int value) => output.WriteInt32(value);

    public static int Size(int value) => CodedOutputStream.ComputeInt32Size(value);

    public static bool IsZero(int value) => value == 0;

    public static FieldCodec<int> Packed(uint tag) => FieldCodec.ForInt32(tag);

    public static int From(int packed) => packed;

    public static int To(int value) => value;
}

internal readonly struct SInt32Codec : IPackedCodec<int, int>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static int Read(ref ParseContext input) => input.ReadSInt32();

    public static void Write(ref WriteContext output, int value) => output.WriteSInt32(value);

    public static int Size(int value) => CodedOutputStream.ComputeSInt32Size(value);

    public static bool IsZero(int value) => value == 0;

    public static FieldCodec<int> Packed(uint tag) => FieldCodec.ForSInt32(tag);

    public static int From(int packed) => packed;

    public static int To(int value) => value;
}

internal readonly struct SFixed32Codec : IPackedCodec<int, int>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Fixed32;

    public static int Read(ref ParseContext input) => input.ReadSFixed32();

    public static void Write(ref WriteContext output, int value) => output.WriteSFixed32(value);

    public static int Size(int value) => sizeof(int);

    public static bool IsZero(int value) => value == 0;

    public static FieldCodec<int> Packed(uint tag) => FieldCodec.ForSFixed32(tag);

    public static int From(int packed) => packed;

    public static int To(int value) => value;
}

internal readonly struct UInt32Codec : IPackedCodec<uint, uint>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static uint Read(ref ParseContext input) => input.ReadUInt32();

    public static void Write(ref WriteContext output, uint value) => output.WriteUInt32(value);

    public static int Size(uint value) => CodedOutputStream.ComputeUInt32Size(value);

    public static bool IsZero(uint value) => value == 0;

    public static FieldCodec<uint> Packed(uint tag) => FieldCodec.ForUInt32(tag);

    public static uint From(uint packed) => packed;

    public static uint To(uint value) => value;
}

internal readonly struct Fixed32Codec : IPackedCodec<uint, uint>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Fixed32;

    public static uint Read(ref ParseContext input) => input.ReadFixed32();

    public static void Write(ref WriteContext output, uint value) => output.WriteFixed32(value);

    public static int Size(uint value) => sizeof(uint);

    public static bool IsZero(uint value) => value == 0;

    public static FieldCodec<uint> Packed(uint tag) => FieldCodec.ForFixed32(tag);

    public static uint From(uint packed) => packed;

    public static uint To(uint value) => value;
}

internal readonly struct Int64Codec : IPackedCodec<long, long>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static long Read(ref ParseContext input) => input.ReadInt64();

    public static void Write(ref WriteContext output, long value) => output.WriteInt64(value);

    public static int Size(long value) => CodedOutputStream.ComputeInt64Size(value);

    public static bool IsZero(long value) => value == 0;

    public static FieldCodec<long> Packed(uint tag) => FieldCodec.ForInt64(tag);

    public static long From(long packed) => packed;

    public static long To(long value) => value;
}

internal readonly struct SInt64Codec : IPackedCodec<long, long>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static long Read(ref ParseContext input) => input.ReadSInt64();

    public static void Write(ref WriteContext output, long value) => output.WriteSInt64(value);

    public static int Size(long value) => CodedOutputStream.ComputeSInt64Size(value);

    public static bool IsZero(long value) => value == 0;

    public static FieldCodec<long> Packed(uint tag) => FieldCodec.ForSInt64(tag);

    public static long From(long packed) => packed;

    public static long To(long value) => value;
}

internal readonly struct SFixed64Codec : IPackedCodec<long, long>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Fixed64;

    public static long Read(ref ParseContext input) => input.ReadSFixed64();

    public static void Write(ref WriteContext output, long value) => output.WriteSFixed64(value);

    public static int Size(long value) => sizeof(long);

    public static bool IsZero(long value) => value == 0;

    public static FieldCodec<long> Packed(uint tag) => FieldCodec.ForSFixed64(tag);

    public static long From(long packed) => packed;

    public static long To(long value) => value;
}

internal readonly struct UInt64Codec : IPackedCodec<ulong, ulong>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static ulong Read(ref ParseContext input) => input.ReadUInt64();

    public static void Write(ref WriteContext output, ulong value) => output.WriteUInt64(value);

    public static int Size(ulong value) => CodedOutputStream.ComputeUInt64Size(value);

    public static bool IsZero(ulong value) => value == 0;

    public static FieldCodec<ulong> Packed(uint tag) => FieldCodec.ForUInt64(tag);

    public static ulong From(ulong packed) => packed;

    public static ulong To(ulong value) => value;
}

internal readonly struct Fixed64Codec : IPackedCodec<ulong, ulong>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Fixed64;

    public static ulong Read(ref ParseContext input) => input.ReadFixed64();

    public static void Write(ref WriteContext output, ulong value) => output.WriteFixed64(value);

    public static int Size(ulong value) => sizeof(ulong);

    public static bool IsZero(ulong value) => value == 0;

    public static FieldCodec<ulong> Packed(uint tag) => FieldCodec.ForFixed64(tag);

    public static ulong From(ulong packed) => packed;

    public static ulong To(ulong value) => value;
}

internal readonly struct BoolCodec : IPackedCodec<bool, bool>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Varint;

    public static bool Read(ref ParseContext input) => input.ReadBool();

    public static void Write(ref WriteContext output, bool value) => output.WriteBool(value);

    public static int Size(bool value) => 1;

    public static bool IsZero(bool value) => !value;

    public static FieldCodec<bool> Packed(uint tag) => FieldCodec.ForBool(tag);

    public static bool From(bool packed) => packed;

    public static bool To(bool value) => value;
}

internal readonly struct FloatCodec : IPackedCodec<float, float>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Fixed32;

    public static float Read(ref ParseContext input) => input.ReadFloat();

    public static void Write(ref WriteContext output, float value) => output.WriteFloat(value);

    public static int Size(float value) => sizeof(float);

    public static bool IsZero(float value) => BitConverter.SingleToInt32Bits(value) == 0;

    public static FieldCodec<float> Packed(uint tag) => FieldCodec.ForFloat(tag);

    public static float From(float packed) => packed;

    public static float To(float value) => value;
}

internal readonly struct DoubleCodec : IPackedCodec<double, double>
{
    public static WireFormat.WireType WireType => WireFormat.WireType.Fixed64;

    public static double Read(ref ParseContext input) => input.ReadDouble();

    public static void Write(ref WriteContext output, double value) => output.WriteDouble(value);

    public static int Size(double value) => sizeof(double);

    public static bool IsZero(double value) => BitConverter.DoubleToInt64Bits(value) == 0;

    public static FieldCodec<double> Packed(uint tag) => FieldCodec.ForDouble(tag);

    public static double From(double packed) => packed;

    public static double To(double value) => value;
}
