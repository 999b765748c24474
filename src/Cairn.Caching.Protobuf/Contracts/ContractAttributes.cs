using System.Reflection;
using System.Runtime.Serialization;

namespace Cairn.Caching.Protobuf.Contracts;

// Finds the attributes that make a type a contract: the framework's [DataContract], and those of protobuf-net. The latter are recognised by
// name, so that annotated types work without a reference to protobuf-net.
internal static class ContractAttributes
{
    private const string Namespace = "ProtoBuf.";

    /// <summary>Returns an attribute of protobuf-net on a type, member, module or assembly, or null if there is none.</summary>
    public static CustomAttributeData? Find(IEnumerable<CustomAttributeData> attributes, string name) =>
        attributes.FirstOrDefault(attribute => attribute.AttributeType.FullName == Namespace + name);

    public static CustomAttributeData? Find(MemberInfo member, string name) => Find(member.CustomAttributes, name);

    public static bool Has(MemberInfo member, string name) => Find(member, name) is not null;

    /// <summary>Returns a named argument, or <paramref name="otherwise"/> if it is not set.</summary>
    public static T Named<T>(CustomAttributeData attribute, string name, T otherwise)
    {
        foreach (CustomAttributeNamedArgument argument in attribute.NamedArguments)
        {
            if (argument.MemberName == name && argument.TypedValue.Value is { } value)
            {
                return (T)Convert.ChangeType(value, typeof(T), System.Globalization.CultureInfo.InvariantCulture);
            }
        }

        return otherwise;
    }

    public static bool IsProtoContract(Type type) => Has(type, "ProtoContractAttribute");

    public static bool IsDataContract(Type type) => type.IsDefined(typeof(DataContractAttribute), inherit: false);

    public static DataFormat FormatOf(CustomAttributeData? attribute, string name = "DataFormat") =>
        attribute is null ? DataFormat.Default : (DataFormat)Named(attribute, name, 0);
}
