using System.Reflection;

namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>
/// Finds the form of times, GUIDs and decimals: protobuf-net's attribute of this name on the member, its type, module or assembly.
/// </summary>
internal static class CompatibilityLevel
{
    /// <summary>Times, GUIDs and decimals are messages of protobuf-net.</summary>
    public const int Own = 200;

    /// <summary>Times are google.protobuf.Timestamp and Duration.</summary>
    public const int WellKnownTimes = 240;

    /// <summary>Times as in level 240; GUIDs and decimals are text.</summary>
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
