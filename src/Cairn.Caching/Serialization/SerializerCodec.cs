using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Serialization;

/// <summary>The codec of a serializer of the application or of another project.</summary>
internal sealed class SerializerCodec<T>(IHybridCacheSerializer<T> serializer, CodecOptions options) : Codec<T>(options)
{
    public override byte Format { get; } = serializer is ICairnSerializer cairn ? (byte)cairn.Format : (byte)CairnFormat.Custom;

    public override void Serialize(T value, IBufferWriter<byte> target) => serializer.Serialize(value, target);

    public override T Deserialize(ReadOnlyMemory<byte> source) => serializer.Deserialize(new ReadOnlySequence<byte>(source));
}

/// <summary>The codec of a type that cannot be serialized here. The type can still be cached where no bytes are needed.</summary>
internal sealed class UnavailableCodec<T>(string problem, CodecOptions options) : Codec<T>(options)
{
    public override byte Format => 0;

    public override string Problem => problem;

    public override void Serialize(T value, IBufferWriter<byte> target) => throw new InvalidOperationException(problem);

    public override T Deserialize(ReadOnlyMemory<byte> source) => throw new InvalidOperationException(problem);
}
