using System.Buffers;
using System.Diagnostics.CodeAnalysis;

// Stand-ins for the types of the package Microsoft.Extensions.Caching.Hybrid, which are recognised by their namespace.
namespace Microsoft.Extensions.Caching.Hybrid.Internal;

internal sealed class DefaultSerializer : IHybridCacheSerializer<string>
{
    public string Deserialize(ReadOnlySequence<byte> source) => throw new NotSupportedException();

    public void Serialize(string value, IBufferWriter<byte> target) => throw new NotSupportedException();
}

internal sealed class DefaultFactory : IHybridCacheSerializerFactory
{
    public bool TryCreateSerializer<T>([NotNullWhen(true)] out IHybridCacheSerializer<T>? serializer) => throw new NotSupportedException();
}
