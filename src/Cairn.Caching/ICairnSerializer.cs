namespace Cairn.Caching;

/// <summary>
/// An <see cref="Microsoft.Extensions.Caching.Hybrid.IHybridCacheSerializer{T}"/> implements this interface in addition, to declare the
/// format that it writes. The format of a serializer without it is <see cref="CairnFormat.Custom"/>.
/// </summary>
/// <remarks>
/// A serializer that comes from a serializer factory and implements this interface is used only if the type does not specify another format
/// with
/// <see cref="CairnSerializerAttribute"/>.
/// </remarks>
public interface ICairnSerializer
{
    /// <summary>The format, recorded with every value. A serializer never reads values in another format.</summary>
    CairnFormat Format { get; }
}
