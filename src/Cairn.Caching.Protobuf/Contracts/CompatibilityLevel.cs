using System.Reflection;

namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>Which forms times, GUIDs and decimals have: protobuf-net's attribute of that name, on the member, its type, module or assembly.</summary>
internal static class CompatibilityLevel
{
    /// <summary>Messages of protobuf-net's own for all of them.</summary>
    public const int Own = 200;

    /// <summary>Times are google.protobuf.Timestamp and Duration.</summary>
    public const int WellKnownTimes = 240;

    /// <summary>GUIDs and decimals are text, too.</summary>
    public const int Text = 300;

    private const string Attribute = "CompatibilityLevelAttribute";

    public static int Of(Type owner, MemberInfo member)
    {
        CustomAttributeData? attribute = ContractAttributes.Find(member, Attribute)
            ?? ContractAttributes.Find(owner, Attribute)
            ?? ContractAttributes.Find(owner.Module.CustomAttributes, Attribute)
            ?? ContractAttributes.Find(owner.Assembly.CustomAttributes, Attribute);
        return attribute is null ? Own : Math.Max(Own, Convert.ToInt32(attribute.ConstructorArguments[0].Value, System.Globalization.CultureInfo.InvariantCulture));
    }
}
