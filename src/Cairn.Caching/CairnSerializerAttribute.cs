namespace Cairn.Caching;

/// <summary>Says how values of a type are written when they leave the process, instead of as JSON.</summary>
/// <param name="format"><see cref="CairnFormat.Json"/>, <see cref="CairnFormat.Xml"/>, <see cref="CairnFormat.Binary"/> or <see cref="CairnFormat.Protobuf"/>.</param>
/// <remarks>
/// It counts for exactly this type, not for derived ones, and less than a serializer that is registered for the type. A
/// format that does not suit the type is an <see cref="InvalidOperationException"/> when a value is written for the first time.
/// </remarks>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Interface, Inherited = false)]
public sealed class CairnSerializerAttribute(CairnFormat format) : Attribute
{
    /// <summary>The form in which values are written.</summary>
    public CairnFormat Format { get; } = format;

    /// <summary>
    /// Other forms that are read as well, for the time in which some processes still write them. Default none: a value in
    /// another form counts as missing. Each form named here is one more parser that what is stored can choose.
    /// </summary>
    public CairnFormat[] AlsoReads { get; init; } = [];
}
