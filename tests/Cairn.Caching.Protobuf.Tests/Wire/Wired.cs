using System.Buffers;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Protobuf.Tests.Wire;

/// <summary>Writes and reads values by the serializers of one factory.</summary>
internal static class Wired
{
    private static readonly CairnProtobufSerializerFactory s_factory = new();

    public static byte[] Write<T>(T value)
    {
        var target = new ArrayBufferWriter<byte>();
        SerializerOf<T>().Serialize(value, target);
        return target.WrittenSpan.ToArray();
    }

    public static T Read<T>(ReadOnlySequence<byte> bytes) => SerializerOf<T>().Deserialize(bytes);

    public static T Read<T>(byte[] bytes) => Read<T>(new ReadOnlySequence<byte>(bytes));

    public static T Copy<T>(T value) => Read<T>(Write(value));

    private static IHybridCacheSerializer<T> SerializerOf<T>()
    {
        Assert.True(s_factory.TryCreateSerializer<T>(out IHybridCacheSerializer<T>? serializer));
        return serializer;
    }
}
