using Google.Protobuf;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Protobuf.Serialization;

/// <summary>Recognises types that protoc generated.</summary>
internal static class GeneratedMessage
{
    public static bool Is(Type type) => typeof(IMessage).IsAssignableFrom(type) && type is { IsClass: true, IsAbstract: false };
}

/// <summary>Serializes a type that protoc generated.</summary>
internal sealed class GeneratedSerializer<T>(Func<T> create) : IHybridCacheSerializer<T>, ICairnSerializer
{
    public CairnFormat Format => CairnFormat.Protobuf;

    public void Serialize(T value, IBufferWriter<byte> target) => ((IMessage)value!).WriteTo(target);

    public T Deserialize(ReadOnlySequence<byte> source)
    {
        T message = create();
        ((IMessage)message!).MergeFrom(source);
        return message;
    }
}
