namespace Cairn.Caching;

/// <summary>Specifies the format in which values of a type are serialized, instead of JSON.</summary>
/// <param name="format"><see cref="CairnFormat.Json"/>, <see cref="CairnFormat.Xml"/>, <see cref="CairnFormat.Binary"/> or <see cref="CairnFormat.Protobuf"/>.</param>
/// <remarks>
/// Applies to exactly this type, not to derived types. A serializer that is registered for the type takes precedence. If the format does not
/// suit the type, the first write of a value throws an <see cref="InvalidOperationException"/>.
/// </remarks>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Interface, Inherited = false)]
public sealed class CairnSerializerAttribute(CairnFormat format) : Attribute
{
    /// <summary>The format in which values are written.</summary>
    public CairnFormat Format { get; } = format;

    /// <summary>
    /// Additional formats that are read, for the time in which some processes still write them. Default none: a value in
    /// another format counts as missing. Each additional format is one more parser that stored data can select.
    /// </summary>
    public CairnFormat[] AlsoReads { get; init; } = [];
}
