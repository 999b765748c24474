using Cairn.Caching;
using Cairn.Caching.Protobuf;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds protocol buffers to a hybrid cache.</summary>
public static class CairnProtobufBuilderExtensions
{
    /// <summary>Writes types that are marked for protocol buffers as such (<see cref="CairnProtobufSerializerFactory"/>).</summary>
    /// <param name="builder">The builder of the cache. Serializers apply to all hybrid caches of the service collection.</param>
    /// <returns>The builder.</returns>
    /// <remarks>
    /// A serializer that is registered for exactly the type takes precedence. So does a format that the options or
    /// <see cref="CairnSerializerAttribute"/> name. While some processes still write JSON, name it in
    /// <see cref="CairnSerializerAttribute.AlsoReads"/> on the type. To use your own model of protobuf-net, add a
    /// <see cref="CairnProtobufSerializerFactory"/> that has it with <c>AddSerializerFactory</c> instead.
    /// </remarks>
    public static ICairnHybridCacheBuilder AddProtobuf(this ICairnHybridCacheBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddSerializerFactory(new CairnProtobufSerializerFactory());
    }
}
