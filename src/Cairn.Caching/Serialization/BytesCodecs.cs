namespace Cairn.Caching.Serialization;

/// <summary>The codec of byte arrays, which are written unchanged.</summary>
internal sealed class BytesCodec(CodecOptions options) : Codec<byte[]>(options)
{
    public override byte Format => (byte)CairnFormat.Raw;

    public override void Serialize(byte[] value, IBufferWriter<byte> target) => target.Write(value);

    public override byte[] Deserialize(ReadOnlyMemory<byte> source) => source.ToArray();
}

/// <summary>The codec of read-only memory, which is written unchanged.</summary>
internal sealed class MemoryCodec(CodecOptions options) : Codec<ReadOnlyMemory<byte>>(options)
{
    public override byte Format => (byte)CairnFormat.Raw;

    public override void Serialize(ReadOnlyMemory<byte> value, IBufferWriter<byte> target) => target.Write(value.Span);

    public override ReadOnlyMemory<byte> Deserialize(ReadOnlyMemory<byte> source) => source.ToArray();

    public override long EstimateBytes(ReadOnlyMemory<byte> value) => ObjectSize.Boxed(16) + ObjectSize.OfArray(value.Length);
}
