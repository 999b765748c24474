using System.Collections.Concurrent;
using ProtoBuf;
using ProtoBuf.Serializers;

namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>The reasons of all types that were refused.</summary>
internal static class RefusedForms
{
    public static ConcurrentDictionary<Type, string> Reasons { get; } = new();
}

/// <summary>Stands for a type that was refused. Each use throws an exception with the reason.</summary>
internal sealed class RefusedForm<T> : ISerializer<T>
{
    public SerializerFeatures Features => SerializerFeatures.CategoryMessage | SerializerFeatures.WireTypeString;

    public T Read(ref ProtoReader.State state, T value) => throw new InvalidOperationException(RefusedForms.Reasons[typeof(T)]);

    public void Write(ref ProtoWriter.State state, T value) => throw new InvalidOperationException(RefusedForms.Reasons[typeof(T)]);
}
