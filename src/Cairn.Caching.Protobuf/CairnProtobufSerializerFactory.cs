using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Protobuf.Serialization;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Protobuf;

/// <summary>Creates serializers for types that are marked for protocol buffers. <c>AddProtobuf</c> registers it.</summary>
/// <remarks>
/// <para>
/// These types are: types that protoc generated (<see cref="Google.Protobuf.IMessage"/>); types with <c>[DataContract]</c> whose members
/// all have <c>[DataMember(Order = n)]</c>, n from 1; types with protobuf-net's <c>[ProtoContract]</c>, which is recognised by its name;
/// and lists and dictionaries of these types. The factory leaves other types to other serializers.
/// </para>
/// <para>If the framework's switch for reflection is off, only types that protoc generated are supported. Safe from any thread.</para>
/// </remarks>
public sealed class CairnProtobufSerializerFactory : IHybridCacheSerializerFactory
{
    /// <inheritdoc />
    public bool TryCreateSerializer<T>([NotNullWhen(true)] out IHybridCacheSerializer<T>? serializer)
    {
        serializer = Reflection.IsAllowed ? SerializerChoice.Find<T>() : SerializerChoice.FindGenerated<T>();
        return serializer is not null;
    }
}
