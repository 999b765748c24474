using System.Reflection;

namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>What a member is on the wire.</summary>
internal enum MemberKind
{
    /// <summary>One value that is written as a number, as bytes or as text.</summary>
    Scalar,

    /// <summary>One value with members of its own.</summary>
    Message,

    /// <summary>Many values.</summary>
    Repeated,

    /// <summary>Many values, each with a key.</summary>
    Map,
}

/// <summary>A member of a contract.</summary>
/// <param name="Number">Its field number: 1 to 536,870,911 without 19,000 to 19,999.</param>
/// <param name="Name">Its name in a schema.</param>
/// <param name="Member">The field or property.</param>
/// <param name="Kind">What it is on the wire.</param>
/// <param name="Value">Of its value, of each of its values, or of the values of a map.</param>
/// <param name="Key">Of the keys of a map; null for the others.</param>
/// <param name="IsNullable">Whether a value type can be absent.</param>
/// <param name="IsRequired">Whether it is written even if it is zero.</param>
internal sealed record MemberDescription(
    int Number, string Name, MemberInfo Member, MemberKind Kind, ValueDescription Value, ValueDescription? Key, bool IsNullable, bool IsRequired)
{
    public Type MemberType => Member is PropertyInfo property ? property.PropertyType : ((FieldInfo)Member).FieldType;
}

/// <summary>A value of a member.</summary>
/// <param name="Type">Its type.</param>
/// <param name="Scalar">How it is written; null if it has members of its own.</param>
/// <param name="IsGroup">Whether one with members of its own is written as a group.</param>
internal sealed record ValueDescription(Type Type, ScalarDescription? Scalar, bool IsGroup);

/// <summary>How a type without members of its own is written.</summary>
/// <param name="Name">The type's name in a schema.</param>
/// <param name="Codec">The struct that writes it.</param>
/// <param name="PackedAs">The type that Google.Protobuf packs it as; null if it cannot be packed.</param>
internal sealed record ScalarDescription(string Name, Type Codec, Type? PackedAs);
