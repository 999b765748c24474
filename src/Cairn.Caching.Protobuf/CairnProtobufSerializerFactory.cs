using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Protobuf.Serialization;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Protobuf;

/// <summary>Writes types as protocol buffers that say they are meant for it; <c>AddProtobuf</c> registers it.</summary>
/// <remarks>
/// <para>
/// These are: types that protoc generated (<see cref="Google.Protobuf.IMessage"/>); types with <c>[DataContract]</c> whose members all have
/// <c>[DataMember(Order = n)]</c>, n from 1; types with protobuf-net's <c>[ProtoContract]</c>, which is recognised by its name; and lists and dictionaries of
/// those. All others are left to other serializers.
/// </para>
/// <para>Where the framework's switch for reflection is off, only the first. Safe for use by several threads.</para>
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
