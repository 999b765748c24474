using System.Reflection;

namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>The kind of a member on the wire.</summary>
internal enum MemberKind
{
    /// <summary>One value that is a number, bytes or text.</summary>
    Scalar,

    /// <summary>One value that has members.</summary>
    Message,

    /// <summary>Many values.</summary>
    Repeated,

    /// <summary>Many values, each with a key.</summary>
    Map,
}

/// <summary>A member of a contract.</summary>
/// <param name="Number">The field number: 1 to 536,870,911 without 19,000 to 19,999.</param>
/// <param name="Name">The name in a schema.</param>
/// <param name="Member">The field or property.</param>
/// <param name="Kind">The kind on the wire.</param>
/// <param name="Value">The form of the value, of each item, or of the values of a map.</param>
/// <param name="Key">The form of the keys of a map; null for other kinds.</param>
/// <param name="IsNullable">True if the member is a value type that may be null.</param>
/// <param name="IsRequired">True if the member is written even if it is zero.</param>
internal sealed record MemberDescription(
    int Number, string Name, MemberInfo Member, MemberKind Kind, ValueDescription Value, ValueDescription? Key, bool IsNullable, bool IsRequired)
{
    public Type MemberType => Member is PropertyInfo property ? property.PropertyType : ((FieldInfo)Member).FieldType;
}

/// <summary>The form of a value of a member.</summary>
/// <param name="Type">The type of the value.</param>
/// <param name="Scalar">The scalar form; null if the value has members.</param>
/// <param name="IsGroup">True if a value that has members is written as a group.</param>
internal sealed record ValueDescription(Type Type, ScalarDescription? Scalar, bool IsGroup);

/// <summary>The form of a type that has no members.</summary>
/// <param name="Name">The type's name in a schema.</param>
/// <param name="Codec">The struct that reads and writes values of the type.</param>
/// <param name="PackedAs">The type as which Google.Protobuf packs it; null if it cannot be packed.</param>
internal sealed record ScalarDescription(string Name, Type Codec, Type? PackedAs);
