using Cairn.Caching;
using Cairn.Caching.Protobuf;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds protocol buffers to a hybrid cache.</summary>
public static class CairnProtobufBuilderExtensions
{
    /// <summary>Writes types as protocol buffers that say they are meant for it (<see cref="CairnProtobufSerializerFactory"/>).</summary>
    /// <param name="builder">The cache; serializers are for all hybrid caches of these services.</param>
    /// <returns>The builder.</returns>
    /// <remarks>
    /// A serializer that is registered for exactly the type comes before it, and so does a format that the options or <see cref="CairnSerializerAttribute"/> name. While
    /// some processes still write JSON, have <see cref="CairnSerializerAttribute.AlsoReads"/> name it on the type.
    /// </remarks>
    public static ICairnHybridCacheBuilder AddProtobuf(this ICairnHybridCacheBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddSerializerFactory(new CairnProtobufSerializerFactory());
    }
}
