namespace Cairn.Caching;

/// <summary>
/// What an <see cref="Microsoft.Extensions.Caching.Hybrid.IHybridCacheSerializer{T}"/> implements in addition to say which
/// format it writes. One that does not writes <see cref="CairnFormat.Custom"/>.
/// </summary>
/// <remarks>
/// A serializer that a factory made and that implements this is used only where the type does not ask for another format by
/// <see cref="CairnSerializerAttribute"/>.
/// </remarks>
public interface ICairnSerializer
{
    /// <summary>The format, recorded with every value: values in one format are never given to the serializer of another.</summary>
    CairnFormat Format { get; }
}
