// Attributes with the names and shapes of protobuf-net's, for types of an application that is annotated for it.
namespace ProtoBuf;

internal enum DataFormat
{
    Default,
    ZigZag,
    TwosComplement,
    FixedSize,
    Group,
    WellKnown,
}

internal enum ImplicitFields
{
    None,
    AllPublic,
    AllFields,
}

internal enum CompatibilityLevel
{
    NotSpecified = 0,
    Level200 = 200,
    Level240 = 240,
    Level300 = 300,
}

[AttributeUsage(AttributeTargets.All)]
internal sealed class ProtoContractAttribute : Attribute
{
    public bool SkipConstructor { get; set; }

    public ImplicitFields ImplicitFields { get; set; }

    public int ImplicitFirstTag { get; set; }

    public Type? Surrogate { get; set; }
}

[AttributeUsage(AttributeTargets.All)]
internal sealed class ProtoMemberAttribute(int tag) : Attribute
{
    public int Tag { get; } = tag;

    public string? Name { get; set; }

    public DataFormat DataFormat { get; set; }

    public bool IsRequired { get; set; }

    public bool IsPacked { get; set; }

    public bool AsReference { get; set; }
}

[AttributeUsage(AttributeTargets.All)]
internal sealed class ProtoIgnoreAttribute : Attribute;

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
internal sealed class ProtoPartialMemberAttribute(int tag, string memberName) : Attribute
{
    public int Tag { get; } = tag;

    public string MemberName { get; } = memberName;
}

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
internal sealed class ProtoIncludeAttribute(int tag, Type type) : Attribute
{
    public int Tag { get; } = tag;

    public Type Type { get; } = type;
}

[AttributeUsage(AttributeTargets.All)]
internal sealed class ProtoMapAttribute : Attribute
{
    public DataFormat KeyFormat { get; set; }

    public DataFormat ValueFormat { get; set; }

    public bool DisableMap { get; set; }
}

[AttributeUsage(AttributeTargets.All)]
internal sealed class CompatibilityLevelAttribute(CompatibilityLevel level) : Attribute
{
    public CompatibilityLevel Level { get; } = level;
}

[AttributeUsage(AttributeTargets.Method)]
internal sealed class ProtoAfterDeserializationAttribute : Attribute;
